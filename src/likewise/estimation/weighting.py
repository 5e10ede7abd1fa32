"""Weights of observations by how likely each was to be made, for rows seen in a fit and rows that were not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.observations.table import Values

Floats = NDArray[np.float64]


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
        if not 0 < self.floor <= 1:
            raise InputError(f"propensity floor {self.floor!r}", "a number in (0, 1]")
        if not 0 < self.scale < np.inf:
            raise InputError(f"scale of weights {self.scale!r}", "a finite number above 0")

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
        """Return what `from_arrays` needs, to be stored."""
        return {
            "column_propensities": self.columns,
            "propensities_by_count": np.asarray(self.by_count),
            "propensity_floor": np.asarray(self.floor, dtype=np.float64),
            "weight_scale": np.asarray(self.scale, dtype=np.float64),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Weighting | None:
        """Return what was stored; None where no weights were."""
        if "column_propensities" not in arrays:
            return None
        needed = {"propensities_by_count", "propensity_floor", "weight_scale"}
        if not needed <= set(arrays):
            raise InputError("column propensities alone", f"{', '.join(sorted(needed))} too")
        return cls(
            np.asarray(arrays["column_propensities"], dtype=np.float64),
            bool(arrays["propensities_by_count"]),
            float(arrays["propensity_floor"]),
            float(arrays["weight_scale"]),
        )
