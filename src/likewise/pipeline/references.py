"""The reference distance d that outputs are held against: one for both arms, or the released code's two."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np

from likewise.errors import ActivityWarning, InputError, unknown_name
from likewise.estimation import LowRankEstimate
from likewise.fairness import ObservedDistance, PairwiseDistance, RowDistance, activity_check
from likewise.fairness.norms import Norm
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import Interval
from likewise.pipeline.result import ReferenceSummary

ReferenceKind = Literal["observed", "estimate"]

_TWO_REFERENCES = (
    "d is taken from the observed data in the arm without pre-processing, and from the estimate in the arm with it. This is the "
    "convention of the paper's released code. It is not a valid before/after comparison: the yardstick changes between the arms."
)


def reference_distances(
    kind: ReferenceKind,
    training: ObservedMatrix,
    estimate: LowRankEstimate | None,
    norm: Norm,
    interval: Interval,
) -> dict[str, PairwiseDistance]:
    """Return the reference distance of each arm; the same object for both where the comparison is valid.

    Parameters
    ----------
    kind : {"observed", "estimate"}
    training : ObservedMatrix
        The observations that the algorithm saw.
    estimate : LowRankEstimate or None
    norm : {"l1", "l2"} or float
    interval : {"symmetric", "unit"}

    Returns
    -------
    dict of str to PairwiseDistance
        For ``"without"`` and ``"with"``.

    Raises
    ------
    InputError
        An unknown kind, or ``"estimate"`` where nothing was estimated.
    """
    if kind not in ("observed", "estimate"):
        raise InputError(*unknown_name("reference", kind, ("observed", "estimate")))
    observed = ObservedDistance(training, norm, interval=interval)
    if kind == "observed":
        return {"without": observed, "with": observed}
    if estimate is None:
        raise InputError("reference 'estimate' without an estimate", "an estimator, or reference 'observed'")
    complete = estimate.on_interval().to_dense()
    return {"without": observed, "with": RowDistance(complete, norm, row_ids=training.row_ids)}


def summarise_reference(
    kind: ReferenceKind, distances: dict[str, PairwiseDistance], caveats: tuple[str, ...]
) -> ReferenceSummary:
    """Describe the reference in words, with whether it lets the arms be compared."""
    one_for_both = distances["without"] is distances["with"]
    if one_for_both:
        return ReferenceSummary(kind, str(distances["with"].description), True, caveats)
    description = (
        f"without: {distances['without'].description}; with: {distances['with'].description}, of the estimate"
    )
    return ReferenceSummary(kind, description, False, (_TWO_REFERENCES, *caveats))


def reference_caveats(
    training: ObservedMatrix, reference: PairwiseDistance, random_state: int | np.random.Generator | None
) -> tuple[str, ...]:
    """Say so where the reference distance mostly measures how much was observed of a person."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ActivityWarning)
        check = activity_check(training, reference, random_state=random_state)
    return (str(check),) if check.measures_activity else ()
