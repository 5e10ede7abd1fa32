"""Pages that claim values that they cannot have: refused before polars asks for the memory of them, which would end the process."""

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import read_partitioned, read_ratings
from likewise.errors import FileFormatError
from likewise.observations.reading.parquet_pages import impossible_page


def written(frame, **options):
    stream = io.BytesIO()
    frame.write_parquet(stream, **options)
    return stream.getvalue()


RATINGS = pl.DataFrame(
    {"user": [1, 1, 2, 2, 3], "item": [1, 2, 1, 2, 1], "rating": [1.0, 5.0, 3.0, 2.0, 4.0]}
)
DATA_PAGE = b"\x2c\x15"
"""How the part of a page's header begins that says how many values it has; the number follows, twice as large if it is positive."""


@pytest.mark.parametrize(("claimed", "byte"), [(-33, b"\x41"), (-1, b"\x01"), (63, b"\x7e")])
def test_a_page_that_claims_what_it_cannot_have_is_refused(tmp_path, claimed, byte):
    """The first of these ended the process: memory for 2^64 - 33 values was asked for."""
    whole = written(RATINGS)
    assert impossible_page(whole) == ""
    assert whole.count(DATA_PAGE + b"\x0a") == 3  # one a column, of 5 values
    damaged = whole.replace(DATA_PAGE + b"\x0a", DATA_PAGE + byte)
    (tmp_path / "ratings.parquet").write_bytes(damaged)
    for read in (read_ratings, read_partitioned):
        with pytest.raises(FileFormatError, match=rf"a page claims {claimed} values, of 5"):
            read(tmp_path / "ratings.parquet")


@given(
    st.lists(st.tuples(st.integers(), st.text(max_size=3), st.none() | st.floats()), max_size=60),
    st.sampled_from(
        [
            {},
            {"compression": "uncompressed"},
            {"row_group_size": 7},
            {"data_page_size": 8},
            {"statistics": "full"},
        ]
    ),
)
def test_whole_files_have_none(rows, options):
    kinds = {"a": pl.Int64, "b": pl.String, "c": pl.Float64}
    rows = [(a % 2**63, b, c) for a, b, c in rows]
    assert impossible_page(written(pl.DataFrame(rows, schema=kinds, orient="row"), **options)) == ""


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"version": "1.0"},
        {"data_page_version": "2.0"},
        {"use_dictionary": False},
        {"row_group_size": 10},
        {"write_page_index": True},
    ],
)
def test_whole_files_of_another_writer_have_none(options):
    """One of them has more words in its dictionary than rows."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 20), pa.array([f"w{k}" for k in range(500)]))
    table = pa.table({"a": np.arange(40), "b": words, "c": [None, True] * 20, "d": [[1.0, None]] * 40})
    stream = io.BytesIO()
    parquet.write_table(table, stream, **options)
    assert impossible_page(stream.getvalue()) == ""


@given(st.binary(max_size=80), st.integers(0, 100))
def test_whatever_else_is_left_to_polars(noise, place):
    whole = written(RATINGS)
    impossible_page(noise)
    impossible_page(whole[:place] + noise + whole[place + len(noise) :])
