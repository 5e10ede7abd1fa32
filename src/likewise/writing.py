"""Files that are either complete or not there: a temporary name in the same file system, then renamed."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from likewise.errors import OutputError

if sys.platform != "win32":
    import fcntl

_TEMPORARY = ".likewise-"
"""How temporary names begin."""

PathLike = str | os.PathLike[str]
Content = bytes | str | Callable[[BinaryIO], object]
"""What a file holds: bytes, text (written as UTF-8), or a function that writes to an open binary file."""


def write_file(path: PathLike, content: Content) -> None:
    """Write one file; an interruption or a full disk leaves the old file, or none.

    An existing file is replaced and keeps its permissions; a device or pipe is written to directly. Content is bytes, text, or a callable that
    takes a binary file. An `OutputError` says that the path is a folder, that its folder is missing or not writable, or that the disk is full.
    """
    with _errors_about(path):
        target = Path(path).resolve()
        _refuse_folder(target)
        if _is_special(target):
            # A pipe or /dev/stdout cannot be renamed over.
            with target.open("wb") as stream:
                _put(stream, content)
        else:
            with _temporary_name(target.parent) as temporary:
                _write_through(temporary, content)
                _move(temporary, target)


def by_memory(write: Callable[[BinaryIO], object]) -> Callable[[BinaryIO], object]:
    """Return a content that is made in memory first: for libraries that write past Python, whose own error a full disk would raise.

    >>> file = BytesIO()
    >>> by_memory(lambda stream: stream.write(b"rows"))(file), file.getvalue()
    (4, b'rows')
    """

    def content(file: BinaryIO) -> object:
        made = BytesIO()
        write(made)
        return file.write(made.getbuffer())

    return content


def write_folder(folder: PathLike, contents: Mapping[str, Content]) -> None:
    """Write several files that belong together: all of them, or none.

    The folder is made, with its parents, if it is not there; files in it under other names are left alone. `contents` has what each file name
    holds, written in this order: name last what refers to the others. Where two processes write to one folder, the files of the one that ends
    last are there, all of them. An `OutputError` says that the folder cannot be written to, is a file, or that the disk is full.
    """
    with _errors_about(folder):
        target = Path(folder).resolve()
        with _temporary_name(_anchor(target, contents)) as staging:
            staging.mkdir()
            for name, content in contents.items():
                _write_through(staging / name, content)
            if not _become(staging, target):
                # A new folder appears in one step; into one that is there, files move one by one.
                with _locked(target):
                    _move_all(staging, target, contents)


@contextmanager
def staged_folder(folder: PathLike, kept: Path | None = None) -> Iterator[Path]:
    """Yield a folder to fill, by this process or by others; at the end it bears the name that was asked for, and after an error it is gone.

    Folders above it are made. `kept` is a folder to fill, of one process at a time: it stays after an error, with the files that are whole, for
    the next call. An `OutputError` says that the name is in use, or that the folder cannot be made.
    """
    with _errors_about(folder):
        target = Path(folder).resolve()
        anchor = _anchor(target, ())
        _refuse_existing(target)
    with _temporary_name(anchor) as staging:
        filled = staging if kept is None else kept
        with _errors_about(filled):
            filled.mkdir(exist_ok=kept is not None)
            remove_leftovers(filled)
        yield filled
        with _errors_about(folder):
            if kept is not None:
                _refuse_existing(target)
                shutil.move(kept, staging)  # the checkpoint may be on another disk
            if not _become(staging, target):
                _refuse_existing(target)


def check_new_folder(folder: PathLike) -> None:
    """Raise OutputError now if `staged_folder` could not make a folder of this name."""
    with _errors_about(folder):
        _refuse_existing(Path(folder).resolve())
    check_folder(folder)


def write_npz(path: PathLike, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write arrays to one ``.npz`` file that loads with ``allow_pickle=False``; arrays of Python objects, which need pickle, raise an `OutputError`."""
    objects = [name for name, array in arrays.items() if array.dtype.hasobject]
    if objects:
        raise OutputError(
            f"cannot write {path}: array {objects[0]!r} holds Python objects; use numbers or text"
        )
    # The stubs of NumPy 2.4 read **arrays as every keyword of savez, allow_pickle among them.
    write_file(path, lambda stream: np.savez(stream, **arrays))  # type: ignore[arg-type]


def spreadsheet_safe(cell: Any) -> Any:
    """Return what to write to a cell of a CSV file, so that no spreadsheet takes a name for a formula.

    What begins like one, apostrophes before it or not, gets an apostrophe more: two names never become one.

    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("'=1+1"), spreadsheet_safe("ann"), spreadsheet_safe("-3")
    ("'=1+1", "''=1+1", 'ann', '-3')
    """
    bare = cell.lstrip("'") if isinstance(cell, str) else ""
    if not bare.startswith(_FORMULA):
        return cell
    try:
        # A negative number begins like a formula and is none.
        float(bare)
    except ValueError:
        return f"'{cell}"
    return cell


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""How a cell begins that a spreadsheet runs; the last four are the first ones in full width."""


def check_file(path: PathLike) -> None:
    """Raise OutputError now if `write_file` could not write there: before a long computation, not after it."""
    with _errors_about(path):
        target = Path(path).resolve()
        _refuse_folder(target)
        if not _is_special(target):
            _try_writing(target.parent)


def check_folder(folder: PathLike, names: Iterable[str] = ()) -> None:
    """Raise OutputError now if `write_folder` could not write files of these names there."""
    with _errors_about(folder):
        _try_writing(_anchor(Path(folder).resolve(), names))


def remove_leftovers(folder: PathLike) -> None:
    """Remove what a killed process left half written, from a folder that one process at a time writes to."""
    with _errors_about(folder):
        for leftover in Path(folder).glob(f"{_TEMPORARY}*"):
            remove(leftover)


@contextmanager
def _errors_about(path: PathLike) -> Iterator[None]:
    """Turn the operating system's error into one that names what the user asked for."""
    if not isinstance(path, str | os.PathLike) or not str(path) or "\0" in str(path):
        raise OutputError(f"cannot write {path!r}: that is not a path; nothing was written")
    try:
        yield
    except OSError as error:
        about = f" ({error.filename})" if isinstance(error, IsADirectoryError) and error.filename else ""
        reason = error.strerror or str(error)
        raise OutputError(f"cannot write {os.fspath(path)}: {reason}{about}; nothing was written") from error


@contextmanager
def _temporary_name(folder: Path) -> Iterator[Path]:
    """Yield an unused name in `folder`; whatever bears it at the end is removed."""
    temporary = folder / f"{_TEMPORARY}{os.urandom(8).hex()}"
    try:
        yield temporary
    finally:
        remove(temporary)


def remove(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write_through(path: Path, content: Content) -> None:
    """Write a new file and wait until the disk has it, so that renaming cannot expose an empty one."""
    with path.open("xb") as stream:
        _put(stream, content)
        stream.flush()
        os.fsync(stream.fileno())


def _put(stream: BinaryIO, content: Content) -> None:
    if callable(content):
        content(stream)
    else:
        stream.write(content.encode(errors="backslashreplace") if isinstance(content, str) else content)


def _move(temporary: Path, target: Path) -> None:
    if target.exists():
        # The new file takes the place of the old one, permissions and all.
        shutil.copymode(target, temporary)
    temporary.replace(target)


def _become(staging: Path, target: Path) -> bool:
    """Make the staged folder the target in one step; False if there is one already, perhaps since a moment ago."""
    if target.exists():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        staging.rename(target)
    except OSError:
        if target.is_dir():
            return False
        raise
    return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process moves files into a folder.

    The lock is on the folder itself, so that no file is left behind, and ends with the process. Windows has none, and some network file
    systems refuse it: two processes that write there in the same millisecond may mix their files.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _move_all(staging: Path, target: Path, names: Iterable[str]) -> None:
    """Rename every staged file; an interruption waits the microseconds that the rest takes."""
    try:
        for name in names:
            _move(staging / name, target / name)
    except KeyboardInterrupt:
        for rest in staging.iterdir():
            _move(rest, target / rest.name)
        raise


def _anchor(folder: Path, names: Iterable[str]) -> Path:
    """Find the nearest folder that exists, `folder` itself or above it: there files are staged."""
    anchor = next(candidate for candidate in (folder, *folder.parents) if candidate.exists())
    if not anchor.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{anchor} is not a folder")
    for name in names:
        _refuse_folder(folder / name)
    return anchor


def _refuse_existing(target: Path) -> None:
    if target.exists():
        raise FileExistsError(errno.EEXIST, "it is there already; remove it, or give another name")


def _refuse_folder(target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder has this name", str(target))


def _is_special(target: Path) -> bool:
    """Say whether this is a device or a pipe, which must not be replaced by a file."""
    return target.exists() and not target.is_file()


def _try_writing(folder: Path) -> None:
    with _temporary_name(folder) as temporary:
        temporary.touch(exist_ok=False)
