"""Error against fairness from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, Token

from likewise.cli.config import FILE as CONFIGURATION
from likewise.cli.config import resolved
from likewise.cli.options import COMPLETING, READING, EstimatorOptions, ReadOptions
from likewise.cli.results import PLAN, PlanOptions, data_plan
from likewise.cli.values import NewPath, OldPath, Whole, existing, refuse_to_overwrite
from likewise.errors import InputError, option
from likewise.progress import StepBars

if TYPE_CHECKING:
    from likewise.estimation import MatrixEstimator
    from likewise.observations import ObservedMatrix


def _numbers(_: Any, tokens: Sequence[Token]) -> tuple[float, ...]:
    """Read ``1,0.5,0.25``."""
    return tuple(float(part) for part in tokens[0].value.split(","))


Budgets = Annotated[
    Any, Parameter(converter=_numbers, n_tokens=1, metavar="L,L,...", allow_leading_hyphen=True)
]


def frontier(
    ratings: OldPath,
    /,
    *,
    out: NewPath,
    budgets: Budgets = None,
    model: str = "identity",
    hold_out: float = 0.1,
    reference: Literal["observed", "co-observed"] = "observed",
    norm: str = "l1",
    nearest_share: float = 0.1,
    pairs: Whole = None,
    repair: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(negative=())] = False,
    plan: PlanOptions = PLAN,
    completing: EstimatorOptions = COMPLETING,
    reading: ReadOptions = READING,
) -> None:
    """Show what fairness costs: the error at every budget for the proved constant K* of pre-processing.

    Parameters
    ----------
    ratings
        File of observations.
    out
        Folder for frontier.json, frontier.csv, figures and config.toml.
    budgets
        Values of L, separated by commas: at each the estimate is the nearest one with K* at most L. By default 0.9, 0.75, 0.5, 0.35, 0.25
        and 0.1 of the constant without a budget.
    model
        The algorithm that runs on the estimate: identity, smooth-knn, knn, knn-co-raters, or package.module:name for your own.
    hold_out
        Share of the observations that is hidden to measure the error on.
    reference
        What individuals are compared by, the same at every budget.
    norm
        Norm of the reference distance: l1, l2, linf, or any q from 1, such as l3.
    nearest_share
        Share of the pairs that counts as most similar.
    pairs
        Draw that many pairs and give intervals; by default all pairs where that is cheap.
    repair
        Also repair the outputs to the same L at every budget: which costs less? Takes minutes for many people with many outputs.
    quiet
        Print no table and no progress.
    """
    configuration = resolved("frontier", locals())
    existing(ratings)
    from likewise.report.frontier import FILES, check_frontier_folder

    refuse_to_overwrite([ratings], [out / name for name in (*FILES, CONFIGURATION)])
    check_frontier_folder(out)
    estimator = completing.make_estimator("auto")
    _refuse_own_budget(estimator)
    import likewise
    from likewise.writing import write_file

    with StepBars(quiet=quiet) as progress:
        progress("read the file", 0, 1)
        observed = reading.read(ratings)
        if plan.tells(_plan(observed, estimator, budgets, pairs), configuration):
            return
        found = likewise.frontier(
            observed,
            estimator=estimator,
            model=model,
            budgets=budgets,
            hold_out=hold_out,
            reference=reference,
            norm=norm,
            nearest_share=nearest_share,
            pairs=pairs,
            repair=repair,
            random_state=completing.random_state,
            source=ratings.name,
            progress=progress,
        )
    figure = found.save(out)
    write_file(out / CONFIGURATION, configuration)
    if not quiet:
        print(f"{found}\n\nFigure: {figure}")


def _plan(
    observed: ObservedMatrix, estimator: MatrixEstimator, budgets: Sequence[float] | None, pairs: int | None
) -> list[str]:
    """Say what would be estimated at which budgets, and what memory that takes."""
    from likewise.pipeline.measurement import Measurement

    measurement = Measurement(pairs="all" if pairs is None else pairs)
    limits = "chosen from the constant without one" if budgets is None else ", ".join(map(str, budgets))
    return [
        *data_plan(observed),
        f"estimator: {' '.join(repr(estimator).split())}",
        f"budgets: {limits}",
        f"memory: {measurement.needed_memory(observed.shape, runs_model=True)}",
    ]


def _refuse_own_budget(estimator: MatrixEstimator) -> None:
    """Raise where the estimator was given a budget, which those of the frontier would replace without a word."""
    limit = estimator.get_params(deep=False).get("max_lipschitz")
    if limit is not None:
        raise InputError(
            option("max_lipschitz", repr(limit)),
            "no budget but those of the frontier",
            "give --budgets L,L,...",
        )
