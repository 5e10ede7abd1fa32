"""How a dense net is built and trained."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.errors import ModelError
from likewise.inference.net.data import observed_entries, single_precision, validation_mask
from likewise.inference.net.settings import NetSettings
from likewise.inference.net.torch_runtime import device_of, import_torch, threads
from likewise.inference.net.trained_net import DenseNet, TrainingRecord
from likewise.inference.net.training import Training
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
    chosen = NetSettings() if settings is None else settings
    low, high = _checked_bounds(bounds)
    dense = single_precision(features)
    entries = observed_entries(targets, dense.shape, (low, high))
    generator = generator_of(random_state)
    held_back = validation_mask(len(entries), chosen.validation_fraction, generator)
    with threads(chosen.n_threads):
        training = Training(dense, entries[~held_back], entries[held_back], (low, high), chosen, generator)
        trained = training.run(progress)
    return DenseNet(
        trained.weights,
        trained.biases,
        dense.shape,
        (low, high),
        TrainingRecord(held_back, trained.steps, trained.errors),
        str(device_of(chosen.device)),
        chosen.n_threads,
    )


def dense_net_outputs(
    features: Any,
    targets: Any,
    *,
    settings: NetSettings | None = None,
    bounds: tuple[float, float] = (-1.0, 1.0),
    random_state: RandomState = None,
    progress: Progress | None = None,
) -> Floats:
    """Train the dense net h' and predict every entry: the outputs h(i, B) of the paper's Experiments 1, 3 and 4.

    Parameters
    ----------
    features, targets, settings, bounds, random_state, progress
        As in `train_dense_net`, which also tells what is raised.

    Returns
    -------
    ndarray, shape (m, n)
        Row i is the output of individual i, within `bounds`.

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
    net = train_dense_net(
        features, targets, settings=settings, bounds=bounds, random_state=random_state, progress=progress
    )
    return net.predict_all(features)


def _checked_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError) as error:
        raise ModelError(f"bounds {bounds!r}", "two numbers") from error
    if not (np.isfinite(high - low) and low < high):
        raise ModelError(f"bounds {bounds!r}", "finite numbers, the lower one first")
    return low, high
