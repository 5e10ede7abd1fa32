"""The estimator that chooses: among a few principled ones, by held-out observations, within limits of time and memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from time import perf_counter

import numpy as np

from likewise.checks import checked_positive
from likewise.errors import EstimatorError
from likewise.estimation.auto.candidates import (
    ALL,
    BIASES,
    FIRST,
    GRIDS,
    LADDERS,
    Candidate,
    Grid,
    Ladder,
    Plan,
    Settings,
    ablation,
    final_seconds,
    informed,
    mixture,
    sources_within,
    told,
    within,
    without_rows,
)
from likewise.estimation.auto.in_blocks import BlockSearch
from likewise.estimation.auto.stacking import held_out_folds, later_fold
from likewise.estimation.auto.trials import (
    CandidateResult,
    CandidateTrial,
    Choice,
    HeldOut,
    LastFit,
    choice_among,
    only_biases,
)
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.budget.budget import within_budget
from likewise.estimation.budget.regression import is_regression
from likewise.observations import ObservedMatrix, PartitionedMatrix
from likewise.observations.table import Values
from likewise.observations.value_range import RangeChoice, WorkingRange
from likewise.randomness import generator_of

_MOST_PARTS = 3
"""Candidates that a mixture has at most."""
_KEPT_MEMORY = 2.0**28
"""Bytes that the factors of candidates may take that are kept to be mixed."""


class Search:
    """Try candidates, and keep the best.

    The best is the one with the smallest error on what was held out. Biases alone stay the best unless they are worse than it by more than one
    standard error of the difference and by what matters. `sources` are what factors may be regressed on beside the values.
    """

    def __init__(self, held_out: HeldOut, plan: Plan, sources: tuple[str, ...] = ()) -> None:
        self.held_out, self.plan, self.sources = held_out, plan, sources
        self.alone: dict[str, CandidateResult] = {}
        self.results: list[CandidateResult] = []
        self.skipped: list[CandidateTrial] = []
        self.kept: list[CandidateResult] = []
        self.best: CandidateResult | None = None

    def run(self) -> Choice:
        """Try what there is time for; return what is taken and the record of how that came about."""
        if not self.held_out.folds:
            return self._only_biases(
                f"{self.held_out.observed.n_observed} observations are too few to compare estimators on"
            )
        shape = self.held_out.observed.shape
        self._try(BIASES)
        if self.sources:
            self._climb_sources()
        for grid, begin in FIRST:
            self._climb_grid(grid, begin, self._try(grid[0][begin]))
        for ladder in LADDERS:
            self._climb_ladder(within(ladder, shape))
        grids = [
            (tuple(filter(None, (within(ladder, shape) for ladder in grid))), begin) for grid, begin in GRIDS
        ]
        # Of few observations each kind is tried before any is refined: mixtures of kinds bring most there.
        several = len(self.held_out.folds) > 1
        firsts = [self._try(grid[0][begin]) for grid, begin in grids] if several else []
        for number, (grid, begin) in enumerate(grids):
            self._climb_grid(grid, begin, firsts[number] if several else self._try(grid[0][begin]))
        if len(self.results) < 2:
            return self._only_biases(
                f"the time budget of {self.plan.seconds:g} s is too small to compare estimators"
            )
        self._mix()
        return self._choice()

    def _try(self, candidate: Candidate) -> CandidateResult | None:
        """Return how a candidate does, tried once; None where it is not tried."""
        for found in self.results:
            if found.candidate.name == candidate.name:
                return found
        observed = self.held_out.observed
        trials, final = self.held_out.seconds(candidate), final_seconds(candidate, observed)
        refused = self.plan.refuses(trials, final, candidate.bytes(observed))
        if refused and candidate is not BIASES:
            self.skipped.append(CandidateTrial(candidate.name, remark=refused))
            return None
        self.plan.spend(trials, final)
        result = self.held_out.try_out(candidate, self.plan.over, self.best)
        self.results.append(replace(result, fitted=None, predictions=None))  # fits are large
        self._keep(result)
        if self.best is None or (result.better_than(self.best) and self.results[0].worse_than(result)):
            self.best = result
        return result

    def _keep(self, result: CandidateResult) -> None:
        """Keep the fit of a candidate for mixtures, as long as there is room."""
        sizes = [each.candidate.kept_bytes(self.held_out.observed) for each in (*self.kept, result)]
        if result.candidate.mixes and not result.remark and sum(sizes) <= _KEPT_MEMORY:
            self.kept.append(result)

    def _mix(self) -> None:
        """Try the best mixture of two candidates, and of three, where it is better than what is best so far by more than a standard error."""
        assert self.best is not None
        pool = self.held_out.pool(self.kept)
        members: tuple[int, ...] = ()
        for size in range(2, min(_MOST_PARTS, len(self.kept)) + 1):
            began, found = perf_counter(), pool.best(size, members, self._affordable)
            if found is None:
                refused = (
                    f"not tried: no time of {self.plan.seconds:g} s is left for the last fits of its parts"
                )
                self.skipped.append(CandidateTrial(f"a mixture of {size}", remark=refused))
                return
            # A third part joins the best two: trying all triples would cost a solution for each.
            members, parts = found, [self.kept[number] for number in found]
            candidate = mixture([part.candidate for part in parts], pool.weights(members))
            squares = pool.squares(members)
            result = CandidateResult(candidate, squares, 0.0, parts=tuple(parts))
            better = self.best.worse_than(result)
            remark = "" if better else f"less than a standard error better than {self.best.candidate.name}"
            self.results.append(replace(result, parts=(), remark=remark, seconds=perf_counter() - began))
            if not better:
                return
            self.best = result

    def _affordable(self, members: Sequence[int]) -> bool:
        """Whether there is time for the last fits of a mixture."""
        observed = self.held_out.observed
        seconds = sum(final_seconds(self.kept[number].candidate, observed) for number in members)
        return not self.plan.refuses(0.0, seconds)

    def _climb_sources(self) -> None:
        """Try each source alone and all together, then more components and other noise with all."""
        for name, candidate in ablation(self.sources).items():
            found = self._try(candidate)
            if found is not None and found.squares is not None:
                self.alone[name] = found
        everything = self.alone.get(ALL if len(self.sources) > 1 else self.sources[0])
        shape = self.held_out.observed.shape
        grid, begin = informed(self.sources)
        rows = tuple(filter(None, (within(ladder, shape) for ladder in grid)))
        self._climb_grid(rows, begin, everything)

    def _climb_ladder(self, ladder: Ladder) -> None:
        """Go on to more components as long as they are all used and help."""
        below: CandidateResult | None = None
        for candidate in ladder:
            found = self._try(candidate)
            if found is None or not found.exhausted or (below and not found.better_than(below)):
                return
            below = found

    def _climb_grid(self, grid: Grid, column: int, here: CandidateResult | None) -> None:
        """Go to weaker regularisation, more components or stronger regularisation, whichever helps, until none does."""
        tried: set[tuple[int, int]] = set()
        place = (0, column)
        while here is not None:
            tried.add(place)
            for step in self._steps(grid, place, here):
                if step in tried:
                    continue
                tried.add(step)
                found = self._try(grid[step[0]][step[1]])
                # The first step that helps is taken: a look at all of them would cost as many fits again.
                if found is not None and found.better_than(here):
                    place, here = step, found
                    break
            else:
                return

    def _steps(self, grid: Grid, place: tuple[int, int], here: CandidateResult) -> Iterator[tuple[int, int]]:
        rank, strength = place
        for step in ((rank, strength + 1), (rank + here.exhausted, strength), (rank, strength - 1)):
            if step != place and 0 <= step[0] < len(grid) and 0 <= step[1] < len(grid[0]):
                yield step

    def _only_biases(self, why: str) -> Choice:
        self.best = CandidateResult(BIASES, None, 0.0)
        return only_biases(why, self.skipped)

    def _choice(self) -> Choice:
        assert self.best is not None
        n_held_out = sum(int(fold.sum()) for fold in self.held_out.folds)
        unit = self._unit()
        told = self._brought(), self._by_source(unit[0])
        return choice_among(self.results, self.best, self.skipped, n_held_out, unit, *told)

    def _by_source(self, factor: float) -> Sequence[str]:
        """Say what each source brought, compared on what was measured of both."""
        base = self.alone.get("nothing")
        if base is None or base.squares is None:
            return []
        changes = {
            name: factor * (found.loss**0.5 - float(base.squares[: found.squares.size].mean()) ** 0.5)
            for name, found in self.alone.items()
            if found is not base and found.squares is not None
        }
        return told(factor * base.loss**0.5, changes)

    def _brought(self) -> str:
        """Say what mixing brought; nothing where one candidate is taken."""
        assert self.best is not None
        if not self.best.parts:
            return ""
        alone = min(
            (part for part in self.results if not part.candidate.parts and not part.remark),
            key=lambda part: part.loss,
        )
        return (
            f", and {1 - (self.best.loss / alone.loss) ** 0.5:.1%} below that of {alone.candidate.name} alone"
        )

    def _unit(self) -> tuple[float, str]:
        """Errors of columns that have ranges of their own are compared, and shown, on the method's working range."""
        scale = self.held_out.observed.value_range.scale_to(self.held_out.settings.working_range)
        low, high = scale.bounds
        if scale.factor.ndim:
            return 1.0, f"units of the range [{low:g}, {high:g}] that each column is mapped to"
        return float(scale.factor), "the unit of the data"


_LEAST_SECONDS, _SECONDS_AN_OBSERVATION, _MOST_SECONDS = 4.0, 1e-4, 60.0
"""Of computing: by the size of the data, so that small data take seconds."""
_MORE = 30.0
"""Seconds beyond those planned by default that a fit may really take: on a busy or slow computer the same is tried, to the same result."""
_UNDATED = (
    "time is left out: the latest observations are too few, or too large a part, to compare estimators on"
)


class Auto(MatrixEstimator):
    """Complete a sparse, noisy matrix by the estimator that predicts observations best which it has not seen.

    Candidates are row and column biases alone; singular value thresholding at the noise edge with the optimal shrinker, without a centre, with
    biases, with biases and propensities by degrees; alternating least squares with estimated regularisation, its noise estimated too or given;
    and least squares of small nuclear norm (the problem of `SoftImpute`, of a rank of at most 10 or 20). Of the last three more components, less
    noise and smaller lambdas are tried as long as they help. Least squares of rank 5 with a given noise come first, because they cost least. A
    tenth of the observations is held out (several times where they are fewer than 50,000), and each candidate is fitted on the others. The one
    with the smallest error on what was held out is taken; biases alone unless their error is larger by more than one standard error and than
    0.15%. So the error on held-out observations is never above that of biases alone. What is taken goes on from there on all observations; if it
    lands elsewhere, the fit whose error is known is kept.

    Of observations in blocks candidates are biases, thresholding without and with biases, least squares by rank and SoftImpute by lambda. What is
    held out, a tenth once, follows from a hash of where an entry stands, so every engine makes the same choice.

    Parameters
    ----------
    time_budget : float or None, default None
        Seconds of computing for all fits; by default 4 and one for each 10,000 observations, at most 60 (of observations in blocks any number). Which candidates are tried is
        planned from the size of the data alone, so that it does not depend on the computer; only where this process has in fact computed
        for longer than the budget, or for half a minute more than the default one, what runs is ended as it is and the rest is left out. Either is said in `notes_`. Biases alone are
        fitted whatever the budget. A candidate that would take more than 1 GiB of memory is not tried.
    max_lipschitz : float or None, default None
        L, a limit for the proved constant of the one that is chosen: a stronger prior of the rows where they are regressions, smaller gains where
        they are mapped linearly. The choice is made without it.
    sources : None, "none", "all", or names, default None
        What factors may be regressed on beside the values, as in `AlternatingLeastSquares`: by default the features that the observations have, and no
        pattern. Each is tried alone, and all together, in twice the time; `choice_` says what each brought. Beside `max_lipschitz` features of rows are
        left out, and other sources of rows refused.
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
    'least squares, rank 5, noise 0.2'
    """

    def __init__(
        self,
        time_budget: float | None = None,
        max_lipschitz: float | None = None,
        sources: str | Sequence[str] | None = None,
        value_range: RangeChoice = None,
        working_range: WorkingRange = "symmetric",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.time_budget = time_budget
        self.max_lipschitz = max_lipschitz
        self.sources = sources
        self.value_range = value_range
        self.working_range = working_range
        self.random_state = random_state

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        sources = sources_within(self.sources, observed, self.max_lipschitz)
        seconds = self._seconds(observed.n_observed, 2.0 if sources else 1.0)
        plan = Plan(seconds, _MORE if self.time_budget is None else 0.0)
        rng = generator_of(self.random_state)
        folds, undated = later_fold(observed) if "time" in sources else (), tuple[str, ...]()
        if "time" in sources and not folds:
            sources = tuple(name for name in sources if name != "time")
            undated = (_UNDATED,)
        folds = folds or held_out_folds(observed.n_observed, rng)
        settings = Settings(self.working_range, int(rng.integers(2**31)))
        search = Search(HeldOut(observed, folds, settings), plan, sources)
        self.choice_ = search.run()
        self.candidates_ = self.choice_.candidates
        assert search.best is not None
        best, kept = LastFit(search.held_out, search.plan).fit(search.best)
        self.best_estimator_, self.threshold_ = best, best.threshold_
        self.converged_, self.n_iter_ = best.converged_, best.n_iter_
        self.notes_ = (*self.choice_.lines, *undated, *kept, *best.notes_)
        return self._within_budget(best.estimate_, observed)

    def _features_left_out(self, observed: ObservedMatrix) -> tuple[str, ...]:
        """Those that a limit leaves out; else parts say it."""
        return without_rows(self.sources, observed, self.max_lipschitz)

    def _estimate_blocks(self, observed: PartitionedMatrix) -> LowRankEstimate:
        sources = None if self.sources == "none" else self.sources
        if self.max_lipschitz is not None or sources is not None:
            raise EstimatorError(
                f"sources or max_lipschitz for {observed!r}", "observations in memory, or none of them"
            )
        rng = generator_of(self.random_state)
        settings = Settings(self.working_range, int(rng.integers(2**31)))
        plan = Plan(self._seconds(observed.n_observed, most=inf), inf if self.time_budget is None else 0.0)
        chosen, self.choice_ = BlockSearch(observed, settings, plan).run()
        self.candidates_ = self.choice_.candidates
        best = chosen.make(observed, replace(settings, stop=plan.over)).fit(observed)
        self.best_estimator_, self.threshold_ = best, best.threshold_
        self.converged_, self.n_iter_, self.budget_ = best.converged_, best.n_iter_, None
        self.notes_ = (*self.choice_.lines, *best.notes_)
        return best.estimate_

    def _within_budget(self, estimate: LowRankEstimate, observed: ObservedMatrix) -> LowRankEstimate:
        if self.max_lipschitz is None or is_regression(estimate):
            return self._held_within(self.max_lipschitz, estimate, observed)
        held, solution = within_budget(estimate, self.max_lipschitz)
        self.notes_ += (str(solution),)
        return held

    def _seconds(self, n_observed: int, times: float = 1.0, most: float = _MOST_SECONDS) -> float:
        if self.time_budget is None:
            return times * min(_LEAST_SECONDS + n_observed * _SECONDS_AN_OBSERVATION, most)
        return checked_positive("time_budget", self.time_budget, or_else="None")

    def decomposed_matrix(self) -> Values | None:
        """Return the matrix whose singular values `threshold_` cuts, missing entries 0; None where nothing is cut."""
        return self.best_estimator_.decomposed_matrix()
