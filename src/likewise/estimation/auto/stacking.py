"""The weights of a mixture of estimates, by what each predicts of observations that none of them was fitted on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from likewise._typing import Floats, Mask
from likewise.arrays import as_floats
from likewise.checks import checked_non_negative
from likewise.errors import InputError

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
    matrix = gram + max(prior * noise, 1e-12 * float(np.trace(gram)) or 1.0) * np.eye(k)
    best, lowest = np.full(k, 1 / k), np.inf
    for size in range(1, k + 1):
        for face in map(list, combinations(range(k), size)):
            inner = np.linalg.solve(matrix[np.ix_(face, face)], np.ones(size))
            weights = np.zeros(k)
            weights[face] = inner / inner.sum()
            loss = float(weights @ matrix @ weights)
            if (inner >= 0).all() and loss < lowest:
                best, lowest = weights, loss
    return best


@dataclass(frozen=True, eq=False)
class Pool:
    """What candidates predict of observations that were held out, of which mixtures are made.

    Parameters
    ----------
    predictions : ndarray, shape (k, n)
        Before clipping, on the working range.
    actual : ndarray, shape (n,)
    bounds : (low, high)
        Of the working range.
    """

    predictions: Floats
    actual: Floats
    bounds: tuple[float, float]

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
