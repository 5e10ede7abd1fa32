"""Whether D <= L d whatever the missing entries are, for every arm of an audit."""

from __future__ import annotations

import numpy as np

from likewise._typing import Floats
from likewise.errors import InputError, option
from likewise.estimation import MatrixEstimator, entry_intervals
from likewise.fairness import CompletionVerdict, judge_completions
from likewise.memory import ensure_fits
from likewise.observations import ObservedMatrix
from likewise.pipeline.compared import Case
from likewise.pipeline.measurement import Measurement
from likewise.pipeline.references import ReferenceChoice

_AFFORDABLE = 2e9
"""Entries that are compared, over all pairs, up to which all pairs are judged; else that many are drawn:"""
_DRAWN = 20_000


def refuse_other_distance(reference: ReferenceChoice | None) -> None:
    """Raise where completions are asked for beside a d that is not between complete rows.

    Raises
    ------
    InputError
    """
    if reference is None or (isinstance(reference, str) and reference in ("observed", "held-out")):
        return
    raise InputError(
        f"{option('missing_entries', '')} beside {option('reference', reference if isinstance(reference, str) else '')}".rstrip(),
        "the distance between rows that are complete, reference 'observed'",
        "over all values that missing entries may have, d is l1 or another norm between complete rows",
    )


def judge_missing(case: Case) -> dict[str, CompletionVerdict]:
    """Judge every arm over all values that missing entries may have, in their range or in conformal intervals; nothing where that was not asked for."""
    run, measurement = case.run, case.measurement
    if measurement.missing_entries is None or run.training is None or measurement.lipschitz is None:
        return {}
    m, n = run.training.shape
    few = measurement.pairs == "all" and m * (m - 1) / 2 * n <= _AFFORDABLE
    chosen = "all" if few else _DRAWN if measurement.pairs == "all" else measurement.pairs
    intervals, confidence = None, None
    if measurement.missing_entries == "intervals":
        with case.steps.step("intervals of what is missing"):
            confidence = measurement.confidence
            intervals = _intervals(run.training, run.fitted, measurement)
    found = {}
    for arm, output in case.outputs.items():
        with case.steps.step(f"judge whatever is missing: {arm}") as report:
            found[arm] = judge_completions(
                output,
                run.training,
                lipschitz=measurement.lipschitz,
                norm=case.norm,
                intervals=intervals,
                pairs=chosen,  # type: ignore[arg-type]  # "all" or a number
                confidence=confidence,
                working_range=run.working_range,
                random_state=measurement.random_state,
                progress=report,
            )
    return found


def _intervals(
    observed: ObservedMatrix, fitted: MatrixEstimator | None, measurement: Measurement
) -> tuple[Floats, Floats]:
    """Return split-conformal intervals of all entries, in the user's units."""
    m, n = observed.shape
    ensure_fits(
        6 * 8 * m * n, f"intervals of {m:,} x {n:,} entries", f"give {option('missing_entries', 'any')}"
    )
    intervals = entry_intervals(
        observed,
        "auto" if fitted is None else fitted,
        confidence=measurement.confidence,
        random_state=measurement.random_state,
    )
    rows, columns = np.divmod(np.arange(m * n), n)
    ends = intervals.entries(rows, columns).reshape(m, n, 2)
    return ends[..., 0], ends[..., 1]
