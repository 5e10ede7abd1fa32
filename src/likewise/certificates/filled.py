"""What kind of map an estimate is on rows, from what it says of itself: which certificates can hold for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.certificates.certificate import Certificate, Unavailable
from likewise.certificates.constants import (
    FUNCTION,
    LipschitzCertificates,
    row_certificate,
    seen_certificate,
)
from likewise.certificates.operator_norm import upward
from likewise.certificates.row_map import FilledRowMap, RowMap
from likewise.observations import ObservedMatrix, PartitionedMatrix

_ROW_WEIGHTS = (
    "each row has weights of its own, so rows that agree where both are observed can have different estimates"
)
_OFFSETS_AND_WEIGHTS = f"its rows have offsets, and weights of their own; {_ROW_WEIGHTS}"
_CENTRED = "a missing entry is filled with its centre, not with 0, so rows at distance 0 on zero-filled data can have different estimates"


@dataclass(frozen=True, eq=False)
class KindOfMap:
    """How the rows of an estimate depend on observations."""

    not_linear: str  # why no linear map describes it; empty where one does
    row_penalty: float | None  # of row offsets; None where rows have none
    # (n,), of the columns, the same in every row; where each row has its own, p_hat for every column: the
    # map then takes residuals over propensities
    weights: Floats | None
    weights_by_row: bool  # whether rows have weights of their own
    centred: bool  # whether offsets were subtracted before

    @classmethod
    def of(cls, estimate: Any) -> KindOfMap:
        """Ask an estimate; one that says nothing is linear on zero-filled rows."""
        folding = getattr(estimate, "folding", None)
        weighting = getattr(folding, "weighting", None)
        penalty = getattr(folding, "row_penalty", None)
        by_row = weighting is not None and weighting.by_row
        weights = None
        if weighting is not None:
            weights = np.full(estimate.right.shape[0], weighting.scale) if by_row else weighting.of_columns()
        return cls(
            not_linear=getattr(folding, "not_linear", ""),
            row_penalty=penalty,
            weights=weights,
            weights_by_row=by_row,
            centred=penalty is not None or getattr(estimate, "column_offsets", None) is not None,
        )

    @property
    def plain(self) -> bool:
        """Whether the map is ``z -> clip(z P)`` on zero-filled rows, as the paper has it."""
        return not (self.not_linear or self.centred or self.weights is not None)

    @property
    def not_on_zero_filled(self) -> str:
        """Why no constant holds for distances of zero-filled rows; empty where one does."""
        if self.not_linear:
            return self.not_linear
        if self.weights_by_row:
            return _ROW_WEIGHTS
        return _CENTRED if self.centred else ""

    @property
    def without_constant(self) -> str:
        """Why there is no constant at all, of zero-filled or filled rows or of weighted residuals; empty where there is one."""
        both = self.weights_by_row and self.row_penalty is not None
        return self.not_linear or (_OFFSETS_AND_WEIGHTS if both else "")

    def row_map(self, right: Floats) -> FilledRowMap:
        """Return the map as a function of the gains, for right singular vectors V."""
        return FilledRowMap(right, self.weights, self.row_penalty)


_FILLED = (
    "a row on the method's working range, missing entries filled with its centre, to its estimate by fold-in"
)
_WEIGHTED = "a row of residuals (Z_ij - centre_j) / p_ij, missing entries 0, to its estimate by fold-in"

_OFFSETS = (
    "filled with its centre a row x has the offset sum_j w_j (x_j - c_j) / (sum_j w_j + lambda), whatever is observed of it",
    "so the estimate before clipping is c + (x - c) Q with Q = diag(w) (P + 1 e^T), e = (1 - w P) / (sum w + lambda)",
)
_NO_OFFSETS = (
    "the estimate before clipping is c + (x - c) Q with Q = diag(w) P, whatever is observed of the row x",
)
_RESIDUALS = (
    "the estimate before clipping is c + p_hat y P for residuals over propensities y, whatever the weights of the row",
)
LARGEST_ROW = "the l1 to l2 norm of a linear map is the largest l2 norm of a row of its matrix; none smaller holds before clipping"
_LARGEST_VALUE = (
    "the l2 norm of a linear map is its largest singular value; none smaller holds before clipping"
)
_CLIP = "clipping does not expand"
_OF_A_MIXTURE = "for a mixture P = sum_p w_p P_p, and its constant is at most the weighted sum of the constants of the P_p"
_NO_TRIPLETS = "the components of a mixture are not singular triplets of the observations"
_OTHER_THEORY = "the paper's theory is for zero-filled rows without centre or weights"


def certify_filled(
    estimate: Any, observed: ObservedMatrix | PartitionedMatrix, kind: KindOfMap
) -> LipschitzCertificates:
    """Compute the constants of an estimate that is not linear on zero-filled rows, or not by P alone."""
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


def certify_linear_mixture(folding: Any) -> LipschitzCertificates | None:
    """Compute the constants of a mixture of maps ``z -> z P_p`` on zero-filled rows; None where a part, or `folding`, is something else.

    ``||sum_p w_p (z - z') P_p|| <= sum_p w_p K_p ||z - z'||``, so the weighted sum of the constants is one of the mixture.
    """
    parts = getattr(folding, "parts", ())
    if not parts or not all(KindOfMap.of(part).plain for part in parts):
        return None
    maps = [(part.weight, FilledRowMap(part.right), part.gains) for part in parts]
    n, operations = parts[0].right.shape[0], 2 * len(parts)
    k_star = upward(sum(weight * rows.largest_row(gains) for weight, rows, gains in maps), operations)
    spectral = upward(
        sum(weight * rows.largest_singular_value(gains) for weight, rows, gains in maps), operations
    )
    return LipschitzCertificates(
        k_star=row_certificate("K*", k_star, "l1", n, (_OF_A_MIXTURE,)),
        k2=Unavailable("K2", _NO_TRIPLETS),
        spectral=row_certificate("K* from l2", spectral, "l2", n, (_OF_A_MIXTURE,)),
        incoherent=Unavailable("K* by strong incoherence", _NO_TRIPLETS),
        corollary=Unavailable("Corollary 4.2, measured mu_1", _NO_TRIPLETS),
        printed_corollary=Unavailable("Corollary 4.2 as printed, mu_1 = 1", _NO_TRIPLETS),
        seen=Unavailable("K*, rows of the fit", _NO_TRIPLETS),
        incoherence=None,
    )


def _constant(name: str, norm: str, estimate: Any, kind: KindOfMap) -> Certificate | Unavailable:
    if kind.without_constant:
        return Unavailable(name, kind.without_constant)
    rows, gains = kind.row_map(estimate.right), estimate.gains
    value, step = (
        (rows.largest_row(gains), LARGEST_ROW)
        if norm == "l1"
        else (rows.largest_singular_value(gains), _LARGEST_VALUE)
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


def _seen(
    estimate: Any,
    observed: ObservedMatrix | PartitionedMatrix,
    kind: KindOfMap,
    filled: Certificate | Unavailable,
) -> Any:
    name = "K*, rows of the fit"
    if isinstance(filled, Unavailable):
        return Unavailable(name, filled.reason)
    if kind.weights is not None:
        return Unavailable(name, "the weights of the rows of the fit are not kept")
    return seen_certificate(RowMap(estimate, observed, centred=True), filled)
