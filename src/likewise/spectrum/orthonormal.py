"""Orthonormal columns: tall arrays in place, growing bases, rank-revealing blocks, Ritz vectors, and subspaces that follow a changing matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise._kernels.backend import run_together, thread_count
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
    # Shares are added in their order, so that a number of threads always gives the same bits.
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
    # A thread must have enough to do to be worth its start.
    n_shares = max(1, min(thread_count(), n_rows * work_of_a_row // _WORK_OF_A_THREAD))
    edges = [n_rows * k // n_shares for k in range(n_shares + 1)]
    return list(pairwise(edges))


_PANEL = 1024  # columns; what is not filled yet takes no memory on most systems
_CANCELLATION_TOL = 0.1  # of a column's norm: less left of it, and Gram-Schmidt is repeated
_DEPENDENCE_TOL = 1e-3
"""Of a column: less of it independent of the others, and they need Householder's reflections."""
_ORTHOGONALITY_TOL = 0.5  # Frobenius norm of the cosines: the condition number is below 2, one round is exact

_SMALLEST_SIZE = 1e-100  # of a column: its square is far from what a float64 can hold


class Basis:
    """Orthonormal columns of length n in panels, so that growing never copies."""

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
    """Factor a block, n x b, into r <= b orthonormal columns and weights (r, b), without directions that are mere rounding.

    `scale` is the size of each column before other directions were taken out of it; what is left of a column is rounding where it is smaller
    than a few units in the last place of that. ``columns @ weights`` is `block` up to rounding.
    """
    safe = np.where(scale > 0, scale, 1).astype(block.dtype)
    scaled = block / safe
    fast = _cholesky_qr(scaled)
    if fast is not None:
        return fast[0], fast[1] * safe
    # Dependent columns: pivoting puts them last, where the diagonal of the triangle is rounding.
    columns, triangle, order = linalg.qr(scaled, mode="economic", pivoting=True, check_finite=False)
    rank = int(np.count_nonzero(np.abs(np.diag(triangle)) > 4 * np.finfo(block.dtype).eps))
    weights = np.empty((rank, block.shape[1]), block.dtype)
    weights[:, order] = triangle[:rank]
    return columns[:, :rank], weights * safe


def _cholesky_qr(block: AnyFloats) -> tuple[AnyFloats, AnyFloats] | None:
    """QR factors of a block whose columns are clearly independent, by a Cholesky factorisation in float64."""
    # The Gram matrix squares the condition number: in float64 a block of float32 still has all its digits.
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
    """Replace the columns of a tall array, m x k, by an orthonormal basis Q of them and return R in float64, k x k, with ``tall = Q R``.

    Cholesky of the Gram matrix, repeated where the columns were far from orthogonal: everything is a matrix product, in
    float64, and nothing of the size of `tall` is allocated. Householder's reflections where they are too close to dependent.
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
    # Columns of norm 1 have nearly the best condition that scaling can give: Cholesky fails only where they are dependent.
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
    """Orthonormal approximate eigenvectors of ``A^T A``, largest first; all arrays are float64."""

    vectors: AnyFloats  # (n, l)
    squares: NDArray[np.float64]  # (l,), their Ritz values, decreasing
    errors: NDArray[np.float64]  # (l,), ||A^T A v - theta v||, measured
    images: AnyFloats  # (n, l), A^T A v: one step of subspace iteration ahead of `vectors`


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
    # Rayleigh-Ritz: the eigenvectors of V^T A^T A V turn both V and its images, so the images need no second pass.
    projected = inner(vectors, images)
    squares, turn = linalg.eigh((projected + projected.T) / 2, driver="evd", check_finite=False)
    squares, turn = squares[::-1], turn[:, ::-1]
    multiply_in_place(vectors, turn)
    multiply_in_place(images, turn)
    return Subspace(vectors, squares, np.linalg.norm(images - vectors * squares, axis=0), images)


_SPARE = 8
"""Columns of a subspace beyond those that are wanted: so many new singular values can rise at a time."""
_SPARE_SHARE = 0.5
"""Of those that are wanted, so many more: a third of each step more work, and where hundreds rise a third of the steps."""
_NOTHING = 1e-10  # of the strongest component: what a weaker one adds is rounding


def orthogonal_factors(rows: Floats, columns: Floats) -> tuple[tuple[Floats, Floats, Floats], Floats]:
    """Return the decomposition (U, d, V) of ``rows columns^T``, and `turn` with ``rows turn V^T = rows columns^T``.

    For rows m x k and columns n x k, `turn` is k x r and turns a row of `rows` into coefficients of V. Components that are mere rounding are
    left out, so r may be less than k.

    >>> import numpy as np
    >>> (left, values, right), turn = orthogonal_factors(np.array([[1.0], [0.0]]), np.array([[3.0], [4.0]]))
    >>> values, abs(turn)
    (array([5.]), array([[5.]]))
    """
    # rows columns^T = Q_1 (R_1 R_2^T) Q_2^T: the middle is k x k, and its decomposition turns both bases.
    left, row_triangle = linalg.qr(rows, mode="economic")
    right, column_triangle = linalg.qr(columns, mode="economic")
    turn_left, values, turn_right = linalg.svd(row_triangle @ column_triangle.T, full_matrices=False)
    kept = values > _NOTHING * values.max(initial=0.0)
    across = turn_right[kept].T
    return (left @ turn_left[:, kept], values[kept], right @ across), column_triangle.T @ across


@dataclass(frozen=True, eq=False)
class ApproximateTriplets:
    """The singular triplets of a matrix restricted to a subspace, largest first; nothing is proved about them."""

    left: AnyFloats  # (m, b), orthonormal
    values: NDArray[np.float64]  # (b,), the i-th is never above the i-th singular value of the whole matrix
    right: AnyFloats  # (n, b), orthonormal


def continue_triplets(operator: RowOperator, start: AnyFloats) -> ApproximateTriplets:
    """Return the b triplets of ``Q Q^T A``, Q an orthonormal basis of ``A start``: two passes over A, m x n with m >= n.

    For an algorithm that decomposes a sequence of matrices, each near the last: the right singular vectors of one, and a few columns more, are
    the `start` for the next, (n, b), and the subspace catches up while the sequence converges. `singular_triplets` proves the end.
    Source: Halko, Martinsson, Tropp, "Finding structure with randomness", SIAM Review 53 (2011), section 4.5.

    >>> import numpy as np
    >>> from likewise.spectrum.operators import as_operator
    >>> operator, _ = as_operator(np.diag([3.0, 2.0, 1.0]))
    >>> near = np.array([[1.0, 0.1], [-0.1, 1.0], [0.0, 0.0]])
    >>> continue_triplets(operator, near).values.round(6)
    array([3., 2.])
    """
    # Q = orth(A X); then Q^T A = (A^T Q)^T is small on one side, and its triplets are those of Q Q^T A, turned by Q.
    left = operator.forward(start)
    orthonormalise(left)
    right, values, turn = linalg.svd(operator.adjoint(left), full_matrices=False, check_finite=False)
    return ApproximateTriplets(tall_product(left, turn.T), values, right)


def first_subspace(width: int, rng: np.random.Generator) -> AnyFloats:
    """Return a random subspace of so many dimensions to start a sequence from, shape (width, b)."""
    return with_room(np.zeros((width, 0)), _SPARE, rng)


def with_room(vectors: AnyFloats, wanted: int, rng: np.random.Generator) -> AnyFloats:
    """Cut or widen a subspace to half as many columns again as are wanted and a few more, ``min(1.5 wanted + 8, n)``, the new ones random."""
    n = vectors.shape[0]
    width = min(wanted + _SPARE + round(_SPARE_SHARE * wanted), n)
    missing = max(width - vectors.shape[1], 0)
    return np.hstack([vectors[:, :width], rng.standard_normal((n, missing)) / np.sqrt(n)])
