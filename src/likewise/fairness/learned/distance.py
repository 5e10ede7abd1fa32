"""The distance that answers teach, with what they leave open of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats, Indices
from likewise.checks import (
    checked_confidence,
    checked_instance,
    checked_name,
    checked_positive,
    checked_whole,
)
from likewise.errors import DistanceError
from likewise.fairness.distances.distance import DistanceDescription
from likewise.fairness.distances.rows import RowDistance
from likewise.fairness.learned.answers import Answers
from likewise.fairness.learned.features import ComparedFeatures
from likewise.fairness.learned.fit import (
    even_penalty,
    fit_free,
    fit_matrix,
    fit_weights,
    matrix_penalty,
    products,
    symmetric,
)
from likewise.observations.index_alignment import row_labels
from likewise.randomness import generator_of

Metric = Literal["l1", "mahalanobis"]

MANY_JUDGES = 8
"""From so many judges on they are drawn, not their answers: answers of one judge go together."""

_FOLDS = 5
_TYPICAL = 100_000
"""Pairs whose mean distance is the unit where answers name none."""


class LearnedDistance(RowDistance):
    """A distance between individuals that people's answers taught; `learn_distance` makes it.

    Attributes
    ----------
    features : tuple of str
    weights : ndarray, shape (p,) or (p, p)
        Of ``d = sum_j w_j |difference_j|``, or M of ``d^2 = difference^T M difference``; differences of numbers in standard deviations, of
        categories 0 or 1.
    draws : ndarray, shape (n_draws, p) or (n_draws, p, p)
        The same, learned from answers drawn with replacement, without the constraint that makes weights >= 0 and M positive semidefinite: where it
        binds, constrained draws would all err to one side. Below 0 they count as 0.
    agreement : float
        Share of the answers, held out in turn, that the distance foretells.
    by_chance : float
        The same for whoever gives the more frequent answer, or tosses a coin.
    answers : str
        How many of what kind.
    """

    def __init__(
        self, compared: ComparedFeatures, learned: _Learned, answers: Answers, row_ids: ArrayLike | None
    ) -> None:
        checked_instance("compared", compared, ComparedFeatures, "what learn_distance compared")
        checked_instance("learned", learned, _Learned, "what learn_distance learned")
        checked_instance("answers", answers, Answers, "the answers")
        self.features, self.answers = compared.names, answers.in_words()
        self.weights, self.draws = learned.weights, learned.draws
        self.agreement, self.by_chance = learned.agreement, learned.by_chance
        self._compared = compared
        is_l1 = self.weights.ndim == 1
        description = DistanceDescription(
            f"{'weighted l1' if is_l1 else 'Mahalanobis'} between features, learned from {self.answers}",
            "l1" if is_l1 else "l2",
            columns=compared.excluded,
            scaling=learned.unit,
            axioms="pseudometric",
        )
        # Rows between which a plain norm is the learned distance: everything else that a distance does is
        # then that of rows.
        rows = embedded(compared, self.weights)
        super().__init__(rows, "l1" if is_l1 else "l2", description=description, row_ids=row_ids)
        self.notes = learned.notes

    def drawn(self, draw: int, left: Indices, right: Indices) -> Floats:
        """Measure pairs by the distance that one draw of the answers taught, shape (k,)."""
        weights = self.draws[draw]
        if weights.ndim == 1:
            measured: Floats = (self._compared.differences(left, right) @ weights).clip(min=0)
            return measured
        delta = self._compared.columns[left] - self._compared.columns[right]
        return _lengths(delta, weights)

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Return a polars frame with the weight of each feature and its interval: feature, weight, low, high.

        Of a Mahalanobis distance the root of the diagonal of M: what one standard deviation of that feature alone counts.
        """
        import polars as pl

        tail = (1 - checked_confidence(confidence)) / 2
        own = self.weights if self.weights.ndim == 1 else np.sqrt(np.diag(self.weights))
        drawn = self.draws.clip(min=0)
        drawn = drawn if drawn.ndim == 2 else np.sqrt(np.diagonal(drawn, axis1=1, axis2=2))
        low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
        return pl.DataFrame({"feature": self.features, "weight": own, "low": low, "high": high})

    def in_words(self, confidence: float = 0.95) -> str:
        """Say what each feature counts, how sure that is, and how much of the answers it foretells."""
        counts = [
            f"{feature} {weight:.2g} ({low:.2g} to {high:.2g})"
            for feature, weight, low, high in self.to_frame(confidence).iter_rows()
        ]
        return (
            f"d learned from {self.answers}: {'; '.join(counts)}. It predicts {self.agreement:.0%} of held-out answers; {self.by_chance:.0%} "
            "would be chance"
        )

    def __repr__(self) -> str:
        return f"LearnedDistance({len(self.features)} features, {self.n_individuals} individuals, {self.answers})"


@dataclass(frozen=True, eq=False)
class _Learned:
    """What the answers taught."""

    weights: Floats
    draws: Floats
    agreement: float
    by_chance: float
    unit: str
    notes: tuple[str, ...]


def learn_distance(
    individuals: Any,
    *,
    pairs: Sequence[Any] | None = None,
    triplets: Sequence[Any] | None = None,
    judges: ArrayLike | None = None,
    metric: Metric = "l1",
    exclude: Sequence[Any] = (),
    penalty: float = 0.1,
    n_draws: int = 200,
    row_ids: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> LearnedDistance:
    """Learn d from people's answers: which pairs are similar, or which of two is closer.

    Parameters
    ----------
    individuals : array-like or data frame, shape (m, p)
        Complete features: numbers, and categories where it is a frame.
    pairs : sequence of (left, right, similar), optional
        Ids of two individuals, and whether somebody called them similar. At d = 1 both answers are equally likely.
    triplets : sequence of (anchor, closer, farther), optional
        Ids of three individuals: the second was called closer to the first than the third. The mean of d is then 1.
    judges : array-like, shape (k,), optional
        Who gave each answer. From eight judges on, judges are drawn.
    metric : {"l1", "mahalanobis"}, default "l1"
        ``sum_j w_j |x_j - y_j|`` with w >= 0: p weights. Or ``sqrt((x - y)^T M (x - y))`` with M positive semidefinite, of numbers only:
        p (p + 1) / 2 of them.
    exclude : sequence, optional
        Columns that must not count, such as protected attributes.
    penalty : float, default 0.1
        > 0; pulls the weights of features that answers do not tell apart towards each other.
    n_draws : int, default 200
        Bootstrap draws of the answers, for intervals.
    row_ids : array-like, shape (m,), optional
        The ids that answers use; by default those of the frame, or 0, 1, 2...
    random_state : int, Generator or None, default 0

    Returns
    -------
    LearnedDistance
        For `likewise.audit`, as the individuals or as ``reference=``. With ``lipschitz=L`` the verdict says what the answers leave open; see
        `judge_learned`.

    Raises
    ------
    DistanceError
        Fewer than 20 answers, answers that contradict or are all the same, features that are missing or constant.
    ObservationError
        An unknown id.

    Notes
    -----
    Pairs: ``P(similar) = 1 / (1 + exp(s (d - 1)))``. Triplets: ``P(closer) = 1 / (1 + exp(s (d_closer - d_farther)))``; both with d^2 in place of d for
    ``"mahalanobis"``. Weights and the sharpness s are those of the largest penalised likelihood, and what is open is seen by a bootstrap.

    References
    ----------
    Ilvento, "Metric Learning for Individual Fairness", FORC 2020; Mukherjee, Yurochkin, Banerjee, Sun, "Two Simple Ways to Learn Individual Fairness
    Metrics from Data", ICML 2020; Schultz and Joachims, "Learning a Distance Metric from Relative Comparisons", NeurIPS 2003.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal(size=(50, 2))
    >>> asked = rng.integers(0, 50, (300, 2))
    >>> asked = asked[asked[:, 0] != asked[:, 1]]
    >>> apart = np.abs(people[asked[:, 0]] - people[asked[:, 1]]) @ [1.0, 0.0]
    >>> d = learn_distance(people, pairs=[(i, k, far < 1) for (i, k), far in zip(asked, apart)])
    >>> d.weights.round(1)                                # the second column does not count
    array([0.9, 0. ])
    """
    checked_name("metric", metric, ("l1", "mahalanobis"), DistanceError)
    checked_whole("n_draws", n_draws, least=20, most=100_000)
    checked_positive("penalty", penalty, error=DistanceError)
    if not isinstance(exclude, list | tuple) or not all(isinstance(name, str | int) for name in exclude):
        raise DistanceError(
            f"exclude of type {type(exclude).__name__}", "a list of names or positions of columns"
        )
    compared = ComparedFeatures.read(individuals, exclude)
    if metric == "mahalanobis" and len(compared.names) != compared.columns.shape[1]:
        raise DistanceError("categories for a Mahalanobis distance", "numbers, or metric='l1'")
    labels = row_labels(row_ids, individuals, len(compared.columns))
    known = np.arange(len(compared.columns)) if labels is None else labels
    answers = Answers.of(known, pairs, triplets, judges)
    # From here on the answers are rows of a logistic regression.
    problem = _Problem.of(compared, answers, metric, penalty)
    return LearnedDistance(compared, problem.learn(n_draws, generator_of(random_state)), answers, labels)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The regression that answers are, and how it is solved on some of them."""

    answers: Answers
    metric: Metric
    differences: list[Floats]
    signs: list[float]
    penalty: float
    typical: Floats
    """Differences of pairs of all individuals, which give triplets their unit."""

    @classmethod
    def of(cls, compared: ComparedFeatures, answers: Answers, metric: Metric, penalty: float) -> _Problem:
        # Drawn with a seed of their own, so that the unit of d does not depend on how answers are drawn.
        one, other = some_pairs(len(compared.columns), _TYPICAL, np.random.default_rng(0))

        def between(left: Indices, right: Indices) -> Floats:
            if metric == "l1":
                return compared.differences(left, right)
            apart: Floats = compared.columns[left] - compared.columns[right]
            return apart

        first, others = answers.individuals[:, 0], answers.individuals[:, 1:].T
        # A triplet says d(asked, closer) < d(asked, farther): a difference of two distances against a
        # threshold of 0.
        signs = [1.0] if answers.similar is not None else [1.0, -1.0]
        return cls(answers, metric, [between(first, k) for k in others], signs, penalty, between(one, other))

    def learn(self, n_draws: int, rng: np.random.Generator) -> _Learned:
        """Learn from all answers, from drawn ones, and from all but a fold, in turn."""
        weights = self._in_units(*self._fit(None))
        if weights is None:
            raise DistanceError(*self._why_nothing())
        drawn = [self._in_units(*self._fit_freely(self._draw(rng))) for _ in range(n_draws)]
        usable = [each for each in drawn if each is not None]
        # Where most draws teach nothing, so do the answers themselves, but for luck.
        if len(usable) < n_draws / 2:
            raise DistanceError(*self._why_nothing())
        agreement, by_chance = self._agreement(rng)
        lost = n_draws - len(usable)
        notes: tuple[str, ...] = (
            (f"{lost} of {n_draws} resamples of the answers gave no distance",) if lost else ()
        )
        if agreement <= by_chance:
            notes += ("the learned distance predicts held-out answers no better than chance",)
        unit = (
            "as likely called similar as not at d = 1"
            if self.answers.similar is not None
            else "two individuals are at d = 1 in the mean"
        )
        return _Learned(weights, np.array(usable), agreement, by_chance, unit, notes)

    def _fit_freely(self, counts: Floats) -> tuple[Floats, float]:
        """Fit without the constraint that makes a distance; see `fit_free`."""
        labels, intercept = self._labels()
        p = self.differences[0].shape[1]
        if self.metric == "l1":
            return fit_free(
                self._design(self.differences), labels, intercept, even_penalty(p, self.penalty), counts
            )
        design = self._design([products(delta) for delta in self.differences])
        upper, threshold = fit_free(design, labels, intercept, matrix_penalty(p, self.penalty), counts)
        return symmetric(upper, p), threshold

    def _labels(self) -> tuple[Floats, Floats]:
        """Return what is to be foretold, and where the threshold counts."""
        similar, k = self.answers.similar, self.answers.n
        if similar is None:
            return np.ones(k), np.zeros(k)
        return np.where(similar, 1.0, -1.0), np.ones(k)

    def _design(self, parts: list[Floats]) -> Floats:
        design: Floats = sum(sign * part for sign, part in zip(self.signs, parts, strict=True))  # type: ignore[assignment]
        return design

    def _fit(self, counts: Floats | None) -> tuple[Floats, float]:
        labels, intercept = self._labels()
        if self.metric == "mahalanobis":
            return fit_matrix(self.differences, self.signs, labels, intercept, self.penalty, counts)
        return fit_weights(self._design(self.differences), labels, intercept, self.penalty, counts)

    def _in_units(self, weights: Floats, threshold: float) -> Floats | None:
        """Return weights in the unit of d; None where they name none."""
        # A pair as far as the threshold is as likely called similar as not: d = 1 there. Triplets have no
        # threshold, so the mean is the unit.
        if self.answers.similar is None:
            threshold = float(self._measured(weights, self.typical).mean())
            # M is of d^2.
            threshold = threshold**2 if self.metric == "mahalanobis" else threshold
        return weights / threshold if threshold > 0 and weights.any() else None

    def _measured(self, weights: Floats, differences: Floats) -> Floats:
        if weights.ndim == 1:
            measured: Floats = differences @ weights
            return measured
        return _lengths(differences, weights)

    def _draw(self, rng: np.random.Generator) -> Floats:
        """Return how often each answer counts where judges, or answers, are drawn with replacement."""
        judges = self.answers.judges
        words = None if judges is None else [str(judge) for judge in judges.tolist()]
        names, labels = (np.array([]), None) if words is None else np.unique(words, return_inverse=True)
        if labels is None or names.size < MANY_JUDGES:
            return np.bincount(
                rng.integers(0, self.answers.n, self.answers.n), minlength=self.answers.n
            ).astype(float)
        # All answers of a judge come or go together: they are not independent draws, but judges are.
        times = np.bincount(rng.integers(0, names.size, names.size), minlength=names.size)
        return times[labels].astype(float)

    def _agreement(self, rng: np.random.Generator) -> tuple[float, float]:
        """Return the share of held-out answers that are foretold, and the share by chance."""
        folds = rng.permutation(self.answers.n) % _FOLDS
        right = np.zeros(self.answers.n, dtype=bool)
        for fold in range(_FOLDS):
            held = folds == fold
            # A fold from which nothing is learned counts as foretold wrongly.
            weights = self._in_units(*self._fit((~held).astype(float)))
            if weights is None:
                continue
            sizes = [self._measured(weights, delta[held]) for delta in self.differences]
            similar = self.answers.similar
            right[held] = sizes[0] < sizes[1] if similar is None else (sizes[0] < 1) == similar[held]
        share = 0.5 if self.answers.similar is None else float(self.answers.similar.mean())
        return float(right.mean()), max(share, 1 - share)

    def _why_nothing(self) -> tuple[str, str, str]:
        given = f"{self.answers.in_words()} from which no distance can be learned"
        hint = "are yes and no, or closer and farther, exchanged?"
        return given, "answers in which those who differ more are called similar less often", hint


def some_pairs(m: int, n_pairs: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Return all pairs of m individuals, or as many drawn ones."""
    if m * (m - 1) // 2 <= n_pairs:
        return np.triu_indices(m, 1)
    one = rng.integers(0, m, n_pairs)
    return one, (one + rng.integers(1, m, n_pairs)) % m


def _lengths(differences: Floats, matrix: Floats) -> Floats:
    """Return ``sqrt(delta^T M delta)`` of each row."""
    lengths: Floats = np.sqrt(np.einsum("ki,ki->k", differences @ matrix, differences).clip(min=0))
    return lengths


def embedded(compared: ComparedFeatures, weights: Floats) -> Floats:
    """Return rows between which the l1, or l2, distance is the learned one.

    >>> compared = ComparedFeatures.read(np.array([[0.0, 0.0], [2.0, 2.0]]))  # each has the standard deviation 1
    >>> embedded(compared, np.array([3.0, 0.5]))
    array([[0., 0.],
           [6., 1.]])
    """
    if weights.ndim == 1:
        weighted: Floats = compared.columns * weights[compared.owner]
        return weighted
    # M = V diag(s) V^T, so delta^T M delta = ||diag(sqrt s) V^T delta||^2.
    values, vectors = np.linalg.eigh(weights)
    rotated: Floats = compared.columns @ (vectors * np.sqrt(values.clip(min=0)))
    return rotated
