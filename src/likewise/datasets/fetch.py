"""Fetch a data set: its licence first, resumed where it stopped, checked, unpacked safely, in place only when it is whole."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Mapping
from hashlib import file_digest
from os import PathLike as PathLikeObject
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from likewise.checks import checked_flag, checked_positive
from likewise.datasets.known import DATASETS, Dataset
from likewise.errors import DownloadError, InputError, MissingDependencyError, option, unknown_name
from likewise.stored import ZIP_DAMAGE
from likewise.writing import PathLike, check_folder, remove

_LARGER = 12
"""How many times the bytes of an archive its files may have: text of ratings compresses five times or so."""

_PATIENCE = 30.0
"""Seconds without a byte after which a download has stalled."""


def fetch(
    dataset: str | Dataset,
    folder: PathLike = ".",
    *,
    accept_licence: bool = False,
    patience: float = _PATIENCE,
) -> Path:
    """Download a data set into a folder of its name, and return that folder; what is there already is not fetched again.

    Parameters
    ----------
    dataset : str or Dataset
        A name of `DATASETS`.
    folder : path-like, default "."
        Where its folder is made.
    accept_licence : bool, default False
        Without it the licence is told and nothing is fetched.
    patience : float, default 30.0
        Seconds without a byte after which to give up. What came by then is kept beside the folder, and the next call goes on from there.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        An unknown name; a licence that was not accepted; a data set without a known checksum.
    DownloadError
        No connection, a server that stalls or sends something else, an archive that is damaged or holds what it should not. Nothing
        is in place then.
    OutputError
        The folder cannot be written to.
    MissingDependencyError
        pooch is not installed.

    Examples
    --------
    >>> fetch("ml-100k")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: MovieLens 100K, whose licence was not accepted; expected accept_licence=True. Hint: Free for research. No redistribution ...
    """
    asked = _known(dataset)
    checked_flag("accept_licence", accept_licence)
    checked_positive("patience", patience)
    if not isinstance(folder, str | PathLikeObject):
        raise InputError(f"a folder of type {type(folder).__name__}", "a path")
    target = Path(folder) / asked.name
    if target.is_dir():
        return target
    if not accept_licence:
        raise InputError(
            f"{asked.title}, whose licence was not accepted", option("accept_licence", "True"), asked.licence
        )
    if not asked.checked_by:
        given = f"{asked.title}, for which no checksum is known, so a download could not be verified"
        raise InputError(
            given, "a data set with one", f"download it from {asked.url}; likewise data describe reads it"
        )
    check_folder(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    part, staging = (target.with_name(f".likewise-{asked.name}{end}") for end in (".zip.part", ".unpacked"))
    remove(staging)
    _download(asked, part, patience)
    try:
        unpack_archive(part, staging, _LARGER * asked.at_most, asked.members)
        staging.replace(target)
    finally:
        remove(staging)
        remove(part)
    return target


def _known(dataset: str | Dataset) -> Dataset:
    if isinstance(dataset, Dataset):
        return dataset
    if not isinstance(dataset, str) or dataset not in DATASETS:
        raise InputError(*unknown_name("data set", dataset, DATASETS))
    return DATASETS[dataset]


def _download(dataset: Dataset, part: Path, patience: float) -> None:
    """Go on with what is there; where that turns out to be something else, once more from the start."""
    # What was resumed may belong to an older version of the archive; then it is worth a second try.
    resumed = part.is_file() and part.stat().st_size > 0
    for is_last in (False, True) if resumed else (True,):
        try:
            _get(dataset, part, patience)
            _check(dataset, part)
        except _WrongContentError:
            remove(part)
            if is_last:
                raise
        else:
            return


class _WrongContentError(DownloadError):
    """What came is not what was asked for, so that keeping it would help nobody."""


def _get(dataset: Dataset, part: Path, patience: float) -> None:
    """Append what is missing of the archive to a file."""
    try:
        from pooch.downloaders import HTTPDownloader
    except ImportError as error:
        raise MissingDependencyError("to fetch data, install pooch: pip install 'likewise[data]'") from error
    there = part.stat().st_size if part.is_file() else 0
    if dataset.n_bytes is not None and there == dataset.n_bytes:
        return
    # Compressed on the way, bytes would neither be counted nor resumed.
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={there}-"} if there else {})}
    limit = (dataset.at_most if dataset.n_bytes is None else dataset.n_bytes) - there
    with part.open("ab") as stream:
        download: Any = HTTPDownloader(timeout=patience, headers=headers)
        try:
            download(dataset.url, _Bounded(stream, limit, dataset), None)
        except DownloadError:
            raise
        except (OSError, ValueError) as error:  # the errors of requests are of these kinds
            if there and getattr(getattr(error, "response", None), "status_code", None) == _NOTHING_THERE:
                raise _WrongContentError(f"{dataset.url} has fewer bytes than were fetched before") from error
            kept = (
                f"; {stream.tell():,} bytes are kept, and the next call goes on from there"
                if stream.tell()
                else ""
            )
            raise DownloadError(f"cannot fetch {dataset.url}: {_in_words(error)}{kept}") from error


_NOTHING_THERE = 416
"""How a server says that there is nothing from that byte on."""


class _Bounded:
    """A file that refuses more bytes than an archive can have: a server may send without end."""

    def __init__(self, stream: BinaryIO, limit: int, dataset: Dataset) -> None:
        self.stream, self.left, self.dataset = stream, limit, dataset

    def write(self, chunk: bytes) -> int:
        """Write, unless it is too much."""
        self.left -= len(chunk)
        if self.left < 0:
            raise _WrongContentError(f"{self.dataset.url} sends more than {self.dataset.title} has")
        return self.stream.write(chunk)

    def flush(self) -> None:
        """Flush."""
        self.stream.flush()


def _check(dataset: Dataset, part: Path) -> None:
    n_bytes = part.stat().st_size
    if dataset.n_bytes is not None and n_bytes != dataset.n_bytes:
        raise _WrongContentError(
            f"{dataset.url} sent {n_bytes:,} bytes, where {dataset.n_bytes:,} are expected; nothing was kept"
        )
    if dataset.sha256 is None:
        return
    if (found := _sha256(part)) != dataset.sha256:
        raise _WrongContentError(
            f"{dataset.url} sent a file with the SHA-256 {found}, where {dataset.sha256} is expected; nothing was kept"
        )


def _in_words(error: Exception) -> str:
    """Return the reason in one line: libraries put a chain of causes into theirs."""
    cause: BaseException = error
    while (inner := cause.__cause__ or cause.__context__) is not None:
        cause = inner
    return f"{type(error).__name__}: {str(cause).splitlines()[0] if str(cause) else type(cause).__name__}"


_MOST_FILES = 1000
_CHUNK = 1 << 20


def unpack_archive(archive: Path, folder: Path, at_most: int, members: Mapping[str, str]) -> None:
    """Write the files of a zip to a new folder, without the folder that holds them all; what is left of it after an error is the caller's to remove.

    All files together may have `at_most` bytes; `members` has the SHA-256 of files that have to be among them. A `DownloadError` says what
    has no business there: a file that would lie outside of the folder, a link, two of one name, too much of anything, damage, a password.
    """
    folder.mkdir()
    try:
        with zipfile.ZipFile(archive) as opened:
            infos = [info for info in opened.infolist() if not info.is_dir()]
            # Counted while unpacking: the sizes that an archive states may be lies.
            left = at_most
            for info, name in zip(infos, _plain_names(infos), strict=True):
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                left = _copied(opened, info, target, left)
    except ZIP_DAMAGE as error:
        if isinstance(error, DownloadError):
            raise
        raise DownloadError(f"{archive.name} cannot be unpacked ({error})") from error
    _check_members(folder, members)


def _plain_names(infos: list[zipfile.ZipInfo]) -> list[Path]:
    """Return where each file goes, or raise where one has no business there."""
    if not 1 <= len(infos) <= _MOST_FILES:
        raise DownloadError(f"an archive with {len(infos)} files, where 1 to {_MOST_FILES} are expected")
    names = []
    for info in infos:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        mode = info.external_attr >> 16
        plain = not stat.S_IFMT(mode) or stat.S_ISREG(mode)
        if path.is_absolute() or ".." in path.parts or ":" in info.filename or not path.parts or not plain:
            raise DownloadError(
                f"{info.filename!r} in the archive, which is no plain file below it; nothing was kept"
            )
        names.append(path)
    # A folder that holds everything is left out of the names.
    tops = {path.parts[0] for path in names}
    if len(tops) == 1 and all(len(path.parts) > 1 for path in names):
        names = [PurePosixPath(*path.parts[1:]) for path in names]
    # Also where they differ by case alone: some file systems would overwrite one.
    if len({str(name).lower() for name in names}) < len(names):
        raise DownloadError("an archive with two files of one name; nothing was kept")
    return [Path(name) for name in names]


def _copied(opened: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, left: int) -> int:
    """Copy one file, counting what comes out and not what the archive says; return how much may follow."""
    with opened.open(info) as source, target.open("xb") as stream:
        while chunk := source.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise DownloadError("an archive that unpacks to more than expected; nothing was kept")
            stream.write(chunk)
    return left


def _check_members(folder: Path, members: Mapping[str, str]) -> None:
    for name, expected in members.items():
        file = folder / name
        if not file.is_file():
            raise DownloadError(f"an archive without {name}; nothing was kept")
        if (found := _sha256(file)) != expected:
            raise DownloadError(
                f"{name} with the SHA-256 {found}, where {expected} is expected; nothing was kept"
            )


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
