"""Files are complete or not there, whatever goes wrong while they are written."""

import errno
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import random
from threading import Barrier
from time import sleep

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import writing
from likewise.errors import OutputError
from likewise.writing import (
    check_file,
    check_folder,
    check_new_folder,
    spreadsheet_safe,
    staged_folder,
    write_file,
    write_folder,
    write_npz,
)


def fill_the_disk(stream):
    stream.write(b"half of it")
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt(stream):
    stream.write(b"half of it")
    raise KeyboardInterrupt


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_with_ordinary_permissions(tmp_path):
    write_file(tmp_path / "ours", "é")
    (tmp_path / "plain").write_text("é")
    assert (tmp_path / "ours").read_bytes() == "é".encode()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    target = tmp_path / "private"
    target.write_text("old")
    target.chmod(0o600)
    write_file(target, "new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.parametrize(
    ("trouble", "raised"), [(fill_the_disk, OutputError), (interrupt, KeyboardInterrupt)]
)
class TestTrouble:
    def test_a_new_file_leaves_nothing(self, tmp_path, trouble, raised):
        with pytest.raises(raised):
            write_file(tmp_path / "new", trouble)
        assert names_in(tmp_path) == []

    def test_an_old_file_stays_as_it_was(self, tmp_path, trouble, raised):
        (tmp_path / "old").write_text("old")
        with pytest.raises(raised):
            write_file(tmp_path / "old", trouble)
        assert names_in(tmp_path) == ["old"]
        assert (tmp_path / "old").read_text() == "old"

    def test_a_new_folder_leaves_nothing(self, tmp_path, trouble, raised):
        with pytest.raises(raised):
            write_folder(tmp_path / "a" / "b", {"first": "1", "second": trouble})
        assert names_in(tmp_path) == []

    def test_an_old_folder_stays_as_it_was(self, tmp_path, trouble, raised):
        (tmp_path / "first").write_text("old")
        with pytest.raises(raised):
            write_folder(tmp_path, {"first": "1", "second": trouble})
        assert names_in(tmp_path) == ["first"]
        assert (tmp_path / "first").read_text() == "old"


def test_a_folder_is_made_with_its_parents(tmp_path):
    write_folder(tmp_path / "a" / "b", {"one": "1", "two": b"2"})
    assert names_in(tmp_path / "a" / "b") == ["one", "two"]
    assert names_in(tmp_path) == ["a"]
    ordinary = tmp_path / "ordinary"
    ordinary.mkdir()
    assert (tmp_path / "a" / "b").stat().st_mode == ordinary.stat().st_mode


def test_files_of_other_names_are_left_alone(tmp_path):
    (tmp_path / "mine").write_text("precious")
    write_folder(tmp_path, {"report": "new"})
    assert names_in(tmp_path) == ["mine", "report"]
    assert (tmp_path / "mine").read_text() == "precious"


def test_an_interruption_while_renaming_still_leaves_the_whole_report(tmp_path, monkeypatch):
    moves = []

    def interrupted_once(temporary, target, move=writing._move):
        moves.append(target.name)
        if len(moves) == 2:
            raise KeyboardInterrupt
        move(temporary, target)

    monkeypatch.setattr(writing, "_move", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path, {"first": "1", "second": "2", "third": "3"})
    assert names_in(tmp_path) == ["first", "second", "third"]


def test_a_full_device_is_a_named_error():
    with pytest.raises(OutputError, match="cannot write /dev/full: No space left"):
        write_file("/dev/full", b"x")


def test_a_device_is_written_to_not_replaced():
    write_file(os.devnull, b"x")
    check_file(os.devnull)
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize("act", [check_file, lambda path: write_file(path, "x")])
class TestFileTargets:
    def test_a_folder(self, tmp_path, act):
        with pytest.raises(OutputError, match="a folder has this name"):
            act(tmp_path)

    def test_a_missing_folder(self, tmp_path, act):
        with pytest.raises(OutputError, match="No such file"):
            act(tmp_path / "missing" / "file")

    def test_a_file_in_the_way(self, tmp_path, act):
        (tmp_path / "file").touch()
        with pytest.raises(OutputError, match="Not a directory"):
            act(tmp_path / "file" / "inside")

    def test_a_folder_that_takes_no_files(self, act):
        with pytest.raises(OutputError, match="cannot write /proc"):
            act("/proc/likewise")


@pytest.mark.parametrize(
    "act",
    [lambda path: check_folder(path, ["report.html"]), lambda path: write_folder(path, {"report.html": "x"})],
)
class TestFolderTargets:
    def test_a_file(self, tmp_path, act):
        (tmp_path / "file").touch()
        with pytest.raises(OutputError, match="is not a folder"):
            act(tmp_path / "file")

    def test_a_file_above(self, tmp_path, act):
        (tmp_path / "file").touch()
        with pytest.raises(OutputError, match="is not a folder"):
            act(tmp_path / "file" / "folder" / "deeper")

    def test_a_folder_that_takes_no_files(self, act):
        with pytest.raises(OutputError, match="cannot write /proc"):
            act("/proc/likewise")

    def test_a_folder_with_the_name_of_a_file(self, tmp_path, act):
        (tmp_path / "report.html").mkdir()
        with pytest.raises(OutputError, match=r"a folder has this name \(.*report.html\)"):
            act(tmp_path)
        assert names_in(tmp_path) == ["report.html"]


def test_checking_leaves_no_trace(tmp_path):
    check_file(tmp_path / "file")
    check_folder(tmp_path / "a" / "b", ["report.html"])
    assert names_in(tmp_path) == []


def test_arrays_load_without_pickle_and_are_byte_identical(tmp_path):
    arrays = {"ids": np.array(["ann", "bob"]), "allow": np.arange(3)}
    write_npz(tmp_path / "one.npz", arrays)
    write_npz(tmp_path / "two.npz", arrays)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with np.load(tmp_path / "one.npz", allow_pickle=False) as loaded:
        assert list(loaded["ids"]) == ["ann", "bob"]


def test_python_objects_are_refused(tmp_path):
    with pytest.raises(OutputError, match="'ids' holds Python objects"):
        write_npz(tmp_path / "objects.npz", {"ids": np.array(["ann", None], dtype=object)})
    assert names_in(tmp_path) == []


def slowly(move):
    def moved(*paths):
        sleep(0.01 * random())
        move(*paths)

    return moved


@pytest.mark.parametrize("is_there", [False, True])
def test_two_that_write_to_one_folder_do_not_mix_their_files(tmp_path, monkeypatch, is_there):
    """The files are those of one writer, whichever ends last; a folder that another made meanwhile is no error."""
    monkeypatch.setattr(writing, "_move", slowly(writing._move))
    names = [f"{k}.txt" for k in range(4)]
    for round_ in range(3):
        folder = tmp_path / str(round_)
        if is_there:
            folder.mkdir()
        start = Barrier(3)

        def write(tag, folder=folder, start=start):
            start.wait()
            write_folder(folder, dict.fromkeys(names, tag))

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(write, "abc"))
        assert names_in(folder) == names
        assert len({(folder / name).read_text() for name in names}) == 1


def test_a_folder_that_appears_while_files_are_staged_is_written_to(tmp_path, monkeypatch):
    other = tmp_path / "out" / "theirs"
    put = writing._put

    def meanwhile(stream, content):
        other.parent.mkdir(exist_ok=True)
        other.write_text("theirs")
        put(stream, content)

    monkeypatch.setattr(writing, "_put", meanwhile)
    write_folder(tmp_path / "out", {"ours": "ours"})
    assert names_in(tmp_path) == ["out"]
    assert names_in(tmp_path / "out") == ["ours", "theirs"]


@pytest.mark.skipif(sys.platform == "win32", reason="no locks on this system")
def test_a_lock_that_the_file_system_refuses_is_done_without(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(writing.fcntl, "flock", refuse)
    write_folder(tmp_path, {"a": "1", "b": "2"})
    assert names_in(tmp_path) == ["a", "b"]


def fill(folder, then=lambda: None):
    with staged_folder(folder) as staging:
        (staging / "1").write_text("one")
        assert not folder.exists()
        then()


def interrupted():
    raise KeyboardInterrupt


def test_a_staged_folder_is_there_when_it_is_full(tmp_path):
    fill(tmp_path / "above" / "rows")
    assert names_in(tmp_path) == ["above"]
    assert names_in(tmp_path / "above" / "rows") == ["1"]


def test_a_staged_folder_is_gone_after_an_error(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "rows", interrupted)
    assert names_in(tmp_path) == []


def test_a_staged_folder_takes_nobody_s_place(tmp_path):
    (tmp_path / "rows").mkdir()
    for use in (fill, check_new_folder):
        with pytest.raises(OutputError, match="it is there already"):
            use(tmp_path / "rows")
    check_new_folder(tmp_path / "late")
    with pytest.raises(OutputError, match="it is there already"):
        fill(tmp_path / "late", (tmp_path / "late").mkdir)
    assert names_in(tmp_path) == ["late", "rows"]
    assert names_in(tmp_path / "late") == []


NAMES = st.text("'=+-@\t\uff1da1.e", max_size=6)


@given(NAMES, NAMES)
def test_no_two_names_become_one_cell_and_none_is_a_formula(one, other):
    """=a and '=a both became '=a."""
    written = spreadsheet_safe(one)
    assert (written == spreadsheet_safe(other)) == (one == other)
    if written[:1] in [*"=+-@\t\uff1d"] and written:
        float(written)  # a signed number, which is no formula


def test_names_that_differ_by_an_apostrophe_stay_apart():
    names = ["=a", "'=a", "'" * 2 + "=a", "'a"]
    assert list(map(spreadsheet_safe, names)) == [*("'" + name for name in names[:3]), "'a"]
