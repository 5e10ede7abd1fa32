"""Measure, explain, certify and judge what ran, and put everything together in one report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Indices
from likewise.certificates import LipschitzCertificates, certify
from likewise.certificates.individual_constants import IndividualConstants
from likewise.estimation import SVT
from likewise.fairness import (
    Contribution,
    DistanceExplanation,
    ErrorMetrics,
    FairnessMetrics,
    GroupEffects,
    PairedDifferences,
    PairExplanation,
    RowDistance,
    Unavailable,
    Verdict,
    group_effects,
)
from likewise.fairness.distances.lists import ListDistance
from likewise.fairness.held_out import HeldOutFairness
from likewise.fairness.metrics.group_effect import MOST_CONFIDENT
from likewise.fairness.metrics.jackknife import change_between
from likewise.observations.value_range import AffineScale
from likewise.pipeline.compared import Case, accuracy_of, consistency_of, judge_missing
from likewise.pipeline.held_out import measure_on_truth
from likewise.pipeline.item_lists import list_figures, lists_of, ranked
from likewise.pipeline.outside_test import OutsideTest
from likewise.pipeline.own_constants import check_own_constants, everybodys_constants
from likewise.pipeline.references import (
    missing_in_worst_pairs,
    reference_caveats,
    summarise_reference,
    why_equal_people_differ,
)
from likewise.pipeline.run import ARMS, Run
from likewise.pipeline.sandwich import SANDWICH_INDIVIDUALS, sandwiches
from likewise.pipeline.summaries import (
    Proved,
    prove_outputs,
    proved_of_d,
    summarise_estimate,
    summarise_estimate_alone,
    with_estimate,
)
from likewise.randomness import seed_of
from likewise.report.audit_report import AuditReport
from likewise.report.groups import with_alarms
from likewise.report.json_document import versions
from likewise.report.records import Arm, DataSummary, Provenance, ReferenceSummary, Sandwich
from likewise.report.sentences import findings

_NO_DIRECTION = Unavailable(
    "group effect", "only a distance between the outputs is known, which does not say who gets more"
)

_WORST = 5
"""Pairs whose individuals are among those that are held against unseen rows."""


def make_report(
    case: Case,
    data: DataSummary,
    settings: Mapping[str, Any],
    errors: Mapping[str, ErrorMetrics | None] | None = None,
    reruns: Iterable[Run] = (),
    test: OutsideTest | None = None,
) -> AuditReport:
    """Measure, explain, certify, judge, and put everything together; reruns are those of further splits, which only the truth is measured on."""
    run, asked, steps = case.run, case.measurement, case.steps
    certificates = _certify(case)
    measured = asked.measure(case.outputs, case.references, steps)
    with steps.step("explain and certify"):
        asked.list_violations(case.outputs, case.references)
        paired = asked.compare(case.outputs, case.references)
        parts: _Parts = {"fairness": measured, "explained": _explained(case, measured)}
        parts |= {} if asked.groups is None else {"group_effects": _by_group(case)}
    itself = with_estimate(run)
    proved, found, own = _prove(case, itself, certificates, measured)
    truth, errors = _on_truth(case, itself, reruns, errors)
    parts |= {"error": errors, "on_truth": {} if truth is None else truth.arms}
    parts |= {"certificate": proved, "sandwich": found, **_of_outputs(case, test)}
    caveats = reference_caveats(run.training, next(iter(case.references.values())), asked.random_state)
    parts["verdict"] = _judge(case, measured, certificates, proved)
    arms = {name: Arm(name, run.titles[name], **_of_arm(parts, name)) for name in measured}
    missing = missing_in_worst_pairs(arms, case.reference, run)
    reference = summarise_reference(case.reference, case.references, caveats, missing)
    changes = _changes(arms, reference, truth, asked.confidence)
    report = AuditReport(
        data=data,
        estimate=None if run.fitted is None else summarise_estimate(run.fitted, run.clipped_fraction),
        reference=reference,
        arms=arms,
        findings=_findings(case, arms, reference, paired, truth, changes),
        settings={**settings, "reference": reference.kind},
        paired=paired,
        truth=truth,
        **changes,
        certificates=certificates,
        estimate_alone=summarise_estimate_alone(errors, truth, proved, found),
        individual_constants=own,
        seconds=steps.seconds,
        provenance=Provenance(datetime.now(UTC).isoformat(timespec="seconds"), versions()),
    )
    return with_alarms(report)


def _changes(
    arms: Mapping[str, Arm], reference: ReferenceSummary, truth: HeldOutFairness | None, confidence: float
) -> dict[str, Any]:
    """By the fields of a report, how gap and error change from the first arm to the second, the gap on the truth where that was measured."""
    if len(arms) == 1:
        return {}
    (before, after), gap, error = arms.values(), None, None
    if truth is None:
        one, other = before.fairness.similar, after.fairness.similar
        gap = change_between(one.leaving_out, other.leaving_out, confidence, other.n_pairs)
    elif truth.change is not None:
        gap = truth.change.relative_gap
    if before.error is not None and after.error is not None:
        error = change_between(before.error.leaving_out, after.error.leaving_out, confidence, after.error.n)
    return {"gap_change": gap if reference.valid_comparison else None, "error_change": error}


_Parts = dict[str, Mapping[str, Any]]
"""By the fields of `Arm`, what was found of the arms that have it."""


def _of_arm(parts: _Parts, name: str) -> dict[str, Any]:
    return {part: found[name] for part, found in parts.items() if name in found}


def _certify(case: Case) -> LipschitzCertificates | None:
    """Return what is proved of the estimate; raise now, not after the work, where constants of individuals were asked for that it has none of."""
    run, found = case.run, None
    if run.fitted is not None and run.training is not None:
        with case.steps.step("prove"):
            found = certify(run.fitted.estimate_, run.training, threshold=run.fitted.threshold_)
            found = found.without_the_fit() if run.folded_in else found
    check_own_constants(case.measurement.individual_constants, found)
    return found


def _prove(
    case: Case,
    run: Run,
    certificates: LipschitzCertificates | None,
    measured: Mapping[str, FairnessMetrics],
) -> tuple[dict[str, Proved], dict[str, Sandwich], IndividualConstants | None]:
    """Return what is proved of each arm, how near to it a search comes, and what is proved of everybody where that was asked for."""
    asked, ids = case.measurement, None if run.training is None else run.training.row_ids
    with case.steps.step("search"):
        proved = prove_outputs(run.trained, certificates, case.norm)
        worst = {name: _in_worst_pairs(fairness, ids) for name, fairness in measured.items()}
        size = asked.sandwich_individuals or SANDWICH_INDIVIDUALS
        found = sandwiches(run, proved, certificates, case.norm, worst, asked.random_state, size)
    if asked.individual_constants is None:
        return proved, found, None
    with case.steps.step("constants of individuals"):
        of_everybody = everybodys_constants(run, proved, certificates)
        of_everybody.to_csv(asked.individual_constants)
    return proved, found, of_everybody


def _in_worst_pairs(fairness: FairnessMetrics, row_ids: NDArray[Any] | None) -> Indices:
    """Return the positions of the individuals of the worst few pairs."""
    ids = range(fairness.n_individuals) if row_ids is None else row_ids.tolist()
    named = {one for pair in fairness.worst[:_WORST] for one in (pair.left, pair.right)}
    return np.array([place for place, one in enumerate(ids) if one in named], dtype=np.intp)


def _judge(
    case: Case,
    measured: Mapping[str, FairnessMetrics],
    certificates: LipschitzCertificates | None,
    proved: Mapping[str, Proved],
) -> dict[str, Verdict | None]:
    """Judge every arm, by what is proved where that speaks of the same d and D as what is measured."""
    asked = case.measurement
    same = asked.output_distance in (None, "l2") and case.is_from("observed", "held-out")
    speaks = {name: same and proved_of_d(name, certificates, case.norm) for name in case.run.trained}
    return {
        name: asked.judge(
            fairness,
            case.outputs[name],
            case.references[name],
            proved.get(name) if speaks.get(name) else None,
        )
        for name, fairness in measured.items()
    }


def _of_outputs(case: Case, test: OutsideTest | None) -> _Parts:
    """Return what is told of the outputs where it was asked for: completions, figures of lists, error on a test from elsewhere, consistency, accuracy."""
    run, asked, arms = case.run, case.measurement, tuple(case.outputs)
    parts: _Parts = {}
    if asked.missing_entries is not None:
        parts["completions"] = judge_missing(case)
    lists = lists_of(case)
    if lists:
        parts["lists"] = list_figures(case, lists)
    if test is not None:
        parts["test_error"] = {name: test.error(run, name, asked.confidence) for name in arms}
    if asked.consistency is not None:
        parts["consistency"] = {
            name: consistency_of(run.outputs[name], case.references[name], asked.consistency) for name in arms
        }
    ranks = {name: ranked(case, name, listed) for name, listed in lists.items()}
    if lists or asked.target is not None or run.unseen is not None:
        parts["accuracy"] = {name: ranks.get(name) or accuracy_of(case, name) for name in arms}
    return parts


def _on_truth(
    case: Case, run: Run, reruns: Iterable[Run], errors: Mapping[str, ErrorMetrics | None] | None
) -> tuple[HeldOutFairness | None, Mapping[str, ErrorMetrics | None]]:
    """Return fairness on the truth, where it is measured, and the errors: those given, of all splits, or of the one there is."""
    if case.is_from("held-out"):
        return measure_on_truth(chain([run], map(with_estimate, reruns)), case.measurement, case.steps)
    if errors is None:
        errors = {name: run.error(name, case.measurement.confidence) for name in run.outputs}
    return None, errors


_OF_OBSERVATIONS = ("observed", "held-out", "co-observed")
"""References that are made of observations on the working range."""


def _explained(case: Case, measured: Mapping[str, FairnessMetrics]) -> dict[str, tuple[PairExplanation, ...]]:
    """Explain the worst pairs of every arm; features of d, and entries that are predicted, are in the user's units, as people know them."""
    run, training, told = case.run, case.run.training, {}
    for name, fairness in measured.items():
        output = case.outputs[name]
        told[name] = case.measurement.explain(fairness, output, case.references[name], run.output_ids(name))
        if training is not None and case.is_from(*_OF_OBSERVATIONS):
            scale = training.value_range.scale_to(run.working_range)
            places = {one: place for place, one in enumerate(training.column_ids.tolist())}
            entries = run.predicts_entries and not isinstance(output, ListDistance)
            told[name] = tuple(_in_units(pair, scale, places, entries=entries) for pair in told[name])
    return told


def _in_units(
    pair: PairExplanation, scale: AffineScale, places: Mapping[Any, int], *, entries: bool
) -> PairExplanation:
    """Return the explanation with its features in the user's units, those of d, and those of the outputs where these are entries."""

    def back(part: Contribution) -> Contribution:
        place = places[part.feature]
        left, right = scale.backward(np.array([part.left, part.right]), np.array([place, place])).tolist()
        return replace(part, left=left, right=right)

    def told(found: DistanceExplanation) -> DistanceExplanation:
        return replace(found, apart=tuple(map(back, found.apart)), together=tuple(map(back, found.together)))

    entries = entries and pair.output.n_features == len(places)
    output = told(pair.output) if entries else pair.output
    return replace(pair, reference=told(pair.reference), output=output)


def _by_group(case: Case) -> dict[str, GroupEffects | Unavailable]:
    """Test of each arm whether a group gets other outputs than similar people of other groups."""
    measurement = case.measurement
    assert measurement.groups is not None
    seed, confidence = seed_of(measurement.random_state), min(measurement.confidence, MOST_CONFIDENT)
    found: dict[str, GroupEffects | Unavailable] = {}
    for name, output in case.outputs.items():
        found[name] = _NO_DIRECTION
        if isinstance(output, RowDistance):
            reference, of_people = case.references[name], (measurement.groups, case.run.output_ids(name))
            found[name] = group_effects(
                output.rows, reference, *of_people, confidence=confidence, random_state=seed
            )
    return found


def _findings(
    case: Case,
    arms: Mapping[str, Arm],
    summary: ReferenceSummary,
    paired: PairedDifferences | None,
    truth: HeldOutFairness | None,
    changes: Mapping[str, Any],
) -> tuple[str, ...]:
    """Put what was measured into words; where ratios are infinite, why; where blanks make pairs the worst, that they do."""
    first, *others = findings(
        arms,
        valid=summary.valid_comparison,
        by_activity=summary.measures_activity,
        paired=paired,
        truth=truth,
        **changes,
        change=_change_between(arms),
        # Nothing to advise where the estimator was chosen by that error.
        advice="The estimator 'auto' chooses by held-out error."
        if isinstance(case.run.fitted, SVT)
        else None,
        unmeasured=case.run.why_no_error,
    )
    infinite = any(arm.fairness.n_infinite for arm in arms.values())
    why = why_equal_people_differ(case.reference, case.run) if infinite else ""
    return (first, *filter(None, (why, summary.missing_in_worst)), *others)


def _change_between(arms: Mapping[str, Arm]) -> str | None:
    """Return what lies between the arms, in words; None where their names say it."""
    last = list(arms.values())[-1]
    return last.label if set(arms) == set(ARMS) else None
