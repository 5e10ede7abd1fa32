"""What every certificate of the pre-processing step shares."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from likewise.fairness.certificates.row_map import RowMap
from likewise.fairness.certificates.types import AffineCertificate, Certificate, Domain, Unavailable

FUNCTION = "a zero-filled row on the method's interval to its estimate"

_FOLD_IN = "the estimate of a row is clip(z P) with P = sum psi(sigma)/sigma v v^T"
_CLIP = "clipping does not expand"
_FACTOR_ACCURACY = 1e-6
"""Relative accuracy of singular triplets in single precision."""


def row_certificate(name: str, value: float, from_norm: str, n: int, steps: tuple[str, ...]) -> Certificate:
    """Make a certificate of the map from a row of n features to its estimate, for every pair of rows."""
    return Certificate(
        name=name,
        value=value,
        from_norm=from_norm,
        to_norm="l2",
        function=FUNCTION,
        proof=(_FOLD_IN, *steps, _CLIP),
        n_inputs=n,
        n_outputs=n,
    )


def above_row_constant(
    name: str, value: float, k_star: Certificate, steps: tuple[str, ...]
) -> Certificate | Unavailable:
    """Make a certificate of a constant that is never below K* if the factors are singular triplets of the observations.

    So K* proves it; a value below K* shows that the factors are something else. A difference within the accuracy of the factors is
    rounded up to K*.
    """
    if not isfinite(value):
        return Unavailable(name, "it is larger than the largest number")
    if value < k_star.value * (1 - _FACTOR_ACCURACY):
        reason = f"its formula gives {value:.4g}, below K* = {k_star.value:.4g}"
        return Unavailable(name, f"the factors are not singular triplets of these observations: {reason}")
    return replace(k_star, name=name, value=max(value, k_star.value), proof=(_FOLD_IN, *steps, _CLIP))


def seen_certificate(rows: RowMap, constant: Certificate) -> AffineCertificate:
    """Add to a constant what the rows of the fit depart from their fold-in."""
    departure = f"{constant.name}, and for each of the two rows what its estimate departs from its fold-in: ||V|| ||g (sigma u - Z_i V)||"
    return AffineCertificate(
        name=f"{constant.name}, rows of the fit",
        slope=constant.value,
        offset=2 * rows.largest_departure,
        from_norm=constant.from_norm,
        to_norm=constant.to_norm,
        domain=Domain.SEEN,
        function=constant.function,
        proof=(*constant.proof, departure),
        n_inputs=constant.n_inputs,
        n_outputs=constant.n_outputs,
    )
