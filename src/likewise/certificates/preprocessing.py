"""Certificates of an estimate: its constants K* and K2, and what Corollary 4.2 says of them.

The corollary bounds K2 for ``psi(x) = beta x`` by ``beta sqrt(mu_1 r m) / tau``, with the incoherence ``||E||_max <= sqrt(mu_1 r / (m n))`` of
``E = sum u v^T``. The step from K2 to it, ``||sum u v^T / sigma||_max <= ||E||_max / tau``, fails where entries of E cancel that the
weights 1/sigma pull apart. So the bound is handed out only where it was seen to be above K2.

The same assumption proves more, without that step: column k of E is ``U v_k``, and U keeps lengths, so ``||v_k|| = ||E_k|| <= sqrt(m) ||E||_max``
and ``K* <= max(psi(sigma)/sigma) sqrt(mu_1 r / n)``. That is never above the corollary, because ``tau < sigma_1 <= ||Z||_F <= sqrt(m n)``.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, sqrt
from typing import Any

import numpy as np

from likewise.certificates.certificate import Certificate, Unavailable
from likewise.certificates.constants import (
    LipschitzCertificates,
    above_row_constant,
    row_certificate,
    seen_certificate,
)
from likewise.certificates.filled import LARGEST_ROW, KindOfMap, certify_filled, certify_linear_mixture
from likewise.certificates.fitted_rows import RowsInMemory, fitted_rows, working_range_of
from likewise.certificates.operator_norm import upward
from likewise.certificates.regression import (
    RegressionCertificate,
    largest_reach,
    regression_certificate,
)
from likewise.certificates.row_map import LinearRowMap, RowMap
from likewise.checks import checked_non_negative
from likewise.errors import InputError, ShapeError, ThresholdError
from likewise.observations import ObservedMatrix, PartitionedMatrix

_RANK_ZERO = "rank 0: the estimate is constant"


def incoherence_constant(rows: RowMap, k_star: Certificate) -> Certificate | Unavailable:
    """Bound K* by the incoherence: ``max(psi(sigma)/sigma) sqrt(mu_1 r / n)``, for any psi and whatever the threshold."""
    name = "K* by strong incoherence"
    if rows.incoherence is None:
        return Unavailable(name, _RANK_ZERO)
    _, n, r = rows.shape
    value = rows.largest_gain * sqrt(rows.incoherence * r / n)
    steps = (
        f"mu_1 = {rows.incoherence:.4g}, measured: ||sum u v^T||_max = sqrt(mu_1 r / (m n))",
        "||P_k||_2 <= max(psi(sigma)/sigma) ||v_k||, and ||v_k|| = ||U v_k|| <= sqrt(m) ||sum u v^T||_max",
    )
    return above_row_constant(name, value, k_star, steps)


def corollary(
    name: str,
    rows: RowMap,
    k2: Certificate | Unavailable,
    threshold: float | None,
    incoherence: float | None,
) -> Certificate | Unavailable:
    """Give ``beta sqrt(mu_1 r m) / tau`` where it bounds K2.

    `threshold` is tau, the smallest kept singular value by default, ThresholdError where it is negative or not finite; `incoherence` is mu_1,
    None at rank 0.
    """
    _ensure_threshold(threshold)
    if incoherence is None or rows.gains.size == 0:
        return Unavailable(name, _RANK_ZERO)
    if not np.allclose(rows.gains, rows.gains[0], rtol=1e-9, atol=0):
        return Unavailable(name, "it needs psi(x) = beta x")
    smallest = float(rows.singular_values.min())
    tau = smallest if threshold is None else float(threshold)
    if tau == 0 or tau > smallest:
        return Unavailable(
            name, f"it needs 0 < tau <= {smallest:.4g}, the smallest kept singular value; tau is {tau:.4g}"
        )
    if isinstance(k2, Unavailable):
        return Unavailable(name, f"it bounds K2, which is not available: {k2.reason}")
    return _compared(name, rows, k2, tau, incoherence)


def _compared(
    name: str, rows: RowMap, k2: Certificate, tau: float, incoherence: float
) -> Certificate | Unavailable:
    m, _, r = rows.shape
    value = rows.largest_gain * sqrt(incoherence * r * m) / tau
    # The paper's step can fail (see above), so the bound is handed out only where K2 itself is below it.
    if k2.value > value:
        return Unavailable(name, f"it does not bound K2 here: {value:.4g} is below {k2.value:.4g}")
    steps = (
        f"beta sqrt(mu_1 r m) / tau with mu_1 = {incoherence:.4g}, tau = {tau:.4g}",
        "its derivation does not hold in general, so it was compared with K2, which proves it",
    )
    return above_row_constant(name, value, k2, steps)


def _ensure_threshold(threshold: float | None) -> None:
    if threshold is not None and not (isfinite(threshold) and threshold >= 0):
        raise ThresholdError(f"threshold {threshold!r}", "a finite number >= 0")


def certify(
    estimate: LinearRowMap,
    observed: ObservedMatrix | PartitionedMatrix,
    *,
    threshold: float | None = None,
) -> LipschitzCertificates:
    """Compute proved Lipschitz constants of an estimate, over rows on the method's working range.

    Parameters
    ----------
    estimate : LowRankEstimate
        Or anything with its ``left``, ``right``, ``singular_values``, ``gains`` and ``scale``, and any ``folding``, ``row_offsets`` and
        ``column_offsets``.
    observed : ObservedMatrix or PartitionedMatrix
        What the estimate was made from. What has to be known of rows in blocks is found in passes over them, one for each of `k2`, `seen` and `regression`.
    threshold : float, optional
        ``tau`` of Corollary 4.2. By default the smallest kept singular value, which is tightest.

    Returns
    -------
    LipschitzCertificates
        They hold for the factors as stored, in exact arithmetic. Rounding of the constants is added.

    Raises
    ------
    ShapeError
        The observations are not of the estimate's size.
    ThresholdError
        The threshold is negative or not finite.

    Notes
    -----
    ``K2 = ||sum psi(sigma)/sigma^2 u v^T||_max sqrt(n) max_k ||z_k||_1`` (Theorem 4.1) costs O(m n r).
    ``K* = max_k sqrt(sum (psi(sigma)/sigma)^2 v_k^2)`` costs O(n r). Without clipping the estimate is linear in a row, and the exact
    l1 -> l2 norm of a linear map is the largest l2 norm of a row of its matrix.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import ObservedMatrix, svt
    >>> Z = ObservedMatrix(np.array([[1.0, 1.0], [1.0, np.nan]]), value_range=(-1, 1))
    >>> certificates = certify(svt(Z, threshold=1.0, shrinker="identity"), Z)
    >>> print(certificates.k_star)
    K* = 0.8507 (l1 to l2; every pair of rows, seen in the fit or not)
    """
    if not hasattr(estimate, "right") or not hasattr(observed, "row_ids"):
        raise InputError(
            f"an estimate of type {type(estimate).__name__} and observations of type {type(observed).__name__}",
            "a LowRankEstimate and the ObservedMatrix or PartitionedMatrix that it was made from",
            "certify(estimator.estimate_, estimator.observed_)",
        )
    if threshold is not None:
        checked_non_negative("threshold", threshold, "None", error=ThresholdError)
    shape = (estimate.left.shape[0], estimate.right.shape[0])
    if observed.shape != shape:
        raise ShapeError(f"observations of shape {observed.shape}", f"{shape}, the shape of the estimate")
    kind = KindOfMap.of(estimate)
    # A mixture has no singular triplets of its own, only those of its parts.
    if (mixture := certify_linear_mixture(getattr(estimate, "folding", None))) is not None:
        return mixture
    # The paper's constants are of z -> clip(z P) on zero-filled rows; any other map has constants of its
    # own.
    if not kind.plain:
        found = certify_filled(estimate, observed, kind)
        return replace(found, regression=_of_regression(estimate, observed, kind))
    rows = RowMap(estimate, observed)
    k_star = _row_constant(rows)
    k2 = _theorem_constant(rows, k_star)
    return LipschitzCertificates(
        k_star=k_star,
        k2=k2,
        spectral=_spectral_constant(rows),
        incoherent=incoherence_constant(rows, k_star),
        corollary=corollary("Corollary 4.2, measured mu_1", rows, k2, threshold, rows.incoherence),
        printed_corollary=corollary("Corollary 4.2 as printed, mu_1 = 1", rows, k2, threshold, 1.0),
        seen=seen_certificate(rows, k_star),
        incoherence=rows.incoherence,
    )


def _of_regression(
    estimate: Any, observed: ObservedMatrix | PartitionedMatrix, kind: KindOfMap
) -> RegressionCertificate | Unavailable | None:
    """Certify the regressions that rows are found by; None where rows are found otherwise."""
    regression = estimate.folding.regression(estimate) if hasattr(estimate, "folding") else None
    if regression is None or isinstance(regression, str):
        by_regression = kind.not_linear or not estimate.right.shape[1]  # biases alone are one, linear or not
        return Unavailable("K of the regression", regression) if regression and by_regression else None
    rows = fitted_rows(observed, estimate.scale)
    if isinstance(observed, ObservedMatrix):  # as the estimator saw them, in its precision
        rows = RowsInMemory(observed.scaled(working_range_of(estimate.scale)).values)
    return regression_certificate(regression, rows.largest(largest_reach, regression))


def _row_constant(rows: RowMap) -> Certificate:
    return row_certificate("K*", rows.largest_row, "l1", rows.shape[1], (LARGEST_ROW,))


def _spectral_constant(rows: RowMap) -> Certificate:
    value = upward(rows.largest_gain * rows.basis_norm**2, 4)
    step = "the l2 norm of a symmetric map is its largest eigenvalue, max psi(sigma)/sigma; none smaller holds before clipping"
    return row_certificate("K* from l2", value, "l2", rows.shape[1], (step,))


def _theorem_constant(rows: RowMap, k_star: Certificate) -> Certificate | Unavailable:
    n = rows.shape[1]
    value = rows.largest_weight_entry * sqrt(n) * rows.largest_column
    steps = (
        "P = Z^T M with M = sum psi(sigma)/sigma^2 u v^T, because v = Z^T u / sigma",
        "||P_k||_2 <= ||z_k||_1 max_i ||M_i||_2 <= ||z_k||_1 sqrt(n) ||M||_max",
    )
    return above_row_constant("K2", value, k_star, steps)
