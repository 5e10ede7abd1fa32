"""What every measurement is asked with, checked: outputs as a distance, ids, options, bins, and progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.arrays import as_floats
from likewise.checks import (
    checked_callable,
    checked_instance,
    checked_share,
    checked_whole,
    is_number,
    is_whole,
)
from likewise.errors import DistanceError, InputError, ModelError, ShapeError, option
from likewise.fairness.distances.distance import PairwiseDistance, in_order_of
from likewise.fairness.distances.named_outputs import named_output_distance
from likewise.fairness.distances.rows import RowDistance
from likewise.fairness.metrics.violations import check_lipschitz
from likewise.observations.frames import refuse_output_lines
from likewise.observations.ids import as_id_array
from likewise.observations.index_alignment import aligned
from likewise.progress import Progress


def output_distance(
    name: str,
    outputs: ArrayLike | PairwiseDistance,
    reference: PairwiseDistance,
    how: str | None = None,
    output_ids: NDArray[Any] | None = None,
) -> PairwiseDistance:
    """Return outputs as a distance between the individuals of the reference, compared by l2 unless they are one already.

    `name` is that of the arm, for messages; `how` a name of `OUTPUT_DISTANCES`, in place of l2. Outputs that are a distance already cannot be
    compared anew; ``"top-n"`` and ``"rbo"`` name what lists of items are compared by. `output_ids` are what the columns of the outputs are
    called, for lists of the best of them.
    """
    checked_reference(reference)
    if not isinstance(outputs, PairwiseDistance):
        outputs, _ = aligned(f"outputs of {name!r}", outputs, reference.row_ids)
        refuse_output_lines(outputs)
    try:
        distance = _compared(name, outputs, how, output_ids, reference.row_ids)
    except DistanceError as error:
        raise ModelError(f"outputs of {name!r}: {error.given}", error.expected, error.hint) from error
    if distance.n_individuals != reference.n_individuals:
        raise ShapeError(
            f"{name!r} has {distance.n_individuals} individuals, the reference distance {reference.n_individuals}",
            "one row of outputs for each individual, in the same order",
        )
    if isinstance(outputs, PairwiseDistance):
        return in_order_of(f"outputs of {name!r}", distance, reference.row_ids)
    return distance


_OF_LISTS = {"top-n": "top-N overlap", "rbo": "rank-biased overlap"}
"""What lists of items from files are compared by, in the words of the distance."""


def _compared(
    name: str,
    outputs: ArrayLike | PairwiseDistance,
    how: str | None,
    output_ids: NDArray[Any] | None,
    row_ids: NDArray[Any] | None,
) -> PairwiseDistance:
    if not isinstance(outputs, PairwiseDistance):
        if how is None:
            return RowDistance.of_outputs(outputs)
        fits = row_ids is not None and np.shape(outputs)[:1] == row_ids.shape
        return named_output_distance(how, outputs, output_ids, row_ids=row_ids if fits else None)
    if how is not None and outputs.description.norm != _OF_LISTS.get(how):
        raise InputError(
            f"{option('output_distance', str(how))} for {name!r}, which is {outputs.name}",
            "outputs that are numbers, or no output distance",
        )
    return outputs


def checked_reference(reference: Any) -> PairwiseDistance:
    """Return what outputs are held against; DistanceError for anything but a distance, with how to make one."""
    how = "RowDistance(features) makes one of numbers, ObservedDistance(Z) one of observations"
    distance: PairwiseDistance = checked_instance(
        "reference", reference, PairwiseDistance, "a distance between individuals", how, DistanceError
    )
    return distance


def individual_ids(row_ids: ArrayLike | None, reference: PairwiseDistance) -> NDArray[Any]:
    """Return the names of the individuals: given, or of the reference, or positions."""
    m = reference.n_individuals
    ids = reference.row_ids if row_ids is None else as_id_array(row_ids, "row_ids")
    if ids is not None and ids.shape != (m,):
        raise ShapeError(f"row_ids of shape {ids.shape}", f"one id for each of {m} individuals")
    return np.arange(m) if ids is None else ids


def check_options(
    nearest_share: float, quantiles: Sequence[float], worst: int, lipschitz: float | None, slack: float
) -> None:
    """Raise InputError if an option is out of its range."""
    checked_share("nearest_share", nearest_share, one=True)
    if not isinstance(quantiles, tuple | list | np.ndarray) or not all(
        is_number(q) and 0 <= q <= 1 for q in quantiles
    ):
        raise InputError(option("quantiles", repr(quantiles)), "a list of numbers in [0, 1]")
    checked_whole("worst", worst, 0)
    check_lipschitz(1.0 if lipschitz is None else lipschitz, slack)


_MOST_BINS = 1_000_000


def checked_bins(bins: int | ArrayLike) -> int | NDArray[np.float64]:
    """Return a number of histogram bins, or their edges as an array."""
    if is_whole(bins):
        return checked_whole("bins", bins, most=_MOST_BINS, or_else="increasing edges")
    try:
        edges = as_floats(bins, "bins")
    except InputError as error:
        raise InputError(option("bins", repr(bins)), "a number of bins >= 1 or increasing edges") from error
    if edges.ndim != 1 or edges.size < 2 or not (edges[:-1] < edges[1:]).all():
        raise InputError(option("bins", repr(bins)), "a number of bins >= 1 or increasing edges")
    return edges


def progress_counter(progress: Progress | None, total: int) -> Callable[[int], None]:
    """Return a function that adds up finished pairs and reports them."""
    checked_callable("progress", progress)
    done = [0]

    def advance(pairs: int) -> None:
        done[0] += pairs
        if progress is not None:
            progress(done[0], total)

    return advance
