"""Sums that are remembered on disk, so that a run that was cut off goes on where it was, to the same bits."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import blake2b
from os import O_RDONLY, PathLike, close, fspath
from os import open as open_descriptor
from pathlib import Path
from types import TracebackType
from typing import Any
from zipfile import BadZipFile

import numpy as np

from likewise._kernels.backend import use_native
from likewise.engines.engine import Arrays, Engine, Task
from likewise.errors import EngineError, InputError, OutputError
from likewise.writing import remove_leftovers, write_npz

if sys.platform != "win32":
    import fcntl


class Remembering(Engine):
    """An engine whose sums are written down, one file each, in the order in which they are asked for.

    An algorithm that is given the same sums asks for the same next one. So a run that begins again in the folder of one that was cut off reads
    what that had, whatever the algorithm and whichever engine computed it, and goes on. A ``with`` that ends well removes the files.

    The folder is made if it is not there. It belongs to one run at a time: an `EngineError` says that another is at work in it, an `OutputError`
    that it cannot be written to.
    """

    def __init__(self, engine: Engine, folder: str | PathLike[str]) -> None:
        self.engine, self.folder = engine, Path(folder)
        self.name, self.n_workers = engine.name, engine.n_workers
        self._asked = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot write a checkpoint to {fspath(folder)}: {error.strerror}") from error
        self._lock = _locked(self.folder)
        remove_leftovers(self.folder)

    def map(self, task: Task, blocks: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        """Yield what `task` makes of each block; nothing of it is written down."""
        return self.engine.map(task, blocks, shared)

    def reduce(self, task: Task, blocks: Sequence[Any], shared: Any = None) -> Arrays:
        """Return the sum of what `task` makes of the blocks, from the folder if it is there; an `InputError` where that is of another computation."""
        # The number of a sum is its name: the same algorithm on the same sums asks in the same order.
        self._asked += 1
        path, key = (
            self.folder / f"{self._asked:06}.npz",
            digest_of((*_made_by(), task, list(blocks), shared)),
        )
        if path.exists():
            return _read(path, key)
        arrays = self.engine.reduce(task, blocks, shared)
        write_npz(path, {"key": np.array(key)} | {f"sum{k}": array for k, array in enumerate(arrays)})
        return arrays

    def kept_folder(self, key: str) -> Path:
        """Return a folder beside the sums; whoever fills it moves it away in the end."""
        # Private, so that its files are no parts where the checkpoint lies below the parts.
        return self.folder / f"_files-{key}"

    def close(self) -> None:
        """Give back the engine and the folder; what was written down stays."""
        self.engine.close()
        if self._lock is not None:
            close(self._lock)
            self._lock = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an error the files stay, for the run that goes on from there.
        if kind is None:
            for number in range(1, self._asked + 1):
                (self.folder / f"{number:06}.npz").unlink(missing_ok=True)
        self.close()


def _made_by() -> tuple[str, bool]:
    """What the bits of a sum depend on beside its inputs: another version, and other kernels, may round otherwise."""
    import likewise

    return likewise.__version__, use_native()


def _read(path: Path, key: str) -> Arrays:
    try:
        with np.load(path, allow_pickle=False) as stored:
            found, arrays = str(stored["key"]), tuple(stored[f"sum{k}"] for k in range(len(stored.files) - 1))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise InputError(f"{path} cannot be read ({error})", "a checkpoint", "remove that file") from error
    if found != key:
        raise InputError(
            f"{path.parent}, the checkpoint of another computation",
            "the same observations, options and seed, or an empty folder",
        )
    return arrays


def _locked(folder: Path) -> int | None:
    """Take the folder for this run; the lock ends with the process. Windows has none."""
    if sys.platform == "win32":
        return None
    descriptor = open_descriptor(folder, O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        close(descriptor)
        raise EngineError(f"another run is at work in {folder}; give each run a folder of its own") from error
    return descriptor


def digest_of(value: Any) -> str:
    """Return a fingerprint of what a sum depends on: arrays to the bit, functions by name, blocks by their `identity`."""
    hashed = blake2b(digest_size=16)
    for piece in _pieces(value):
        hashed.update(piece)
    return hashed.hexdigest()


def _pieces(value: Any) -> Iterator[bytes]:
    if isinstance(value, np.ndarray):
        yield f"{value.dtype}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, tuple | list):
        yield f"({len(value)}".encode()
        for one in value:
            yield from _pieces(one)
    elif isinstance(value, partial):
        yield from _pieces((value.func, value.args))
    elif hasattr(value, "identity"):
        yield from _pieces(value.identity)
    elif is_dataclass(value):
        yield from _pieces([getattr(value, field.name) for field in fields(value)])
    else:
        yield getattr(value, "__qualname__", repr(value)).encode()
