"""What is added up over pairs: by hand, by a naive walk over every pair, and the same bits compiled and on NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise._kernels import (
    GROUP_SUMS,
    N_BINS,
    PERSON_COLUMNS,
    EdgeCounter,
    PairBlock,
    PairLimits,
    PairSums,
    add_pairs,
    bins_of,
    by_name,
    count_pairs,
)
from likewise._kernels.native import library as native
from likewise.errors import InputError, ShapeError

needs_native = pytest.mark.skipif(not native.is_built(), reason="the compiled kernels are not installed")


def limits_of(epsilon=(1.0,), edges=(0.0, 1.0, 2.0), **options):
    histogram = None if edges is None else EdgeCounter(np.array(edges), "right")
    defaults = {"near": 1.0, "condition": (1.0, 0.5), "in_bins": True}
    return PairLimits(
        epsilon=EdgeCounter(np.array(epsilon), "left"), histogram=histogram, **defaults | options
    )


def added(limits, block, d, D, n_largest=0, floor=-np.inf):
    sums = PairSums(limits)
    return sums, add_pairs(sums, limits, block, d, D, n_largest, floor)


@pytest.mark.usefixtures("kernels")
def test_by_hand():
    # Pairs (0, 1), (0, 2), (1, 2) of three people; what stands at i >= j does not count.
    d = np.array([[9.0, 0.0, 1.0], [9.0, 9.0, 4.0]])
    D = np.array([[9.0, 2.0, 3.0], [9.0, 9.0, 2.0]])  # ratios: infinite, 3, 0.5
    limits = limits_of(groups=np.array([0, 0, 1], np.int32), n_groups=2, n_individuals=3)
    sums, worst = added(limits, PairBlock(0, 2, 0, 3), d, D, 2)
    assert by_name(sums.counts) == {
        "pairs": 3, "zero": 1, "infinite": 1, "near": 2, "near_infinite": 1, "violating": 2,
    }  # fmt: skip
    assert by_name(sums.totals) == {
        "reference": 5, "output": 7, "output_squared": 17, "ratio": 3.5,
        "near_ratio": 3, "near_output": 5, "excess": 1.5 + 1.5, "near_inverse": 1,
    }  # fmt: skip
    assert by_name(sums.largest) == {
        "ratio": math.inf, "near_ratio": math.inf, "excess": 1.5,
    }  # fmt: skip
    assert sums.epsilon_counts.tolist() == [2, 1]
    assert sums.epsilon_largest.tolist() == [3, 2]
    assert sums.histogram.tolist() == [0, 1, 0, 2]
    assert np.flatnonzero(sums.ratio_bins).tolist() == sorted(bins_of(np.array([0.5, 3.0])))
    assert sums.excess_bins[bins_of(np.array([0.0, 2.0]))].tolist() == [1, 2]
    assert sums.groups[:2].tolist() == [(1, 1, 1, 0, 2, 0, 1, 0, 2), (2, 0, 1, 3.5, 5, 5, 0, 3, 3)]
    assert GROUP_SUMS.names == (
        "pairs", "infinite", "similar", "ratio", "gap", "distance", "similar_infinite", "similar_ratio", "similar_gap",
    )  # fmt: skip
    assert sums.group_largest.tolist() == [math.inf, 3, -math.inf, -math.inf]
    assert PERSON_COLUMNS == ("pairs", "similar", "gap", "similar_gap")
    first_in, second_in = sums.individuals.transpose(0, 2, 1).tolist()
    assert first_in == [[2, 2, 5, 5], [1, 0, 2, 0], [0, 0, 0, 0]]
    assert second_in == [[0, 0, 0, 0], [1, 1, 2, 2], [2, 1, 5, 3]]
    assert sorted(zip(worst["left"], worst["right"], worst["ratio"], strict=True)) == [
        (0, 1, math.inf),
        (0, 2, 3),
    ]


def naive(limits, block, d, D):
    """Everything about each pair, one at a time."""
    for i in range(block.start, block.stop):
        for j in range(max(block.first, i + 1), block.last):
            x, y = d[i - block.start, j - block.first], D[i - block.start, j - block.first]
            if not math.isnan(x):
                ratio = y / x if x else (math.inf if y else 0.0)
                lipschitz, slack = limits.condition
                yield i, j, x, y, ratio, max(max(y - lipschitz * x, 0) - slack, 0)


def random_case(seed, n_rows, width, offset, **options):
    """Distances with ties, zeros and undefined ones, in a block that the diagonal may cross."""
    rng = np.random.default_rng(seed)
    block = PairBlock(5, 5 + n_rows, max(5 + offset, 0), max(5 + offset, 0) + width)
    kind = rng.integers(3)
    d, D = rng.integers(0, 4, (2, *block.shape)) / 2 if kind == 0 else rng.random((2, *block.shape)) * 3
    d[rng.random(d.shape) < (0.0, 0.1, 0.6)[rng.integers(3)]] = np.nan
    groups = rng.integers(0, 3, 5 + n_rows + width + abs(offset)).astype(np.int32)
    epsilon = np.unique(rng.integers(1, 9, 4) / 4)
    edges = None if rng.random() < 0.3 else np.unique(rng.integers(-1, 9, 6) / 4)
    everybody = {"n_individuals": groups.size if kind else 0}
    return limits_of(epsilon, edges, groups=groups, n_groups=3, **everybody | options), block, d, D


CASES = (st.integers(0, 2**32 - 1), st.integers(0, 12), st.integers(0, 700), st.integers(-9, 15))


@pytest.mark.slow
@given(*CASES)
@pytest.mark.parametrize("kernels", ["scipy", pytest.param("native", marks=needs_native)])
def test_they_are_those_of_every_pair(kernels, seed, n_rows, width, offset):
    limits, block, d, D = random_case(seed, n_rows, width, offset)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIKEWISE_KERNELS", kernels)
        sums, worst = added(limits, block, d, D, 5, 0.3)
    pairs = list(naive(limits, block, d, D))
    finite = [r for *_, r, _ in pairs if r < math.inf]
    near = [(y, r) for _, _, x, y, r, _ in pairs if x <= limits.near]
    assert by_name(sums.counts) == {
        "pairs": len(pairs), "zero": sum(x == 0 for _, _, x, *_ in pairs), "infinite": len(pairs) - len(finite),
        "near": len(near), "near_infinite": sum(r == math.inf for _, r in near),
        "violating": sum(e > 0 for *_, e in pairs),
    }  # fmt: skip
    _, _, xs, ys, ratios, excess = zip(*pairs, strict=True) if pairs else ((),) * 6
    totals = {
        "reference": sum(xs), "output": sum(ys), "output_squared": sum(y * y for y in ys), "ratio": sum(finite),
        "near_ratio": sum(r for _, r in near if r < math.inf), "near_output": sum(y for y, _ in near),
        "near_inverse": sum(1 / x for x in xs if 0 < x <= limits.near), "excess": sum(excess),
    }  # fmt: skip
    assert {name: float(value) for name, value in by_name(sums.totals).items()} == pytest.approx(
        totals, rel=1e-12
    )
    most = {"ratio": ratios, "near_ratio": [r for _, r in near], "excess": excess}
    assert by_name(sums.largest) == {name: max(values, default=-math.inf) for name, values in most.items()}
    points = np.searchsorted(limits.epsilon.edges, xs)
    for point in range(limits.epsilon.edges.size + 1):
        under = [y for y, p in zip(ys, points, strict=True) if p == point]
        assert (sums.epsilon_counts[point], sums.epsilon_largest[point]) == (
            len(under),
            max(under, default=0),
        )
    if limits.histogram is not None:
        places = np.searchsorted(limits.histogram.edges, ratios, "right")
        assert sums.histogram.tolist() == np.bincount(places, minlength=sums.histogram.size).tolist()
    np.testing.assert_array_equal(sums.ratio_bins, np.bincount(bins_of(np.array(finite)), minlength=N_BINS))
    kept = sorted((p for p in pairs if p[4] >= 0.3), key=lambda p: (-p[4], -p[3], p[0], p[1]))[:5]
    columns = ("left", "right", "reference", "output", "ratio")
    assert sorted(zip(*(worst[name].tolist() for name in columns), strict=True)) == sorted(
        p[:5] for p in kept
    )
    taking_part = np.zeros((limits.groups.size, 2, 4))
    for i, j, x, y, *_ in pairs:
        for person, side in ((i, 0), (j, 1)):
            taking_part[person, side] += [1, x <= limits.near, y, y * (x <= limits.near)]
    expected = taking_part[: limits.n_individuals].transpose(1, 2, 0)
    np.testing.assert_allclose(sums.individuals, expected, rtol=1e-12)
    labels = np.array(
        [min(g) * 3 + max(g) for g in ((limits.groups[i], limits.groups[j]) for i, j, *_ in pairs)]
    )
    for label in range(9):
        chosen = [p for p, of in zip(pairs, labels, strict=True) if of == label]
        by_hand = sums.groups[label]
        assert (by_hand["pairs"], by_hand["infinite"]) == (len(chosen), sum(p[4] == math.inf for p in chosen))
        assert by_hand["similar_gap"] == pytest.approx(sum(p[3] for p in chosen if p[2] <= limits.near))
        assert by_hand["ratio"] == pytest.approx(sum(p[4] for p in chosen if p[4] < math.inf))
        assert sums.group_largest[label] == max((p[4] for p in chosen), default=-math.inf)


def everything(sums, worst):
    order = np.lexsort((worst["right"], worst["left"]))
    return [*vars(sums).values(), *(column[order] for _, column in sorted(worst.items()))]


def same_bits(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.slow
@needs_native
@given(*CASES, st.booleans())
def test_compiled_and_numpy_have_the_same_bits(seed, n_rows, width, offset, packed):
    limits, block, d, D = random_case(seed, n_rows, width, offset)
    if packed:
        d, D = block.pairs_of(d), block.pairs_of(D)
    results = []
    with pytest.MonkeyPatch.context() as patch:
        for set_number in (None, *range(native.library().likewise_instruction_sets())):
            patch.setenv("LIKEWISE_KERNELS", "scipy" if set_number is None else "native")
            if set_number is not None:
                patch.setattr(native, "instruction_set", lambda number=set_number: number)
            counts, largest = np.zeros(N_BINS, np.int64), np.zeros(N_BINS)
            undefined = count_pairs(counts, largest, block, d)
            results.append(
                [np.array(undefined), counts, largest, *everything(*added(limits, block, d, D, 4))]
            )
    for result in results[1:]:
        same_bits(result, results[0])


@pytest.mark.usefixtures("kernels")
def test_pairs_that_count_alone_are_the_same_pairs():
    limits, block, d, D = random_case(3, 12, 600, 2)
    whole = everything(*added(limits, block, d, D, 9))
    same_bits(everything(*added(limits, block, block.pairs_of(d), block.pairs_of(D), 9)), whole)


@pytest.mark.usefixtures("kernels")
def test_sums_are_as_good_as_pairwise():
    # Numbers of one size, whose rounded sum would drift if each were added to a growing total.
    d = np.random.default_rng(0).random((1, 100_000)) + 0.1
    sums, _ = added(limits_of(), PairBlock(0, 1, 1, 100_001), d, d)
    for name in ("reference", "output"):
        exact = math.fsum(d.ravel())
        assert abs(sums.totals[name] - exact) <= 60 * 2.0**-53 * exact


@pytest.mark.usefixtures("kernels")
def test_counted_in_bins_by_hand():
    counts, largest = np.zeros(N_BINS, np.int64), np.zeros(N_BINS)
    d = np.array([[9.0, 0.0, 1.0], [9.0, 9.0, np.nan], [9.0, 9.0, 9.0]])
    assert count_pairs(counts, largest, PairBlock(0, 3, 0, 3), d) == 1
    assert count_pairs(counts, largest, PairBlock(0, 1, 3, 5), np.array([[1 + 2**-14, 1.0]])) == 0
    assert counts[bins_of(np.array([0.0, 1.0]))].tolist() == [1, 3]
    assert counts.sum() == 4
    assert largest[bins_of(np.array([1.0]))] == 1 + 2**-14


@pytest.mark.usefixtures("kernels")
def test_what_is_not_a_number_shows():
    D = np.full((1, 3), np.nan)
    with np.errstate(invalid="ignore"):
        sums, worst = added(limits_of(), PairBlock(0, 1, 1, 4), np.array([[1.0, 2.0, 0.0]]), D, 2)
    assert np.isnan(sums.totals["output"])
    assert all(np.isnan(value) for value in by_name(sums.largest).values())
    assert np.isnan(sums.epsilon_largest).any()
    assert worst["ratio"].size == 0


@pytest.mark.usefixtures("kernels")
def test_many_ties_keep_the_first():
    ones = np.ones((4, 5000))
    _, worst = added(limits_of(), PairBlock(0, 4, 0, 5000), ones, ones, 3)
    assert sorted(zip(worst["left"].tolist(), worst["right"].tolist(), strict=True)) == [
        (0, 1),
        (0, 2),
        (0, 3),
    ]


def test_what_does_not_fit_is_refused():
    limits, block = limits_of(), PairBlock(0, 2, 0, 3)
    with pytest.raises(ShapeError, match="those of"):
        added(limits, block, np.ones((2, 4)), np.ones((2, 4)))
    with pytest.raises(ShapeError, match="those of"):
        added(limits, block, np.ones(4), np.ones(4))
    with pytest.raises(ShapeError, match="the same pairs"):
        added(limits, block, np.ones(3), np.ones((2, 3)))
    with pytest.raises(ShapeError, match="counted from 0"):
        added(limits, PairBlock(-1, 1, 0, 3), np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ShapeError, match="everybody"):
        added(limits_of(n_individuals=2), block, np.ones((2, 3)), np.ones((2, 3)))
    few = limits_of(groups=np.zeros(2, np.int32), n_groups=1)
    with pytest.raises(ShapeError, match="a group for everybody"):
        added(few, block, np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(InputError, match="groups"):
        limits_of(groups=np.array([0, 2], np.int32), n_groups=2)
    with pytest.raises(ShapeError, match="bins"):
        count_pairs(np.zeros(3, np.int64), np.zeros(N_BINS), block, np.ones((2, 3)))
