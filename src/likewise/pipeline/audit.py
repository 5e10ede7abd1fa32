"""The main job: estimate, infer, measure, certify, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.estimation import SVT
from likewise.fairness import (
    FairnessFigures,
    LipschitzCertificates,
    PairwiseDistance,
    certify,
    findings,
    measure_arms,
)
from likewise.fairness.norms import Norm
from likewise.inference import Model, as_model
from likewise.observations import ObservedMatrix
from likewise.pipeline.references import (
    ReferenceKind,
    reference_caveats,
    reference_distances,
    summarise_reference,
)
from likewise.pipeline.result import Arm, AuditReport
from likewise.pipeline.run import Run, run_model, take_outputs
from likewise.pipeline.steps import Progress, Steps
from likewise.pipeline.summaries import summarise_data, summarise_estimate


def audit(
    observations: ObservedMatrix | Any,
    *,
    estimator: SVT | None = None,
    model: str | Model | Any = "knn",
    target: ArrayLike | None = None,
    outputs: Mapping[str, ArrayLike] | None = None,
    hold_out: float = 0.1,
    reference: ReferenceKind = "observed",
    norm: Norm = "l1",
    nearest_share: float = 0.1,
    random_state: int | np.random.Generator | None = 0,
    source: str = "in memory",
    progress: Progress | None = None,
) -> AuditReport:
    """Compare an algorithm with and without pre-processing: individual fairness, accuracy, certificates.

    A share of the observations is hidden. The algorithm runs on the others twice: on the zero-filled observations (h) and on
    their estimate (f). Both sets of outputs are measured over all pairs against one reference distance d, fixed before any
    processing, and against the hidden observations.

    Parameters
    ----------
    observations : ObservedMatrix, or what its constructor takes; shape (m, n)
        Rows are individuals.
    estimator : SVT, optional
        Pre-processing; ``SVT()`` by default. It is cloned, not fitted in place.
    model : str, callable or scikit-learn estimator, default "knn"
        The algorithm h; see `likewise.inference.as_model`.
    target : array-like, shape (m,) or (m, t), optional
        What a classifier or regressor learns for each individual.
    outputs : mapping of str to array-like, optional
        Outputs computed elsewhere for ``"without"``, ``"with"``, or both; shape (m,) or (m, k). Then nothing is hidden, no model
        runs, and an estimator is fitted only if given.
    hold_out : float, default 0.1
        Share of the observations to hide, in [0, 1); 0 measures no error.
    reference : {"observed", "estimate"}, default "observed"
        Where d is taken from. ``"estimate"`` is the released code's convention: not a valid before/after comparison, and the
        report says so.
    norm : {"l1", "l2"} or float, default "l1"
        Norm of d.
    nearest_share : float, default 0.1
        Share of the pairs, in (0, 1], that counts as most similar.
    random_state : int, Generator or None, default 0
        For the choice of hidden observations.
    source : str
        Where the data came from, for the report.
    progress : callable, optional
        Called with (step, done, total).

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
    """
    observed = observations if isinstance(observations, ObservedMatrix) else ObservedMatrix(observations)
    steps = Steps(progress)
    if outputs is None:
        algorithm = as_model(model, target, random_state if isinstance(random_state, int) else None)
        preprocessing = SVT(random_state=random_state) if estimator is None else estimator
        run = run_model(observed, preprocessing, algorithm, hold_out, random_state, steps)
    else:
        run = take_outputs(observed, outputs, estimator, steps)
    distances = reference_distances(reference, run.training, run.estimate, norm, run.interval)
    figures = _measure(run, distances, nearest_share, steps)
    arms = {name: Arm(name, run.titles[name], figures[name], run.error(name)) for name in run.outputs}
    caveats = reference_caveats(run.training, distances["without"], random_state)
    reference_summary = summarise_reference(reference, distances, caveats)
    settings = {
        "model": model if isinstance(model, str) else type(model).__name__,
        "hold_out": hold_out,
        "reference": reference,
        "norm": norm,
        "nearest_share": nearest_share,
        "random_state": random_state if isinstance(random_state, int) else None,
    }
    with steps.step("certify"):
        return AuditReport(
            data=summarise_data(observed, run.interval, source),
            estimate=None if run.fitted is None else summarise_estimate(run.fitted),
            reference=reference_summary,
            certificates=_certify(run),
            arms=arms,
            findings=findings(arms, valid=reference_summary.valid_comparison, change="With pre-processing"),
            settings=settings,
            seconds=steps.seconds,
        )


def _measure(
    run: Run, distances: Mapping[str, PairwiseDistance], nearest_share: float, steps: Steps
) -> dict[str, FairnessFigures]:
    """Measure the arms together where they share a reference, else one by one."""
    if distances["without"] is distances["with"]:
        with steps.step("compare all pairs") as report:
            return measure_arms(run.outputs, distances["with"], nearest_share=nearest_share, progress=report)
    figures: dict[str, FairnessFigures] = {}
    for name, values in run.outputs.items():
        with steps.step(f"compare all pairs, {name} pre-processing") as report:
            arm = {name: values}
            figures |= measure_arms(arm, distances[name], nearest_share=nearest_share, progress=report)
    return figures


def _certify(run: Run) -> LipschitzCertificates | None:
    if run.fitted is None:
        return None
    return certify(run.fitted.estimate_, run.training, threshold=run.fitted.threshold_)
