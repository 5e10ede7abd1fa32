"""Penalised logistic regression of answers on differences, under the constraint that makes the result a distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from likewise._typing import Floats

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
