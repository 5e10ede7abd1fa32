"""The estimate as a map on rows whose missing entries are filled with their centre: linear also with offsets and column weights.

Let c be the column offsets, w the weights of the columns, and a the offset of a row, ``a = sum_j w_j (z_j - c_j) / (sum_j w_j + lambda)`` over
what is observed of it. Filled with its centre, ``x_j = c_j + a`` where nothing is observed, so ``sum_j w_j (x_j - c_j)`` over *all* j
is ``a (sum_observed w + lambda) + a sum_missing w = a (sum_all w + lambda)``: the offset is linear in x. The residuals ``x - c - a`` are
0 where nothing is observed, as the method has it. So the estimate before clipping is ``c + (x - c) Q`` for every pattern of what is
observed, with ``Q = diag(w) (P + 1 e^T)``, ``e = (1 - w P) / (sum w + lambda)``; without row offsets ``Q = diag(w) P``.
"""

from __future__ import annotations

from math import isfinite
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.certificates.operator_norm import largest_norm, spectral_norm
from likewise.fairness.certificates.rounding import gamma, upward

Floats = NDArray[np.float64]


class WeightedFactors(Protocol):
    """What of an estimate makes Q."""

    @property
    def right(self) -> Floats: ...  # noqa: D102
    @property
    def gains(self) -> Floats: ...  # noqa: D102


class FilledRowMap:
    """``Q = L B^T`` up to a rounding term: L of shape (n, q), and B with orthonormal columns up to the accuracy of the factors.

    Parameters
    ----------
    estimate : WeightedFactors
    row_penalty : float or None
        lambda; None where rows have no offset.
    column_weights : ndarray, shape (n,), or None
        w; all 1 by default.
    """

    def __init__(
        self, estimate: WeightedFactors, row_penalty: float | None, column_weights: Floats | None
    ) -> None:
        right, gains = estimate.right, estimate.gains
        weights = np.ones(right.shape[0]) if column_weights is None else column_weights
        self._largest_weight = float(weights.max())
        self._rows, self._basis, self._rounding = right * gains, right, 0.0
        if row_penalty is not None and isfinite(row_penalty):
            self._add_offset(right, gains, weights, float(weights.sum()) + row_penalty)
        self._rows = self._rows * weights[:, None]

    def _add_offset(self, right: Floats, gains: Floats, weights: Floats, total: float) -> None:
        """Add ``1 e^T``, e split into its part within the span of V and the rest, which is one more column of B."""
        n, rank = right.shape
        e = (1.0 - ((weights @ right) * gains) @ right.T) / total
        inside = e @ right
        rest = e - right @ inside
        length = float(np.linalg.norm(rest))
        direction = rest / length if length > 0 else rest
        magnitudes = 1.0 + ((weights @ np.abs(right)) * gains) @ np.abs(right).T
        sizes = magnitudes / total + np.abs(e) + np.abs(right) @ np.abs(inside)
        of_sums = gamma(3) * largest_norm(self._rows, 2.0)
        self._rounding = upward(gamma(n + rank + 8) * float(np.linalg.norm(sizes)) + of_sums, n)
        self._rows = np.column_stack([self._rows + inside, np.full(n, length)])
        self._basis = np.column_stack([right, direction])

    @property
    def largest_row(self) -> float:
        """Upper bound on the l2 norm of the rows of Q: its exact l1 to l2 norm, if the factors are exact."""
        value = spectral_norm(self._basis) * largest_norm(self._rows, 2.0)
        return upward(value + self._largest_weight * self._rounding, 8)

    @property
    def largest_singular_value(self) -> float:
        """Upper bound on the l2 to l2 norm of Q."""
        n = self._rows.shape[0]
        value = spectral_norm(self._basis) * spectral_norm(self._rows)
        return upward(value + n**0.5 * self._largest_weight * self._rounding, 8)
