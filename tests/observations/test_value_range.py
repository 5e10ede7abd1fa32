from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import ObservationError
from likewise.fairness import ObservedDistance
from likewise.fairness.exact.blocks import all_pairs
from likewise.observations import ObservedMatrix, ValueRange

FINITE = st.floats(-1e6, 1e6, allow_nan=False)


def test_symmetric_scale_of_two_columns_by_hand():
    # Column 0: 1..5, middle 3, half width 2. Column 1: 0..10, middle 5, half width 5.
    scale = ValueRange.declared(([1, 0], [5, 10])).scale_to("symmetric")
    np.testing.assert_array_equal(scale.shift, [3, 5])
    np.testing.assert_array_equal(scale.factor, [2, 5])
    np.testing.assert_array_equal(scale.forward([[1, 0], [4, 5], [5, 10]]), [[-1, -1], [0.5, 0], [1, 1]])
    np.testing.assert_array_equal(scale.backward([[-1, 1]]), [[1, 10]])


def test_unit_scale_of_two_columns_by_hand():
    scale = ValueRange.declared(([1, 0], [5, 10])).scale_to("unit")
    np.testing.assert_array_equal(scale.shift, [1, 0])
    np.testing.assert_array_equal(scale.factor, [4, 10])
    np.testing.assert_array_equal(scale.forward([[2, 7.5]]), [[0.25, 0.75]])


def test_columns_say_which_range_each_value_has():
    scale = ValueRange.declared(([1, 0], [5, 10])).scale_to("symmetric")
    columns = np.array([1, 0, 1])
    np.testing.assert_array_equal(scale.forward([10, 5, 0], columns), [1, 1, -1])
    np.testing.assert_array_equal(scale.backward([1, 1, -1], columns), [10, 5, 0])
    np.testing.assert_array_equal(scale.backward([1, 1], slice(1, None)), [10, 10])


@given(
    low=FINITE,
    width=st.floats(1e-3, 1e6),
    share=st.floats(0, 1),
    working_range=st.sampled_from(["symmetric", "unit"]),
)
def test_the_map_is_increasing_onto_the_interval_and_its_inverse_undoes_it(low, width, share, working_range):
    scale = ValueRange.declared((low, low + width)).scale_to(working_range)
    value = low + share * width
    unit = np.spacing(max(abs(low), abs(low + width)))  # one unit in the last place of what is subtracted
    tolerance = 8 * unit / float(scale.factor)
    np.testing.assert_allclose(scale.forward([low, low + width]), scale.bounds, atol=tolerance)
    assert scale.bounds[0] - tolerance <= scale.forward(value) <= scale.bounds[1] + tolerance
    np.testing.assert_allclose(scale.backward(scale.forward(value)), value, atol=8 * unit, rtol=0)


@pytest.mark.parametrize(
    "bounds",
    [
        (1, 1),
        (5, 1),
        (0, np.inf),
        (np.nan, 1),
        (-1e308, 1e308),
        (0, 5e-324),
        ([0, 1], [1, 1]),
        (1,),
        (1, 2, 3),
        "ab",
        3,
        ([[0]], [[1]]),
        ([0, 0], [1, 1, 1]),
    ],
)
def test_malformed_bounds_are_refused(bounds):
    with pytest.raises(ObservationError, match="value range"):
        ValueRange.declared(bounds)


def test_an_unknown_interval_is_refused_by_name():
    with pytest.raises(ObservationError, match=r"unknown working_range 'symetric'.*did you mean 'symmetric'"):
        ValueRange.declared((0, 1)).scale_to("symetric")


def test_ranges_print_whence_they_come():
    assert (
        repr(ValueRange(np.asarray(0.5), np.asarray(2.0), inferred=True))
        == "ValueRange(0.5 to 2, inferred from the data)"
    )
    assert repr(ValueRange.declared(([1, 0], [5, 10]))) == "ValueRange(2 columns, each its own)"


@given(st.integers(-10_000, 10_000), st.integers(1, 10_000), st.integers(0, 4))
def test_a_decimal_in_the_middle_is_exactly_zero(low, width, places):
    """As written in a file; the bounds and the middle are rounded to numbers each for itself."""
    low, middle, high = (Decimal(low + k * width).scaleb(-places) for k in (0, 1, 2))
    for kind in (np.float64, np.float32):
        bounds = [float(kind(float(bound))) for bound in (low, high)]
        if bounds[0] < bounds[1]:
            scale = ValueRange.declared(bounds).scale_to("symmetric")
            assert scale.forward(np.array([float(middle)], kind)) == 0
    nearby = float(middle) + 1e-7 * float(high - low)
    assert ValueRange.declared((float(low), float(high))).scale_to("symmetric").forward(nearby) != 0


def test_what_is_observed_in_the_middle_is_at_distance_zero_from_what_is_missing():
    ratings = np.array([[2.2, 3.15], [2.2, np.nan], [4.1, 4.1]])
    assert all_pairs(ObservedDistance(ObservedMatrix(ratings), "l1"))[0] == 0
