"""What was asked for, checked once and handed to every solver, and what a solver returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from likewise._kernels.checks import FLOAT_TYPES
from likewise._typing import AnyFloats
from likewise.arrays import as_floats
from likewise.checks import checked_callable, checked_name, checked_whole, is_number
from likewise.errors import InputError, ShapeError, ThresholdError
from likewise.memory import available_memory
from likewise.randomness import generator_of

Progress = Callable[[str, float | None], None]

CERTIFICATES = ("auto", "inertia", "random")
_SHARE_OF_MEMORY = 0.8  # of what is free; BLAS and LAPACK want some room too
_MOST_MEMORY = 1 << 60
_FARTHEST = 500
"""Binary digits that a threshold may lie from 1: so far from a matrix near 1 it is beyond all of it, or lost, and its square is a number still."""


@dataclass(frozen=True)
class Request:
    """A checked request."""

    above: float | None  # tau: singular values strictly above it are wanted; None stands for 0
    at_most: int | None  # only so many of the largest
    dtype: np.dtype[Any]  # of the iteration and of the singular vectors
    rng: np.random.Generator
    start: AnyFloats | None  # (n, b), right singular vectors to start from
    memory_limit: float  # bytes that the solver may use
    max_passes: int  # how often the matrix may be read before the solver stops without a proof
    certificate: str  # how completeness is to be proved: one of CERTIFICATES
    report: Progress  # told what is going on, with the fraction done or None
    exponent: int = 0  # solvers see the matrix divided by 2 to this power; see `operators.near_one`

    @property
    def threshold(self) -> float:
        """Tau, for the matrix that solvers see."""
        mantissa, own = math.frexp(self.asked)
        return math.ldexp(mantissa, min(max(own - self.exponent, -_FARTHEST), _FARTHEST))

    def as_given(self, value: float) -> str:
        """Write a singular value of the matrix that solvers see in the units of the one that was given."""
        return f"{float(np.ldexp(value, self.exponent)):.1e}"

    @property
    def asked(self) -> float:
        """Tau, for the matrix that was given."""
        return self.above or 0.0

    @property
    def square(self) -> float:
        """``tau^2``, the threshold for eigenvalues of ``A^T A``."""
        return self.threshold**2

    @property
    def tolerance(self) -> float:
        """Relative residual that is good enough: 1e-6 in float32, 1e-10 in float64."""
        return 1e-6 if self.dtype == np.float32 else 1e-10


def checked_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Return float32 or float64, by any name that NumPy has for it."""
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError):
        kind = np.dtype(object)
    if kind not in FLOAT_TYPES:
        raise InputError(f"dtype is {dtype!r}", "float32 or float64")
    return kind


def checked_request(
    *,
    above: float | None,
    at_most: int | None,
    dtype: np.dtype[Any],
    random_state: int | np.random.Generator | None,
    start: Any,
    n: int,
    memory_limit: float | None,
    max_passes: int,
    certificate: str,
    progress: Progress | None,
) -> Request:
    """Check every argument of `singular_triplets` that is not the matrix."""
    checked_name("certificate", certificate, CERTIFICATES)
    return Request(
        above=_checked_threshold(above, at_most),
        at_most=None if at_most is None else checked_whole("at_most", at_most, or_else="None"),
        dtype=dtype,
        rng=generator_of(random_state),
        start=_checked_start(start, n),
        memory_limit=_checked_limit(memory_limit),
        max_passes=checked_whole("max_passes", max_passes),
        certificate=certificate,
        report=checked_callable("progress", progress) or _silent,
    )


def _silent(message: str, fraction: float | None) -> None:
    """Report nothing."""


def _checked_threshold(above: float | None, at_most: int | None) -> float | None:
    if above is None and at_most is not None:
        return None
    if above is None:
        raise ThresholdError(
            "neither above nor at_most is given", "a threshold above= >= 0, or a number of triplets at_most="
        )
    try:
        threshold = float(above)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ThresholdError(f"threshold is {above!r}", "a finite number >= 0") from error
    if not 0 <= threshold < np.inf:
        raise ThresholdError(f"threshold is {above}", "a finite number >= 0")
    return threshold


def _checked_limit(memory_limit: float | None) -> float:
    if memory_limit is None:
        return _SHARE_OF_MEMORY * available_memory()
    if not is_number(memory_limit) or not memory_limit > 0:
        raise InputError(f"memory_limit is {memory_limit!r}", "a number of bytes above 0")
    return float(min(memory_limit, _MOST_MEMORY))


def _checked_start(start: Any, n: int) -> AnyFloats | None:
    if start is None:
        return None
    basis = as_floats(start, "vectors to start from")
    if basis.ndim != 2 or basis.shape[0] != n:
        raise ShapeError(f"start has shape {basis.shape}", f"({n}, b): one row for each column of the matrix")
    if not np.isfinite(basis).all():
        raise InputError("start holds NaN or infinite values", "finite values")
    # Only the directions count: the largest entry of each column is brought near 1, by a power of two.
    return np.asarray(np.ldexp(basis, -np.frexp(np.abs(basis).max(axis=0, initial=0.0))[1]))


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
