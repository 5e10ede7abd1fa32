"""Corollary 4.2, and what its assumption does prove.

The corollary bounds K2 for ``psi(x) = beta x`` by ``beta sqrt(mu_1 r m) / tau``, with the incoherence ``||E||_max <= sqrt(mu_1 r / (m n))`` of
``E = sum u v^T``. The step from K2 to it, ``||sum u v^T / sigma||_max <= ||E||_max / tau``, fails where entries of E cancel that the
weights 1/sigma pull apart. So the bound is handed out only where it was seen to be above K2.

The same assumption proves more, without that step: column k of E is ``U v_k``, and U keeps lengths, so ``||v_k|| = ||E_k|| <= sqrt(m) ||E||_max``
and ``K* <= max(psi(sigma)/sigma) sqrt(mu_1 r / n)``. That is never above the corollary, because ``tau < sigma_1 <= ||Z||_F <= sqrt(m n)``.
"""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np

from likewise.certificates.certificate import Certificate, Unavailable
from likewise.certificates.constants import above_row_constant
from likewise.certificates.row_map import RowMap
from likewise.errors import ThresholdError

_RANK_ZERO = "rank 0: the estimate is constant"


def incoherence_constant(rows: RowMap, k_star: Certificate) -> Certificate | Unavailable:
    """Bound K* by the incoherence: ``max(psi(sigma)/sigma) sqrt(mu_1 r / n)``, for any psi and whatever the threshold.

    Parameters
    ----------
    rows : RowMap
    k_star : Certificate

    Returns
    -------
    Certificate or Unavailable
    """
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

    Parameters
    ----------
    name : str
    rows : RowMap
    k2 : Certificate or Unavailable
        What it is to bound.
    threshold : float or None
        tau; the smallest kept singular value by default.
    incoherence : float or None
        mu_1; None at rank 0.

    Returns
    -------
    Certificate or Unavailable

    Raises
    ------
    ThresholdError
        If the threshold is negative or not a finite number.
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
