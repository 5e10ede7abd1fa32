"""The one entry point: every singular triplet above a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse import csr_array, issparse

from likewise.errors import InputError, ObservationError, ShapeError, ThresholdError, unknown_name
from likewise.spectrum.dense import dense_triplets
from likewise.spectrum.gram import gram_eigenvectors
from likewise.spectrum.result import Completeness, Floats, SingularTriplets

SOLVERS = ("auto", "dense", "gram")


def singular_triplets(
    operand: Any,
    *,
    above: float | None = None,
    at_most: int | None = None,
    solver: str = "auto",
    dtype: Any = None,
    random_state: int | np.random.Generator | None = None,
    start: Floats | None = None,
) -> SingularTriplets:
    """All singular triplets strictly above a threshold, and whether any was missed.

    Parameters
    ----------
    operand : ObservedMatrix, sparse array or ndarray, shape (m, n)
        Missing entries count as 0.
    above : float, optional
        Threshold tau >= 0: triplets with sigma > tau are returned.
    at_most : int, optional
        Return only this many of the largest.
    solver : {"auto", "dense", "gram"}
    dtype : float32 or float64, optional
        Working precision; by default the operand's.
    random_state : int, Generator or None
    start : ndarray, shape (n, b), optional
        Basis of right singular vectors to start from.

    Returns
    -------
    SingularTriplets

    Raises
    ------
    ThresholdError
        If the threshold is negative or not finite, or neither `above` nor `at_most` is given.
    ObservationError
        If the data contain NaN or infinite values.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.spectrum import singular_triplets
    >>> singular_triplets(np.diag([3.0, 2.0, 1.0]), above=1.0).values
    array([3., 2.])
    """
    matrix = _as_matrix(operand, dtype)
    threshold = _checked_threshold(above, at_most)
    if solver not in SOLVERS:
        raise InputError(*unknown_name("solver", solver, SOLVERS))
    if solver == "auto":
        solver = "dense" if min(matrix.shape) <= 600 else "gram"
    if solver == "dense":
        left, values, right = dense_triplets(matrix)
    else:
        left, values, right = _through_gram(matrix, threshold)
    return _selected(
        matrix, left, values, right, above=above, threshold=threshold, at_most=at_most, solver=solver
    )


def _as_matrix(operand: Any, dtype: Any) -> csr_array | Floats:
    source = getattr(operand, "values", operand)
    wanted = dtype or (np.float32 if getattr(source, "dtype", None) == np.float32 else np.float64)
    matrix = csr_array(source, dtype=wanted) if issparse(source) else np.asarray(source, dtype=wanted)
    if matrix.ndim != 2:
        raise ShapeError(f"operand has {matrix.ndim} dimensions", "a matrix, m x n")
    stored = matrix.data if issparse(matrix) else matrix
    if not np.isfinite(stored).all():
        raise ObservationError(
            "the matrix contains NaN or infinite values",
            "finite values",
            "missing entries are simply not stored",
        )
    return matrix


def _checked_threshold(above: float | None, at_most: int | None) -> float:
    if above is None and at_most is None:
        raise ThresholdError("neither above nor at_most is given", "a threshold >= 0 or a number of triplets")
    if at_most is not None and at_most < 1:
        raise InputError(f"at_most is {at_most}", "a whole number >= 1")
    if above is not None and not 0 <= above < np.inf:
        raise ThresholdError(f"threshold is {above}", "a finite number >= 0")
    return 0.0 if above is None else float(above)


def _through_gram(matrix: csr_array | Floats, threshold: float) -> tuple[Floats, Floats, Floats]:
    if matrix.shape[0] < matrix.shape[1]:
        right, values, left = _through_gram(matrix.T, threshold)
        return left, values, right
    _, vectors = gram_eigenvectors(matrix, threshold * (1 - 1e-6))
    images, triangle = linalg.qr(matrix @ vectors, mode="economic", check_finite=False)
    turn, values, back = linalg.svd(triangle, check_finite=False)
    return images @ turn, values, vectors @ back.T


def _selected(
    matrix: csr_array | Floats,
    left: Floats,
    values: Floats,
    right: Floats,
    *,
    above: float | None,
    threshold: float,
    at_most: int | None,
    solver: str,
) -> SingularTriplets:
    largest = float(values[0]) if values.size else 0.0
    rounding = max(matrix.shape) * float(np.finfo(matrix.dtype).eps) * largest
    kept = np.flatnonzero(values > threshold + rounding)[:at_most]
    left, values, right = left[:, kept], values[kept], right[:, kept]
    residuals = np.linalg.norm(matrix.T @ left - right * values, axis=0) / values
    completeness = Completeness(
        proved=True,
        reason="full decomposition" if solver == "dense" else "eigenvalues of the Gram matrix by value",
        at_threshold=int(np.count_nonzero(np.abs(values - threshold) <= rounding)),
    )
    return SingularTriplets(left, values, right, residuals, above, completeness, solver, 2)
