"""How much each feature's observation can move an estimate, as a function of the gains: what a fairness budget limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, sqrt

import numpy as np

from likewise._typing import Floats
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.budget.dual import Constraints

_UNIT_ROUNDOFF: float = 2.0**-53


@dataclass(frozen=True, eq=False)
class BudgetRows:
    """Rows of the linear map from filled rows to their estimate, in the coordinates of V: ``gains a_k + t`` and a part outside V.

    Parameters
    ----------
    rows : ndarray, shape (n, r)
        ``a_k``: with one weight for each feature and no row offsets, ``w_k v_k``.
    inside : ndarray, shape (n, r)
        ``t_k``, from row offsets; 0 where there are none.
    lengths : ndarray, shape (n,)
        Length of what does not depend on the gains: of ``t_k`` and the part outside V together.
    factor : float
        ``||V||_2``, which is 1 up to the solver's accuracy, and rounding.
    slack : float
        Further rounding, absolute.
    """

    rows: Floats
    inside: Floats
    lengths: Floats
    factor: float
    slack: float = 0.0

    @classmethod
    def plain(cls, right: Floats) -> BudgetRows:
        """Of an estimate ``z -> z P`` without offsets and weights."""
        return cls(right, np.zeros(right.shape), np.zeros(right.shape[0]), _factor(right))

    @classmethod
    def of(cls, estimate: LowRankEstimate) -> BudgetRows:
        """Of an estimate with linear folding.

        With weights w and row offsets of penalty lambda, ``N = sum w + lambda``, the map has the rows ``w_k (P_k + e)`` with
        ``e = (1 - w P) / N``, so ``a_k = w_k (v_k - V^T w / N)`` and ``w_k 1 / N`` does not depend on the gains.
        """
        right, (n, rank) = estimate.right, estimate.right.shape
        weighting, penalty = estimate.folding.weighting, estimate.folding.row_penalty
        plain = cls.plain(right)
        # Weights of each row's own are part of the residuals whose distance the constant is about.
        weights = np.ones(n) if weighting is None or weighting.by_count else weighting.of_columns()
        if penalty is None or not isfinite(penalty):
            return replace(plain, rows=right * weights[:, None])
        total = float(weights.sum()) + penalty
        within = np.outer(weights / total, right.sum(axis=0))
        rows = weights[:, None] * (right - (weights @ right) / total)
        magnitudes = 1 + ((weights @ np.abs(right)) * estimate.gains) @ np.abs(right).T
        size = (2 + sqrt(rank)) * float(np.linalg.norm(magnitudes)) / total * float(weights.max())
        slack = 8 * (n + rank + 16) * _UNIT_ROUNDOFF * size
        return cls(rows, within, weights * (sqrt(n) / total), plain.factor, slack)

    @property
    def smallest(self) -> float:
        """The constant that offsets of rows have alone, where all gains are 0."""
        return self.factor * float(self.lengths.max(initial=0.0)) + self.slack

    def constant(self, gains: Floats) -> float:
        """Return an upper bound on the constant with these gains: exact but for rounding."""
        squares = ((self.rows * gains + self.inside) ** 2).sum(axis=1) + self._outside
        return self.factor * sqrt(float(squares.max(initial=0.0))) + self.slack

    def constraints(self, limit: float) -> Constraints:
        """Return what must hold of the gains for the constant to be within a limit above `smallest`."""
        unit = (limit - self.slack) / self.factor
        rows, inside = self.rows / unit, self.inside / unit
        return Constraints(rows**2, rows * inside, (self.lengths / unit) ** 2)

    @property
    def _outside(self) -> Floats:
        """Squared length of what is outside V."""
        outside: Floats = np.maximum(self.lengths**2 - (self.inside**2).sum(axis=1), 0.0)
        return outside


def _factor(right: Floats) -> float:
    """Return a bound on ``||V||_2`` with the rounding of the certificate, which proves it by a Cholesky factorisation: ``(n + 3 r) r u`` or so."""
    n, rank = right.shape
    if not rank:
        return 1.0
    norm = sqrt(float(np.linalg.eigvalsh(right.T @ right)[-1]))
    n_roundings: int = (n + 3 * rank + 10) * (rank + 3) * 4 + 400
    return norm * (1 + n_roundings * _UNIT_ROUNDOFF)
