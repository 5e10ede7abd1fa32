from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from likewise import SVT, svt
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


RATINGS = np.array([[5.0, 4, 1, np.nan], [1, 2, 5, 4], [5, np.nan, 2, 1], [2, 1, 4, 5]])


@pytest.mark.parametrize(
    "new",
    [
        np.full((1, 4), 50.0),
        [[1, np.nan, 5.5, 3]],
        [[np.nan, 0.99, 3, 3]],
        sparse.csr_array([[0.0, 6, 0, 0]]),
        ObservedMatrix([[1.0, np.nan, 50, 3]]),
    ],
    ids=["50s", "5.5", "0.99", "sparse", "observed"],
)
@pytest.mark.parametrize("value_range", [(1, 5), None, "per-column"])
def test_new_rows_outside_the_range_of_the_fit_are_refused(new, value_range):
    """They were clipped before: a row of 50s counted as a row of 5s."""
    fitted = SVT(0.5, value_range=value_range).fit(RATINGS)
    for call in (fitted.transform, fitted.estimate_.fold_in):
        with pytest.raises(
            ObservationError, match="values of new rows outside the range of the fit, the first being"
        ):
            call(new)


def test_the_first_value_outside_is_named_with_the_range_of_its_column():
    scale = ValueRange.declared(([0, 10], [1, 20])).scale_to("unit")
    with pytest.raises(
        ObservationError,
        match=r"^2 values of new rows .* 21 at \(1, 1\); expected values from 10 to 20\. Hint: .*value_range",
    ):
        scale.forward_checked(ObservedMatrix([[0.5, 12.0], [0.5, 21.0], [7.0, 12.0]]).to_table())


@pytest.mark.parametrize("wrong", [np.inf, -np.inf])
def test_new_rows_that_are_infinite_are_refused(wrong):
    with pytest.raises(ObservationError, match=r"value -?inf at \(0, 2\)"):
        svt(RATINGS, threshold=0.5).fold_in([[1.0, np.nan, wrong, 2]])


@given(
    hnp.arrays(st.sampled_from([np.float32, np.float64]), 6, elements=st.floats(-1e6, 1e6, width=32)),
    st.sampled_from(["symmetric", "unit"]),
)
def test_rows_of_the_fit_are_within_its_range_whatever_the_rounding(values, working_range):
    if values.min() < values.max():
        Z = ObservedMatrix(values.reshape(2, 3))
        mapped = Z.value_range.scale_to(working_range).forward_checked(Z.to_table())
        assert np.array_equal(mapped.astype(values.dtype), Z.scaled(working_range).values.data)
