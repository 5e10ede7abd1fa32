"""SciPy's ARPACK, which must be told a number: it is told twice as many until the smallest falls below the threshold."""

from __future__ import annotations

import numpy as np

from likewise.errors import SpectrumError
from likewise.spectrum.found import Found
from likewise.spectrum.goal import Goal
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.proof import Prover
from likewise.spectrum.request import Request
from likewise.spectrum.result import Floats
from likewise.spectrum.subspace import measured

_FIRST = 16


def arpack_search(operator: RowOperator, request: Request) -> Found:
    """Find eigenvectors of A^T A by implicitly restarted Lanczos iteration, then try to prove that none is missing.

    Raises
    ------
    SpectrumError
        If ARPACK does not converge or would have to compute the whole spectrum.
    """
    n = operator.shape[1]
    asked = _FIRST if request.at_most is None else request.at_most + 1
    while True:
        if asked >= n:
            raise SpectrumError(f"ARPACK cannot find {asked} of {n} triplets; use solver='gram' or 'dense'")
        request.report(f"ARPACK for {asked} triplets", None)
        subspace = measured(operator, _largest(operator, asked, request))
        goal = Goal.of(subspace.squares, request, request.dtype)
        if goal.wanted < asked:
            outside = float(subspace.squares[-1])
            return Found.of(subspace, goal, Prover(operator, request).prove(subspace, goal, outside))
        asked *= 2


def _largest(operator: RowOperator, asked: int, request: Request) -> Floats:
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
