"""The estimator that chooses: among a few principled ones, by held-out observations, within a time budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from time import process_time
from typing import ClassVar

import numpy as np

from likewise.checks import checked_positive
from likewise.estimation.auto.candidates import BIASES, Candidate, Ladder, Settings, ladders_for
from likewise.estimation.auto.trials import (
    CandidateResult,
    CandidateTrial,
    Choice,
    HeldOut,
    chosen_of,
    held_out_folds,
)
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.budget.budget import without_constant
from likewise.observations import ObservedMatrix
from likewise.observations.table import Values
from likewise.observations.value_range import RangeChoice, WorkingRange
from likewise.randomness import generator_of

_PATIENCE = 2
"""How many rungs of a ladder may fail to beat the best of all before the ladder is left."""


class Auto(MatrixEstimator):
    """Complete a sparse, noisy matrix by the estimator that predicts observations best which it has not seen.

    Candidates are row and column biases alone; singular value thresholding at the noise edge with the optimal shrinker, without a
    centre, with biases, with biases and propensities by degrees; alternating least squares of rank 10, 20, 40 and 80 with estimated
    regularisation and noise; of rank 10 and 20 with a given noise, from much to little; and least squares of small nuclear norm (the problem of
    `SoftImpute`, of rank 10 or 20), from strong to weak. A tenth of the observations is held out (several times where they are fewer than 15,000); each candidate is fitted on the others, as long as more
    complex ones of its kind help. The one with the smallest error on what was held out is fitted on all observations; or the simplest
    of its kind, or biases alone, unless their error is larger by more than one standard error and than 0.15%. So the error on held-out
    observations is never above that of biases alone.

    Parameters
    ----------
    time_budget : float, default 60
        Seconds of computing for all fits. Which candidates are tried is planned from the size of the data alone, with time to spare,
        so that it does not depend on the computer; only where this process has in fact computed for longer before the plan is
        through, the rest is left out. Either is said in `notes_`. Biases alone are fitted whatever the budget.
    value_range : (low, high), "per-column" or None, default None
        As in `SVT`.
    working_range : {"symmetric", "unit"}, default "symmetric"
        As in `SVT`.
    random_state : int, Generator or None, default None
        For what is held out, and for the candidates.

    Attributes
    ----------
    choice_ : Choice
        What was chosen and why; prints as a table.
    candidates_ : tuple of CandidateTrial
        Name, held-out error and seconds of each.
    best_estimator_ : MatrixEstimator
        The winner, fitted on all observations; `estimate_` and all that follows from it are its own.
    estimate_, observed_, rank_, singular_values_, threshold_, converged_, n_iter_, notes_, n_features_in_
        As in `MatrixEstimator`.

    Examples
    --------
    >>> from likewise.observations import clustered
    >>> data = clustered(80, 120, 2, observed_fraction=0.4, random_state=0)
    >>> auto = Auto(random_state=0).fit(data.observed)
    >>> auto.choice_.name
    'least squares, rank 10'
    """

    no_budget: ClassVar[str] = (
        "which estimator it takes the data decide, and most of them have no constant K*"
    )

    def __init__(
        self,
        time_budget: float = 60.0,
        value_range: RangeChoice = None,
        working_range: WorkingRange = "symmetric",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.time_budget = time_budget
        self.value_range = value_range
        self.working_range = working_range
        self.random_state = random_state

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        plan, rng = _Plan(checked_positive("time_budget", self.time_budget)), generator_of(self.random_state)
        folds = held_out_folds(observed.n_observed, rng)
        settings = Settings(self.working_range, int(rng.integers(2**31)))
        search = _Search(HeldOut(observed, folds, settings), plan)
        candidate, self.choice_ = search.run()
        self.candidates_ = self.choice_.candidates
        best = candidate.make(observed, replace(settings, trial=False)).fit(observed)
        self.best_estimator_, self.threshold_ = best, best.threshold_
        self.converged_, self.n_iter_ = best.converged_, best.n_iter_
        self.notes_ = (*self.choice_.lines, *best.notes_, *_without_constant(best))
        return best.estimate_

    def decomposed_matrix(self) -> Values | None:
        """Return the matrix whose singular values `threshold_` cuts, missing entries 0; None where nothing is cut."""
        return self.best_estimator_.decomposed_matrix()


def _without_constant(fitted: MatrixEstimator) -> tuple[str, ...]:
    """Say where no constant can be proved, and which estimator has one."""
    reason = without_constant(fitted.estimate_)
    if not reason:
        return ()
    return (
        f"no constant K* can be proved of this estimate: {reason}. The estimator svt by default has one, and its max_lipschitz sets a limit for it",
    )


@dataclass
class _Plan:
    """What may be tried, by predicted seconds; what has passed of the real ones."""

    seconds: float
    planned: float = 0.0
    reserved: float = 0.0
    began: float = field(default_factory=process_time)

    def refuses(self, trials: float, final: float) -> str:
        """Return why a candidate is not tried; empty where it is."""
        if process_time() - self.began > self.seconds:
            return f"not tried: the {self.seconds:g} s of computing were over"
        needed = trials + max(final, self.reserved)
        if self.planned + needed > self.seconds:
            return f"not tried: needs {needed:.2g} s more than the {self.planned:.2g} of {self.seconds:g} s that are planned"
        return ""

    def spend(self, trials: float, final: float) -> None:
        """Plan a candidate that is tried and may be fitted again on everything."""
        self.planned += trials
        self.reserved = max(self.reserved, final)


@dataclass
class _Search:
    """Climb the ladders, keep what was found."""

    held_out: HeldOut
    plan: _Plan
    ladders: list[list[CandidateResult]] = field(default_factory=list)
    skipped: list[CandidateTrial] = field(default_factory=list)

    def run(self) -> tuple[Candidate, Choice]:
        """Return the candidate that is taken, and the record of how that came about."""
        if not self.held_out.folds:
            return BIASES, self._only_biases(
                f"{self.held_out.observed.n_observed} observations are too few to compare estimators on"
            )
        for ladder in ((BIASES,), *ladders_for(self.held_out.observed.shape)):
            self.ladders.append([])
            self._climb(ladder, self.ladders[-1])
        if len(self.tried) < 2:
            return BIASES, self._only_biases(
                f"the time budget of {self.plan.seconds:g} s is too small to compare estimators"
            )
        (baseline,), *others = self.ladders
        kinds = groupby(others, key=lambda ladder: ladder[0].candidate.kind if ladder else "")
        taken = chosen_of(baseline, [list(chain(*ladders)) for _, ladders in kinds])
        return taken.candidate, self._choice(baseline, taken)

    def _climb(self, ladder: Ladder, tried: list[CandidateResult]) -> None:
        """Try a ladder rung by rung as long as each is better than the last, and more may be expected."""
        for failures, candidate in enumerate(ladder):
            trials, final = self.held_out.seconds(candidate), candidate.seconds(self.held_out.observed)
            if refused := self.plan.refuses(trials, final):
                self.skipped.append(CandidateTrial(candidate.name, remark=refused))
                return
            self.plan.spend(trials, final)
            tried.append(found := self.held_out.try_out(candidate))
            higher = len(tried) == 1 or tried[-2].worse_than(found)
            leading = found.loss <= min(other.loss for other in self.tried)
            if not (higher and found.exhausted) or (failures + 1 >= _PATIENCE and not leading):
                return

    @property
    def tried(self) -> list[CandidateResult]:
        """All that was fitted, in order."""
        return [found for ladder in self.ladders for found in ladder]

    def _only_biases(self, why: str) -> Choice:
        return Choice(BIASES.name, why, "", 0, (CandidateTrial(BIASES.name, remark="chosen"), *self.skipped))

    def _choice(self, baseline: CandidateResult, taken: CandidateResult) -> Choice:
        best = min(self.tried, key=lambda found: found.loss)
        factor, unit = self._unit()
        if taken is baseline:
            reason = "which nothing else beats by more than a standard error"
        else:
            gain = 1 - (taken.loss / baseline.loss) ** 0.5
            reason = f"whose held-out error is {gain:.1%} below that of biases alone"
        if taken is not best and taken is not baseline:
            reason += f", and hardly above that of {best.candidate.name}"
        candidates = (*self._trials(taken, factor), *self.skipped)
        notes = tuple(f"{candidate.name} was {candidate.remark}" for candidate in self.skipped)
        n_held_out = sum(int(fold.sum()) for fold in self.held_out.folds)
        return Choice(taken.candidate.name, reason, unit, n_held_out, candidates, notes)

    def _trials(self, taken: CandidateResult, factor: float) -> Iterator[CandidateTrial]:
        for found in self.tried:
            error = float("nan") if found.squares is None else factor * found.loss**0.5
            remark = "chosen" if found is taken else found.remark
            yield CandidateTrial(found.candidate.name, error, found.seconds, remark)

    def _unit(self) -> tuple[float, str]:
        """Errors of columns that have ranges of their own are compared, and shown, on the method's working range."""
        scale = self.held_out.observed.value_range.scale_to(self.held_out.settings.working_range)
        low, high = scale.bounds
        if scale.factor.ndim:
            return 1.0, f"units of the range [{low:g}, {high:g}] that each column is mapped to"
        return float(scale.factor), "the unit of the data"
