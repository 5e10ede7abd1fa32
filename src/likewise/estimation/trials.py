"""Comparing estimators on held-out observations: what each one's error is, and which of them is taken."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError, LikewiseWarning
from likewise.estimation.held_out_folds import Mask
from likewise.estimation.low_rank_estimate import LowRankEstimate
from likewise.estimation.recipes import BIASES, Recipe, Settings
from likewise.observations import ObservedMatrix

Floats = NDArray[np.float64]

_MATTERS = 0.003
"""Share of a mean squared error that is worth a more complex estimator; the error itself is then 0.15% smaller."""


@dataclass(frozen=True, eq=False)
class Tried:
    """A recipe with its squared errors.

    Parameters
    ----------
    recipe : Recipe
    squares : ndarray, shape (n_held_out,), or None
        Of the errors on all observations held out, on the method's interval, in the same order for all recipes; None where it failed.
    seconds : float
    exhausted : bool
        Whether more components may help.
    remark : str
        Why it failed.
    """

    recipe: Recipe
    squares: Floats | None
    seconds: float
    exhausted: bool = True
    remark: str = ""

    @property
    def loss(self) -> float:
        """Mean of the squares; infinite where it failed."""
        return float("inf") if self.squares is None else float(self.squares.mean())

    def worse_than(self, other: Tried) -> bool:
        """Whether it is worse by more than chance would have it (one standard error of the difference), and by what matters."""
        if self.squares is None or other.squares is None:
            return self.squares is None
        differences = self.squares - other.squares
        error = float(differences.std(ddof=1) / np.sqrt(differences.size))
        return float(differences.mean()) > max(error, _MATTERS * other.loss)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Observations split for trials.

    Parameters
    ----------
    observed : ObservedMatrix
    folds : sequence of ndarray of bool
        What is held out of each fit.
    settings : Settings
    """

    observed: ObservedMatrix
    folds: Sequence[Mask]
    settings: Settings

    @cached_property
    def training(self) -> list[ObservedMatrix]:
        """What each fit sees."""
        return [self.observed.keep(~fold) for fold in self.folds]

    @cached_property
    def entries(self) -> tuple[NDArray[np.integer], NDArray[np.integer], Floats]:
        """Rows, columns and values, on the method's interval, of all observations."""
        values = self.observed.scaled(self.settings.interval).values.data
        return *self.observed.positions(), np.asarray(values, dtype=np.float64)

    def seconds(self, recipe: Recipe) -> float:
        """Predict how long all fits of a recipe take."""
        return sum(map(recipe.seconds, self.training))

    def try_out(self, recipe: Recipe) -> Tried:
        """Fit a recipe on what is not held out and measure it on what is."""
        began, squares, exhausted = perf_counter(), [], False
        try:
            for fold, training in zip(self.folds, self.training, strict=True):
                with warnings.catch_warnings():
                    warnings.simplefilter(
                        "ignore", LikewiseWarning
                    )  # of the winner they are given when it is fitted
                    fitted = recipe.make(training, self.settings).fit(training)
                if recipe is not BIASES and fitted.rank_ == 0:
                    return Tried(recipe, None, perf_counter() - began, remark="keeps no component")
                squares.append(self._squares(fitted.estimate_, fold))
                exhausted |= recipe.exhausts(fitted)
        except (LikewiseError, np.linalg.LinAlgError) as error:
            return Tried(recipe, None, perf_counter() - began, remark=f"failed: {error}")
        return Tried(recipe, np.concatenate(squares), perf_counter() - began, exhausted)

    def _squares(self, estimate: LowRankEstimate, fold: Mask) -> Floats:
        rows, columns, values = self.entries
        predicted = estimate.on_interval().entries(rows[fold], columns[fold])
        return np.asarray((predicted - values[fold]) ** 2)


def chosen_of(baseline: Tried, ladders: Sequence[Sequence[Tried]]) -> Tried:
    """Take what has the smallest error, unless the baseline, or something simpler of the same kind, is as good up to one standard error.

    Parameters
    ----------
    baseline : Tried
    ladders : sequence of sequences of Tried
        What was tried of each kind, from simple to complex.

    Returns
    -------
    Tried
    """
    better = [ladder for ladder in ladders if any(baseline.worse_than(tried) for tried in ladder)]
    if not better:
        return baseline
    best, kind = min(
        ((tried, ladder) for ladder in better for tried in ladder), key=lambda pair: pair[0].loss
    )
    return next(
        tried
        for tried in kind
        if not tried.worse_than(best) and (tried is best or baseline.worse_than(tried))
    )
