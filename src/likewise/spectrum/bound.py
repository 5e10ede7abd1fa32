"""A proof that no singular value is above a level, without finding any: what the end of an iteration needs to know of a residual."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from likewise.spectrum.goal import Goal
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.proof import Proof, Prover
from likewise.spectrum.request import Request, checked_request
from likewise.spectrum.slabs import one_blas_thread
from likewise.spectrum.subspace import Subspace

_LONGEST_TEST = 1000
"""Passes over the matrix beyond which its Gram matrix costs less than a randomised test."""
_GRAM_SIDE = 5000
"""Columns up to which that Gram matrix takes little memory, and its inertia seconds."""


def nothing_above(
    operator: RowOperator, level: float, seen: float, random_state: int | np.random.Generator | None = None
) -> Proof:
    """Prove that every singular value of a matrix is at most `level`; nothing is said of where they are.

    By counting the eigenvalues of ``A^T A`` above ``level^2`` (up to 1,000 columns, or where the randomised test would be long), or
    by a Chebyshev test on random vectors, whose length goes with ``1 / sqrt(level / seen - 1)`` and which fails to notice a larger
    singular value with a probability of at most 1e-8.

    Parameters
    ----------
    operator : RowOperator
        A, m x n with m >= n.
    level : float
        Above 0.
    seen : float
        The largest singular value as far as is known. It decides how long the test takes, not whether it is one.
    random_state : int, Generator or None

    Returns
    -------
    Proof
        Complete, or why not.

    Examples
    --------
    >>> from likewise.spectrum.operators import as_operator
    >>> operator, _ = as_operator(np.diag([3.0, 2.0, 1.0]))
    >>> nothing_above(operator, 3.1, 2.9).complete, nothing_above(operator, 2.95, 2.9).complete
    (True, False)
    """
    n = operator.shape[1]
    nothing = np.zeros((n, 0))
    subspace = Subspace(nothing, np.zeros(0), np.zeros(0), nothing)
    goal, request = Goal(0, level**2, 0.0, True), _request(level, random_state, n)
    passes = Prover(operator, request).passes_needed(subspace.squares, goal, seen**2)
    if n <= _GRAM_SIDE and passes > _LONGEST_TEST:
        request = replace(request, certificate="inertia")
    with one_blas_thread():
        return Prover(operator, request).prove(subspace, goal, seen**2)


def _request(level: float, random_state: int | np.random.Generator | None, n: int) -> Request:
    return checked_request(
        above=level,
        at_most=None,
        dtype=np.dtype(np.float64),
        random_state=random_state,
        start=None,
        n=n,
        memory_limit=None,
        max_passes=1,
        certificate="auto",
        progress=None,
    )
