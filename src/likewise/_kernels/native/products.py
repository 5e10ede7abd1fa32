"""The products in C: panels of a block of columns, swept over shares of the rows on several threads."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._kernels.backend import equal_shares, run_together
from likewise._kernels.native import library as native
from likewise._typing import AnyFloats, Floats

_WORK_PER_THREAD = 1 << 17  # multiplications: some 50 microseconds, what it takes to start a thread
_COLUMNS_PER_THREAD = 1 << 13  # packing fewer rows of a panel takes less than a thread takes to start
_STRETCH = 1 << 20
"""Observations that a thread adds up in float32 before it banks the sums: 2% of the time, half the digits."""
_CHUNK = 1 << 22  # NumPy indexes by 64-bit integers: converting in chunks keeps the peak of memory low


@dataclass(frozen=True, eq=False)
class NativeProducts:
    """Products with S + L R^T, S laid out for the sweep of products.c.

    L joins S as further columns, dense ones: with S' = [S L] (m x (n + k)) and E = [I R] (n x (n + k)),
    A = S' E^T. So A X = S' (E^T X) with E^T X = [X; R^T X], and A^T Y = E (S'^T Y): one sweep over S' serves all.
    """

    shape: tuple[int, int]
    pointers: NDArray[np.int64]  # (m + 1,)
    # (nnz + read_ahead,), uint16 or uint32, in the order of the panels; the kernels look ahead of the entry they are at.
    columns: NDArray[Any]
    values: AnyFloats  # (nnz,)
    # (n,), the column that each row of a panel holds: popular ones first, so that what is read most stays in cache.
    order: NDArray[np.uint32]
    left: AnyFloats  # (m, k), L
    right: AnyFloats  # (n, k), R

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> Self:
        """Lay a sound matrix out: narrow column indices, popular columns first."""
        m, n = matrix.shape
        pointers = matrix.indptr.astype(np.int64)
        indices, values = matrix.indices[: pointers[-1]], matrix.data[: pointers[-1]]
        order = _by_popularity(indices, n)
        left, right = np.zeros((m, 0), values.dtype), np.zeros((n, 0), values.dtype)
        columns = _renumbered(indices, order, n)
        return cls((m, n), pointers, columns, np.ascontiguousarray(values), order, left, right)

    def plus_low_rank(self, left: AnyFloats, right: AnyFloats) -> Self:
        """Return the same sparse part with another low-rank part."""
        return replace(self, left=left, right=right)

    def with_values(self, values: AnyFloats) -> Self:
        """Return the same layout with other values in it."""
        return replace(self, values=values)

    def forward(self, X: AnyFloats, out: AnyFloats, n_threads: int) -> None:
        """Write A X = S' [X; R^T X]."""
        sweep = _Sweep(self, X, n_threads)
        projected = sweep.right.T @ X
        for columns in sweep.panels():
            sweep.run(columns, X=sweep.packed(X, projected, columns), product=out)

    def adjoint(self, Y: AnyFloats, out: AnyFloats, n_threads: int) -> None:
        """Write A^T Y = E (S'^T Y)."""
        sweep = _Sweep(self, Y, n_threads)
        for columns in sweep.panels():
            sweep.run(columns, given=Y, collect=True)
            sweep.unpack(out, columns)
        sweep.add_low_rank(out)

    def gram(self, X: AnyFloats, out: AnyFloats, n_threads: int) -> None:
        """Write A^T (A X) in one sweep: each row is read once for both products."""
        sweep = _Sweep(self, X, n_threads)
        projected = sweep.right.T @ X  # E^T X = [X; R^T X]
        for columns in sweep.panels():
            # t = S'_i E^T X is the row of A X; S'_i^T t is collected, for S in the first n rows of a panel, for L in the rest.
            sweep.run(columns, X=sweep.packed(X, projected, columns), collect=True)
            sweep.unpack(out, columns)
        sweep.add_low_rank(out)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the stored values."""
        return self.values.dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return self.values.size

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        held = (self.pointers, self.columns, self.values, self.order, self.left, self.right)
        return sum(array.nbytes for array in held)


class _Sweep:
    """One product at work: the shares of the threads, their buffers, and the panels of the block."""

    def __init__(self, matrix: NativeProducts, block: AnyFloats, n_threads: int) -> None:
        self.matrix, self.dtype, self.n_columns = matrix, block.dtype, block.shape[1]
        self.left = matrix.left.astype(block.dtype, copy=False)
        self.right = matrix.right.astype(block.dtype, copy=False)
        m, rank = self.left.shape
        # A row costs its entries, those of L included; threads get equal shares of that, not of the rows.
        work = matrix.pointers + rank * np.arange(m + 1) if rank else matrix.pointers
        # No more threads than there is work for: a thread must not take longer to start than to finish.
        self.n_threads = min(n_threads, 1 + int(work[-1]) * self.n_columns // _WORK_PER_THREAD)
        self.work, self.shares = work, equal_shares(work, self.n_threads)
        self.per_line = native.CACHE_LINE // block.itemsize
        self.panel_rows = matrix.shape[1] + rank
        self.collected = np.zeros((rank, self.n_columns), block.dtype)
        self.room = self._room_for_a_row()
        self.dense_columns = self._dense_columns()
        self.rows = self._rows()

    def panels(self) -> Iterator[slice]:
        """Cut the columns of the block into panels of two cache lines a row."""
        width = 2 * self.per_line
        return (slice(j, min(j + width, self.n_columns)) for j in range(0, self.n_columns, width))

    def packed(self, X: AnyFloats, projected: AnyFloats, columns: slice) -> AnyFloats:
        """Return the columns of [X; R^T X] as a panel, padded with zeros."""
        panel = self._new_panel(columns)
        n, used = self.matrix.shape[1], columns.stop - columns.start
        panel[n:] = 0
        panel[n:, :used] = projected[:, columns]
        packing = self._packing(X, panel[None], columns)
        self._over_columns(lambda _, start, stop: native.library().likewise_pack(byref(packing), start, stop))
        return panel

    def run(
        self,
        columns: slice,
        X: AnyFloats | None = None,
        given: AnyFloats | None = None,
        product: AnyFloats | None = None,
        collect: bool = False,
    ) -> None:
        """Sweep the rows: t = A_i X or row i of `given`, into `product`; each thread collects A_i^T t if asked."""
        # A panel to collect in for each thread, which C sets to zero; and where sums are long, one more to bank them in.
        n_parts = len(self.shares) if collect else 0
        width, banks = self._width(columns), n_parts if self.long_sums else 0
        self.parts = native.aligned((n_parts + banks, self.panel_rows, width), self.dtype)
        self.parts[n_parts:] = 0

        def share(number: int, start: int, stop: int) -> None:
            panel = native.Panel(
                X=native.address(X),
                Y=native.address(self.parts, number) if collect else None,
                given=native.address(given, 0, columns.start),
                product=native.address(product, 0, columns.start),
                stride=self.n_columns,
                used=columns.stop - columns.start,
                row_values=native.address(self.room, number),
                lines=width // self.per_line,
                element_bytes=self.dtype.itemsize,
            )
            # Each call begins with zeros: after all but the last stretch the sums are banked, and the last is left where C wrote it.
            *before, last = self._stretches(start, stop) if banks else [(start, stop)]
            for stretch in before:
                self._sweep(panel, *stretch)
                self.parts[n_parts + number] += self.parts[number]
            self._sweep(panel, *last)

        run_together(share, self.shares)

    def _sweep(self, panel: native.Panel, start: int, stop: int) -> None:
        native.library().likewise_sweep(native.instruction_set(), byref(self.rows), start, stop, byref(panel))

    @property
    def long_sums(self) -> bool:
        """Whether float32 sums over the rows are so long that they would lose digits: they are then banked in stretches."""
        return self.dtype == np.float32 and int(self.work[-1]) > _STRETCH * len(self.shares)

    def _stretches(self, start: int, stop: int) -> list[tuple[int, int]]:
        work = self.work[start : stop + 1]
        stretches = equal_shares(work, 1 + int(work[-1] - work[0]) // _STRETCH)
        return [(start + first, start + last) for first, last in stretches]

    def unpack(self, out: AnyFloats, columns: slice) -> None:
        """Add up what the threads collected: the part of S into `out`, that of L aside."""
        n, used = self.matrix.shape[1], columns.stop - columns.start
        # The rows of a panel behind the first n are S'^T Y for L: R times them is added once all panels are through.
        self.collected[:, columns] = self.parts[:, n:, :used].sum(axis=0)
        packing = self._packing(out, self.parts, columns)
        self._over_columns(
            lambda _, start, stop: native.library().likewise_unpack(byref(packing), start, stop)
        )

    def add_low_rank(self, out: AnyFloats) -> None:
        """Add R times what was collected for L."""
        if self.collected.size:
            out += self.right @ self.collected

    def _rows(self) -> native.Rows:
        matrix = self.matrix
        return native.filled(
            native.Rows,
            n_columns=matrix.shape[1],
            n_dense=self.left.shape[1],
            pointers=matrix.pointers,
            columns=matrix.columns,
            values=matrix.values,
            dense=self.left,
            dense_columns=self.dense_columns,
            column_bytes=matrix.columns.itemsize,
            value_bytes=matrix.values.itemsize,
        )

    def _dense_columns(self) -> NDArray[np.uint32]:
        # The kernels look as far ahead here as in the sparse entries: behind the last, the last is repeated.
        ahead = np.arange(self.left.shape[1] + native.read_ahead()) + self.matrix.shape[1]
        within: NDArray[np.uint32] = np.minimum(ahead, max(self.panel_rows - 1, 0)).astype(np.uint32)
        return within

    def _room_for_a_row(self) -> AnyFloats:
        # Values of another type than the arithmetic are converted row by row, into this.
        longest = 0
        if self.dtype != self.matrix.dtype:
            longest = int(np.diff(self.matrix.pointers).max(initial=0))
        return np.empty((len(self.shares), longest), self.dtype)

    def _packing(self, block: AnyFloats, parts: AnyFloats, columns: slice) -> native.Packing:
        return native.filled(
            native.Packing,
            block=native.address(block, 0, columns.start),
            panel=parts,
            order=self.matrix.order,
            stride=self.n_columns,
            used=columns.stop - columns.start,
            width=parts.shape[2],
            n_parts=parts.shape[0],
            part_stride=parts.shape[1] * parts.shape[2],
            element_bytes=self.dtype.itemsize,
        )

    def _new_panel(self, columns: slice) -> AnyFloats:
        return native.aligned((self.panel_rows, self._width(columns)), self.dtype)

    def _width(self, columns: slice) -> int:
        # A row of a panel fills whole cache lines: one where its columns fit, else two.
        return self.per_line if columns.stop - columns.start <= self.per_line else 2 * self.per_line

    def _over_columns(self, task: Any) -> None:
        n = self.matrix.shape[1]
        n_threads = self.n_threads if n > _COLUMNS_PER_THREAD else 1
        run_together(task, equal_shares(np.arange(n + 1), n_threads))


def _by_popularity(indices: NDArray[Any], n: int) -> NDArray[np.uint32]:
    counts = np.zeros(n, np.int64)
    for start in range(0, indices.size, _CHUNK):
        counts += np.bincount(indices[start : start + _CHUNK], minlength=n)
    # A stable sort, so that the layout, and with it the order of sums, depends on the matrix alone.
    return np.argsort(-counts, kind="stable").astype(np.uint32)


def _renumbered(indices: NDArray[Any], order: NDArray[np.uint32], n: int) -> NDArray[Any]:
    """Return for each index its place in `order`, in 16 bits where they suffice."""
    kind = np.uint16 if n <= np.iinfo(np.uint16).max else np.uint32
    place = np.empty(n, dtype=kind)
    place[order] = np.arange(n, dtype=kind)
    renumbered = np.zeros(indices.size + native.read_ahead(), kind)
    for start in range(0, indices.size, _CHUNK):
        chunk = indices[start : start + _CHUNK]
        # Every index is in range; told to clip, NumPy need not look, which halves the time.
        place.take(chunk, out=renumbered[start : start + chunk.size], mode="clip")
    return renumbered


def sampled_entries(pattern: sparse.csr_array, left: Floats, right: Floats, n_threads: int) -> Floats:
    """Return entries of ``L R^T``, each thread on rows of its own; see `likewise._kernels.sampled_entries`, which has checked everything."""
    entries = np.empty(pattern.nnz)
    pointers = pattern.indptr.astype(np.int64, copy=False)
    columns = pattern.indices.astype(np.int32, copy=False)
    places = native.filled(
        native.Places,
        rank=left.shape[1],
        pointers=pointers,
        columns=columns,
        left=left,
        right=right,
        entries=entries,
    )
    C = native.library()
    run_together(
        lambda _, start, stop: C.likewise_entries(byref(places), start, stop),
        equal_shares(pointers, n_threads),
    )
    return entries
