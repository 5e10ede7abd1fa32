"""What every measurement is asked with, checked: outputs as a distance, ids, options, bins, and progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.checks import checked_share, checked_whole, is_whole
from likewise.errors import DistanceError, InputError, ModelError, ShapeError, option
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.rows import RowDistance
from likewise.fairness.metrics.violations import check_lipschitz
from likewise.observations.frames import refuse_output_lines
from likewise.observations.index_alignment import check_order
from likewise.progress import Progress


def output_distance(
    name: str, outputs: ArrayLike | PairwiseDistance, reference: PairwiseDistance
) -> PairwiseDistance:
    """Return outputs as a distance between the individuals of the reference, compared by l2 unless they are one already."""
    if not isinstance(outputs, PairwiseDistance):
        refuse_output_lines(outputs)
    try:
        distance = outputs if isinstance(outputs, PairwiseDistance) else RowDistance.of_outputs(outputs)
    except DistanceError as error:
        raise ModelError(f"outputs of {name!r}: {error.given}", error.expected, error.hint) from error
    if distance.n_individuals != reference.n_individuals:
        raise ShapeError(
            f"{name!r} has {distance.n_individuals} individuals, the reference distance {reference.n_individuals}",
            "one row of outputs for each individual, in the same order",
        )
    check_order(f"outputs of {name!r}", outputs, reference.row_ids)
    return distance


def individual_ids(row_ids: ArrayLike | None, reference: PairwiseDistance) -> NDArray[Any]:
    """Return the names of the individuals: given, or of the reference, or positions."""
    m = reference.n_individuals
    ids = reference.row_ids if row_ids is None else np.asarray(row_ids)
    if ids is not None and ids.shape != (m,):
        raise ShapeError(f"row_ids of shape {ids.shape}", f"one id for each of {m} individuals")
    return np.arange(m) if ids is None else ids


def check_options(
    nearest_share: float, quantiles: Sequence[float], worst: int, lipschitz: float | None, slack: float
) -> None:
    """Raise InputError if an option is out of its range."""
    checked_share("nearest_share", nearest_share, one=True)
    if not all(0 <= q <= 1 for q in quantiles):
        raise InputError(option("quantiles", repr(tuple(quantiles))), "numbers in [0, 1]")
    checked_whole("worst", worst, 0)
    check_lipschitz(1.0 if lipschitz is None else lipschitz, slack)


def checked_bins(bins: int | ArrayLike) -> int | NDArray[np.float64]:
    """Return a number of histogram bins, or their edges as an array."""
    if is_whole(bins) and bins >= 1:
        return int(bins)
    edges = np.asarray(bins, dtype=np.float64)
    if edges.ndim != 1 or edges.size < 2 or not (np.diff(edges) > 0).all():
        raise InputError(option("bins", repr(bins)), "a number of bins >= 1 or increasing edges")
    return edges


def progress_counter(progress: Progress | None, total: int) -> Callable[[int], None]:
    """Return a function that adds up finished pairs and reports them."""
    done = [0]

    def advance(pairs: int) -> None:
        done[0] += pairs
        if progress is not None:
            progress(done[0], total)

    return advance
