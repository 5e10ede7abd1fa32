"""The parts of a partitioned file, or one large file of text: found, held against each other, and read a bounded number of lines at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from mmap import ACCESS_READ, mmap
from os import PathLike, fspath
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from likewise.errors import FileFormatError
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.partitioned.text_file import TextFile, is_text, roles_of
from likewise.observations.reading.columns import Column, listing
from likewise.observations.reading.parquet_pages import impossible_page

if TYPE_CHECKING:
    import polars as pl

_LINES = 1 << 20
"""That are in memory at a time."""
NAMES = ("user", "item", "value")
"""What the columns of a batch are called."""


@dataclass(frozen=True)
class Parts:
    """Files that hold one observation a line, in the same columns: Parquet, or delimited text."""

    source: str  # as the caller wrote it
    paths: tuple[Path, ...]  # in order of their names
    columns: tuple[str, ...]  # of the user, the item and the rating
    roles: ColumnRoles
    # size and time of the last change of each part: it must stay as it was found
    stamps: tuple[tuple[int, int], ...]
    texts: tuple[TextFile, ...] = ()  # how each part is laid out, where parts are text
    notes: tuple[str, ...] = ()  # which files of the folder are no parts

    @classmethod
    def found(
        cls, source: str | PathLike[str], user: Column | None, item: Column | None, rating: Column | None
    ) -> Self:
        """Find the parts of a folder, a pattern or a single file, and hold their columns against each other.

        No parts, a part that is no Parquet file, or one with other columns or types than the first raise a `FileFormatError`.
        """
        name = fspath(source)
        paths = part_paths(name)
        if is_text(paths[0]):
            return cls._of_text(name, paths, user, item, rating)
        schema = _schema(paths[0])
        wanted = {"user": user, "item": item, "rating": rating}
        roles = roles_of(list(schema), len(schema), wanted, str(paths[0]))
        columns = tuple(list(schema)[position] for position in roles.values())
        for path in paths:
            _check_schema(path, _schema(path), {column: schema[column] for column in columns}, paths[0])
        for column in columns[:2]:
            _check_id(schema[column], column, paths[0])
        _check_number(schema[columns[2]], columns[2], paths[0])
        told = _told(name, columns, schema)
        return cls(name, paths, columns, told, tuple(map(_stamp, paths)), notes=_beside(name))

    @classmethod
    def _of_text(
        cls,
        name: str,
        paths: tuple[Path, ...],
        user: Column | None,
        item: Column | None,
        rating: Column | None,
    ) -> Self:
        texts = tuple(TextFile.found(path, user, item, rating) for path in paths)
        for text in texts:
            if text.names != texts[0].names:
                raise FileFormatError(
                    f"{text.path} has columns {listing(list(text.names))}", f"the columns of {paths[0]}"
                )
        names = texts[0].names
        columns = tuple(names[position] for position in texts[0].positions)
        told = _told(name, columns, names)
        return cls(name, paths, columns, told, tuple(map(_stamp, paths)), texts)

    def batches(self) -> Iterator[tuple[Path, int, pl.DataFrame]]:
        """Yield the part, the number of its first line, and lines of it as columns ``user``, ``item``, ``value``.

        A part that is damaged, or was changed since it was found, raises a `FileFormatError`.
        """
        kinds = None
        for number, (path, stamp) in enumerate(zip(self.paths, self.stamps, strict=True)):
            if self.texts:
                for first, frame in self.texts[number].frames(kinds):
                    kinds = frame.dtypes[:2]
                    _check_unchanged(path, stamp)
                    yield path, first, frame.rename(dict(zip(frame.columns, NAMES, strict=True)))
            else:
                yield from self._of_parquet(path, stamp)

    def _of_parquet(self, path: Path, stamp: tuple[int, int]) -> Iterator[tuple[Path, int, pl.DataFrame]]:
        import polars as pl

        first = 0
        while True:
            _check_unchanged(path, stamp)
            try:
                lines = _scanned(path).select(
                    pl.col(column).alias(name) for column, name in zip(self.columns, NAMES, strict=True)
                )
                frame = lines.slice(first, _LINES).collect()
            except (pl.exceptions.PolarsError, OSError) as error:
                raise _damaged(path, str(error)) from error
            if not frame.height:
                break
            yield path, first, frame
            first += frame.height


def _told(name: str, columns: tuple[str, ...], names: Iterable[str]) -> ColumnRoles:
    """Return which columns are the user, the item and the rating; all others are left out."""
    left_out = tuple(column for column in names if column not in columns)
    return ColumnRoles(name, columns[:1], columns[1:2], columns[2:], left_out=left_out)


def part_paths(name: str) -> tuple[Path, ...]:
    """Return the parts in order of their names, each file once: of a folder all ``*.parquet`` below it, but what is hidden or begins with ``_``.

    None at all, or something that is called like one and is no file, raises a `FileFormatError`.
    """
    root = Path(name).expanduser()
    if root.is_file():
        return (root,)
    if root.is_dir():
        paths = _parquet_below(root)
    else:
        found = glob(str(root), recursive=True) if has_magic(name) else []  # noqa: PTH207  the pattern may be absolute
        paths = [
            part for path in map(Path, found) for part in (_parquet_below(path) if path.is_dir() else [path])
        ]
    if not paths:
        others = _others(root) if root.is_dir() else []
        hint = f"there are {listing(others)}; for text, give a pattern such as {str(root / '*.csv')!r}"
        raise FileFormatError(
            f"no parts in {name!r}",
            "a folder with .parquet files, a pattern such as 'ratings/*.parquet', or a file",
            hint if others else "",
        )
    return _each_once(paths)


def _each_once(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return files in order of their names, one that links lead to as well only once."""
    once: dict[Path, Path] = {}
    for path in sorted(paths):
        target = Path(realpath(path))  # resolve() raises at a link to itself
        if not target.is_file():
            raise FileFormatError(
                f"{path} is no file", "a file, or a link to one", "take it away, or mend the link"
            )
        once.setdefault(target, path)
    return tuple(once.values())


def _below(folder: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Yield what lies below a folder and is not private, also behind links, but for those that lead back up."""
    # Its own and those above it: a link to one of these would lead round for ever.
    above |= {folder.resolve()}
    for path in folder.iterdir():
        if path.name.startswith(("_", ".")):
            continue
        if not path.is_dir():
            yield path
        elif path.resolve() not in above:
            yield from _below(path, above)


def _parquet_below(folder: Path) -> list[Path]:
    return [path for path in _below(folder) if path.suffix.lower() == ".parquet"]


def _others(folder: Path) -> list[str]:
    """Return what files below a folder are called that are no parts."""
    return sorted(
        str(path.relative_to(folder)) for path in _below(folder) if path.suffix.lower() != ".parquet"
    )


def _beside(name: str) -> tuple[str, ...]:
    folder = Path(name).expanduser()
    others = _others(folder) if folder.is_dir() else []
    return (f"not read, as their names do not end in .parquet: {listing(others)}",) if others else ()


def _check_unchanged(path: Path, stamp: tuple[int, int]) -> None:
    if _stamp(path) != stamp:
        raise FileFormatError(f"{path} was changed while it was read", "parts that stay as they are")


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise FileFormatError(f"{path} is gone ({error.strerror})", "parts that stay as they are") from error
    return found.st_size, found.st_mtime_ns


def _schema(path: Path) -> dict[str, Any]:
    import polars as pl

    try:
        schema = dict(_scanned(path).collect_schema())
        with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
            impossible = impossible_page(data)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damaged(path, str(error)) from error
    if impossible:
        raise _damaged(path, impossible)
    return schema


def _scanned(path: Path) -> pl.LazyFrame:
    """Return one file, whatever brackets its name has, and nothing of what the folders above are called."""
    import polars as pl

    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _damaged(path: Path, reason: str) -> FileFormatError:
    reason = reason.partition("\n")[0]
    return FileFormatError(f"{path} cannot be read ({reason})", "a Parquet file", "write this part again")


def _check_schema(path: Path, found: dict[str, Any], expected: dict[str, Any], first: Path) -> None:
    for column, kind in expected.items():
        if column not in found:
            raise FileFormatError(
                f"{path} has no column {column!r}, but {listing(list(found))}", f"the columns of {first}"
            )
        if found[column] != kind:
            raise FileFormatError(f"column {column!r} of {path} is {found[column]}", f"{kind}, as in {first}")


def _check_id(kind: Any, column: str, path: Path) -> None:
    if kind.is_nested():
        raise FileFormatError(f"column {column!r} of {path} is {kind}", "ids: text or numbers")


def _check_number(kind: Any, column: str, path: Path) -> None:
    if not kind.is_numeric() and str(kind) != "Boolean":
        raise FileFormatError(f"column {column!r} of {path} is {kind}", "numbers, the values of observations")
