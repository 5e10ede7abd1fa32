"""Regressions of many rows on NumPy: rows lie side by side along the last axis."""

from __future__ import annotations

from functools import cache

import numpy as np

from likewise._typing import Floats

_FEW_ROWS = 64
"""Up to so many, calls cost more than what they compute, so one call on gathered rows takes the place of one a row."""


def solve(
    grams: Floats,
    sides: Floats,
    precision: Floats,
    multiples: Floats,
    noise: float,
    lost: float,
    uncertain: bool,
    means: Floats,
    moments: Floats,
    drawn: Floats | None,
) -> tuple[Floats, tuple[float, float], int]:
    """See `likewise._kernels.solve_regressions`; return pivots, what is explained and ``x^T precision x``, and how many are lost."""
    # A step on one entry of all their matrices is one operation on a vector.
    grams, sides = grams.T.copy(), sides.T.copy()
    d = sides.shape[0]
    # 1. Precision of the posterior: that of the prior, and what the observations add.
    matrices = grams / noise + precision[:, None] * multiples
    # 2. Its inverse is the covariance of the posterior, the mean is the covariance times the right-hand side.
    pivots, n_lost = invert(matrices, d, lost)
    found = _times(matrices, sides / noise if drawn is None else sides / noise + drawn.T)
    # 3. Second moments E[x x^T] = mean mean^T + covariance; least squares forgets the covariance.
    second = matrices if uncertain else np.zeros_like(matrices)
    for i, row in enumerate(_rows(d)):
        second[row] += found[i] * found[i:]
    means[:], moments[:] = found.T, second.T
    # 4. E[misfit] falls by 2 sum_i side_i^T x_i - <Gram_i, E[x_i x_i^T]>; both triangles count.
    twice = np.full(precision.size, 2.0)
    twice[[row.start for row in _rows(d)]] = 1.0
    explained = 2 * np.sum(sides * found) - twice @ np.sum(second * grams, axis=1)
    return pivots, (float(explained), float(((twice * precision) @ second) @ multiples)), n_lost


def invert(triangles: Floats, d: int, lost: float) -> tuple[Floats, int]:
    """Invert symmetric positive definite matrices in place.

    Parameters
    ----------
    triangles : ndarray, shape (d (d + 1) / 2, k)
        Upper triangles, row by row, of k matrices side by side. They are overwritten.
    d : int
    lost : float
        A pivot up to this share of its diagonal entry is rounding.

    Returns
    -------
    pivots : ndarray, shape (k, d)
        Their product is the determinant.
    n_lost : int
        How many matrices are singular within rounding; their inverses are not to be used.

    Notes
    -----
    Gauss-Jordan elimination without exchanges, which is stable for such matrices (the *sweep operator*; Goodnight, "A tutorial on
    the SWEEP operator", The American Statistician 33, 1979): d steps on vectors of length k, in place of k calls of LAPACK on small matrices.
    """
    rows, (left, right) = _rows(d), np.triu_indices(d)
    diagonals = triangles[[row.start for row in rows]]
    pivots, singular = np.empty((triangles.shape[1], d)), np.zeros(triangles.shape[1], bool)
    for p, pivot_row in enumerate(rows):
        above = [rows[i].start + p - i for i in range(p)]
        column = np.concatenate([triangles[above], triangles[pivot_row]])
        pivot = column[p].copy()
        singular |= ~(pivot > lost * diagonals[p])
        pivot[singular] = 1.0
        pivots[:, p] = pivot
        column[p] = 0.0  # the row and the column of the pivot are written below
        scaled = column / pivot
        if triangles.shape[1] <= _FEW_ROWS:
            triangles -= scaled[left] * column[right]
        else:
            for i, row in enumerate(rows):
                triangles[row] -= scaled[i] * column[i:]
        triangles[above], triangles[pivot_row] = scaled[:p], scaled[p:]
        triangles[pivot_row.start] = -1.0 / pivot
    np.negative(triangles, out=triangles)
    return pivots, int(singular.sum())


def _times(triangles: Floats, vectors: Floats) -> Floats:
    """Multiply symmetric matrices, given as in `invert`, with vectors, shape (d, k)."""
    product = np.zeros_like(vectors)
    for i, row in enumerate(_rows(vectors.shape[0])):
        product[i:] += triangles[row] * vectors[i]
        product[i] += np.sum(triangles[row][1:] * vectors[i + 1 :], axis=0)
    return product


@cache
def _rows(d: int) -> list[slice]:
    """Where the rows of a packed upper triangle stand."""
    stops = np.cumsum(np.arange(d, 0, -1)).tolist()
    return [slice(stop - length, stop) for stop, length in zip(stops, range(d, 0, -1), strict=True)]
