"""The main job: estimate, infer, measure, certify, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.errors import InputError
from likewise.estimation import SVT, Auto, MatrixEstimator, as_estimator
from likewise.fairness import LipschitzCertificates, PairwiseDistance, certify, findings
from likewise.inference import Model, as_model
from likewise.norms import Norm
from likewise.observations import ObservedMatrix
from likewise.pipeline.caveats import missing_in_worst_pairs, why_equal_people_differ
from likewise.pipeline.measurement import Measurement, PairChoice
from likewise.pipeline.proved import prove_outputs
from likewise.pipeline.references import (
    ReferenceChoice,
    check_reference,
    reference_caveats,
    reference_distances,
    summarise_reference,
)
from likewise.pipeline.run import Run, run_model, take_outputs
from likewise.pipeline.summaries import summarise_data, summarise_estimate
from likewise.progress import StepProgress, Steps, shown
from likewise.report.audit_report import AuditReport
from likewise.report.records import Arm, DataSummary


def audit(
    individuals: ObservedMatrix | PairwiseDistance | Any,
    *,
    outputs: ArrayLike | PairwiseDistance | Mapping[str, Any] | None = None,
    estimator: str | MatrixEstimator | None = None,
    model: str | Model | Any = "knn",
    target: ArrayLike | None = None,
    hold_out: float = 0.1,
    reference: ReferenceChoice = "observed",
    norm: Norm = "l1",
    nearest_share: float = 0.1,
    lipschitz: float | None = None,
    tolerance: float = 0.0,
    groups: ArrayLike | None = None,
    pairs: PairChoice = "all",
    confidence: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    source: str = "in memory",
    progress: StepProgress | bool | None = None,
) -> AuditReport:
    """Audit individual fairness: of an algorithm with and without pre-processing, or of outputs that are given.

    Without `outputs`, a share of the observations is hidden, and the algorithm runs on the others twice: on the zero-filled
    observations (h) and on their estimate (f). Both sets of outputs are measured against one reference distance d, fixed before
    any processing, and against the hidden observations. With `outputs`, these are measured, whatever made them.

    Parameters
    ----------
    individuals : ObservedMatrix, what its constructor takes, or PairwiseDistance
        Observations, of shape (m, n), rows are individuals; or, with `outputs`, the distance d between them.
    outputs : array-like, PairwiseDistance, or mapping of str to them, optional
        Outputs computed elsewhere, of shape (m,) or (m, k), or a distance D between them; or a mapping with ``"without"``,
        ``"with"``, or both. Then nothing is hidden, no model runs, and an estimator is fitted only if given.
    estimator : str or MatrixEstimator, optional
        Pre-processing: a name, as in `make_estimator`, or an estimator; by default `Auto`, which chooses by held-out observations. The paper's
        is ``"svt"``, which has a proved constant. It is cloned, not fitted in place.
    model : str, callable or scikit-learn estimator, default "knn"
        The algorithm h; see `likewise.inference.as_model`.
    target : array-like, shape (m,) or (m, t), optional
        What a classifier or regressor learns for each individual.
    hold_out : float, default 0.1
        Share of the observations to hide, in [0, 1); 0 measures no error.
    reference : {"observed", "co-observed", "estimate"} or PairwiseDistance, default "observed"
        d, or where it is taken from. ``"co-observed"`` compares two individuals on what both observed (`CoObservedDistance`): for data in
        which zero-filled rows mostly tell how much was observed. ``"estimate"`` is the released code's convention: not a valid before/after comparison, and
        the report says so.
    norm : {"l1", "l2"} or float, default "l1"
        Norm of d where it is taken from the data.
    nearest_share : float, default 0.1
        Share of the pairs, in (0, 1], that counts as most similar.
    lipschitz : float, optional
        L > 0: count the pairs with D > L d, and judge.
    tolerance : float, default 0
        Share of the pairs that may violate, in [0, 1).
    groups : array-like, shape (m,), optional
        A group for each individual: figures are split by pairs within and across groups.
    pairs : "all" or int, default "all"
        Measure all pairs exactly, or that many drawn ones: each figure then has an interval for all pairs of these data.
    confidence : float, default 0.95
        Of each interval, in (0, 1).
    random_state : int, Generator or None, default 0
        For the hidden observations, drawn pairs, and estimators and models without a seed of their own.
    source : str
        Where the data came from, for the report.
    progress : callable, bool or None, default None
        Called with (step, done, total). By default steps of more than two seconds show a bar where standard error is a terminal; False shows
        none.

    Returns
    -------
    AuditReport
        Prints as a table; ``to_json``, ``to_frame``, ``save`` and ``plot_...`` for the rest.

    Raises
    ------
    InputError
        Or one of its kinds: see `likewise.errors`.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Sections 3, 4 and 6.

    Examples
    --------
    >>> from likewise.observations import clustered
    >>> data = clustered(n_individuals=60, n_features=80, n_clusters=3, observed_fraction=0.5, random_state=1)
    >>> report = audit(data.observed)
    >>> report.arms["with"].error.rmse < report.arms["without"].error.rmse
    True

    Somebody else's scores, held against a distance between applicants:

    >>> from likewise.fairness import RowDistance
    >>> applicants = np.array([[3.1, 150.0], [3.2, 151.0], [2.0, 140.0]])
    >>> report = audit(RowDistance(applicants / applicants.std(axis=0)), outputs=[0.9, 0.2, 0.1], lipschitz=1.0)
    >>> report.arms["outputs"].verdict.status
    'violated'
    """
    measurement = Measurement(nearest_share, lipschitz, tolerance, groups, pairs, confidence, random_state)
    if isinstance(individuals, PairwiseDistance):
        reference = individuals
    elif not isinstance(individuals, ObservedMatrix):
        individuals = ObservedMatrix(individuals)
    check_reference(reference)
    measurement.check_groups(_count(individuals), individuals.row_ids)
    estimator = None if estimator is None else as_estimator(estimator)
    settings = {
        "model": None if outputs is not None else model if isinstance(model, str) else type(model).__name__,
        "hold_out": hold_out if outputs is None else 0,
        "norm": norm,
        **measurement.settings(),
    }
    with shown(progress) as reported:
        steps = Steps(reported)
        if outputs is None:
            run = _run_model(individuals, estimator, model, target, hold_out, random_state, steps)
        else:
            run = take_outputs(_observations(individuals), outputs, estimator, steps)
        data = summarise_data(individuals, run.working_range, source)
        distances = reference_distances(reference, run, norm)
        return _report(data, run, distances, reference, measurement, settings, steps)


def _report(
    data: DataSummary,
    run: Run,
    distances: Mapping[str, PairwiseDistance],
    reference: ReferenceChoice,
    measurement: Measurement,
    settings: dict[str, Any],
    steps: Steps,
) -> AuditReport:
    """Measure, certify, and put everything together."""
    figures = measurement.measure(run.outputs, distances, steps)
    with steps.step("certify"):
        certificates = _certify(run)
        proved = prove_outputs(run, certificates, settings["norm"])
        estimate = None if run.fitted is None else summarise_estimate(run.fitted)
        caveats = reference_caveats(run.training, next(iter(distances.values())), measurement.random_state)
    summary = summarise_reference(reference, distances, caveats)
    arms = {
        name: Arm(
            name,
            run.titles[name],
            measured,
            run.error(name),
            measurement.verdict(measured),
            proved.get(name),
        )
        for name, measured in figures.items()
    }
    return AuditReport(
        data=data,
        estimate=estimate,
        reference=summary,
        certificates=certificates,
        arms=arms,
        findings=_findings(arms, summary.valid_comparison, reference, run),
        settings={**settings, "reference": summary.kind},
        seconds=steps.seconds,
    )


def _findings(arms: Mapping[str, Arm], valid: bool, reference: ReferenceChoice, run: Run) -> tuple[str, ...]:
    """Put what was measured into words; where ratios are infinite, why; where blanks make pairs the worst, that they do."""
    first, *others = findings(
        arms,
        valid=valid,
        change="With pre-processing",
        advice=_advice(run),
        unmeasured=run.why_no_error,
    )
    infinite = any(arm.fairness.n_infinite for arm in arms.values())
    why = why_equal_people_differ(reference, run) if infinite else ""
    blanks = missing_in_worst_pairs(arms, reference, run)
    return (first, *filter(None, (why, blanks)), *others)


def _advice(run: Run) -> str | None:
    """Say what to try should the error have risen; nothing where the estimator was chosen by that error."""
    return "The estimator 'auto' chooses by held-out error." if isinstance(run.fitted, SVT) else None


def _count(individuals: ObservedMatrix | PairwiseDistance) -> int:
    return individuals.shape[0] if isinstance(individuals, ObservedMatrix) else individuals.n_individuals


def _observations(individuals: ObservedMatrix | PairwiseDistance) -> ObservedMatrix | None:
    return individuals if isinstance(individuals, ObservedMatrix) else None


def _run_model(
    individuals: ObservedMatrix | PairwiseDistance,
    estimator: MatrixEstimator | None,
    model: str | Model | Any,
    target: ArrayLike | None,
    hold_out: float,
    random_state: int | np.random.Generator | None,
    steps: Steps,
) -> Run:
    """Run the model where there are observations to run it on."""
    if isinstance(individuals, PairwiseDistance):
        raise InputError("a distance between individuals and no outputs", "outputs to hold against it")
    algorithm = as_model(model, target, random_state if isinstance(random_state, int) else None)
    preprocessing = Auto(random_state=random_state) if estimator is None else estimator
    return run_model(individuals, preprocessing, algorithm, hold_out, random_state, steps)


def _certify(run: Run) -> LipschitzCertificates | None:
    if run.fitted is None or run.training is None:
        return None
    return certify(run.fitted.estimate_, run.training, threshold=run.fitted.threshold_)
