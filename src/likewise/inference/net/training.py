"""How a dense net is trained: its settings and device, what it learns from, and Adam on batches of observed entries.

Kept is the state that did best on others. PyTorch is imported only where a net is trained or applied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Counts, Singles
from likewise.arrays import as_array
from likewise.checks import checked_name, checked_positive, checked_share, checked_whole
from likewise.errors import MissingDependencyError, ModelError, ShapeError
from likewise.memory import ensure_fits
from likewise.observations import ObservedMatrix
from likewise.observations.convert import to_table
from likewise.observations.table import rows_of_entries
from likewise.progress import Progress

Batches = Literal["epochs", "independent"]
"""Each observation once before any comes again, or every batch drawn anew."""


@dataclass(frozen=True)
class NetSettings:
    """Size and training of a dense net; the defaults are those of the paper's experiments.

    Parameters
    ----------
    hidden : tuple of int, default (300, 100)
        Units of each hidden layer, at least one layer.
    learning_rate : float, default 1e-3
        Of Adam.
    batch_size : int, default 128
        Observations in a step; all that train, if there are fewer.
    n_steps : int, default 2000
    validation_fraction : float, default 0.2
        Share of the observations that chooses the state to keep and trains nothing, in (0, 1).
    check_every : int, default 100
        Steps between two validations; the last step is validated too.
    device : str, default "auto"
        A CUDA device where there is one, else the CPU; or a device of torch by name.
    n_threads : int or None, default 1
        Threads of torch on the CPU while it trains and predicts; None leaves torch's setting. A batch is small: further threads save
        little where CPUs are idle, and wait for one another where they are not.
    batches : {"epochs", "independent"}, default "epochs"
        Each training observation once before any comes again; or every batch drawn anew from all of them, as the released code does.

    Raises
    ------
    ModelError
        Naming the setting that cannot be used.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 6. The paper does not say how often it validates; 100 is
    the released code's.
    """

    hidden: tuple[int, ...] = (300, 100)
    learning_rate: float = 1e-3
    batch_size: int = 128
    n_steps: int = 2000
    validation_fraction: float = 0.2
    check_every: int = 100
    device: str = "auto"
    n_threads: int | None = 1
    batches: Batches = "epochs"

    def __post_init__(self) -> None:
        for name in ("batch_size", "n_steps", "check_every"):
            checked_whole(name, getattr(self, name), error=ModelError)
        if self.n_threads is not None:
            checked_whole("n_threads", self.n_threads, or_else="None", error=ModelError)
        _ensure_layers(self.hidden)
        checked_positive("learning_rate", self.learning_rate, error=ModelError)
        checked_share("validation_fraction", self.validation_fraction, error=ModelError)
        checked_name("batches", self.batches, get_args(Batches), ModelError)
        if not isinstance(self.device, str):
            raise ModelError(f"device is {self.device!r}", "'auto', 'cpu', or a device of torch by name")


def _ensure_layers(hidden: Any) -> None:
    if not isinstance(hidden, tuple | list) or not hidden:
        raise ModelError(f"hidden is {hidden!r}", "the units of each hidden layer, such as (300, 100)")
    for units in hidden:
        checked_whole("hidden", units, error=ModelError)


def import_torch() -> Any:
    """Return the torch module, or raise `MissingDependencyError` with the command that installs it."""
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "a dense net needs PyTorch, which is not installed; run pip install '.[dnn]' in the checkout, or pip install torch"
        ) from error
    return torch


def device_of(name: str) -> Any:
    """Return the torch device of a name; ``"auto"`` is a CUDA device where there is one. `ModelError` if there is no such device here."""
    torch = import_torch()
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = str(error).strip().split("\n")[0]
        raise ModelError(
            f"device {name!r}, which cannot be used here ({reason})", "'auto', 'cpu', or a device of torch"
        ) from error
    return device


@contextmanager
def threads(number: int | None) -> Iterator[None]:
    """Let torch use so many threads for a while; None leaves its setting alone."""
    if number is None:
        yield
        return
    torch = import_torch()
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


_VALIDATED_AT_ONCE = 8192


@dataclass(frozen=True, eq=False)
class Entries:
    """Observed entries: positions and values, shape (n_observed,) each, in row order."""

    rows: Counts
    columns: Counts
    values: Singles

    def __getitem__(self, chosen: NDArray[Any]) -> Entries:
        return Entries(self.rows[chosen], self.columns[chosen], self.values[chosen])

    def __len__(self) -> int:
        return self.values.size


def single_precision(features: Any) -> Singles:
    """Return a complete matrix as a dense array in single precision; what a sparse one does not store is 0.

    Raises `ShapeError` if it has not two dimensions, `ModelError` if an entry is no finite number.
    """
    matrix: Any = features if sparse.issparse(features) else as_array(features, "features", ModelError)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ShapeError(f"features of shape {matrix.shape}", "(m, n): individuals x features")
    if matrix.dtype.kind not in "biuf":
        raise ModelError(f"features of type {matrix.dtype}", "real numbers")
    ensure_fits(8 * matrix.shape[0] * matrix.shape[1], "two dense copies of the features", "use fewer rows")
    with np.errstate(over="ignore"):  # what overflows is refused below
        singles = matrix.astype(np.float32)
    dense = np.asarray(singles.toarray() if sparse.issparse(features) else singles)
    unusable = dense.size - int(np.isfinite(dense).sum())
    if unusable:
        raise ModelError(
            f"features of which {unusable} are NaN, infinite or too large",
            "a complete matrix of finite numbers",
        )
    return dense


def observed_entries(targets: Any, shape: tuple[int, int], bounds: tuple[float, float]) -> Entries:
    """Return the entries that a net can learn, of an ObservedMatrix, a sparse matrix (stored is observed), or an array with NaN where nothing was observed.

    Raises `ShapeError` if they have not the shape of the features, `ModelError` if there are fewer than two, or one lies outside the bounds of the
    net's outputs.
    """
    stored = targets.values if isinstance(targets, ObservedMatrix) else to_table(targets).values
    if stored.shape != shape:
        raise ShapeError(f"targets of shape {stored.shape} for features of shape {shape}", "the same shape")
    if stored.nnz < 2:
        raise ModelError(f"{stored.nnz} observations", "at least two: one that trains and one that validates")
    low, high = bounds
    if not (np.isfinite(stored.data).all() and low <= stored.data.min() and stored.data.max() <= high):
        raise ModelError(
            f"targets from {stored.data.min():g} to {stored.data.max():g}",
            f"values from {low:g} to {high:g}, between which the outputs lie",
            "scale the observations first: Z.scaled()",
        )
    rows, columns = rows_of_entries(stored), stored.indices
    return Entries(rows.astype(np.int64), columns.astype(np.int64), stored.data.astype(np.float32))


def validation_mask(n_observed: int, fraction: float, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Draw which observations validate: that fraction, rounded, but at least one on either side."""
    n_validation = min(max(round(fraction * n_observed), 1), n_observed - 1)
    mask = np.zeros(n_observed, dtype=bool)
    mask[generator.permutation(n_observed)[:n_validation]] = True
    return mask


class Epochs:
    """Counts 0 to n - 1 in random order, over and over, each epoch in an order of its own."""

    def __init__(self, n: int, generator: np.random.Generator) -> None:
        self._n, self._generator = n, generator
        self._left = np.empty(0, dtype=np.int64)

    def take(self, n_batches: int, batch_size: int) -> Counts:
        """Return the next batches, shape (n_batches, batch_size)."""
        wanted = n_batches * batch_size
        missing = -(-max(wanted - self._left.size, 0) // self._n)
        order = np.concatenate([self._left, *(self._generator.permutation(self._n) for _ in range(missing))])
        self._left = order[wanted:]
        return order[:wanted].reshape(n_batches, batch_size)


class IndependentBatches:
    """Batches of distinct numbers from 0 to n - 1, each drawn anew; the parameters are those of `Epochs`."""

    def __init__(self, n: int, generator: np.random.Generator) -> None:
        self._n, self._generator = n, generator

    def take(self, n_batches: int, batch_size: int) -> Counts:
        """Return the next batches, shape (n_batches, batch_size)."""
        drawn = [self._generator.choice(self._n, batch_size, replace=False) for _ in range(n_batches)]
        return np.stack(drawn)


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
    """One training, on a device; `bounds` are what the sigmoid's 0 and 1 stand for.

    It goes on from `start`, weights and biases of each layer in turn, which are drawn by default.
    """

    def __init__(
        self,
        features: Singles,
        training: Entries,
        validation: Entries,
        bounds: tuple[float, float],
        settings: NetSettings,
        generator: np.random.Generator,
        start: Sequence[Singles] | None = None,
    ) -> None:
        self._torch = import_torch()
        self._device = device_of(settings.device)
        self._settings, self._generator = settings, generator
        self._low, self._width = bounds[0], bounds[1] - bounds[0]
        self._rows = self._tensor(features)
        self._columns = self._rows.T.contiguous()
        self._training, self._validation = self._on_device(training), self._on_device(validation)
        state = initial_state(sum(features.shape), settings.hidden, generator) if start is None else start
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
        kind = IndependentBatches if self._settings.batches == "independent" else Epochs
        drawn = kind(n_training, self._generator)
        size = min(self._settings.batch_size, n_training)
        for start in range(0, n_steps, every):
            stop = min(start + every, n_steps)
            yield stop, self._tensor(drawn.take(stop - start, size))

    def _step(self, optimizer: Any, batch: Any) -> None:
        rows, columns, values = (part.index_select(0, batch) for part in self._training)
        # Side by side: hardly two pairs of a batch share a row or a column, so nothing is gained by a first layer for each apart.
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
            # W (B_i, b_j) = W_r B_i + W_c b_j, so the first layer costs m + n rows, however many entries validate.
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
