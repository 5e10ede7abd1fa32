"""Lists of pairs: with and without a header, words or numbers for ids."""

import polars as pl
import pytest

from likewise.errors import FileFormatError, ObservationError
from likewise.observations import read_pairs
from likewise.observations.reading import read_answers


def pairs(path, content, **options):
    path.write_text(content)
    rows, columns = read_pairs(path, **options)
    return rows.tolist(), columns.tolist()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1,10\n2,20\n", ([1, 2], [10, 20])),
        ("user,item\n1,10\n2,20\n", ([1, 2], [10, 20])),
        ("movieId\tuserId\n10\t1\n20\t2\n", ([1, 2], [10, 20])),
        ("1::10::5\n2::20::4\n", ([1, 2], [10, 20])),
        ("ann,tea\nbob,milk\n", (["ann", "bob"], ["tea", "milk"])),
        ("7,x\n", ([7], ["x"])),
        ("007,x\n7,x\n", (["007", "7"], ["x", "x"])),
    ],
)
def test_layouts(tmp_path, content, expected):
    assert pairs(tmp_path / "pairs", content) == expected


def test_columns_by_name_and_by_position(tmp_path):
    assert pairs(tmp_path / "a", "who,what\nann,tea\n", user="who", item="what") == (["ann"], ["tea"])
    assert pairs(tmp_path / "b", "tea,ann\n", user=1, item=0) == (["ann"], ["tea"])


def test_parquet(tmp_path):
    pl.DataFrame({"user_id": ["ann"], "score": [1.0], "item_id": [3]}).write_parquet(
        tmp_path / "pairs.parquet"
    )
    rows, columns = read_pairs(tmp_path / "pairs.parquet")
    assert (rows.tolist(), columns.tolist()) == (["ann"], [3])


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("1\n2\n", FileFormatError, "1 field"),
        ("1,10\n2\n", FileFormatError, "line 2"),
        ("1,10\n,20\n", ObservationError, "no id"),
        ("user,item\n", FileFormatError, "header and no rows"),
        ("", FileFormatError, "empty"),
    ],
)
def test_faults(tmp_path, content, error, message):
    with pytest.raises(error, match=message):
        pairs(tmp_path / "pairs", content)


def test_pairs_with_judges_in_any_order_of_the_columns(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("judge;Similar;left;right;note\n1;yes;ann;bea;x\n2;No;ann;cy;\n")
    found = read_answers(path)
    assert found.pairs == [("ann", "bea", True), ("ann", "cy", False)]
    assert found.triplets is None
    assert found.judges.tolist() == [1, 2]
    assert found.roles.left_out == ("note",)


def test_triplets(tmp_path):
    path = tmp_path / "answers.tsv"
    path.write_text("anchor\tcloser\tfarther\n1\t2\t3\n3\t1\t2\n")
    found = read_answers(path)
    assert found.triplets == [(1, 2, 3), (3, 1, 2)]
    assert found.pairs is None
    assert found.judges is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "left,right\n1,2\n",
            "columns 'left', 'right'; expected left, right, similar or anchor, closer, farther",
        ),
        ("left,right,similar\n1,2,yes\n1,3,perhaps\n", "answer 2 of answers.csv, 'perhaps'"),
        ("left,right,similar\n1,2,\n1,3,yes\n", "answer 1"),
        ("", "empty"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, content, message):
    (tmp_path / "answers.csv").write_text(content)
    with pytest.raises(FileFormatError, match=message):
        read_answers(tmp_path / "answers.csv")
