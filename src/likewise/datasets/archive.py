"""Unpack an archive that nobody should trust: plain files with plain names, no more bytes than expected, all or nothing."""

from __future__ import annotations

import shutil
import stat
import zipfile
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path, PurePosixPath

from likewise.errors import DownloadError
from likewise.stored import ZIP_DAMAGE

_MOST_FILES = 1000
_CHUNK = 1 << 20


def unpack_archive(archive: Path, folder: Path, at_most: int, members: Mapping[str, str]) -> None:
    """Write the files of a zip to a new folder, without the folder that holds them all.

    Parameters
    ----------
    archive : Path
    folder : Path
        Must not exist; what is left of it after an error is the caller's to remove.
    at_most : int
        Bytes of all files together.
    members : mapping of str to str
        SHA-256 of files that have to be among them.

    Raises
    ------
    DownloadError
        A file that would lie outside of the folder, a link, two of one name, more bytes or files than expected, damage, a password, or another checksum.
    """
    folder.mkdir()
    try:
        with zipfile.ZipFile(archive) as opened:
            infos = [info for info in opened.infolist() if not info.is_dir()]
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
    tops = {path.parts[0] for path in names}
    if len(tops) == 1 and all(len(path.parts) > 1 for path in names):
        names = [PurePosixPath(*path.parts[1:]) for path in names]
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
        with file.open("rb") as stream:
            found = file_digest(stream, "sha256").hexdigest()
        if found != expected:
            raise DownloadError(
                f"{name} with the SHA-256 {found}, where {expected} is expected; nothing was kept"
            )


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
