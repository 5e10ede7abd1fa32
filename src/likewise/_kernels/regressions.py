"""Regressions of many rows on uncertain columns, each a small symmetric system, in one call."""

from __future__ import annotations

from ctypes import byref
from functools import cache

import numpy as np

from likewise._kernels.backend import use_native
from likewise._kernels.native import library as native
from likewise._typing import Floats
from likewise.errors import ShapeError

_LOST = 1e-13
"""A pivot up to this share of its diagonal entry is rounding: the matrix is singular in double precision."""


def solve_regressions(
    grams: Floats,
    sides: Floats,
    precision: Floats,
    multiples: Floats,
    noise: float,
    uncertain: bool,
    means: Floats,
    moments: Floats,
    drawn: Floats | None = None,
) -> tuple[float, float, float, int]:
    """Solve ``(multiple precision + gram / noise) x = side / noise + drawn`` for each of k rows and d unknowns, on one thread.

    Symmetric matrices are upper triangles, row by row, of d (d + 1) / 2 numbers: `grams` has one a row, `precision`, that of the prior, is one;
    `sides` is (k, d), `multiples` of the precision (k,). Where a prior has a mean, `drawn`, (k, d), is the precision times it. `means`, (k, d), receives
    the solutions x, `moments` the triangles of ``x x^T``, to which the inverse of the matrix is added where columns are `uncertain`. `ShapeError` for
    arrays that do not go together.

    Returned are what is explained, ``sum 2 side^T x - <gram, moment>``; the penalty ``sum multiple <precision, moment>``; the logarithms of all
    determinants together; and how many matrices are singular within rounding, whose solutions are not to be used.

    One row and one unknown: ``(1 + 3 / 1) x = 8``.

    >>> x, square = np.empty((1, 1)), np.empty((1, 1))
    >>> gram, side, one = np.array([[3.0]]), np.array([[8.0]]), np.ones(1)
    >>> explained, penalty, _, n_lost = solve_regressions(gram, side, one, one, 1.0, False, x, square)
    >>> x.item(), square.item(), explained, penalty, n_lost
    (2.0, 4.0, 20.0, 4.0, 0)
    """
    (k, d), size = sides.shape, precision.size
    arrays = (grams, sides, precision, multiples, means, moments, sides if drawn is None else drawn)
    shapes = ((k, size), (k, d), (d * (d + 1) // 2,), (k,), (k, d), (k, size), (k, d))
    if any(
        array.shape != shape or array.dtype != np.float64 or not array.flags.c_contiguous
        for array, shape in zip(arrays, shapes, strict=True)
    ):
        given = ", ".join(f"{array.dtype} {array.shape}" for array in arrays)
        raise ShapeError(f"equations and room for their solutions: {given}", f"contiguous float64 {shapes}")
    solve = _native if use_native() else _numpy
    pivots, (explained, penalty), n_lost = solve(
        grams, sides, precision, multiples, noise, uncertain, means, moments, drawn
    )
    return explained, penalty, float(np.log(pivots).sum()), n_lost


def _native(
    grams: Floats,
    sides: Floats,
    precision: Floats,
    multiples: Floats,
    noise: float,
    uncertain: bool,
    means: Floats,
    moments: Floats,
    drawn: Floats | None,
) -> tuple[Floats, tuple[float, float], int]:
    k, d = sides.shape
    pivots, sums = np.empty((k, d)), np.zeros(2)
    room = native.aligned((precision.size + 4 * d, native.lanes()), np.float64)
    handed = native.filled(
        native.Regressions,
        n_rows=k,
        d=d,
        grams=grams,
        sides=sides,
        drawn=drawn,
        precision=precision,
        multiples=multiples,
        noise=noise,
        lost=_LOST,
        means=means,
        moments=moments,
        pivots=pivots,
        sums=sums,
        room=room,
        uncertain=uncertain,
    )
    n_lost = native.library().likewise_solve(native.instruction_set(), byref(handed))
    return pivots, (float(sums[0]), float(sums[1])), int(n_lost)


_FEW_ROWS = 64
"""Up to so many, calls cost more than what they compute, so one call on gathered rows takes the place of one a row."""


def _numpy(
    grams: Floats,
    sides: Floats,
    precision: Floats,
    multiples: Floats,
    noise: float,
    uncertain: bool,
    means: Floats,
    moments: Floats,
    drawn: Floats | None,
) -> tuple[Floats, tuple[float, float], int]:
    # Rows lie side by side along the last axis: a step on one entry of all their matrices is one operation on a vector.
    grams, sides = grams.T.copy(), sides.T.copy()
    d = sides.shape[0]
    # 1. Precision of the posterior: that of the prior, and what the observations add.
    matrices = grams / noise + precision[:, None] * multiples
    # 2. Its inverse is the covariance of the posterior, the mean is the covariance times the right-hand side.
    pivots, n_lost = invert(matrices, d)
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


def invert(triangles: Floats, d: int) -> tuple[Floats, int]:
    """Invert k symmetric positive definite matrices in place, given as upper triangles side by side, (d (d + 1) / 2, k).

    Return the pivots, (k, d), whose product is the determinant, and how many matrices are singular within rounding, whose
    inverses are not to be used.

    Gauss-Jordan elimination without exchanges, which is stable for such matrices (the *sweep operator*; Goodnight, "A tutorial on
    the SWEEP operator", The American Statistician 33, 1979): d steps on vectors of length k, in place of k calls of LAPACK on small matrices.
    """
    rows, (left, right) = _rows(d), np.triu_indices(d)
    diagonals = triangles[[row.start for row in rows]]
    pivots, singular = np.empty((triangles.shape[1], d)), np.zeros(triangles.shape[1], bool)
    for p, pivot_row in enumerate(rows):
        # The column of the pivot: above it in the rows before, below it, by symmetry, along its own row.
        above = [rows[i].start + p - i for i in range(p)]
        column = np.concatenate([triangles[above], triangles[pivot_row]])
        pivot = column[p].copy()
        singular |= ~(pivot > _LOST * diagonals[p])
        # Goes on without dividing by rounding, and adds nothing to the determinant's logarithm.
        pivot[singular] = 1.0
        pivots[:, p] = pivot
        column[p] = 0.0  # the row and the column of the pivot are written below
        scaled = column / pivot
        # Take from every entry what the pivot explains: a_ij - a_ip a_pj / a_pp.
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
