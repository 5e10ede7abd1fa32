"""From a path to the bytes of one file, out of gzip and zip where need be."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
import zlib
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike, fspath
from pathlib import Path

from likewise.errors import FileFormatError
from likewise.memory import ensure_fits, format_bytes
from likewise.stored import ZIP_DAMAGE

_ALIKE = 0.8
"""How alike, from 0 to 1, a file name must be to be taken for what was meant: a shared ending alone comes to 0.6."""

_GZIP, _ZIP = b"\x1f\x8b", b"PK"

_COMPRESSED = {_GZIP: "gzip", _ZIP: "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}

_DEEPEST = 4
"""Layers of compression that are removed: a file can be made to hold itself."""

_CHUNK = 2**24

_MOST_GROWTH, _GROWTH_CHECKED = 200, 2**28
"""Text of ratings grows 3 to 20 times; from so many bytes on, what grows 200 times was made to fill a memory."""

_STANDARD_INPUT = "-"

_IN_MEMORY = {
    "observations": "what is in memory already is for ObservedMatrix(...): an array with a row for each individual, or a data frame, "
    "also one of users, items and ratings",
    "outputs": "what is in memory already is for likewise.audit(..., outputs=...)",
    "target": "what is in memory already is for likewise.audit(..., target=...)",
    "groups": "what is in memory already is for likewise.audit(..., groups=...)",
}
"""What to call for something that needs no file."""


@dataclass(frozen=True, eq=False)
class Source:
    """The content of one file and the name to call it by in messages."""

    name: str
    data: bytes


def unpack(path: str | PathLike[str], holds: str = "observations") -> Source:
    """Read a file whole, and decompress it; ``~`` is the home folder, ``-`` standard input; `holds` is for messages.

    A `FileFormatError` says that it is missing, unreadable, empty, damaged, or a zip that does not hold exactly one file; a `MemoryLimitError`, that it
    would not fit into the memory that is available.
    """
    source = _content(path, holds)
    for _ in range(_DEEPEST):
        if (inner := _unwrapped(source)) is None:
            break
        source = inner
    else:
        raise FileFormatError(
            f"{source.name}, compressed more than {_DEEPEST} times", "a file", "unpack it first"
        )
    if not source.data or source.data.isspace():
        raise FileFormatError(f"{source.name} is empty", f"a file of {holds}")
    return source


def _content(path: str | PathLike[str], holds: str) -> Source:
    if not isinstance(path, str | PathLike) or not isinstance(fspath(path), str):
        raise _no_path(path, holds)
    if fspath(path) == _STANDARD_INPUT:
        return _standard_input(holds)
    try:
        file = Path(path).expanduser()
    except RuntimeError as error:  # the home of nobody
        raise FileFormatError(f"no file {str(path)!r}", f"a path to a file of {holds}") from error
    return Source(file.name, _bytes(file, holds))


def _no_path(given: object, holds: str) -> FileFormatError:
    return FileFormatError(
        f"{type(given).__name__} instead of a path", f"a path to a file of {holds}", _IN_MEMORY.get(holds, "")
    )


def _standard_input(holds: str) -> Source:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None or sys.stdin.isatty():
        raise FileFormatError("nothing on standard input", f"a file of {holds}", "pipe it in, or give a path")
    return Source("standard input", stream.read())


def _bytes(file: Path, holds: str) -> bytes:
    try:
        if file.is_dir():
            raise FileFormatError(f"{file} is a directory", "a file", _listing(file))
        ensure_fits(file.stat().st_size, f"reading {file.name}", "read a smaller file, or sample it first")
        return file.read_bytes()
    except FileNotFoundError as error:
        siblings = [other.name for other in file.parent.iterdir()] if file.parent.is_dir() else []
        nearest = get_close_matches(file.name, siblings, n=1, cutoff=_ALIKE)
        hint = f"did you mean {file.parent / nearest[0]}?" if nearest else ""
        raise FileFormatError(f"no file {str(file)!r}", f"a path to a file of {holds}", hint) from error
    except FileFormatError:
        raise
    except (OSError, ValueError) as error:
        raise FileFormatError(f"{file} cannot be read ({error})", "a file that can be read") from error


def _listing(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    return f"it holds {', '.join(names[:5])}" if names else ""


def _unwrapped(source: Source) -> Source | None:
    """Remove one layer of compression; None where there is none."""
    if source.data.startswith(_GZIP):
        return Source(source.name.removesuffix(".gz"), _gunzipped(source))
    if source.data.startswith(_ZIP) and not is_npz(source.data) and not is_workbook(source.data):
        return _only_member(source)
    return None


def _gunzipped(source: Source) -> bytes:
    """Decompress a piece at a time: nothing in the file says how large it becomes, and 3 MB can become 3 GB."""
    pieces, size = list[bytes](), 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(source.data)) as stream:
            while piece := stream.read(_CHUNK):
                pieces.append(piece)
                size += len(piece)
                _ensure_plausible(size, source)
                # What is there already counts as used; joining the pieces needs their size once more.
                ensure_fits(size, f"unpacking {source.name}", "sample it first")
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(f"{source.name} is damaged ({error})", "a whole gzip file") from error
    return b"".join(pieces)


def _ensure_plausible(size: int, source: Source) -> None:
    """Raise where a file grows as no data do, long before it fills the memory."""
    if size > _GROWTH_CHECKED and size > _MOST_GROWTH * len(source.data):
        raise FileFormatError(
            f"{source.name} of {format_bytes(len(source.data))}, which grows to more than {format_bytes(size)}",
            f"a file that grows at most {_MOST_GROWTH} times",
            "unpack it yourself, if it is what it should be",
        )


def compression_of(data: bytes) -> str | None:
    """Return by its first bytes how a file is compressed, whether or not we can undo that; None if it is not.

    >>> compression_of(b"BZh91AY"), compression_of(b"user,item,rating")
    ('bzip2', None)
    """
    return next((name for magic, name in _COMPRESSED.items() if data.startswith(magic)), None)


def _members(data: bytes) -> list[str]:
    try:
        return zipfile.ZipFile(io.BytesIO(data)).namelist() if data.startswith(_ZIP) else []
    except ZIP_DAMAGE:
        return []


def is_npz(data: bytes) -> bool:
    """Return whether this is a zip of NumPy arrays."""
    names = _members(data)
    return bool(names) and all(name.endswith(".npy") for name in names)


def is_workbook(data: bytes) -> bool:
    """Return whether this is a zip that Excel wrote."""
    return "xl/workbook.xml" in _members(data)


def _only_member(source: Source) -> Source:
    try:
        archive = zipfile.ZipFile(io.BytesIO(source.data))
        members = [member for member in archive.infolist() if not _is_clutter(member)]
    except ZIP_DAMAGE as error:
        raise _zip_error(source, error) from error
    if len(members) != 1:
        listing = ", ".join(member.filename for member in members[:5]) or "nothing"
        raise FileFormatError(
            f"{source.name} holds {len(members)} files ({listing})", "a zip of one file", "unpack it first"
        )
    # Zip says how large a file becomes, and Python's reader stops there.
    _ensure_plausible(members[0].file_size, source)
    ensure_fits(members[0].file_size, f"unpacking {source.name}", "sample it first")
    try:
        return Source(Path(members[0].filename).name, archive.read(members[0]))
    except ZIP_DAMAGE as error:
        raise _zip_error(source, error) from error


def _zip_error(source: Source, error: Exception) -> FileFormatError:
    return FileFormatError(f"{source.name} is damaged or encrypted ({error})", "a plain, whole zip")


def _is_clutter(member: zipfile.ZipInfo) -> bool:
    return member.is_dir() or member.filename.startswith("__MACOSX/")
