"""What is known of rows and columns beside the values: taken in order, encoded, and questioned."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise import make_estimator
from likewise.errors import FeatureWarning, InputError, ObservationError, ShapeError
from likewise.observations import Features, ObservedMatrix, with_features
from likewise.observations.with_features import _divides, _ranks

Z = ObservedMatrix(
    np.array([[1.0, np.nan, 2.0], [0.0, 5.0, np.nan], [np.nan, 3.0, 4.0], [2.0, 2.0, 1.0]]),
    value_range=(0, 5),
    row_ids=["ann", "bea", "cem", "dee"],
    column_ids=[10, 20, 30],
)


def test_a_frame_is_aligned_by_its_ids_and_says_what_was_taken() -> None:
    users = pl.DataFrame(
        {"user_id": ["dee", "zoe", "ann", "cem"], "age": [40, 1, 20, None], "job": ["a", "b", "b", "a"]}
    )
    side = with_features(Z, rows=users).side.rows
    assert side is not None
    assert side.names.tolist() == ["age", "job=a", "job=b"]
    expected = [[20, 0, 1], [np.nan] * 3, [np.nan, 1, 0], [40, 1, 0]]
    np.testing.assert_array_equal(side.values.toarray(), expected)
    assert side.notes == (
        "row features from age, job (3 columns)",
        "1 of 4 rows have no features",
        "1 rows of the row features are of others, and left out",
    )


def test_words_between_bars_each_count_and_a_cell_without_any_is_missing() -> None:
    side = with_features(Z, columns={"genre": ["war|love", "love|war|art", "art"]}).side.columns
    assert side is not None
    assert side.names.tolist() == ["genre=art", "genre=love", "genre=war"]
    np.testing.assert_array_equal(side.values.toarray(), [[0, 1, 1], [1, 1, 1], [1, 0, 0]])
    with pytest.raises(ObservationError, match="none says"):
        with_features(Z, columns={"genre": ["a", "b", None], "constant": [1, 1, 1]})


def test_features_go_with_the_rows_and_survive_what_is_done_to_the_observations() -> None:
    known = with_features(
        Z, rows=[[1.0], [2.0], [3.0], [4.0]], columns=sparse.csr_array([[0.0], [1.0], [2.0]])
    )
    for other in (
        known.scaled(),
        known.keep(np.arange(known.n_observed) > 1),
        known.with_values(known.values.data),
    ):
        assert other.side is known.side
    taken = known.take_rows([3, 1]).side
    assert taken.rows is not None
    assert taken.columns is known.side.columns
    np.testing.assert_array_equal(taken.rows.values.toarray(), [[4.0], [2.0]])
    more = with_features(known, rows=[[0.0], [0.0], [0.0], [1.0]])
    assert more.side.columns is known.side.columns
    assert known.notes == (*Z.notes, "row features from 0 (1 columns)", "column features from 0 (1 columns)")


def test_what_says_nothing_is_left_out_and_named() -> None:
    table = {"same": [1, 1, 1, 1], "none": [None] * 4, "name": list("abcd"), "age": [1, 2, 3, 4]}
    with pytest.warns(FeatureWarning, match="'same', 'none', 'name'"):
        side = with_features(Z, rows=table).side.rows
    assert side is not None
    assert side.names.tolist() == ["age"]


def test_a_feature_made_from_the_values_is_warned_of() -> None:
    values = np.random.default_rng(0).uniform(0, 5, (20, 6))
    observed = ObservedMatrix(values, value_range=(0, 5))
    with pytest.warns(FeatureWarning, match="mean of what was observed, or in its order: '0'"):
        with_features(observed, rows=3 * values.mean(axis=1) + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_features(observed, rows=values[:, 0])


@pytest.mark.parametrize("gaps", [0, 5])
def test_a_yes_or_no_made_from_the_values_is_warned_of(gaps: int) -> None:
    """Who is above the median mean, all but one; also where it is not known of a few, and as one word of a category."""
    rng = np.random.default_rng(0)
    values = rng.uniform(0, 5, (120, 6))
    observed, means = ObservedMatrix(values, value_range=(0, 5)), values.mean(axis=1)
    liked = 1.0 * (means > np.median(means))
    liked[np.argsort(means)[62]] = 0.0
    liked[:gaps] = np.nan
    others = {"drawn": 1.0 * (rng.random(120) < 0.5), "one film": 1.0 * (values[:, 0] > 2.5)}
    with pytest.warns(FeatureWarning, match="or in its order: 'liked';"):
        with_features(observed, rows={"liked": liked, **others})
    words = np.where(means > np.median(means), "fan", rng.choice(["critic", "guest"], 120)).tolist()
    with pytest.warns(FeatureWarning, match="or in its order: 'kind=fan';"):
        with_features(observed, rows={"kind": words})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_features(observed, rows=others)


def test_no_word_of_many_is_taken_for_the_means_by_chance() -> None:
    """Of thousands of rare words some are those of the few best by chance: that tells nothing."""
    rng = np.random.default_rng(0)
    observed = ObservedMatrix(rng.uniform(0, 5, (40, 6)), value_range=(0, 5))
    best = np.argsort(observed.to_dense().mean(axis=1))[-3:]
    words = 1.0 * (rng.random((40, 3000)) < 0.1)
    words[:, 0] = np.isin(np.arange(40), best)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_features(observed, rows=sparse.csr_array(words[:, words.any(axis=0)]))


@given(st.data())
def test_the_order_of_yes_and_no_is_that_of_a_loop(data: st.DataObject) -> None:
    """The share of pairs of a yes and a no in which the yes has the larger mean, ties for one half."""
    means = np.array(data.draw(st.lists(st.integers(0, 9), min_size=30, max_size=60)), dtype=float)
    is_yes = np.array(data.draw(st.lists(st.booleans(), min_size=means.size, max_size=means.size)))
    pairs = [(x > y) + (x == y) / 2 for x in means[is_yes] for y in means[~is_yes]]
    share = np.mean(pairs) if pairs else 0.5
    far = abs(share - 0.5) > 6 * np.sqrt((means.size + 1) / 12 / max(len(pairs), 1))
    assert _divides(_ranks(means)[is_yes], means.size) == (max(share, 1 - share) > 0.99 and far)


@pytest.mark.parametrize(
    ("rows", "error", "match"),
    [
        ([[1.0], [2.0]], ShapeError, "2 rows"),
        ([[1.0], [np.inf], [1.0], [2.0]], ObservationError, "infinite"),
        (np.zeros((2, 2, 2)), ShapeError, "shape"),
        (sparse.csr_array([[np.inf], [0], [0], [1]]), ObservationError, "infinite"),
        (pl.DataFrame({"id": ["x", "y"], "age": [1, 2]}), ObservationError, "none of them"),
        (pl.DataFrame({"id": ["ann", "bea"], "age": [3, 3]}), ObservationError, "none says"),
    ],
)
@pytest.mark.filterwarnings("ignore::likewise.errors.FeatureWarning")
def test_what_cannot_be_used_is_refused(rows: object, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        with_features(Z, rows=rows)


def test_names_of_a_fit_are_found_again_or_the_lack_is_said() -> None:
    fit = with_features(Z, rows={"age": [1, 2, 3, 4], "job": ["a", "b", "a", "b"]}).side.rows
    new = Features(
        sparse.csr_array([[1.0, 7.0]]), np.array(["job=c", "age"], dtype=object), np.zeros(2, bool)
    )
    assert fit is not None
    with pytest.raises(ObservationError, match="lack 'job=a', 'job=b'"):
        new.named(fit.names)
    more = with_features(Z, rows={"job": ["b", "c", "c", "b"], "age": [4, 3, 2, 1]}).side.rows
    assert more is not None
    np.testing.assert_array_equal(
        more.named(np.array(["age", "job=b"], dtype=object)).values.toarray(),
        [[4, 1], [3, 0], [2, 0], [1, 1]],
    )


@given(st.permutations(range(4)), st.lists(st.integers(-9, 9), min_size=4, max_size=4, unique=True))
def test_the_order_of_a_frame_means_nothing(order: list[int], ages: list[int]) -> None:
    whole = pl.DataFrame({"id": Z.row_ids.tolist(), "age": ages})
    first, second = (with_features(Z, rows=frame).side.rows for frame in (whole, whole[order]))
    assert first is not None
    assert second is not None
    np.testing.assert_array_equal(first.values.toarray(), second.values.toarray())


@pytest.mark.parametrize("ids", [[13.0, 11.0, 12.0], ["13", "11", "12"], [13, 11, 12]])
@pytest.mark.parametrize("kind", [dict, pl.DataFrame])
def test_ids_that_are_fractions_or_in_a_mapping_put_rows_in_order(ids: list[object], kind: type) -> None:
    observed = ObservedMatrix(np.eye(3), value_range=(0, 5), row_ids=[11, 12, 13], column_ids=[11, 12, 13])
    known = with_features(observed, rows=kind({"user": ids, "age": [40, 20, 30]}))
    assert known.side.rows is not None
    assert known.side.rows.values.toarray().ravel().tolist() == [20, 30, 40]
    films = with_features(observed, columns=kind({"movie": ids, "year": [40, 20, 30]})).side.columns
    assert films is not None
    assert films.values.toarray().ravel().tolist() == [20, 30, 40]


def test_an_id_twice_is_refused() -> None:
    with pytest.raises(ObservationError, match="an id twice"):
        with_features(Z, rows=pl.DataFrame({"user": ["ann", "bea", "cem", "cem"], "age": [1, 2, 3, 4]}))


def test_numbers_written_as_text_are_categories_and_said_to_be() -> None:
    given = {"age": ["20", "30", "20", " 3,5"], "job": ["cook", "nurse", "cook", "7"], "size": [1.0, 2, 3, 4]}
    Z = ObservedMatrix(np.arange(12.0).reshape(4, 3))
    notes = with_features(Z, rows=given).notes
    said = [note for note in notes if "numbers written as text" in note]
    assert said == [
        "row features with numbers written as text are taken as categories: age; convert measurements to numbers first"
    ]
    by_id = pl.DataFrame({"id": range(4), "code": ["1", "2", "1", "2"]})
    assert any("as text are taken as categories: code" in note for note in with_features(Z, rows=by_id).notes)


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_new_rows_with_fewer_positional_features_than_the_fit_are_refused(as_given) -> None:
    rng = np.random.default_rng(0)
    ratings, features = rng.integers(1, 6, (30, 8)).astype(float), rng.normal(size=(30, 3))

    def beside(k: int) -> ObservedMatrix:
        return with_features(ObservedMatrix(ratings, value_range=(1, 5)), rows=as_given(features[:, :k]))

    fitted = make_estimator("als", random_state=0).fit(beside(3))
    fitted.transform(beside(3))
    with pytest.raises(ObservationError, match=r"lack '2', which the fit knows.*like=fitted.observed_"):
        fitted.transform(beside(2))


def test_cells_that_are_lists_hold_words_and_those_with_fields_are_refused() -> None:
    lists = {"genre": [["x", "y"], ["y"], ["x", "z"], ["z"]]}
    as_text = {"genre": ["x|y", "y", "x|z", "z"]}
    expected = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1]])
    for genres in (lists, as_text, pl.DataFrame(lists)):
        side = with_features(Z, rows=genres).side.rows
        assert side is not None
        assert side.names.tolist() == ["genre=x", "genre=y", "genre=z"]
        np.testing.assert_array_equal(side.values.toarray(), expected)
    with pytest.raises(ObservationError, match="fields of their own"):
        with_features(Z, rows=[{"age": 1}, {"age": 2}, {"age": 3}, {"age": 4}])


def test_lists_of_one_length_are_cells_and_no_table() -> None:
    side = with_features(
        Z, rows=pl.DataFrame({"genre": [["x", "y"], ["y", "z"], ["x", "y"], ["z", "x"]]})
    ).side
    assert side.rows is not None
    np.testing.assert_array_equal(side.rows.values.toarray(), [[1, 1, 0], [0, 1, 1], [1, 1, 0], [1, 0, 1]])


def test_a_whole_number_among_words_is_the_same_word_in_a_fit_and_of_a_new_row() -> None:
    fit = with_features(Z, rows={"zip": [1.0, "a", 1.0, "a"]})
    assert fit.side.rows is not None
    assert fit.side.rows.names.tolist() == ["zip=1", "zip=a"]
    new = ObservedMatrix(np.array([[1.0, np.nan, np.nan]]), value_range=(0, 5))
    side = with_features(new, rows={"zip": [1.0]}, like=fit).side.rows
    assert side is not None
    np.testing.assert_array_equal(side.values.toarray(), [[1, 0]])


def test_sparse_complex_features_are_refused_in_a_fit_and_of_new_rows() -> None:
    fit = with_features(Z, rows=sparse.csr_array(np.eye(4)[:, :2]))
    for like in (None, fit):
        with pytest.raises(ObservationError, match="complex128"):
            with_features(Z, rows=sparse.csr_array(np.eye(4)[:, :2] * (1 + 1j)), like=like)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"), [("svt", {}), ("biases", {}), ("soft-impute", {}), ("als", {"regularization": 0.5})]
)
def test_an_estimator_that_does_not_regress_on_features_says_so(name: str, options: dict[str, float]) -> None:
    known = with_features(Z, rows=[1, 2, 3, 5], columns=[1, 2, 4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = make_estimator(name, random_state=0, **options).fit(known)
        plain = make_estimator(name, random_state=0, **options).fit(Z)
        counted = make_estimator("als", rank=1, random_state=0).fit(known)
        refused = make_estimator("als", rank=1, sources="none", random_state=0).fit(known)
    said = "the features of the rows and columns do not count"
    assert said in fitted.notes_
    assert not any(said in other.notes_ for other in (plain, counted, refused))


def test_new_people_of_whom_nothing_is_observed_are_predicted_from_their_features() -> None:
    """As those of the fit of whom nothing was observed either; in the range of the fit, which an array has not."""
    rng = np.random.default_rng(0)
    ages = rng.normal(size=30)
    marks = np.where(rng.random((30, 12)) < 0.6, 3 + np.outer(ages, rng.normal(size=12)) / 2, np.nan)
    marks[:3] = np.nan
    people = with_features(
        ObservedMatrix(np.clip(marks, 1, 5), value_range=(1, 5), column_ids=[f"film {j}" for j in range(12)]),
        rows={"age": ages},
    )
    fitted = make_estimator("als", rank=2, random_state=0).fit(people)
    cold = with_features(np.full((3, 12), np.nan), rows={"age": ages[:3]}, like=fitted.observed_)
    assert (cold.n_observed, cold.value_range.low, cold.column_ids[0]) == (0, 1, "film 0")
    np.testing.assert_allclose(fitted.transform(cold), fitted.estimate_.to_dense()[:3])
    assert np.ptp(fitted.transform(cold), axis=0).max() > 0.1
    one = with_features(np.array([[4.0] + [np.nan] * 11]), rows={"age": [0.0]}, like=fitted.observed_)
    assert one.value_range.high == 5
    with pytest.raises(ObservationError, match="at least one observation"):
        make_estimator("als", rank=2).fit(cold)
    with pytest.raises(ObservationError, match="without an observation"):
        with_features(np.full((3, 12), np.nan), rows={"age": ages[:3]})


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
