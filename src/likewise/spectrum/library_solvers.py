"""Solvers of other libraries: LAPACK on A itself and on its Gram matrix, where the short side is short enough, and ARPACK."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from likewise._typing import AnyFloats, Floats
from likewise.errors import SpectrumError
from likewise.memory import ensure_fits
from likewise.spectrum.candidates import CandidateTriplets, Refined
from likewise.spectrum.completeness import gram_matrix
from likewise.spectrum.krylov import ConvergenceTarget, lost_below, lost_threshold
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.orthonormal import measured
from likewise.spectrum.proof import Proof, Prover
from likewise.spectrum.request import Completeness, Request

_FEW = 8
"""One in so many columns: fewer eigenvectors are computed alone."""


def dense_bytes(m: int, n: int) -> int:
    """Memory that `decompose_dense` takes: the array, its factors, LAPACK's work space."""
    return 8 * n * (3 * m + 5 * n)


def decompose_dense(operator: RowOperator, request: Request) -> tuple[Refined, Proof]:
    """Every singular triplet of A by divide and conquer (LAPACK ``gesdd``) in float64."""
    m, n = operator.shape
    ensure_fits(
        dense_bytes(m, n),
        f"the full decomposition of a {m:,} x {n:,} matrix",
        "use solver='krylov', which needs only what is above the threshold",
        request.memory_limit,
    )
    array = operator.forward(np.eye(n))
    left, values, back = _svd(array)
    refined = Refined.rounded(operator, request.dtype, left, values, back.T, array.T @ left)
    return refined, Proof(Completeness(True, "full decomposition"))


def _svd(array: AnyFloats) -> tuple[Floats, Floats, Floats]:
    """Divide and conquer, which on rare matrices does not converge; then by QR iteration, which is slower."""
    try:
        factors = linalg.svd(array, full_matrices=False, check_finite=False)
    except linalg.LinAlgError:
        factors = linalg.svd(array, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return factors


def gram_search(operator: RowOperator, request: Request) -> CandidateTriplets:
    """Eigenvectors of the Gram matrix with an eigenvalue above tau^2, of which all are computed: complete by construction.

    Raises `MemoryLimitError` if the n x n Gram matrix and its eigenvectors do not fit, `SpectrumError` if tau^2 is below its rounding.
    """
    n = operator.shape[1]
    ensure_fits(
        8 * 4 * n * n,
        f"the {n:,} x {n:,} Gram matrix and its eigenvectors",
        "use solver='krylov', which needs only what is above the threshold",
        request.memory_limit,
    )
    request.report(f"Gram matrix of {n} columns", None)
    gram = gram_matrix(operator)
    # Backward error of a symmetric eigenvalue problem: eigenvalues move by some n eps ||G|| at most, ||G||_inf >= ||G||_2.
    rounding = 4 * n * float(np.finfo(np.float64).eps) * float(linalg.norm(gram, np.inf))
    if 0 < request.square < 2 * rounding:
        raise lost_threshold(request)
    # Rounding may have lowered what is above; what is within rounding of 0 cannot be told from 0.
    lowest = max(request.square - rounding, rounding)
    request.report("eigenvalues of the Gram matrix", None)
    vectors = _above(gram, lowest, request.at_most)
    if request.square or vectors.shape[1] == request.at_most:
        proof = Proof(Completeness(True, "all eigenvalues of the Gram matrix"), rounding)
    else:
        proof = Proof.failed(lost_below(request, lowest))
    return CandidateTriplets(vectors, 0.0, proof)


def _above(gram: Floats, lowest: float, at_most: int | None) -> Floats:
    """Return eigenvectors of the largest eigenvalues, decreasing: of all that are above a level, or of so many.

    A third of the work says how many there are; where they are few, only theirs are computed. Divide and conquer computes all where they are
    many, and where LAPACK's solver of a few gives up with an internal error, as it can where many are equal.
    """
    n = len(gram)
    work = int(lapack.dsytrd_lwork(n, lower=1)[0])
    # Householder's reflections to a tridiagonal matrix: the expensive third, after which counting costs n^2.
    reduced, diagonal, beside, scales, _ = lapack.dsytrd(gram, lower=1, lwork=work)
    count = int(np.count_nonzero(linalg.eigvalsh_tridiagonal(diagonal, beside) > lowest))
    count = count if at_most is None else min(count, at_most)
    if count == 0:
        return np.empty((n, 0))
    if _FEW * count <= n:
        with suppress(linalg.LinAlgError):
            wanted = (n - count, n - 1)
            _, few = linalg.eigh_tridiagonal(diagonal, beside, select="i", select_range=wanted)
            return _turned_back(reduced, scales, few)[:, ::-1]
    del reduced
    squares, vectors = linalg.eigh(gram, driver="evd", overwrite_a=True, check_finite=False)
    return np.asarray(vectors[:, squares > lowest][:, ::-1][:, :at_most])


def _turned_back(reduced: Floats, scales: Floats, vectors: AnyFloats) -> Floats:
    """Return ``Q X`` for the reflections Q that LAPACK's ``sytrd`` has left below the diagonal: all of them keep the first coordinate."""
    reflections, rest = reduced[1:, :-1], np.asfortranarray(vectors[1:])
    needed = int(lapack.dormqr("L", "N", reflections, scales, rest, -1)[1][0])
    turned = lapack.dormqr("L", "N", reflections, scales, rest, needed)[0]
    return np.vstack([vectors[:1], turned])


_FIRST = 16


def arpack_search(operator: RowOperator, request: Request) -> CandidateTriplets:
    """Find eigenvectors of A^T A by implicitly restarted Lanczos iteration, then try to prove that none is missing.

    Raises `SpectrumError` if ARPACK does not converge or would have to compute the whole spectrum.
    """
    most = operator.shape[1] - 1
    asked = min(_FIRST if request.at_most is None else request.at_most + 1, most)
    while asked > 0:
        request.report(f"ARPACK for {asked} triplets", None)
        subspace = measured(operator, _largest(operator, asked, request))
        target = ConvergenceTarget.of(subspace.squares, request, request.dtype)
        # The smallest is below the level, so as far as ARPACK knows nothing is missing: that is to be proved.
        if target.wanted < asked:
            outside = float(subspace.squares[-1])
            proof = Prover(operator, request).prove(subspace, target, outside)
            # Lanczos from one vector can miss copies of an equal value; with more to find it goes on to meet them.
            if proof.complete or asked == most or operator.passes >= request.max_passes:
                return CandidateTriplets.of(subspace, target, proof)
        elif asked == most:
            break
        asked = min(2 * asked, most)
    raise SpectrumError(
        f"ARPACK finds at most {most} triplets of a matrix of {most + 1} columns, of which one has to lie below the threshold; use solver='gram' or 'dense'"
    )


def _largest(operator: RowOperator, asked: int, request: Request) -> AnyFloats:
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = operator.shape[1]
    gram = LinearOperator(
        (n, n),
        matvec=lambda x: operator.gram(x.reshape(n, 1)).ravel(),
        dtype=request.dtype,
    )
    start = request.rng.standard_normal(n).astype(request.dtype)
    # A narrow basis of float32 vectors can leave ARPACK without shifts to restart with; a wide one seldom does.
    for basis in (None, min(n, 4 * asked + 40)):
        try:
            _, vectors = eigsh(gram, asked, which="LA", v0=start, tol=request.tolerance / 10, ncv=basis)
        except ArpackError as error:
            reason = error
        else:
            return np.asarray(vectors)
    raise SpectrumError(f"ARPACK gave up ({reason}); use solver='krylov'") from reason
