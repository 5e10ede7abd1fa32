"""Which observations are held out of each fit, and the weights of a mixture of estimates by what each predicts of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil

import numpy as np

from likewise._typing import Floats, Mask
from likewise.arrays import as_floats
from likewise.checks import checked_non_negative
from likewise.errors import InputError
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
    """Draw disjoint sets of observations to hold out, one for each fit, as masks of shape (n_observed,).

    From 50,000 observations on it is one tenth once; of fewer it is a tenth up to five times, each time another; below 3,000 a fifth, five times. Of
    fewer than 30, none.

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


_PRIOR = 25.0
"""Precision of what is thought of weights beforehand, that they are equal: they lie within 0.2 of that, were nothing held out."""
_PARTS = 5
"""Parts of what is held out, each predicted with weights that the others gave."""


def stacking_weights(errors: Floats, prior: float = _PRIOR) -> Floats:
    """Return the most likely weights of a mixture, none below 0, that sum to 1: ``min |w E|^2 / s^2 + prior |w - 1/k|^2``.

    With the noise s^2 taken for the smallest mean of squares of a part. As the weights sum to 1, the error of a mixture is ``w E``, and the second term is ``prior |w|^2`` but
    for a constant. So few held-out observations leave weights near equal ones, and many decide.

    Parameters
    ----------
    errors : ndarray, shape (k, n)
        Of k estimates on n observations held out.
    prior : float, default 25
        >= 0.

    Returns
    -------
    ndarray, shape (k,)

    Raises
    ------
    InputError
        Errors that are not finite numbers, or of no observation; a prior below 0.

    References
    ----------
    Breiman, "Stacked regressions", Machine Learning 24 (1996): weights >= 0 by what is held out.

    Examples
    --------
    The errors of two parts are opposite; of the third they are larger.

    >>> errors = np.array([[1.0, -1.0], [-1.0, 1.0], [9.0, 9.0]])
    >>> stacking_weights(errors, prior=0.0).round(9)
    array([0.5, 0.5, 0. ])
    """
    given = as_floats(errors, "errors")
    if given.ndim != 2 or not given.size or not np.isfinite(given).all():
        raise InputError(
            f"errors of shape {given.shape}",
            "finite numbers, a row for each estimate, a column for each observation",
        )
    checked_non_negative("prior", prior)
    largest = float(np.abs(given).max()) or 1.0  # whose square need not be a number
    scaled = given / largest
    return _likeliest(scaled @ scaled.T, scaled.shape[1], prior)


def _likeliest(gram: Floats, n: int, prior: float) -> Floats:
    """Minimise over the faces of the simplex: on each the weights of no error are ``M^-1 1``, up to their sum."""
    k = gram.shape[0]
    noise = float(np.diag(gram).min()) / n
    # The prior is a diagonal; it is never quite 0, so that parts that predict alike get equal weights.
    matrix = gram + max(prior * noise, 1e-12 * float(np.trace(gram)) or 1.0) * np.eye(k)
    best, lowest = np.full(k, 1 / k), np.inf
    for size in range(1, k + 1):
        for face in map(list, combinations(range(k), size)):
            # On a face, where only these weights are not 0, the minimum with sum 1 is M^-1 1 over its sum. One that has no negative weight lies in
            # the simplex, and the minimum over the simplex is that of some face.
            inner = np.linalg.solve(matrix[np.ix_(face, face)], np.ones(size))
            weights = np.zeros(k)
            weights[face] = inner / inner.sum()
            loss = float(weights @ matrix @ weights)
            if (inner >= 0).all() and loss < lowest:
                best, lowest = weights, loss
    return best


@dataclass(frozen=True, eq=False)
class Pool:
    """What candidates predict of observations that were held out, of which mixtures are made."""

    predictions: Floats  # (k, n), before clipping, on the working range
    actual: Floats  # (n,)
    bounds: tuple[float, float]  # of the working range

    @cached_property
    def errors(self) -> Floats:
        """Of each candidate alone, shape (k, n)."""
        return np.asarray(np.clip(self.predictions, *self.bounds) - self.actual)

    @cached_property
    def _parts(self) -> list[Mask]:
        part = np.arange(self.actual.size) % _PARTS
        return [part == number for number in range(_PARTS)]

    @cached_property
    def _grams(self) -> list[Floats]:
        """``E E^T`` over all but each part."""
        of_parts = [self.errors[:, part] @ self.errors[:, part].T for part in self._parts]
        total = np.sum(of_parts, axis=0)
        return [total - own for own in of_parts]

    def squares(self, members: Sequence[int]) -> Floats:
        """Return the squared errors of a mixture, those of each part by the weights that the other parts gave; shape (n,)."""
        chosen, found = np.array(members, dtype=np.intp), np.empty(self.actual.size)
        for part, gram in zip(self._parts, self._grams, strict=True):
            n = self.actual.size - int(part.sum())
            weights = _likeliest(gram[np.ix_(chosen, chosen)], n, _PRIOR)
            mixed = np.clip(weights @ self.predictions[chosen][:, part], *self.bounds)
            found[part] = (mixed - self.actual[part]) ** 2
        return found

    def weights(self, members: Sequence[int]) -> Floats:
        """Return the weights of a mixture by all that was held out."""
        return stacking_weights(self.errors[list(members)])

    def best(
        self, size: int, within: Sequence[int] = (), allowed: Callable[[Sequence[int]], bool] = lambda _: True
    ) -> tuple[int, ...] | None:
        """Return the mixture of so many candidates with the smallest error, `within` among them; None where none is allowed."""
        others = [number for number in range(len(self.predictions)) if number not in within]
        tried = [(*within, *more) for more in combinations(others, size - len(within))]
        return min(
            filter(allowed, tried), key=lambda members: float(self.squares(members).mean()), default=None
        )
