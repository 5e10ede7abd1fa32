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
from likewise.estimation import SVT
from likewise.fairness import (
    CompletionVerdict,
    Contribution,
    DistanceExplanation,
    ErrorMetrics,
    ExactValue,
    FairnessMetrics,
    GroupEffects,
    PairedDifferences,
    PairExplanation,
    PairwiseDistance,
    RowDistance,
    TargetAccuracy,
    Unavailable,
    group_effects,
)
from likewise.fairness.distances.lists import ListDistance
from likewise.fairness.held_out import HeldOutFairness
from likewise.fairness.metrics.group_effect import MOST_CONFIDENT
from likewise.norms import Norm
from likewise.pipeline.beside import summarise_beside, with_estimate
from likewise.pipeline.compared import accuracy_of, consistency_of, is_l2, output_distances
from likewise.pipeline.held_out import measure_on_truth
from likewise.pipeline.item_lists import list_figures, ranked
from likewise.pipeline.measurement import Measurement
from likewise.pipeline.missing import judge_missing
from likewise.pipeline.outside_test import OutsideTest
from likewise.pipeline.references import (
    ReferenceChoice,
    missing_in_worst_pairs,
    reference_caveats,
    summarise_reference,
    why_equal_people_differ,
)
from likewise.pipeline.run import Run
from likewise.pipeline.sandwich import sandwiches
from likewise.pipeline.summaries import Proved, prove_outputs, proved_of_d, summarise_estimate
from likewise.progress import Steps
from likewise.randomness import seed_of
from likewise.report.audit_report import AuditReport
from likewise.report.json_document import versions
from likewise.report.list_figures import ListFigures
from likewise.report.records import Arm, DataSummary, Provenance, ReferenceSummary, Sandwich
from likewise.report.sentences import findings

_NO_DIRECTION = Unavailable(
    "group effect", "only a distance between the outputs is known, which does not say who gets more"
)

_WORST = 5
"""Pairs whose individuals are among those that are held against unseen rows."""


def make_report(
    data: DataSummary,
    run: Run,
    references: Mapping[str, PairwiseDistance],
    reference: ReferenceChoice,
    measurement: Measurement,
    settings: dict[str, Any],
    steps: Steps,
    errors: Mapping[str, ErrorMetrics | None] | None = None,
    reruns: Iterable[Run] = (),
    test: OutsideTest | None = None,
) -> AuditReport:
    """Measure, explain, certify, judge, and put everything together; reruns are those of further splits, which only the truth is measured on."""
    outputs = output_distances(run, references, measurement.output_distance)
    measured = measurement.measure(outputs, references, steps)
    norm, by_l2 = settings.get("norm", "l1"), is_l2(measurement.output_distance)
    with steps.step("explain and certify"):
        measurement.list_violations(outputs, references)
        paired = measurement.compare(outputs, references)
        explained = _explained(measurement, measured, outputs, references, reference, run)
        by_group = _by_group(measurement, outputs, references, run)
    beside = with_estimate(run)
    proofs = _prove(beside, norm, measured, measurement, steps)
    truth, errors = _on_truth(beside, reruns, reference, measurement, steps, errors)
    further = _further(run, outputs, references, norm, measurement, steps)
    summary = _summary(run, references, reference, measurement)
    arms, of_truth = {}, {} if truth is None else truth.arms
    for name, fairness in measured.items():
        proof, sandwich = proofs.proved.get(name), proofs.sandwiches.get(name)
        of_d = by_l2 and _is_proved_of_d(name, reference, run, proofs.certificates, norm)
        verdict = measurement.judge(fairness, outputs[name], references[name], proof if of_d else None)
        found = errors.get(name), verdict, proof, explained[name], of_truth.get(name), by_group.get(name)
        asked = _asked_for(name, run, outputs[name], references[name], measurement, test)
        arms[name] = Arm(name, run.titles[name], fairness, *found, *asked, sandwich, *further[name])
    summary = replace(summary, missing_in_worst=missing_in_worst_pairs(arms, reference, run))
    return AuditReport(
        data=data,
        estimate=None if run.fitted is None else summarise_estimate(run.fitted, run.clipped_fraction),
        reference=summary,
        certificates=proofs.certificates,
        arms=arms,
        findings=_findings(arms, summary, paired, truth, reference, run),
        settings={**settings, "reference": summary.kind},
        paired=paired,
        truth=truth,
        beside=summarise_beside(errors, truth, proofs.proved, proofs.sandwiches),
        seconds=steps.seconds,
        provenance=Provenance(datetime.now(UTC).isoformat(timespec="seconds"), versions()),
    )


def _further(
    run: Run,
    outputs: Mapping[str, PairwiseDistance],
    references: Mapping[str, PairwiseDistance],
    norm: Norm,
    measurement: Measurement,
    steps: Steps,
) -> dict[str, tuple[CompletionVerdict | None, ListFigures | None]]:
    """Return of every arm what missing entries decide, and what is told of lists; None where there is nothing of the kind."""
    completed = judge_missing(run, outputs, norm, measurement, steps)
    listed = list_figures(run, outputs, references, measurement, steps)
    return {name: (completed.get(name), listed.get(name)) for name in outputs}


@dataclass(frozen=True, eq=False)
class _Proofs:
    """What is proved of the pre-processing and of each arm, and how near to it a search comes."""

    certificates: LipschitzCertificates | None
    proved: Mapping[str, Proved]
    sandwiches: Mapping[str, Sandwich]


def _prove(
    run: Run, norm: Norm, measured: Mapping[str, FairnessMetrics], measurement: Measurement, steps: Steps
) -> _Proofs:
    with steps.step("prove and search"):
        certificates = _certify(run)
        proved = prove_outputs(run, certificates, norm)
        worst = {name: _in_worst_pairs(fairness, run) for name, fairness in measured.items()}
        found = sandwiches(run, proved, certificates, norm, worst, measurement.random_state)
    return _Proofs(certificates, proved, found)


def _in_worst_pairs(fairness: FairnessMetrics, run: Run) -> Indices:
    """Return the positions of the individuals of the worst few pairs."""
    ids = range(fairness.n_individuals)
    if run.training is not None and run.training.row_ids is not None:
        ids = run.training.row_ids.tolist()
    named = {one for pair in fairness.worst[:_WORST] for one in (pair.left, pair.right)}
    return np.array([place for place, one in enumerate(ids) if one in named], dtype=np.intp)


def _summary(
    run: Run,
    references: Mapping[str, PairwiseDistance],
    reference: ReferenceChoice,
    measurement: Measurement,
) -> ReferenceSummary:
    """Describe d, and what has to be said of it."""
    first = next(iter(references.values()))
    caveats = reference_caveats(run.training, first, measurement.random_state)
    return summarise_reference(reference, references, caveats, measures_activity=bool(caveats))


def _asked_for(
    name: str,
    run: Run,
    output: PairwiseDistance,
    reference: PairwiseDistance,
    measurement: Measurement,
    test: OutsideTest | None,
) -> tuple[ErrorMetrics | None, ExactValue | None, TargetAccuracy | None]:
    """Return the error on a test from elsewhere, the consistency, and the accuracy against a target, where they were asked for."""
    error = None if test is None else test.error(run, name, measurement.confidence)
    consistent = consistency_of(run.outputs[name], reference, measurement.consistency)
    accuracy = ranked(run, name, output, reference, measurement)
    if accuracy is None:
        accuracy = accuracy_of(run, name, measurement.target, reference, measurement.confidence)
    return error, consistent, accuracy


def _on_truth(
    run: Run,
    reruns: Iterable[Run],
    reference: ReferenceChoice,
    measurement: Measurement,
    steps: Steps,
    errors: Mapping[str, ErrorMetrics | None] | None,
) -> tuple[HeldOutFairness | None, Mapping[str, ErrorMetrics | None]]:
    """Return fairness on the truth, where it is measured, and the errors: those given, of all splits, or of the one there is."""
    if isinstance(reference, str) and reference == "held-out":
        found = measure_on_truth(chain([run], map(with_estimate, reruns)), measurement, steps)
        return found.fairness, found.errors
    own = {name: run.error(name, measurement.confidence) for name in run.outputs}
    return None, own if errors is None else errors


def _explained(
    measurement: Measurement,
    measured: Mapping[str, FairnessMetrics],
    outputs: Mapping[str, PairwiseDistance],
    references: Mapping[str, PairwiseDistance],
    reference: ReferenceChoice,
    run: Run,
) -> dict[str, tuple[PairExplanation, ...]]:
    told: dict[str, tuple[PairExplanation, ...]] = {}
    for name, fairness in measured.items():
        pairs = measurement.explain(fairness, outputs[name], references[name], run.output_ids(name))
        predicted = run.predicts_entries and not isinstance(outputs[name], ListDistance)
        told[name] = tuple(_in_units(pair, reference, run, predicted=predicted) for pair in pairs)
    return told


_OF_OBSERVATIONS = ("observed", "held-out", "co-observed")
"""References that are made of observations on the working range."""


def _in_units(
    pair: PairExplanation, reference: ReferenceChoice, run: Run, *, predicted: bool
) -> PairExplanation:
    """Return the explanation with the features of d, and entries that are predicted, in the user's units, as people know them."""
    if run.training is None or not isinstance(reference, str) or reference not in _OF_OBSERVATIONS:
        return pair
    scale, ids = run.training.value_range.scale_to(run.working_range), run.training.column_ids
    places = None if ids is None else {name: place for place, name in enumerate(ids.tolist())}

    def back(part: Contribution) -> Contribution:
        place = part.feature if places is None else places[part.feature]
        left, right = scale.backward(np.array([part.left, part.right]), np.array([place, place])).tolist()
        return replace(part, left=left, right=right)

    def told(found: DistanceExplanation) -> DistanceExplanation:
        return replace(found, apart=tuple(map(back, found.apart)), together=tuple(map(back, found.together)))

    entries = predicted and pair.output.n_features == run.training.shape[1]
    output = told(pair.output) if entries else pair.output
    return replace(pair, reference=told(pair.reference), output=output)


def _by_group(
    measurement: Measurement,
    outputs: Mapping[str, PairwiseDistance],
    references: Mapping[str, PairwiseDistance],
    run: Run,
) -> dict[str, GroupEffects | Unavailable]:
    """Test of each arm whether a group gets other outputs than similar people of other groups; nothing without groups."""
    if measurement.groups is None:
        return {}
    seed, confidence = seed_of(measurement.random_state), min(measurement.confidence, MOST_CONFIDENT)
    found: dict[str, GroupEffects | Unavailable] = {}
    for name, output in outputs.items():
        found[name] = _NO_DIRECTION
        if isinstance(output, RowDistance):
            reference, of_people = references[name], (measurement.groups, run.output_ids(name))
            found[name] = group_effects(
                output.rows, reference, *of_people, confidence=confidence, random_state=seed
            )
    return found


def _findings(
    arms: Mapping[str, Arm],
    summary: ReferenceSummary,
    paired: PairedDifferences | None,
    truth: HeldOutFairness | None,
    reference: ReferenceChoice,
    run: Run,
) -> tuple[str, ...]:
    """Put what was measured into words; where ratios are infinite, why; where blanks make pairs the worst, that they do."""
    first, *others = findings(
        arms,
        valid=summary.valid_comparison,
        by_activity=summary.measures_activity,
        paired=paired,
        truth=truth,
        change="with pre-processing" if set(arms) == {"without", "with"} else None,
        # Nothing to advise where the estimator was chosen by that error.
        advice="The estimator 'auto' chooses by held-out error." if isinstance(run.fitted, SVT) else None,
        unmeasured=run.why_no_error,
    )
    infinite = any(arm.fairness.n_infinite for arm in arms.values())
    why = why_equal_people_differ(reference, run) if infinite else ""
    return (first, *filter(None, (why, summary.missing_in_worst)), *others)


def _is_proved_of_d(
    name: str, reference: ReferenceChoice, run: Run, certificates: LipschitzCertificates | None, norm: Norm
) -> bool:
    """Return whether what is proved of an arm speaks of the same d and D as what is measured."""
    return (
        reference in ("observed", "held-out")
        and name in run.trained
        and proved_of_d(name, certificates, norm)
    )


def _certify(run: Run) -> LipschitzCertificates | None:
    if run.fitted is None or run.training is None:
        return None
    found = certify(run.fitted.estimate_, run.training, threshold=run.fitted.threshold_)
    return found.without_the_fit() if run.folded_in else found
