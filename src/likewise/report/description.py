"""Data, estimate and reference distance in lines of text, the same in the table and on the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from likewise.report.numbers import number

if TYPE_CHECKING:
    from likewise.pipeline.result import AuditReport, DataSummary, EstimateSummary

VALID = "Both arms are held against this one distance, so they can be compared."
INVALID = "NOT A VALID BEFORE/AFTER COMPARISON: each arm has its own reference distance."


def data_lines(data: DataSummary) -> tuple[str, ...]:
    """Say what was observed, or that only a distance between the individuals is known."""
    if data.n_features is None or data.n_observed is None or data.observed_fraction is None:
        return (f"{data.source}: {data.n_individuals:,} individuals, known by the distance between them",)
    return (
        f"{data.source}: {data.n_individuals:,} individuals x {data.n_features:,} features, "
        f"{data.n_observed:,} observed (p_hat = {number(data.observed_fraction)})",
        f"values {data.value_range}, worked on as {data.interval} interval",
    )


def estimate_lines(estimate: EstimateSummary) -> tuple[str, ...]:
    """Say what pre-processing did."""
    kept = (
        f"{estimate.rank:,} components beside the offsets"
        if estimate.threshold is None
        else f"tau = {number(estimate.threshold)} ({estimate.threshold_name}) keeps {estimate.rank:,} singular values"
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


def reference_lines(report: AuditReport) -> tuple[str, ...]:
    """Say what the arms are held against, and whether they can be compared."""
    reference = report.reference
    compared = (VALID if reference.valid_comparison else INVALID,) if len(report.arms) > 1 else ()
    return (reference.description, *compared, *reference.caveats)


def measured_lines(report: AuditReport) -> tuple[str, ...]:
    """Say what each arm is, how outputs were compared, and what a ratio is."""
    arms = report.arms.values()
    outputs = dict.fromkeys(str(arm.fairness.output) for arm in arms)
    return (
        *(f"{arm.name}: {arm.title}" for arm in arms),
        f"output distance D: {'; '.join(outputs)}",
        "A ratio is D/d of two individuals: how far apart their outputs are, over how far apart they are themselves. Smaller is fairer, as long "
        "as error and spread hold up.",
    )


def verdict_lines(report: AuditReport) -> tuple[str, ...]:
    """Say of each arm whether the limit that was given holds."""
    return tuple(f"{arm.label}: {arm.verdict}" for arm in report.arms.values() if arm.verdict is not None)


def all_notes(report: AuditReport) -> tuple[str, ...]:
    """Collect what the reader should know of the data and of each arm; what holds of every arm is said once."""
    return (*report.data.notes, *_arm_notes(report))


def _arm_notes(report: AuditReport) -> Iterator[str]:
    of_arm = {name: arm.fairness.notes for name, arm in report.arms.items()}
    for note in dict.fromkeys(note for notes in of_arm.values() for note in notes):
        where = [name for name, notes in of_arm.items() if note in notes]
        yield note if len(where) == len(of_arm) else f"{report.arms[where[0]].label}: {note}"
