"""The iteration of Cai, Candès and Shen (2010) for completion that reproduces the observations, as a pure function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import CompressedRows, sampled_entries
from likewise._kernels.backend import one_blas_thread
from likewise._typing import AnyFloats
from likewise.arrays import checked_sparse
from likewise.checks import checked_positive, checked_whole
from likewise.errors import InputError
from likewise.estimation.base.estimator import (
    MatrixEstimator,
    warn_unless_converged,
)
from likewise.estimation.base.folding import RidgeFolding
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.preparation import Centering, prepare
from likewise.estimation.nuclear_norm.problem import ROUNDED, Stall, note_on_rounding
from likewise.estimation.nuclear_norm.soft_impute import largest_singular_value
from likewise.observations import ObservedMatrix
from likewise.observations.table import Values
from likewise.observations.value_range import RangeChoice, WorkingRange
from likewise.randomness import generator_of
from likewise.spectrum import singular_triplets
from likewise.spectrum.operators import SparseRows
from likewise.spectrum.orthonormal import continue_triplets, first_subspace, with_room

_HEADROOM = 0.9
"""Of the tolerance, at which the steps end: the proof decomposes the last Y more exactly than they did."""
_LARGEST = float(np.finfo(np.float64).max) ** 0.25
"""Of Y, of whose size the decomposition takes the fourth power."""
_SAFE = 1.9
"""A step for which convergence is proved (below 2): longer ones are halved down to it where the residual rises."""


@dataclass(frozen=True, eq=False)
class CaiCandesShenFit:
    """The completed matrix ``X = D_tau(Y)``, and how well it reproduces the observations.

    Parameters
    ----------
    left : ndarray, shape (m, r)
        Orthonormal.
    values : ndarray, shape (r,)
        Singular values of X, decreasing, above 0.
    right : ndarray, shape (n, r)
        Orthonormal.
    threshold : float
        tau.
    step : float
        delta in the end.
    residual : float
        ``||P_Omega(Z - X)||_F / ||P_Omega(Z)||_F``.
    slack : float
        ``||P_Omega(Z - X)||_F / ||Y||_F``: by how much folding should give way to reproduce rows as the fit does.
    converged : bool
    n_iter : int
    """

    left: AnyFloats
    values: AnyFloats
    right: AnyFloats
    threshold: float
    step: float
    residual: float
    slack: float
    converged: bool
    n_iter: int


def cai_candes_shen(
    values: Values,
    threshold: float | None = None,
    *,
    step: float | None = None,
    tol: float = 1e-3,
    max_iter: int = 500,
    random_state: int | np.random.Generator | None = None,
) -> CaiCandesShenFit:
    """Find the matrix of least ``tau ||X||_* + 1/2 ||X||_F^2`` that agrees with the observations.

    ``X = D_tau(Y)``, singular values of Y lowered by tau; ``Y += delta P_Omega(Z - X)``; from ``Y = k0 delta P_Omega(Z)``, the last
    multiple of the first step for which X is still 0. Y is sparse; its triplets are continued from step to step, and the last ones
    are computed anew with proof that none above tau is missing.

    Parameters
    ----------
    values : csr_array, shape (m, n)
        Z on Omega: a stored entry is an observation.
    threshold : float, optional
        tau > 0; by default ``5 sqrt(m n)`` times the root mean square of the observations, large enough for X to be nearly that of least
        nuclear norm.
    step : float, optional
        delta at first; by default ``1.2 m n / |Omega|``, which its authors use. Below 2 convergence is proved, so a longer step is halved
        where the residual rises.
    tol : float
        Relative residual at which to stop. Noise of relative size e should not be reproduced: ``tol=e``.
    max_iter : int
        Steps after which the result is returned as it is.
    random_state : int, Generator or None
        For the first subspace.

    Returns
    -------
    CaiCandesShenFit

    Raises
    ------
    InputError
        If the step is so extreme that Y outgrows what can be computed.

    References
    ----------
    Cai, Candès, Shen, "A singular value thresholding algorithm for matrix completion", SIAM Journal on Optimization 20 (2010).

    Examples
    --------
    >>> from scipy import sparse
    >>> fit = cai_candes_shen(sparse.csr_array([[1.0, 2.0], [2.0, 4.0]]), random_state=0)
    >>> fit.converged, (fit.left * fit.values @ fit.right.T).round(2)
    (True, array([[1., 2.],
           [2., 4.]]))
    """
    m, n = checked_sparse(values).shape
    for name, number in (("threshold", threshold), ("step", step)):
        if number is not None:
            checked_positive(name, number, "None")
    checked_positive("tol", tol)
    checked_whole("max_iter", max_iter)
    energy = float(np.linalg.norm(values.data))
    if threshold is None:
        threshold = 5 * sqrt(m * n) * (energy / sqrt(values.nnz) or 1.0)
    step = 1.2 * m * n / values.nnz if step is None else step
    tall = m >= n
    with one_blas_thread():
        ascent = _Ascent(values if tall else values.T.tocsr(), threshold, step, generator_of(random_state))
        fit = ascent.run(tol, max_iter)
    return fit if tall else replace(fit, left=fit.right, right=fit.left)


class _Ascent:
    """Steps of the dual variable Y, which lives where something is observed, of a matrix at least as tall as wide."""

    def __init__(self, values: Values, threshold: float, step: float, rng: np.random.Generator) -> None:
        self.values, self.threshold, self.step = values, threshold, step
        self.rows = CompressedRows.from_csr(values, np.float64)
        self.energy = float(np.linalg.norm(values.data)) or 1.0
        largest = largest_singular_value(values) or 1.0
        self.first_step = step
        # For k < k0 = ceil(tau / (delta sigma_1)) X stays 0 and Y is k delta P(Z): these steps are taken at once.
        with np.errstate(all="ignore"):  # told by `_bounded`
            self.dual: NDArray[np.float64] = self._bounded(
                float(np.ceil(threshold / np.float64(step * largest))) * step * values.data
            )
        self.rng = rng
        self.subspace = first_subspace(values.shape[1], rng)

    def run(self, tol: float, max_iter: int) -> CaiCandesShenFit:
        """Step until X agrees with the observations."""
        done, residual, look_at, stall = 0, 1.0, 0, Stall()
        while done < max_iter:
            done, before = done + 1, residual
            error = self.values.data - self._continued()
            residual = float(np.linalg.norm(error)) / self.energy
            # Nothing moves any more, and what is left is rounding: a smaller tolerance cannot be met.
            if stall.after(residual) and residual <= ROUNDED:
                return self._proved(max(tol, ROUNDED), done)
            if residual > before and self.step > _SAFE:
                self.step = max(self.step / 2, _SAFE)
            if residual <= _HEADROOM * tol and done >= look_at:
                fit = self._proved(tol, done)
                if fit.converged:
                    return fit
                # The subspace had lagged behind Y.
                self.subspace, look_at = (
                    with_room(fit.right, fit.values.size, self.rng),
                    done + 1 + done // 10,
                )
            self.dual = self._bounded(self.dual + self.step * error)
        return self._proved(tol, done)

    def _bounded(self, dual: NDArray[np.float64]) -> NDArray[np.float64]:
        if np.abs(dual).max() < _LARGEST:
            return dual
        raise InputError(
            f"step is {self.first_step:g}, with which Y outgrows what can be computed",
            "a step about 1: below 2 convergence is proved",
        )

    def _continued(self) -> AnyFloats:
        """X on Omega, from the subspace that the last step left."""
        triplets = continue_triplets(SparseRows(self.rows.with_values(self.dual)), self.subspace)
        lowered = np.maximum(triplets.values - self.threshold, 0.0)
        rank = int(np.count_nonzero(lowered))
        self.subspace = with_room(triplets.right, rank, self.rng)
        left, right = triplets.left[:, :rank] * lowered[:rank], triplets.right[:, :rank]
        return sampled_entries(self.values, left, right)

    def _proved(self, tol: float, n_iter: int) -> CaiCandesShenFit:
        """Decompose the last Y with proof, and measure what it leaves."""
        operator = SparseRows(self.rows.with_values(self.dual), energy=float(self.dual @ self.dual))
        found = singular_triplets(operator, above=self.threshold, start=self.subspace, random_state=self.rng)
        # Nothing above tau is missing, so this is D_tau(Y) itself.
        lowered = np.asarray(found.values - self.threshold)
        left, right = np.asarray(found.left, np.float64), np.asarray(found.right, np.float64)
        error = self.values.data - sampled_entries(self.values, left * lowered, right)
        left_over = float(np.linalg.norm(error))
        return CaiCandesShenFit(
            left=left,
            values=lowered,
            right=right,
            threshold=self.threshold,
            step=self.step,
            residual=left_over / self.energy,
            slack=left_over / (float(np.linalg.norm(self.dual)) or 1.0),
            converged=left_over <= tol * self.energy,
            n_iter=n_iter,
        )


_SMALLEST_SLACK = 1e-9
"""The row of least penalty that agrees with the observations is the limit at 0; below this rounding takes over."""


class CaiCandesShen(MatrixEstimator):
    """Complete a sparse matrix by one of small nuclear norm that reproduces what was observed.

    For observations without noise, of a matrix of low rank. Noise would be reproduced too, at a high rank and at length: raise `tol`
    to its relative size, or take `SoftImpute`. There are no propensities: weights of errors do not matter where there are to be none.

    Parameters
    ----------
    threshold : float or None, default None
        tau > 0, on the method's working range; by default ``5 sqrt(m n)`` times the root mean square of the centred observations.
    step : float or None, default None
        delta > 0; by default ``1.2 m n / |Omega|``.
    tol : float, default 1e-3
        Relative residual on what was observed at which to stop.
    max_iter : int, default 500
        Steps after which the result is kept as it is, with a warning.
    centering : {"none", "global", "row", "column", "biases"}, default "none"
        As in `SVT`.
    value_range : (low, high), "per-column" or None, default None
        As in `SVT`.
    working_range : {"symmetric", "unit"}, default "symmetric"
        As in `SVT`.
    random_state : int, Generator or None, default None
        For the first subspace.

    Attributes
    ----------
    threshold_ : float
        tau.
    residual_ : float
        Relative residual on what was observed.
    estimate_, observed_, rank_, singular_values_, converged_, n_iter_, notes_, n_features_in_
        As in `MatrixEstimator`.

    References
    ----------
    See `cai_candes_shen`.

    Examples
    --------
    >>> Z = np.array([[5.0, 5.0, 1.0], [5.0, np.nan, 1.0], [1.0, 1.0, 5.0]])
    >>> CaiCandesShen(value_range=(1, 5), random_state=0).fit_transform(Z).round(1)
    array([[5., 5., 1.],
           [5., 5., 1.],
           [1., 1., 5.]])
    """

    no_budget: ClassVar[str] = RidgeFolding.not_linear
    refused: ClassVar[dict[str, str]] = {
        "propensities": "an estimator that has errors to weigh, such as soft-impute: what reproduces every observation does so whatever it weighs"
    }

    def __init__(
        self,
        threshold: float | None = None,
        step: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 500,
        centering: Centering = "none",
        value_range: RangeChoice = None,
        working_range: WorkingRange = "symmetric",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.threshold = threshold
        self.step = step
        self.tol = tol
        self.max_iter = max_iter
        self.centering = centering
        self.value_range = value_range
        self.working_range = working_range
        self.random_state = random_state

    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        prepared = prepare(observed, self.working_range, self.centering)
        fit = cai_candes_shen(
            prepared.matrix,
            None if self.threshold is None else checked_positive("threshold", self.threshold, "None"),
            step=None if self.step is None else checked_positive("step", self.step, "None"),
            tol=checked_positive("tol", self.tol),
            max_iter=checked_whole("max_iter", self.max_iter),
            random_state=self.random_state,
        )
        self.threshold_, self.residual_ = fit.threshold, fit.residual
        self.converged_, self.n_iter_ = fit.converged, fit.n_iter
        state = f"the observations are reproduced up to {fit.residual:.2g} of their size"
        self.notes_ = (
            *prepared.notes,
            *(note_on_rounding(self.tol, fit.residual, fit.n_iter) if fit.converged else ()),
            *warn_unless_converged(fit.converged, fit.n_iter, "step", state),
        )
        # Y V = c (1 + tau / s) for the coefficients c of a row. Errors of `slack` times Y make that the normal equations of a ridge regression.
        penalties = np.asarray(max(fit.slack, _SMALLEST_SLACK) * (1 + fit.threshold / fit.values))
        folding = RidgeFolding(prepared.centre.row_penalty, penalties=penalties)
        factors = (fit.left, fit.values, fit.right)
        return LowRankEstimate.from_factors(observed, self.working_range, factors, folding, prepared.centre)
