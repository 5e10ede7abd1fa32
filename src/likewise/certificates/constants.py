"""The proved constants of a pre-processing step, each with its name and all it rests on, in one record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from likewise.certificates.certificate import AffineCertificate, Certificate, Domain, Unavailable
from likewise.certificates.regression import RegressionCertificate
from likewise.certificates.row_map import RowMap

_NO_ROWS = "it is made of the rows of the fit, which are not in memory"


@dataclass(frozen=True)
class LipschitzCertificates:
    """Constants of the pre-processing step ``Z_i -> A_hat_i``, on the method's working range.

    Iterating gives the constants for every pair of rows; `seen` speaks of the rows of the fit alone.

    Attributes
    ----------
    k_star : Certificate or Unavailable
        l1 -> l2 constant on zero-filled rows that are folded in, exact for the un-clipped map; also for rows never seen; never above `k2`.
        There is none where rows are centred, weighted each in its own way, or estimated by regressions on what is observed of them.
    k2 : Certificate or Unavailable
        The constant of Theorem 4.1.
    spectral : Certificate or Unavailable
        l2 -> l2 constant, exact for the un-clipped map; also for rows never seen.
    incoherent : Certificate or Unavailable
        What the measured incoherence proves: never below `k_star`, never above Corollary 4.2.
    corollary : Certificate or Unavailable
        Corollary 4.2's bound on K2 with the measured incoherence, where it does bound K2.
    printed_corollary : Certificate or Unavailable
        The same as printed, with ``mu_1 = 1``.
    seen : AffineCertificate or Unavailable
        K*, or `filled` where rows are centred, for the rows of the fit as they are stored: these come from the solver's left vectors, so
        two of them can be further apart than K* allows by what its residuals add, some 1e-8, which is the offset.
    incoherence : float or None
        The measured ``mu_1``; None at rank 0, and where the paper's theory does not speak of the estimator.
    filled : Certificate, Unavailable or None
        Of an estimator that centres or weights: the l1 -> l2 constant, exact for the un-clipped map, from the distance that its
        ``function`` names: of rows whose missing entries are filled with their centre, or of weighted residuals. None for others.
    filled_spectral : Certificate, Unavailable or None
        The same from l2.
    regression : RegressionCertificate, Unavailable or None
        Of an estimator whose rows are regressions on what was observed of them: the constant from l1 with the empty entry as a point. None for others.
    """

    k_star: Certificate | Unavailable
    k2: Certificate | Unavailable
    spectral: Certificate | Unavailable
    incoherent: Certificate | Unavailable
    corollary: Certificate | Unavailable
    printed_corollary: Certificate | Unavailable
    seen: AffineCertificate | Unavailable
    incoherence: float | None
    filled: Certificate | Unavailable | None = None
    filled_spectral: Certificate | Unavailable | None = None
    regression: RegressionCertificate | Unavailable | None = None

    def __iter__(self) -> Iterator[Certificate | Unavailable]:
        constants = (
            self.k_star,
            self.k2,
            self.spectral,
            self.incoherent,
            self.corollary,
            self.printed_corollary,
        )
        regression = (
            self.regression.certificate
            if isinstance(self.regression, RegressionCertificate)
            else self.regression
        )
        others = (self.filled, self.filled_spectral, regression)
        return iter((*constants, *(constant for constant in others if constant is not None)))

    def without_the_fit(self) -> LipschitzCertificates:
        """Return what is proved of rows that were folded in, where those of the fit are not known: what V and the gains alone tell."""
        fields = ("k2", "incoherent", "corollary", "printed_corollary", "seen")
        gone = {name: Unavailable(getattr(self, name).name, _NO_ROWS) for name in fields}
        return replace(self, **gone, incoherence=None)

    def __str__(self) -> str:
        return "\n".join(map(str, (*self, self.seen)))

    def explain(self) -> str:
        """Return every statement with what it assumes and how it is proved."""
        return "\n".join(statement.explain() for statement in (*self, self.seen))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, a record for each constant."""
        records = {name: value for name, value in vars(self).items() if name != "incoherence"}
        plain = {name: None if value is None else value.to_dict() for name, value in records.items()}
        return plain | {"incoherence": self.incoherence}


FUNCTION = "a zero-filled row on the method's working range to its estimate by fold-in"
"""Rows of the fit as they are stored depart from their fold-in by what the solver left: the certificate `seen` adds that."""

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
