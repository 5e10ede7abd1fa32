"""The estimator that chooses: among a few principled ones, by held-out observations, within a time budget."""

from __future__ import annotations

import numpy as np

from likewise.checks import checked_positive
from likewise.estimation.auto.candidates import Settings
from likewise.estimation.auto.search import Plan, Search
from likewise.estimation.auto.trials import HeldOut, held_out_folds
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.budget.budget import within_budget
from likewise.estimation.budget.regression import is_regression
from likewise.observations import ObservedMatrix
from likewise.observations.table import Values
from likewise.observations.value_range import RangeChoice, WorkingRange
from likewise.randomness import generator_of

_LEAST_SECONDS, _SECONDS_AN_OBSERVATION, _MOST_SECONDS = 4.0, 1e-4, 60.0
"""Of computing: by the size of the data, so that small data take seconds."""


class Auto(MatrixEstimator):
    """Complete a sparse, noisy matrix by the estimator that predicts observations best which it has not seen.

    Candidates are row and column biases alone; singular value thresholding at the noise edge with the optimal shrinker, without a
    centre, with biases, with biases and propensities by degrees; alternating least squares with estimated regularisation, its noise
    estimated too or given; and least squares of small nuclear norm (the problem of `SoftImpute`, of a rank of at most 10 or 20). Of the
    last three more components, less noise and smaller lambdas are tried as long as they help. A tenth of the observations is held out
    (several times where they are fewer than 50,000), and each candidate is fitted on the others. The one with the smallest error on what was
    held out is taken; biases alone unless their error is larger by more than one standard error and than 0.15%. So the error on held-out
    observations is never above that of biases alone. What is taken goes on from there on all observations; if it lands elsewhere,
    the fit whose error is known is kept.

    Parameters
    ----------
    time_budget : float or None, default None
        Seconds of computing for all fits; by default 4 and one for each 10,000 observations, at most 60. Which candidates are tried is
        planned from the size of the data alone, so that it does not depend on the computer; only where this process has in fact computed
        for longer than the budget, what runs is ended as it is and the rest is left out. Either is said in `notes_`. Biases alone are
        fitted whatever the budget. A candidate that would take more than 1 GiB of memory is not tried.
    max_lipschitz : float or None, default None
        L, a limit for the proved constant of the one that is chosen: a stronger prior of the rows where they are regressions, smaller gains where
        they are mapped linearly. The choice is made without it.
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

    def __init__(
        self,
        time_budget: float | None = None,
        max_lipschitz: float | None = None,
        value_range: RangeChoice = None,
        working_range: WorkingRange = "symmetric",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.time_budget = time_budget
        self.max_lipschitz = max_lipschitz
        self.value_range = value_range
        self.working_range = working_range
        self.random_state = random_state

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        plan, rng = Plan(self._seconds(observed.n_observed)), generator_of(self.random_state)
        folds = held_out_folds(observed.n_observed, rng)
        settings = Settings(self.working_range, int(rng.integers(2**31)))
        search = Search(HeldOut(observed, folds, settings), plan)
        self.choice_ = search.run()
        self.candidates_ = self.choice_.candidates
        best, kept = search.fit_best()
        self.best_estimator_, self.threshold_ = best, best.threshold_
        self.converged_, self.n_iter_ = best.converged_, best.n_iter_
        self.notes_ = (*self.choice_.lines, *kept, *best.notes_)
        return self._within_budget(best.estimate_, observed)

    def _within_budget(self, estimate: LowRankEstimate, observed: ObservedMatrix) -> LowRankEstimate:
        if self.max_lipschitz is None or is_regression(estimate):
            return self._held_within(self.max_lipschitz, estimate, observed)
        held, solution = within_budget(estimate, self.max_lipschitz)
        self.notes_ += (str(solution),)
        return held

    def _seconds(self, n_observed: int) -> float:
        if self.time_budget is None:
            return min(_LEAST_SECONDS + n_observed * _SECONDS_AN_OBSERVATION, _MOST_SECONDS)
        return checked_positive("time_budget", self.time_budget, or_else="None")

    def decomposed_matrix(self) -> Values | None:
        """Return the matrix whose singular values `threshold_` cuts, missing entries 0; None where nothing is cut."""
        return self.best_estimator_.decomposed_matrix()
