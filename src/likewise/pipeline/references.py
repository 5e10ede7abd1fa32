"""The reference distance d that outputs are held against, and what has to be said of it wherever a finding rests on it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from itertools import chain
from math import comb
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from likewise.errors import ActivityWarning, InputError, option, unknown_name
from likewise.fairness import (
    CoObservedDistance,
    PairwiseDistance,
    RowDistance,
    activity_check,
    distance_by_name,
)
from likewise.fairness.distances.registry import DISTANCES
from likewise.inference import NearestNeighborModel
from likewise.norms import Norm
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import WorkingRange
from likewise.pipeline.run import Run
from likewise.report.records import Arm, ReferenceSummary

ReferenceKind = Literal["held-out", "observed", "co-observed", "estimate"]
ReferenceChoice = ReferenceKind | str | PairwiseDistance
"""A name, also one that was registered by `likewise.fairness.register_distance`, or a distance."""

_TWO_REFERENCES = (
    "d is taken from the observed data in the arm without pre-processing, and from the estimate in the arm with it. This is the "
    "convention of the paper's released code. It is not a valid before/after comparison: the yardstick changes between the arms."
)

_ZERO_FILLED = ("observed", "held-out")
"""References under which pairs are compared, also or alone, on zero-filled observations."""

_MIXED = "Each arm is measured with a distance of its own, so a change may come from the distance and not from the outputs."

_INSTEAD = (
    'To compare people on what both of them observed, give the reference co-observed: reference="co-observed" in Python, '
    "--reference co-observed on the command line."
)


def reference_distances(
    reference: ReferenceChoice, run: Run, norm: Norm, least_shared: int | None = None
) -> dict[str, PairwiseDistance]:
    """Return the reference distance of each arm; the same object for all where the comparison is valid.

    With ``"held-out"`` it is the distance on zero-filled observations, which stands beside the one on what was kept aside. `least_shared` is that of
    ``"co-observed"``, by default 1. Raises InputError for ``"estimate"`` where nothing was estimated, and for a name where there are no observations.
    """
    if isinstance(reference, PairwiseDistance):
        return dict.fromkeys(run.outputs, reference)
    if run.training is None:
        raise InputError(
            f"reference {reference!r} without observations", "a distance between the individuals"
        )
    if reference not in get_args(ReferenceKind):
        return dict.fromkeys(run.outputs, distance_by_name(reference, run.training))
    kind, options = "observed", {"norm": norm, "working_range": run.working_range}
    if reference == "co-observed":
        kind, options = reference, options | {"least_shared": least_shared or 1}
    references = dict.fromkeys(run.outputs, distance_by_name(kind, run.training, **options))
    if reference == "estimate":
        if run.estimate is None or "with" not in run.outputs:
            raise InputError(
                "reference 'estimate' without an estimate, or without outputs that come from one",
                "an estimator and outputs with pre-processing, or reference 'observed'",
            )
        complete = run.estimate.on_working_range().to_dense()
        references["with"] = RowDistance(complete, norm, row_ids=run.training.row_ids)
    return references


def is_named(reference: object, *names: str) -> bool:
    """Return whether a reference is one of these by name, not a distance."""
    return isinstance(reference, str) and reference in names


def takes_norm(reference: object) -> bool:
    """Return whether d is made here, with a norm; a distance that was given, or one of somebody's own by name, has one of its own, or none."""
    if isinstance(reference, PairwiseDistance):
        return False
    # `in` looks plug-ins up; the registry's list of names does not.
    own = isinstance(reference, str) and reference in DISTANCES
    return not own or is_named(reference, *get_args(ReferenceKind))


def check_reference(reference: ReferenceChoice) -> None:
    """Raise InputError if a reference is neither a distance nor a known name."""
    if isinstance(reference, PairwiseDistance) or (
        isinstance(reference, str) and (reference in get_args(ReferenceKind) or reference in DISTANCES)
    ):
        return
    known = dict.fromkeys((*get_args(ReferenceKind), *DISTANCES.names()))
    given, expected, hint = unknown_name("reference", reference, known)
    is_name = isinstance(reference, str)
    raise InputError(
        given, expected, hint if is_name else "PrecomputedDistance(...) takes a square matrix of distances"
    )


def refuse_other_distance(reference: ReferenceChoice | None) -> None:
    """Raise where completions are asked for beside a d that is not between complete rows."""
    if reference is None or is_named(reference, *_ZERO_FILLED):
        return
    named = reference if isinstance(reference, str) else ""
    raise InputError(
        f"{option('missing_entries', '')} beside {option('reference', named)}".rstrip(),
        "the distance between rows that are complete, reference 'observed'",
        "over all values that missing entries may have, d is l1 or another norm between complete rows",
    )


def summarise_reference(
    reference: ReferenceChoice,
    distances: Mapping[str, PairwiseDistance],
    caveats: tuple[str, ...] = (),
    missing_in_worst: str = "",
) -> ReferenceSummary:
    """Describe the reference in words, with whether it lets the arms be compared; caveats say that it measures activity."""
    kind = reference if isinstance(reference, str) else "given"
    described = {arm: str(distance.description) for arm, distance in distances.items()}
    if len({id(distance) for distance in distances.values()}) == 1:
        one = next(iter(described.values()))
        return ReferenceSummary(kind, one, True, caveats, bool(caveats), missing_in_worst)
    description = "; ".join(f"{arm}: {text}" for arm, text in described.items())
    why = _TWO_REFERENCES if kind == "estimate" else _MIXED
    return ReferenceSummary(kind, description, False, (why, *caveats), bool(caveats), missing_in_worst)


def reference_caveats(
    training: ObservedMatrix | None,
    reference: PairwiseDistance,
    random_state: int | np.random.Generator | None,
) -> tuple[str, ...]:
    """Say so where the reference distance mostly measures how much was observed of an individual; else nothing."""
    if training is None:
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ActivityWarning)
        check = activity_check(training, reference, random_state=random_state)
    if not check.measures_activity:
        return ()
    return (str(check),) if isinstance(reference, CoObservedDistance) else (str(check), _INSTEAD)


_FILL: dict[WorkingRange, str] = {
    "symmetric": "in the middle of the value range",
    "unit": "at the low end of the value range",
}
_OTHER_RANGE = (
    "To set them apart, declare a value range that has no observed value there: value_range=(LOW, HIGH) in Python, --value-range "
    "LOW,HIGH on the command line."
)
_ON_SHARED = (
    "Here d is 0 where two individuals agree on everything that both of them observed, however much they differ elsewhere, and outputs "
    "differ by that."
)
_NEIGHBORS = (
    "Nearest neighbours can treat even equal individuals differently, because nobody is their own neighbour, and of others that are equally "
    "similar the first ones are taken."
)


def why_equal_people_differ(reference: ReferenceChoice, run: Run) -> str:
    """Return the reason in words; empty where nothing is known of the distance."""
    if reference == "co-observed":
        return _ON_SHARED
    if reference not in _ZERO_FILLED or run.training is None:
        return ""
    alike, filled = equal_pairs(run.training, run.working_range)
    meanings = [
        f"for {_pairs(count)} that {meaning}"
        for count, meaning in (
            (alike, "both observed the same values of the same features"),
            (
                filled,
                f"they observed different features, where a value {_FILL[run.working_range]} counts as a missing one does",
            ),
        )
        if count
    ]
    if not meanings:  # distances too small for a number
        return ""
    words = f"Distance 0 means {', and '.join(meanings)}." + (f" {_OTHER_RANGE}" if filled else "")
    by_neighbors = any(isinstance(trained.model, NearestNeighborModel) for trained in run.trained.values())
    return f"{words} {_NEIGHBORS}" if alike and by_neighbors else words


def _pairs(count: int) -> str:
    return f"{count:,} {'pair' if count == 1 else 'pairs'}"


def equal_pairs(observed: ObservedMatrix, working_range: WorkingRange) -> tuple[int, int]:
    """Count the pairs whose zero-filled rows are equal: those that observed the same values of the same features, and those equal only once filled.

    >>> ratings = np.array([[5, 3, np.nan], [5, np.nan, 3], [5, 3, np.nan], [1, np.nan, np.nan]])
    >>> equal_pairs(ObservedMatrix(ratings, value_range=(1, 5)), "symmetric")
    (1, 2)
    """
    values = observed.scaled(working_range).values
    numbers = values.data + 0.0  # a zero has no sign here
    alike = _equal_rows(values.indptr, values.indices, numbers)
    stored = numbers != 0
    ends = np.concatenate([[0], np.cumsum(stored)])[values.indptr]
    return alike, _equal_rows(ends, values.indices[stored], numbers[stored]) - alike


def _equal_rows(
    indptr: NDArray[np.integer], indices: NDArray[np.integer], values: NDArray[np.float64]
) -> int:
    """Count the pairs of rows with the same content."""
    contents = Counter(
        blake2b(indices[start:stop].tobytes() + values[start:stop].tobytes(), digest_size=16).digest()
        for start, stop in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)
    )
    return sum(comb(count, 2) for count in contents.values())


_A_TABLE = 0.5
"""Observed share from which a missing value is the exception: below it, as in ratings, missing is the rule and says nothing of a pair."""

_COUNTS_AS: dict[WorkingRange, str] = {
    "symmetric": "the middle of its value range",
    "unit": "the low end of its value range",
}


def missing_in_worst_pairs(arms: Mapping[str, Arm], reference: ReferenceChoice, run: Run) -> str:
    """Count the pairs among those listed as worst in which somebody has a missing value, in words.

    Empty where there is no such pair, where observations were hidden by the audit itself, where less than half is observed, and where d does not fill
    missing values.
    """
    if reference not in _ZERO_FILLED or run.training is None or run.hidden is not None:
        return ""
    if run.training.observed_fraction < _A_TABLE:
        return ""
    incomplete = _with_missing_values(run.training)
    worst = list(chain.from_iterable(arm.fairness.worst for arm in arms.values()))
    count = sum(pair.left in incomplete or pair.right in incomplete for pair in worst)
    if not count:
        return ""
    return (
        f"In {count:,} of the {len(worst):,} worst pairs someone has a missing value, which counts as {_COUNTS_AS[run.working_range]} under this "
        "d, so that two people can look nearly equal who are not: look at these pairs before you conclude, or take individuals without "
        "missing values."
    )


def _with_missing_values(observed: ObservedMatrix) -> set[object]:
    """Return the ids of the individuals of whom not every feature was observed, as worst pairs name them."""
    m, n = observed.shape
    ids = np.arange(m) if observed.row_ids is None else observed.row_ids
    return set(ids[np.diff(observed.values.indptr) < n].tolist())
