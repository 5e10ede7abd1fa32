"""Eigenvalues of the short side's Gram matrix by value: nothing above the threshold can be missed."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.sparse import csr_array, issparse

from likewise.spectrum.result import Floats


def gram_eigenvectors(matrix: csr_array | Floats, above: float) -> tuple[Floats, Floats]:
    """Eigenpairs of ``A^T A`` with an eigenvalue above ``above**2`` (LAPACK ``syevr`` by value).

    Parameters
    ----------
    matrix : csr_array or ndarray, shape (m, n)
        With n <= m.
    above : float
        Lower bound of the singular values asked for.

    Returns
    -------
    squares : ndarray, shape (k,)
        Eigenvalues, increasing.
    vectors : ndarray, shape (n, k)
    """
    product = matrix.T @ matrix
    gram = product.toarray() if issparse(matrix) else np.asarray(product)
    squares, vectors = linalg.eigh(gram, subset_by_value=(above**2, np.inf), check_finite=False)
    return squares, vectors
