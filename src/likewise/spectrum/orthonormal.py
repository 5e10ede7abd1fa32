"""Orthonormal columns: growing bases, rank-revealing blocks, tall arrays in place, and Ritz vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise._kernels.threads import run_together, thread_count
from likewise._typing import AnyFloats, Floats
from likewise.spectrum.operators import RowOperator

_WORK_OF_A_THREAD = 1 << 23  # multiplications: less is done before a thread has started
_ROWS_AT_A_TIME = 1 << 13  # of a tall array that is converted or replaced


def inner(X: AnyFloats, Y: AnyFloats) -> AnyFloats:
    """Return ``X^T Y`` for tall X and Y."""
    shares = _shares(X.shape[0], X.shape[1] * Y.shape[1])
    parts = np.empty((len(shares), X.shape[1], Y.shape[1]), X.dtype)

    def multiply(number: int, start: int, stop: int) -> None:
        np.matmul(X[start:stop].T, Y[start:stop], out=parts[number])

    run_together(multiply, shares)
    total: AnyFloats = parts.sum(axis=0)
    return total


def gram_of(tall: AnyFloats) -> NDArray[np.float64]:
    """Return ``tall^T tall``, accumulated in float64 whatever the dtype of `tall`."""
    shares = _shares(tall.shape[0], tall.shape[1] ** 2)
    parts = np.zeros((len(shares), tall.shape[1], tall.shape[1]))

    def add(number: int, start: int, stop: int) -> None:
        for rows in _pieces(tall, start, stop):
            exact = rows.astype(np.float64, copy=False)
            with np.errstate(over="ignore"):  # `orthonormalise` sees to it
                parts[number] += exact.T @ exact

    run_together(add, shares)
    total: NDArray[np.float64] = parts.sum(axis=0)
    return total


def subtract_product(Y: AnyFloats, X: AnyFloats, small: AnyFloats) -> None:
    """Replace tall Y by ``Y - X small``."""
    across = np.ascontiguousarray(small.T)

    def subtract(_: int, start: int, stop: int) -> None:
        # Transposed, since BLAS is up to twice as fast on few long rows as on few long columns.
        Y[start:stop] -= (across @ X[start:stop].T).T

    run_together(subtract, _shares(Y.shape[0], small.size))


def tall_product(tall: AnyFloats, small: AnyFloats) -> AnyFloats:
    """Return ``tall small`` in the dtype of `tall`, computed in that of `small`, a few rows at a time."""
    product = np.empty((tall.shape[0], small.shape[1]), tall.dtype)

    def multiply(_: int, start: int, stop: int) -> None:
        for rows, result in zip(_pieces(tall, start, stop), _pieces(product, start, stop), strict=True):
            result[:] = rows.astype(small.dtype, copy=False) @ small

    run_together(multiply, _shares(tall.shape[0], small.size))
    return product


def multiply_in_place(tall: AnyFloats, small: AnyFloats) -> None:
    """Replace `tall` by ``tall small`` (k x k): `tall_product` without a second tall array."""

    def multiply(_: int, start: int, stop: int) -> None:
        for rows in _pieces(tall, start, stop):
            rows[:] = rows.astype(small.dtype, copy=False) @ small

    run_together(multiply, _shares(tall.shape[0], small.size))


def _pieces(tall: AnyFloats, start: int, stop: int) -> Iterator[AnyFloats]:
    for first in range(start, stop, _ROWS_AT_A_TIME):
        yield tall[first : min(first + _ROWS_AT_A_TIME, stop)]


def _shares(n_rows: int, work_of_a_row: int) -> list[tuple[int, int]]:
    n_shares = max(1, min(thread_count(), n_rows * work_of_a_row // _WORK_OF_A_THREAD))
    edges = [n_rows * k // n_shares for k in range(n_shares + 1)]
    return list(pairwise(edges))


_PANEL = 1024  # columns; what is not filled yet takes no memory on most systems
_CANCELLATION_TOL = 0.1  # of a column's norm: less left of it, and Gram-Schmidt is repeated
_DEPENDENCE_TOL = (
    1e-3  # of a column: less of it independent of the others, and they need Householder's reflections
)
_ORTHOGONALITY_TOL = 0.5  # Frobenius norm of the cosines: the condition number is below 2, one round is exact

_SMALLEST_SIZE = 1e-100  # of a column: its square is far from what a float64 can hold


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
        self._panels: list[AnyFloats] = []

    def append(self, block: AnyFloats) -> None:
        """Add columns, which must be orthonormal to those that are there."""
        while block.shape[1]:
            filled = self.size % _PANEL
            if not filled:
                self._panels.append(np.empty((self.n, _PANEL), self.dtype, order="F"))
            head = block[:, : _PANEL - filled]
            self._panels[-1][:, filled : filled + head.shape[1]] = head
            self.size += head.shape[1]
            block = block[:, head.shape[1] :]

    def project_out(self, block: AnyFloats) -> NDArray[np.float64]:
        """Make `block` orthogonal to the basis, in place, and return the coefficients that were taken out.

        Gram-Schmidt, repeated where cancellation was severe ("twice is enough").
        """
        before = np.linalg.norm(block, axis=0)
        taken = self._gram_schmidt(block)
        if np.any(np.linalg.norm(block, axis=0) < _CANCELLATION_TOL * before):
            taken += self._gram_schmidt(block)
        return taken

    def _gram_schmidt(self, block: AnyFloats) -> NDArray[np.float64]:
        taken = np.empty((self.size, block.shape[1]))
        for start, panel in self._filled():
            coefficients = inner(panel, block)
            subtract_product(block, panel, coefficients)
            taken[start : start + panel.shape[1]] = coefficients
        return taken

    def combine(self, weights: NDArray[np.floating]) -> AnyFloats:
        """Return ``basis @ weights``, shape (n, k)."""
        combined = np.zeros((self.n, weights.shape[1]), self.dtype)
        self.subtract(combined, -weights)
        return combined

    def subtract(self, block: AnyFloats, weights: NDArray[np.floating], start: int = 0) -> None:
        """Replace `block` by ``block - basis[:, start:] @ weights``, for weights of shape (size - start, b)."""
        for first, panel in self._filled():
            skipped = max(start - first, 0)
            if skipped < panel.shape[1]:
                rows = slice(first + skipped - start, first + panel.shape[1] - start)
                subtract_product(block, panel[:, skipped:], weights[rows].astype(self.dtype, copy=False))

    def _filled(self) -> list[tuple[int, AnyFloats]]:
        starts = range(0, self.size, _PANEL)
        return [
            (start, panel[:, : self.size - start]) for start, panel in zip(starts, self._panels, strict=True)
        ]


def rank_revealing_qr(block: AnyFloats, scale: NDArray[np.floating]) -> tuple[AnyFloats, AnyFloats]:
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
    scaled = block / safe
    fast = _cholesky_qr(scaled)
    if fast is not None:
        return fast[0], fast[1] * safe
    columns, triangle, order = linalg.qr(scaled, mode="economic", pivoting=True, check_finite=False)
    rank = int(np.count_nonzero(np.abs(np.diag(triangle)) > 4 * np.finfo(block.dtype).eps))
    weights = np.empty((rank, block.shape[1]), block.dtype)
    weights[:, order] = triangle[:rank]
    return columns[:, :rank], weights * safe


def _cholesky_qr(block: AnyFloats) -> tuple[AnyFloats, AnyFloats] | None:
    """QR factors of a block whose columns are clearly independent, by a Cholesky factorisation in float64."""
    exact = block.astype(np.float64)
    try:
        triangle = linalg.cholesky(exact.T @ exact, check_finite=False)
    except linalg.LinAlgError:
        return None
    if np.diag(triangle).min() < _DEPENDENCE_TOL:
        return None
    inverse = linalg.solve_triangular(triangle, np.eye(triangle.shape[0]), check_finite=False)
    return (exact @ inverse).astype(block.dtype), triangle.astype(block.dtype)


def orthonormalise(tall: AnyFloats) -> AnyFloats:
    """Replace the columns of a tall array by an orthonormal basis Q of them and return R, with ``tall = Q R``.

    Cholesky of the Gram matrix, repeated where the columns were far from orthogonal: everything is a matrix product, in
    float64, and nothing of the size of `tall` is allocated. Householder's reflections where they are too close to dependent.

    Parameters
    ----------
    tall : ndarray, shape (m, k)

    Returns
    -------
    ndarray of float64, shape (k, k)
    """
    triangle, nearly_orthogonal = _orthonormalising_round(tall)
    if nearly_orthogonal:
        return triangle
    return np.asarray(_orthonormalising_round(tall)[0] @ triangle)


def _orthonormalising_round(tall: AnyFloats) -> tuple[AnyFloats, bool]:
    """Replace `tall` by Q, and return R and whether the columns were nearly orthogonal, so that Q is orthonormal to rounding."""
    product, exponents = gram_of(tall), 0
    size = np.sqrt(np.diag(product))
    if not (np.isfinite(size) & (size > _SMALLEST_SIZE) & (size < 1 / _SMALLEST_SIZE)).all():
        # Squares overflow or vanish: the largest entry of each column is brought near 1, by a power of two.
        exponents = np.frexp(np.abs(tall).max(axis=0, initial=0.0))[1]
        np.ldexp(tall, -exponents, out=tall)
        product = gram_of(tall)
        size = np.sqrt(np.diag(product))
    size[size == 0] = 1
    cosines = product / np.outer(size, size)
    try:
        triangle = linalg.cholesky(cosines, check_finite=False) * size
    except linalg.LinAlgError:
        tall[:], triangle = linalg.qr(tall.astype(np.float64), mode="economic", check_finite=False)
        return np.ldexp(triangle, exponents), True
    multiply_in_place(tall, linalg.solve_triangular(triangle, np.eye(size.size), check_finite=False))
    return np.ldexp(triangle, exponents), bool(linalg.norm(cosines - np.eye(size.size)) < _ORTHOGONALITY_TOL)


@dataclass(frozen=True, eq=False)
class Subspace:
    """Orthonormal approximate eigenvectors of ``A^T A``, largest first.

    Parameters
    ----------
    vectors : ndarray of float64, shape (n, l)
    squares : ndarray of float64, shape (l,)
        Their Ritz values, decreasing.
    errors : ndarray of float64, shape (l,)
        ``||A^T A v - theta v||``, measured.
    images : ndarray of float64, shape (n, l)
        ``A^T A v``: one step of subspace iteration ahead of `vectors`.
    """

    vectors: AnyFloats
    squares: NDArray[np.float64]
    errors: NDArray[np.float64]
    images: AnyFloats


def measured(
    operator: RowOperator, vectors: AnyFloats, multiply: Callable[[AnyFloats], AnyFloats] | None = None
) -> Subspace:
    """Apply the matrix once, through `multiply` where it is given, and rotate the vectors to Ritz vectors (Rayleigh-Ritz, small matrices in float64).

    Float32 leaves errors of some 1e-6 in `vectors`, nearly all of them along neighbours, which the rotation removes.
    """
    # Where rows cannot be held nothing refines what comes of this, so it is done in full.
    precision = vectors.dtype if operator.rows_fit else np.dtype(np.float64)
    vectors = vectors.astype(np.float64)
    orthonormalise(vectors)
    images = (multiply or operator.gram)(vectors.astype(precision)).astype(np.float64)
    projected = inner(vectors, images)
    squares, turn = linalg.eigh((projected + projected.T) / 2, driver="evd", check_finite=False)
    squares, turn = squares[::-1], turn[:, ::-1]
    multiply_in_place(vectors, turn)
    multiply_in_place(images, turn)
    return Subspace(vectors, squares, np.linalg.norm(images - vectors * squares, axis=0), images)


_NOTHING = 1e-10  # of the strongest component: what a weaker one adds is rounding


def orthogonal_factors(rows: Floats, columns: Floats) -> tuple[tuple[Floats, Floats, Floats], Floats]:
    """Return the singular value decomposition of ``rows columns^T`` and what turns a row of `rows` into coefficients of V.

    Parameters
    ----------
    rows : ndarray, shape (m, k)
    columns : ndarray, shape (n, k)

    Returns
    -------
    factors : tuple of ndarray, shapes (m, r), (r,), (n, r)
        U, d and V, orthonormal; components that are mere rounding are left out.
    turn : ndarray, shape (k, r)
        ``rows turn V^T = rows columns^T``.

    Examples
    --------
    >>> import numpy as np
    >>> (left, values, right), turn = orthogonal_factors(np.array([[1.0], [0.0]]), np.array([[3.0], [4.0]]))
    >>> values, abs(turn)
    (array([5.]), array([[5.]]))
    """
    left, row_triangle = linalg.qr(rows, mode="economic")
    right, column_triangle = linalg.qr(columns, mode="economic")
    turn_left, values, turn_right = linalg.svd(row_triangle @ column_triangle.T, full_matrices=False)
    kept = values > _NOTHING * values.max(initial=0.0)
    across = turn_right[kept].T
    return (left @ turn_left[:, kept], values[kept], right @ across), column_triangle.T @ across
