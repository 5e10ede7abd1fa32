"""What an iterative solver hands over: approximate eigenvectors of A^T A and how good they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise._typing import AnyFloats
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.orthonormal import orthonormalise
from likewise.spectrum.threaded_blas import inner, multiply_in_place


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


def measured(operator: RowOperator, vectors: AnyFloats) -> Subspace:
    """Apply the matrix once and rotate the vectors to Ritz vectors (Rayleigh-Ritz, small matrices in float64).

    Float32 leaves errors of some 1e-6 in `vectors`, nearly all of them along neighbours, which the rotation removes.
    """
    # Where rows cannot be held nothing refines what comes of this, so it is done in full.
    precision = vectors.dtype if operator.rows_fit else np.dtype(np.float64)
    vectors = vectors.astype(np.float64)
    orthonormalise(vectors)
    images = operator.gram(vectors.astype(precision)).astype(np.float64)
    projected = inner(vectors, images)
    squares, turn = linalg.eigh((projected + projected.T) / 2, driver="evd", check_finite=False)
    squares, turn = squares[::-1], turn[:, ::-1]
    multiply_in_place(vectors, turn)
    multiply_in_place(images, turn)
    return Subspace(vectors, squares, np.linalg.norm(images - vectors * squares, axis=0), images)
