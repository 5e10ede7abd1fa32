"""The estimate as a map on rows: what its certificates need to know of it, computed once."""

from __future__ import annotations

from functools import cached_property
from math import isfinite, sqrt
from typing import Protocol

import numpy as np
from scipy import sparse

from likewise._typing import Floats
from likewise.certificates.operator_norm import gamma, largest_norm, spectral_norm, upward
from likewise.observations import AffineScale, ObservedMatrix

_BLOCK_ENTRIES = 1 << 22


class LinearRowMap(Protocol):
    """An estimate that is linear on rows before clipping: ``z -> clip(z P)``, ``P = sum_l gain_l v_l v_l^T``."""

    @property
    def left(self) -> Floats: ...  # noqa: D102
    @property
    def right(self) -> Floats: ...  # noqa: D102
    @property
    def singular_values(self) -> Floats: ...  # noqa: D102
    @property
    def gains(self) -> Floats: ...  # noqa: D102
    @property
    def scale(self) -> AffineScale: ...  # noqa: D102


class RowMap:
    """Sizes of ``P = V diag(gains) V^T`` and of the observations Z that it was made from, on the method's working range.

    V is taken as it is stored: its columns are orthonormal only up to the solver's accuracy, so its norm is bounded, not
    assumed to be 1.

    Parameters
    ----------
    estimate : LinearRowMap
    observed : ObservedMatrix
        In the user's units.
    """

    def __init__(self, estimate: LinearRowMap, observed: ObservedMatrix) -> None:
        self._estimate, self._observed = estimate, observed
        self.left, self.right = estimate.left, estimate.right
        self.gains, self.singular_values = estimate.gains, estimate.singular_values

    @property
    def shape(self) -> tuple[int, int, int]:
        """m, n and r."""
        return self.left.shape[0], self.right.shape[0], self.gains.size

    @cached_property
    def largest_gain(self) -> float:
        """``max psi(sigma) / sigma``."""
        return float(self.gains.max(initial=0.0))

    @cached_property
    def basis_norm(self) -> float:
        """Upper bound on ``||V||_2``: 1 up to the solver's accuracy."""
        return spectral_norm(self.right)

    @cached_property
    def largest_row(self) -> float:
        """Upper bound on the l2 norm of the rows of P: ``||V diag(g) v_k|| <= ||V|| ||g v_k||``."""
        return upward(self.basis_norm * largest_norm(self.right * self.gains, 2.0), 4)

    @cached_property
    def sign_entry(self) -> float:
        """``||sum u v^T||_max``."""
        return self._largest_entry(self.left)

    @cached_property
    def incoherence(self) -> float | None:
        """mu_1 in ``||sum u v^T||_max = sqrt(mu_1 r / (m n))``; None at rank 0."""
        m, n, r = self.shape
        return None if r == 0 else self.sign_entry**2 * m * n / r

    @cached_property
    def largest_weight_entry(self) -> float:
        """``||sum psi(sigma)/sigma^2 u v^T||_max``."""
        return self._largest_entry(self.left * (self.gains / self.singular_values))

    @cached_property
    def largest_column(self) -> float:
        """``max_k ||z_k||_1`` over the columns of Z."""
        columns = self._observed.values.indices
        magnitudes = np.abs(self._values)
        return float(np.bincount(columns, magnitudes, minlength=self.shape[1]).max())

    @cached_property
    def largest_value(self) -> float:
        """``||Z||_max``."""
        return float(np.abs(self._values).max(initial=0.0))

    @cached_property
    def largest_departure(self) -> float:
        """Upper bound on ``||A_hat_i - Z_i P||_2`` before clipping, for rows of the fit; zero if the triplets were exact.

        The row of the estimate is ``g sigma u_i V^T`` and its fold-in ``g (Z_i V) V^T``, so ``||V|| ||g (sigma u_i - Z_i V)||`` bounds it.
        """
        step = max(1, _BLOCK_ENTRIES // max(self.gains.size, 1))
        starts = range(0, self.shape[0], step)
        return max((self._departure(slice(start, start + step)) for start in starts), default=0.0)

    def _departure(self, rows: slice) -> float:
        z, scaled_left = self._mapped[rows], self.left[rows] * self.singular_values
        measured = largest_norm((z @ self.right - scaled_left) * self.gains, 2.0)
        lengths = np.sqrt(np.asarray((z**2).sum(axis=1)).ravel())
        longest_sum = int(np.diff(z.indptr).max(initial=0)) + 4
        rounding = (
            gamma(longest_sum) * float(lengths.max(initial=0.0)) * self.basis_norm * sqrt(self.gains.size)
        )
        rounding += gamma(4) * largest_norm(scaled_left, 2.0)
        departed = self.basis_norm * (measured + self.largest_gain * rounding)
        return upward(departed + self._departure_beside_triplets(rows), 16)

    def _departure_beside_triplets(self, rows: slice) -> float:  # noqa: ARG002
        """Bound what else rows of the estimate depart from their fold-in."""
        return 0.0

    @cached_property
    def _values(self) -> Floats:
        return self._estimate.scale.forward(self._observed.values.data, self._observed.values.indices)

    @property
    def _mapped(self) -> sparse.csr_array:
        """The rows that P maps: of Z, missing entries 0."""
        values = self._observed.values
        return sparse.csr_array((self._values, values.indices, values.indptr), shape=values.shape)

    def _largest_entry(self, left: Floats) -> float:
        """Largest absolute entry of ``left V^T``, by blocks of rows."""
        step = max(1, _BLOCK_ENTRIES // self.right.shape[0])
        blocks = (left[start : start + step] @ self.right.T for start in range(0, left.shape[0], step))
        return max(float(np.abs(block).max(initial=0.0)) for block in blocks)


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
