"""A block of consecutive rows in a file of its own: who reads it needs nothing but the description."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.errors import FileFormatError, OutputError
from likewise.observations.table import Values


@dataclass(frozen=True)
class RowBlock:
    """Where the rows of a block lie; any worker that sees the file can take it."""

    path: str  # of the file: the number of entries of each row, then their columns, then their values
    start: int  # its first row; `stop` is the one after its last
    stop: int
    n_entries: int
    column_type: str  # NumPy's name
    value_type: str  # of the values or their codes
    checksum: int  # of the file's bytes

    @property
    def identity(self) -> tuple[int, ...]:
        """What the block holds, wherever it lies."""
        return self.start, self.stop, self.n_entries, self.checksum

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.stop - self.start

    def arrays(self) -> tuple[NDArray[np.uint32], NDArray[Any], NDArray[Any]]:
        """Read the number of entries of each row, the columns and the values.

        A file that is gone, or another than the one that was written, raises a `FileFormatError`.
        """
        try:
            data = Path(self.path).read_bytes()
        except OSError as error:
            raise FileFormatError(
                f"{self} is gone ({error.strerror})",
                "the file that was written",
                "the end of the with removes it: ask inside",
            ) from error
        if zlib.crc32(data) != self.checksum:
            raise FileFormatError(
                f"{self} was changed or damaged", "the file that was written", "read the parts again"
            )
        # Where the columns begin, and where the values: the counts before them take four bytes each.
        ends = np.cumsum([4 * self.n_rows, self.n_entries * np.dtype(self.column_type).itemsize])
        counts = np.frombuffer(data, np.uint32, self.n_rows)
        columns = np.frombuffer(data, self.column_type, self.n_entries, int(ends[0]))
        return counts, columns, np.frombuffer(data, self.value_type, self.n_entries, int(ends[1]))

    def __str__(self) -> str:
        return f"block {Path(self.path).name} (rows {self.start:,} to {self.stop:,})"


def write_block(
    path: Path, start: int, counts: NDArray[Any], columns: NDArray[Any], codes: NDArray[Any]
) -> RowBlock:
    """Write rows: how many entries each has, their columns, and codes in place of their values where there are few different ones."""
    content = b"".join(part.tobytes() for part in (counts.astype(np.uint32), columns, codes))
    try:
        path.write_bytes(content)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}; the sorted copy is removed") from error
    return RowBlock(
        str(path),
        start,
        start + counts.size,
        columns.size,
        columns.dtype.str,
        codes.dtype.str,
        zlib.crc32(content),
    )


def column_type(n_columns: int) -> np.dtype[Any]:
    """Return the shortest type for positions of columns."""
    return np.dtype(np.uint16 if n_columns <= 1 << 16 else np.uint32)


@dataclass(frozen=True, eq=False)
class BlockReader:
    """From the file of a block to a matrix of observations: what every task is told."""

    n_columns: int
    # (k,), the value of each code, in the user's units or on a working range; None where values are written themselves
    levels: Floats | None
    # with factor and bounds the map to the working range, where values are written themselves; see `AffineScale`
    shift: float = 0.0
    factor: float = 1.0
    bounds: tuple[float, float] = (-np.inf, np.inf)

    def read(self, block: RowBlock, dtype: Any = np.float64) -> Values:
        """Return the observations of a block, shape (n_rows, n_columns)."""
        counts, columns, stored = block.arrays()
        if self.levels is None:
            data = np.clip((stored - self.shift) / self.factor, *self.bounds).astype(dtype)
        else:
            data = self.levels.astype(dtype)[stored]
        # SciPy wants 64 bits only where so many entries need them.
        pointers = np.zeros(block.n_rows + 1, np.int32 if block.n_entries < 2**31 else np.int64)
        np.cumsum(counts, out=pointers[1:])
        matrix = sparse.csr_array(
            (data, columns.astype(np.int32), pointers), shape=(block.n_rows, self.n_columns)
        )
        matrix.has_canonical_format = True
        return matrix


def scratch_folder(scratch: str | PathLike[str] | None) -> TemporaryDirectory[str]:
    """Make a folder below another, by default that for temporary files; an `OutputError` where it cannot be made."""
    try:
        return TemporaryDirectory(prefix="likewise-", dir=scratch)
    except OSError as error:
        where = "the folder for temporary files" if scratch is None else fspath(scratch)
        raise OutputError(f"cannot write a sorted copy to {where}: {error.strerror}") from error
