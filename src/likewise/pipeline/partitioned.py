"""An audit of observations in blocks: of individuals who are drawn, by an estimate that was made of all the others."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone

from likewise._typing import Indices
from likewise.checks import checked_instance, checked_whole
from likewise.errors import ObservationError, option
from likewise.estimation import MatrixEstimator, as_estimator
from likewise.inference import as_model
from likewise.norms import Norm
from likewise.observations import HoldOut, ObservedMatrix, PartitionedMatrix
from likewise.pipeline.assemble import make_report
from likewise.pipeline.compared import Case
from likewise.pipeline.held_out import asked_reference, reference_and_share
from likewise.pipeline.measurement import DEFAULT_MEMORY, Measurement
from likewise.pipeline.references import (
    ReferenceChoice,
    check_reference,
    reference_distances,
    takes_norm,
)
from likewise.pipeline.run import check_model, hide, run_fitted
from likewise.pipeline.summaries import summarise_data
from likewise.pipeline.worst_within import WorstWithinBlocks, worst_within_blocks
from likewise.progress import StepProgress, Steps, shown
from likewise.randomness import generator_of, seed_of
from likewise.report.audit_report import AuditReport
from likewise.report.records import DataSummary

DRAWN_PAIRS = 500
"""Pairs that are drawn unless told otherwise."""
_PILOTS = 0.1
"""Further pairs for each, which tell how similar the most similar pairs are; see `measure_sampled`."""

Population = Literal["data set", "population"]


def audit_partitioned(
    observed: PartitionedMatrix,
    *,
    estimator: str | MatrixEstimator = "svt",
    model: Any = "identity",
    pairs: int = DRAWN_PAIRS,
    reference: str | None = None,
    hold_out: float | None = None,
    least_shared: int | None = None,
    norm: Norm = "l1",
    output_distance: str | None = None,
    nearest_share: float = 0.1,
    lipschitz: float | None = None,
    tolerance: float = 0.0,
    confidence: float = 0.95,
    worst_within: int | None = None,
    memory_limit: float | str = DEFAULT_MEMORY,
    random_state: int | np.random.Generator | None = 0,
    source: str = "parts",
    progress: StepProgress | bool | None = None,
) -> AuditReport:
    """Audit individual fairness on drawn individuals, where the observations need not fit into memory.

    Two individuals for each pair, and a few that tell which pairs are similar, are drawn and read into memory. The matrix is estimated from
    everybody else, in passes over the blocks. Some observations of the drawn are hidden. With the others they are folded into the estimate, as
    new individuals would be, and the algorithm runs on them with and without it. Neither the estimate nor d was made from them, and no two
    pairs share anybody; so intervals speak of the population that the individuals come from.

    Parameters
    ----------
    observed : PartitionedMatrix, shape (m, n)
        Work on its blocks runs on its engine.
    estimator : str or MatrixEstimator, default "svt"
        One that takes blocks. It is cloned, not fitted in place.
    model : str, callable or scikit-learn estimator, default "identity"
        The algorithm h; see `likewise.inference.as_model`. It sees the drawn alone. With ``"identity"`` the output is the complete row. Any other may
        look at several individuals at once; intervals then speak only of pairs of the drawn.
    pairs : int, default 500
        How many to draw.
    reference : {"held-out", "observed", "co-observed", "estimate"}, optional
        As in `audit`, or the name of a registered distance.
    hold_out : float, optional
        Share of the observations of the drawn to hide, in [0, 1). By default 0.1, or 0.5 with reference ``"held-out"``.
    least_shared, norm, output_distance, nearest_share, lipschitz, tolerance, confidence, random_state, source, progress
        As in `audit`.
    worst_within : int, optional
        Also find that many pairs with the largest ratios within blocks; see `worst_within_blocks`.
    memory_limit : float or str, default "1 GiB"
        What complete rows of the drawn may take; `read_partitioned` has a limit for the process.

    Returns
    -------
    AuditReport

    Raises
    ------
    InputError
        Or one of its kinds: too few individuals to draw from, an estimator that does not take blocks, an option out of its range.
    MemoryLimitError
        Complete rows of the drawn do not fit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars as pl
    >>> from likewise import read_partitioned
    >>> from likewise.observations import clustered
    >>> Z = clustered(200, 60, 3, observed_fraction=0.5, random_state=0).observed
    >>> rows, columns = Z.positions()
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pl.DataFrame({"user": rows, "item": columns, "rating": Z.values.data}).write_parquet(folder / "1.parquet")
    >>> with read_partitioned(folder, value_range=(-1, 1)) as Z:
    ...     report = audit_partitioned(Z, pairs=40, reference="observed")
    >>> report.arms["with"].fairness.mean_ratio.population
    'all pairs of the population that the individuals were drawn from'
    """
    checked_instance("observed", observed, PartitionedMatrix, "what read_partitioned returns")
    checked_whole("pairs", pairs)
    if worst_within is not None:
        checked_whole("worst_within", worst_within)
    check_reference("observed" if reference is None else reference)
    wanted = asked_reference(reference, {"least_shared": least_shared})
    algorithm = as_model(model, None, seed_of(random_state))
    preprocessing = as_estimator(estimator, random_state)
    apart = isinstance(model, str) and model == "identity"
    measurement = Measurement(
        nearest_share,
        lipschitz,
        tolerance,
        pairs=pairs,
        confidence=confidence,
        random_state=random_state,
        memory_limit=memory_limit,
        output_distance=output_distance,
        least_shared=least_shared,
        **_speaking_of("population" if apart else "data set"),
    )
    with shown(progress) as reported:
        steps = Steps(reported)
        drawn = _drawn(observed, pairs, measurement)
        found = _Sample.of(observed, drawn, wanted, hold_out, measurement, steps)
        check_model(algorithm, len(drawn))
        with steps.step("estimate the matrix"):
            whole = _fitted_to_others(observed, drawn, preprocessing)
        folded = _folded_in(whole, found.training)
        run = replace(run_fitted(found.training, found.hidden, folded, algorithm, steps), folded_in=True)
        said = _note(observed, drawn, apart=apart), *_searched(observed, whole, worst_within, norm, steps)
        data = _summary(observed, found.sample, run.working_range, source, said)
        own_norm = norm if takes_norm(found.reference) else None
        settings = {"norm": own_norm, **measurement.settings(), "model": algorithm.name, **found.settings()}
        d = reference_distances(found.reference, run, norm, least_shared)
        return make_report(Case(run, found.reference, d, found.measurement, norm, steps), data, settings)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Those who were drawn, with what is hidden of them, and what d is."""

    sample: ObservedMatrix
    hidden: HoldOut | None
    reference: ReferenceChoice
    share: float
    measurement: Measurement

    @classmethod
    def of(
        cls,
        observed: PartitionedMatrix,
        drawn: Indices,
        reference: ReferenceChoice | None,
        share: float | None,
        measurement: Measurement,
        steps: Steps,
    ) -> Self:
        with steps.step("read who was drawn"):
            sample, seed = observed.take_rows(drawn), measurement.random_state
        d, share, measurement = reference_and_share(sample, reference, share, measurement)
        return cls(sample, hide(sample, share, seed, leave_one=d == "held-out"), d, share, measurement)

    def settings(self) -> dict[str, Any]:
        """Return how observations are hidden, and what pairs must share of them where that is what d is measured on."""
        kept = {"least_shared": self.measurement.least_shared} if self.reference == "held-out" else {}
        return {"hold_out": self.share, **kept}

    @property
    def training(self) -> ObservedMatrix:
        """What the algorithm sees."""
        return self.sample if self.hidden is None else self.hidden.training


def _speaking_of(population: Population) -> dict[str, Any]:
    return {"population": population, "paired": {"population": population}}


def _drawn(observed: PartitionedMatrix, pairs: int, measurement: Measurement) -> Indices:
    """Draw whom the audit looks at: two a pair, and a tenth more of pairs that tell which ones are similar."""
    m, n = observed.shape
    n_drawn = 2 * (pairs + ceil(_PILOTS * min(pairs, m)))
    if n_drawn >= m:
        raise ObservationError(
            f"{option('pairs', f'{pairs}')}, for which {n_drawn:,} of {m:,} individuals would be drawn",
            "some left, from whom the matrix is estimated",
            "draw fewer, or audit what in_memory() reads",
        )
    measurement.check_memory((n_drawn, n))
    # In order, as blocks are read one after another.
    return np.sort(generator_of(measurement.random_state).choice(m, n_drawn, replace=False))


def _fitted_to_others(
    observed: PartitionedMatrix, drawn: Indices, estimator: MatrixEstimator
) -> MatrixEstimator:
    # Whoever is drawn is then as new to the estimate as anybody who was not observed.
    with observed.without_rows(drawn, estimates_rows=False) as others:
        fitted: MatrixEstimator = clone(estimator).fit(others)
    return fitted


def _folded_in(fitted: MatrixEstimator, training: ObservedMatrix) -> MatrixEstimator:
    """Return the fitted estimator with the estimate of other individuals."""
    folded = copy(fitted)
    folded.estimate_ = fitted.estimate_.of_rows(training)
    return folded


def _summary(
    observed: PartitionedMatrix,
    sample: ObservedMatrix,
    working_range: str,
    source: str,
    said: tuple[object, ...],
) -> DataSummary:
    """Describe those who were drawn, and what a search among everybody found."""
    drawn_from = f"{source}, drawn from {observed.shape[0]:,} individuals"
    briefs = [found.brief for found in said if isinstance(found, WorstWithinBlocks) and found.pairs]
    told = summarise_data(sample, working_range, drawn_from, tuple(map(str, said)))
    return replace(told, searched=briefs[0] if briefs else None)


def _searched(
    observed: PartitionedMatrix, fitted: MatrixEstimator, count: int | None, norm: Norm, steps: Steps
) -> list[WorstWithinBlocks]:
    if count is None:
        return []
    with steps.step("search within blocks"):
        found = worst_within_blocks(observed, fitted, count, norm=norm)
    return [found]


def _note(observed: PartitionedMatrix, drawn: Indices, *, apart: bool) -> str:
    """Say who was looked at, and of whom intervals speak."""
    who = f"{drawn.size:,} of {observed.shape[0]:,} individuals were drawn; the matrix was estimated from all others, and those who were drawn were folded in"
    if apart:
        return who
    return f"{who}; the algorithm saw nobody but them, and intervals speak of pairs of them alone"
