"""Why some individuals are at distance 0 and yet get different outputs: said wherever a ratio is infinite."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from math import comb

import numpy as np
from numpy.typing import NDArray

from likewise.inference.neighbor_model import NearestNeighborModel
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import Interval
from likewise.pipeline.references import ReferenceChoice
from likewise.pipeline.run import Run

_FILL: dict[Interval, str] = {
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
    """Return the reason in words; empty where nothing is known of the distance.

    Parameters
    ----------
    reference : {"observed", "co-observed", "estimate"} or PairwiseDistance
    run : Run

    Returns
    -------
    str
    """
    if reference == "co-observed":
        return _ON_SHARED
    if reference != "observed" or run.training is None:
        return ""
    alike, filled = equal_pairs(run.training, run.interval)
    meanings = [
        f"for {_pairs(count)} that {meaning}"
        for count, meaning in (
            (alike, "both observed the same values of the same features"),
            (
                filled,
                f"they observed different features, where a value {_FILL[run.interval]} counts as a missing one does",
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


def equal_pairs(observed: ObservedMatrix, interval: Interval) -> tuple[int, int]:
    """Count the pairs whose zero-filled rows are equal.

    Parameters
    ----------
    observed : ObservedMatrix
    interval : {"symmetric", "unit"}
        On which missing entries become 0.

    Returns
    -------
    alike, filled : int
        Pairs that observed the same values of the same features; pairs that are equal only once missing entries are filled.

    Examples
    --------
    >>> ratings = np.array([[5, 3, np.nan], [5, np.nan, 3], [5, 3, np.nan], [1, np.nan, np.nan]])
    >>> equal_pairs(ObservedMatrix(ratings, value_range=(1, 5)), "symmetric")
    (1, 2)
    """
    values = observed.scaled(interval).values
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
