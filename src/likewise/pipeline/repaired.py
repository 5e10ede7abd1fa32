"""Repair beside pre-processing: the outputs without a budget, repaired until they are as fair as a budget makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.certificates import Certificate, LipschitzCertificates, RegressionCertificate
from likewise.errors import InputError, option
from likewise.fairness import ObservedDistance, PairwiseDistance, PatternDistance
from likewise.fairness import repair as repair_outputs
from likewise.pipeline.run import Run
from likewise.progress import Progress
from likewise.report.repaired import RepairedPoint


def metric_of(certificates: LipschitzCertificates, run: Run) -> PairwiseDistance:
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


def repaired_point(
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
