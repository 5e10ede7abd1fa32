"""Which observations are held out of each fit of a trial."""

from __future__ import annotations

from math import ceil

import numpy as np

from likewise._typing import Mask
from likewise.observations import ObservedMatrix
from likewise.observations.split import latest

_SHARE = 0.1
"""Of the observations, held out at a time."""
_ENOUGH = 5000
"""Held-out observations that tell estimators apart: a root mean squared error of so many is off by 1% or so."""
_MOST_FOLDS = 5
"""How often estimators are fitted at most."""
_SCARCE = 3000
"""Observations below which as many as possible are predicted, each fit without a fifth of them: of more, each lacks only a tenth."""
_FEWEST = 30
"""Observations; errors on fewer tell nothing."""


def later_fold(observed: ObservedMatrix) -> tuple[Mask, ...]:
    """Hold out the latest tenth, once: drifts that help to predict it will help from here on.

    None of fewer than 30 observations, nor where that would be a single one or more than half, as where most were made at the latest time.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.observations import with_times
    >>> (fold,) = later_fold(with_times(np.arange(40.0).reshape(5, 8), np.arange(40)))
    >>> np.flatnonzero(fold)
    array([36, 37, 38, 39])
    """
    n_observed = observed.n_observed
    if n_observed < _FEWEST:
        return ()
    fold = latest(observed, round(_SHARE * n_observed))[0]
    return (fold,) if 2 <= fold.sum() <= n_observed / 2 else ()


def held_out_folds(n_observed: int, rng: np.random.Generator) -> tuple[Mask, ...]:
    """Draw disjoint sets of observations to hold out, one for each fit.

    Returns
    -------
    tuple of ndarray of bool, shape (n_observed,)
        Each marks what is held out of one fit. From 50,000 observations on it is one tenth once; of fewer it is a tenth up to five
        times, each time another; below 3,000 a fifth, five times. Of fewer than 30, none.

    Examples
    --------
    >>> [int(mask.sum()) for mask in held_out_folds(32, np.random.default_rng(0))]
    [7, 7, 6, 6, 6]
    >>> [int(mask.sum()) for mask in held_out_folds(100_000, np.random.default_rng(0))]
    [10000]
    """
    if n_observed < _FEWEST:
        return ()
    n_folds = min(ceil(_ENOUGH / (_SHARE * n_observed)), _MOST_FOLDS)
    n_parts = n_folds if n_observed < _SCARCE else round(1 / _SHARE)
    part = rng.permutation(np.arange(n_observed) % n_parts)
    return tuple(part == fold for fold in range(n_folds))
