"""Outputs in their own units, by hand and against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.fairness.metrics.output_units import in_their_units, mean_differences


def test_units_by_hand_three_columns():
    """From 2 to 6, a constant whose sum would round, and the largest numbers there are."""
    scaled, lengths = in_their_units(np.array([[2.0, 0.7, -1e308], [3.0, 0.7, 1e308], [6.0, 0.7, 0.0]]))
    assert scaled.tolist() == [[0, 0, 0], [0.25, 0, 1], [1, 0, 0.5]]
    assert lengths[:2].tolist() == [4, 0]


@given(values=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20))
def test_mean_difference_as_defined(values):
    n = len(values)
    pairs = [abs(values[i] - values[j]) for i in range(n) for j in range(i)]
    assert mean_differences(np.array(values)[:, None])[0] == pytest.approx(np.mean(pairs), abs=1e-9)
