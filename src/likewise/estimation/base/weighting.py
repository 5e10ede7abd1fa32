"""Weights of observations by how likely each was to be made, for rows seen in a fit and rows that were not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.errors import InputError, ShapeError
from likewise.observations.table import Values, with_data


@dataclass(frozen=True, eq=False)
class Weighting:
    """Weights ``w_ij = scale / p_ij`` of the observations of any row, from what is known of the columns.

    ``p_ij = clip(columns_j, floor, 1)``, the same for all rows; or with `by_count` ``clip(n_i columns_j, floor, 1)``, for a row with
    ``n_i`` observations, where ``columns`` add up to 1 (the rank-one propensities by degrees).

    Parameters
    ----------
    columns : ndarray, shape (n,)
        In [0, 1].
    by_count : bool
    floor : float
        The smallest propensity that is believed, in (0, 1].
    scale : float, default 1
        Above 0; the observed fraction, so that equal propensities weigh nothing.

    Examples
    --------
    >>> from scipy import sparse
    >>> seen = sparse.csr_array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> Weighting(np.array([0.5, 0.3, 0.2]), by_count=True, floor=0.25).weights(seen).round(3)
    array([1.   , 1.667, 4.   ])
    """

    columns: Floats
    by_count: bool
    floor: float
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.columns.ndim != 1 or not ((self.columns >= 0) & (self.columns <= 1)).all():
            raise InputError("column propensities", "one number in [0, 1] for each column")
        _check(self.floor, self.scale)

    @property
    def by_row(self) -> bool:
        """Whether two rows may weigh the same column differently."""
        return self.by_count

    def propensities(self, observations: Values) -> Floats:
        """Return ``p_ij`` of each stored entry, shape (n_observed,)."""
        chances = self.columns[observations.indices]
        if self.by_count:
            counts = np.diff(observations.indptr)
            chances = chances * np.repeat(counts, counts)
        return np.asarray(np.clip(chances, self.floor, 1.0), dtype=np.float64)

    def weights(self, observations: Values) -> Floats:
        """Return ``scale / p_ij`` of each stored entry, shape (n_observed,)."""
        return np.asarray(self.scale / self.propensities(observations))

    def of_columns(self) -> Floats:
        """Return ``scale / p_j`` of each column, shape (n,), where it is the same for all rows."""
        return np.asarray(self.scale / np.clip(self.columns, self.floor, 1.0))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `stored_weighting` needs."""
        return {
            "column_propensities": self.columns,
            "propensities_by_count": np.asarray(self.by_count),
            **_stored(self.floor, self.scale),
        }


@dataclass(frozen=True, eq=False)
class ValueWeighting:
    """Weights ``scale / p(z_ij)`` of the observations of any row, from the value that was observed: that of the nearest level.

    Parameters
    ----------
    levels : ndarray, shape (k,)
        Values on the method's working range, increasing.
    chances : ndarray, shape (k,)
        p of each, in (0, 1].
    floor, scale
        As in `Weighting`.

    Examples
    --------
    >>> from scipy import sparse
    >>> seen = sparse.csr_array([[1.0, -1.0, 0.9]])
    >>> ValueWeighting(np.array([-1.0, 1.0]), np.array([0.1, 0.5]), floor=0.01).weights(seen)
    array([ 2., 10.,  2.])
    """

    levels: Floats
    chances: Floats
    floor: float
    scale: float = 1.0
    by_row: ClassVar[bool] = True
    """Two rows weigh the same column differently where they observed different values."""

    def __post_init__(self) -> None:
        usable = self.levels.size == self.chances.size > 0 and bool((np.diff(self.levels) > 0).all())
        if not usable or not ((self.chances > 0) & (self.chances <= 1)).all():
            raise InputError(
                "propensities of values", "one number in (0, 1] for each of some increasing values"
            )
        _check(self.floor, self.scale)

    def propensities(self, observations: Values) -> Floats:
        """Return ``p(z_ij)`` of each stored entry, shape (n_observed,)."""
        # The nearest level is found by the middles between two.
        between = (self.levels[1:] + self.levels[:-1]) / 2
        return np.clip(self.chances[np.searchsorted(between, observations.data)], self.floor, 1.0)

    def weights(self, observations: Values) -> Floats:
        """Return ``scale / p(z_ij)`` of each stored entry, shape (n_observed,)."""
        return np.asarray(self.scale / self.propensities(observations))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `stored_weighting` needs."""
        return {
            "value_levels": self.levels,
            "value_propensities": self.chances,
            **_stored(self.floor, self.scale),
        }


AnyWeighting = Weighting | ValueWeighting


def stored_weighting(arrays: dict[str, NDArray[Any]]) -> AnyWeighting | None:
    """Return the weighting that was stored as arrays; None where there was none, `InputError` if only part of one is there."""
    kinds = {"column_propensities": "propensities_by_count", "value_levels": "value_propensities"}
    first = next((name for name in kinds if name in arrays), None)
    if first is None:
        return None
    needed = {kinds[first], "propensity_floor", "weight_scale"}
    if not needed <= set(arrays):
        raise InputError(f"{first} alone", f"{', '.join(sorted(needed))} too")
    ends = float(arrays["propensity_floor"]), float(arrays["weight_scale"])
    known, second = np.asarray(arrays[first], dtype=np.float64), arrays[kinds[first]]
    if first == "value_levels":
        return ValueWeighting(known, np.asarray(second, dtype=np.float64), *ends)
    return Weighting(known, bool(second), *ends)


def _check(floor: float, scale: float) -> None:
    if not 0 < floor <= 1:
        raise InputError(f"propensity floor {floor!r}", "a number in (0, 1]")
    if not 0 < scale < np.inf:
        raise InputError(f"scale of weights {scale!r}", "a finite number above 0")


def _stored(floor: float, scale: float) -> dict[str, NDArray[Any]]:
    return {"propensity_floor": np.asarray(floor, np.float64), "weight_scale": np.asarray(scale, np.float64)}


def checked_weights(weights: Floats | None, observations: Values) -> Floats | None:
    """Return weights of observations as float64, shape (n_observed,); None, which stands for all 1, as it is.

    Raises `ShapeError` if there is not one for each observation, `InputError` if one is negative or not finite, or all are 0.
    """
    if weights is None:
        return None
    checked = as_floats(weights, "weights")
    if checked.shape != (observations.nnz,):
        raise ShapeError(
            f"weights of shape {checked.shape}", f"({observations.nnz},), one for each observation"
        )
    if not (checked >= 0).all() or not np.isfinite(checked).all() or not checked.any():
        raise InputError(
            "weights that are negative or not finite, or all 0", "finite numbers >= 0, one of them above 0"
        )
    return checked


def transposed_weights(weights: Floats | None, observations: Values) -> Floats | None:
    """Return the weights in the order of the transposed observations."""
    return None if weights is None else with_data(observations, weights).T.tocsr().data


def kept_weights(weights: Floats | None, kept: NDArray[np.bool_]) -> Floats | None:
    """Return the weights of some of the observations."""
    return None if weights is None else weights[kept]


def self_normalised_error(errors: Floats, weights: Floats | None) -> float:
    """Return ``sqrt(sum w e^2 / sum w)``: with inverse propensities, an estimate of the root mean squared error over *all* entries.

    Dividing by the sum of the weights rather than by how many entries there are makes it exact for errors of one size, whatever the
    weights (Swaminathan and Joachims 2015; Schnabel et al. 2016).

    >>> self_normalised_error(np.array([1.0, 3.0]), np.array([7.0, 1.0]))
    1.4142135623730951
    """
    return float(np.sqrt(np.average(errors**2, weights=weights)))
