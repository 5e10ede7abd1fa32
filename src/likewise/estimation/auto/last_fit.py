"""The last fit: what was chosen, on all observations, held against the trial whose error is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from likewise.errors import LikewiseError
from likewise.estimation.als.solver import AlternatingLeastSquares
from likewise.estimation.auto.candidates import BIASES, Candidate, Plan, Settings, final_seconds
from likewise.estimation.auto.mixture import Mixture
from likewise.estimation.auto.trials import CandidateResult, HeldOut
from likewise.estimation.base.estimator import MatrixEstimator

_HARDLY, _MOVED = 0.02, 0.1
"""Share by which residuals may differ from those of the trial: where nothing is asked; and where the fit is another one.

Ratings stayed within 0.013, fits that went on from the trial within 0.03, thresholded ones within 0.08.
"""


@dataclass(frozen=True, eq=False)
class LastFit:
    """Fit what is best on all observations."""

    held_out: HeldOut
    plan: Plan

    def fit(self, best: CandidateResult) -> tuple[MatrixEstimator, tuple[str, ...]]:
        """Fit what was taken on all observations, and return it with what there is to say of that.

        Where the fit leaves clearly more or less of the trial's observations unexplained than the trial did, or fails, it is another one than
        the one whose error is known: then the trial is kept.
        """
        settings = replace(self.held_out.settings, stop=self.plan.over)
        if not best.parts:
            return self._fit_one(best, settings)
        fits, notes = [], []
        later = sum(final_seconds(part.candidate, self.held_out.observed) for part in best.parts)
        for part in best.parts:
            later -= final_seconds(part.candidate, self.held_out.observed)
            fitted, told = self._fit_one(part, settings, later)
            fits.append(fitted)
            notes += [f"{part.candidate.name}: {note}" for note in told]
        made = best.candidate.make(self.held_out.observed, settings)
        assert isinstance(made, Mixture)
        return made.of(fits).fit(self.held_out.observed), tuple(notes)

    def _fit_one(
        self, best: CandidateResult, settings: Settings, later: float = 0.0
    ) -> tuple[MatrixEstimator, tuple[str, ...]]:
        trial = best.fitted
        if trial is None or best.candidate is BIASES:
            return BIASES.make(self.held_out.observed, settings).fit(self.held_out.observed), ()
        try:
            fitted, moved = self._fitted(best.candidate, trial, settings, later)
        except LikewiseError as error:
            return trial, (self._kept(f"failed ({error})"),)
        return (fitted, ()) if moved <= _MOVED else (trial, (self._kept(f"moved by {moved:.0%}"),))

    def _fitted(
        self, candidate: Candidate, trial: MatrixEstimator, settings: Settings, later: float = 0.0
    ) -> tuple[MatrixEstimator, float]:
        """Fit on all observations as the trial was fitted, and return by how much its residuals have moved.

        Factors have many minima. New ones seldom end in another kind of minimum than those of the trial did; where they seem to, others
        go on from where the trial ended, and new ones are only taken, and then trusted, where their objective is lower. Where there is no
        time for new ones beside the fits that come `later`, it is those of the trial that go on.
        """
        observed = self.held_out.observed
        if not isinstance(trial, AlternatingLeastSquares):
            fitted = candidate.make(observed, settings).fit(observed)
            return fitted, self._moved(fitted, trial)
        new: MatrixEstimator | None = None
        if self.plan.planned + candidate.seconds(observed) + later <= self.plan.seconds:
            self.plan.planned += candidate.seconds(observed)
            new = candidate.make(observed, settings).fit(observed)
            if (moved := self._moved(new, trial)) <= _HARDLY:
                return new, moved
        continued = candidate.make(observed, replace(settings, start=trial.factor_fit_)).fit(observed)
        if new is not None and _objective(new) < _objective(continued):
            return new, 0.0
        return continued, self._moved(continued, trial)

    def _moved(self, fitted: MatrixEstimator, trial: MatrixEstimator) -> float:
        """By which share the residuals of the trial's observations differ from what the trial left of them."""
        seen = ~self.held_out.folds[0]
        after, before = (
            float(self.held_out.squares(self.held_out.predicted(made.estimate_, seen), seen).mean()) ** 0.5
            for made in (fitted, trial)
        )
        return abs(after - before) / before if before else 0.0

    def _kept(self, why: str) -> str:
        share = 1 - float(self.held_out.folds[0].mean())
        return f"the fit on all observations {why}, so the one on {share:.0%} of them whose error is known is kept"


def _objective(fitted: MatrixEstimator) -> float:
    return fitted.factor_fit_.objectives[-1] if isinstance(fitted, AlternatingLeastSquares) else inf
