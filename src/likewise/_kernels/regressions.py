"""Regressions of many rows on uncertain columns, each a small symmetric system, in one call."""

from __future__ import annotations

from ctypes import byref

import numpy as np

from likewise._kernels.backend import use_native
from likewise._kernels.fallback import regressions as fallback
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
    """Solve ``(multiple precision + gram / noise) x = side / noise + drawn`` for each row, on one thread.

    Parameters
    ----------
    grams : ndarray, shape (k, d (d + 1) / 2)
        Upper triangles of symmetric matrices, row by row.
    sides : ndarray, shape (k, d)
    precision : ndarray, shape (d (d + 1) / 2,)
        Of the prior, a triangle as well.
    multiples : ndarray, shape (k,)
        Of the precision.
    noise : float
    uncertain : bool
        Whether the inverse of the matrix is added to the second moments.
    means, moments : ndarray, shapes (k, d) and (k, d (d + 1) / 2)
        Receive the solutions x and ``x x^T``, or ``x x^T`` and the inverse.
    drawn : ndarray, shape (k, d), optional
        Where a prior has a mean: the precision times it.

    Returns
    -------
    explained : float
        ``sum 2 side^T x - <gram, moment>``.
    penalty : float
        ``sum multiple <precision, moment>``.
    log_determinants : float
        Of all matrices together.
    n_lost : int
        How many matrices are singular within rounding; their solutions are not to be used.

    Raises
    ------
    ShapeError
        Arrays that do not go together.

    Examples
    --------
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
    solve = _native if use_native() else fallback.solve
    pivots, (explained, penalty), n_lost = solve(
        grams, sides, precision, multiples, noise, _LOST, uncertain, means, moments, drawn
    )
    return explained, penalty, float(np.log(pivots).sum()), n_lost


def _native(
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
    k, d = sides.shape
    pivots, sums = np.empty((k, d)), np.zeros(2)
    room = native.aligned((precision.size + 4 * d, native.lanes()), np.float64)
    handed = native.Regressions(
        n_rows=k,
        d=d,
        grams=native.address(grams),
        sides=native.address(sides),
        drawn=native.address(drawn),
        precision=native.address(precision),
        multiples=native.address(multiples),
        noise=noise,
        lost=lost,
        means=native.address(means),
        moments=native.address(moments),
        pivots=native.address(pivots),
        sums=native.address(sums),
        room=native.address(room),
        uncertain=uncertain,
    )
    n_lost = native.library().likewise_solve(native.instruction_set(), byref(handed))
    return pivots, (float(sums[0]), float(sums[1])), int(n_lost)
