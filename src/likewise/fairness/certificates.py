"""Proved Lipschitz constants of the pre-processing step: K2 of Theorem 4.1, the tighter K*, Corollary 4.2.

What is proved here is a different type from what is measured: a `Certificate` holds for every pair it speaks of, an
`Unavailable` says why there is none.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.errors import ShapeError
from likewise.observations import AffineScale, ObservedMatrix

Floats = NDArray[np.float64]

_BLOCK_ENTRIES = 1 << 22


class LinearRowMap(Protocol):
    """An estimate that is linear on rows before clipping: ``z -> clip(z P)``, ``P = sum_l gain_l v_l v_l^T``."""

    @property
    def left(self) -> Floats: ...  # noqa: D102
    @property
    def right(self) -> Floats: ...  # noqa: D102
    @property
    def singular_values(self) -> Floats: ...  # noqa: D102
    @property
    def gains(self) -> Floats: ...  # noqa: D102
    @property
    def scale(self) -> AffineScale: ...  # noqa: D102


@dataclass(frozen=True)
class Certificate:
    """A proved bound ``||output_i - output_j||_to <= value * ||input_i - input_j||_from``.

    Parameters
    ----------
    name : str
        What the constant is called.
    value : float
        The constant, >= 0.
    from_norm, to_norm : str
        Norm on the inputs and on the outputs.
    domain : str
        For which pairs it holds.
    assumptions : tuple of str
        What the proof takes for granted; empty if nothing.
    proof : tuple of str
        Its steps.
    """

    name: str
    value: float
    from_norm: str
    to_norm: str
    domain: str
    assumptions: tuple[str, ...]
    proof: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.4g} ({self.from_norm} to {self.to_norm}; {self.domain})"


@dataclass(frozen=True)
class Unavailable:
    """No bound, and the reason.

    Parameters
    ----------
    name : str
    reason : str
    """

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: none ({self.reason})"


@dataclass(frozen=True)
class LipschitzCertificates:
    """Constants of the pre-processing step ``Z_i -> A_hat_i``, on the method's interval.

    Attributes
    ----------
    k_star : Certificate
        Exact l1 -> l2 constant of the un-clipped map; also for rows never seen; never above `k2`.
    k2 : Certificate
        The constant of Theorem 4.1.
    spectral : Certificate
        Exact l2 -> l2 constant of the un-clipped map; also for rows never seen.
    corollary : Certificate or Unavailable
        Corollary 4.2's bound on K2 with the measured incoherence.
    printed_corollary : Certificate or Unavailable
        The same as printed, with ``mu_1 = 1``.
    incoherence : float or None
        The measured ``mu_1``; None at rank 0.
    """

    k_star: Certificate
    k2: Certificate
    spectral: Certificate
    corollary: Certificate | Unavailable
    printed_corollary: Certificate | Unavailable
    incoherence: float | None

    def __iter__(self) -> Any:
        return iter((self.k_star, self.k2, self.spectral, self.corollary, self.printed_corollary))

    def __str__(self) -> str:
        return "\n".join(str(certificate) for certificate in self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, a record for each constant."""
        return asdict(self)


_SEEN_AND_UNSEEN = "every pair of rows, seen in the fit or not"
_LINEAR = "A_hat_i = clip(Z_i P) with P = sum psi(sigma)/sigma v v^T, because u = Z v / sigma"
_CLIP = "clipping does not expand"


def certify(
    estimate: LinearRowMap, observed: ObservedMatrix, *, threshold: float | None = None
) -> LipschitzCertificates:
    """Compute proved Lipschitz constants of an estimate, over zero-filled rows on the method's interval.

    Parameters
    ----------
    estimate : LowRankEstimate
        Or anything with its ``left``, ``right``, ``singular_values``, ``gains`` and ``scale``.
    observed : ObservedMatrix
        The observations that the estimate was made from, in the user's units.
    threshold : float, optional
        ``tau`` of Corollary 4.2. By default the smallest kept singular value, which is the tightest choice.

    Returns
    -------
    LipschitzCertificates
        They hold up to the rounding of the factors (relative residual of the singular triplets).

    Raises
    ------
    ShapeError
        If the observations are not of the estimate's size.

    Notes
    -----
    ``K2 = ||sum psi(sigma)/sigma^2 u v^T||_max sqrt(n) max_k ||z_k||_1`` (Theorem 4.1) costs O(m n r).
    ``K* = max_k sqrt(sum (psi(sigma)/sigma)^2 v_k^2)`` costs O(n r): on rows the un-clipped estimate is linear, and the exact
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
    shape = (estimate.left.shape[0], estimate.right.shape[0])
    if observed.shape != shape:
        raise ShapeError(f"observations of shape {observed.shape}", f"{shape}, the shape of the estimate")
    k2 = _theorem_constant(estimate, observed)
    incoherence = _incoherence(estimate)
    tau = threshold if threshold is not None else float(estimate.singular_values.min(initial=np.inf))
    return LipschitzCertificates(
        k_star=_row_constant(estimate),
        k2=k2,
        spectral=_spectral_constant(estimate),
        corollary=_corollary("Corollary 4.2, measured mu_1", estimate, k2.value, tau, incoherence),
        printed_corollary=_corollary("Corollary 4.2 as printed, mu_1 = 1", estimate, k2.value, tau, 1.0),
        incoherence=incoherence,
    )


def _row_constant(estimate: LinearRowMap) -> Certificate:
    squared_row_norms = (estimate.right**2) @ (estimate.gains**2)
    value = sqrt(squared_row_norms.max(initial=0.0))
    step = "the l1 to l2 norm of a linear map is the largest l2 norm of a row of its matrix"
    return Certificate("K*", value, "l1", "l2", _SEEN_AND_UNSEEN, (), (_LINEAR, step, _CLIP))


def _spectral_constant(estimate: LinearRowMap) -> Certificate:
    value = float(estimate.gains.max(initial=0.0))
    step = "the l2 norm of a symmetric map is its largest eigenvalue, max psi(sigma)/sigma"
    return Certificate("K* from l2", value, "l2", "l2", _SEEN_AND_UNSEEN, (), (_LINEAR, step, _CLIP))


def _theorem_constant(estimate: LinearRowMap, observed: ObservedMatrix) -> Certificate:
    n = estimate.right.shape[0]
    largest_column = _largest_column_norm(estimate.scale, observed)
    weights = estimate.gains / estimate.singular_values
    value = _max_entry(estimate.left * weights, estimate.right) * sqrt(n) * largest_column
    steps = (
        _LINEAR,
        "P = Z^T M with M = sum psi(sigma)/sigma^2 u v^T",
        "|P_kj| <= ||z_k||_1 ||M||_max",
        _CLIP,
    )
    return Certificate("K2", value, "l1", "l2", _SEEN_AND_UNSEEN, (), steps)


def _corollary(
    name: str, estimate: LinearRowMap, k2: float, tau: float, incoherence: float | None
) -> Certificate | Unavailable:
    """Give ``beta sqrt(mu_1 r m) / tau`` where K2 was seen to respect it.

    Its printed derivation needs ``||sum sigma^-1 u v^T||_max <= tau^-1 ||sum u v^T||_max``, which entries that cancel can
    break; so the bound is handed out only after comparison with K2 itself.
    """
    gains = estimate.gains
    if incoherence is None or gains.size == 0:
        return Unavailable(name, "rank 0: the estimate is constant")
    if not np.allclose(gains, gains[0], rtol=1e-9, atol=0):
        return Unavailable(name, "it needs psi(x) = beta x")
    m = estimate.left.shape[0]
    value = float(gains[0] * sqrt(incoherence * gains.size * m) / tau)
    if k2 > value:
        return Unavailable(name, f"its assumption does not hold here: K2 = {k2:.4g} exceeds it, {value:.4g}")
    steps = ("beta sqrt(mu_1 r m) / tau", "compared with K2, which it was seen to bound")
    return Certificate(
        name, value, "l1", "l2", _SEEN_AND_UNSEEN, (f"strong incoherence, mu_1 = {incoherence:.4g}",), steps
    )


def _incoherence(estimate: LinearRowMap) -> float | None:
    """Measure mu_1 in ``||sum u v^T||_max = sqrt(mu_1 r / (m n))``."""
    m, n, r = estimate.left.shape[0], estimate.right.shape[0], estimate.gains.size
    return None if r == 0 else _max_entry(estimate.left, estimate.right) ** 2 * m * n / r


def _max_entry(left: Floats, right: Floats) -> float:
    """Largest absolute entry of ``left right^T``, by blocks of rows."""
    step = max(1, _BLOCK_ENTRIES // right.shape[0])
    blocks = (left[start : start + step] @ right.T for start in range(0, left.shape[0], step))
    return max(float(np.abs(block).max(initial=0.0)) for block in blocks)


def _largest_column_norm(scale: AffineScale, observed: ObservedMatrix) -> float:
    """``max_k ||z_k||_1`` over the columns of Z on the method's interval."""
    columns = observed.values.indices
    magnitudes = np.abs(scale.forward(observed.values.data, columns))
    return float(np.bincount(columns, magnitudes, minlength=observed.shape[1]).max())
