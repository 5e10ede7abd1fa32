"""The distance that answers teach, with what they leave open of it; and whether D <= L d, with that carried into the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats, Indices
from likewise.checks import (
    checked_confidence,
    checked_instance,
    checked_name,
    checked_positive,
    checked_share,
    checked_whole,
)
from likewise.errors import DistanceError, ShapeError
from likewise.fairness.distances.distance import DistanceDescription, PairwiseDistance
from likewise.fairness.distances.rows import RowDistance
from likewise.fairness.learned.answers import Answers
from likewise.fairness.learned.features import ComparedFeatures
from likewise.fairness.learned.fit import AnswerRegression, Learned, Metric, lengths, some_pairs
from likewise.fairness.metrics.metric_value import SampledValue
from likewise.fairness.sampled.sampling import DATA_SET
from likewise.fairness.verdicts import Status, Verdict
from likewise.observations.index_alignment import row_labels
from likewise.randomness import generator_of


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
        self, compared: ComparedFeatures, learned: Learned, answers: Answers, row_ids: ArrayLike | None
    ) -> None:
        checked_instance("compared", compared, ComparedFeatures, "what learn_distance compared")
        checked_instance("learned", learned, Learned, "what learn_distance learned")
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
        return lengths(delta, weights)

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
    problem = AnswerRegression.of(compared, answers, metric, penalty)
    return LearnedDistance(compared, problem.learn(n_draws, generator_of(random_state)), answers, labels)


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


METHOD = "bootstrap of the answers"


def violating_share(
    outputs: PairwiseDistance,
    learned: LearnedDistance,
    lipschitz: float,
    *,
    confidence: float = 0.95,
    n_pairs: int = 100_000,
    random_state: int | np.random.Generator | None = 0,
) -> SampledValue:
    """Return the share of pairs with D > L d, and between what it lies given what the answers leave open of d.

    Parameters
    ----------
    outputs : PairwiseDistance
        D between the same individuals.
    learned : LearnedDistance
        d.
    lipschitz : float
        L > 0.
    confidence : float, default 0.95
    n_pairs : int, default 100000
        Of more pairs so many are drawn.
    random_state : int, Generator or None, default 0
        For the drawn pairs.

    Returns
    -------
    SampledValue
        The interval is of the bootstrap over the answers; what drawing pairs adds, at most a third of a percent, is not in it.

    Raises
    ------
    ShapeError
        Other individuals.
    InputError
        L or the confidence out of range.
    """
    checked_positive("lipschitz", lipschitz)
    tail = (1 - checked_confidence(confidence)) / 2
    checked_whole("n_pairs", n_pairs, least=1)
    checked_instance(
        "learned", learned, LearnedDistance, "a LearnedDistance", "learn_distance(...) makes one"
    )
    checked_instance("outputs", outputs, PairwiseDistance, "a PairwiseDistance")
    if outputs.n_individuals != learned.n_individuals:
        raise ShapeError(f"outputs of {outputs.n_individuals} individuals", f"{learned.n_individuals}, as d")
    left, right = some_pairs(learned.n_individuals, n_pairs, generator_of(random_state))
    apart = outputs.between(left, right)

    def share(distances: Floats) -> float:
        with np.errstate(over="ignore"):  # an infinite allowance is one, too
            return float((apart > lipschitz * distances).mean())

    shares = [share(learned.drawn(draw, left, right)) for draw in range(len(learned.draws))]
    low, high = np.quantile(shares, [tail, 1 - tail])
    value = share(learned.between(left, right))
    # The fit is constrained, the draws are not: their quantiles need not hold its share, so the interval is
    # widened to it.
    return SampledValue(
        value, min(float(low), value), max(float(high), value), confidence, DATA_SET, METHOD, left.size
    )


def judge_learned(
    share: SampledValue, learned: LearnedDistance, lipschitz: float, *, tolerance: float = 0.0
) -> Verdict:
    """Judge by the interval of the share of violating pairs.

    Parameters
    ----------
    share : SampledValue
        From `violating_share`.
    learned : LearnedDistance
    lipschitz : float
        L > 0.
    tolerance : float, default 0
        Share of the pairs that may violate, in [0, 1).

    Returns
    -------
    Verdict
        ``"holds"`` where the whole interval is within the tolerance, ``"violated"`` where none of it is, else ``"inconclusive"``.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> from likewise.fairness.learned import learn_distance
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal(size=(30, 2))
    >>> asked = [(i, k) for i in range(30) for k in range(i)]
    >>> apart = {(i, k): abs(people[i, 0] - people[k, 0]) for i, k in asked}
    >>> d = learn_distance(people, pairs=[(i, k, apart[i, k] < 1) for i, k in asked])
    >>> D = RowDistance(people[:, 1])                       # scores by the column that nobody counted
    >>> judge_learned(violating_share(D, d, 1.0), d, 1.0).status
    'violated'
    """
    checked_positive("lipschitz", lipschitz)
    checked_share("tolerance", tolerance, zero=True)
    checked_instance("share", share, SampledValue, "a SampledValue", "violating_share(...) makes one")
    checked_instance(
        "learned", learned, LearnedDistance, "a LearnedDistance", "learn_distance(...) makes one"
    )
    status: Status = "inconclusive"
    if share.high <= tolerance:
        status = "holds"
    elif share.low > tolerance:
        status = "violated"
    reason = f"a share of {share.value:.4g} violates, from {share.low:.4g} to {share.high:.4g} by what {learned.answers} leave open of d"
    confidence = None if status == "inconclusive" else share.confidence
    return Verdict(status, lipschitz, tolerance, confidence, share.population, reason)
