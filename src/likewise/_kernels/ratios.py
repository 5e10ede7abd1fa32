"""Ratios D / d, excesses D - L d, and the largest of them, of pairs in NumPy."""

from __future__ import annotations

import numpy as np

from likewise._typing import Floats, Indices

PAIR_COLUMNS: dict[str, type] = {
    "ratio": np.float64,
    "output": np.float64,
    "reference": np.float64,
    "left": np.intp,
    "right": np.intp,
}
"""What is kept of a pair that is among those with the largest ratios."""

TIE = 3e-9
"""Two measurements of one distance, each within a share e = 1e-9 of it, differ by a factor of at most ``(1 + e) / (1 - e) < 1 + 3 e``."""


def pair_ratios(output: Floats, reference: Floats) -> Floats:
    """Return D / d of each pair: 0 where both are 0 (no violation), infinite where only d is.

    Examples
    --------
    >>> pair_ratios(np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 0.0]))
    array([0.5, 0. , inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = output / reference
    ratios[(reference == 0) & (output == 0)] = 0.0
    return ratios


def excesses(output: Floats, reference: Floats, lipschitz: float) -> Floats:
    """Return ``max(0, D - L d)``; 0 also where it is no more than rounding, see `beyond_rounding`.

    Examples
    --------
    >>> excesses(np.array([0.1 + 0.2, 3.0]), np.array([0.3, 1.0]), 1.0)
    array([0., 2.])
    """
    with np.errstate(over="ignore"):  # what is beyond the largest number is more than any D
        excess = reference * -lipschitz
    excess += output
    return beyond_rounding(excess, output)


def beyond_rounding(excess: Floats, output: Floats) -> Floats:
    """Set to 0, in place, what is below 0 or may be rounding: both distances can be off by a share of `TIE` / 3, and so D = L d seem a violation."""
    excess[excess <= TIE * output] = 0.0
    return excess


def largest_places(ratios: Floats, output: Floats, count: int) -> Indices:
    """Return the places of the `count` largest ratios, largest first; ties by output distance, then by place.

    Examples
    --------
    >>> largest_places(np.array([1.0, 3.0, 3.0, 2.0]), np.array([5.0, 1.0, 4.0, 9.0]), 3)
    array([2, 1, 3])
    """
    candidates = np.arange(ratios.size)
    if count < ratios.size:
        # First by ratio, then among ties by output distance: neither sorts them all, even where all are tied.
        above, tied = _split(candidates, ratios, count)
        above_tied, last = _split(tied, output, count - above.size)
        candidates = np.concatenate([above, above_tied, last[: count - above.size - above_tied.size]])
    order = np.lexsort((candidates, -output[candidates], -ratios[candidates]))
    return np.asarray(candidates[order])


def _split(places: Indices, values: Floats, count: int) -> tuple[Indices, Indices]:
    """Return which places have a value above the count-th largest of theirs, and which have that value."""
    if not count:
        return places[:0], places[:0]
    mine = values[places]
    threshold = np.partition(mine, mine.size - count)[mine.size - count]
    return places[mine > threshold], places[mine == threshold]
