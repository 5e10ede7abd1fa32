"""The theorems of Section 4 held against the pairs of a simulation: no pair may exceed a proved bound."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from likewise._typing import Floats
from likewise.certificates import (
    Certificate,
    ErrorBound,
    LipschitzCertificates,
    ProvedBound,
    Unavailable,
    certify_on_truth,
    compose,
)
from likewise.reproduction.yardsticks import Yardsticks

_ROUNDING = 2e-9
"""What D and d carry of rounding, 1e-9 each: a pair that attains a bound must not exceed it by that."""


@dataclass(frozen=True)
class TheoryCheck:
    """A statement, and how the pairs of one simulation compare with it.

    Parameters
    ----------
    statement : str
    n_pairs, n_violated : int
        0 pairs where there is no bound.
    closest : float
        Largest output distance over bound.
    reason : str
        Why there is no bound; else empty.
    """

    statement: str
    n_pairs: int
    n_violated: int
    closest: float
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return asdict(self)


def check_theorems(
    model: str,
    constant: Certificate | Unavailable,
    features: Floats,
    output_distance: Floats,
    yardsticks: Yardsticks,
    certificates: LipschitzCertificates | None,
) -> list[TheoryCheck]:
    """Hold one arm's pairs against Theorem 4.3, and where the features come from SVT against Theorem 4.1.

    Parameters
    ----------
    model : str
        Whose K1 it is, for the statement.
    constant : Certificate or Unavailable
        K1 from l2 to l2.
    features : ndarray, shape (m, n)
        What the model was given: A_hat, or Z with missing entries as 0, which is a pre-processing as well.
    output_distance : ndarray, shape (n_pairs,)
    yardsticks : Yardsticks
    certificates : LipschitzCertificates or None
        Of the pre-processing step; None where there is none.

    Returns
    -------
    list of TheoryCheck
    """
    error = ErrorBound.measured(features, yardsticks.matrix)
    on_truth = certify_on_truth(constant, error)
    checks = [_check(f"Theorem 4.3, K1 of {model}", on_truth, yardsticks.truth, output_distance)]
    if certificates is not None:
        for name, step in (("K2", certificates.k2), ("K*", certificates.k_star)):
            bound = compose(step, constant)
            statement = f"Theorem 4.1 with {name}, K1 of {model}"
            checks.append(_check(statement, bound, yardsticks.observed, output_distance))
    return checks


def describe_corollary(certificates: LipschitzCertificates) -> dict[str, Any]:
    """Say whether Corollary 4.2 bounds K2, with the measured incoherence and as printed with mu_1 = 1.

    Returns
    -------
    dict
        ``incoherence``; ``measured`` and ``printed``, each a value, or None with a reason under ``measured_reason`` and
        ``printed_reason``.
    """
    record: dict[str, Any] = {"incoherence": certificates.incoherence}
    for name, bound in (("measured", certificates.corollary), ("printed", certificates.printed_corollary)):
        has_value = isinstance(bound, Certificate)
        record[name] = bound.value if isinstance(bound, Certificate) else None
        record[f"{name}_reason"] = "" if has_value else bound.reason if isinstance(bound, Unavailable) else ""
    return record


def _check(
    statement: str, bound: ProvedBound | Unavailable, distances: Floats, outputs: Floats
) -> TheoryCheck:
    if isinstance(bound, Unavailable):
        return TheoryCheck(statement, 0, 0, 0.0, bound.reason)
    slack = _ROUNDING * float(outputs.max(initial=0.0))
    found = bound.holds_for(distances, outputs, slack=slack)
    return TheoryCheck(statement, found.n_pairs, found.n_violated, found.largest_share)
