"""Constants of an estimate whose rows are centred, weighted or regressed before they are mapped; or why there are none."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from scipy import sparse

from likewise.fairness.certificates.constants import LipschitzCertificates
from likewise.fairness.certificates.filled_rows import FilledRowMap
from likewise.fairness.certificates.kinds import KindOfMap
from likewise.fairness.certificates.rounding import gamma
from likewise.fairness.certificates.row_certificates import FUNCTION, seen_certificate
from likewise.fairness.certificates.row_map import RowMap
from likewise.fairness.certificates.types import Certificate, Unavailable
from likewise.observations import ObservedMatrix

_FILLED = "a row on the method's interval, missing entries filled with its centre, to its estimate"
_WEIGHTED = "a row of residuals (Z_ij - centre_j) / p_ij, missing entries 0, to its estimate"

_OFFSETS = (
    "filled with its centre a row x has the offset sum_j w_j (x_j - c_j) / (sum_j w_j + lambda), whatever is observed of it",
    "so the estimate before clipping is c + (x - c) Q with Q = diag(w) (P + 1 e^T), e = (1 - w P) / (sum w + lambda)",
)
_NO_OFFSETS = (
    "the estimate before clipping is c + (x - c) Q with Q = diag(w) P, whatever is observed of the row x",
)
_RESIDUALS = ("the estimate before clipping is c + y P for the residuals y, whatever the weights of the row",)
_LARGEST_ROW = "the l1 to l2 norm of a linear map is the largest l2 norm of a row of its matrix; none smaller holds before clipping"
_LARGEST_VALUE = (
    "the l2 norm of a linear map is its largest singular value; none smaller holds before clipping"
)
_CLIP = "clipping does not expand"
_OTHER_THEORY = "the paper's theory speaks of zero-filled rows without centre or weights"


def certify_filled(estimate: Any, observed: ObservedMatrix, kind: KindOfMap) -> LipschitzCertificates:
    """Compute the constants of an estimate that is not linear on zero-filled rows, or not by P alone.

    Parameters
    ----------
    estimate : LowRankEstimate
    observed : ObservedMatrix
    kind : KindOfMap

    Returns
    -------
    LipschitzCertificates
    """
    filled = _constant("K* from filled rows", "l1", estimate, kind)
    spectral = _constant("K* from filled rows, l2", "l2", estimate, kind)
    elsewhere = kind.not_linear or _OTHER_THEORY
    return LipschitzCertificates(
        k_star=_on_zero_filled("K*", filled, kind),
        k2=Unavailable("K2", elsewhere),
        spectral=_on_zero_filled("K* from l2", spectral, kind),
        incoherent=Unavailable("K* by strong incoherence", elsewhere),
        corollary=Unavailable("Corollary 4.2, measured mu_1", elsewhere),
        printed_corollary=Unavailable("Corollary 4.2 as printed, mu_1 = 1", elsewhere),
        seen=_seen(estimate, observed, kind, filled),
        incoherence=None,
        filled=filled,
        filled_spectral=spectral,
    )


def _constant(name: str, norm: str, estimate: Any, kind: KindOfMap) -> Certificate | Unavailable:
    if kind.not_linear:
        return Unavailable(name, kind.not_linear)
    if kind.weights_by_row and kind.row_penalty is not None:
        return Unavailable(name, kind.not_on_filled)
    rows = FilledRowMap(estimate, kind.row_penalty, kind.column_weights)
    value, step = (
        (rows.largest_row, _LARGEST_ROW) if norm == "l1" else (rows.largest_singular_value, _LARGEST_VALUE)
    )
    form = _RESIDUALS if kind.weights_by_row else _NO_OFFSETS if kind.row_penalty is None else _OFFSETS
    n = estimate.right.shape[0]
    return Certificate(
        name=name,
        value=value,
        from_norm=norm,
        to_norm="l2",
        function=_WEIGHTED if kind.weights_by_row else _FILLED,
        proof=(*form, step, _CLIP),
        n_inputs=n,
        n_outputs=n,
    )


def _on_zero_filled(
    name: str, filled: Certificate | Unavailable, kind: KindOfMap
) -> Certificate | Unavailable:
    """Say what holds for distances of zero-filled rows: the same, where 0 is what missing entries are filled with."""
    if kind.not_on_zero_filled or isinstance(filled, Unavailable):
        return Unavailable(name, kind.not_on_zero_filled)
    return filled.times(1, name=name, function=FUNCTION)


def _seen(estimate: Any, observed: ObservedMatrix, kind: KindOfMap, filled: Certificate | Unavailable) -> Any:
    name = "K*, rows of the fit"
    if isinstance(filled, Unavailable):
        return Unavailable(name, filled.reason)
    if kind.weights_by_row or kind.column_weights is not None:
        return Unavailable(name, "the weights of the rows of the fit are not kept")
    return seen_certificate(CentredRowMap(estimate, observed), filled)


class CentredRowMap(RowMap):
    """A `RowMap` of residuals: what remains of observations after the offsets that fold-in gives them."""

    def __init__(self, estimate: Any, observed: ObservedMatrix) -> None:
        super().__init__(estimate, observed)
        residuals, self._folded_offsets = estimate.folding.residuals(super()._mapped, estimate)
        self._residuals: sparse.csr_array = residuals
        self._stored_offsets = estimate.row_offsets

    @property
    def _mapped(self) -> sparse.csr_array:
        return self._residuals

    def _departure_beside_triplets(self, rows: slice) -> float:
        """Bound what rounding of the residuals and stored row offsets add: ``sqrt(n) |stored - folded|`` of the latter."""
        n = self.shape[1]
        sizes = (
            1.0
            + float(np.abs(self._values).max(initial=0.0))
            + float(np.abs(self._mapped.data).max(initial=0.0))
        )
        rounding = gamma(n + 8) * sizes
        departed = self.basis_norm**2 * self.largest_gain * sqrt(n) * rounding
        if self._folded_offsets is None:
            return departed
        moved = np.abs(self._stored_offsets[rows] - self._folded_offsets[rows])
        return departed + sqrt(n) * (float(moved.max(initial=0.0)) + rounding)
