"""Lists of pairs: with and without a header, words or numbers for ids."""

import polars as pl
import pytest

from likewise.errors import FileFormatError, ObservationError
from likewise.observations import read_pairs


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
