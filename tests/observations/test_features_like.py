"""Features of new rows, encoded as those of a fit: the same columns and words, however few the new rows are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise import make_estimator
from likewise.errors import FeatureWarning, InputError, ObservationError, ShapeError
from likewise.observations import ObservedMatrix, with_features

AGES, JOBS = [20.0, 40.0, 30.0, 50.0, 35.0], ["cook", "nurse", "cook|clerk", "nurse", "clerk"]
RATINGS = np.array([[1.0, np.nan, 2], [0, 5, np.nan], [np.nan, 3, 4], [2, 2, 1], [4, 1, 3]])
FIT = with_features(ObservedMatrix(RATINGS, value_range=(0, 5)), rows={"age": AGES, "job": JOBS})


def new_rows(k: int) -> ObservedMatrix:
    return ObservedMatrix(RATINGS[:k], value_range=(0, 5))


def encoded(rows: object, k: int = 1, like: ObservedMatrix = FIT) -> list[list[float]]:
    side = with_features(new_rows(k), rows=rows, like=like).side.rows
    assert side is not None
    assert like.side.rows is not None
    assert side.names.tolist() == like.side.rows.names.tolist()
    return side.values.toarray().tolist()


def test_new_rows_that_are_all_alike_have_the_columns_of_the_fit() -> None:
    """By themselves they say nothing; the fit has age, and the words clerk, cook, nurse of job."""
    assert encoded({"age": [30, 30], "job": ["cook", "cook"]}, 2) == [[30, 0, 1, 0], [30, 0, 1, 0]]
    assert encoded({"age": [30], "job": ["nurse|cook"]}) == [[30, 0, 1, 1]]
    assert encoded(pl.DataFrame({"job": [None], "age": [7]}))[0][0] == 7
    assert np.isnan(encoded({"age": [None], "job": [" "]})).all()


def test_a_new_person_is_folded_in_as_in_the_fit() -> None:
    rng = np.random.default_rng(0)
    people = pl.DataFrame({"age": rng.normal(40, 9, 40), "job": rng.choice(["a", "b", "c"], 40)})
    ratings = rng.uniform(0, 5, (40, 6))
    known = with_features(ObservedMatrix(ratings, value_range=(0, 5)), rows=people)
    fitted = make_estimator("als", rank=2, noise=0.5, random_state=0).fit(known)
    alone = ObservedMatrix(ratings[3:4], value_range=(0, 5))
    one = with_features(alone, rows=people[3:4], like=fitted.observed_)
    np.testing.assert_allclose(fitted.estimate_.fold_in(one), fitted.estimate_.rows([3]), atol=1e-9)
    with pytest.raises(ObservationError, match=r"like=fitted\.observed_"):
        with_features(alone, rows=people[3:4])
    some = with_features(
        ObservedMatrix(ratings[:3], value_range=(0, 5)), rows={"age": [1, 2, 3], "job": list("aab")}
    )
    with pytest.raises(ObservationError, match=r"lack 'job=b', 'job=c', which the fit knows.*like=fitted"):
        fitted.estimate_.fold_in(some)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5, unique=True))
def test_rows_of_the_fit_are_encoded_as_they_were(chosen: list[int]) -> None:
    frame = pl.DataFrame(
        {"job": [JOBS[k] for k in chosen], "other": chosen, "age": [AGES[k] for k in chosen]}
    )
    assert FIT.side.rows is not None
    expected = FIT.side.rows.values.toarray()[chosen]
    np.testing.assert_array_equal(encoded(frame, len(chosen)), expected)


def test_what_is_not_shared_with_the_fit_is_said() -> None:
    with pytest.warns(
        FeatureWarning, match="without 'job=clerk', 'job=cook', 'job=nurse', which the fit knows"
    ):
        assert np.isnan(encoded({"age": [30]})[0][1:]).all()
    notes = with_features(new_rows(1), rows={"age": [1], "job": ["pilot"], "eyes": [2]}, like=FIT).notes
    assert "row features 'eyes' are not in the fit, and left out" in notes
    assert "words that the fit does not have count as none: 'job=pilot'" in notes


def test_columns_without_names_go_by_position() -> None:
    """The second of the fit is constant: the others keep their places."""
    table = np.array([[1.0, 7, 2], [3, 7, 4], [5, 7, 7], [5, 7, 6], [0, 7, 1]])
    with pytest.warns(FeatureWarning, match="'1'"):
        fit = with_features(ObservedMatrix(RATINGS, value_range=(0, 5)), rows=table)
    assert encoded([[8.0, 9.0, 6.0]], like=fit) == [[8, 6]]
    with pytest.warns(FeatureWarning, match="'1'"):
        stored = with_features(ObservedMatrix(RATINGS, value_range=(0, 5)), rows=sparse.csr_array(table))
    assert encoded(sparse.csr_array([[8.0, 9.0, 6.0]]), like=stored) == [[8, 6]]
    for rows in ([[8.0, 6.0]], sparse.csr_array([[8.0, 6.0]])):
        with pytest.raises(ShapeError, match=r"2 columns .*; expected 3, as in the fit"):
            encoded(rows, like=fit)
        with pytest.raises(ShapeError, match="a frame with 'age', 'job', as in the fit"):
            encoded(rows)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ({"age": ["old"], "job": ["cook"]}, "'age' with 'old'; expected numbers"),
        ({"age": [np.inf]}, "infinite"),
        ({"years": [3]}, "'years'; expected those of the fit, which knows 'age', 'job'"),
        ({}, "without columns"),
        (pl.DataFrame({"id": [8], "age": [3.0], "job": ["cook"]}), "none of them"),
        ({"age": [1, 2], "job": ["cook"]}, "2 and 1"),
        (sparse.csr_array([[1.0, np.inf]]), "without names"),
    ],
)
def test_what_does_not_fit_is_refused(rows: object, match: str) -> None:
    with pytest.raises((ObservationError, ShapeError), match=match):
        encoded(rows)


@pytest.mark.parametrize("like", [new_rows(2), "a fit", make_estimator("als")])
def test_only_observations_with_features_are_a_pattern(like: object) -> None:
    with pytest.raises(InputError, match=r"like=.* expected an ObservedMatrix with row features"):
        with_features(new_rows(1), rows={"age": [1]}, like=like)  # type: ignore[arg-type]


def test_columns_of_unlike_lengths_are_refused_without_a_fit_too() -> None:
    with pytest.raises(ShapeError, match="2 and 1"):
        with_features(new_rows(2), rows={"age": [1, 2], "job": ["cook"]})
