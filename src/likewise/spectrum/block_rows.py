"""Products with a matrix whose rows lie in blocks: each block is read, multiplied and forgotten, wherever the engine has room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array

from likewise import _kernels
from likewise._typing import AnyFloats
from likewise.engines import Engine
from likewise.spectrum.operators import RowOperator

_WIDE = 144
"""Columns of a block of the iteration: so many more than in memory, as every pass reads all blocks anew."""


class Block(Protocol):
    """Consecutive rows of the matrix, by their first and the one after the last."""

    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def stop(self) -> int: ...  # noqa: D102


class Reader(Protocol):
    """What reads the rows of a block; it goes to other processes."""

    def read(self, block: Any, dtype: Any) -> csr_array: ...  # noqa: D102


class BlockRows(RowOperator):
    """An m x n matrix in blocks of rows, m of any size: what is held is n rows high, but for `forward`.

    The order of every sum depends on the blocks alone, so that all engines give the same bits.

    Parameters
    ----------
    blocks : sequence of Block
        All rows in order.
    reader : Reader
    shape : tuple of int
    engine : Engine
    energy : float
        ``||A||_F^2``.
    largest : float
        The largest entry.
    """

    dtype = np.dtype(np.float32)
    width = _WIDE
    rows_fit = False

    def __init__(
        self,
        blocks: Sequence[Block],
        reader: Reader,
        shape: tuple[int, int],
        engine: Engine,
        energy: float,
        largest: float,
    ) -> None:
        self.blocks, self.reader, self.shape, self.engine = blocks, reader, shape, engine
        self.energy, self._largest = energy, largest

    def largest_entry(self) -> float:
        """Return the largest entry."""
        return self._largest

    def _gram(self, X: AnyFloats) -> AnyFloats:
        product: AnyFloats = self.engine.reduce(_gram_of, self.blocks, (self.reader, X))[0]
        return product

    def _forward(self, X: AnyFloats) -> AnyFloats:
        product = np.empty((self.shape[0], X.shape[1]), X.dtype)
        images = self.engine.map(_forward_of, self.blocks, (self.reader, X))
        for block, image in zip(self.blocks, images, strict=True):
            product[block.start : block.stop] = image
        return product

    def _adjoint(self, Y: AnyFloats) -> AnyFloats:
        pieces = [(block, Y[block.start : block.stop]) for block in self.blocks]
        product: AnyFloats = self.engine.reduce(_adjoint_of, pieces, (self.reader, Y.dtype))[0]
        return product


def _rows(reader: Reader, block: Block, dtype: np.dtype[Any]) -> _kernels.CompressedRows:
    return _kernels.CompressedRows.from_csr(reader.read(block, dtype))


def _gram_of(block: Block, told: tuple[Reader, AnyFloats]) -> tuple[AnyFloats]:
    reader, X = told
    return (_kernels.gram_product(_rows(reader, block, X.dtype), X, 1),)


def _forward_of(block: Block, told: tuple[Reader, AnyFloats]) -> AnyFloats:
    reader, X = told
    return _kernels.forward_product(_rows(reader, block, X.dtype), X, 1)


def _adjoint_of(piece: tuple[Block, AnyFloats], told: tuple[Reader, np.dtype[Any]]) -> tuple[AnyFloats]:
    block, Y = piece
    return (_kernels.adjoint_product(_rows(told[0], block, told[1]), Y, 1),)
