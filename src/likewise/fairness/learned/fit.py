"""What answers teach: penalised logistic regression on differences, under the constraint that makes the result a distance.

First how it is asked, with its unit, its draws and its test on answers held out; then how each problem is solved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from likewise._typing import Floats, Indices
from likewise.errors import DistanceError
from likewise.fairness.learned.answers import Answers
from likewise.fairness.learned.features import ComparedFeatures

Metric = Literal["l1", "mahalanobis"]

MANY_JUDGES = 8
"""From so many judges on they are drawn, not their answers: answers of one judge go together."""

_FOLDS = 5
_TYPICAL = 100_000
"""Pairs whose mean distance is the unit where answers name none."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What the answers taught."""

    weights: Floats
    draws: Floats
    agreement: float
    by_chance: float
    unit: str
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AnswerRegression:
    """The regression that answers are, and how it is solved on some of them."""

    answers: Answers
    metric: Metric
    differences: list[Floats]
    signs: list[float]
    penalty: float
    typical: Floats
    """Differences of pairs of all individuals, which give triplets their unit."""

    @classmethod
    def of(
        cls, compared: ComparedFeatures, answers: Answers, metric: Metric, penalty: float
    ) -> AnswerRegression:
        """Take what was asked as differences between those who were compared."""
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

    def learn(self, n_draws: int, rng: np.random.Generator) -> Learned:
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
        return Learned(weights, np.array(usable), agreement, by_chance, unit, notes)

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
        return lengths(differences, weights)

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


def lengths(differences: Floats, matrix: Floats) -> Floats:
    """Return ``sqrt(delta^T M delta)`` of each row."""
    lengths: Floats = np.sqrt(np.einsum("ki,ki->k", differences @ matrix, differences).clip(min=0))
    return lengths


RIDGE = 0.01
"""Part of the penalty that falls on all weights alike, and on the threshold; it keeps them finite where answers contradict nothing."""

_MOST_STEPS, _SETTLED, _SMALLEST_STEP = 100, 1e-11, 1e-9


def fit_weights(
    design: Floats, labels: Floats, intercept: Floats, penalty: float, counts: Floats | None = None
) -> tuple[Floats, float]:
    """Minimise ``sum_k c_k log(1 + exp(-y_k (b t_k - x_k w))) + penalty / 2 (sum_j (w_j - mean w)^2 + 0.01 sum_j w_j^2)`` over w >= 0 and b.

    Beside it ``0.01 penalty b^2 / 2``, as in `fit_free`. `design`, shape (k, p), has what differs by feature, x_k; `labels` y_k are 1 or -1;
    `intercept` t_k is 1 for a pair, 0 for a triplet; `counts` c_k say how often each answer counts, as a bootstrap draws them. The penalty
    pulls the weights towards each other: what answers do not tell apart counts alike. Returns w, shape (p,), and b.

    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> weights, threshold = fit_weights(x, np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4), 1.0)
    >>> print(round(threshold / weights[0], 2))
    1.5
    """
    p = design.shape[1]
    counts = np.ones(len(design)) if counts is None else counts
    return _newton(design, labels, intercept, even_penalty(p, penalty), counts, at_least=0.0)


def fit_free(
    design: Floats, labels: Floats, intercept: Floats, quadratic: Floats, counts: Floats
) -> tuple[Floats, float]:
    """Minimise ``sum_k c_k log(1 + exp(-y_k (b t_k - x_k w))) + w^T Q w / 2 + 0.01 (tr Q / p) b^2 / 2`` without a constraint, by Newton steps.

    This is what draws of the answers are fitted by: where a weight is at its limit of 0, constrained draws all err to one side, and their
    intervals miss the truth more often than they say. Arguments are as in `fit_weights`; `quadratic` is Q, (p, p), positive definite.
    """
    return _newton(design, labels, intercept, quadratic, counts, at_least=-np.inf)


def _newton(
    design: Floats, labels: Floats, intercept: Floats, quadratic: Floats, counts: Floats, at_least: float
) -> tuple[Floats, float]:
    """Take Newton steps among the weights that are not held at their least value, cut off there (Bertsekas 1982)."""
    p = design.shape[1]
    # Rows y_k (-x_k, t_k), so that a row times (w, b) is the margin, and the loss log(1 + exp(-margin)).
    full = np.column_stack([-design, intercept]) * labels[:, None]
    penalty = np.zeros((p + 1, p + 1))
    penalty[:p, :p], penalty[p, p] = quadratic, RIDGE * np.trace(quadratic) / p
    least = np.append(np.full(p, at_least), -np.inf)

    def cost(parameters: Floats) -> float:
        losses = np.logaddexp(0, -(full @ parameters))
        return float(counts @ losses + parameters @ penalty @ parameters / 2)

    found, here = np.zeros(p + 1), cost(np.zeros(p + 1))
    for _ in range(_MOST_STEPS):
        # The chance that the answer is the other one: the loss has slope -chance and curvature chance (1 -
        # chance).
        chance = expit(-(full @ found))
        gradient = penalty @ found - full.T @ (counts * chance)
        curvature = penalty + (full * (counts * chance * (1 - chance))[:, None]).T @ full
        # A weight that is at its least and would fall further stays there. Newton's step is among the
        # others alone: cut off afterwards, a step among all could lead uphill.
        free = ~((found <= least) & (gradient > 0))
        step = np.zeros(p + 1)
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        size = 1.0
        # Where the step is cut off or too long the cost may not fall: halve it until it does.
        while (
            reached := cost(moved := np.maximum(found - size * step, least))
        ) > here and size > _SMALLEST_STEP:
            size /= 2
        if here - reached < _SETTLED:
            break
        found, here = moved, reached
    return found[:p], float(found[p])


def even_penalty(p: int, penalty: float) -> Floats:
    """Return Q of `fit_weights`' penalty on weights: ``penalty (I - 1 1^T / p + 0.01 I)``."""
    even: Floats = penalty * ((1 + RIDGE) * np.eye(p) - np.full((p, p), 1 / p))
    return even


def products(differences: Floats) -> Floats:
    """Return the products of which ``delta^T M delta`` is the sum, weighted by the upper triangle of M, shape (k, p (p + 1) / 2).

    >>> products(np.array([[2.0, 3.0]]))
    array([[ 4., 12.,  9.]])
    """
    i, j = np.triu_indices(differences.shape[1])
    twice: Floats = np.where(i == j, 1.0, 2.0) * differences[:, i] * differences[:, j]
    return twice


def matrix_penalty(p: int, penalty: float) -> Floats:
    """Return Q of `fit_matrix`' penalty, on the upper triangle of M."""
    i, j = np.triu_indices(p)
    on = (i == j).astype(np.float64)
    # Of ||M||_F^2 an entry beside the diagonal is counted twice; ||M - tr(M) / p I||_F^2 lacks tr(M)^2 / p.
    even: Floats = penalty * (np.diag((1 + RIDGE) * (2 - on)) - np.outer(on, on) / p)
    return even


def symmetric(upper: Floats, p: int) -> Floats:
    """Return the symmetric matrix that has this upper triangle."""
    matrix = np.zeros((p, p))
    matrix[np.triu_indices(p)] = upper
    matrix += np.triu(matrix, 1).T
    return matrix


def fit_matrix(
    differences: list[Floats],
    signs: list[float],
    labels: Floats,
    intercept: Floats,
    penalty: float,
    counts: Floats | None = None,
) -> tuple[Floats, float]:
    """Minimise the same for ``x_k w = sum_s sign_s delta_ks^T M delta_ks`` over positive semidefinite M, shape (p, p), by its factor.

    `differences` has one delta for a pair, two for a triplet: to the closer and to the farther one; `signs` say how each enters. The penalty is
    ``||M - tr(M) / p I||_F^2 + 0.01 ||M||_F^2``. Returns M and b. The problem is convex in M; a full factor ``M = R R^T`` adds no local
    minimum that is none of M (Burer and Monteiro).
    """
    p = differences[0].shape[1]
    # The same 0.01 tr Q / p on the threshold as in `fit_free`, whose p is the p (p + 1) / 2 entries of M.
    bias = RIDGE * float(np.trace(matrix_penalty(p, penalty))) * 2 / (p * (p + 1))

    def cost(parameters: Floats) -> tuple[float, Floats]:
        root = parameters[:-1].reshape(p, p)
        matrix = root @ root.T
        sizes = [np.einsum("ki,ki->k", delta @ matrix, delta) for delta in differences]
        measured: Floats = sum(sign * size for sign, size in zip(signs, sizes, strict=True))
        b = float(parameters[-1])
        value, slopes = _logistic(measured, b, labels, intercept, counts)
        gradient = sum(
            sign * (delta.T * slopes[0]) @ delta for sign, delta in zip(signs, differences, strict=True)
        )
        spread = matrix - np.trace(matrix) / p * np.eye(p)
        value += penalty / 2 * float((spread**2).sum() + RIDGE * (matrix**2).sum()) + bias * b**2 / 2
        gradient = gradient + penalty * (spread + RIDGE * matrix)
        # By the chain rule: M = R R^T moves by dR R^T + R dR^T, and the gradient in M is symmetric.
        return value, np.append((2 * gradient @ root).ravel(), slopes[1] + bias * b)

    # Not at 0, where the gradient in R vanishes whatever the answers say.
    start = np.append(np.eye(p).ravel() / np.sqrt(p), 1.0)
    options: Any = {"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-9}
    found = np.asarray(
        minimize(cost, start, jac=True, method="L-BFGS-B", options=options).x, dtype=np.float64
    )
    root = found[:-1].reshape(p, p)
    return root @ root.T, float(found[-1])


def _logistic(
    measured: Floats, threshold: float, labels: Floats, intercept: Floats, counts: Floats | None
) -> tuple[float, tuple[Floats, float]]:
    """Return the loss of ``b t - x w``, its slopes in ``x w``, and its slope in b."""
    margins = labels * (threshold * intercept - measured)
    losses, pulls = np.logaddexp(0, -margins), -labels * expit(-margins)
    if counts is not None:
        losses, pulls = losses * counts, pulls * counts
    return float(losses.sum()), (-pulls, float(pulls @ intercept))
