"""The threshold whose estimate predicts hidden observations best, found on one path of solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.checks import checked_positive, checked_share, checked_whole
from likewise.errors import ThresholdError
from likewise.estimation.base.preparation import Recentred
from likewise.estimation.base.weighting import kept_weights
from likewise.estimation.thresholding.shrinkers import resolve_shrinker, shrink
from likewise.estimation.thresholding.statistics import (
    KeptSpectrum,
    ObservationStatistics,
    ShrinkerChoice,
    ThresholdRule,
)
from likewise.observations.table import keep_entries, rows_of_entries
from likewise.spectrum import singular_triplets

if TYPE_CHECKING:
    from likewise.spectrum import SingularTriplets

_AT_ONCE = 1 << 14
"""Hidden observations that are predicted at a time."""


@dataclass(frozen=True, eq=False)
class ThresholdPath:
    """Error on hidden observations for each number of components."""

    # (k + 1,), decreasing: at the l-th, l components are kept; for the part of the observations that was not hidden.
    thresholds: Floats
    # (k + 1,), mean squared errors at the hidden observations, on the method's working range, clipped as estimates are; weighted
    # by inverse propensities where there are such.
    errors: Floats
    # (k + 1, k + 1), of what the errors are beyond the one of no component, which has the same hidden observations.
    covariance: Floats
    values: Floats  # (k,), singular values of the part that was not hidden, decreasing

    @property
    def best(self) -> float:
        """The threshold of least error; of equal ones the largest."""
        return float(self.thresholds[np.argmin(self.errors)])

    def is_better(self, one: int, other: int) -> bool:
        """Whether so many components predict better than so many others, by more than a standard error of the difference."""
        pair = self.covariance[np.ix_([one, other], [one, other])]
        variance = pair[0, 0] + pair[1, 1] - 2 * pair[0, 1]
        return bool(self.errors[one] + sqrt(max(variance, 0.0)) < self.errors[other])

    def at(self, thresholds: Floats) -> ThresholdPath:
        """Return errors at other thresholds, of which the first keeps nothing."""
        counts = [0, *map(self.kept_at, thresholds[1:])]
        return replace(
            self,
            thresholds=thresholds,
            errors=self.errors[counts],
            covariance=self.covariance[np.ix_(counts, counts)],
        )

    def kept_at(self, threshold: float) -> int:
        """How many components of the path lie above a threshold."""
        return int(np.count_nonzero(self.values > threshold))


@dataclass(frozen=True)
class CrossValidated(ThresholdRule):
    """The threshold of least squared error at hidden observations, along one path: one decomposition, every number of components.

    A share of the observations is hidden and the others are decomposed once, down to `lowest`. For every number of components the
    shrinker is applied at the threshold between the last kept and the first cut singular value, and hidden observations are
    predicted; the threshold that keeps nothing is the Frobenius norm. Noise is what a threshold cuts, and its singular values go with the square root of how much is observed, so the best threshold
    is multiplied by ``1 / sqrt(1 - share)`` for all observations. Nothing is assumed of the noise, but that hidden and other
    observations are alike: where people choose what they reveal, what they hide is not tested. With propensities the error is the
    self-normalised inverse-propensity estimate ``sum w e^2 / sum w`` of that over all entries (Swaminathan and Joachims 2015; Schnabel et
    al. 2016), e being the difference from the observation itself, not from the weighted one that is decomposed.

    Parameters
    ----------
    share : float, default 0.1
        Share of the observations to hide, in (0, 1).
    max_rank : int, default 50
        Most components on the path.
    lowest : float, default 0.7
        Lowest threshold of the path, in units of the noise edge of the mean square.
    random_state : int, default 0
        Seed of what is hidden.
    shrinker : str, ShrinkerRule, callable or None, default None
        None tries the estimator's own.

    References
    ----------
    Owen and Perry, "Bi-cross-validation of the SVD and the nonnegative matrix factorization", Annals of Applied Statistics 3 (2009), on
    held-out data for the choice of rank.
    Schnabel, Swaminathan, Singh, Chandak, Joachims, "Recommendations as treatments: debiasing learning and evaluation", ICML (2016).
    Swaminathan and Joachims, "The self-normalized estimator for counterfactual learning", NeurIPS (2015).
    """

    share: float = 0.1
    max_rank: int = 50
    lowest: float = 0.7
    random_state: int = 0
    shrinker: ShrinkerChoice | None = None

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        return self.path(statistics).best / sqrt(1 - self.share)

    def trying(self, shrinker: ShrinkerChoice) -> CrossValidated:
        """Return the rule that tries this shrinker, unless it was given one."""
        return replace(self, shrinker=shrinker) if self.shrinker is None else self

    def path(self, statistics: ObservationStatistics) -> ThresholdPath:
        """Return thresholds and errors along the path.

        Raises
        ------
        ThresholdError
            A share outside (0, 1), a rank below 1, a lowest threshold that is not above 0, or too few observations to hide any.
        """
        self._check()
        hidden = self._hidden(statistics.require_matrix("cross-validation").nnz)
        return self._path_without(hidden, statistics)

    def several(self, statistics: ObservationStatistics, most_hidden: int) -> list[ThresholdPath]:
        """Return paths that hide shares in turn, each observation at most once, until so many were hidden; a single one is that of `path`.

        Raises
        ------
        ThresholdError
            As `path`.
        """
        self._check()
        n_observed = statistics.require_matrix("cross-validation").nnz
        n_hidden = int(self._hidden(n_observed).sum())
        n_paths = min(ceil(most_hidden / n_hidden), n_observed // n_hidden)
        if n_paths < 2:
            return [self.path(statistics)]
        number = np.random.default_rng(self.random_state).permutation(n_observed) // n_hidden
        return [self._path_without(number == each, statistics) for each in range(n_paths)]

    def _path_without(self, hidden: NDArray[np.bool_], statistics: ObservationStatistics) -> ThresholdPath:
        split = statistics.without(hidden)
        training = keep_entries(split.matrix, ~hidden)
        # Threshold and shrinker are told what the fit knows, nothing of what is hidden.
        known = ObservationStatistics.of(training, kept_weights(statistics.weights, ~hidden))
        above = self.lowest * known.noise_edge(known.mean_square)
        triplets = singular_triplets(
            training, above=above, at_most=self.max_rank, random_state=self.random_state
        )
        values = np.asarray(triplets.values, dtype=np.float64)
        thresholds = _between(values, sqrt(known.energy), above)
        shrunk = self._shrunk(known, thresholds, values)
        weights = kept_weights(statistics.weights, hidden)
        errors, covariance = _errors(triplets, shrunk, _Hidden.of(split, hidden, weights))
        return ThresholdPath(thresholds, errors, covariance, values)

    def _check(self) -> None:
        checked_share("share", self.share, error=ThresholdError)
        checked_whole("max_rank", self.max_rank, error=ThresholdError)
        checked_positive("lowest", self.lowest, error=ThresholdError)

    def _hidden(self, n_observed: int) -> NDArray[np.bool_]:
        n_hidden = round(self.share * n_observed)
        if not 0 < n_hidden < n_observed:
            raise ThresholdError(
                f"a share of {self.share:g} of {n_observed} observations to hide", "some hidden and some left"
            )
        hidden = np.zeros(n_observed, dtype=bool)
        hidden[np.random.default_rng(self.random_state).choice(n_observed, n_hidden, replace=False)] = True
        return hidden

    def _shrunk(self, known: ObservationStatistics, thresholds: Floats, values: Floats) -> Floats:
        """Return what becomes of each singular value (rows) at each threshold (columns)."""
        shrunk = np.zeros((values.size, thresholds.size))
        for count, threshold in enumerate(thresholds):
            kept = KeptSpectrum(known, float(threshold), values[:count])
            psi = resolve_shrinker("rescaled" if self.shrinker is None else self.shrinker, kept)
            shrunk[:count, count] = shrink(psi, kept.values)
        return shrunk


def _between(values: Floats, highest: float, lowest: float) -> Floats:
    """Return a threshold that keeps 0, 1, ... of the values: beyond them all, between neighbours, and the lowest.

    >>> _between(np.array([8.0, 2.0]), 9.0, 1.0)
    array([9., 4., 1.])
    """
    if not values.size:
        return np.array([highest])
    return np.concatenate([[highest], np.sqrt(values[:-1] * values[1:]), [lowest]])


@dataclass(frozen=True, eq=False)
class _Hidden:
    """Hidden entries: where they are, what an estimate less the centre should be there, between which ends it is clipped, and what each counts."""

    rows: NDArray[np.integer]
    columns: NDArray[np.integer]
    expected: Floats
    low: Floats
    high: Floats
    weights: Floats

    @classmethod
    def of(cls, split: Recentred, hidden: NDArray[np.bool_], weights: Floats | None) -> _Hidden:
        matrix, centre = keep_entries(split.matrix, hidden), split.centre[hidden]
        counted = np.ones(matrix.nnz) if weights is None else weights
        expected = matrix.data / counted
        return cls(
            rows_of_entries(matrix),
            matrix.indices,
            expected,
            split.low - centre,
            split.high - centre,
            counted,
        )

    def squared_errors(self, triplets: SingularTriplets, shrunk: Floats, part: slice) -> Floats:
        """Return them for some of the entries (rows), one column for each of `shrunk`."""
        left = np.asarray(triplets.left[self.rows[part]], dtype=np.float64)
        estimates = (left * triplets.right[self.columns[part]]) @ shrunk
        np.clip(estimates, self.low[part, None], self.high[part, None], out=estimates)
        return np.asarray((estimates - self.expected[part, None]) ** 2)


def _errors(triplets: SingularTriplets, shrunk: Floats, hidden: _Hidden) -> tuple[Floats, Floats]:
    """Return, for each column of shrunk values, the mean squared error at the hidden entries, and the covariance of what it is beyond the first column's.

    With weights w both are of ``sum w x / sum w``, whose covariance is about ``sum w^2 (x - mean) (x - mean)^T / (sum w)^2``.
    """
    count, mass = shrunk.shape[1], hidden.weights.sum()
    total, gained, weighed = np.zeros((3, count))
    products = np.zeros((count, count))
    for start in range(0, hidden.rows.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        squared, weights = hidden.squared_errors(triplets, shrunk, part), hidden.weights[part]
        beyond = (squared - squared[:, :1]) * weights[:, None]
        total += weights @ squared
        gained += beyond.sum(axis=0)
        weighed += weights @ beyond
        products += beyond.T @ beyond
    mean = gained / mass
    # sum w^2 (x - mean) (x - mean)^T, multiplied out, so that one pass over the hidden entries is enough.
    mixed = np.outer(mean, weighed)
    spread = np.outer(mean, mean) * np.dot(hidden.weights, hidden.weights)
    return total / mass, (products - mixed - mixed.T + spread) / mass**2


_FEWEST = 60
"""Observations; what is hidden of fewer tells nothing."""
_ENOUGH = 200
"""Hidden observations to judge by, where there are so many: of few, other tenths are hidden in turn."""


@dataclass(frozen=True)
class Adaptive(ThresholdRule):
    """The noise edge, tried on hidden observations: where they speak against it, the threshold that predicts them best, or none of the components.

    A tenth of the observations is hidden, and every number of components is tried on them, as by `CrossValidated`; the centre is found anew without
    them. Of fewer than 2,000 other tenths are hidden in turn, until some 200 observations, or all, were. Then tau is

    - the edge of noise, ``(sqrt(m) + sqrt(n)) sqrt(v)``, if what is above it predicts better than nothing, and nothing predicts better than it;
    - else the threshold of least error, if that is better than nothing;
    - else what keeps nothing.

    *Better* means by more than a standard error of the difference. So an estimate is on average no worse than its centre alone, also where noise
    is far from one variance, as it is on ratings. Whether people and features differ in how much they hold is not asked: signal makes them
    differ too. With fewer than 60 observations nothing can be tried, and nothing is kept.

    Parameters
    ----------
    path : CrossValidated
        How observations are hidden, and which shrinker is tried: by default the estimator's own.

    Examples
    --------
    >>> Adaptive()(ObservationStatistics(100, 400, 0.5, 0.25))  # from numbers alone: the edge
    15.0
    """

    path: CrossValidated = field(default_factory=CrossValidated)
    is_adaptive: ClassVar[bool] = True

    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau."""
        edge = _edge(statistics)
        if statistics.matrix is None:
            return edge
        # Noise goes with the square root of how much is observed, and so do thresholds.
        growth = 1 / sqrt(1 - self.path.share)
        if _is_scarce(statistics):
            return sqrt(statistics.energy) * growth
        path = _pooled(self.path.several(statistics, _ENOUGH), edge / growth)
        at_edge, best = path.errors.size - 1, int(np.argmin(path.errors))
        # The edge has to be better than nothing, and stays unless something is clearly better than it.
        if path.is_better(at_edge, 0) and not path.is_better(best, at_edge):
            return edge
        chosen = best if path.is_better(best, 0) else 0
        return float(path.thresholds[chosen]) * growth

    def trying(self, shrinker: ShrinkerChoice) -> Adaptive:
        """Return the rule that tries this shrinker, unless it was given one."""
        return replace(self, path=self.path.trying(shrinker))

    def notes(self, statistics: ObservationStatistics, threshold: float) -> tuple[str, ...]:
        """Say where hidden observations spoke against the edge."""
        edge = _edge(statistics)
        if statistics.operator is not None:
            return ("the threshold is the edge of noise, not tried on hidden observations as in memory",)
        if threshold == edge:
            return ()
        if _is_scarce(statistics):
            return (f"no component is kept: nothing can be tried with fewer than {_FEWEST} observations",)
        return (
            f"the threshold is {threshold:.3g}, which predicts hidden observations best, not the noise edge of {edge:.3g}",
        )

    @property
    def when_nothing_is_kept(self) -> str:
        """What to say of rank 0."""
        return "with this shrinker no number of components is seen to predict hidden observations better than none"


def _pooled(paths: Sequence[ThresholdPath], edge: float) -> ThresholdPath:
    """Return the mean of paths at the thresholds of the first one and at the edge, which comes last."""
    thresholds = np.append(paths[0].thresholds, edge)
    found = [path.at(thresholds) for path in paths]
    errors = np.mean([path.errors for path in found], axis=0)
    # No observation is hidden twice.
    covariance = np.sum([path.covariance for path in found], axis=0) / len(found) ** 2
    return replace(found[0], errors=errors, covariance=covariance)


def _is_scarce(statistics: ObservationStatistics) -> bool:
    return statistics.matrix is not None and statistics.matrix.nnz < _FEWEST


def _edge(statistics: ObservationStatistics) -> float:
    return statistics.noise_edge(statistics.mean_square)
