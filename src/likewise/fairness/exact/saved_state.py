"""A short text that tells whether a saved state belongs to the same data and settings."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from likewise.errors import FileFormatError, InputError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.accumulated import Array, Request, Sums
from likewise.fairness.exact.blocks import Block, units
from likewise.fairness.sampled.sampling import measure_pairs
from likewise.writing import PathLike, check_file, write_npz


def fingerprint(
    reference: PairwiseDistance, distances: Mapping[str, PairwiseDistance], request: Request
) -> str:
    """Return a checksum of what the sums over all pairs depend on.

    Data count by the distance of everybody to the next individual under each distance: a change of any row, or of their order, changes
    two of them.

    Parameters
    ----------
    reference : PairwiseDistance
    distances : mapping of str to PairwiseDistance
    request : Request
    """
    settings = {
        "arms": list(distances),
        "distances": [distance.description.to_dict() for distance in (reference, *distances.values())],
        "nearest_share": request.nearest_share,
        "condition": request.condition,
        "worst": request.worst,
        "units": len(units(reference.n_individuals)),
    }
    summed = hashlib.sha256(json.dumps(settings).encode())
    everyone = np.arange(reference.n_individuals)
    for distance in (reference, *distances.values()):
        summed.update(measure_pairs(distance, everyone[:-1], everyone[1:]).tobytes())
    if request.groups is not None:
        summed.update(request.groups.numbers.astype(np.int64).tobytes())
    if not isinstance(request.bins, int):
        summed.update(request.bins.tobytes())
    return summed.hexdigest()


_FORMAT = "likewise: all pairs, format 1"
_HEADER = "header"
_SECONDS_BETWEEN = 20.0


class SavedState:
    """What was added up so far, saved every twenty seconds and at the end of each stage.

    Parameters
    ----------
    path : path-like or None
        An ``.npz`` file, made if it is not there and replaced as a whole; None saves nothing.
    fingerprint : str
        Of the data and the settings.

    Raises
    ------
    FileFormatError
        The file is damaged or something else.
    InputError
        It belongs to other data or settings.
    OutputError
        It could not be written.
    """

    def __init__(self, path: PathLike | None, fingerprint: str) -> None:
        self.path = None if path is None else Path(path)
        self.fingerprint = fingerprint
        self.done: dict[str, int] = {}
        self.arrays: dict[str, Array] = {}
        if self.path is not None:
            check_file(self.path)
            if self.path.exists():
                self._load()

    @contextmanager
    def stage(
        self, name: str, sums: Sequence[Sums], work: Sequence[Block], advance: Callable[[int], None]
    ) -> Iterator[Stage]:
        """Take up a stage of the work where it was left.

        Parameters
        ----------
        name : str
        sums : sequence of Sums
            Empty; those of the units that were done before are put in.
        work : sequence of Block
            All units of the stage.
        advance : callable
            Called with the number of pairs of each unit, also of those done before.

        Yields
        ------
        Stage
            The units that are left. Call its `commit` when the next one was merged into `sums`.
        """
        done = self.done.get(name, 0)
        if done:
            self._restore(name, sums, len(work))
            advance(sum(unit.n_pairs for unit in work[:done]))
        stage = Stage(self, name, sums, work, advance, done)
        yield stage
        # Not after an interruption, which may have come while something was merged.
        stage.save()

    def save(self) -> None:
        """Write the file."""
        if self.path is not None:
            header = {"format": _FORMAT, "fingerprint": self.fingerprint, "done": self.done}
            header["digest"] = _digest(self.arrays)
            write_npz(self.path, {_HEADER: np.array(json.dumps(header)), **self.arrays})

    def _load(self) -> None:
        try:
            with np.load(self.path, allow_pickle=False) as archive:  # type: ignore[arg-type]
                arrays = {name: archive[name] for name in archive.files}
            header = json.loads(str(arrays.pop(_HEADER)))
            found, done, digest = (header[key] for key in ("fingerprint", "done", "digest"))
            sound = header["format"] == _FORMAT and digest == _digest(arrays)
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            EOFError,
            zipfile.BadZipFile,
        ) as error:
            raise self._damaged() from error
        if not sound:
            raise self._damaged()
        if found != self.fingerprint:
            raise InputError(
                f"{self.path} holds the state of other data or settings",
                "the state of this computation",
                "give another path, or remove the file to start anew",
            )
        self.done, self.arrays = done, arrays

    def _restore(self, name: str, sums: Sequence[Sums], n_units: int) -> None:
        """Put saved arrays back."""
        try:
            if not 0 <= self.done[name] <= n_units:
                raise ValueError("more units than there are")
            for k, part in enumerate(sums):
                part.restore({key: self.arrays[f"{name}/{k}/{key}"] for key in part.arrays()})
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise self._damaged() from error

    def _damaged(self) -> FileFormatError:
        return FileFormatError(
            f"{self.path} is damaged, or no state of a computation over all pairs",
            "a file that likewise wrote",
            "remove it to start anew",
        )


@dataclass
class Stage:
    """The units of a stage that are left to do."""

    state: SavedState
    name: str
    sums: Sequence[Sums]
    work: Sequence[Block]
    advance: Callable[[int], None]
    done: int
    saved_at: float = field(default_factory=monotonic)

    def __len__(self) -> int:
        return len(self.work) - self.done

    def __iter__(self) -> Iterator[Block]:
        return iter(self.work[self.done :])

    def commit(self) -> None:
        """Count the next unit as done; save if the last time was a while ago."""
        self.advance(self.work[self.done].n_pairs)
        self.done += 1
        if monotonic() - self.saved_at > _SECONDS_BETWEEN:
            self.save()

    def save(self) -> None:
        """Write the state down."""
        arrays = [part.arrays().items() for part in self.sums]
        self.state.done[self.name] = self.done
        self.state.arrays |= {
            f"{self.name}/{k}/{key}": array for k, part in enumerate(arrays) for key, array in part
        }
        self.state.save()
        self.saved_at = monotonic()


def _digest(arrays: dict[str, Array]) -> str:
    """Return a checksum of names, types, shapes and bytes."""
    summed = hashlib.sha256()
    for name in sorted(arrays):
        array: Any = np.ascontiguousarray(arrays[name])
        summed.update(f"{name} {array.dtype.str} {array.shape}".encode())
        summed.update(array.tobytes())
    return summed.hexdigest()
