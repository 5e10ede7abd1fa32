"""Order statistics from counts in bins."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likewise._kernels import N_BINS, RELATIVE_WIDTH, bins_of
from likewise.fairness import BracketedValue, ExactValue
from likewise.fairness.exact.order_statistics import BinnedNumbers, CountedNumbers, SortedNumbers

NUMBERS = st.floats(min_value=0, allow_nan=False)
USUAL = st.one_of(st.floats(1e-15, 1e15), st.integers(0, 40).map(float))


@given(st.lists(st.one_of(NUMBERS, USUAL), min_size=1, max_size=40), st.data())
def test_brackets_hold_the_order_statistic(values, data):
    rank = data.draw(st.integers(0, len(values) - 1))
    finite = np.array([value for value in values if value < np.inf])
    counts = np.bincount(bins_of(finite), minlength=N_BINS)
    (found,), truth = BinnedNumbers(counts).values([rank], len(values)), sorted(values)[rank]
    if isinstance(found, ExactValue):
        assert found == ExactValue(truth, len(values))
    else:
        assert found.low <= truth <= found.high == found.value
        assert isinstance(found, BracketedValue)
    if 1e-15 <= truth <= 1e15:
        assert found.high - found.low <= RELATIVE_WIDTH * found.low
    if truth in {0, np.inf}:
        assert isinstance(found, ExactValue)


@given(st.lists(st.one_of(NUMBERS, USUAL), min_size=1, max_size=40), st.data())
def test_numbers_counted_in_bins_are_as_good_as_sorted_ones(values, data):
    values = np.array([*values, np.inf, np.nan])
    counts = np.bincount(bins_of(values[values < np.inf]), minlength=N_BINS)
    parts = [slice(k, k + 3) for k in range(0, values.size, 3)]
    counted = CountedNumbers(counts, parts, lambda part: values[part])
    sorted_ = SortedNumbers(values)
    ranks = data.draw(st.lists(st.integers(0, values.size - 2), max_size=5))
    assert counted.of_ranks(ranks) == sorted_.of_ranks(ranks) == np.sort(values)[ranks].tolist()
    edges = np.sort([*data.draw(st.lists(USUAL, max_size=5)), *values[:-2]])
    assert counted.below(edges).tolist() == sorted_.below(edges).tolist()
    assert counted.below(edges).tolist() == [(values < edge).sum() for edge in edges]
