"""The estimate itself as the outputs, beside an algorithm that runs on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from likewise.fairness import ErrorMetrics
from likewise.fairness.held_out import HeldOutFairness
from likewise.inference import TrainedModel
from likewise.pipeline.run import Run
from likewise.pipeline.summaries import ESTIMATE, Proved
from likewise.report.records import EstimateAlone, Sandwich


def with_estimate(run: Run) -> Run:
    """Add the estimate itself to what ran, where an algorithm ran on it whose outputs can be held against it; else nothing.

    Parameters
    ----------
    run : Run

    Returns
    -------
    Run
        With an arm ``"estimate"``, or the same.
    """
    algorithm = run.trained.get("with")
    if (
        run.estimate is None
        or algorithm is None
        or algorithm.model == "identity"
        or run.hidden_errors("with") is None
    ):
        return run
    itself = TrainedModel("identity", function=lambda rows: rows)
    return replace(
        run,
        outputs={**run.outputs, ESTIMATE: run.estimate.on_working_range().to_dense()},
        trained={**run.trained, ESTIMATE: itself},
    )


def summarise_estimate_alone(
    errors: Mapping[str, ErrorMetrics | None],
    truth: HeldOutFairness | None,
    proved: Mapping[str, Proved],
    sandwiches: Mapping[str, Sandwich],
) -> EstimateAlone | None:
    """Describe the estimate itself; None where it is not among what ran."""
    if ESTIMATE not in proved:
        return None
    return EstimateAlone(
        error=errors.get(ESTIMATE),
        on_truth=None if truth is None else truth.arms[ESTIMATE],
        certificate=proved[ESTIMATE],
        sandwich=sandwiches.get(ESTIMATE),
    )
