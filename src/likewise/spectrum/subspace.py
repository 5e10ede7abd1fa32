"""What an iterative solver hands over: approximate eigenvectors of A^T A and how good they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise.spectrum.operators import RowOperator
from likewise.spectrum.result import Floats


@dataclass(frozen=True, eq=False)
class Subspace:
    """Orthonormal approximate eigenvectors of ``A^T A``, largest first.

    Parameters
    ----------
    vectors : ndarray, shape (n, l)
    squares : ndarray of float64, shape (l,)
        Their Ritz values, decreasing.
    errors : ndarray of float64, shape (l,)
        ``||A^T A v - theta v||``, measured.
    images : ndarray, shape (n, l)
        ``A^T A v``: one step of subspace iteration ahead of `vectors`.
    """

    vectors: Floats
    squares: NDArray[np.float64]
    errors: NDArray[np.float64]
    images: Floats


def measured(operator: RowOperator, vectors: Floats) -> Subspace:
    """Apply the matrix once to orthonormal vectors and rotate them to Ritz vectors (Rayleigh-Ritz)."""
    images = operator.gram(vectors)
    projected = (vectors.T @ images).astype(np.float64)
    squares, turn = linalg.eigh((projected + projected.T) / 2, check_finite=False)
    squares, turn = squares[::-1], turn[:, ::-1].astype(vectors.dtype)
    vectors, images = vectors @ turn, images @ turn
    errors = np.linalg.norm(images - vectors * squares.astype(vectors.dtype), axis=0)
    return Subspace(vectors, squares, errors.astype(np.float64), images)
