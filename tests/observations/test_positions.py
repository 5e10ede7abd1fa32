"""Positions are whole numbers on their axis; nothing is rounded, wrapped around or taken for a mask."""

import numpy as np
import pytest

from likewise import ObservedMatrix, svt
from likewise.errors import ShapeError
from likewise.observations.index_alignment import checked_positions

Z = ObservedMatrix(np.array([[1.0, 1.0, 0.0], [1.0, np.nan, 1.0]]), value_range=(-1, 1))
WRONG = {
    "a fraction": ([0.7], "type float64"),
    "too large": ([2], "row position 2"),
    "from the end": ([-1], "row position -1"),
    "text": (["0"], "type <U1"),
}


@pytest.mark.parametrize(("given", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_position_is_refused(given, message):
    estimate = svt(Z, threshold=0.5)
    for ask in (estimate.rows, lambda rows: estimate.entries(rows, [0]), Z.take_rows):
        with pytest.raises(ShapeError, match=message):
            ask(given)


def test_truth_values_are_a_mask_of_rows_and_no_positions_elsewhere():
    estimate = svt(Z, threshold=0.5)
    assert Z.take_rows([False, True]).row_ids.tolist() == [1]
    with pytest.raises(ShapeError, match="mask of shape"):
        Z.take_rows([True])
    for ask in (estimate.rows, lambda rows: estimate.entries(rows, rows)):
        with pytest.raises(ShapeError, match="type bool"):
            ask([True, False])


def test_a_column_position_beyond_the_axis_is_named():
    with pytest.raises(ShapeError, match="column position 3; expected positions from 0 to 2"):
        svt(Z, threshold=0.5).entries([0], [3])


def test_positions_that_fit_are_taken():
    estimate = svt(Z, threshold=0.5)
    np.testing.assert_allclose(estimate.rows([1, 0]), estimate.to_dense()[[1, 0]], atol=1e-12)
    np.testing.assert_allclose(estimate.rows(slice(1, None)), estimate.to_dense()[1:], atol=1e-12)
    assert estimate.entries([], []).shape == (0,)
    assert Z.take_rows(1).row_ids.tolist() == [1]
    assert checked_positions(np.array([1], dtype=np.uint8), 2, "row").dtype == np.intp
