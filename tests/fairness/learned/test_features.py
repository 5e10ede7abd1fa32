"""Differences of numbers are in standard deviations, of categories 0 or 1; what cannot be compared is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from likewise.errors import DistanceError
from likewise.fairness.learned.features import ComparedFeatures

PEOPLE = {
    "age": [20.0, 40.0, 60.0, 40.0],
    "job": ["cook", "cook", "nurse", "clerk"],
    "married": [True, False, False, True],
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_numbers_and_categories_by_hand(frame):
    compared = ComparedFeatures.read(frame(PEOPLE))
    spread = np.sqrt(200)  # of 20, 40, 60, 40
    found = compared.differences(np.array([0, 0, 1]), np.array([1, 2, 2]))
    np.testing.assert_allclose(found, [[20 / spread, 0, 1], [40 / spread, 1, 1], [20 / spread, 1, 0]])
    assert compared.names == ("age", "job", "married")


def test_excluded_columns_do_not_count():
    compared = ComparedFeatures.read(pd.DataFrame(PEOPLE), exclude=["married"])
    assert compared.names == ("age", "job")
    assert compared.excluded == "all but married"
    assert ComparedFeatures.read(np.array([[1.0, 5.0], [2.0, 5.0]]), exclude=[1]).columns.shape == (2, 1)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (pl.DataFrame({"a": [1.0, None]}), "1 missing values in 'a'"),
        (pl.DataFrame({"a": [1.0, float("nan")]}), "missing or infinite values in 'a'"),
        (pl.DataFrame({"a": [1.0, 1.0]}), "'a', which is the same for everybody"),
        (pl.DataFrame({"a": ["x", "x"]}), "'a' with 1 different values"),
        (pl.DataFrame({"a": [f"name {i}" for i in range(60)]}), "'a' with 60 different values"),
        (np.array([[1.0], [np.nan]]), "NaN"),
    ],
)
def test_what_cannot_be_compared_is_named(rows, message):
    with pytest.raises(DistanceError, match=message):
        ComparedFeatures.read(rows)
