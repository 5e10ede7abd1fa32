"""The dense net of the paper's experiments: trained on observed entries, as a function and as a model of the audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from likewise._typing import Floats, Singles
from likewise.arrays import as_array
from likewise.checks import checked_callable, checked_instance
from likewise.errors import ModelError
from likewise.inference.model import Model, TrainedModel
from likewise.inference.net.trained_net import DenseNet, TrainingRecord
from likewise.inference.net.training import (
    NetSettings,
    Training,
    device_of,
    import_torch,
    observed_entries,
    single_precision,
    threads,
    validation_mask,
)
from likewise.observations import ObservedMatrix
from likewise.progress import Progress
from likewise.randomness import RandomState, generator_of

__all__ = ["DenseNet", "NetSettings", "TrainingRecord", "dense_net_outputs", "train_dense_net"]


def train_dense_net(
    features: Any,
    targets: Any,
    *,
    settings: NetSettings | None = None,
    bounds: tuple[float, float] = (-1.0, 1.0),
    random_state: RandomState = None,
    start: DenseNet | None = None,
    progress: Progress | None = None,
) -> DenseNet:
    """Train the net that predicts entry (i, j) from row i and column j of a complete matrix.

    Parameters
    ----------
    features : ndarray or csr_array, shape (m, n)
        B, complete: the zero-filled observations or an estimate. What a sparse one does not store is 0.
    targets : csr_array, ObservedMatrix, or ndarray with NaN where nothing was observed; shape (m, n)
        What to learn, on the same working range; each stored entry is an observation, also a stored zero.
    settings : NetSettings, optional
        Size and training; the paper's by default.
    bounds : (float, float), default (-1.0, 1.0)
        Between which the outputs lie: ``2 h' - 1`` for a net h' that ends in a sigmoid; with (0, 1) h' itself.
    random_state : int, numpy.random.Generator or None, default None
        Which observations validate, the initial weights, and the order of the batches. torch's own state is not read or changed.
    start : DenseNet, optional
        Go on from its weights, with a new optimiser and other batches; the same observations validate for the same `random_state`. By
        default weights are drawn.
    progress : callable, optional
        Called with (steps done, steps in all) after each validation.

    Returns
    -------
    DenseNet
        In the state with the smallest validation error; `DenseNet.record` tells how the training went.

    Raises
    ------
    MissingDependencyError
        Without PyTorch.
    ModelError
        Features that are not finite; fewer than two observations; targets outside the bounds; a device that is not there;
        a training that diverged.
    ShapeError
        If features and targets differ in shape.
    MemoryLimitError
        If two dense copies of the features in single precision would not fit.

    Notes
    -----
    The loss is the mean squared error. The same seed gives the same net, bit by bit, on the same device with the same number of
    threads and the same torch; elsewhere sums are rounded in another order, and a training makes small differences grow.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 6, Experiment 1.

    Examples
    --------
    >>> from likewise.observations import clustered
    >>> data = clustered(40, 60, 4, observed_fraction=0.5, random_state=0)
    >>> Z = data.observed.values
    >>> net = train_dense_net(Z, Z, settings=NetSettings(n_steps=300), random_state=0)  # doctest: +SKIP
    >>> net.record.steps  # doctest: +SKIP
    (100, 200, 300)
    >>> net.predict_all(Z).shape  # doctest: +SKIP
    (40, 60)
    """
    import_torch()  # before any work
    chosen = (
        NetSettings()
        if settings is None
        else checked_instance("settings", settings, NetSettings, "NetSettings(...)")
    )
    checked_callable("progress", progress, "a function of (done, total)")
    if start is not None:
        checked_instance("start", start, DenseNet, "a DenseNet", "train_dense_net(...) makes one")
    low, high = _checked_bounds(bounds)
    inputs = single_precision(features)
    entries = observed_entries(targets, inputs.shape, (low, high))
    generator = generator_of(random_state)
    held_back = validation_mask(len(entries), chosen.validation_fraction, generator)
    with threads(chosen.n_threads):
        training = Training(
            inputs,
            entries[~held_back],
            entries[held_back],
            (low, high),
            chosen,
            generator,
            None if start is None else _state_of(start, inputs.shape, chosen),
        )
        trained = training.run(progress)
    return DenseNet(
        trained.weights,
        trained.biases,
        inputs.shape,
        (low, high),
        TrainingRecord(held_back, trained.steps, trained.errors),
        str(device_of(chosen.device)),
        chosen.n_threads,
    )


def dense_net_outputs(features: Any, targets: Any, **options: Any) -> Floats:
    """Train the dense net h' and predict every entry: the outputs h(i, B) of the paper's Experiments 1, 3 and 4.

    Parameters
    ----------
    features, targets
        As in `train_dense_net`, which also tells what is raised.
    **options
        Those of `train_dense_net`.

    Returns
    -------
    ndarray, shape (m, n)
        Row i is the output of individual i, within the bounds.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 6.

    Examples
    --------
    >>> from likewise.observations import clustered
    >>> Z = clustered(40, 60, 4, observed_fraction=0.5, random_state=0).observed
    >>> dense_net_outputs(Z.zero_filled(), Z, random_state=0).shape  # doctest: +SKIP
    (40, 60)
    """
    return train_dense_net(features, targets, **options).predict_all(features)


def _state_of(net: DenseNet, shape: tuple[int, ...], settings: NetSettings) -> list[Singles]:
    layers = tuple(len(bias) for bias in net.biases[:-1])
    if (net.shape, layers) != (shape, tuple(settings.hidden)):
        raise ModelError(
            f"a start for {net.shape} with layers {layers}",
            f"one for {shape} with layers {tuple(settings.hidden)}",
        )
    return [part for layer in zip(net.weights, net.biases, strict=True) for part in layer]


def _checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError) as error:
        raise ModelError(f"bounds {bounds!r}", "two numbers") from error
    if not (np.isfinite(high - low) and low < high):
        raise ModelError(f"bounds {bounds!r}", "finite numbers, the lower one first")
    return low, high


@dataclass(frozen=True, eq=False)
class DenseNetModel(Model):
    """Each entry is predicted by a dense net from its row and its column; see `train_dense_net`.

    With a seed, both arms of a comparison learn the same observed entries, split and shuffled alike, from the same first weights, so
    that they differ in their features alone. Without one, all is drawn anew for each matrix.
    """

    settings: NetSettings = field(default_factory=NetSettings)
    random_state: RandomState = None
    predicts_entries: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What the model is called in a report."""
        return f"dense net {'-'.join(map(str, self.settings.hidden))}-1"

    def ensure_usable(self) -> None:
        """Raise what `run` would raise before it looks at any data: PyTorch or the device is not there."""
        device_of(self.settings.device)

    def run(
        self, matrix: Any, observed: ObservedMatrix | None, progress: Progress | None
    ) -> tuple[Floats, TrainedModel]:
        """Return the outputs; without `observed`, every entry of the matrix is learnt, and lies in [-1, 1]."""
        targets, bounds = (
            (as_array(matrix), (-1.0, 1.0)) if observed is None else (observed, _bounds(observed))
        )
        net = train_dense_net(
            matrix,
            targets,
            settings=self.settings,
            bounds=bounds,
            random_state=self.random_state,
            progress=progress,
        )
        return net.predict_all(matrix), TrainedModel(net)


def _bounds(observed: ObservedMatrix) -> tuple[float, float]:
    low, high = observed.value_range.low, observed.value_range.high
    if low.ndim:
        raise ModelError(
            "observations with a value range for each column",
            "one working range for all",
            "scale them: Z.scaled()",
        )
    return float(low), float(high)
