"""Two sets of outputs, before and after a change, against one reference distance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.checks import checked_callable, checked_instance
from likewise.errors import InputError
from likewise.fairness import ErrorMetrics, PairwiseDistance
from likewise.pipeline.assemble import make_report
from likewise.pipeline.compared import Case
from likewise.pipeline.measurement import Measurement
from likewise.pipeline.run import take_outputs
from likewise.pipeline.summaries import summarise_data
from likewise.progress import Progress, Steps
from likewise.report.audit_report import AuditReport


def compare(
    arms: Mapping[str, ArrayLike | PairwiseDistance],
    reference: PairwiseDistance | Mapping[str, PairwiseDistance],
    *,
    errors: Mapping[str, ErrorMetrics | None] | None = None,
    mixed_references: bool = False,
    population: str | None = "population",
    n_pairs: int | None = None,
    ratio_bound: float | None = None,
    nearest_share: float = 0.1,
    lipschitz: float | None = None,
    tolerance: float = 0.0,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    memory_limit: float | str = "1 GiB",
    random_state: int | np.random.Generator | None = 0,
    source: str = "in memory",
    progress: Progress | None = None,
) -> AuditReport:
    """Compare two outputs of the same individuals against one reference distance: an `audit` of outputs alone.

    Parameters
    ----------
    arms : mapping of str to outputs or PairwiseDistance
        Two of them, before and after a change, for example ``{"old": Y0, "new": Y1}``; see `measure_fairness`.
    reference : PairwiseDistance, or mapping of str to PairwiseDistance
        d, fixed before the change. One for each arm is refused without `mixed_references`.
    errors : mapping of str to ErrorMetrics, optional
        Error of each arm, shown beside fairness; see `held_out_error`.
    mixed_references : bool, default False
        Allow one reference distance for each arm. It is no valid comparison, and the result says so.
    population : {"population", "data set"} or None, default "population"
        Of which pairs the paired intervals speak; None for none. See `paired_differences`.
    n_pairs, ratio_bound
        See `paired_differences`.
    nearest_share, lipschitz, tolerance, groups, confidence, memory_limit, random_state, source
        See `audit`.
    progress : callable, optional
        Called with (done, total) pairs.

    Returns
    -------
    AuditReport
        With ``paired`` and ``differences``.

    Raises
    ------
    InputError
        Not two arms, or mixed references without `mixed_references`.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> people = np.random.default_rng(0).standard_normal((200, 2))
    >>> scores = {"without": people @ [1.0, 1.0], "with": people @ [0.4, 0.4]}
    >>> found = compare(scores, RowDistance(people), random_state=0)
    >>> round(found.differences["max_ratio"].value, 3), found.reference.valid_comparison
    (-0.849, True)
    """
    _check(arms, reference, errors, progress)
    references = _references(arms, reference, mixed_references=mixed_references)
    paired = {"population": population, "n_pairs": n_pairs, "ratio_bound": ratio_bound}
    measurement = Measurement(
        nearest_share,
        lipschitz,
        tolerance,
        groups,
        "all",
        confidence,
        random_state,
        memory_limit,
        paired=paired,
    )
    first = next(iter(references.values()))
    measurement = measurement.of_individuals(first.n_individuals, first.row_ids)
    steps = Steps(None if progress is None else lambda _, done, total: progress(done, total))
    run = take_outputs(None, arms, None, steps, first.row_ids)
    data = summarise_data(first, run.working_range, source, (*measurement.notes, *run.notes))
    case = Case(run, first, references, measurement, "l1", steps)
    return make_report(case, data, {"norm": None, **measurement.settings()}, errors or {})


def _check(arms: Any, reference: Any, errors: Any, progress: Any) -> None:
    """Raise InputError where something is not of the kind that it must be."""
    if not isinstance(arms, Mapping) or len(arms) != 2:
        given = f"{len(arms)} arms" if isinstance(arms, Mapping) else f"arms of type {type(arms).__name__}"
        raise InputError(
            given,
            'two sets of outputs, {"before": ..., "after": ...}',
            "fairness.measure_arms takes any number; two reports that were saved are compared by: likewise diff before.json after.json",
        )
    checked_callable("progress", progress)
    for name, distance in reference.items() if isinstance(reference, Mapping) else [("", reference)]:
        checked_instance(
            f"reference {name}".strip(), distance, PairwiseDistance, "a distance between individuals"
        )
    if errors is not None:
        checked_instance("errors", errors, Mapping, "ErrorMetrics by the name of the arm")


def _references(
    arms: Mapping[str, Any],
    reference: PairwiseDistance | Mapping[str, PairwiseDistance],
    *,
    mixed_references: bool,
) -> dict[str, PairwiseDistance]:
    if isinstance(reference, PairwiseDistance):
        return dict.fromkeys(arms, reference)
    if set(reference) != set(arms):
        raise InputError(
            f"references for {sorted(reference)}", f"one for each of {sorted(arms)}, or one for both"
        )
    if len({id(distance) for distance in reference.values()}) > 1 and not mixed_references:
        raise InputError(
            "one reference distance for each arm",
            "one for both: a comparison is valid only with one fixed distance",
            "mixed_references=True measures all the same, and says that it is not a valid comparison",
        )
    return {name: reference[name] for name in arms}
