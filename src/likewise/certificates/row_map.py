"""The estimate as a map on rows: what its certificates need to know of it, computed once."""

from __future__ import annotations

from functools import cached_property
from math import isfinite, sqrt
from typing import Any, Protocol

import numpy as np

from likewise._typing import Floats
from likewise.certificates.fitted_rows import FittedRows, FoldIn, departure, fitted_rows
from likewise.certificates.operator_norm import gamma, largest_norm, spectral_norm, upward
from likewise.observations import AffineScale, ObservedMatrix, PartitionedMatrix

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
    assumed to be 1. Observations are in the user's units. With `centred`, offsets are subtracted before, which a `LowRankEstimate` knows.
    """

    def __init__(
        self,
        estimate: LinearRowMap,
        observed: ObservedMatrix | PartitionedMatrix,
        *,
        centred: bool = False,
    ) -> None:
        self._estimate: Any = estimate
        self._observed, self._subtracts_offsets = observed, centred
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
        return self._plain.basis_norm

    @cached_property
    def _plain(self) -> FilledRowMap:
        return FilledRowMap(self.right)

    @cached_property
    def largest_row(self) -> float:
        """Upper bound on the l2 norm of the rows of P: ``||V diag(g) v_k|| <= ||V|| ||g v_k||``."""
        return self._plain.largest_row(self.gains)

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
        return self._rows.longest_column()

    @cached_property
    def largest_departure(self) -> float:
        """Upper bound on ``||A_hat_i - fold_in(Z_i)||_2`` before clipping, for rows of the fit; see `departure`."""
        fold = FoldIn(self.right, self.gains, self.singular_values, self.basis_norm, self._centred)
        offsets = None if self._centred is None else self._estimate.row_offsets
        return self._rows.largest(departure, fold, self.left, offsets, width=self.gains.size)[0]

    @cached_property
    def _rows(self) -> FittedRows:
        return fitted_rows(self._observed, self._estimate.scale)

    @property
    def _centred(self) -> Any:
        """The estimate without its rows, where offsets are subtracted before; None where P maps the observations."""
        return self._estimate.without_rows() if self._subtracts_offsets else None

    def _largest_entry(self, left: Floats) -> float:
        """Largest absolute entry of ``left V^T``, by blocks of rows."""
        step = max(1, _BLOCK_ENTRIES // self.right.shape[0])
        blocks = (left[start : start + step] @ self.right.T for start in range(0, left.shape[0], step))
        return max(float(np.abs(block).max(initial=0.0)) for block in blocks)


class FilledRowMap:
    """The map ``x -> (x - c) Q`` from a row filled with its centre c to its estimate less the centre, for any gains g.

    With weights w > 0, all 1 by default, and row offsets of penalty lambda >= 0, ``Q = diag(w) (P + 1 e^T)``, where ``P = V diag(g) V^T``,
    ``e = (1 - w P) / N`` and ``N = sum w + lambda``; without row offsets (None) e is 0. What is proved of an estimate and what a fairness
    budget limits are both read from here, so that they are the same number.

    Split the vector of ones into ``V a + rest``, for any a. Then row k of Q is ``c_k V^T + w_k rest / N`` with
    ``c_k = w_k (g (v_k - V^T w / N) + a / N)``. Nothing has been assumed of V yet. If a is the projection of the ones on V, taken twice so
    that rounding does not spoil it, ``rest`` is orthogonal to V up to `crossing`, and the length of row k is that of the vector
    ``(||V|| c_k, w_k ||rest|| / N)`` up to that. The remainder is never normalised: where the ones lie in the span of V it is all rounding,
    and its direction means nothing.
    """

    def __init__(self, right: Floats, weights: Floats | None = None, penalty: float | None = None) -> None:
        self.right, (n, rank) = right, right.shape
        self.weights = np.ones(n) if weights is None else weights
        self.basis_norm = spectral_norm(right)
        self.mean, self.inside = np.zeros(rank), np.zeros(rank)
        """``V^T w / N`` and ``a / N``."""
        self.outside = self.crossing = 0.0
        """``||rest|| / N`` and a bound on ``||V^T rest|| / (N ||V||)``."""
        self._roundings_of_coefficients = self._roundings_of_rest = 0.0
        if penalty is not None and isfinite(penalty):
            self._add_offset(float(self.weights.sum()) + penalty)

    def _add_offset(self, total: float) -> None:
        """Take up ``1 e^T``, with `total` for N."""
        right, magnitudes, (n, rank) = self.right, np.abs(self.right), self.right.shape
        ones = np.ones(n)
        projection = right.T @ ones
        # The second time takes out what rounding of the first left of V in the remainder.
        projection += right.T @ (ones - right @ projection)
        rest = ones - right @ projection
        self.mean, self.inside = self.weights @ right / total, projection / total
        self.outside = upward(float(np.linalg.norm(rest)) / total, 2 * n + 8)
        # Rounding: of the sums over features in c_k, and of the sums over components in the remainder.
        self._roundings_of_coefficients = float(np.linalg.norm(self.weights @ magnitudes)) / total
        errors = gamma(rank + 4) * (1.0 + magnitudes @ np.abs(projection))
        self._roundings_of_rest = upward(float(np.linalg.norm(errors)) / total, 2 * n)
        # How far the remainder is from orthogonal to V: as computed, plus what rounding may have hidden.
        crossing = np.abs(right.T @ rest) + magnitudes.T @ (gamma(n + 4) * np.abs(rest) + errors)
        self.crossing = upward(float(np.linalg.norm(crossing)) / total, 4 * n) / (self.basis_norm or 1.0)

    def coefficients(self) -> tuple[Floats, Floats, Floats]:
        """Return slopes and inside, (n, r), and outside, (n,): row k has length ``sqrt(sum_l (slopes_kl g_l + inside_kl)^2 + outside_k^2)``.

        `outside` is what does not depend on the gains and is outside V.
        """
        scaled = (self.basis_norm * self.weights)[:, None]
        return scaled * (self.right - self.mean), scaled * self.inside, self.weights * self.outside

    def largest_row(self, gains: Floats) -> float:
        """Upper bound on the l2 norm of the rows of Q: its l1 to l2 norm, exact but for rounding and the accuracy of V."""
        return upward(largest_norm(self._rows(gains), 2.0) + self.slack(gains), 8)

    def largest_singular_value(self, gains: Floats) -> float:
        """Upper bound on the l2 to l2 norm of Q, exact in the same sense."""
        # Each of n rows is off by the slack at most, so the matrix by sqrt(n) times as much.
        return upward(spectral_norm(self._rows(gains)) + sqrt(self.right.shape[0]) * self.slack(gains), 8)

    def slack(self, gains: Floats) -> float:
        """Bound what rounding, and a remainder that is not quite orthogonal to V, add to the length of a row."""
        if not self.outside and not self.inside.any():
            return 0.0
        n, largest = self.right.shape[0], float(np.abs(gains).max(initial=0.0))
        sizes = largest * (largest_norm(self.right, 2.0) + self._roundings_of_coefficients)
        in_coefficients = gamma(2 * n + 16) * self.basis_norm * (sizes + float(np.linalg.norm(self.inside)))
        return float(self.weights.max()) * (in_coefficients + self._roundings_of_rest + self.crossing)

    def _rows(self, gains: Floats) -> Floats:
        """Rows of the same lengths as those of Q, and with the same singular values."""
        slopes, inside, outside = self.coefficients()
        within = slopes * gains + inside
        return np.column_stack([within, outside]) if self.outside else within
