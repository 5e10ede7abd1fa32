"""What a solver returns: singular triplets, how good they are, and whether any is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from likewise._typing import AnyFloats


@dataclass(frozen=True)
class Completeness:
    """Whether every singular value above the threshold was found.

    Parameters
    ----------
    proved : bool
        True if none is missing (of the `at_most` largest, where so many were asked for), up to `failure_probability`.
    reason : str
        How it was proved, or why it is not.
    failure_probability : float
        Probability that the proof is wrong: 0 for a deterministic proof, at most 1e-6 for a randomised one.
    at_threshold : int
        How many of the singular values that were computed equal the threshold within rounding, and were left out for it: whether they
        are above is arbitrary. An iteration computes a few of those below the threshold, so it may meet only some of many that equal it.
    """

    proved: bool
    reason: str
    failure_probability: float = 0.0
    at_threshold: int = 0

    def __str__(self) -> str:
        chance = (
            f", failure probability <= {self.failure_probability:.0e}" if self.failure_probability else ""
        )
        edge = f"; {self.at_threshold} within rounding of the threshold" if self.at_threshold else ""
        return f"{'proved' if self.proved else 'not proved'} ({self.reason}{chance}{edge})"


@dataclass(frozen=True, eq=False)
class SingularTriplets:
    """Singular triplets ``(sigma_l, u_l, v_l)`` of an m x n matrix, largest first.

    Parameters
    ----------
    left : ndarray, shape (m, k)
        Orthonormal left singular vectors ``u_l`` in columns.
    values : ndarray of float64, shape (k,)
        Singular values, decreasing.
    right : ndarray, shape (n, k)
        Orthonormal right singular vectors ``v_l`` in columns.
    residuals : ndarray, shape (k,)
        Relative residuals ``||A^T u_l - sigma_l v_l|| / sigma_l``.
    threshold : float or None
        Only singular values strictly above it were asked for; None where a number of them was.
    completeness : Completeness
    solver : str
        Name of the solver that ran.
    passes : int
        How often the matrix was read from end to end.
    solver_reason : str
        Why that solver ran.
    """

    left: AnyFloats
    values: AnyFloats
    right: AnyFloats
    residuals: AnyFloats
    threshold: float | None
    completeness: Completeness
    solver: str
    passes: int
    solver_reason: str = ""

    @property
    def rank(self) -> int:
        """How many triplets there are."""
        return self.values.size

    def transposed(self) -> SingularTriplets:
        """Return the singular triplets of the transposed matrix."""
        return replace(self, left=self.right, right=self.left)

    def __repr__(self) -> str:
        which = "largest" if self.threshold is None else f"above {self.threshold:g}"
        return (
            f"SingularTriplets({self.rank} {which}, solver={self.solver!r}, "
            f"passes={self.passes}, complete: {self.completeness})"
        )
