"""Bins of numbers: where they begin and end, and edges below numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likewise._kernels import N_BINS, RELATIVE_WIDTH, EdgeCounter, bin_ends, bins_of, ratios

NUMBERS = st.floats(min_value=0, allow_nan=False)
USUAL = st.one_of(st.floats(1e-15, 1e15), st.integers(0, 40).map(float))


def test_bins_by_hand():
    # 1 = 2^0 is the first number of the 64th octave of 2^12 bins; the next bin begins at 1 + 2^-12.
    one = 64 << 12
    values = np.array([1.0, np.nextafter(1.0, 0), 1 + 2**-12, 0.0, -0.0, 5e-324, np.inf, 2.0])
    assert bins_of(values).tolist() == [one, one - 1, one + 1, 0, 0, 1, N_BINS - 1, one + (1 << 12)]


@given(st.lists(NUMBERS, min_size=1, max_size=50))
def test_every_number_lies_in_its_bin_and_bins_are_ordered(values):
    values = np.sort(np.array(values))
    bins, (smallest, largest) = bins_of(values), bin_ends()
    assert (smallest[bins] <= values).all()
    assert (values <= largest[bins]).all()
    assert (np.diff(bins) >= 0).all()


def test_bins_leave_no_gap_and_are_narrow():
    smallest, largest = bin_ends()
    np.testing.assert_array_equal(np.nextafter(largest[:-1], np.inf), smallest[1:])
    width = (largest - smallest)[2:-1] / smallest[2:-1]
    assert width.max() <= RELATIVE_WIDTH


@given(
    st.lists(USUAL, min_size=1, max_size=12, unique=True),
    st.lists(USUAL, max_size=60),
    st.sampled_from(["left", "right"]),
)
def test_edges_are_counted_as_searchsorted_does(edges, values, side):
    edges = np.sort(np.array(edges))
    # Edges themselves and their neighbours are where it could go wrong.
    values = np.concatenate([values, edges, np.nextafter(edges, 0), np.nextafter(edges, np.inf), [np.inf]])
    values = np.repeat(values, 1 + ratios._FEW // len(values))
    found = EdgeCounter(edges, side).count(values, bins_of(values))
    np.testing.assert_array_equal(found, np.searchsorted(edges, values, side))
