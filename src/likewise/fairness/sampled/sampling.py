"""Draw pairs of individuals so that what is seen on them can be told of all others.

With replacement from all pairs of a data set, the draws are independent although the pairs share people: intervals speak of this data
set. Disjoint pairs of independent individuals are independent as well: intervals speak of the population the individuals come from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isnan

import numpy as np

from likewise._typing import Floats, Indices
from likewise.checks import checked_non_negative, is_whole
from likewise.errors import InputError, option
from likewise.fairness.distances.cancellation import RELATIVE_ERROR
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.blocks import pair_count, pair_positions

DATA_SET = "all pairs of this data set"
"""What exact metrics and draws with replacement speak of."""

POPULATION = "all pairs of the population that the individuals were drawn from"
"""What disjoint pairs of independent individuals speak of."""

_PAIRS_AT_ONCE = 1 << 14


def draw_pairs(n_individuals: int, n_pairs: int, generator: np.random.Generator) -> tuple[Indices, Indices]:
    """Draw pairs i < j uniformly from all pairs, with replacement; InputError for fewer than 1 or more than there are.

    With as many draws as there are pairs, every pair could be measured.

    >>> left, right = draw_pairs(100, 1000, np.random.default_rng(0))
    >>> bool((left < right).all())
    True
    """
    _check_number(n_pairs, pair_count(n_individuals), "pairs", "measure_fairness covers every pair exactly")
    return pair_positions(generator.integers(pair_count(n_individuals), size=n_pairs), n_individuals)


def draw_disjoint_pairs(
    n_individuals: int, n_pairs: int, generator: np.random.Generator
) -> tuple[Indices, Indices]:
    """Draw pairs i < j of which no two share an individual: part of a uniformly random perfect matching.

    InputError for fewer than 1, or more than half the individuals.

    >>> left, right = draw_disjoint_pairs(7, 3, np.random.default_rng(0))
    >>> len({*left.tolist(), *right.tolist()})
    6
    """
    _check_number(n_pairs, n_individuals // 2, "disjoint pairs", "draw fewer, or leave n_pairs out")
    # Neighbours in a random order are a uniform matching; part of them is a uniform part.
    couples = generator.permutation(n_individuals)[: 2 * n_pairs].reshape(n_pairs, 2)
    couples.sort(axis=1)
    return couples[:, 0], couples[:, 1]


def measure_pairs(
    distance: PairwiseDistance, left: Indices, right: Indices, advance: Callable[[int], None] = lambda _: None
) -> Floats:
    """Measure given pairs, some thousands at a time; `advance` is called with the number of pairs that each part added."""
    measured = np.empty(len(left))
    for start in range(0, len(left), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        measured[part] = distance.between(left[part], right[part])
        advance(len(left[part]))
    return measured


def _check_number(n_pairs: int, most: int, what: str, hint: str) -> None:
    if not is_whole(n_pairs) or not 1 <= n_pairs <= most:
        raise InputError(
            option("n_pairs", repr(n_pairs)), f"a whole number from 1 to {most:,}, the number of {what}", hint
        )


@dataclass(frozen=True)
class Bounds:
    """Numbers that no pair of those spoken of exceeds; None where none is known.

    Of D / d, D and d; InputError for one that is negative, infinite or NaN.
    """

    ratio: float | None = None
    output: float | None = None
    reference: float | None = None

    def __post_init__(self) -> None:
        for name, bound in vars(self).items():
            if bound is not None:
                checked_non_negative(f"{name}_bound", bound, "None")

    def check(self, **drawn: Floats) -> None:
        """Raise InputError if a drawn pair exceeds a bound."""
        for name, values in drawn.items():
            bound, largest = getattr(self, name), float(values.max())
            if bound is not None and largest > bound:
                given = f"{name}_bound={bound:.6g}, yet a pair drawn has {largest:.6g}"
                raise InputError(
                    given, "a number that no pair exceeds", f"leave {name}_bound out if none is known"
                )


def distance_bound(distance: PairwiseDistance) -> float | None:
    """Bound a distance over all pairs of a data set: by what is known of it, or by measuring everybody against one individual.

    The smaller one of what no such distance exceeds and of ``2 max_i d(i, 0)``, by the triangle inequality; None where neither is known.

    >>> from likewise.fairness import RowDistance
    >>> round(distance_bound(RowDistance([1.0, 0.0, 4.0])), 6)  # the largest is 4
    6.0
    """
    known = inf if distance.upper_bound is None else distance.upper_bound
    if distance.description.axioms in ("metric", "pseudometric"):
        others = np.arange(1, distance.n_individuals)
        # Small distances that were set to 0 count as they were: without them the inequality can fail.
        farthest = float(measure_pairs(distance.unresolved(), np.zeros_like(others), others).max())
        if not isnan(farthest):
            known = min(known, 2 * farthest)
    return known * (1 + RELATIVE_ERROR) if known < inf else None
