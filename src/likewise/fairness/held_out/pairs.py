"""Pairs of individuals and how much they differ on observations that were kept aside, with how sure that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from likewise._kernels import PairWalk, shared_differences
from likewise._typing import Counts, Floats, Indices
from likewise.errors import DistanceError, option
from likewise.fairness.distances.observed import co_observed_powers

MOST_PAIRS = 200_000
MOST_SCANNED = 20_000
"""Individuals of whom every pair is looked at; of more people, that many are drawn."""
LEAST_PAIRS = 100
"""With fewer pairs nothing is said."""
LEAST_SHARED = 15
"""Features that a pair has in common at least, unless told otherwise: with fewer, more of d is noise."""
FEWER_SHARED = (10, 5, 3)
"""What does instead in data so sparse that hardly a pair has as many in common. Noise moves every gap towards 1, and cannot turn one arm's below another's."""
ENOUGH_PAIRS = 1000
"""Asked for then: distances that are mostly noise take more pairs to tell something."""

_BLOCK_BYTES = 16 << 20


@dataclass(frozen=True, eq=False)
class ReferencePairs:
    """Pairs that observed enough in common among what was kept aside, and their mean squared differences there.

    For a pair with C features in common, the mean of ``(z_ij - z_kj)^2`` over them estimates the mean of ``(A_ij - A_kj)^2`` plus twice the variance
    of the noise: a distance on A, the same for every algorithm, with noise that no algorithm has seen. Arrays have an entry for each pair.
    """

    left: Indices
    right: Indices
    counts: Counts  # C
    squares: Floats  # mean squared differences, on the working range of the observations
    # of `squares`: by how much they would vary with other features, as the squared differences of the
    # features in common tell, v / C
    variances: Floats
    # C on two halves of the features, drawn at random: two independent measurements
    half_counts: tuple[Counts, Counts]
    half_squares: tuple[Floats, Floats]  # the squares on both halves; NaN where a half has none in common
    n_individuals: int  # m
    n_scanned: int  # individuals of whom all pairs were looked at
    # pairs among these with `least_shared` features in common, of which the pairs are all or a uniform
    # sample
    n_eligible: int
    n_covered: int  # individuals in at least one eligible pair
    least_shared: int
    # whether all values are one of two: their noise depends on A, so `squares` say how often two people
    # disagree, and no constant takes them to the distance on A
    two_valued: bool = False

    @property
    def n_pairs(self) -> int:
        """Pairs that are measured."""
        return self.left.size

    @property
    def eligible_share(self) -> float:
        """Share of all pairs that observed enough in common, in [0, 1]."""
        return self.n_eligible / (self.n_scanned * (self.n_scanned - 1) / 2)

    @cached_property
    def in_both_halves(self) -> Indices:
        """Positions of the pairs that both halves measured."""
        return np.flatnonzero(np.isfinite(self.half_squares[0]) & np.isfinite(self.half_squares[1]))

    @cached_property
    def distances(self) -> Floats:
        """Distance of each pair: the root of its mean squared difference, shrunk towards the mean of all (empirical Bayes).

        ``s = theta + e`` with ``Var e = v / C``. The halves tell v, since ``E (s_1 - s_2)^2 = v (1 / C_1 + 1 / C_2)``; what the variance of s exceeds
        ``v`` times the mean of ``1 / C`` by is the variance of theta. The fewer features a pair shares, the nearer to the mean it is put: a pair
        that agreed on few by chance is not taken for equal, and no ratio is infinite.
        """
        both = self.in_both_halves
        (first, second), (c1, c2) = self.half_squares, self.half_counts
        inverse = 1 / c1[both] + 1 / c2[both]
        # v, by moments: sum of (s_1 - s_2)^2 over the sum of what multiplies v in its expectation.
        noise = float(np.sum((first[both] - second[both]) ** 2) / inverse.sum()) if both.size else 0.0
        mean = float(self.squares.mean())
        # The variance of theta; estimates of a variance near 0 may be below it.
        signal = max(float(self.squares.var()) - noise * float(np.mean(1 / self.counts)), 0.0)
        # The part of a pair's deviation from the mean that is signal, by how many features it shares; 1
        # where nothing varies.
        trust = signal / (signal + noise / self.counts) if signal + noise else np.ones(self.n_pairs)
        shrunk: Floats = np.sqrt(np.maximum(mean + trust * (self.squares - mean), 0.0))
        return shrunk

    def describe(self) -> str:
        """Say which pairs these are, and whom they speak of."""
        scanned = "" if self.n_scanned == self.n_individuals else f" of {self.n_scanned:,} individuals drawn"
        agreement = (
            " The values are one of two, so d says how often two people agree: their noise depends on the truth, and no correction frees d of it."
            if self.two_valued
            else ""
        )
        return (
            f"{self.n_eligible:,} pairs{scanned} ({self.eligible_share:.1%}) share {self.least_shared} or more of the features kept aside; "
            f"{self.n_covered:,} of {self.n_scanned:,} individuals are in one. The results are about people with many observations, not about those with few.{agreement}"
        )


def usual_shared(kept_aside: sparse.csr_array, rng: np.random.Generator) -> int | None:
    """Return how many features pairs are asked to have in common, unless told otherwise: 15, or in sparse data as many as 1,000 pairs have.

    None where there are not 1,000 pairs that have 3 in common, or fewer than 15 features in all: there each value kept aside is one fewer to
    judge by. `rng` draws individuals, where there are many.

    >>> rng = np.random.default_rng(0)
    >>> rated = np.ones((50, 1)) * (np.arange(20) < np.array([[[20]], [[8]], [[2]]]))    # the first 20, 8 and 2 of 20 features
    >>> [usual_shared(sparse.csr_array(one), rng) for one in rated]
    [15, 5, None]
    """
    if kept_aside.shape[1] < LEAST_SHARED:
        return None
    taken, _ = _scanned(kept_aside, rng)
    asked = (LEAST_SHARED, *FEWER_SHARED)
    found = np.zeros(len(asked), dtype=np.int64)
    for _, _, counts in _in_common(taken, asked[-1]):
        found += [np.count_nonzero(counts >= least) for least in asked]
    # The first that enough pairs reach is the largest number asked for.
    enough = found >= (LEAST_PAIRS, *(ENOUGH_PAIRS for _ in FEWER_SHARED))
    return asked[int(np.argmax(enough))] if enough.any() else None


def _scanned(kept_aside: sparse.csr_array, rng: np.random.Generator) -> tuple[sparse.csr_array, Indices]:
    """Return the rows of whom every pair is looked at, and their positions."""
    m = kept_aside.shape[0]
    people = np.arange(m) if m <= MOST_SCANNED else np.sort(rng.choice(m, MOST_SCANNED, replace=False))
    return kept_aside if people.size == m else sparse.csr_array(kept_aside[people]), people


def reference_pairs(
    kept_aside: sparse.csr_array,
    *,
    least_shared: int = LEAST_SHARED,
    most_pairs: int = MOST_PAIRS,
    rng: np.random.Generator,
) -> ReferencePairs:
    """Find the pairs that share enough of what was kept aside, shape (m, n) on the working range, and measure how much they differ there.

    A stored zero is an observation. Of more than `most_pairs` a uniform sample is measured. `rng` draws individuals, pairs, and the halves of
    the features. DistanceError where fewer than 100 pairs share enough.

    >>> rng = np.random.default_rng(0)
    >>> Z = sparse.csr_array(rng.uniform(-1, 1, size=(30, 40)))
    >>> pairs = reference_pairs(Z, rng=rng)
    >>> pairs.n_pairs, pairs.counts.min().item()
    (435, 40)
    """
    m = kept_aside.shape[0]
    taken, people = _scanned(kept_aside, rng)
    left, right, n_eligible, covered = _eligible(taken, least_shared, most_pairs, rng)
    if n_eligible < LEAST_PAIRS:
        raise DistanceError(
            f"{n_eligible} pairs of {people.size:,} individuals that share {least_shared} or more of the observations kept aside",
            f"at least {LEAST_PAIRS} pairs to compare",
            _instead(taken.shape[1], least_shared),
        )
    counts, powers = co_observed_powers(taken, left, right, 2)
    # Two measurements of every pair whose noise is independent: no feature is in both.
    halves = np.array_split(rng.permutation(taken.shape[1]), 2)
    measured = [
        co_observed_powers(sparse.csr_array(taken[:, np.sort(half)]), left, right, 2) for half in halves
    ]
    return ReferencePairs(
        people[left],
        people[right],
        counts,
        powers / counts,
        _variances(counts, powers / counts, co_observed_powers(taken, left, right, 4)[1] / counts),
        (measured[0][0], measured[1][0]),
        (_mean(*measured[0]), _mean(*measured[1])),
        n_individuals=m,
        n_scanned=people.size,
        n_eligible=n_eligible,
        n_covered=int(covered.sum()),
        least_shared=least_shared,
        two_valued=_two_valued(taken.data),
    )


def _instead(n_features: int, least_shared: int) -> str:
    if n_features < min(least_shared, LEAST_SHARED):
        return (
            f"there are {n_features} features in all: of a table so narrow, one more value kept aside is one fewer to judge by, and says little of who is "
            f"similar; take d from the observations: {option('reference', repr('observed'))}"
        )
    fewer = f"ask for fewer features in common with {option('least_shared', '')}"
    return (
        f"keep more aside, {fewer}, or take d from the observations: {option('reference', repr('observed'))}"
    )


def _two_valued(values: Floats) -> bool:
    return bool(((values == values.min()) | (values == values.max())).all())


def _variances(counts: Counts, squares: Floats, fourth: Floats) -> Floats:
    """Return ``v / C`` of each pair, from its means of squares and of fourth powers; with one feature in common, v is the mean of the other pairs.

    Squared differences 1 and 3: their variance is 2, that of their mean 1. A pair with one feature gets the variance of the first.

    >>> _variances(np.array([2, 1]), np.array([2.0, 4.0]), np.array([5.0, 16.0]))
    array([1., 2.])
    """
    several = counts > 1
    spread = np.maximum(fourth - squares**2, 0.0)
    # C / (C - 1): the mean was taken from the same features.
    v = spread * counts / np.maximum(counts - 1, 1)
    usual = float(v[several].mean()) if several.any() else np.nan
    return np.where(several, v, usual) / counts


def _mean(counts: Counts, powers: Floats) -> Floats:
    means: Floats = np.divide(powers, counts, out=np.full(powers.shape, np.nan), where=counts > 0)
    return means


def _eligible(
    values: sparse.csr_array, least_shared: int, most_pairs: int, rng: np.random.Generator
) -> tuple[Indices, Indices, int, Floats]:
    """Return a uniform sample of the pairs that share enough, how many there are, and who is in one.

    Every pair draws a number; those with the smallest are kept. So the sample is uniform without knowing beforehand how many there are.
    """
    m = values.shape[0]
    drawn, pairs, bar = np.empty(0), np.empty(0, dtype=np.int64), np.inf
    n_eligible, covered = 0, np.zeros(m, dtype=bool)
    for row, other, _ in _in_common(values, least_shared):
        covered[row] = covered[other] = True
        n_eligible += row.size
        numbers = rng.random(row.size)
        small = numbers < bar
        drawn, pairs = np.append(drawn, numbers[small]), np.append(pairs, row[small] * m + other[small])
        if drawn.size > most_pairs:
            kept = np.argpartition(drawn, most_pairs)[:most_pairs]
            drawn, pairs = drawn[kept], pairs[kept]
            # Larger numbers cannot be among the smallest any more.
            bar = float(drawn.max())
    left, right = np.divmod(np.sort(pairs), m)
    return left, right, n_eligible, covered


def _in_common(values: sparse.csr_array, least_shared: int) -> Iterator[tuple[Indices, Indices, Counts]]:
    """Yield, block by block, the pairs with so many features in common, each once, and how many these are."""
    m = values.shape[0]
    walk, step = PairWalk.from_csr(values), max(1, _BLOCK_BYTES // (16 * m))
    for start in range(0, m, step):
        # Each pair is met from both sides, and kept from the earlier one.
        counts, _ = shared_differences(walk, start, min(start + step, m), others=range(m))
        row, other = np.nonzero(counts >= least_shared)
        later = other > row + start
        row, other = row[later], other[later]
        yield row + start, other, counts[row, other].astype(np.int64)
