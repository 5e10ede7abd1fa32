"""Data, estimate, reference distance, its unit in the columns of a table, and what is proved, in lines of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.fairness import Certificate, GowerDistance, Unavailable
from likewise.observations import ObservedMatrix
from likewise.report.numbers import number, shown
from likewise.report.rows import kinds_left_out

if TYPE_CHECKING:
    from likewise.certificates.individual_constants import OwnConstants
    from likewise.fairness import AffineCertificate
    from likewise.report.records import AuditRecord, DataSummary, EstimateSummary, Sandwich

VALID = "Both arms are measured with this one distance, so they can be compared."
INVALID = "NOT A VALID BEFORE/AFTER COMPARISON: each arm has its own reference distance."

_ROUNDING = re.compile(r"(?<=up to )\S+(?=, as rounding leaves)")


def named_source(data: DataSummary) -> str:
    """Name the file, or say that there was none."""
    return "data in memory" if data.source == "in memory" else shown(data.source)


def data_lines(data: DataSummary) -> tuple[str, ...]:
    """Say what was observed, or that only a distance between the individuals is known, and which columns were read as what."""
    columns = tuple(roles.sentence() for roles in data.columns)
    if data.n_features is None or data.n_observed is None or data.observed_fraction is None:
        known = (
            f"{shown(data.source)}: {data.n_individuals:,} individuals, known by the distance between them"
        )
        return (known, *columns)
    return (
        f"{shown(data.source)}: {data.n_individuals:,} individuals x {data.n_features:,} features, "
        f"{data.n_observed:,} observed "
        f"(p_hat, the share of entries that is observed, = {number(data.observed_fraction)})",
        f"values {data.value_range}, worked on in the {data.working_range} range",
        *columns,
    )


def provenance_lines(report: AuditRecord) -> tuple[str, ...]:
    """Say which files were read, by what, when, and how to repeat it; nothing where that is not known."""
    made = report.provenance
    if made is None:
        return ()
    files = tuple(
        f"{file.role}: {shown(file.name)}, {file.n_bytes:,} bytes, SHA-256 {file.sha256}"
        for file in made.files
    )
    libraries = made.versions.get("libraries", {})
    versions = ", ".join(
        f"{name} {libraries[name]}" for name in ("numpy", "scipy", "scikit-learn") if libraries.get(name)
    )
    by = f"likewise {made.versions['likewise']}, Python {made.versions['python']}, {versions}; {made.date}"
    return (*files, by, *(() if made.command is None else (_to_repeat(made.command),)))


def _to_repeat(command: str) -> str:
    """Write the command, and when it need not give the same again."""
    if "time_budget" not in command:
        return f"to repeat: {command}"
    return f"to repeat: {command} (a time budget lets a slower or busier machine try less, and so choose otherwise)"


def estimate_lines(estimate: EstimateSummary) -> tuple[str, ...]:
    """Say what pre-processing did."""
    kept = (
        f"{estimate.rank:,} components beside the offsets"
        if estimate.threshold is None
        else f"tau, the threshold for singular values, = {number(estimate.threshold)} ({estimate.threshold_name}); {estimate.rank:,} kept"
    )
    return (
        estimate.estimator,
        f"{kept}; {estimate.clipped_fraction:.1%} of the estimate clipped",
        *_convergence(estimate),
        *(() if estimate.completeness is None else (f"none missed: {estimate.completeness}",)),
        *(() if estimate.regime is None else (f"regime: {estimate.regime}",)),
        *estimate.notes,
    )


def _convergence(estimate: EstimateSummary) -> tuple[str, ...]:
    """Say whether iterations came to their end; nothing where none ran."""
    if estimate.converged is None:
        return ()
    iterations = "" if estimate.n_iter is None else f" after {estimate.n_iter:,} iterations"
    return (f"converged{iterations}",) if estimate.converged else (f"NOT CONVERGED{iterations}",)


def reference_lines(report: AuditRecord) -> tuple[str, ...]:
    """Say what the arms are held against, and whether they can be compared."""
    reference = report.reference
    compared = (VALID if reference.valid_comparison else INVALID,) if len(report.arms) > 1 else ()
    return (reference.description, *compared, *reference.caveats)


def measured_lines(report: AuditRecord) -> tuple[str, ...]:
    """Say what each arm is, how outputs were compared, and what a ratio is."""
    arms = report.arms.values()
    return (
        *(f"{shown(arm.heading)}: {arm.title}" for arm in arms),
        f"output distance D: {'; '.join(_output_distances(report))}",
        "A ratio is D/d of two individuals: how far apart their outputs are, over how far apart they are themselves. Smaller is fairer, as long "
        "as error and spread do not get worse.",
    )


def _output_distances(report: AuditRecord) -> tuple[str, ...]:
    """Describe how outputs were compared; only once where but the size of what rounding leaves differs, and then with the larger."""
    described: dict[str, str] = {}
    for text in (str(arm.fairness.output) for arm in report.arms.values()):
        kind = _ROUNDING.sub("", text)
        described[kind] = max(described.get(kind, text), text, key=_rounding)
    return tuple(described.values())


def _rounding(text: str) -> float:
    found = _ROUNDING.search(text)
    return float(found[0]) if found else 0.0


def all_findings(report: AuditRecord) -> tuple[str, ...]:
    """Give the answer, then say of each arm whether the limit that was given holds, which groups fare otherwise, then what else is shown and what is not."""
    judged = (arm for arm in report.arms.values() if arm.verdict is not None)
    return (
        report.findings[0],
        *(f"{arm.label}: {arm.verdict}" for arm in judged),
        *(f"{arm.label}: {arm.completions}" for arm in report.arms.values() if arm.completions),
        *report.findings[1:],
    )


def all_notes(report: AuditRecord) -> tuple[str, ...]:
    """Collect what the reader should know of the data and of each arm; what holds of every arm is said once."""
    return (*report.data.notes, *_arm_notes(report), *_kinds_note(report))


def _kinds_note(report: AuditRecord) -> Iterator[str]:
    """Say where the pairs of every two groups are, if they are too many kinds for the table."""
    if kinds := kinds_left_out(report):
        yield f"every two groups: {kinds:,} kinds of pairs; all of them are in report.json"


def _arm_notes(report: AuditRecord) -> Iterator[str]:
    of_arm = {name: arm.fairness.notes for name, arm in report.arms.items()}
    for note in dict.fromkeys(note for notes in of_arm.values() for note in notes):
        where = [name for name, notes in of_arm.items() if note in notes]
        yield note if len(where) == len(of_arm) else f"{report.arms[where[0]].label}: {note}"


PROVED_SCOPE = (
    "These bounds say how far apart the estimates of two individuals can be, given their observations: they cover the pre-processing step "
    "alone. Those named after an arm cover its outputs: the Lipschitz constant K1 of the algorithm, if it has one, times that of the pre-processing."
)

_MISSING = "none"


@dataclass(frozen=True)
class ProvedRow:
    """One constant, or why there is none."""

    name: str
    value: str  # "none" where there is no constant
    norms: str
    domain: str  # for which pairs it holds
    assuming: str  # what the proof takes for granted; or the reason why there is no constant
    proof: tuple[str, ...]  # the steps


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


def sandwich_lines(report: AuditRecord) -> tuple[str, ...]:
    """Say of each arm, and of the estimate itself, how large D / d was measured, found and proved to be, and what d is there."""
    told = [(arm.label, arm.sandwich) for arm in report.arms.values()]
    if report.estimate_alone is not None:
        told.append(("the estimate itself", report.estimate_alone.sandwich))
    return tuple(f"{label[0].upper()}{label[1:]}: {_between(found)}" for label, found in told if found)


def _between(found: Sandwich) -> str:
    drawn = " drawn" if found.drawn else ""
    own = "" if found.own is None else f" {_of_single(found.own)}"
    proved = (
        "and nothing is proved" if found.proved is None else f"and no pair exceeds {number(found.proved)}"
    )
    if found.attained is not None:
        proved += f", of which that is {found.attained:.1%}"
    return (
        f"D/d is up to {number(found.measured)} over the {found.n_pairs:,} pairs of {found.n_individuals:,}{drawn} individuals, a search over unseen rows attains "
        f"{number(found.found)}, {proved}. Here d is {found.distance}, and D is l2 between outputs, as in the proofs.{own}"
    )


def _of_single(own: OwnConstants) -> str:
    named = ", ".join(f"{one.individual} ({number(one.constant)})" for one in own.largest)
    return (
        f"In pairs with one given individual a constant of its own holds, no larger: median {number(own.median)} over {own.n_individuals:,} individuals, "
        f"the largest for {named}."
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


_NAMED = 5
"""How many columns are named."""


def unit_lines(individuals: Any, lipschitz: float | None = None) -> list[str]:
    """Say what d = 1 is in the units of each column, and L for 1 of a single one; nothing of a distance that has no columns.

    Of an ObservedMatrix d is a norm between rows whose columns are scaled to [-1, 1]: one column alone makes d = 1 by half of its range. Of Gower's distance
    d is a mean over columns, each of which counts 1 at most.

    >>> scores = ObservedMatrix([[246.0], [705.0]], column_ids=["score"])
    >>> print(*unit_lines(scores, 0.5))
    One unit of d: 229.5 of score. L = 0.5 is 0.002179 for 1 of score; 0.5 for 1 of score is L = 114.8.
    """
    if isinstance(individuals, GowerDistance):
        return [_of_gower(individuals)]
    return [_of_matrix(individuals, lipschitz)] if isinstance(individuals, ObservedMatrix) else []


def _of_matrix(observed: ObservedMatrix, lipschitz: float | None) -> str:
    names = [str(name) for name in observed.column_ids]
    units = observed.value_range.scale_to("symmetric").factor
    if len(names) == 1:
        unit = float(units.item())
        return f"One unit of d: {number(unit)} of {names[0]}.{_for_one(names[0], unit, lipschitz)}"
    if not units.ndim:
        one = number(float(units))
        return f"One unit of d: {one} in one column, where two people differ in that alone (half of the value range, which all columns share)."
    return f"One unit of d, where two people differ in that column alone: {_units_listed(names, units)} (half of its value range)."


def _for_one(name: str, unit: float, lipschitz: float | None) -> str:
    """Translate L into the unit of the only column, and back."""
    if lipschitz is None:
        return ""
    return f" L = {lipschitz:g} is {number(lipschitz / unit)} for 1 of {name}; {lipschitz:g} for 1 of {name} is L = {number(lipschitz * unit)}."


def _units_listed(names: list[str], units: Any) -> str:
    each = [f"{number(float(unit))} of {name}" for name, unit in zip(names[:_NAMED], units, strict=False)]
    more = f" and {len(names) - _NAMED:,} more columns" if len(names) > _NAMED else ""
    return ", ".join(each) + more


def _of_gower(distance: GowerDistance) -> str:
    ranges = {name: spread for name, spread in distance.ranges.items() if spread > 0}
    parts = [_units_listed(list(ranges), np.array(list(ranges.values())))] if ranges else []
    words = [name for name in distance.names if name not in ranges]
    parts += [f"another {' or '.join(words[:_NAMED])}{' ...' * (len(words) > _NAMED)}"] if words else []
    k = len(distance.names)
    return f"d is from 0 to 1, the mean over {k} column{'s' * (k != 1)}: each alone adds up to {number(1 / k)}, by {' or by '.join(parts)}."
