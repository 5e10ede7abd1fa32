"""What is proved, in words that cannot be mistaken for what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from likewise.fairness import Certificate, Unavailable
from likewise.report.numbers import number

if TYPE_CHECKING:
    from likewise.fairness import AffineCertificate
    from likewise.report.records import AuditRecord

PROVED_SCOPE = (
    "These bounds say how far apart the estimates of two individuals can be, given their observations: the pre-processing step alone. Those "
    "named after an arm speak of its outputs: the Lipschitz constant K1 of the algorithm, if it has one, times that of the pre-processing."
)

_MISSING = "none"


@dataclass(frozen=True)
class ProvedRow:
    """One constant, or why there is none.

    Parameters
    ----------
    name, value, norms : str
        `value` is ``"none"`` where there is no constant.
    domain : str
        For which pairs it holds.
    assuming : str
        What the proof takes for granted; or the reason why there is no constant.
    proof : tuple of str
        The steps.
    """

    name: str
    value: str
    norms: str
    domain: str
    assuming: str
    proof: tuple[str, ...]


def proved_rows(report: AuditRecord) -> tuple[ProvedRow, ...]:
    """Return a row for each constant of a report; none where nothing was estimated."""
    if report.certificates is None:
        return ()
    of_outputs = [arm.certificate for arm in report.arms.values() if arm.certificate is not None]
    return tuple(map(_proved_row, (*report.certificates, report.certificates.seen, *of_outputs)))


def tabled_rows(report: AuditRecord) -> tuple[ProvedRow, ...]:
    """Return the rows of `proved_rows` less those that `unproved` speaks of."""
    shared = _shared_reasons(report)
    return tuple(row for row in proved_rows(report) if not _is_missing(row) or row.assuming not in shared)


def unproved(report: AuditRecord) -> tuple[str, ...]:
    """Say in a sentence which constants there are none of, where several lack one for the same reason."""
    return tuple(
        f"No constant is proved for: {'; '.join(names)}. The reason: {reason}."
        for reason, names in _shared_reasons(report).items()
    )


def _shared_reasons(report: AuditRecord) -> dict[str, list[str]]:
    """Return the names of missing constants by reason, of reasons that more than one has."""
    names: dict[str, list[str]] = {}
    for row in filter(_is_missing, proved_rows(report)):
        names.setdefault(row.assuming, []).append(row.name)
    return {reason: found for reason, found in names.items() if len(found) > 1}


def _is_missing(row: ProvedRow) -> bool:
    return row.value == _MISSING


def proved_domains(report: AuditRecord) -> tuple[str, ...]:
    """Say in a sentence for which pairs the constants hold; more than one where they differ in it."""
    rows = [row for row in proved_rows(report) if row.domain]
    domains = dict.fromkeys(row.domain for row in rows)
    return tuple(
        f"Domain: {domain}. Constants: {'; '.join(row.name for row in rows if row.domain == domain)}."
        for domain in domains
    )


def _proved_row(constant: Certificate | AffineCertificate | Unavailable) -> ProvedRow:
    if isinstance(constant, Unavailable):
        return ProvedRow(constant.name, _MISSING, "", "", constant.reason, ())
    assumed = "; ".join(constant.assumptions) or "nothing"
    norms = f"{constant.from_norm} to {constant.to_norm}"
    return ProvedRow(constant.name, _value(constant), norms, str(constant.domain), assumed, constant.proof)


def _value(constant: Certificate | AffineCertificate) -> str:
    if isinstance(constant, Certificate):
        return number(constant.value)
    return f"{number(constant.slope)} d + {number(constant.offset)}"
