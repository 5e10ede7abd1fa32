"""Columns compared as bits: their layout by hand, and the same distances wherever the columns are split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likewise._kernels import PairWalk, absolute_differences, pair_lists
from likewise._kernels.pair_lists import LANES, BitPlanes, PairLists, Quantization

pytestmark = pytest.mark.usefixtures("kernels")

ALL_AS_BITS, ALL_WALKED = 0.0, np.inf

# Two columns with the values -1, 0 (missing), 0.5 and 2: gaps 1, 0.5 and 1.5, each a segment of its own.
EXAMPLE = np.array([[-1.0, 0.5], [2.0, 0.0], [0.0, -1.0]])


@st.composite
def few_values(draw):
    """A matrix of few distinct values, some of them on no common grid, with missing entries and some rows twice."""
    levels = draw(
        st.lists(st.sampled_from([-3.0, -1.0, -0.1, 0.1, 0.3, 0.5, 1.0, 7.0]), min_size=1, max_size=5)
    )
    m, n = draw(st.integers(2, 30)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Z = rng.choice([*levels, *[0.0] * draw(st.integers(1, 8))], (m, n))
    return np.vstack([Z, Z[: draw(st.integers(0, m))]])


def split_at(cost, Z):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_lists, "BIT_COST", cost)
        pairs = PairWalk.from_csr(sparse.csr_array(Z))
        return pairs, pairs.split


def test_levels_and_bits_by_hand():
    levels = Quantization.of(np.array([0.5, 2.0, -1.0, 0.5]))
    assert_array_equal(levels.values, [-1, 0, 0.5, 2])
    assert_array_equal(levels.gaps, [1, 0.5, 1.5])
    assert_array_equal(
        levels.bits(np.array([-1.0, 0.0, 0.5, 2.0])).astype(int), [[1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]]
    )


def test_words_by_hand():
    _, split = split_at(ALL_AS_BITS, EXAMPLE)
    assert split.rest is None
    assert_array_equal(split.planes.gaps, [0.5, 1, 1.5])
    assert_array_equal(split.planes.ends, [1, 2, 3])
    words = split.planes.words
    assert words.shape == (1, 3, LANES)
    # A row of words for each gap: bit 0 is the first column, bit 1 the second.
    assert_array_equal(words[0, :, :3], [[0b10, 0b01, 0], [0b01, 0, 0b10], [0, 0b01, 0]])
    assert not words[0, :, 3:].any()


def test_distances_by_hand():
    pairs, _ = split_at(ALL_AS_BITS, EXAMPLE)
    assert_array_equal(absolute_differences(pairs, 0, 3), [[0, 3.5, 2.5], [3.5, 0, 3], [2.5, 3, 0]])


def test_equal_gaps_share_a_segment():
    Z = np.array([[-1.0, -0.5, 0.5, 1.0] * 10, [0.0] * 40])
    _, split = split_at(ALL_AS_BITS, Z)
    assert_array_equal(split.planes.gaps, [0.5])
    assert split.planes.words.shape == (1, 3, LANES)  # 4 gaps x 40 columns are 160 bits


def test_popular_columns_are_bits_and_the_others_are_walked():
    m = 4096
    Z = sparse.lil_array((m, 2))
    Z[: m // 2, 0] = 1.0
    Z[: m // 100, 1] = 1.0
    split = PairWalk.from_csr(Z.tocsr()).split  # one gap: a bit costs 2^-11, walking costs 1/4 and 1e-4
    assert split.rest.by_row.members.tolist() == [1] * (m // 100)
    assert split.planes.words.shape == (m // LANES, 1, LANES)


def test_many_values_are_walked():
    Z = sparse.csr_array(np.arange(1.0, 18.0)[:, None])
    assert PairWalk.from_csr(Z[:16]).split.rest is None
    assert PairWalk.from_csr(Z).split.planes is None


@pytest.mark.parametrize("Z", [np.zeros((3, 2)), np.zeros((3, 0))])
def test_nothing_but_zeros(Z):
    assert_array_equal(absolute_differences(PairWalk.from_csr(sparse.csr_array(Z)), 0, 3), np.zeros((3, 3)))


@given(
    Z=few_values(),
    cost=st.sampled_from([ALL_AS_BITS, 0.01, 0.05, ALL_WALKED]),
    n_threads=st.integers(1, 3),
    data=st.data(),
)
def test_distances_are_those_of_the_rows_wherever_the_columns_are_split(Z, cost, n_threads, data):
    pairs, m = split_at(cost, Z)[0], len(Z)
    ends = st.tuples(st.integers(0, m), st.integers(0, m)).map(sorted)
    (start, stop), (first, last) = data.draw(ends), data.draw(ends)
    true = np.abs(Z[:, None] - Z).sum(axis=2)
    found = absolute_differences(pairs, start, stop, range(first, last), n_threads)
    assert_allclose(found, true[start:stop, first:last], rtol=1e-13, atol=1e-13)
    whole = absolute_differences(pairs, 0, m)
    assert_array_equal(whole, whole.T)
    assert (whole[(Z[:, None] == Z).all(axis=2)] == 0).all()


@given(Z=few_values(), cost=st.sampled_from([ALL_AS_BITS, 0.01, 0.05]))
def test_both_paths_give_the_same_bits(Z, cost):
    pairs, m = split_at(cost, Z)[0], len(Z)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIKEWISE_KERNELS", "scipy")
        twin = split_at(cost, Z)[0]
    assert_array_equal(absolute_differences(pairs, 0, m), absolute_differences(twin, 0, m))


@pytest.mark.slow
def test_long_segments_and_many_individuals():
    """More words than a byte counts at a time, more individuals than are taken at a time."""
    rng = np.random.default_rng(0)
    Z = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (203, 1700))
    pairs, split = split_at(ALL_AS_BITS, Z)
    assert split.planes.words.shape[1] > 100
    assert_array_equal(absolute_differences(pairs, 0, 203), np.abs(Z[:, None] - Z).sum(axis=2))


def test_rows_are_laid_out_in_parts(monkeypatch):
    Z = np.random.default_rng(0).choice([0.0, 1.0, 2.0], (50, 30))
    lists = PairLists.of(sparse.csr_array(Z))
    levels = Quantization.of(lists.by_row.values)
    whole = BitPlanes.of(lists.by_row, np.arange(30), levels)
    monkeypatch.setattr("likewise._kernels.pair_lists._BITS_AT_A_TIME", 1)
    assert_array_equal(BitPlanes.of(lists.by_row, np.arange(30), levels).words, whole.words)
