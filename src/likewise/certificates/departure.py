"""How far the estimate of rows of the fit, as it is stored, departs from their fold-in: zero if singular triplets were exact."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.certificates.operator_norm import gamma, largest_norm, upward
from likewise.observations.table import Values


@dataclass(frozen=True, eq=False)
class FoldIn:
    """What folds a row in before clipping: ``g (z V) V^T``, z what is left of it after the offsets.

    Parameters
    ----------
    right : ndarray, shape (n, r)
        V.
    gains, singular_values : ndarray, shape (r,)
        g and sigma.
    basis_norm : float
        Upper bound on ``||V||``.
    centred : LowRankEstimate or None
        Without its rows; its folding subtracts offsets. None where none are.
    """

    right: Floats
    gains: Floats
    singular_values: Floats
    basis_norm: float
    centred: Any = None


def departure(values: Values, left: Floats, offsets: Floats | None, fold: FoldIn) -> tuple[float]:
    """Bound ``||A_hat_i - fold_in(Z_i)||_2`` before clipping, over rows of the fit.

    The row of the estimate is ``g sigma u_i V^T`` and its fold-in ``g (z V) V^T``, so ``||V|| ||g (sigma u_i - z V)||`` bounds it, but for offsets.

    Parameters
    ----------
    values : csr_array, shape (k, n)
        Observations on the method's working range.
    left : ndarray, shape (k, r)
        Rows of U.
    offsets : ndarray, shape (k,), or None
        Of the rows, as they are stored.
    fold : FoldIn

    Returns
    -------
    tuple of float
        One number.
    """
    largest_gain = float(fold.gains.max(initial=0.0))
    z, folded = values, None
    if fold.centred is not None:
        z, folded = fold.centred.folding.residuals(values, fold.centred)
    scaled_left = left * fold.singular_values
    measured = largest_norm((z @ fold.right - scaled_left) * fold.gains, 2.0)
    lengths = np.sqrt(np.asarray((z**2).sum(axis=1)).ravel())
    longest_sum = int(np.diff(z.indptr).max(initial=0)) + 4
    rounding = gamma(longest_sum) * float(lengths.max(initial=0.0)) * fold.basis_norm * sqrt(fold.gains.size)
    rounding += gamma(4) * largest_norm(scaled_left, 2.0)
    departed = fold.basis_norm * (measured + largest_gain * rounding)
    if fold.centred is not None:
        departed += _of_offsets(values, z, offsets, folded, fold.basis_norm**2 * largest_gain)
    return (upward(departed, 16),)


def _of_offsets(
    values: Values, residuals: Values, stored: Floats | None, folded: Floats | None, steepness: float
) -> float:
    """Bound what rounding of the residuals and stored row offsets add: ``sqrt(n) |stored - folded|`` of the latter."""
    n = values.shape[1]
    sizes = 1.0 + sum(float(np.abs(part.data).max(initial=0.0)) for part in (values, residuals))
    rounding = gamma(n + 8) * sizes
    departed = steepness * sqrt(n) * rounding
    if stored is None or folded is None:
        return departed
    return departed + sqrt(n) * (float(np.abs(stored - folded).max(initial=0.0)) + rounding)
