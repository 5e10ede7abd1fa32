"""Every singular value by LAPACK, for matrices that are small or dense anyway."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.sparse import csr_array, issparse

from likewise.spectrum.result import Floats


def dense_triplets(matrix: csr_array | Floats) -> tuple[Floats, Floats, Floats]:
    """Full thin singular value decomposition, divide and conquer (LAPACK ``gesdd``).

    Parameters
    ----------
    matrix : csr_array or ndarray, shape (m, n)

    Returns
    -------
    left : ndarray, shape (m, min(m, n))
    values : ndarray, shape (min(m, n),)
    right : ndarray, shape (n, min(m, n))
    """
    array = matrix.toarray() if issparse(matrix) else matrix
    left, values, right = linalg.svd(array, full_matrices=False, check_finite=False)
    return left, values, np.ascontiguousarray(right.T)
