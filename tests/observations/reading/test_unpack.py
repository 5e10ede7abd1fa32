"""From a path to bytes: compressed within limits, from standard input, from the home folder; anything else is a typed error."""

import gzip
import io
import sys
import zipfile

import numpy as np
import polars as pl
import pytest

from likewise import memory
from likewise.errors import FileFormatError, MemoryLimitError
from likewise.observations import read_pairs, read_ratings
from likewise.observations.reading import read_groups, read_outputs, read_table
from likewise.observations.reading import unpack as unpack_module
from likewise.observations.reading.unpack import unpack

GOOD = b"1,10,5\n2,10,3\n"
READERS = {
    "ratings": read_ratings,
    "pairs": read_pairs,
    "table": read_table,
    "outputs": lambda path: read_outputs(path, [1]),
    "groups": lambda path: read_groups(path, [1]),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "given",
    [pl.DataFrame({"user": [1]}), np.eye(2), [1, 2], None, 5, b"ratings.csv", io.BytesIO(GOOD)],
    ids=["frame", "array", "list", "none", "int", "bytes", "stream"],
)
def test_what_is_no_path_is_told_from_one(reader, given):
    with pytest.raises(FileFormatError, match=rf"{type(given).__name__} instead of a path; expected a path"):
        READERS[reader](given)


def test_what_is_in_memory_is_told_the_call_that_is_meant():
    with pytest.raises(
        FileFormatError,
        match=r"ObservedMatrix\(\.\.\.\): .*a data frame, also one of users, items and ratings",
    ):
        read_ratings(pl.DataFrame({"user": [1]}))
    with pytest.raises(FileFormatError, match=r"likewise\.audit\(\.\.\., outputs=\.\.\.\)"):
        read_outputs(pl.DataFrame({"user": [1]}), [1])


def test_gzip_stops_growing_where_memory_ends(tmp_path, monkeypatch):
    """48 MiB of zeros are 47 kB; the limit of 40 MiB is met after three pieces of 16, before they are joined."""
    file = tmp_path / "bomb.gz"
    file.write_bytes(gzip.compress(bytes(48 * 2**20)))
    assert file.stat().st_size < 100_000
    monkeypatch.setattr(memory, "available_memory", lambda: 40 * 2**20)
    with pytest.raises(MemoryLimitError, match=r"unpacking bomb.gz would need 48.0 MiB"):
        unpack(file)


@pytest.mark.parametrize("packed", ["gzip", "zip"])
def test_what_grows_as_no_data_do_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(unpack_module, "_GROWTH_CHECKED", 2**20)
    monkeypatch.setattr(unpack_module, "_CHUNK", 2**16)
    file, line = tmp_path / "ratings.csv.packed", b"0" * 2**22
    if packed == "gzip":
        file.write_bytes(gzip.compress(line, 9))
    else:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("ratings.csv", line)
    with pytest.raises(
        FileFormatError, match=r"ratings.csv.packed of .* KiB, which grows to more than .* MiB; expected"
    ):
        unpack(file)
    monkeypatch.setattr(unpack_module, "_MOST_GROWTH", 2000)  # no deflated file grows more than 1,032 times
    assert len(unpack(file).data) == 2**22


def test_several_gzips_in_a_row_are_one_file(tmp_path):
    (tmp_path / "f.gz").write_bytes(gzip.compress(GOOD) + gzip.compress(b"3,10,4\n"))
    assert read_ratings(tmp_path / "f.gz").row_ids.tolist() == [1, 2, 3]


def test_a_file_that_holds_itself_ends(tmp_path):
    content = GOOD
    for _ in range(5):
        content = gzip.compress(content)
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(FileFormatError, match="compressed more than 4 times"):
        unpack(tmp_path / "f")


class Stream:
    """Standard input, with or without a terminal."""

    def __init__(self, content, terminal=False):
        self.buffer, self.terminal = io.BytesIO(content), terminal

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize("content", [GOOD, gzip.compress(GOOD, mtime=0)])
def test_a_hyphen_is_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", Stream(content))
    Z = read_ratings("-")
    assert Z.values.data.tolist() == [5, 3]
    assert Z.roles.source == "standard input"
    with pytest.raises(FileFormatError, match="standard input is empty"):
        read_ratings("-")  # read once, it holds no more


@pytest.mark.parametrize("stream", [Stream(GOOD, terminal=True), None])
def test_nobody_is_asked_to_type_a_file(monkeypatch, stream):
    monkeypatch.setattr(sys, "stdin", stream)
    with pytest.raises(FileFormatError, match=r"nothing on standard input; .*pipe it in, or give a path"):
        read_ratings("-")


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    (tmp_path / "ratings.csv").write_bytes(GOOD)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_ratings("~/ratings.csv").n_observed == 2
    with pytest.raises(FileFormatError, match=r"no file '~nobody-of-this-name/f.csv'"):
        read_ratings("~nobody-of-this-name/f.csv")
