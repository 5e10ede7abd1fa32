"""Ids and labels of any type: kept as they are, and unknown where they say nothing, in whatever holds them."""

import datetime
import decimal

import numpy as np
import polars as pl
import pytest

from likewise import ObservedMatrix, audit
from likewise.errors import ObservationError, ShapeError
from likewise.fairness import RowDistance
from likewise.observations.ids import as_id_array, as_labels, is_unknown, unknown_labels

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

TEXT, NUMBERS = ["f", None, "m"], [1.0, None, 2.0]


@pytest.mark.parametrize(
    "held",
    [
        TEXT,
        ["f", float("nan"), "m"],
        ["f", pd.NA, "m"],
        ["f", pd.NaT, "m"],
        ["f", np.float32("nan"), "m"],
        ["f", decimal.Decimal("nan"), "m"],
        [True, None, False],
        [1.0, float("nan"), 2.0],
        np.array(TEXT, dtype=object),
        np.array([1.0, np.nan, 2.0]),
        np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="M8[D]"),
        np.ma.array(["f", "x", "m"], mask=[0, 1, 0]),
        np.ma.array([1, 9, 2], mask=[0, 1, 0]),
        pd.Series(TEXT),
        pd.Series(TEXT, dtype=object),
        pd.Series(TEXT, dtype="string"),
        pd.Series(TEXT, dtype="string[pyarrow]"),
        pd.Series(TEXT, dtype="category"),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series(NUMBERS),
        pd.array(TEXT, dtype="string"),
        pd.Index(TEXT),
        pl.Series(TEXT),
        pl.Series(TEXT, dtype=pl.Categorical),
        pl.Series([1, None, 2]),
        pl.Series([True, None, False]),
        pl.Series([1.0, float("nan"), 2.0]),
        pl.Series([datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 2)]),
        pa.array(TEXT),
        pa.array([1, None, 2]),
        pa.array(TEXT).dictionary_encode(),
        pa.chunked_array([TEXT[:1], TEXT[1:]]),
    ],
    ids=lambda held: (
        f"{type(held).__module__}.{type(held).__name__} {getattr(held, 'dtype', getattr(held, 'type', ''))}"
    ),
)
def test_unknown_is_unknown_in_every_container(held):
    assert unknown_labels(held).tolist() == [False, True, False]
    with pytest.raises(ObservationError, match="the row id of observation 1 is missing"):
        ObservedMatrix(np.eye(3), row_ids=held)


@pytest.mark.parametrize("held", [["nan", "NA", "", "None", 0, False], ["a"], [], ["x"] * 3])
def test_text_and_zeros_are_known(held):
    assert not unknown_labels(held).any()


def test_what_cannot_be_compared_is_known():
    class Strange:
        def __ne__(self, other):
            raise ValueError("no")

        __hash__ = None

    assert not is_unknown(Strange())


def test_missing_ids_of_triplets_are_named_whatever_is_missing():
    for missing in (None, float("nan"), pd.NA, pd.NaT):
        with pytest.raises(ObservationError, match="the row id of observation 1 is missing"):
            ObservedMatrix.from_triplets(["a", missing], ["x", "y"], [1, 2])
        with pytest.raises(ObservationError, match="the column id of observation 0 is missing"):
            ObservedMatrix.from_triplets(["a", "b"], pd.Series([missing, "y"], dtype=object), [1, 2])


def test_pairs_and_large_numbers_are_ids_too():
    Z = ObservedMatrix.from_triplets([("a", 1), ("a", 2)], [-1, 2**63], [1, 2])
    assert Z.row_ids.tolist() == [("a", 1), ("a", 2)]
    assert Z.column_ids.tolist() == [-1, 2**63]
    assert as_id_array([2**63, 2**63 + 1]).tolist() == [2**63, 2**63 + 1]


@pytest.mark.parametrize("held", ["ann", 5, {"a": 1}, np.array([["a"], ["b"]]), None])
def test_what_is_no_sequence_of_labels_is_refused(held):
    with pytest.raises(ShapeError, match="one-dimensional sequence of labels"):
        unknown_labels(held)


def test_pandas_na_and_the_nan_of_numpy_text_are_no_groups_of_an_audit():
    """The first stopped the answer with a TypeError, the second made a group called nan."""
    rng = np.random.default_rng(0)
    people, scores = RowDistance(rng.normal(size=(60, 2))), rng.normal(size=60)
    some = ["f", "m", None] * 20

    def told(groups):  # not the details, which tell the time
        report = audit(people, outputs=scores, groups=groups)
        return str(report), repr(report.arms["outputs"].fairness.groups)

    plain = told(some)
    for groups in (
        pd.Series(some, dtype="string"),
        pd.Series(some, dtype="string").astype(object),
        np.array([float("nan") if group is None else group for group in some]),
    ):
        assert told(groups) == plain


WHOLE = [2**53, None, 2**53 + 1]


@pytest.mark.parametrize(
    "held",
    [
        WHOLE,
        np.array(WHOLE, dtype=object),
        np.ma.array([2**53, 0, 2**53 + 1], mask=[0, 1, 0]),
        pd.array(WHOLE, dtype="Int64"),
        pd.Series(WHOLE, dtype="Int64"),
        pd.Series(WHOLE, dtype="int64[pyarrow]"),
        pl.Series(WHOLE),
        pa.array(WHOLE),
        pa.chunked_array([WHOLE]),
    ],
)
def test_whole_groups_beside_a_missing_one_stay_whole_and_apart(held):
    """They were shown as 1.0, and two of them became one where a float holds no whole numbers that large."""
    assert as_labels(held).tolist() == WHOLE
    rng = np.random.default_rng(0)
    report = audit(RowDistance(rng.normal(size=(3, 2))), outputs=rng.normal(size=3), groups=held)
    found = report.arms["outputs"].fairness.groups
    names = [kind.name for kind in found.by_groups]
    assert (names[1], found.n_unknown) == (f"{2**53} and {2**53 + 1}", 1)


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        (np.array([1.0, np.nan, 10.0]), [1, None, 10]),
        (pd.Series([1, None, 10]), [1, None, 10]),
        (pd.Series([1.5, None, 10]), [1.5, None, 10.0]),
        (pd.Series([1, 1, None], dtype="category"), [1, 1, None]),
        ([True, None, False], [True, None, False]),
        (pd.Series([1.0, "a", None], dtype=object), [1.0, "a", None]),
        (
            pd.Series(pd.to_datetime(["2024-05-01", None])),
            [datetime.date(2024, 5, 1), None],
        ),
        (np.array(["2024-05-01T06:30"], dtype="M8[ns]"), [datetime.datetime(2024, 5, 1, 6, 30)]),
    ],
)
def test_labels_are_as_people_write_them(held, shown):
    found = as_labels(held).tolist()
    assert (found, list(map(type, found))) == (shown, list(map(type, shown)))
