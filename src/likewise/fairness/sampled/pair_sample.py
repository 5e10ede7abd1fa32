"""Draw the pairs of an audit and measure them: from this data set with replacement, or disjoint ones for the population."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from likewise._typing import Floats, Indices
from likewise.checks import checked_name, checked_non_negative, checked_whole
from likewise.errors import InputError, option
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.blocks import pair_count, pair_places
from likewise.fairness.metrics.ratios import order_statistics, share_rank
from likewise.fairness.options import progress_counter
from likewise.fairness.sampled.claims import Claims
from likewise.fairness.sampled.intervals.interval import tail_errors
from likewise.fairness.sampled.sampling import (
    DATA_SET,
    POPULATION,
    draw_disjoint_pairs,
    draw_pairs,
    measure_pairs,
)
from likewise.memory import ensure_fits
from likewise.progress import Progress

DEFAULT_PAIRS = 100_000

POPULATIONS = ("data set", "population")

_BYTES_A_PAIR = 120
"""Both individuals, both distances, the ratio, and working copies of them for an interval."""

_PILOT = 10
"""With ten pairs goes one that only tells what counts as similar."""


@dataclass(frozen=True)
class Plan:
    """Which pairs to draw and what to claim from them; see `measure_sampled`."""

    n_pairs: int | None
    population: str
    confidence: float
    means: str | None
    nearest_share: float
    nearest_radius: float | None

    def __post_init__(self) -> None:
        tail_errors(self.confidence)
        checked_name("population", self.population, POPULATIONS)
        n_pairs, radius = self.n_pairs, self.nearest_radius
        if n_pairs is not None:
            checked_whole("n_pairs", n_pairs)
        if radius is not None:
            checked_non_negative("nearest_radius", radius)

    def pilot(self, number: int) -> int:
        """Return how many pilots go with a number of pairs: none where the radius is given."""
        return 0 if self.nearest_radius is not None else ceil(number / _PILOT)

    def radius(self, pilot: Floats) -> float:
        """Return the radius given, or that of the nearest share of pilot pairs; NaN if no pilot has a defined distance."""
        if self.nearest_radius is not None:
            return self.nearest_radius
        known = pilot[~np.isnan(pilot)]
        return (
            order_statistics(known, [share_rank(self.nearest_share, known.size)])[0] if known.size else np.nan
        )


@dataclass(frozen=True, eq=False)
class DrawnPairs:
    """Pairs with both distances, and what may be claimed from them.

    Parameters
    ----------
    places : ndarray of int, shape (n_pairs,)
        Where each pair stands in the vector of all pairs.
    reference : ndarray, shape (n_pairs,)
        d; NaN where it is not defined.
    output : ndarray, shape (n_pairs,)
        D.
    radius : float
        Pairs at most this far apart count as most similar. It was found on other pairs, so it is a fixed number for these.
    claims : Claims
    """

    places: Indices
    reference: Floats
    output: Floats
    radius: float
    claims: Claims


def draw(
    output: PairwiseDistance,
    reference: PairwiseDistance,
    plan: Plan,
    generator: np.random.Generator,
    progress: Progress | None = None,
) -> DrawnPairs:
    """Draw independent pairs by a plan and measure them; of further pairs, only their reference distance.

    Raises
    ------
    InputError
        More pairs than there are.
    MemoryLimitError
        More pairs than fit into memory.
    """
    m = reference.n_individuals
    if plan.n_pairs is not None:
        ensure_fits(_BYTES_A_PAIR * plan.n_pairs, f"{plan.n_pairs:,} drawn pairs", "draw fewer pairs")
    of_data_set = plan.population == "data set"
    (left, right), pilots = (_with_replacement if of_data_set else _disjoint)(m, plan, generator)
    advance = progress_counter(progress, 2 * left.size + pilots[0].size)
    return DrawnPairs(
        pair_places(left, right, m),
        measure_pairs(reference, left, right, advance),
        measure_pairs(output, left, right, advance),
        plan.radius(measure_pairs(reference, *pilots, advance)),
        Claims(DATA_SET if of_data_set else POPULATION, plan.confidence, plan.means or "betting"),
    )


Pairs = tuple[Indices, Indices]


def _with_replacement(m: int, plan: Plan, generator: np.random.Generator) -> tuple[Pairs, Pairs]:
    """Draw pairs and pilots from all pairs of the data set."""
    n_pairs = min(DEFAULT_PAIRS, pair_count(m)) if plan.n_pairs is None else plan.n_pairs
    pairs = draw_pairs(m, n_pairs, generator)
    n_pilots = plan.pilot(n_pairs)
    return pairs, draw_pairs(m, n_pilots, generator) if n_pilots else _no_pairs()


def _disjoint(m: int, plan: Plan, generator: np.random.Generator) -> tuple[Pairs, Pairs]:
    """Draw pairs and pilots of which no two share an individual; by default as many as there are."""
    most = m // 2
    n_pairs = most if plan.n_pairs is None else plan.n_pairs
    if plan.n_pairs is None and plan.nearest_radius is None:
        n_pairs = most * _PILOT // (_PILOT + 1)
    n_pilots = plan.pilot(n_pairs)
    if n_pairs >= 1 and n_pairs + n_pilots > most:
        given = f"{option('n_pairs', str(n_pairs))} disjoint pairs and {n_pilots} pilots of {m:,} individuals"
        raise InputError(given, f"at most {most:,} in all", "leave n_pairs out, or give nearest_radius")
    left, right = draw_disjoint_pairs(m, n_pairs + n_pilots, generator)
    return (left[:n_pairs], right[:n_pairs]), (left[n_pairs:], right[n_pairs:])


def _no_pairs() -> Pairs:
    return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
