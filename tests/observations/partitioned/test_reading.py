"""Partitioned files: what is read is what one file would give, and whatever is wrong is told by part and line."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise import ObservedMatrix, read_ratings
from likewise.engines.checkpoint import Remembering
from likewise.engines.local import Serial
from likewise.errors import (
    EngineError,
    FileFormatError,
    InputError,
    MemoryLimitError,
    ObservationError,
    OutputError,
)
from likewise.observations.partitioned import read_partitioned, text_file
from likewise.observations.partitioned.parts import Parts
from likewise.observations.partitioned.reading import _read
from likewise.observations.partitioned.sorting import block_edges


def write_parts(folder, users, items, values, n_parts=3, **others):
    """Cut lines into parts as they come, so that people lie in several."""
    frame = pl.DataFrame({"user": users, "item": items, "rating": values} | others)
    for number, lines in enumerate(np.array_split(np.arange(frame.height), n_parts)):
        frame[lines].write_parquet(folder / f"part-{number}.parquet")
    return frame


@pytest.fixture
def ratings(tmp_path):
    rng = np.random.default_rng(0)
    pairs = rng.permutation(40 * 25)[:500]
    folder = tmp_path / "ratings"
    folder.mkdir()
    write_parts(folder, pairs // 25 + 7, pairs % 25, rng.integers(1, 6, 500).astype(float), 4)
    return folder


def as_one(folder, **options):
    frame = pl.read_parquet(folder / "*.parquet")
    return ObservedMatrix.from_triplets(
        *(frame[name].to_numpy() for name in ("user", "item", "rating")), **options
    )


def same(matrix, other):
    assert matrix.shape == other.shape
    assert (matrix.values != other.values).nnz == 0
    assert matrix.values.nnz == other.values.nnz
    assert list(matrix.row_ids) == list(other.row_ids)
    assert list(matrix.column_ids) == list(other.column_ids)


@pytest.mark.parametrize("entries_of_a_block", [1, 50, 10**6])
def test_parts_are_what_one_file_is(ratings, entries_of_a_block):
    with _read(
        Parts.found(ratings, None, None, None), (1, 5), "error", "serial", None, None, entries_of_a_block
    ) as read:
        same(read.in_memory(), as_one(ratings, value_range=(1, 5)))
        assert read.n_observed == 500
        assert read.observed_fraction == 500 / (read.shape[0] * read.shape[1])
        assert sum(block.n_rows for block in read.blocks) == read.shape[0]
        same(read.take_rows([5, 0, 5]), as_one(ratings, value_range=(1, 5)).take_rows([5, 0, 5]))


@pytest.mark.slow
@settings(deadline=None)
@given(st.data())
def test_any_lines_in_any_parts(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("parts")
    ids = data.draw(
        st.sampled_from([st.integers(-(2**62), 2**62), st.integers(0, 9), st.text(min_size=1, max_size=3)])
    )
    pairs = data.draw(st.lists(st.tuples(ids, ids), min_size=2, max_size=40, unique=True))
    values = data.draw(st.lists(st.floats(-1e6, 1e6), min_size=len(pairs), max_size=len(pairs)))
    write_parts(folder, *(list(column) for column in zip(*pairs, strict=True)), values, min(3, len(pairs)))
    whole = as_one(folder, value_range=(-1e6, 1e6))
    with read_partitioned(folder, value_range=(-1e6, 1e6), engine="serial") as read:
        same(read.in_memory(), whole)


def test_many_different_values_are_kept_to_the_last_digit(tmp_path):
    values = np.random.default_rng(1).standard_normal(900)
    write_parts(tmp_path, np.arange(900) // 30, np.arange(900) % 30, values)
    with read_partitioned(tmp_path, engine="serial") as read:
        assert read.reader.levels is None
        same(read.in_memory(), as_one(tmp_path))
        scaled = read.on("symmetric").read(read.blocks[0])
        np.testing.assert_array_equal(
            scaled.data, as_one(tmp_path).scaled("symmetric").values.data[: scaled.nnz]
        )


@pytest.mark.parametrize("rule", ["first", "last", "mean"])
def test_duplicates_in_different_parts(tmp_path, rule):
    columns = [1, 2, 1, 1], [1, 1, 1, 2], [1.0, 5.0, 4.0, 3.0]
    write_parts(tmp_path, *columns, 4)
    with read_partitioned(tmp_path, value_range=(1, 5), duplicates=rule, engine="serial") as read:
        same(read.in_memory(), ObservedMatrix.from_triplets(*columns, value_range=(1, 5), duplicates=rule))
        assert any("1 lines repeated a pair" in note for note in read.notes)
    with pytest.raises(ObservationError, match=r"the first being \(1, 1\)"):
        read_partitioned(tmp_path, value_range=(1, 5), engine="serial")


def test_a_pattern_a_file_and_what_is_hidden(ratings):
    (ratings / "_temporary.parquet").write_bytes(b"half")
    with (
        read_partitioned(ratings, engine="serial") as whole,
        read_partitioned(str(ratings / "part-*"), engine="serial") as found,
    ):
        assert whole.shape == found.shape
    with read_partitioned(ratings / "part-0.parquet", engine="serial") as one:
        assert one.n_observed == 125


def test_the_sorted_copy_is_named_and_removed(ratings, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with read_partitioned(ratings, engine="serial", scratch=scratch) as read:
        (folder,) = scratch.iterdir()
        assert any(str(folder) in note for note in read.notes)
    assert list(scratch.iterdir()) == []


def refused(folder, error, match, **options):
    with pytest.raises(error, match=match):
        read_partitioned(folder, engine="serial", **options)


def test_no_parts(tmp_path):
    refused(tmp_path, FileFormatError, "no parts in")
    refused(tmp_path / "absent", FileFormatError, "no parts in")
    refused(str(tmp_path / "*.parquet"), FileFormatError, "no parts in")


def test_parts_of_other_columns_or_types(ratings):
    pl.DataFrame({"user": [1], "item": [1]}).write_parquet(ratings / "part-9.parquet")
    refused(ratings, FileFormatError, r"part-9.parquet has no column 'rating'")
    pl.DataFrame({"user": ["a"], "item": [1], "rating": [1.0]}).write_parquet(ratings / "part-9.parquet")
    refused(
        ratings,
        FileFormatError,
        r"column 'user' of .*part-9.parquet is String; expected Int64, as in .*part-0",
    )


def test_a_damaged_part_is_named(ratings):
    part = ratings / "part-2.parquet"
    part.write_bytes(part.read_bytes()[:-200])
    refused(ratings, FileFormatError, "part-2.parquet cannot be read")


def test_a_part_that_changes_is_named(ratings):
    parts = Parts.found(ratings, None, None, None)
    pl.DataFrame({"user": [1], "item": [1], "rating": [1.0]}).write_parquet(ratings / "part-1.parquet")
    with pytest.raises(FileFormatError, match=r"part-1\.parquet was changed"):
        list(parts.batches())


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ((None, 1, 1.0), "the user of line 0 of .*part-9.parquet is missing"),
        ((1, None, 1.0), "the item of line 0"),
        ((1, 1, None), "the value of line 0"),
        ((1, 1, float("nan")), r"value nan at \(1, 1\), line 0 of"),
        ((1, 1, float("inf")), "value inf"),
        ((1, 1, 6.0), r"value 6 at \(1, 1\), line 0 of .*; expected values in ValueRange\(1 to 5\)"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(ratings, line, match):
    schema = {"user": pl.Int64, "item": pl.Int64, "rating": pl.Float64}
    pl.DataFrame([line], schema=schema, orient="row").write_parquet(ratings / "part-9.parquet")
    refused(ratings, ObservationError, match, value_range=(1, 5))


def test_text_for_values_and_one_value_alone(tmp_path):
    write_parts(tmp_path, [1, 2], [1, 2], [3.0, 3.0], 1)
    refused(tmp_path, ObservationError, "all equal 3")
    write_parts(tmp_path, [1, 2], [1, 2], ["a", "b"], 1)
    refused(tmp_path, FileFormatError, "column 'rating' of .* is String; expected numbers")


def test_ranges_and_limits_that_mean_nothing(ratings):
    refused(ratings, ObservationError, "per-column", value_range="per-column")
    refused(ratings, ObservationError, "for each column", value_range=([1, 1], [5, 5]))
    refused(ratings, InputError, "memory_limit", memory_limit="much")
    refused(ratings, InputError, "rule for duplicates", duplicates="any")
    refused(ratings, OutputError, "absent: No such file", scratch=ratings / "absent")


def test_a_limit_below_what_is_needed_says_how_much_that_is(ratings):
    with (
        read_partitioned(ratings, engine="serial", memory_limit="10 MiB") as read,
        pytest.raises(MemoryLimitError, match=r"need 3.* MiB"),
    ):
        read.room(1e6, "singular vectors")


def test_a_block_that_is_lost_or_changed_is_named(ratings):
    with read_partitioned(ratings, engine="serial") as read:
        path = Path(read.blocks[0].path)
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
        with pytest.raises(FileFormatError, match=r"block 000000.rows .* was changed or damaged"):
            read.in_memory()
        path.unlink()
        with pytest.raises(FileFormatError, match=r"block 000000.rows .* is gone"):
            read.in_memory()


@given(st.lists(st.integers(1, 50), min_size=1, max_size=100), st.integers(1, 200))
def test_blocks_hold_whole_rows_and_not_many_more_entries_than_they_should(counts, most):
    counts = np.array(counts)
    edges = block_edges(counts, most)
    assert edges[0] == 0
    assert edges[-1] == counts.size
    assert (np.diff(edges) > 0).all()
    assert max(counts[a:b].sum() for a, b in pairwise(edges)) < most + counts.max()


@pytest.mark.parametrize("writer", ["open", "write_bytes"])
def test_a_full_disk_leaves_nothing_behind(ratings, tmp_path, monkeypatch, writer):
    original = getattr(Path, writer)

    def full(path, *arguments, **options):
        if path.suffix in (".unsorted", ".rows") and arguments != ("rb",):
            raise OSError(errno.ENOSPC, "No space left on device")
        return original(path, *arguments, **options)

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(Path, writer, full)
    with pytest.raises(OutputError, match="No space left on device; the sorted copy is removed"):
        read_partitioned(ratings, engine="serial", scratch=scratch)
    assert list(scratch.iterdir()) == []


@pytest.fixture
def as_text(ratings, tmp_path, monkeypatch):
    """The ratings as one file of text, of which two hundred bytes are read at a time."""
    monkeypatch.setattr(text_file, "_BYTES", 200)

    def write(separator=",", header=True, name="ratings.csv", change=lambda text: text, **columns):
        frame = pl.read_parquet(ratings / "*.parquet").with_columns(**columns)
        text = frame.write_csv(separator=separator, include_header=header)
        (tmp_path / name).write_text(change(text))
        return tmp_path / name

    return write


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("header", [True, False])
def test_a_large_file_of_text_is_what_its_parts_are(ratings, as_text, separator, header):
    with read_partitioned(as_text(separator, header), value_range=(1, 5), engine="serial") as read:
        same(read.in_memory(), as_one(ratings, value_range=(1, 5)))
        assert list(read.roles.values) == (["rating"] if header else ["column 2"])


def test_ids_of_text_and_a_line_end_of_windows(ratings, as_text):
    named = {"user": pl.format("no. {}", pl.col("user"))}
    path = as_text(change=lambda text: text.replace("\n", "\r\n"), **named)
    with read_partitioned(path, value_range=(1, 5), engine="serial") as read:
        assert read.n_observed == 500
        assert read.row_ids[0] == "no. 10"


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        (lambda text: f"{text}3,4\n", FileFormatError, "line 502"),
        (lambda text: f"{text}3,4,x\n", FileFormatError, "line 502"),
        (lambda text: f"{text}3,,5\n", ObservationError, "line 502"),
        (lambda text: f"{text}3,4,9\n", ObservationError, r"value 9 at \(3, 4\), line"),
        (lambda text: f"{text}ann,4,5\n", FileFormatError, "line .* some of which are text"),
        (lambda text: f"{text}{text.splitlines()[1]}\n", ObservationError, "more than once|twice|repeat"),
        (lambda _: "", FileFormatError, "no rows"),
        (lambda _: "user,item,rating\n", FileFormatError, "a header and no rows"),
        (lambda _: "user,rating\n1,2\n", FileFormatError, "2 fields"),
    ],
)
def test_what_is_wrong_in_a_file_of_text_is_told(as_text, change, error, match):
    with pytest.raises(error, match=match), read_partitioned(as_text(change=change), value_range=(1, 5)):
        pytest.fail("read")


def test_files_of_text_have_the_same_columns(as_text):
    as_text(name="1.csv")
    path = as_text(name="2.csv", change=lambda text: text.replace("item", "film"))
    with pytest.raises(FileFormatError, match="has columns 'user', 'film', 'rating'"):
        read_partitioned(path.with_name("*.csv"), item=1)


class Twice(Serial):
    """Every task runs twice, as where a worker was killed before its result arrived."""

    def map(self, task, blocks, shared=None):
        for block in blocks:
            task(block, shared)
            yield task(block, shared)


def test_whatever_is_done_again_comes_out_the_same(ratings):
    parts = Parts.found(ratings, None, None, None)
    with _read(parts, (1, 5), "error", Twice(), None, None, 50) as read:
        same(read.in_memory(), as_one(ratings, value_range=(1, 5)))
        assert not list(Path(read.folder.name).glob("*.unsorted"))


def test_a_value_that_a_later_line_replaces_is_not_in_the_range(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("user,item,rating\na,x,1\na,x,3\na,y,4\nb,x,5\n")
    for rule, low in (("last", 3), ("mean", 2), ("first", 1)):
        with read_partitioned(file, duplicates=rule) as found:
            assert (found.value_range.low, found.value_range.high) == (low, 5)


def test_the_decimal_sign_is_that_of_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(text_file, "_BYTES", 64)
    file, header = tmp_path / "ratings.csv", "user;item;rating\n"
    commas = "".join(f"u{i};x;1.{i:03d},5\n" for i in range(20))
    points = "".join(f"v{i};x;1.{i:03d}\n" for i in range(20))
    file.write_text(header + commas + points)
    with read_partitioned(file, engine="serial") as found:
        assert found.value_range.low == 1000
    file.write_text(header + points + commas)
    with pytest.raises(FileFormatError, match="decimal commas"):
        read_partitioned(file, engine="serial")


def test_hints_name_no_option_that_the_reading_in_pieces_lacks(tmp_path):
    """Whoever read that decimal="," would help found that there is no such option."""
    file = tmp_path / "file.csv"
    file.write_text("user;item;rating\n" + "".join(f"u{k};{k % 3};{k},500\n" for k in range(1, 9)))
    with pytest.raises(FileFormatError, match=r"which are 1\.5 or 1500") as caught, read_partitioned(file):
        pass
    assert "read the file into memory: read_ratings in Python" in caught.value.hint
    assert "there: give decimal=',' or decimal='.'" in caught.value.hint
    file.write_text("a,b,c\nx,1,2\n")
    with pytest.raises(FileFormatError) as caught, read_partitioned(file):
        pass
    assert caught.value.hint.index("into memory") < caught.value.hint.index("columns=")
    with pytest.raises(FileFormatError, match="no column 'd'") as caught, read_partitioned(file, user="d"):
        pass
    assert "into memory" not in caught.value.hint


@pytest.mark.parametrize(("module", "name"), [(gzip, "gzip"), (bz2, "bzip2"), (lzma, "xz")])
def test_a_compressed_file_is_called_so(tmp_path, module, name):
    lines = b"user,item,rating\n" + b"".join(b"u%d,%d,%d\n" % (k, k % 3, k % 5) for k in range(20))
    file = tmp_path / "file.csv.packed"
    file.write_bytes(module.compress(lines))
    with pytest.raises(FileFormatError, match=rf"is compressed \({name}\)") as caught, read_partitioned(file):
        pass
    assert "unpack it first" in caught.value.hint
    if module is gzip:
        assert read_ratings(file).n_observed == 20
    else:
        with pytest.raises(FileFormatError, match=rf"is compressed \({name}\).*Hint: unpack it first"):
            read_ratings(file)


@pytest.mark.parametrize(
    "options", [{"memory_limit": "much"}, {"value_range": (2, 5)}, {"scratch": "/dev/null"}]
)
def test_a_reading_that_failed_gives_back_its_engine_and_its_checkpoint(
    ratings, tmp_path, monkeypatch, options
):
    closed = []
    monkeypatch.setattr(Serial, "close", lambda self: closed.append(self.name))
    with pytest.raises((InputError, OutputError)):
        read_partitioned(ratings, engine="serial", checkpoint=tmp_path / "sums", **options)
    n_closed = len(closed)
    assert n_closed == (options == {"value_range": (2, 5)})  # others are refused before it is begun
    with read_partitioned(ratings, engine="serial", checkpoint=tmp_path / "sums") as again:
        with pytest.raises(EngineError, match="another run is at work"):
            read_partitioned(ratings, engine="serial", checkpoint=tmp_path / "sums")
        assert len(closed) == n_closed + 1
        assert again.n_observed == 500


def test_rows_that_wait_in_a_checkpoint_below_the_parts_are_no_parts(ratings):
    with Remembering(Serial(), ratings / "sums") as engine:
        waiting = engine.kept_folder("key")
    waiting.mkdir()
    pl.DataFrame({"user": [1], "0": [2.0]}).write_parquet(waiting / "00000000.parquet")
    with read_partitioned(ratings) as read:
        assert read.n_observed == 500


def in_parts(folder, **columns):
    """Write one observation a part, each in a folder of its own."""
    for number, lines in enumerate(pl.DataFrame(columns).iter_slices(1)):
        (folder / f"{number}").mkdir(parents=True)
        lines.write_parquet(folder / f"{number}" / "part.parquet")
    return folder


THREE = {"user": [1, 2, 3], "item": [1, 1, 2], "rating": [1.0, 2.0, 4.0]}


def n_observed(source, **options):
    with read_partitioned(source, value_range=(1, 5), **options) as read:
        return read.n_observed


def test_parts_behind_links_are_read_and_each_once(tmp_path):
    elsewhere, folder = in_parts(tmp_path / "elsewhere", **THREE), tmp_path / "ratings"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}").symlink_to(elsewhere / f"{number}")
    assert n_observed(folder) == 3
    (folder / "up").symlink_to(folder)
    (folder / "again.parquet").symlink_to(elsewhere / "0" / "part.parquet")
    assert n_observed(folder) == n_observed(folder / "**/*.parquet") == 3


def test_a_pattern_of_folders_means_their_parts(tmp_path):
    """Spark and Hive write folders that are called like files, or like a column."""
    folder = in_parts(tmp_path / "ratings", **THREE)
    for number in range(2):
        (folder / f"{number}").rename(folder / f"{number}.parquet")
    (folder / "2" / "part.parquet").rename(folder / "2.parquet")
    assert n_observed(folder / "*.parquet") == 3
    assert n_observed(folder / "[01].*") == 2


@pytest.mark.parametrize(
    "make",
    [lambda path: path.symlink_to("nothing"), lambda path: path.symlink_to(path), os.mkfifo],
    ids=["link", "loop", "pipe"],
)
def test_what_is_called_like_a_part_and_is_none_is_named(ratings, make):
    make(ratings / "broken.parquet")
    with pytest.raises(FileFormatError, match=r"broken\.parquet is no file"):
        read_partitioned(ratings)


def test_what_is_not_read_is_said(ratings):
    with read_partitioned(ratings) as read:
        assert not [note for note in read.notes if "not read" in note]
    (ratings / "part-0.parquet").rename(ratings / "PART.PARQUET")
    (ratings / "more.csv").write_text("user,item,rating\n1,1,1\n")
    with read_partitioned(ratings) as read:
        assert read.n_observed == 500
        assert "not read, as their names do not end in .parquet: 'more.csv'" in read.notes


def test_a_folder_of_text_says_how_it_is_read(tmp_path):
    (tmp_path / "more.csv").write_text("user,item,rating\n1,1,1\n")
    with pytest.raises(
        FileFormatError, match=r"no parts in .* there are 'more\.csv'; for text, give a pattern"
    ):
        read_partitioned(tmp_path)


def test_brackets_in_names_are_no_pattern(tmp_path):
    folder = in_parts(tmp_path / "ratings[1]", **THREE)
    part = (folder / "2" / "part.parquet").rename(folder / "a[2].parquet")
    assert n_observed(folder) == 3
    assert n_observed(part) == 1


def test_columns_that_parts_lack_are_told_without_options_of_memory(tmp_path):
    """As where a column is in the names of folders alone."""
    (tmp_path / "user=1").mkdir()
    pl.DataFrame({"item": [1, 2], "rating": [1.0, 2.0]}).write_parquet(tmp_path / "user=1" / "part.parquet")
    with pytest.raises(
        FileFormatError, match=r"name the columns, user=.*or read the file into memory"
    ) as told:
        read_partitioned(tmp_path)
    assert str(told.value).index("into memory") < str(told.value).index("separator")


@pytest.mark.parametrize(
    ("ids", "error", "match"),
    [
        ([1.0, float("nan"), 3.0], ObservationError, "the user of line 0 of .*1/part.parquet is missing"),
        ([[1], [2], [3]], FileFormatError, "column 'user' of .* is List"),
        ([{"a": 1}, {"a": 2}, {"a": 3}], FileFormatError, "column 'user' of .* is Struct"),
    ],
)
def test_ids_that_are_none(tmp_path, ids, error, match):
    with pytest.raises(error, match=match):
        read_partitioned(in_parts(tmp_path, **THREE | {"user": ids}))


@pytest.mark.parametrize(
    ("low", "kind"), [(2**63 + 1, pl.UInt64), (2**63 - 2, pl.UInt64), (-(2**63), pl.Int64), (-2, pl.Int8)]
)
def test_whole_numbers_of_every_size_are_ids(tmp_path, low, kind):
    ids = pl.Series([low + 2, low, low + 3], dtype=kind)
    with read_partitioned(in_parts(tmp_path, **THREE | {"user": ids}), value_range=(1, 5)) as read:
        assert read.row_ids.tolist() == [low, low + 2, low + 3]
        assert read.in_memory().to_dense(missing=0).tolist() == [[2, 0], [1, 0], [0, 4]]


def test_what_is_true_counts_as_one(tmp_path):
    with read_partitioned(in_parts(tmp_path, **THREE | {"rating": [True, False, True]})) as read:
        assert read.in_memory().values.data.tolist() == [1, 0, 1]


def test_values_that_no_number_lies_between_are_refused_as_in_memory(tmp_path):
    with pytest.raises(ObservationError, match="no number holds the difference"):
        read_partitioned(in_parts(tmp_path, **THREE | {"rating": [-1.7e308, 0.0, 1.7e308]}))


def test_ids_are_text_in_all_files_of_text_or_in_none(tmp_path):
    for name, user in (("a", "bob"), ("b", "7"), ("c", "8")):
        (tmp_path / f"{name}.csv").write_text(f"user,item,rating\n{user},1,{len(user)}\n")
    with read_partitioned(tmp_path / "*.csv") as read:
        assert read.row_ids.tolist() == ["7", "8", "bob"]
    (tmp_path / "a.csv").rename(tmp_path / "d.csv")
    with pytest.raises(FileFormatError, match=r"ids of .*d\.csv, line 2 and after, some of which are text"):
        read_partitioned(tmp_path / "*.csv")
