"""Orthonormal columns: growing bases, rank-revealing blocks, and tall arrays in place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise.spectrum.result import Floats

_PANEL = 256  # columns: wide enough for matrix products at full speed
_ROWS = 1 << 14  # rows of a tall array that are worked on at a time


class Basis:
    """Orthonormal columns in panels, so that growing never copies.

    Parameters
    ----------
    n : int
        Length of the columns.
    dtype : dtype
    """

    def __init__(self, n: int, dtype: np.dtype[np.floating]) -> None:
        self.n, self.dtype, self.size = n, dtype, 0
        self._panels: list[Floats] = []

    def append(self, block: Floats) -> None:
        """Add columns, which must be orthonormal to those that are there."""
        while block.shape[1]:
            filled = self.size % _PANEL
            if not filled:
                self._panels.append(np.empty((self.n, _PANEL), self.dtype, order="F"))
            head = block[:, : _PANEL - filled]
            self._panels[-1][:, filled : filled + head.shape[1]] = head
            self.size += head.shape[1]
            block = block[:, head.shape[1] :]

    def project_out(self, block: Floats) -> NDArray[np.float64]:
        """Make `block` orthogonal to the basis, in place, and return the coefficients that were taken out.

        Two rounds of Gram-Schmidt: the second repairs what cancellation left of the first.
        """
        taken = np.zeros((self.size, block.shape[1]))
        for _ in range(2):
            for start, panel in self._filled():
                coefficients = panel.T @ block
                block -= panel @ coefficients
                taken[start : start + panel.shape[1]] += coefficients
        return taken

    def combine(self, weights: NDArray[np.float64]) -> Floats:
        """Return ``basis @ weights``, shape (n, k)."""
        combined = np.zeros((self.n, weights.shape[1]), self.dtype)
        for start, panel in self._filled():
            combined += panel @ weights[start : start + panel.shape[1]].astype(self.dtype)
        return combined

    def _filled(self) -> list[tuple[int, Floats]]:
        starts = range(0, self.size, _PANEL)
        return [
            (start, panel[:, : self.size - start]) for start, panel in zip(starts, self._panels, strict=True)
        ]


def rank_revealing_qr(block: Floats, scale: NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Factor a block into orthonormal columns and weights, without directions that are mere rounding.

    Parameters
    ----------
    block : ndarray, shape (n, b)
    scale : ndarray, shape (b,)
        Size of each column before other directions were taken out of it; what is left of a column is rounding
        where it is smaller than a few units in the last place of that.

    Returns
    -------
    columns : ndarray, shape (n, r)
        Orthonormal, r <= b.
    weights : ndarray, shape (r, b)
        ``columns @ weights`` is `block` up to rounding.
    """
    safe = np.where(scale > 0, scale, 1).astype(block.dtype)
    columns, triangle, order = linalg.qr(block / safe, mode="economic", pivoting=True, check_finite=False)
    rank = int(np.count_nonzero(np.abs(np.diag(triangle)) > 4 * np.finfo(block.dtype).eps))
    weights = np.empty((rank, block.shape[1]), block.dtype)
    weights[:, order] = triangle[:rank]
    return columns[:, :rank], weights * safe


def orthonormalise(tall: Floats) -> Floats:
    """Replace the columns of a tall array by an orthonormal basis Q of them and return R, with ``tall = Q R``.

    Cholesky of the Gram matrix, twice: everything is a matrix product, nothing of the size of `tall` is allocated.
    Falls back on Householder's reflections where the columns are too close to dependent for that.

    Parameters
    ----------
    tall : ndarray of float64, shape (m, k)

    Returns
    -------
    ndarray, shape (k, k)
    """
    triangle = np.eye(tall.shape[1])
    for _ in range(2):
        triangle = _orthonormalising_round(tall) @ triangle
    return triangle


def multiply_in_place(tall: Floats, small: Floats) -> None:
    """Replace `tall` by ``tall @ small`` (k x k), a few rows at a time."""
    for start in range(0, tall.shape[0], _ROWS):
        rows = tall[start : start + _ROWS]
        rows[:] = rows @ small


def _orthonormalising_round(tall: Floats) -> Floats:
    product = tall.T @ tall
    size = np.sqrt(np.diag(product))
    size[size == 0] = 1
    try:
        triangle = linalg.cholesky(product / np.outer(size, size), check_finite=False) * size
    except linalg.LinAlgError:
        tall[:], triangle = linalg.qr(tall, mode="economic", check_finite=False)
        return np.asarray(triangle)
    multiply_in_place(tall, linalg.solve_triangular(triangle, np.eye(size.size), check_finite=False))
    return np.asarray(triangle)
