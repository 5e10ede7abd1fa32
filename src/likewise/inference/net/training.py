"""The training loop: Adam on batches of observed entries, and the state that did best on those held back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite
from typing import Any

import numpy as np

from likewise._typing import Singles
from likewise.errors import ModelError
from likewise.inference.net.data import Entries, Epochs
from likewise.inference.net.settings import NetSettings
from likewise.inference.net.torch_runtime import device_of, import_torch
from likewise.progress import Progress

_VALIDATED_AT_ONCE = 8192


@dataclass(frozen=True, eq=False)
class Trained:
    """The best state, and the validation errors after each check."""

    weights: tuple[Singles, ...]
    biases: tuple[Singles, ...]
    steps: tuple[int, ...]
    errors: tuple[float, ...]


def initial_state(n_inputs: int, hidden: tuple[int, ...], generator: np.random.Generator) -> list[Singles]:
    """Draw weights and biases, one after the other for each layer: uniform up to ``1 / sqrt(n_inputs)``, as torch's layers are.

    NumPy draws them, so that they do not depend on the device or on torch's global state.
    """
    sizes = [n_inputs, *hidden, 1]
    state = []
    for before, after in pairwise(sizes):
        limit = 1 / np.sqrt(before)
        state += [
            generator.uniform(-limit, limit, shape).astype(np.float32) for shape in ((after, before), after)
        ]
    return state


class Training:
    """One training, on a device.

    Parameters
    ----------
    features : ndarray of float32, shape (m, n)
    training, validation : Entries
    bounds : (float, float)
        What the sigmoid's 0 and 1 stand for.
    settings : NetSettings
    generator : numpy.random.Generator
    """

    def __init__(
        self,
        features: Singles,
        training: Entries,
        validation: Entries,
        bounds: tuple[float, float],
        settings: NetSettings,
        generator: np.random.Generator,
    ) -> None:
        self._torch = import_torch()
        self._device = device_of(settings.device)
        self._settings, self._generator = settings, generator
        self._low, self._width = bounds[0], bounds[1] - bounds[0]
        self._rows = self._tensor(features)
        self._columns = self._rows.T.contiguous()
        self._training, self._validation = self._on_device(training), self._on_device(validation)
        state = initial_state(sum(features.shape), settings.hidden, generator)
        self._parameters = [self._tensor(values).requires_grad_() for values in state]
        self._best = [values.detach().clone() for values in self._parameters]

    def run(self, progress: Progress | None = None) -> Trained:
        """Take all steps, and return the state with the smallest validation error."""
        best, steps, errors = inf, [], []
        optimizer = self._torch.optim.Adam(self._parameters, lr=self._settings.learning_rate, fused=True)
        for step, batches in self._batches():
            for batch in batches:
                self._step(optimizer, batch)
            steps.append(step)
            errors.append(self._validation_error())
            if errors[-1] < best:
                best = errors[-1]
                self._keep()
            if progress is not None:
                progress(step, self._settings.n_steps)
        if not isfinite(best):
            raise ModelError(
                f"a training that diverged with learning_rate {self._settings.learning_rate:g}",
                "a smaller one",
            )
        state = tuple(values.cpu().numpy() for values in self._best)
        return Trained(state[0::2], state[1::2], tuple(steps), tuple(errors))

    def _batches(self) -> Iterator[tuple[int, Any]]:
        """Yield the batches up to each check, with the number of steps that are then done."""
        n_steps, every = self._settings.n_steps, self._settings.check_every
        n_training = len(self._training[2])
        epochs = Epochs(n_training, self._generator)
        size = min(self._settings.batch_size, n_training)
        for start in range(0, n_steps, every):
            stop = min(start + every, n_steps)
            yield stop, self._tensor(epochs.take(stop - start, size))

    def _step(self, optimizer: Any, batch: Any) -> None:
        rows, columns, values = (part.index_select(0, batch) for part in self._training)
        inputs = self._torch.cat(
            (self._rows.index_select(0, rows), self._columns.index_select(0, columns)), dim=1
        )
        with self._torch.enable_grad():
            weights, bias = self._parameters[:2]
            loss = self._squares(self._torch.addmm(bias, inputs, weights.T), values).mean()
            optimizer.zero_grad()
            loss.backward()
        optimizer.step()

    def _squares(self, first: Any, values: Any) -> Any:
        """Return the squared errors of what the first layer gave."""
        hidden = first
        for weights, bias in zip(self._parameters[2::2], self._parameters[3::2], strict=True):
            hidden = self._torch.addmm(bias, hidden.relu(), weights.T)
        return (self._low + self._width * hidden.sigmoid().squeeze(1) - values).square()

    def _validation_error(self) -> float:
        """Return the mean squared error on the validation entries; the first layer sees each row and column once."""
        with self._torch.no_grad():
            weights, bias = self._parameters[:2]
            n = self._rows.shape[1]
            by_row = self._rows @ weights[:, :n].T
            by_column = self._torch.addmm(bias, self._columns, weights[:, n:].T)
            total = 0.0
            for rows, columns, values in zip(
                *(part.split(_VALIDATED_AT_ONCE) for part in self._validation), strict=True
            ):
                total += float(
                    self._squares(by_row[rows].add_(by_column[columns]), values).sum(
                        dtype=self._torch.float64
                    )
                )
        return total / len(self._validation[2])

    def _keep(self) -> None:
        for kept, values in zip(self._best, self._parameters, strict=True):
            kept.copy_(values.detach())

    def _on_device(self, entries: Entries) -> tuple[Any, Any, Any]:
        return self._tensor(entries.rows), self._tensor(entries.columns), self._tensor(entries.values)

    def _tensor(self, array: Any) -> Any:
        return self._torch.tensor(array, device=self._device)
