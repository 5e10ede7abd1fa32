"""Draw the pairs of an audit and measure them: from this data set, disjoint ones for the population, or all of them for the population."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats, Indices
from likewise.checks import checked_non_negative, checked_whole
from likewise.errors import DistanceError, InputError, option, unknown_name
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.blocks import all_pairs, pair_count, pair_places, pair_starts
from likewise.fairness.metrics.ratios import order_statistics, share_rank
from likewise.fairness.options import progress_counter
from likewise.fairness.sampled.claims import AllPairs, Claims, IndependentPairs
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

_BYTES_A_PAIR = 120
"""Both individuals, both distances, the ratio, and working copies of them for an interval."""

_PILOT = 10
"""With ten pairs, or individuals where all pairs are measured, goes one that only tells what counts as similar."""


@dataclass(frozen=True)
class Plan:
    """Which pairs to draw and what to claim from them; see `measure_sampled`."""

    n_pairs: int | None
    population: str
    pairs: str
    confidence: float
    means: str | None
    nearest_share: float
    nearest_radius: float | None

    def __post_init__(self) -> None:
        tail_errors(self.confidence)
        n_pairs, radius = self.n_pairs, self.nearest_radius
        if n_pairs is not None:
            checked_whole("n_pairs", n_pairs)
        if radius is not None:
            checked_non_negative("nearest_radius", radius)

    def pilot(self, number: int) -> int:
        """Return how many pilots go with a number of pairs or individuals: none where the radius is given."""
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
    """Draw pairs by a plan and measure them.

    Raises
    ------
    InputError
        An unknown population or choice of pairs, or more pairs than there are.
    DistanceError
        All pairs of a population where some reference distance is not defined.
    MemoryLimitError
        All pairs where there are too many.
    """
    for kind, name, known in (
        ("population", plan.population, ("data set", "population")),
        ("choice of pairs", plan.pairs, ("sampled", "all")),
    ):
        if name not in known:
            raise InputError(*unknown_name(kind, name, known))
    if plan.pairs == "sampled":
        return _sampled(output, reference, plan, generator, progress)
    if plan.population == "data set":
        given = f"{option('pairs', repr('all'))} of the data set"
        raise InputError(given, "sampled pairs", "measure_fairness covers every pair of the data set exactly")
    return _all_pairs(output, reference, plan, generator, progress)


def _sampled(
    output: PairwiseDistance,
    reference: PairwiseDistance,
    plan: Plan,
    generator: np.random.Generator,
    progress: Progress | None,
) -> DrawnPairs:
    """Measure independent pairs, and the reference distance of pilots."""
    m = reference.n_individuals
    if plan.n_pairs is not None:
        ensure_fits(_BYTES_A_PAIR * plan.n_pairs, f"{plan.n_pairs:,} drawn pairs", "draw fewer pairs")
    if plan.population == "data set":
        (left, right), pilots = _with_replacement(m, plan, generator)
    else:
        (left, right), pilots = _disjoint(m, plan, generator)
    advance = progress_counter(progress, 2 * left.size + pilots[0].size)
    claims = IndependentPairs(
        DATA_SET if plan.population == "data set" else POPULATION, plan.confidence, plan.means or "betting"
    )
    return DrawnPairs(
        pair_places(left, right, m),
        measure_pairs(reference, left, right, advance),
        measure_pairs(output, left, right, advance),
        plan.radius(measure_pairs(reference, *pilots, advance)),
        claims,
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


def _all_pairs(
    output: PairwiseDistance,
    reference: PairwiseDistance,
    plan: Plan,
    generator: np.random.Generator,
    progress: Progress | None,
) -> DrawnPairs:
    """Measure all pairs of nine individuals in ten; those among the others are pilots."""
    m = reference.n_individuals
    if plan.n_pairs is not None:
        raise InputError(
            f"{option('n_pairs', repr(plan.n_pairs))} with {option('pairs', repr('all'))}", "n_pairs left out"
        )
    ensure_fits(
        _BYTES_A_PAIR * pair_count(m), f"both distances of {pair_count(m):,} pairs", "use pairs='sampled'"
    )
    is_pilot = np.zeros(m, dtype=bool)
    is_pilot[generator.permutation(m)[: max(2, plan.pilot(m)) if plan.pilot(m) else 0]] = True
    n_kept = m - int(is_pilot.sum())
    if n_kept < 2:
        raise InputError(f"{m} individuals", "at least four for all pairs of a population and pilots")
    claims = AllPairs(POPULATION, plan.confidence, plan.means or "hoeffding", n_kept)
    advance = progress_counter(progress, 2 * pair_count(m))
    every = all_pairs(reference, advance)
    kept, pilots = pairs_among(~is_pilot), pairs_among(is_pilot)
    n_undefined = int(np.count_nonzero(np.isnan(every[kept])))
    if n_undefined:
        given = f"{n_undefined:,} pairs without a defined distance under {reference.name}"
        raise DistanceError(
            given, "a distance that is defined for all pairs", f"use {option('pairs', repr('sampled'))}"
        )
    return DrawnPairs(kept, every[kept], all_pairs(output, advance)[kept], plan.radius(every[pilots]), claims)


def pairs_among(chosen: NDArray[np.bool_]) -> Indices:
    """Return the places of the pairs of which both individuals are chosen, in the order of all pairs."""
    starts, people = pair_starts(chosen.size), np.flatnonzero(chosen)
    parts = [starts[i] + people[k + 1 :] - i - 1 for k, i in enumerate(people)]
    return np.concatenate([np.empty(0, dtype=np.intp), *parts])
