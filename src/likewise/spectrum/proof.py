"""Choose and run a proof that a subspace holds every eigenvalue above a level."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.backend import one_blas_thread
from likewise._typing import AnyFloats
from likewise.spectrum.completeness import (
    FAILURE_PROBABILITY,
    TEST_WIDTH,
    CarriedTest,
    chi_squared_quantile,
    degree_needed,
    eigenvalues_above,
    random_test,
)
from likewise.spectrum.krylov import ConvergenceTarget
from likewise.spectrum.operators import RowOperator, near_one
from likewise.spectrum.orthonormal import Subspace
from likewise.spectrum.request import Completeness, Request, checked_request

INERTIA_SIDE = 1000  # columns up to which the deterministic count costs less than the randomised test
_MAX_TESTS = 100  # looks at random vectors, of failure probability 1e-8 each: together at most 1e-6
_COST_OF_DEFLATION = 2  # columns of a pass: one to measure it, one to refine with it
_SHARE_OF_GAP = 0.1
"""The level tested is that far into the gap, so that theta just below tau^2 stay decidable."""
_ROUNDING = 8.0  # units in the last place of ||A||^2: what rounding may add to the deflated operator


@dataclass(frozen=True, eq=False)
class Proof:
    """Outcome of an attempt."""

    completeness: Completeness
    eigenvalue_uncertainty: float = 0.0  # eigenvalues closer below the level than this cannot be told from it
    # (n, b), rich in what the subspace lacks, where the attempt found that it lacks something.
    escaped: AnyFloats | None = None

    @classmethod
    def failed(cls, reason: str, escaped: AnyFloats | None = None) -> Proof:
        """No proof, and why."""
        return cls(Completeness(False, reason), escaped=escaped)

    @property
    def complete(self) -> bool:
        """Whether it is proved."""
        return self.completeness.proved


@dataclass(frozen=True)
class Gap:
    """Between the level and the largest eigenvalue of the deflated operator."""

    level: float
    outside: float  # estimate of that eigenvalue; it decides how much work a proof is, not whether it is one
    rounding: float  # how far rounding may move eigenvalues of the deflated operator

    @property
    def tested(self) -> float:
        """mu, the level that the randomised test is run for."""
        return self.level - max(_SHARE_OF_GAP * (self.level - self.outside), 2 * self.rounding)

    @property
    def proved(self) -> float:
        """What a passed test says of the operator without rounding: its norm is below that."""
        return self.tested + self.rounding

    @property
    def cut(self) -> float:
        """c, where the spectrum ends as far as is known."""
        # Not below a fiftieth of the level: that would hardly shorten the test, which gives up early where the estimate is too low.
        return max(self.outside, 0.02 * self.level)

    def degree(self, n: int) -> float:
        """Degree of the polynomial that a proof takes at most, give or take one."""
        return degree_needed(n, self.cut, self.tested) if self.cut < self.tested else np.inf


class Prover:
    """Proves that a subspace holds all that is wanted, by the cheapest way that works; counts its attempts.

    The precision of `request` is that in which the subspace was computed.
    """

    def __init__(self, operator: RowOperator, request: Request) -> None:
        self.operator, self.request = operator, request
        self.tests = 0

    def columns_to_deflate(
        self, squares: NDArray[np.float64], target: ConvergenceTarget, converged: int, carried: int = 0
    ) -> int:
        """How many of the converged pairs to deflate: each costs some columns once, and widens the gap; a degree that was carried along is free."""
        # outside[k]: what is left outside if k more than the wanted ones are deflated.
        outside = np.append(squares, 0.0)[target.wanted : converged + 1]
        n = self.operator.shape[1]
        cost = [
            _COST_OF_DEFLATION * k
            + max(TEST_WIDTH, self.operator.width)
            * max(self._gap(target, squares, value).degree(n) - carried, 0)
            for k, value in enumerate(outside)
        ]
        return target.wanted + int(np.argmin(cost))

    def passes_needed(self, squares: NDArray[np.float64], target: ConvergenceTarget, outside: float) -> float:
        """Estimate how often a proof would read the matrix if these eigenvalues were deflated."""
        if self._by_energy(squares, target.level) or self.prefers_inertia:
            return 0.0
        return self._gap(target, squares, outside).degree(self.operator.shape[1])

    def prove(
        self,
        subspace: Subspace,
        target: ConvergenceTarget,
        outside: float,
        carried: CarriedTest | None = None,
    ) -> Proof:
        """Try to prove that no eigenvalue of A^T A above the level is missing from `subspace`.

        Its vectors are deflated; those below the level belong to it too, they widen the gap. `outside` estimates the largest eigenvalue outside.
        A test that was `carried` along, on which the subspace does not depend, is looked at once.
        """
        # 1. Free: no eigenvalue outside can be above the sum of them all.
        if self._by_energy(subspace.squares, target.level):
            reason = "the energy outside the triplets is below the threshold squared"
            return Proof(
                Completeness(True, reason),
                _eigenvalue_uncertainty(subspace, target.level, self._missing(subspace.squares)),
            )
        # 2. Deterministic, where the Gram matrix is small.
        if self.prefers_inertia:
            return self._count(subspace, target.level)
        # 3. Randomised, which takes a gap between the level and the rest of the spectrum.
        gap = self._gap(target, subspace.squares, outside)
        if gap.cut >= gap.tested:
            return Proof.failed("no gap below the threshold was found")
        if carried is not None and carried.degree and self.tests < _MAX_TESTS:
            # Each look at random vectors may err, so each is counted, whether it passes or not.
            self.tests += 1
            part = carried.largest_part(subspace, gap.cut, gap.tested)
            if part**2 < chi_squared_quantile(FAILURE_PROBABILITY, TEST_WIDTH):
                return self._passed(subspace, gap, carried.degree)
        return self._test(subspace, gap)

    def _gap(self, target: ConvergenceTarget, squares: NDArray[np.float64], outside: float) -> Gap:
        largest = float(squares.max(initial=target.level))
        return Gap(target.level, outside, _ROUNDING * float(np.finfo(self.request.dtype).eps) * largest)

    @property
    def prefers_inertia(self) -> bool:
        """Whether a proof would count eigenvalues."""
        wish = self.request.certificate
        return wish == "inertia" or (wish == "auto" and self.operator.shape[1] <= INERTIA_SIDE)

    def _missing(self, squares: NDArray[np.float64]) -> float:
        """Energy outside the subspace, the trace of M', with what rounding may have hidden of it."""
        if self.operator.energy is None:
            return np.inf
        # Errors of the energy and of the Ritz values add up; the bound must stay one.
        rounding = 64 * float(np.finfo(self.request.dtype).eps) * self.operator.energy
        return self.operator.energy - float(squares.sum()) + rounding

    def _by_energy(self, squares: NDArray[np.float64], level: float) -> bool:
        if self.request.certificate == "random":
            return False
        return self.operator.energy == 0 or self._missing(squares) < level

    def _count(self, subspace: Subspace, level: float) -> Proof:
        largest = float(subspace.squares.max(initial=level))
        rounding = self.operator.shape[1] * float(np.finfo(np.float64).eps) * largest
        # Counted a little above the level, so that what equals it within rounding is neither missing nor makes up for what is.
        clear = _clear_level(subspace.squares, level, rounding)
        count = eigenvalues_above(self.operator, clear)
        # Ritz values never exceed their eigenvalues: as many inside as there are in all means that none is outside.
        inside = int(np.count_nonzero(subspace.squares > clear))
        if count <= inside:
            return Proof(Completeness(True, "inertia of A^T A - tau^2 I"), clear + rounding - level)
        return Proof.failed(f"inertia counts {count} above the threshold, {inside} were found")

    def _test(self, subspace: Subspace, gap: Gap) -> Proof:
        self.tests += 1
        if self.tests > _MAX_TESTS:
            return Proof.failed(f"{_MAX_TESTS} randomised tests have failed")
        deflated = subspace.vectors.astype(self.request.dtype)
        test = random_test(
            self.operator, deflated, gap.cut, gap.tested, self.request.rng, self.request.report
        )
        if not test.passed:
            return Proof.failed("something above the threshold was missed", test.grown)
        return self._passed(subspace, gap, test.degree)

    def _passed(self, subspace: Subspace, gap: Gap, degree: int) -> Proof:
        reason = f"randomised test of degree {degree} on independent vectors"
        completeness = Completeness(True, reason, self.tests * FAILURE_PROBABILITY)
        return Proof(completeness, _eigenvalue_uncertainty(subspace, gap.level, gap.proved))


def _clear_level(squares: NDArray[np.float64], level: float, rounding: float) -> float:
    """Return a level above this one, by a few times `rounding`, that no Ritz value is too close to to be told from."""
    clear = level + rounding
    while rounding and np.any(np.abs(squares - clear) <= rounding):
        clear += 2 * rounding
    return clear


def _eigenvalue_uncertainty(subspace: Subspace, level: float, bound: float) -> float:
    """Haynsworth: how far below the level an eigenvalue may seem though it is above; only coupling from there counts."""
    # ||E||^2 / (tau^2 - mu), of which only the columns of E that belong to theta <= tau^2 can lift an eigenvalue above tau^2.
    coupling = float(np.sum(subspace.errors[subspace.squares <= level] ** 2))
    return coupling / (level - bound) if bound < level else 0.0


_MAX_TEST_PASSES = 1000
"""Passes over the matrix beyond which its Gram matrix costs less than a randomised test."""
_MAX_INERTIA_SIDE = 5000
"""Columns up to which that Gram matrix takes little memory, and its inertia seconds."""


def certify_norm_bound(
    operator: RowOperator, level: float, seen: float, random_state: int | np.random.Generator | None = None
) -> Proof:
    """Prove that every singular value of A, m x n with m >= n, is at most `level` > 0, or say why not; nothing is said of where they are.

    By counting the eigenvalues of ``A^T A`` above ``level^2`` (up to 1,000 columns, or where the randomised test would be long), or
    by a test on random vectors, whose length goes with ``1 / sqrt(level / seen - 1)`` and which fails to notice a larger
    singular value with a probability of at most 1e-8. `seen` is the largest singular value as far as is known: it decides how long the test
    takes, not whether it is one.

    >>> from likewise.spectrum.operators import as_operator
    >>> operator, _ = as_operator(np.diag([3.0, 2.0, 1.0]))
    >>> certify_norm_bound(operator, 3.1, 2.9).complete, certify_norm_bound(operator, 2.95, 2.9).complete
    (True, False)
    """
    n = operator.shape[1]
    operator, exponent = near_one(operator)
    request = _request(level, exponent, random_state, n)
    outside = _request(min(seen, level), exponent, None, n).square
    # Nothing is deflated, so M' is A^T A itself, and a proof that nothing above the level is missing bounds its norm.
    nothing = np.zeros((n, 0))
    subspace = Subspace(nothing, np.zeros(0), np.zeros(0), nothing)
    target = ConvergenceTarget(0, request.square, 0.0)
    passes = Prover(operator, request).passes_needed(subspace.squares, target, outside)
    if n <= _MAX_INERTIA_SIDE and passes > _MAX_TEST_PASSES:
        request = replace(request, certificate="inertia")
    with one_blas_thread():
        return Prover(operator, request).prove(subspace, target, outside)


def _request(level: float, exponent: int, random_state: int | np.random.Generator | None, n: int) -> Request:
    request = checked_request(
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
    return replace(request, exponent=exponent)
