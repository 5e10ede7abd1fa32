"""Measure, explain, certify and judge what ran, and put everything together in one report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import numpy as np

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
    SampledValue,
    Unavailable,
    Verdict,
    group_effects,
)
from likewise.fairness.distances.lists import ListDistance
from likewise.fairness.held_out import HeldOutFairness
from likewise.fairness.metrics.group_effect import MOST_CONFIDENT
from likewise.fairness.metrics.relative_gap import gap_change
from likewise.pipeline.compared import Case, accuracy_of, consistency_of, judge_missing
from likewise.pipeline.held_out import measure_on_truth
from likewise.pipeline.item_lists import list_figures, lists_of, ranked
from likewise.pipeline.outside_test import OutsideTest
from likewise.pipeline.own_constants import check_own_constants, everybodys_constants
from likewise.pipeline.references import (
    missing_in_worst_pairs,
    reference_caveats,
    summarise_reference,
    takes_norm,
    why_equal_people_differ,
)
from likewise.pipeline.run import Run
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
    run, measurement = case.run, case.measurement
    certificates = _certify(case)
    measured = measurement.measure(case.outputs, case.references, case.steps)
    parts: _Parts = {}
    with case.steps.step("explain and certify"):
        measurement.list_violations(case.outputs, case.references)
        paired = measurement.compare(case.outputs, case.references)
        parts |= {"explained": _explained(case, measured), "group_effects": _by_group(case)}
    with_itself = replace(case, run=with_estimate(run))
    proofs = _prove(with_itself, certificates, measured)
    truth, errors = _on_truth(with_itself, reruns, errors)
    parts |= {"certificate": proofs.proved, "sandwich": proofs.sandwiches, "completions": judge_missing(case)}
    parts |= {"on_truth": {} if truth is None else truth.arms, **_of_outputs(case, test)}
    summary = _summary(case)
    parts["verdict"] = _judge(case, measured, proofs)
    arms = {
        name: Arm(name, run.titles[name], fairness, errors.get(name), **_of_arm(parts, name))
        for name, fairness in measured.items()
    }
    summary = replace(summary, missing_in_worst=missing_in_worst_pairs(arms, case.reference, run))
    change = _gap_change(measured, truth, measurement.confidence) if summary.valid_comparison else None
    report = AuditReport(
        data=data,
        estimate=None if run.fitted is None else summarise_estimate(run.fitted, run.clipped_fraction),
        reference=summary,
        arms=arms,
        findings=_findings(case, arms, summary, paired, truth, change),
        settings={**settings, "reference": summary.kind, **_without_norm(case)},
        paired=paired,
        truth=truth,
        gap_change=change,
        **proofs.told(errors, truth),
        seconds=case.steps.seconds,
        provenance=Provenance(datetime.now(UTC).isoformat(timespec="seconds"), versions()),
    )
    return with_alarms(report)


def _gap_change(
    measured: Mapping[str, FairnessMetrics], truth: HeldOutFairness | None, confidence: float
) -> SampledValue | None:
    """Return how the gap changes from the first arm to the second: on the truth, where it is measured; None with one arm."""
    if truth is not None:
        return None if truth.change is None else truth.change.relative_gap
    if len(measured) == 1:
        return None
    before, after = (fairness.similar for fairness in measured.values())
    if before.leaving_out is None or after.leaving_out is None:
        return None
    return gap_change(before.leaving_out, after.leaving_out, confidence, after.n_pairs)


_Parts = dict[str, Mapping[str, Any]]
"""By the fields of `Arm`, what was found of the arms that have it."""


def _of_arm(parts: _Parts, name: str) -> dict[str, Any]:
    return {part: found[name] for part, found in parts.items() if name in found}


@dataclass(frozen=True, eq=False)
class _Proofs:
    """What is proved of the pre-processing and of each arm, how near to it a search comes, and what is proved of everybody where that was asked for."""

    certificates: LipschitzCertificates | None
    proved: Mapping[str, Proved]
    sandwiches: Mapping[str, Sandwich]
    of_everybody: IndividualConstants | None

    def told(
        self, errors: Mapping[str, ErrorMetrics | None], truth: HeldOutFairness | None
    ) -> dict[str, Any]:
        """Return what a report holds of it beside the arms."""
        return {
            "certificates": self.certificates,
            "estimate_alone": summarise_estimate_alone(errors, truth, self.proved, self.sandwiches),
            "individual_constants": self.of_everybody,
        }


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
    case: Case, certificates: LipschitzCertificates | None, measured: Mapping[str, FairnessMetrics]
) -> _Proofs:
    run, asked = case.run, case.measurement
    with case.steps.step("search"):
        proved = prove_outputs(run, certificates, case.norm)
        worst = {name: _in_worst_pairs(fairness, run) for name, fairness in measured.items()}
        size = asked.sandwich_individuals or SANDWICH_INDIVIDUALS
        found = sandwiches(run, proved, certificates, case.norm, worst, asked.random_state, size)
    if asked.individual_constants is None:
        return _Proofs(certificates, proved, found, None)
    with case.steps.step("constants of individuals"):
        of_everybody = everybodys_constants(run, proved, certificates)
        of_everybody.to_csv(asked.individual_constants)
    return _Proofs(certificates, proved, found, of_everybody)


def _in_worst_pairs(fairness: FairnessMetrics, run: Run) -> Indices:
    """Return the positions of the individuals of the worst few pairs."""
    ids = range(fairness.n_individuals)
    if run.training is not None and run.training.row_ids is not None:
        ids = run.training.row_ids.tolist()
    named = {one for pair in fairness.worst[:_WORST] for one in (pair.left, pair.right)}
    return np.array([place for place, one in enumerate(ids) if one in named], dtype=np.intp)


def _judge(case: Case, measured: Mapping[str, FairnessMetrics], proofs: _Proofs) -> dict[str, Verdict | None]:
    """Judge every arm, by what is proved where that speaks of the same d and D as what is measured."""
    judged: dict[str, Verdict | None] = {}
    for name, fairness in measured.items():
        by_l2 = case.measurement.output_distance in (None, "l2")
        of_d = by_l2 and case.is_from("observed", "held-out") and name in case.run.trained
        proved = of_d and proved_of_d(name, proofs.certificates, case.norm)
        judged[name] = case.measurement.judge(
            fairness, case.outputs[name], case.references[name], proofs.proved.get(name) if proved else None
        )
    return judged


def _of_outputs(case: Case, test: OutsideTest | None) -> _Parts:
    """Return what is told of the outputs where it was asked for: figures of lists, error on a test from elsewhere, consistency, accuracy."""
    arms, lists = tuple(case.outputs), lists_of(case)
    confidence = case.measurement.confidence
    parts: _Parts = {"lists": list_figures(case, lists)}
    if test is not None:
        parts["test_error"] = {name: test.error(case.run, name, confidence) for name in arms}
    parts["consistency"] = {name: consistency_of(case, name) for name in arms}
    ranks = {name: ranked(case, name, listed) for name, listed in lists.items()}
    parts["accuracy"] = {name: ranks.get(name) or accuracy_of(case, name) for name in arms}
    return parts


def _summary(case: Case) -> ReferenceSummary:
    """Describe d, and what has to be said of it."""
    first = next(iter(case.references.values()))
    caveats = reference_caveats(case.run.training, first, case.measurement.random_state)
    return summarise_reference(case.reference, case.references, caveats, measures_activity=bool(caveats))


def _on_truth(
    case: Case, reruns: Iterable[Run], errors: Mapping[str, ErrorMetrics | None] | None
) -> tuple[HeldOutFairness | None, Mapping[str, ErrorMetrics | None]]:
    """Return fairness on the truth, where it is measured, and the errors: those given, of all splits, or of the one there is."""
    if case.is_from("held-out"):
        runs = chain([case.run], map(with_estimate, reruns))
        found = measure_on_truth(runs, case.measurement, case.steps)
        return found.fairness, found.errors
    own = {name: case.run.error(name, case.measurement.confidence) for name in case.run.outputs}
    return None, own if errors is None else errors


def _explained(case: Case, measured: Mapping[str, FairnessMetrics]) -> dict[str, tuple[PairExplanation, ...]]:
    told: dict[str, tuple[PairExplanation, ...]] = {}
    for name, fairness in measured.items():
        output, ids = case.outputs[name], case.run.output_ids(name)
        pairs = case.measurement.explain(fairness, output, case.references[name], ids)
        predicted = case.run.predicts_entries and not isinstance(output, ListDistance)
        told[name] = tuple(_in_units(case, pair, predicted=predicted) for pair in pairs)
    return told


_OF_OBSERVATIONS = ("observed", "held-out", "co-observed")
"""References that are made of observations on the working range."""


def _in_units(case: Case, pair: PairExplanation, *, predicted: bool) -> PairExplanation:
    """Return the explanation with the features of d, and entries that are predicted, in the user's units, as people know them."""
    training = case.run.training
    if training is None or not case.is_from(*_OF_OBSERVATIONS):
        return pair
    scale, ids = training.value_range.scale_to(case.run.working_range), training.column_ids
    places = None if ids is None else {name: place for place, name in enumerate(ids.tolist())}

    def back(part: Contribution) -> Contribution:
        place = part.feature if places is None else places[part.feature]
        left, right = scale.backward(np.array([part.left, part.right]), np.array([place, place])).tolist()
        return replace(part, left=left, right=right)

    def told(found: DistanceExplanation) -> DistanceExplanation:
        return replace(found, apart=tuple(map(back, found.apart)), together=tuple(map(back, found.together)))

    entries = predicted and pair.output.n_features == training.shape[1]
    output = told(pair.output) if entries else pair.output
    return replace(pair, reference=told(pair.reference), output=output)


def _without_norm(case: Case) -> dict[str, None]:
    """Say that no norm was chosen for a d that was given, which has one of its own, or none."""
    return {} if takes_norm(case.reference) else {"norm": None}


def _by_group(case: Case) -> dict[str, GroupEffects | Unavailable]:
    """Test of each arm whether a group gets other outputs than similar people of other groups; nothing without groups."""
    measurement = case.measurement
    if measurement.groups is None:
        return {}
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
    change: SampledValue | None,
) -> tuple[str, ...]:
    """Put what was measured into words; where ratios are infinite, why; where blanks make pairs the worst, that they do."""
    first, *others = findings(
        arms,
        valid=summary.valid_comparison,
        by_activity=summary.measures_activity,
        paired=paired,
        truth=truth,
        gap_change=change,
        change="with pre-processing" if set(arms) == {"without", "with"} else None,
        # Nothing to advise where the estimator was chosen by that error.
        advice="The estimator 'auto' chooses by held-out error."
        if isinstance(case.run.fitted, SVT)
        else None,
        unmeasured=case.run.why_no_error,
    )
    infinite = any(arm.fairness.n_infinite for arm in arms.values())
    why = why_equal_people_differ(case.reference, case.run) if infinite else ""
    return (first, *filter(None, (why, summary.missing_in_worst)), *others)
