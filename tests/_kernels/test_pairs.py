from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from likewise._kernels import PairWalk, absolute_differences, shared_differences, squared_differences
from likewise.errors import InputError, ShapeError

pytestmark = pytest.mark.usefixtures("kernels")

VALUES = st.one_of(
    st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]),
    st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-100),  # squares do not underflow
)


@st.composite
def observed(draw):
    """A matrix with missing entries (NaN) and stored zeros, and some rows twice."""
    m, n = draw(st.integers(1, 12)), draw(st.integers(1, 9))
    cells = st.one_of(st.just(np.nan), VALUES)
    Z = np.array(draw(st.lists(st.lists(cells, min_size=n, max_size=n), min_size=m, max_size=m)))
    return np.vstack([Z, Z[: draw(st.integers(0, m))]])


def as_csr(Z):
    rows, columns = np.nonzero(~np.isnan(Z))
    return sparse.csr_array((Z[rows, columns], (rows, columns)), shape=Z.shape)


def rounding(Z, power):
    """The stated error bound: (n_i + n_j + 4) eps (size_i + size_j), and under l1 at most 16 for comparing bits."""
    counts = (~np.isnan(Z)).sum(axis=1)
    gaps = np.setdiff1d(Z[~np.isnan(Z)], 0).size
    counts = counts + (gaps / 2 if power == 1 and gaps <= 16 else 0)
    sizes = np.nansum(np.abs(Z) ** power, axis=1)
    half_eps = np.finfo(float).eps / 2
    return (np.add.outer(counts, counts) + 4) * half_eps * np.add.outer(sizes, sizes)


exact = np.frompyfunc(Fraction, 1, 1)

EXAMPLE = np.array([[1.0, np.nan, -1.0], [0.5, 0.0, 1.0], [np.nan, 2.0, np.nan]])


def test_absolute_differences_by_hand():
    pairs = PairWalk.from_csr(as_csr(EXAMPLE))
    assert_array_equal(absolute_differences(pairs, 0, 3), [[0, 2.5, 4], [2.5, 0, 3.5], [4, 3.5, 0]])


def test_squared_differences_by_hand():
    pairs = PairWalk.from_csr(as_csr(EXAMPLE))
    assert_array_equal(squared_differences(pairs, 0, 3), [[0, 4.25, 6], [4.25, 0, 5.25], [6, 5.25, 0]])


def test_shared_differences_by_hand_count_a_stored_zero():
    counts, sums = shared_differences(PairWalk.from_csr(as_csr(EXAMPLE)), 0, 3)
    assert_array_equal(counts, [[2, 2, 0], [2, 3, 1], [0, 1, 1]])
    assert_array_equal(sums, [[0, 2.5, 0], [2.5, 0, 2], [0, 2, 0]])


@pytest.mark.slow
@given(Z=observed(), n_threads=st.integers(1, 3))
def test_distances_are_those_of_the_zero_filled_rows_to_the_stated_error(Z, n_threads):
    pairs, filled, m = PairWalk.from_csr(as_csr(Z)), exact(np.nan_to_num(Z)), len(Z)
    differences = filled[:, None] - filled
    for compare, power in ((absolute_differences, 1), (squared_differences, 2)):
        true = (abs(differences) ** power).sum(axis=2)
        found = compare(pairs, 0, m, n_threads=n_threads)
        assert (abs(exact(found) - true) <= rounding(Z, power)).all()


@given(Z=observed())
def test_distances_are_symmetric_not_negative_and_exactly_zero_for_identical_rows(Z):
    pairs, filled, m = PairWalk.from_csr(as_csr(Z)), np.nan_to_num(Z), len(Z)
    identical = (filled[:, None] == filled[None]).all(axis=2)
    for distances in (absolute_differences(pairs, 0, m), squared_differences(pairs, 0, m)):
        assert_array_equal(distances, distances.T)
        assert (distances >= 0).all()
        assert (distances[identical] == 0).all()


@pytest.mark.slow
@given(Z=observed())
def test_shared_differences_are_those_of_the_double_loop(Z):
    counts, sums = shared_differences(PairWalk.from_csr(as_csr(Z)), 0, len(Z))
    for i, j in np.ndindex(counts.shape):
        shared = np.abs(Z[i] - Z[j])[~np.isnan(Z[i]) & ~np.isnan(Z[j])]
        assert counts[i, j] == shared.size
        assert sums[i, j] == sum(shared)  # in the order of the features, so with the same bits


@pytest.mark.slow
@given(Z=observed(), width=st.sampled_from([1, 2, 4, 8, 64]), data=st.data())
def test_ranges_of_individuals_in_tiles_of_any_width(Z, width, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("likewise._kernels.pair_lists.tile_width", lambda _: width)
        pairs, m = PairWalk.from_csr(as_csr(Z)), len(Z)
    ends = st.tuples(st.integers(0, m), st.integers(0, m)).map(sorted)
    (start, stop), (first, last) = data.draw(ends), data.draw(ends)
    one_tile = PairWalk.from_csr(as_csr(Z))
    for compare in (
        absolute_differences,
        squared_differences,
        lambda *a, **k: shared_differences(*a, **k)[0],
        lambda *a, **k: shared_differences(*a, **k)[1],
    ):
        whole = compare(one_tile, 0, m)
        assert_array_equal(compare(pairs, start, stop), whole[start:stop])
        window = compare(pairs, start, stop, range(first, last))
        assert_array_equal(window, whole[start:stop, first:last])


def test_refuses_others_beyond_the_matrix_or_with_gaps():
    pairs = PairWalk.from_csr(as_csr(EXAMPLE))
    for others in (range(0, 4), range(-1, 2), range(0, 3, 2)):
        with pytest.raises(ShapeError, match="0 <= start <= stop <= 3"):
            absolute_differences(pairs, 0, 3, others=others)


@given(Z=observed(), n_threads=st.integers(1, 3))
def test_both_paths_give_the_same_bits(Z, n_threads, kernels):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIKEWISE_KERNELS", "scipy")
        twin = PairWalk.from_csr(as_csr(Z))
    pairs, m = PairWalk.from_csr(as_csr(Z)), len(Z)
    for compare in (absolute_differences, squared_differences, shared_differences):
        assert_array_equal(compare(pairs, 0, m, n_threads=n_threads), compare(twin, 0, m))


def test_more_individuals_than_16_bits_hold():
    m = 70_000
    Z = sparse.csr_array(([1.0, 3.0, 0.1], ([0, m - 1, 1], [0, 0, 0])), shape=(m, 1))
    line = absolute_differences(PairWalk.from_csr(Z), 0, 1)[0]
    assert_array_equal(line[[0, 1, 2, m - 1]], [0.0, 0.9, 1.0, 2.0])


def test_duplicates_are_summed_first():
    Z = sparse.csr_array(([1.0, 1.0, 2.0], [0, 0, 0], [0, 2, 3]), shape=(2, 1))
    assert_array_equal(absolute_differences(PairWalk.from_csr(Z), 0, 2), np.zeros((2, 2)))


def test_rounding_makes_no_squared_distance_negative():
    rng = np.random.default_rng(0)
    nearly_equal = rng.standard_normal(9) * (1 + 1e-16 * rng.integers(-3, 4, (60, 9)))
    squared = squared_differences(PairWalk.from_csr(sparse.csr_array(nearly_equal)), 0, 60)
    assert (squared >= 0).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_refuses_values_that_are_not_finite(value):
    with pytest.raises(InputError, match="NaN or infinity"):
        PairWalk.from_csr(sparse.csr_array([[value]]))
