"""Data frames with a line for each rating are read as ratings, or refused with the call that is meant; ids are not features."""

import numpy as np
import polars as pl
import pytest

from likewise import SVT, KNNRecommender, ObservedMatrix, audit
from likewise.errors import InputError, ModelError, ObservationError
from likewise.fairness import RowDistance, measure_fairness
from likewise.observations import clustered

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

FRAMES = pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"]
)
RATINGS = {
    "userId": [7, 3, 7, 3],
    "movieId": [20, 10, 10, 30],
    "rating": [3.0, 0.0, 5.0, 1.0],
    "timestamp": [964982703, 964981247, 964982224, 964983815],
}
READ = "each line of the data frame is one observation: user from column 'userId', item from column 'movieId', rating from column 'rating'"


@FRAMES
def test_a_line_for_each_rating_is_read_as_ratings(frame):
    """It was a matrix of four features before: ids, ratings and times."""
    Z = ObservedMatrix(frame(RATINGS), value_range=(0, 5))
    assert (Z.row_ids.tolist(), Z.column_ids.tolist()) == ([3, 7], [10, 20, 30])
    assert Z.values.toarray().tolist() == [[0, 0, 1], [5, 3, 0]]
    assert Z.n_observed == 4
    assert Z.notes == (READ,)
    assert Z.roles.to_dict() == {
        "source": "the data frame", "ids": ["userId"], "features": ["movieId"],
        "categories": None, "values": ["rating"],
        "outputs": None, "target": None, "groups": None, "times": None, "left_out": ["timestamp"],
        "remarks": [],
    }  # fmt: skip


@FRAMES
@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (("user", "item", "score"), ["a", "b", "b", "a"]),
        (("reviewerID", "asin", "overall"), ["a", "b", "b", "a"]),
        (("customer_id", "product_id", "stars"), [1, 2, 2, 1]),
    ],
)
def test_names_and_ids_of_any_kind(frame, names, ids):
    Z = ObservedMatrix(frame(dict(zip(names, (ids, ["x", "x", "y", "z"], [1, 2, 3, 4]), strict=True))))
    assert (Z.shape, Z.row_ids.tolist(), Z.column_ids.tolist()) == ((2, 3), sorted(set(ids)), ["x", "y", "z"])
    assert Z.values.toarray().tolist() == [[1, 0, 4], [2, 3, 0]]


@pytest.mark.slow
@FRAMES
def test_an_audit_reads_lines_as_it_reads_their_matrix(frame):
    Z = clustered(30, 40, 3, observed_fraction=0.5, random_state=0).observed
    rows, columns = Z.positions()
    lines = frame({"user": rows, "item": columns, "rating": Z.values.data})
    of_lines, of_matrix = (
        audit(of, estimator="svt", random_state=0).arms["with"].fairness.mean_ratio
        for of in (lines, ObservedMatrix.from_triplets(rows, columns, Z.values.data))
    )
    assert of_lines == of_matrix


@FRAMES
def test_what_is_wrong_with_lines_is_told_as_of_triplets(frame):
    for change, message in (
        ({"movieId": [20, 10, 20, 30]}, "1 pair occurs more than once"),
        ({"rating": [3.0, None, 5.0, 1.0]}, "value nan at"),
        ({"userId": [7, None, 7, 3]}, "the row id of observation 1 is missing"),
    ):
        with pytest.raises(ObservationError, match=message):
            ObservedMatrix(frame(RATINGS | change))


@FRAMES
def test_lines_without_values_are_refused_with_the_call_that_is_meant(frame):
    lines = frame({name: RATINGS[name] for name in ("userId", "movieId", "timestamp")})
    with pytest.raises(
        ObservationError,
        match=r"no column of values; .*from_triplets\(frame\['userId'\], frame\['movieId'\]",
    ):
        ObservedMatrix(lines)


@FRAMES
def test_whoever_wants_a_row_for_each_individual_refuses_lines(frame):
    lines = frame(RATINGS)
    for call in (
        lambda: SVT(0.5).fit(lines),
        lambda: KNNRecommender(1).fit(lines),
        lambda: RowDistance(lines),
    ):
        with pytest.raises(
            ObservationError, match=r"a line for each userId and movieId; .*ObservedMatrix\(frame\) reads it"
        ):
            call()


@FRAMES
@pytest.mark.parametrize("name", ["userId", "Unnamed: 0", "index", "id", "applicant_id", ""])
def test_ids_and_counts_are_no_features_and_no_outputs(frame, name):
    table = frame({name: [3, 1, 2, 0], "age": [20.0, 30, 40, 50], "income": [1.0, 2, 3, 5]})
    outputs = frame({name: [3, 1, 2, 4], "score": [0.1, 0.2, 0.3, 0.5]})
    people = RowDistance([[1.0], [2.0], [3.0], [5.0]])
    for call in (
        lambda: ObservedMatrix(table),
        lambda: RowDistance(table),
    ):
        with pytest.raises(InputError, match=f"column {name!r}, which names or counts the individuals"):
            call()
    for measured in (lambda: measure_fairness(outputs, people), lambda: audit(people, outputs=outputs)):
        with pytest.raises(InputError, match=f"column {name!r}(, which names or counts| has '4', not among)"):
            measured()


@FRAMES
def test_columns_that_only_sound_like_ids_stay(frame):
    """Levels that repeat, and fractions, name nobody."""
    table = frame({"student": [0, 1, 1, 0], "key": [0.5, 1.5, 2.5, 3.5], "age": [20.0, 30, 40, 50]})
    assert ObservedMatrix(table).column_ids.tolist() == ["student", "key", "age"]
    assert RowDistance(table).n_individuals == 4


@FRAMES
def test_outputs_with_a_line_for_each_item_are_refused_with_the_call(frame):
    people = RowDistance([[1.0], [2.0], [3.0], [5.0]])
    for call in (lambda lines: measure_fairness(lines, people), lambda lines: audit(people, outputs=lines)):
        with pytest.raises(
            ModelError, match=r"frame\.pivot\(index='userId', columns='movieId', values='rating'\)"
        ):
            call(frame(RATINGS))
        with pytest.raises(ModelError, match=r"lists of items \('rec1', 'rec2'\); .*top_n_distance\(frame\)"):
            call(frame({"rec1": [10, 20, 10, 30], "rec2": [20, 30, 30, 10]}))


@FRAMES
def test_fractions_under_the_names_of_items_are_numbers(frame):
    people, scores = RowDistance([[1.0], [2.0], [3.0]]), {"item1": [0.5, 1.0, 2.0], "item2": [1.0, 2.0, 3.0]}
    expected = measure_fairness(np.column_stack(list(scores.values())), people).mean_ratio.value
    assert measure_fairness(frame(scores), people).mean_ratio.value == expected


def test_triplets_in_a_list_are_refused_with_the_call():
    with pytest.raises(ObservationError, match=r"from_triplets\(users, items, ratings\)"):
        ObservedMatrix([("ann", "tea", 5), ("bea", "tea", 3)])


def test_a_frame_without_names_is_a_matrix():
    for held in (pd.DataFrame(np.arange(12.0).reshape(4, 3)), pd.DataFrame(np.arange(12).reshape(4, 3))):
        assert ObservedMatrix(held).shape == (4, 3)


def test_names_that_are_given_settle_it():
    """Who gives ids of rows or columns says that rows are individuals."""
    Z = ObservedMatrix(pd.DataFrame(RATINGS), column_ids=["a", "b", "c", "d"])
    assert Z.shape == (4, 4)
