"""Ordinal outputs: the probability of each level, such as a number of stars, at every entry, by an ordered probit on an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.base import clone

from likewise._typing import Floats, Indices
from likewise.arrays import as_floats
from likewise.checks import checked_confidence, checked_share
from likewise.errors import InputError
from likewise.estimation.als.solver import AlternatingLeastSquares
from likewise.estimation.auto.mixture import Mixture
from likewise.estimation.auto.transformer import Auto
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.factor_update import Factors, unpacked
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.intervals import conformal_radius
from likewise.estimation.registry import as_estimator
from likewise.memory import ensure_fits
from likewise.observations import ObservedMatrix, hold_out
from likewise.observations.index_alignment import checked_positions, positions_of
from likewise.randomness import generator_of

_MOST_LEVELS = 20
_LEAST = 1e-12
"""Probability of a level, at least, in a likelihood: it keeps one odd observation from deciding."""
_PRIOR = 0.01
"""Observations' worth of precision of log gaps, noise and spread about their first values, so that a level that nothing hidden has keeps some room."""
_BLOCK = 1 << 14


def cell_probabilities(means: Floats, deviations: Floats, cuts: Floats) -> Floats:
    """Return ``P(level k) = Phi((c_k - mean) / deviation) - Phi((c_(k-1) - mean) / deviation)``, with ends at minus and plus infinity.

    Means and deviations above 0, (k,), and increasing cuts, (L - 1,), give shape (k, L); rows sum to 1.

    >>> cell_probabilities(np.array([0.0]), np.array([1.0]), np.array([0.0])).tolist()
    [[0.5, 0.5]]
    """
    scaled = (cuts - means[:, None]) / deviations[:, None]
    below = np.column_stack([np.zeros(means.size), ndtr(scaled), np.ones(means.size)])
    above = np.column_stack([np.ones(means.size), ndtr(-scaled), np.zeros(means.size)])
    # In the upper half the difference of what lies above keeps the digits that the other one loses.
    upper = np.column_stack([scaled[:, :1], scaled]) > 0
    return np.where(upper, above[:, :-1] - above[:, 1:], np.diff(below, axis=1))


@dataclass(frozen=True, eq=False)
class OrderedProbit:
    """Cut points between levels and the noise: level k is seen where ``mean + deviation * normal`` lies between cuts k - 1 and k."""

    cuts: Floats  # (L - 1,), on the method's working range, increasing
    noise: float  # variance of an observation about its expectation
    spread: float  # what the variance of the expectation is multiplied by

    def probabilities(self, means: Floats, variances: Floats) -> Floats:
        """Return the probability of each level, shape (k, L)."""
        return cell_probabilities(means, np.sqrt(self.noise + self.spread * variances), self.cuts)

    @classmethod
    def fit(cls, means: Floats, variances: Floats, seen: Indices, levels: Floats) -> OrderedProbit:
        """Find what makes levels most likely that were seen at entries of these means, before clipping, and variances of the expectation.

        `seen` counts levels from 0; `levels` are on the working range, and the search begins with cuts half-way between them. McKelvey, Zavoina, "A
        statistical model for the analysis of ordinal level dependent variables", Journal of Mathematical Sociology 4 (1975).
        """
        middles = (levels[1:] + levels[:-1]) / 2
        noise = max(float(np.mean((levels[seen] - means) ** 2)), 1e-6)
        # In logarithms of the gaps, the noise and the spread, so that cuts increase and variances are above 0 wherever the search goes.
        first = np.array([middles[0], *np.log(np.diff(middles)), np.log(noise), 0.0])

        def loss(parameters: Floats) -> float:
            found = cls._of(parameters).probabilities(means, variances)[np.arange(seen.size), seen]
            away = float(np.sum((parameters - first)[1:] ** 2))
            return float(-np.log(np.maximum(found, _LEAST)).mean()) + _PRIOR * away / seen.size

        return cls._of(np.asarray(minimize(loss, first, method="L-BFGS-B").x))

    @classmethod
    def _of(cls, parameters: Floats) -> OrderedProbit:
        gaps, (noise, spread) = np.exp(parameters[1:-2]), np.exp(np.clip(parameters[-2:], -30, 30))
        return cls(parameters[0] + np.concatenate([[0.0], np.cumsum(gaps)]), float(noise), float(spread))


@dataclass(frozen=True, eq=False)
class EntryVariance:
    """What is uncertain of entries' expectations, on the working range: the weighted sum of `factor_variance` over parts, 0 without any."""

    parts: tuple[tuple[float, Factors, Factors], ...] = ()  # weight, rows and columns

    def __call__(self, i: Indices, j: Indices) -> Floats:
        """Return the variance of entries by their positions, each of shape (k,)."""
        of_parts = (weight * factor_variance(rows, columns, i, j) for weight, rows, columns in self.parts)
        return np.asarray(sum(of_parts, np.zeros(i.size)))


def entry_variance(fitted: MatrixEstimator) -> EntryVariance:
    """Return what is uncertain of entries' expectations: by the factors of least squares, at most that mixture of a mixture; else 0."""
    if isinstance(fitted, Auto):
        return entry_variance(fitted.best_estimator_)
    if isinstance(fitted, Mixture):
        parts = zip(fitted.weights_.tolist(), map(entry_variance, fitted.estimators_), strict=True)
        # The variance of a mean is at most the mean of the variances.
        return EntryVariance(tuple((w * own, *factors) for w, part in parts for own, *factors in part.parts))
    if isinstance(fitted, AlternatingLeastSquares) and fitted.factor_fit_ is not None:
        return EntryVariance(((1.0, fitted.factor_fit_.rows, fitted.factor_fit_.columns),))
    return EntryVariance()


def factor_variance(rows: Factors, columns: Factors, i: Indices, j: Indices) -> Floats:
    """Return ``Var(u_i^T v_j + a_i + b_j)`` for independent vectors (u, a) and (v, b), at positions i and j of shape (k,).

    With covariances C of (u, a) and D of (v, b) it is ``(v, 1)^T C (v, 1) + (u, 1)^T D (u, 1) + tr(C_uu D_vv)``, u and v at their means.
    """
    found = np.empty(i.size)
    for start in range(0, i.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        (u, C), (v, D) = _moments(rows, i[part]), _moments(columns, j[part])
        found[part] = np.einsum("kd,kde,ke->k", v, C, v) + np.einsum("kd,kde,ke->k", u, D, u)
        found[part] += np.einsum("kde,kde->k", C[:, :-1, :-1], D[:, :-1, :-1])
    return np.maximum(found, 0.0)


def _moments(factors: Factors, chosen: Indices) -> tuple[Floats, Floats]:
    """Return (coordinates, 1) and the covariance of (coordinates, bias)."""
    means = factors.means[chosen]
    covariances = unpacked(factors.moments[chosen], means.shape[1]) - means[:, :, None] * means[:, None, :]
    means = means.copy()
    means[:, -1] = 1.0
    return means, covariances


@dataclass(frozen=True, eq=False)
class LevelProbabilities:
    """The distribution of what would be observed at any entry, over ordered levels.

    Parameters
    ----------
    estimate : LowRankEstimate
        Of the observations that were not set aside.
    levels : ndarray, shape (L,)
        In the user's units, increasing.
    probit : OrderedProbit
    variance : EntryVariance
    scores : ndarray, shape (k,)
        Of observations set aside for calibration: the probability of the levels that a set has once it holds the one that was seen.
    """

    estimate: LowRankEstimate
    levels: Floats
    probit: OrderedProbit
    variance: EntryVariance
    scores: Floats

    def entries(self, rows: ArrayLike, columns: ArrayLike) -> Floats:
        """Return the probability of each level at entries by their positions; shape (k, L), rows sum to 1."""
        i = checked_positions(rows, self.estimate.shape[0], "row")
        j = checked_positions(columns, self.estimate.shape[1], "column")
        return self.probit.probabilities(self.estimate.unclipped().entries(i, j), self.variance(i, j))

    def entries_of(self, row_ids: ArrayLike, column_ids: ArrayLike) -> Floats:
        """Return the same by ids.

        Examples
        --------
        >>> Z = ObservedMatrix([[1.0, 2.0, 3.0]] * 20, column_ids=["green", "black", "mint"], value_range=(1, 3))
        >>> level_probabilities(Z, "biases").entries_of([0], ["mint"]).argmax(axis=1)  # of levels 1, 2, 3
        array([2])
        """
        rows = positions_of(row_ids, self.estimate.row_ids, "row")
        return self.entries(rows, positions_of(column_ids, self.estimate.column_ids, "column"))

    def means(self, rows: ArrayLike, columns: ArrayLike) -> Floats:
        """Return the expected level of entries, in the user's units; shape (k,)."""
        return np.asarray(self.entries(rows, columns) @ self.levels)

    def of_column(self, column: int) -> Floats:
        """Return the distribution of one column for everybody, shape (m, L): outputs that an audit compares by total variation."""
        m = self.estimate.shape[0]
        return self.entries(np.arange(m), np.full(m, column))

    def joint(self) -> Floats:
        """Return everybody's distribution of a column drawn at random and its level, shape (m, n L), rows sum to 1.

        Total variation between two rows is the mean over columns of that between their levels.

        Raises
        ------
        MemoryLimitError
            If that many numbers would not fit.
        """
        m, n = self.estimate.shape
        ensure_fits(
            8 * m * n * self.levels.size, f"{m:,} x {n:,} distributions", "take single columns: of_column"
        )
        found = [self.entries(np.full(n, row), np.arange(n)).ravel() / n for row in range(m)]
        return np.asarray(found)

    def sets(self, rows: ArrayLike, columns: ArrayLike, confidence: float = 0.95) -> Floats:
        """Return the lowest and the highest level of an interval that covers what would be observed, with at least this share.

        A set begins with the likeliest level and takes up the likelier of its two neighbours until it has the probability that covered as many of the observations set
        aside (split-conformal; Romano, Sesia, Candes 2020). Coverage is an average over entries that are observed like those of the data.

        Parameters
        ----------
        rows, columns : array-like of int, shape (k,)
        confidence : float, default 0.95
            In (0, 1).

        Returns
        -------
        ndarray, shape (k, 2)
            In the user's units.
        """
        enough = conformal_radius(self.scores, checked_confidence(confidence))
        masses = growing_masses(self.entries(rows, columns))
        within = masses <= np.maximum(enough, masses.min(axis=1))[:, None]  # the likeliest level always
        last = within.shape[1] - 1 - within[:, ::-1].argmax(axis=1)
        return np.column_stack([self.levels[within.argmax(axis=1)], self.levels[last]])

    def __str__(self) -> str:
        cuts = ", ".join(f"{cut:.3g}" for cut in self.probit.cuts)
        return (
            f"probabilities of {self.levels.size} levels from {self.levels[0]:g} to {self.levels[-1]:g}: cuts at {cuts} on the working range, noise "
            f"{self.probit.noise**0.5:.3g}; sets calibrated on {self.scores.size:,} observations"
        )


def growing_masses(probabilities: Floats) -> Floats:
    """Return for each level the probability of the interval that first holds it, grown from the likeliest level by the likelier neighbour.

    >>> growing_masses(np.array([[0.1, 0.5, 0.3, 0.1]])).round(9).tolist()
    [[0.9, 0.5, 0.8, 1.0]]
    """
    k, L = probabilities.shape
    # A column of -1 on either side, which is never the likelier neighbour.
    rows, padded = np.arange(k), np.column_stack([np.full(k, -1.0), probabilities, np.full(k, -1.0)])
    low = high = probabilities.argmax(axis=1) + 1
    mass = padded[rows, low]
    found = np.empty((k, L + 2))
    found[rows, low] = mass
    for _ in range(L - 1):
        # Of two neighbours that are equally likely the lower one is taken.
        down = padded[rows, low - 1] >= padded[rows, np.minimum(high + 1, L + 1)]
        low, high = np.where(down, low - 1, low), np.where(down, high, high + 1)
        new = np.where(down, low, high)
        mass = mass + padded[rows, new]
        found[rows, new] = mass
    return np.asarray(found[:, 1:-1])


def level_probabilities(
    observed: ObservedMatrix | Any,
    estimator: str | MatrixEstimator = "auto",
    *,
    levels: Sequence[float] | None = None,
    calibration_share: float = 0.1,
    random_state: int | np.random.Generator | None = 0,
) -> LevelProbabilities:
    """Give the probability of each level at every entry, by an ordered probit on an estimate.

    A share of the observations is set aside and the estimator fitted on the others. Half of them say where the cuts between levels lie and how wide the noise is, by maximum
    likelihood given each entry's expectation and what is uncertain of it; the other half calibrates sets of levels.

    Parameters
    ----------
    observed : ObservedMatrix, or what its constructor takes; shape (m, n)
        Rows are individuals; values are levels.
    estimator : str or MatrixEstimator, default "auto"
        It is cloned, not fitted in place.
    levels : sequence of float, optional
        All levels, from the lowest to the highest; by default those that were observed.
    calibration_share : float, default 0.1
        Of the observations, in (0, 1).
    random_state : int, Generator or None, default 0
        For what is set aside, and an estimator given by name.

    Returns
    -------
    LevelProbabilities

    Raises
    ------
    InputError
        Levels that are not in order, fewer than two or more than 20; values that are none of them; a range for each column; a share outside (0, 1).

    Examples
    --------
    >>> stars = np.resize([1.0, 2.0, 2.0, 3.0, 5.0, 4.0, np.nan], (30, 20))
    >>> found = level_probabilities(ObservedMatrix(stars, value_range=(1, 5)), "biases")
    >>> found.entries([0, 1], [2, 3]).sum(axis=1).round(9).tolist()
    [1.0, 1.0]
    """
    checked_share("calibration_share", calibration_share)
    if not isinstance(observed, ObservedMatrix):
        observed = ObservedMatrix(observed)
    known = _checked_levels(observed, levels)
    rng = generator_of(random_state)
    seed = int(rng.integers(2**31)) if isinstance(estimator, str) else None
    hidden = hold_out(observed, calibration_share, rng)
    fitted = clone(as_estimator(estimator, seed)).fit(hidden.training)
    estimate, variance = fitted.estimate_, entry_variance(fitted)
    places = hidden.rows.astype(np.intp), hidden.columns.astype(np.intp)
    means, variances = estimate.unclipped().entries(*places), variance(*places)
    seen = np.abs(known[:, None] - hidden.values).argmin(axis=0)  # values may have single precision
    # Half of what was set aside for the cuts, the other half for the sets: calibrated on what the cuts were fitted to, they would be too small.
    fits = rng.permutation(seen.size) % 2 == 0
    on_range = np.asarray(estimate.scale.forward(known, np.zeros(known.size, dtype=np.intp)))
    probit = OrderedProbit.fit(means[fits], variances[fits], seen[fits], on_range)
    masses = growing_masses(probit.probabilities(means[~fits], variances[~fits]))
    scores = masses[np.arange(len(masses)), seen[~fits]]
    return LevelProbabilities(estimate, known, probit, variance, scores)


def _checked_levels(observed: ObservedMatrix, levels: Sequence[float] | None) -> NDArray[np.float64]:
    found = np.unique(observed.values.data).astype(np.float64)
    if levels is not None:
        given = as_floats(levels, "levels", hint="give numbers, which have an order; labels have none")
        if given.ndim != 1 or not np.isfinite(given).all() or not (np.diff(given) > 0).all():
            raise InputError(f"levels={given.tolist()}", "levels from the lowest to the highest, each once")
        if others := sorted(set(found.tolist()) - set(given.astype(observed.values.dtype).tolist()))[:3]:
            raise InputError(
                f"values {others} that are none of the levels {given.tolist()}",
                "every value among the levels",
            )
        found = given
    if not 2 <= found.size <= _MOST_LEVELS:
        raise InputError(
            f"{found.size:,} different values as ordered levels",
            f"2 to {_MOST_LEVELS}",
            "entry_intervals gives intervals for values that are no levels",
        )
    if observed.value_range.low.ndim:
        raise InputError("levels of columns that have ranges of their own", "one range for all columns")
    return found
