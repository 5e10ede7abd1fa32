"""Which solver runs, and why."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.spectrum.direct import dense_bytes
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.request import Request

_TINY = 32  # columns up to which LAPACK takes less than a millisecond
_GRAM_SIDE = 400  # columns up to which the eigenvalues of the Gram matrix cost less than an iteration
_GRAM_LARGEST = 20_000  # columns beyond which the Gram matrix is out of the question
_RESOLVED = 1e-6  # of ||A||_F: a threshold below is lost in the rounding of A^T A


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
    if n <= _TINY:
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
    gram_fits = n <= _GRAM_LARGEST and 32 * n * n <= request.memory_limit
    return Choice(
        "krylov", f"{n} columns are too many for a Gram matrix", n / 2 if gram_fits else float("inf")
    )


def _lost_in_gram(operator: RowOperator, request: Request) -> bool:
    if operator.energy is None or request.at_most is not None:
        return False
    return request.square <= _RESOLVED**2 * operator.energy
