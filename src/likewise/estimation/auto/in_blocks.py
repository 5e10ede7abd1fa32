"""The choice among estimators that take observations in blocks: each is fitted without some entries, which it then predicts in a pass."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from likewise.errors import EngineError, FileFormatError, LikewiseError, LikewiseWarning, OutputError
from likewise.estimation.auto.candidates import BIASES, LADDERS, Candidate, Ladder, Plan, Settings, within
from likewise.estimation.auto.trials import MATTERS, CandidateTrial, Choice, choice_among, only_biases
from likewise.estimation.base.block_preparation import BlockErrors, prepare_blocks
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.nuclear_norm.transformer import SoftImpute
from likewise.observations.partitioned import PartitionedMatrix
from likewise.observations.partitioned.matrix import split_entries
from likewise.spectrum import singular_triplets

HIDDEN = 0.1
"""Share of the entries that are held out."""
_FEWEST = 30
"""Entries held out: errors on fewer tell nothing."""
_DEARER = 3.0
"""By how much a fit in passes over blocks costs more than one in memory."""
_SHARES = (0.5, 0.35, 0.25, 0.18, 0.12)
"""Lambdas, of the largest singular value of what the biases leave."""
_STEPS = 25
"""Of a descent, as far as is known before it."""
_RANK = 20
"""Components that the nuclear norm may have: a step costs its square."""


def _soft_impute(share: float) -> Candidate:
    def make(observed: Any, settings: Settings) -> MatrixEstimator:
        residuals = prepare_blocks(observed, settings.working_range, "biases").operator
        largest = float(singular_triplets(residuals, at_most=1, random_state=0).values.max(initial=0.0))
        return SoftImpute(
            share * (largest or 1.0),
            max_rank=_RANK,
            working_range=settings.working_range,
            random_state=settings.seed,
        )

    return Candidate(
        f"soft-impute, rank {_RANK} at most, {share:g} sigma_1",
        make,
        lambda m, n, observed: _STEPS * (2.0 * observed * _RANK**2 + (m + n) * _RANK**3),
    )


KINDS: tuple[Ladder, ...] = (LADDERS[0], LADDERS[1], LADDERS[3], tuple(map(_soft_impute, _SHARES)))
"""Thresholding without and with biases, least squares by rank, and SoftImpute by lambda: each climbed as long as that helps."""


@dataclass(frozen=True, eq=False)
class BlockTrial:
    """A candidate with its error on what was held out."""

    candidate: Candidate
    loss: float  # mean squared error; infinite where it failed
    seconds: float  # wall time
    clear: bool = False  # whether biases are worse by more than one standard error of the difference, and by what matters
    exhausted: bool = True  # whether it uses all components that it was given
    remark: str = ""  # why it failed


class BlockSearch:
    """Try what there is time for, and keep what predicts best; `kinds` are ladders, each climbed as long as that helps."""

    kinds: ClassVar[tuple[Ladder, ...]] = KINDS

    def __init__(self, observed: PartitionedMatrix, settings: Settings, plan: Plan) -> None:
        self.observed, self.settings, self.plan = observed, settings, plan
        self.trials: list[BlockTrial] = []
        self.skipped: list[CandidateTrial] = []
        self.n_held_out = 0

    def run(self) -> tuple[Candidate, Choice]:
        """Return what is taken, and the record of how that came about."""
        with split_entries(self.observed, HIDDEN, self.settings.seed) as (seen, pairs):
            self.n_held_out = self.observed.n_observed - seen.n_observed
            if self.n_held_out < _FEWEST:
                why = f"{self.n_held_out} entries held out are too few to compare estimators on"
                return BIASES, only_biases(why)
            self._seen, self._pairs = seen, pairs
            self._climb_all()
        best = min(
            (trial for trial in self.trials if trial.clear),
            key=lambda trial: trial.loss,
            default=self.trials[0],
        )
        factor = float(self.observed.value_range.scale_to(self.settings.working_range).factor)
        unit = factor, "the unit of the data"
        return best.candidate, choice_among(self.trials, best, self.skipped, self.n_held_out, unit)

    def _climb_all(self) -> None:
        fitted = BIASES.make(self._seen, self.settings).fit(self._seen)
        self._baseline = fitted.estimate_.without_rows()
        self._try(BIASES)
        for ladder in self.kinds:
            below = inf
            for candidate in within(ladder, self.observed.shape):
                found = self._try(candidate)
                # More components, or a weaker penalty, cannot help once some are left unused or the error has risen.
                if found is None or not found.exhausted or found.loss >= below:
                    break
                below = found.loss

    def _try(self, candidate: Candidate) -> BlockTrial | None:
        """Return how a candidate does; None where there is no time for it."""
        seconds = _DEARER * candidate.seconds(self._seen)
        refused = self.plan.refuses(seconds, seconds)
        if refused and candidate is not BIASES:
            self.skipped.append(CandidateTrial(candidate.name, remark=refused))
            return None
        self.plan.spend(seconds, seconds)
        found = self._measured(candidate)
        self.trials.append(found)
        return found

    def _measured(self, candidate: Candidate) -> BlockTrial:
        began = perf_counter()
        try:
            estimate = self._fitted(candidate)
            # Both estimates in one pass, over the same entries: so the difference has a standard error of its own.
            errors = BlockErrors.of(
                self._seen, self._pairs, [self._baseline, estimate], self.settings.working_range
            )
        except (EngineError, OutputError, FileFormatError):  # of the run, not of the candidate
            raise
        except (LikewiseError, np.linalg.LinAlgError) as error:
            return BlockTrial(
                candidate, inf, perf_counter() - began, exhausted=False, remark=f"failed: {error}"
            )
        loss = float(errors.means[1])
        worse, chance = errors.difference(0, 1)
        return BlockTrial(
            candidate,
            loss,
            perf_counter() - began,
            worse > max(chance, MATTERS * loss),
            estimate.rank >= candidate.rank,
        )

    def _fitted(self, candidate: Candidate) -> LowRankEstimate:
        if candidate is BIASES:
            return self._baseline
        with warnings.catch_warnings():  # they are given when the winner is fitted
            warnings.simplefilter("ignore", LikewiseWarning)
            made = candidate.make(self._seen, self.settings)
            estimate: LowRankEstimate = made.fit(self._seen).estimate_.without_rows()
            return estimate
