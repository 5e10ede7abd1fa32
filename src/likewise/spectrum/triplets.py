"""Which solver runs, and why."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from likewise._kernels.backend import one_blas_thread
from likewise._typing import AnyFloats
from likewise.checks import checked_name
from likewise.errors import CompletenessWarning, SpectrumError
from likewise.spectrum.candidates import CandidateTriplets, Refined, refine, refine_right
from likewise.spectrum.library_solvers import arpack_search, decompose_dense, dense_bytes, gram_search
from likewise.spectrum.operators import RowOperator, as_operator, near_one
from likewise.spectrum.proof import Proof
from likewise.spectrum.request import Progress, Request, SingularTriplets, checked_dtype, checked_request
from likewise.spectrum.search import GramIsCheaperError, krylov_search

_DENSE_SIDE = 32  # columns up to which LAPACK takes less than a millisecond
_GRAM_SIDE = 400  # columns up to which the eigenvalues of the Gram matrix cost less than an iteration
_MAX_GRAM_SIDE = 20_000  # columns beyond which the Gram matrix is out of the question
_RESOLUTION = 1e-6  # of ||A||_F: a threshold below is lost in the rounding of A^T A


@dataclass(frozen=True)
class Choice:
    """A solver and why.

    Parameters
    ----------
    solver, reason : str
    columns_before_gram : float
        At how many columns an iteration should give up for the Gram matrix.
    dense_at_need : bool
        Whether LAPACK should take over where the Gram matrix loses small singular values to rounding.
    """

    solver: str
    reason: str
    columns_before_gram: float = float("inf")
    dense_at_need: bool = False


def choose(operator: RowOperator, request: Request) -> Choice:
    """Choose by shape, threshold and cost.

    An iteration with p columns costs about ``4 n p^2 + 10 p^3`` operations beside the products, the eigenvalues of
    the Gram matrix about ``4 n^3``; how large p must be shows only on the way, so the iteration gives up at n / 2.
    """
    m, n = operator.shape
    if n <= _DENSE_SIDE:
        return Choice("dense", f"the short side has {n} columns")
    dense_fits = dense_bytes(m, n) <= request.memory_limit
    if _lost_in_gram(operator, request) and dense_fits:
        return Choice("dense", "the threshold is so small that the Gram matrix would lose it")
    if n <= _GRAM_SIDE:
        return Choice(
            "gram",
            f"the eigenvalues of a {n} x {n} matrix cost less than an iteration",
            dense_at_need=dense_fits,
        )
    gram_fits = n <= _MAX_GRAM_SIDE and 32 * n * n <= request.memory_limit
    return Choice(
        "krylov", f"{n} columns are too many for a Gram matrix", n / 2 if gram_fits else float("inf")
    )


def _lost_in_gram(operator: RowOperator, request: Request) -> bool:
    if operator.energy is None or request.at_most is not None:
        return False
    return request.square <= _RESOLUTION**2 * operator.energy


_SEARCHES: dict[str, Callable[[RowOperator, Request, Choice], CandidateTriplets]] = {
    "gram": lambda operator, request, _: gram_search(operator, request),
    "krylov": lambda operator, request, choice: krylov_search(operator, request, choice.columns_before_gram),
    "arpack": lambda operator, request, _: arpack_search(operator, request),
}
SOLVERS = ("auto", "dense", *_SEARCHES)


def singular_triplets(
    operand: Any,
    *,
    above: float | None = None,
    at_most: int | None = None,
    solver: str = "auto",
    dtype: DTypeLike | None = None,
    random_state: int | np.random.Generator | None = None,
    start: ArrayLike | None = None,
    certificate: str = "auto",
    max_passes: int = 2000,
    memory_limit: float | None = None,
    progress: Progress | None = None,
) -> SingularTriplets:
    """All singular triplets strictly above a threshold, and whether any was missed.

    Parameters
    ----------
    operand : ObservedMatrix, sparse array, ndarray, CompressedRows or RowOperator; shape (m, n)
        Missing entries count as 0.
    above : float, optional
        Threshold tau >= 0: triplets with sigma > tau. Values within rounding of tau count as equal to it.
    at_most : int, optional
        Only so many of the largest.
    solver : {"auto", "dense", "gram", "krylov", "arpack"}
        ``"dense"``: LAPACK on the whole matrix. ``"gram"``: all eigenvalues of A^T A. ``"krylov"``: block Krylov
        iteration. ``"arpack"``: SciPy's. ``"auto"`` chooses by shape and cost; the result says which, and why.
    dtype : float32 or float64, optional
        Precision of the iteration and of the singular vectors; by default that of the matrix. Relative residuals are at most
        1e-6 in float32 and 1e-10 in float64, plus the rounding of the vectors themselves, up to ``eps sigma_1 / sigma`` (eps = 1.2e-7
        and 2.2e-16): vectors of a tiny sigma have few digits. Below 1e-5 sigma_1 only ``"dense"`` promises as much. The result
        states the residuals of the vectors that it holds.
    random_state : int, Generator or None
        For starting blocks and randomised proofs.
    start : array-like, shape (n, b), optional
        Right singular vectors of a similar matrix, to start from.
    certificate : {"auto", "inertia", "random"}
        How an iteration proves that nothing is missing: by whatever is cheapest, by counting eigenvalues
        (deterministic, n^3 / 3 operations), or by a test on random vectors (failure probability <= 1e-6).
    max_passes : int
        How often an iteration may read the matrix before it returns what it has, without a proof.
    memory_limit : float, optional
        Bytes that may be used beside the matrix; by default most of what is free.
    progress : callable, optional
        ``progress(message, fraction)`` is called now and then; fraction is None where the end is not known.

    Returns
    -------
    SingularTriplets
        Without left vectors, `left` of shape (0, k), where a `RowOperator` says that arrays of m rows may not be held.

    Raises
    ------
    ThresholdError
        If the threshold is negative or not finite, or neither `above` nor `at_most` is given.
    ShapeError, ObservationError, InputError
        If the operand is not a matrix, is empty, holds NaN or infinite values; or another argument is unusable.
    MemoryLimitError
        If more lies above the threshold than fits; the message says how many there are at least.
    SpectrumError
        If the solver cannot do it.

    Warns
    -----
    CompletenessWarning
        If it could not be proved that nothing is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.spectrum import singular_triplets
    >>> triplets = singular_triplets(np.diag([3.0, 2.0, 1.0]), above=1.0)
    >>> triplets.values
    array([3., 2.])
    >>> print(triplets.completeness)
    proved (full decomposition; 1 within rounding of the threshold)
    """
    checked_name("solver", solver, SOLVERS)
    precision = None if dtype is None else checked_dtype(dtype)
    operator, transposed = as_operator(operand, precision)
    operator.passes = 0
    request = checked_request(
        above=above,
        at_most=at_most,
        dtype=precision or operator.dtype,
        random_state=random_state,
        start=start,
        n=operator.shape[int(not transposed)],
        memory_limit=memory_limit,
        max_passes=max_passes,
        certificate=certificate,
        progress=progress,
    )
    if transposed and request.start is not None:
        request = replace(request, start=operator.adjoint(request.start))
    # From here on the largest entry is near 1, so that no square of a singular value overflows or vanishes.
    operator, exponent = near_one(operator)
    request = replace(request, exponent=exponent)
    choice = choose(operator, request) if solver == "auto" else Choice(solver, "asked for")
    # Several threads of BLAS gain little on a short side like that, and lose much where other work wants the processors.
    small = operator.shape[1] <= _GRAM_SIDE
    with one_blas_thread() if small or choice.solver == "krylov" else nullcontext():
        refined, proof, choice = _solve(operator, request, choice)
    result = _selected(refined, proof, choice, operator, request)
    return result.transposed() if transposed else result


def _solve(operator: RowOperator, request: Request, choice: Choice) -> tuple[Refined, Proof, Choice]:
    if choice.solver == "dense":
        return *decompose_dense(operator, request), choice
    try:
        candidates = _SEARCHES[choice.solver](operator, request, choice)
    except GramIsCheaperError:
        choice = Choice("gram", "so much lies above the threshold that an iteration would cost more")
        candidates = gram_search(operator, request)
    if choice.dense_at_need and not candidates.proof.complete:
        return _solve(operator, request, Choice("dense", candidates.proof.completeness.reason))
    refined = (refine if operator.rows_fit else refine_right)(operator, candidates, request)
    return refined, candidates.proof, choice


def _selected(
    refined: Refined, proof: Proof, choice: Choice, operator: RowOperator, request: Request
) -> SingularTriplets:
    """Keep what is strictly above the threshold; what equals it within rounding is counted, not kept."""
    window = _window(refined, proof, operator, request)
    count = int(np.count_nonzero(refined.values > request.threshold + window))
    completeness = replace(proof.completeness, at_threshold=_at_threshold(refined, window, count, request))
    if not completeness.proved:
        warnings.warn(
            f"singular values above {request.asked:g} may be missing: {completeness.reason}",
            CompletenessWarning,
            stacklevel=3,
        )
    kept = slice(min(count, request.at_most or count))
    left, right = refined.left[:, kept], refined.right[:, kept]
    signs = _signs(right)
    left *= signs
    right *= signs
    return SingularTriplets(
        left=np.ascontiguousarray(left),
        values=_in_given_units(refined.values[kept], request),
        right=np.ascontiguousarray(right),
        residuals=refined.residuals[kept],
        threshold=request.above,
        completeness=completeness,
        solver=choice.solver,
        passes=operator.passes,
        solver_reason=choice.reason,
    )


def _at_threshold(refined: Refined, window: float, count: int, request: Request) -> int:
    """Count what was left out because it equals the threshold within rounding; of 0 itself there is no doubt."""
    if request.above is None and request.at_most == min(count, request.at_most or count):
        return 0  # a number of triplets was asked for and is there: the threshold of 0 played no part
    near = np.abs(refined.values - request.threshold) <= window
    return int(np.count_nonzero(near & (refined.values > 0)))


def _in_given_units(values: NDArray[np.float64], request: Request) -> NDArray[np.float64]:
    """Undo the scaling of the matrix; `SpectrumError` if a singular value is larger than the largest number."""
    with np.errstate(over="ignore"):
        given = np.ldexp(values, request.exponent)
    if np.isinf(given).any():
        raise SpectrumError(
            f"the largest singular value is above {np.finfo(np.float64).max:.1e}, the largest number there is; divide the matrix by something"
        )
    return given


def _window(refined: Refined, proof: Proof, operator: RowOperator, request: Request) -> float:
    """How close to the threshold a singular value cannot be told from it."""
    largest = float(refined.values.max(initial=0.0))
    # Rounding of the float64 sums, which goes with the largest value and with how many numbers are added up.
    window = 10 * max(operator.shape) ** 0.5 * float(np.finfo(np.float64).eps) * largest
    if request.threshold:
        # What cannot be told of sigma^2, brought to sigma: d sigma = d(sigma^2) / (2 sigma).
        window += proof.eigenvalue_uncertainty / (2 * request.threshold)
    # And a few units in the last place of the threshold itself, in the precision of the vectors.
    return float(window + 4 * np.finfo(request.dtype).eps * request.threshold)


def _signs(vectors: AnyFloats) -> AnyFloats:
    """Make the largest entry of each column positive: a convention, so that equal runs give equal vectors."""
    largest = np.argmax(np.abs(vectors), axis=0)
    return np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1).astype(vectors.dtype)
