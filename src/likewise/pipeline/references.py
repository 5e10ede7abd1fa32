"""The reference distance d that outputs are held against: one for both arms, or the released code's two."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np

from likewise.errors import ActivityWarning, InputError, unknown_name
from likewise.fairness import (
    CoObservedDistance,
    ObservedDistance,
    PairwiseDistance,
    RowDistance,
    activity_check,
)
from likewise.norms import Norm
from likewise.observations import ObservedMatrix
from likewise.pipeline.run import Run
from likewise.report.records import ReferenceSummary

ReferenceKind = Literal["observed", "co-observed", "estimate"]
ReferenceChoice = ReferenceKind | PairwiseDistance

_TWO_REFERENCES = (
    "d is taken from the observed data in the arm without pre-processing, and from the estimate in the arm with it. This is the "
    "convention of the paper's released code. It is not a valid before/after comparison: the yardstick changes between the arms."
)

_INSTEAD = (
    'To compare people on what both of them observed, give the reference co-observed: reference="co-observed" in Python, '
    "--reference co-observed on the command line."
)


def reference_distances(reference: ReferenceChoice, run: Run, norm: Norm) -> dict[str, PairwiseDistance]:
    """Return the reference distance of each arm; the same object for all where the comparison is valid.

    Parameters
    ----------
    reference : {"observed", "co-observed", "estimate"} or PairwiseDistance
    run : Run
    norm : {"l1", "l2"} or float
        Of a distance that is made here.

    Returns
    -------
    dict of str to PairwiseDistance

    Raises
    ------
    InputError
        ``"estimate"`` where nothing was estimated, or a name where there are no observations.
    """
    if isinstance(reference, PairwiseDistance):
        return dict.fromkeys(run.outputs, reference)
    if run.training is None:
        raise InputError(
            f"reference {reference!r} without observations", "a distance between the individuals"
        )
    kind = CoObservedDistance if reference == "co-observed" else ObservedDistance
    references: dict[str, PairwiseDistance] = dict.fromkeys(
        run.outputs, kind(run.training, norm, working_range=run.working_range)
    )
    if reference == "estimate":
        if run.estimate is None or "with" not in run.outputs:
            raise InputError(
                "reference 'estimate' without an estimate, or without outputs that come from one",
                "an estimator and outputs with pre-processing, or reference 'observed'",
            )
        complete = run.estimate.on_working_range().to_dense()
        references["with"] = RowDistance(complete, norm, row_ids=run.training.row_ids)
    return references


def check_reference(reference: ReferenceChoice) -> None:
    """Raise InputError if a reference is neither a distance nor a known name."""
    if not isinstance(reference, PairwiseDistance) and reference not in get_args(ReferenceKind):
        raise InputError(*unknown_name("reference", reference, get_args(ReferenceKind)))


def summarise_reference(
    reference: ReferenceChoice, distances: Mapping[str, PairwiseDistance], caveats: tuple[str, ...]
) -> ReferenceSummary:
    """Describe the reference in words, with whether it lets the arms be compared."""
    kind = reference if isinstance(reference, str) else "given"
    described = {arm: str(distance.description) for arm, distance in distances.items()}
    if len({id(distance) for distance in distances.values()}) == 1:
        return ReferenceSummary(kind, next(iter(described.values())), True, caveats)
    description = f"without: {described['without']}; with: {described['with']}, of the estimate"
    return ReferenceSummary(kind, description, False, (_TWO_REFERENCES, *caveats))


def reference_caveats(
    training: ObservedMatrix | None,
    reference: PairwiseDistance,
    random_state: int | np.random.Generator | None,
) -> tuple[str, ...]:
    """Say so where the reference distance mostly measures how much was observed of a person."""
    if training is None:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ActivityWarning)
        check = activity_check(training, reference, random_state=random_state)
    if not check.measures_activity:
        return ()
    return (str(check),) if isinstance(reference, CoObservedDistance) else (str(check), _INSTEAD)
