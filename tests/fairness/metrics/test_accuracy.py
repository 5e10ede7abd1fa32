"""Held-out error, by hand and where every column has its own range."""

import numpy as np
import pytest

from likewise.errors import ModelError, ShapeError
from likewise.fairness import held_out_error
from likewise.observations import ValueRange


def test_by_hand_in_both_units():
    # On [-1, 1] the errors are 0.5, 0, -1; one unit of the interval is two stars.
    error = held_out_error(
        [0.5, 0.2, -1.0], [0.0, 0.2, 0.0], ValueRange.declared((1, 5)).scale_to("symmetric")
    )
    assert error.n == 3
    assert error.mse_scaled == pytest.approx(1.25 / 3)
    assert error.mse == pytest.approx(4 * 1.25 / 3)
    assert error.rmse == pytest.approx((5 / 3) ** 0.5)
    assert error.mae == pytest.approx(2 * 1.5 / 3)


def test_columns_of_their_own_range_add_up_as_shares_of_it():
    """A quarter of a range of 2 and a quarter of one of 200 are the same error."""
    scale = ValueRange.declared(([0, 0], [2, 200])).scale_to("symmetric")
    error = held_out_error([0.5, 0.5], [0.0, 0.0], scale, columns=np.array([0, 1]))
    assert error.mse_scaled == 0.25
    assert (error.mse, error.rmse, error.mae) == pytest.approx((0.0625, 0.25, 0.25))
    assert error.unit == "shares of each column's own range"


def test_without_a_scale_units_are_those_given():
    error = held_out_error([1.0], [3.0])
    assert (error.mse_scaled, error.mse, error.rmse, error.mae) == (4, 4, 2, 2)
    assert "RMSE 2" in str(error)
    assert error.to_dict()["n"] == 1


def test_bad_input():
    with pytest.raises(ShapeError, match="hidden observations"):
        held_out_error([1.0, 2.0], [1.0])
    with pytest.raises(ShapeError):
        held_out_error([], [])
    with pytest.raises(ModelError, match="1 predictions are NaN or infinite"):
        held_out_error([1.0, np.nan], [1.0, 2.0])
