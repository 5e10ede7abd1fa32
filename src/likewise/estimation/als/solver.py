"""Alternating least squares with biases, its regularisation given or estimated, as a pure function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from likewise._kernels.threads import one_blas_thread
from likewise._typing import Floats
from likewise.arrays import checked_sparse
from likewise.checks import checked_callable, checked_flag, checked_instance, checked_positive, checked_whole
from likewise.estimation.als.descent import Descent, FactorFit, Limits, Sides
from likewise.estimation.als.variational import EstimatedDescent
from likewise.estimation.base.factor_update import Prior
from likewise.estimation.base.normal_equations import packed_size
from likewise.estimation.base.weighting import checked_weights
from likewise.memory import ensure_fits
from likewise.observations.table import Values
from likewise.randomness import generator_of

Regularization = float | Literal["estimated"]


def alternating_least_squares(
    values: Values,
    rank: int,
    *,
    regularization: Regularization = "estimated",
    noise: float | None = None,
    by_count: bool = False,
    weights: Floats | None = None,
    tol: float = 1e-4,
    max_iter: int = 100,
    random_state: int | np.random.Generator | None = None,
    start: FactorFit | None = None,
    stop: Callable[[], bool] | None = None,
) -> FactorFit:
    """Fit ``centre + u_i^T v_j + a_i + b_j`` to observations, the rows and the columns in turn.

    With a number lambda this minimises ``1/2 sum w (z - estimate)^2 + lambda/2 (sum |u|^2 + a^2 + sum |v|^2 + b^2)``. With
    ``"estimated"`` each vector is normal about 0 with a covariance that is common to its side, and so is the noise; covariances and
    noise maximise a lower bound of the likelihood (variational Bayes), in which each regression takes into account how uncertain the
    factors are that it regresses on. So nothing has to be tuned: a vector with few observations is drawn towards 0 as far as the
    others say, a component that is not needed is switched off, and dropped.

    Parameters
    ----------
    values : csr_array, shape (m, n)
        A stored entry is an observation.
    rank : int
        Length of u and v.
    regularization : float or "estimated"
        lambda > 0 in observations, or estimated.
    noise : float, optional
        Share of the variance of the observations, above 0, that is noise; estimated by default. Where observations are few for the rank,
        the estimate takes weak components for noise, and a smaller share finds them; a larger one draws vectors more towards 0. It has a
        meaning only where the regularisation is estimated.
    by_count : bool
        Multiply a given lambda by the number of observations of the vector (Zhou et al. 2008).
    weights : ndarray, shape (n_observed,), optional
        >= 0: an observation of weight 2 counts as two. Inverse propensities should be scaled to a mean of 1.
    tol : float
        Relative decrease of the objective from sweep to sweep, below which it has converged.
    max_iter : int
        Sweeps after which the result is returned as it is.
    random_state : int, Generator or None
        For the first columns.
    start : FactorFit, optional
        Begin with the factors of this fit, to similar observations in the same places of the matrix, and stay near them.
    stop : callable, optional
        Asked before each sweep but the first; once it returns True, the result is returned as it is.

    Returns
    -------
    FactorFit

    Raises
    ------
    InputError
        Weights that are negative or not finite, or all 0; a lambda or noise that rounding swallows.
    ShapeError
        Not one weight for each observation.
    MemoryLimitError
        If the factors and their second moments do not fit.

    References
    ----------
    Koren, Bell, Volinsky, "Matrix factorization techniques for recommender systems", Computer 42 (2009); Zhou, Wilkinson,
    Schreiber, Pan, "Large-scale parallel collaborative filtering for the Netflix Prize", AAIM (2008); Lim, Teh, "Variational
    Bayesian approach to movie rating prediction", KDD Cup and Workshop (2007); Salakhutdinov, Mnih, "Bayesian probabilistic
    matrix factorization using Markov chain Monte Carlo", ICML (2008), for the covariances.

    Examples
    --------
    >>> from scipy import sparse
    >>> seen = sparse.csr_array(np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0]))
    >>> fit = alternating_least_squares(seen, 1, regularization=1e-3, random_state=0)
    >>> row, column = fit.rows.means[2], fit.columns.means[1]
    >>> estimate = fit.centre + row[0] * column[0] + row[1] + column[1]
    >>> round(float(estimate), 1)
    -3.0
    """
    m, n = checked_sparse(values).shape
    checked_whole("rank", rank)
    checked_positive("tol", tol)
    checked_whole("max_iter", max_iter)
    checked_flag("by_count", by_count)
    checked_callable("stop", stop)
    if not (isinstance(regularization, str) and regularization == "estimated"):
        checked_positive("regularization", regularization, "'estimated'")
    if noise is not None:
        checked_positive("noise", noise, "None")
    if start is not None:
        checked_instance("start", start, FactorFit, "a FactorFit, or None")
    ensure_fits(
        bytes_of_fit((m, n), values.nnz, rank),
        f"factors of rank {rank} of {m:,} x {n:,} entries with their second moments",
        "take a smaller rank",
    )
    sides = Sides.of(values, checked_weights(weights, values), rank)
    limits = Limits(tol, max_iter, stop or (lambda: False))
    with one_blas_thread():
        if isinstance(regularization, str):
            return EstimatedDescent(sides, limits, rank, noise).run(generator_of(random_state), start)
        prior = Prior(regularization * np.eye(rank + 1), by_count=by_count)
        return Descent(sides, limits, prior).run(generator_of(random_state), start)


def bytes_of_fit(shape: tuple[int, int], n_observed: int, rank: int) -> float:
    """How much memory a fit takes at most: two generations of factors, observations by rows and by columns, blocks of equations."""
    d = rank + 1
    vector, longest = 8 * (packed_size(d) + d), max(shape)
    blocks = 6 * min(64 << 20, vector * longest)
    return vector * (2 * sum(shape) + longest) + 120 * n_observed + blocks
