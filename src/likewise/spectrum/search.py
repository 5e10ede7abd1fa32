"""Grow a block Krylov space until everything above the threshold has converged and nothing is missing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from likewise._typing import AnyFloats
from likewise.errors import MemoryLimitError, option
from likewise.memory import format_bytes
from likewise.spectrum.candidates import CandidateTriplets
from likewise.spectrum.completeness import TEST_WIDTH, CarriedTest
from likewise.spectrum.krylov import (
    BlockKrylov,
    ConvergenceTarget,
    LookSchedule,
    RitzPairs,
    columns_that_fit,
    lost_threshold,
)
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.orthonormal import measured
from likewise.spectrum.proof import Proof, Prover
from likewise.spectrum.request import Completeness, Request

_FIRST_LOOK = 128  # columns
_LEAST_WIDTH = 16  # of a block: a product with fewer columns takes hardly less time
_BLOCKS_OF_A_SPACE = 16  # that should fit into memory
_HEADROOM = 0.5  # of the tolerance: an estimate is held against it, and the refinement takes one more step
_ROUNDING_REACH = 10.0
"""Times that much: where float32 rounding may stop a residual, for the refinement to correct."""
_SMALL = 300  # columns: the eigenvectors of so small a projection take no time
_SETTLED = 1.3  # growth of what is wanted from one look to the next, below which convergence may be near
_DEFLATION_TOL = 30.0  # times the tolerance: still good enough to be deflated in the proof
_DEAR_DEFLATION_TOL = 300.0  # the same where a pass costs as much as many columns, and a shorter proof is worth more than digits
_CHEAP_PROOF = 32  # passes that a proof may always take; beyond, as many as were needed to come here


_FAR = 2.0  # times the level: eigenvalues above are deflated from the vectors of a carried test
_KNOWN = 0.03  # of the level: errors of those eigenvalues, from which on a test may be carried
_CARRIED_CUT = 0.8  # of the level: where the polynomials of a carried test end


class GramIsCheaperError(Exception):
    """So much lies above the threshold that the whole Gram matrix costs less than going on."""


class _TooFineError(Exception):
    """The threshold squared drowns in the rounding of the working precision."""


def krylov_search(
    operator: RowOperator, request: Request, columns_before_gram: float = math.inf
) -> CandidateTriplets:
    """Find every eigenvector of A^T A above the threshold by block Krylov iteration, with a proof.

    Once the space has more than `columns_before_gram` columns, `GramIsCheaperError` is raised. `MemoryLimitError` where more lies above the
    threshold than the memory limit lets us hold, `SpectrumError` where the threshold is too small to be resolved through A^T A.
    """
    if request.dtype == np.float32:
        try:
            return _Search(operator, request, columns_before_gram).run()
        except _TooFineError:
            request.report("the threshold needs double precision: starting again", None)
    try:
        return _Search(operator, replace(request, dtype=np.dtype(np.float64)), columns_before_gram).run()
    except _TooFineError:
        raise lost_threshold(request) from None


class _Search:
    """State of one search in one precision."""

    def __init__(self, operator: RowOperator, request: Request, columns_before_gram: float) -> None:
        self.operator, self.request, self.dtype = operator, request, request.dtype
        self.columns_before_gram = columns_before_gram
        self.limit = columns_that_fit(operator.shape[1], self.dtype, request.memory_limit)
        self.width = min(operator.width, max(_LEAST_WIDTH, self.limit // _BLOCKS_OF_A_SPACE))
        if self.limit < min(4 * self.width, operator.shape[1]):
            raise MemoryLimitError(
                f"{format_bytes(request.memory_limit)} do not hold a few blocks of {operator.shape[1]:,} rows; allow more "
                f"with {option('memory_limit')}"
            )
        self.space = BlockKrylov(operator, self._starting_block())
        self.schedule = LookSchedule(max(_FIRST_LOOK, 4 * self.width))
        self.prover = Prover(operator, request)
        self.carried: CarriedTest | None = None

    def run(self) -> CandidateTriplets:
        """Grow the space, look at it, and go on until a proof succeeds or there is no going on.

        A look costs some 10 p^3 operations for p columns, a step two products with A and 4 n p w for w new columns; the
        schedule says when the next look may pay.
        """
        wanted, settled = 0, True
        while True:
            self._grow()
            # Ritz vectors cost several times what Ritz values do, and are of no use while more and more are wanted.
            if self.space.size > _SMALL and not settled and not self._cannot_grow:
                target, worst = self._target(self.space.squares()), math.inf
            else:
                pairs = self.space.ritz()
                target = self._target(pairs.squares)
                excess = self._excess(pairs, target)
                worst = float(excess[: target.wanted].max(initial=0.0))
                candidates = self._judge(pairs, target, excess / self._allowed(target, worst))
                if candidates is not None:
                    return candidates
                self._carry(pairs, target)
            settled = target.wanted <= _SETTLED * wanted
            wanted = target.wanted
            self.schedule.plan(self.space.size, wanted, worst)

    def _target(self, squares: NDArray[np.float64]) -> ConvergenceTarget:
        target = ConvergenceTarget.of(squares, self.request, self.dtype)
        self._check(target)
        return target

    def _starting_block(self) -> AnyFloats:
        gaussian = self._gaussian(self.width)
        start = self.request.start
        if start is None:
            return gaussian
        # Random columns beside those that were given: alone, these would never find what they are orthogonal to.
        return np.hstack([start.astype(self.dtype), gaussian])[:, : self.limit // 3]

    def _gaussian(self, width: int) -> AnyFloats:
        n = self.operator.shape[1]
        return self.request.rng.standard_normal((n, min(width, n))).astype(self.dtype)

    def _grow(self) -> None:
        """Multiply blocks until it is time to look at the Ritz pairs."""
        while True:
            # An invariant space is complete by itself, but may lack copies of repeated singular values: random directions find them.
            if self.space.exhausted and self.space.size:
                self.space.inject(self._gaussian(max(self.width, self.space.size)))
            self.space.step()
            self.request.report(f"Krylov space of {self.space.size} columns", None)
            if self.space.size >= self.schedule.next_size or self._cannot_grow:
                return

    @property
    def _cannot_grow(self) -> bool:
        return self.space.exhausted or self._full or self._out_of_passes

    @property
    def _full(self) -> bool:
        return bool(self.space.size + self.space.frontier.shape[1] > self.limit)

    @property
    def _out_of_passes(self) -> bool:
        return self.operator.passes >= self.request.max_passes

    def _check(self, target: ConvergenceTarget) -> None:
        """Leave early where another solver, or no solver, gets there."""
        if 0 < self.request.square < target.floor:
            raise _TooFineError
        # Ritz values never exceed the eigenvalues they stand for: at least so many triplets have to be held.
        m, n = self.operator.shape
        held = target.wanted * 8 * (m + n if self.operator.rows_fit else n)
        no_room = self.limit < self.operator.shape[1] and target.wanted + 3 * self.width > self.limit
        if no_room or held > self.request.memory_limit:
            raise self._does_not_fit(target.wanted)
        if self.space.size > self.columns_before_gram:
            raise GramIsCheaperError

    def _does_not_fit(self, count: int) -> MemoryLimitError:
        return MemoryLimitError(
            f"at least {count} singular values exceed the threshold {self.request.asked:g}, too many for the "
            f"{format_bytes(self.request.memory_limit)} that may be used; raise the threshold, ask for fewer with "
            f"{option('at_most')}, or allow more with {option('memory_limit')}"
        )

    def _excess(self, pairs: RitzPairs, target: ConvergenceTarget) -> NDArray[np.float64]:
        """Residuals over the tolerance, relative to the eigenvalue, or for those below the level to the level."""
        # Relative to the eigenvalue, the residual is that of the singular triplet. A level of 0 has no size of its own: then 1.
        tolerance = _HEADROOM * self.request.tolerance
        return pairs.errors / (tolerance * np.maximum(pairs.squares, target.level or 1.0))

    def _allowed(self, target: ConvergenceTarget, worst: float) -> float:
        """What counts as converged: in float32 rounding may stop the residuals just above the tolerance."""
        near = self.dtype == np.float32 and worst <= _ROUNDING_REACH
        return _ROUNDING_REACH if near and self.schedule.stalled(target.wanted, worst) else 1.0

    def _judge(
        self, pairs: RitzPairs, target: ConvergenceTarget, excess: NDArray[np.float64]
    ) -> CandidateTriplets | None:
        """Finish if all that is wanted has converged and the proof succeeds, or if there is no going on."""
        if excess[: target.wanted].max(initial=0.0) <= 1:
            # Pairs below the threshold that have nearly converged, too, may be deflated: the first that has not ends them.
            enough = _DEFLATION_TOL if self.operator.rows_fit else _DEAR_DEFLATION_TOL
            converged = int(np.argmin(np.append(excess <= enough, False)))
            candidates = self._try_proof(pairs, target, converged)
            if candidates is not None:
                return candidates
        # Nothing is proved yet: is there anything left to multiply, to read, to hold?
        if self.space.size == self.operator.shape[1]:
            return self._stop(pairs, target, Proof(Completeness(True, "the Krylov space is the whole space")))
        if self._out_of_passes:
            return self._stop(pairs, target, Proof.failed(f"stopped after {self.operator.passes} passes"))
        if self._full:
            self._make_room(pairs, target)
        return None

    def _carry(self, pairs: RitzPairs, target: ConvergenceTarget) -> None:
        """Begin a test that goes with the next passes, where these are dear, once what would grow fastest is known."""
        if self.operator.rows_fit or self.carried is not None or self.prover.prefers_inertia:
            return
        far = int(np.count_nonzero(pairs.squares > _FAR * target.level))
        if target.level and pairs.errors[:far].max(initial=0.0) <= _KNOWN * target.level:
            known, cut = self.space.vectors(pairs, far), _CARRIED_CUT * target.level
            self.carried = CarriedTest(self.operator, known, cut, self.request.rng, TEST_WIDTH)
            self.space.multiply = self.carried.gram

    def _stop(self, pairs: RitzPairs, target: ConvergenceTarget, proof: Proof) -> CandidateTriplets:
        return CandidateTriplets.of(
            measured(self.operator, self.space.vectors(pairs, target.wanted)), target, proof
        )

    def _try_proof(
        self, pairs: RitzPairs, target: ConvergenceTarget, converged: int
    ) -> CandidateTriplets | None:
        # The pass that measures the subspace carries the test a degree further, which is kept as a reserve.
        carried = self.carried.degree if self.carried is not None else 0
        kept = self.prover.columns_to_deflate(pairs.squares, target, converged, carried)
        outside = float(np.append(pairs.squares, 0.0)[kept])
        # A long test is put off: a larger space has a wider gap, so that the test is short.
        affordable = max(_CHEAP_PROOF, self.operator.passes)
        if self.prover.passes_needed(pairs.squares[:kept], target, outside) > affordable:
            return None
        tests = self.prover.tests
        subspace = measured(self.operator, self.space.vectors(pairs, kept), self.space.multiply)
        proof = self.prover.prove(subspace, target, outside, self.carried)
        if proof.complete:
            return CandidateTriplets.of(subspace, target, proof)
        # The test found that something is missing. Its random vectors, which have grown towards what is missing, go into the space.
        if proof.escaped is not None:
            self.space.inject(proof.escaped)
        if self.prover.tests > tests:  # what was carried was looked at; another test may be begun
            self.carried, self.space.multiply = None, self.operator.gram
        return None

    def _make_room(self, pairs: RitzPairs, target: ConvergenceTarget) -> None:
        """Restart from the best Ritz vectors, since the memory limit is reached."""
        # All that is wanted, and half of what room is left: fewer would forget too much, more would leave no room to grow.
        spare = self.limit - self.space.frontier.shape[1] - target.wanted
        self.space.restart(pairs, target.wanted + max(spare // 2, 0))
