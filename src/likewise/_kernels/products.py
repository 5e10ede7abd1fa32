"""Products of a prepared matrix with a block of columns: A^T (A X), A X and A^T Y."""

from __future__ import annotations

from typing import Any

from likewise._kernels.checks import Floats, checked_block, checked_out
from likewise._kernels.compressed_rows import CompressedRows
from likewise._kernels.threads import thread_count


def gram_product(
    rows: CompressedRows, X: Any, out: Floats | None = None, n_threads: int | None = None
) -> Floats:
    """Return A^T (A X), reading A once.

    Parameters
    ----------
    rows : CompressedRows
        A, m x n.
    X : array-like, shape (n, b)
        Block of b columns; float32 or float64 decides the arithmetic.
    out : ndarray, shape (n, b), optional
        C-contiguous array of X's dtype to write into; must not overlap X.
    n_threads : int, optional
        By default LIKEWISE_NUM_THREADS, else the processors that this process may use.

    Returns
    -------
    ndarray, shape (n, b)
        `out` if given. The same bits for the same number of threads; equal to rounding otherwise.

    Raises
    ------
    ShapeError, InputError
        If X or out do not fit.
    """
    X = checked_block(X, "X", rows.shape[1])
    out = checked_out(out, X, X.shape)
    rows.products.gram(X, out, thread_count(n_threads))
    return out


def forward_product(
    rows: CompressedRows, X: Any, out: Floats | None = None, n_threads: int | None = None
) -> Floats:
    """Return A X, shape (m, b), for X of shape (n, b). Parameters as for `gram_product`."""
    X = checked_block(X, "X", rows.shape[1])
    out = checked_out(out, X, (rows.shape[0], X.shape[1]))
    rows.products.forward(X, out, thread_count(n_threads))
    return out


def adjoint_product(
    rows: CompressedRows, Y: Any, out: Floats | None = None, n_threads: int | None = None
) -> Floats:
    """Return A^T Y, shape (n, b), for Y of shape (m, b). Parameters as for `gram_product`."""
    Y = checked_block(Y, "Y", rows.shape[0])
    out = checked_out(out, Y, (rows.shape[1], Y.shape[1]))
    rows.products.adjoint(Y, out, thread_count(n_threads))
    return out
