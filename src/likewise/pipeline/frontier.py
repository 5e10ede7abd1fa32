"""Error against fairness: one decomposition, a fairness budget after another."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from likewise._typing import Floats
from likewise.certificates import Certificate, LipschitzCertificates, RegressionCertificate, certify
from likewise.certificates.filled import KindOfMap
from likewise.checks import checked_flag
from likewise.errors import ConstantOutputWarning, InputError, RankZeroWarning, option
from likewise.estimation import LowRankEstimate, MatrixEstimator, as_estimator
from likewise.estimation.budget.budget import (
    BudgetSolution,
    check_limit,
    smallest_constant,
    within_budget,
)
from likewise.estimation.budget.regression import StrongerPrior, is_regression, within_regression_budget
from likewise.fairness import ObservedDistance, PairwiseDistance, PatternDistance
from likewise.fairness import repair as repair_outputs
from likewise.inference import Model, as_model
from likewise.norms import Norm
from likewise.observations import ObservedMatrix
from likewise.pipeline.measurement import Measurement, PairChoice
from likewise.pipeline.references import (
    ReferenceChoice,
    check_reference,
    reference_distances,
    summarise_reference,
)
from likewise.pipeline.run import Run, check_model, hide
from likewise.pipeline.summaries import summarise_data
from likewise.progress import Progress, StepProgress, Steps
from likewise.randomness import seed_of
from likewise.report.frontier import Frontier
from likewise.report.frontier_points import FrontierPoint, RepairedPoint

SHARES = (0.9, 0.75, 0.5, 0.35, 0.25, 0.1)
"""Budgets by default, as shares of the constant K* without a budget."""

_AFFORDABLE = 5e9
"""Numbers that are compared, over all pairs, up to which every pair is measured at every budget by default."""

_DRAWN = 20_000

_UNCHANGED = 1 + 1e-6
"""Budgets this close above K* are not budgets: they and the estimate without one are the same point."""


def frontier(
    individuals: ObservedMatrix | Any,
    *,
    estimator: str | MatrixEstimator = "auto",
    model: str | Model | Any = "identity",
    budgets: Sequence[float] | None = None,
    hold_out: float = 0.1,
    reference: ReferenceChoice = "observed",
    norm: Norm = "l1",
    nearest_share: float = 0.1,
    pairs: PairChoice | None = None,
    repair: bool = False,
    random_state: int | np.random.Generator | None = 0,
    source: str = "in memory",
    progress: StepProgress | None = None,
) -> Frontier:
    """Show what fairness costs: the error on hidden observations at each budget for the constant K* of pre-processing.

    Some observations are hidden, and the others are decomposed once. At each budget L the same vectors give the estimate with K* <= L that is
    nearest to the unconstrained one. The model runs on it. Its outputs are measured against one reference distance d, and against what was hidden.

    Parameters
    ----------
    individuals : ObservedMatrix, or what its constructor takes; shape (m, n)
        Rows are individuals.
    estimator : str or MatrixEstimator, default "auto"
        One with a proved constant K*. It is cloned, not fitted in place; a budget of its own is ignored.
    model : str, callable or scikit-learn estimator, default "identity"
        The algorithm h; see `likewise.inference.as_model`. By default the output is the estimate itself.
    budgets : sequence of float, optional
        Values of L > 0, on the method's working range. By default 0.9, 0.75, 0.5, 0.35, 0.25 and 0.1 of K* without a budget.
    hold_out : float, default 0.1
        Share of the observations to hide, in [0, 1); 0 measures no error.
    reference : {"observed", "co-observed"} or PairwiseDistance, default "observed"
        d, the same at every budget.
    norm : {"l1", "l2", "linf"} or float, default "l1"
        Norm of d where it is taken from the data.
    nearest_share : float, default 0.1
        Share of the pairs, in (0, 1], that counts as most similar.
    pairs : "all" or int, optional
        Measure all pairs exactly, or draw that many, the same at each budget. By default all where that is cheap, else 20,000.
    repair : bool, default False
        Also repair the outputs without a budget to D <= L d at each budget, in the metric of the proof: which costs less, pre-processing or repair?
    random_state : int, Generator or None, default 0
        For hidden observations, drawn pairs, and estimators and models without a seed.
    source : str
        Where the data came from, for the report.
    progress : callable, optional
        Called with (step, done, total).

    Returns
    -------
    Frontier
        Prints as a table; ``to_frame``, ``to_json``, ``plot`` and ``save`` for the rest.

    Raises
    ------
    InputError
        Or one of its kinds: a budget that is not a finite number above 0, an estimator without a constant K*, an estimate in which
        nothing was kept, a reference taken from the estimate.

    Examples
    --------
    >>> from likewise.observations import clustered
    >>> data = clustered(60, 80, 3, observed_fraction=0.5, random_state=1)
    >>> found = frontier(data.observed, budgets=[0.2])
    >>> [point.k_star <= 0.2 for point in found]  # without a budget, and within it
    [False, True]
    """
    observed = individuals if isinstance(individuals, ObservedMatrix) else ObservedMatrix(individuals)
    _check(budgets, reference)
    chosen = _linear(as_estimator(estimator, random_state))
    seed = seed_of(random_state)
    algorithm, steps = as_model(model, None, seed), Steps(progress)
    measurement = Measurement(nearest_share, pairs=_chosen_pairs(pairs, observed), random_state=random_state)
    check_model(algorithm, observed.shape[0])
    base = _fitted(observed, chosen, hold_out, random_state, steps)
    distances = reference_distances(reference, base, norm)
    job = _Job(base, algorithm, measurement, distances["with"], steps, checked_flag("repair", repair))
    points = tuple(_points(job, budgets))
    assert base.fitted is not None
    return Frontier(
        data=summarise_data(observed, base.working_range, source),
        estimator=" ".join(repr(base.fitted).split()),
        model=algorithm.name,
        reference=summarise_reference(reference, distances),
        points=points,
        settings={"hold_out": hold_out, "norm": norm, "repair": repair, **measurement.settings()},
        notes=(*base.fitted.notes_, *_metric_of_regressions(base.fitted), *_left_out(points)),
        seconds=steps.seconds,
    )


def _left_out(points: tuple[FrontierPoint, ...]) -> Iterator[str]:
    """Count the pairs that the mean of finite ratios leaves out; nothing where there is none."""
    if most := max(point.fairness.n_infinite for point in points):
        yield (
            f"up to {most:,} {'pair' if most == 1 else 'pairs'} at d = 0 that nothing tells apart get different outputs: their ratio is infinite, and "
            "the mean ratios of the table are those of the others"
        )


@dataclass(frozen=True, eq=False)
class _Job:
    """What stays the same at every budget."""

    base: Run
    model: Model
    measurement: Measurement
    reference: PairwiseDistance
    steps: Steps
    repair: bool = False
    free_outputs: list[Any] = field(default_factory=list)
    """Of the estimate without a budget, once they are known: what a repair begins with."""

    def point(
        self, estimate: LowRankEstimate, change: BudgetSolution | StrongerPrior | None, budget: float | None
    ) -> FrontierPoint:
        """Run the model on an estimate, certify and measure."""
        training, name = self.base.training, _name(budget)
        assert training is not None
        certificates = certify(estimate, training)
        certificate = _constant(certificates)
        with self.steps.step(f"run the model {name}") as report:
            scaled = training.scaled(self.base.working_range)
            outputs = self.model(estimate.on_working_range().to_dense(), scaled, progress=report)
        run = Run(
            training, self.base.hidden, self.base.fitted, {name: outputs}, {}, self.model.predicts_entries
        )
        fairness = self.measurement.measure({name: outputs}, {name: self.reference}, self.steps)[name]
        size = float(np.linalg.norm(_unconstrained(self.base).shrunk_values))
        moved = 0.0 if change is None or not size else change.distance / size
        repaired = self._repaired(run, certificates, outputs, budget) if self.repair else None
        return FrontierPoint(budget, certificate, moved, change, run.error(name), fairness, repaired)

    def _repaired(
        self, run: Run, certificates: LipschitzCertificates, outputs: Any, budget: float | None
    ) -> RepairedPoint | None:
        """Repair the outputs without a budget, to what this one guarantees; keep them where there is none yet."""
        metric = _metric_of(certificates, run)
        if budget is None:
            self.free_outputs.append(outputs)
            return None
        with self.steps.step(f"repair the outputs {_name(budget)}") as report:
            return _repaired_point(run, self.free_outputs[0], outputs, metric, budget, report)


def _points(job: _Job, budgets: Sequence[float] | None) -> Iterator[FrontierPoint]:
    """Yield the estimate without a budget, then from the loosest budget to the tightest."""
    free = _unconstrained(job.base)
    first = job.point(free, None, None)
    yield first
    limits = _default_limits(free, first.k_star) if budgets is None else budgets
    for limit in sorted({float(limit) for limit in limits}, reverse=True):
        if limit < first.k_star * _UNCHANGED:
            yield job.point(*_held_within(free, job, limit), limit)


def _held_within(
    free: LowRankEstimate, job: _Job, limit: float
) -> tuple[LowRankEstimate, BudgetSolution | StrongerPrior]:
    """Return the estimate within a budget: gains shrunk where rows are mapped linearly, a stronger prior where they are regressions."""
    if not is_regression(free):
        return within_budget(free, limit)
    assert job.base.training is not None
    found = within_regression_budget(free, job.base.training.scaled(job.base.working_range).values, limit)
    return found.estimate, found


def _metric_of_regressions(fitted: MatrixEstimator) -> tuple[str, ...]:
    """Say from which distance the constants of regressions are: another than that of SVT."""
    if not is_regression(fitted.estimate_):
        return ()
    return (
        "rows are regressions, so K* is the constant from l1 with the empty entry as a point of its own (PatternDistance), not from zero-filled rows",
    )


def _default_limits(free: LowRankEstimate, k_star: float) -> list[float]:
    """Return shares of K*, as far as the offsets of rows leave them."""
    if is_regression(free):
        return [share * k_star for share in SHARES]
    smallest = smallest_constant(KindOfMap.of(free).row_map(free.right))
    return [share * k_star for share in SHARES if share * k_star > smallest]


def _linear(estimator: MatrixEstimator) -> MatrixEstimator:
    """Return the estimator, unless it is known before the work that its estimates cannot be held to a budget."""
    if estimator.no_budget:
        raise InputError(
            f"{type(estimator).__name__}, which cannot be held to a budget: {estimator.no_budget}",
            "an estimator with linear folding, such as 'svt'",
        )
    return estimator


def _constant(certificates: LipschitzCertificates) -> Certificate:
    """Return K*, of zero-filled rows or of rows that are filled with their centre, or of regressions, whichever the estimate has."""
    if isinstance(certificates.regression, RegressionCertificate):
        return certificates.regression.certificate
    for constant in (certificates.k_star, certificates.filled):
        if isinstance(constant, Certificate):
            return constant
    reason = certificates.filled or certificates.k_star
    raise InputError(
        f"an estimate without a constant: {reason}", "an estimator with linear folding, such as 'svt'"
    )


def _unconstrained(run: Run) -> LowRankEstimate:
    assert run.estimate is not None
    return run.estimate


def _name(budget: float | None) -> str:
    return "without a budget" if budget is None else f"at K* <= {budget:.4g}"


def _fitted(
    observed: ObservedMatrix,
    estimator: MatrixEstimator,
    share: float,
    random_state: int | np.random.Generator | None,
    steps: Steps,
) -> Run:
    """Hide a share of the observations and estimate the matrix from the others, without a budget."""
    hidden = hide(observed, share, random_state)
    training = observed if hidden is None else hidden.training
    free = clone(estimator)
    if "max_lipschitz" in free.get_params(deep=False):
        free.set_params(max_lipschitz=None)
    with steps.step("estimate the matrix"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RankZeroWarning)  # it advises to estimators that have no frontier
        fitted = free.fit(training)
    if not fitted.rank_ and (fitted.threshold_ is not None or not is_regression(fitted.estimate_)):
        raise InputError(
            "an estimate without a component, which no budget can change",
            "one that keeps a component",
            f"give a number below {fitted.threshold_:.4g} as {option('threshold')}"
            if fitted.threshold_
            else "",
        )
    return Run(training, hidden, fitted, {"with": None}, {})


def _chosen_pairs(pairs: PairChoice | None, observed: ObservedMatrix) -> PairChoice:
    if pairs is not None:
        return pairs
    m, n = observed.shape
    return "all" if m * (m - 1) / 2 * n <= _AFFORDABLE else _DRAWN


def _check(budgets: Any, reference: ReferenceChoice) -> None:
    """Fail before the work, not after it."""
    check_reference(reference)
    if isinstance(reference, str) and reference == "estimate":
        raise InputError(
            option("reference", repr(reference)),
            "one distance for all budgets: 'observed', 'co-observed', or a distance",
            "a distance taken from the estimate changes with the budget",
        )
    if budgets is None:
        return
    if not (isinstance(budgets, tuple | list) or (isinstance(budgets, np.ndarray) and budgets.ndim == 1)):
        raise InputError(option("budgets", repr(budgets)), "values of L, one after another")
    if not len(budgets):
        raise InputError(option("budgets", "[]"), "at least one value of L")
    for limit in budgets:
        check_limit(limit, "budgets")


def _metric_of(certificates: LipschitzCertificates, run: Run) -> PairwiseDistance:
    """Return the distance between the rows of the fit from which the pre-processing has its constant.

    Raises
    ------
    InputError
        The constant speaks of rows that are filled with their centre, between which there is no distance to repair by.
    """
    assert run.training is not None
    if isinstance(certificates.regression, RegressionCertificate):
        return PatternDistance(run.training, certificates.regression.empty, working_range=run.working_range)
    if isinstance(certificates.k_star, Certificate):
        return ObservedDistance(run.training, "l1", working_range=run.working_range)
    raise InputError(
        f"{option('repair', 'True')} beside an estimator whose constant speaks of rows that are filled with their centre",
        "one whose rows are regressions, or svt without centering",
    )


def _repaired_point(
    run: Run, free: Any, held: Any, metric: PairwiseDistance, limit: float, progress: Progress | None
) -> RepairedPoint:
    """Repair outputs to D <= L d by the metric of a budget L, and compare with the outputs that the budget gave.

    Parameters
    ----------
    run : Run
        What was hidden, and whether outputs predict it.
    free, held : ndarray, shape (m,) or (m, k)
        Outputs without the budget and within it.
    metric : PairwiseDistance
    limit : float
        L.
    progress : callable or None
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantOutputWarning)  # what it costs is what is measured here
        repaired = repair_outputs(free, metric, lipschitz=limit, progress=progress)
    moved = np.linalg.norm(_columns(held) - _columns(free), axis=1)
    name = "repaired"
    judged = Run(run.training, run.hidden, run.fitted, {name: repaired.outputs}, {}, run.predicts_entries)
    return RepairedPoint(
        error=judged.error(name),
        change=repaired.root_mean_square_change,
        largest_change=repaired.largest_change,
        change_by_budget=float(np.sqrt(np.mean(moved**2))),
        largest_change_by_budget=float(moved.max()),
    )


def _columns(outputs: Any) -> Floats:
    given = np.asarray(outputs, dtype=np.float64)
    return given.reshape(len(given), -1)
