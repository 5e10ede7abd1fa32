"""The iteration of Cai, Candès and Shen (2010) for completion that reproduces the observations, as a pure function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import CompressedRows, sampled_entries
from likewise.errors import InputError
from likewise.estimation.regularization_path import largest_singular_value
from likewise.observations.table import Values
from likewise.spectrum import singular_triplets
from likewise.spectrum.continuation import continue_triplets, first_subspace, with_room
from likewise.spectrum.operators import SparseRows
from likewise.spectrum.result import Floats
from likewise.spectrum.slabs import one_blas_thread

_HEADROOM = 0.9
"""Of the tolerance, at which the steps end: the proof decomposes the last Y more exactly than they did."""
_LARGEST = float(np.finfo(np.float64).max) ** 0.25
"""Of Y, of whose size the decomposition takes the fourth power."""
_SAFE = 1.9
"""A step for which convergence is proved (below 2): longer ones are halved down to it where the residual rises."""


@dataclass(frozen=True, eq=False)
class CaiCandesShenFit:
    """``X = D_tau(Y)``, and how well it reproduces the observations.

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

    left: Floats
    values: Floats
    right: Floats
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
    m, n = values.shape
    energy = float(np.linalg.norm(values.data))
    if threshold is None:
        threshold = 5 * sqrt(m * n) * (energy / sqrt(values.nnz) or 1.0)
    step = 1.2 * m * n / values.nnz if step is None else step
    tall = m >= n
    with one_blas_thread():
        ascent = _Ascent(
            values if tall else values.T.tocsr(), threshold, step, np.random.default_rng(random_state)
        )
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
        with np.errstate(all="ignore"):  # told by `_bounded`
            self.dual: NDArray[np.float64] = self._bounded(
                float(np.ceil(threshold / np.float64(step * largest))) * step * values.data
            )
        self.rng = rng
        self.subspace = first_subspace(values.shape[1], rng)

    def run(self, tol: float, max_iter: int) -> CaiCandesShenFit:
        """Step until X agrees with the observations."""
        done, residual, look_at = 0, 1.0, 0
        while done < max_iter:
            done, before = done + 1, residual
            error = self.values.data - self._continued()
            residual = float(np.linalg.norm(error)) / self.energy
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

    def _continued(self) -> Floats:
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
