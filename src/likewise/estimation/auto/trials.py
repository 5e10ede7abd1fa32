"""Candidates fitted on a part of the observations and measured on the rest, the record of a choice among them, and the last fit, on all."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isnan, nan
from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats, Mask
from likewise.errors import LikewiseError, LikewiseWarning
from likewise.estimation.als.solver import AlternatingLeastSquares
from likewise.estimation.auto.candidates import BIASES, Candidate, Plan, Settings, final_seconds
from likewise.estimation.auto.mixture import Mixture
from likewise.estimation.auto.stacking import Pool
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.observations import ObservedMatrix


@dataclass(frozen=True)
class CandidateTrial:
    """One estimator that `Auto` tried, and its error on hidden observations.

    Parameters
    ----------
    name : str
    held_out_error : float
        Root mean squared error on the observations held out, in the unit of `Choice`; NaN where it was not tried or failed.
    seconds : float
        Wall time of its fits; 0 where it was not tried.
    remark : str
        ``"chosen"``, or why it was not tried, left or failed; empty otherwise.
    """

    name: str
    held_out_error: float = nan
    seconds: float = 0.0
    remark: str = ""

    @property
    def was_tried(self) -> bool:
        """Whether anything was fitted."""
        return self.seconds > 0

    def describe(self) -> str:
        """Return name, error and remark in words: the same on every run with the same choice."""
        error = "no error" if isnan(self.held_out_error) else f"{self.held_out_error:.4g}"
        return f"{self.name}: {error}" + (f" ({self.remark})" if self.remark else "")


@dataclass(frozen=True)
class Choice:
    """What `Auto` chose, and the trials behind the choice.

    Parameters
    ----------
    name : str
        Of the candidate that was taken.
    reason : str
    unit : str
        Of the errors.
    n_held_out : int
        How many observations they rest on.
    candidates : tuple of CandidateTrial
        All, in the order in which they were tried; then those that were not.
    notes : tuple of str
        What limited the choice.
    """

    name: str
    reason: str
    unit: str
    n_held_out: int
    candidates: tuple[CandidateTrial, ...]
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """What a report says of it: without times, which differ from run to run."""
        told = [f"chosen automatically: {self.name}, {self.reason}", *self.notes]
        if self.n_held_out:
            tried = [candidate for candidate in self.candidates if candidate.was_tried]
            errors = "; ".join(candidate.describe() for candidate in tried)
            told.append(
                f"root mean squared errors on {self.n_held_out:,} held-out observations, in {self.unit}: {errors}"
            )
        return tuple(told)

    def __str__(self) -> str:
        width = max(len(candidate.name) for candidate in self.candidates)
        rows = [f"{'candidate':{width}}  held-out error  seconds"]
        for candidate in self.candidates:
            error = "" if isnan(candidate.held_out_error) else f"{candidate.held_out_error:.4f}"
            rows.append(
                f"{candidate.name:{width}}  {error:>14}  {candidate.seconds:7.2f}  {candidate.remark}".rstrip()
            )
        return "\n".join(
            [f"{self.name}: {self.reason}", *rows, *([f"errors in {self.unit}"] if self.unit else [])]
        )


class Measured(Protocol):
    """A candidate with its mean squared error on what was held out; infinite where it failed."""

    @property
    def candidate(self) -> Candidate: ...  # noqa: D102
    @property
    def loss(self) -> float: ...  # noqa: D102
    @property
    def seconds(self) -> float: ...  # noqa: D102
    @property
    def remark(self) -> str: ...  # noqa: D102  why it failed, or was left


def only_biases(why: str, skipped: Sequence[CandidateTrial] = ()) -> Choice:
    """Return the record of biases that were taken without a comparison."""
    return Choice(BIASES.name, why, "", 0, (CandidateTrial(BIASES.name, remark="chosen"), *skipped))


def choice_among(
    results: Sequence[Measured],
    best: Measured,
    skipped: Sequence[CandidateTrial],
    n_held_out: int,
    unit: tuple[float, str],
    brought: str = "",
    notes: Sequence[str] = (),
) -> Choice:
    """Return the record of a choice among results, biases first; `unit` is a factor of errors and its name, `brought` ends the reason."""
    baseline, (factor, name) = results[0], unit
    gain = 1 - (best.loss / baseline.loss) ** 0.5 if baseline.loss else 0.0
    reason = (
        "which nothing else beats by more than a standard error"
        if best.candidate is BIASES
        else f"whose held-out error is {gain:.1%} below that of biases alone{brought}"
    )
    tried = [
        CandidateTrial(
            found.candidate.name,
            nan if found.loss == inf else factor * found.loss**0.5,
            found.seconds,
            "chosen" if found.candidate is best.candidate else found.remark,
        )
        for found in results
    ]
    told = (*notes, *(f"{candidate.name} was {candidate.remark}" for candidate in skipped))
    return Choice(best.candidate.name, reason, name, n_held_out, (*tried, *skipped), told)


MATTERS = 0.003
"""Share of a mean squared error that is worth more than biases; the error itself is then 0.15% smaller."""
_HOPELESS = 2.0
"""Standard errors by which a candidate may be worse than the best before its further fits are left out."""


@dataclass(frozen=True, eq=False)
class CandidateResult:
    """A candidate with its squared errors."""

    candidate: Candidate
    # (n_held_out,), of the errors on all observations held out, on the method's working range, in the same order for all
    # candidates; of the first ones where it was left; None where it failed.
    squares: Floats | None
    seconds: float
    fitted: MatrixEstimator | None = None  # what the first fit made
    exhausted: bool = True  # whether it uses all components that it was given, so that more may help
    remark: str = ""  # why it failed, or was left
    predictions: Floats | None = None  # (n_held_out,), what the squares are of, before clipping
    parts: tuple[CandidateResult, ...] = ()  # of a mixture, with their fits

    @property
    def loss(self) -> float:
        """Mean of the squares; infinite where it failed."""
        return inf if self.squares is None else float(self.squares.mean())

    def better_than(self, other: CandidateResult) -> bool:
        """Whether its error is smaller; never where it failed or was left."""
        return not self.remark and self.loss < other.loss

    def worse_than(self, other: CandidateResult, n_errors: float = 1.0) -> bool:
        """Whether it is worse by more than chance would have it (standard errors of the difference), and by what matters."""
        if self.squares is None or other.squares is None:
            return self.squares is None
        # Both were measured on the same observations, so differences have less scatter than the errors themselves.
        rival = other.squares[: self.squares.size]
        differences = self.squares - rival
        error = float(differences.std(ddof=1) / np.sqrt(differences.size))
        return float(differences.mean()) > max(n_errors * error, MATTERS * float(rival.mean()))


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Observations split for trials; `folds` are what is held out of each fit."""

    observed: ObservedMatrix
    folds: Sequence[Mask]
    settings: Settings

    @cached_property
    def training(self) -> list[ObservedMatrix]:
        """What each fit sees."""
        return [self.observed.keep(~fold) for fold in self.folds]

    @cached_property
    def entries(self) -> tuple[NDArray[np.integer], NDArray[np.integer], Floats]:
        """Rows, columns and values, on the method's working range, of all observations."""
        values = self.observed.scaled(self.settings.working_range).values.data
        return *self.observed.positions(), np.asarray(values, dtype=np.float64)

    def seconds(self, candidate: Candidate) -> float:
        """Predict how long all fits of a candidate take."""
        return sum(map(candidate.seconds, self.training))

    def try_out(
        self, candidate: Candidate, stop: Callable[[], bool], rival: CandidateResult | None = None
    ) -> CandidateResult:
        """Fit a candidate on what is not held out and measure it on what is; leave it once it is clearly worse than its rival."""
        began, predictions, squares, fits, remark = perf_counter(), [], [], [], ""
        try:
            for fold, training in zip(self.folds, self.training, strict=True):
                # Warnings are given when the winner is fitted.
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", LikewiseWarning)
                    fits.append(candidate.make(training, replace(self.settings, stop=stop)).fit(training))
                predictions.append(self.predicted(fits[-1].estimate_, fold))
                squares.append(self.squares(predictions[-1], fold))
                so_far = CandidateResult(candidate, np.concatenate(squares), 0.0)
                if rival and len(fits) < len(self.folds) and so_far.worse_than(rival, _HOPELESS):
                    remark = f"left after {len(fits)} of {len(self.folds)} fits"
                    break
        except (LikewiseError, np.linalg.LinAlgError) as error:
            return CandidateResult(candidate, None, perf_counter() - began, remark=f"failed: {error}")
        ranks = [fitted.rank_ for fitted in fits]
        if candidate is not BIASES and not any(ranks):
            return CandidateResult(candidate, None, perf_counter() - began, remark="keeps no component")
        exhausted = max(ranks) >= candidate.rank
        return CandidateResult(
            candidate,
            np.concatenate(squares),
            perf_counter() - began,
            fits[0],
            exhausted,
            remark,
            np.concatenate(predictions),
        )

    @property
    def bounds(self) -> tuple[float, float]:
        """Of the method's working range."""
        return self.observed.value_range.scale_to(self.settings.working_range).bounds

    def predicted(self, estimate: LowRankEstimate, chosen: Mask) -> Floats:
        """Return what an estimate says of some of the observations, before clipping."""
        rows, columns, _ = self.entries
        return estimate.unclipped().entries(rows[chosen], columns[chosen])

    def squares(self, predicted: Floats, chosen: Mask) -> Floats:
        """Squared errors of predictions of some of the observations, clipped."""
        return np.asarray((np.clip(predicted, *self.bounds) - self.entries[2][chosen]) ** 2)

    def pool(self, results: Sequence[CandidateResult]) -> Pool:
        """Return what some candidates predict of all that was held out."""
        actual = np.concatenate([self.entries[2][fold] for fold in self.folds])
        return Pool(np.array([result.predictions for result in results]), actual, self.bounds)


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
        # Another minimum, then; of the two that are known the lower one.
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
