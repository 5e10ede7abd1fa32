"""Proved constants of the pre-processing step ``Z_i -> A_hat_i``: K2 of Theorem 4.1, the tighter K*, Corollary 4.2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

from likewise.errors import ShapeError
from likewise.fairness.certificates.corollary import corollary, incoherence_constant
from likewise.fairness.certificates.rounding import upward
from likewise.fairness.certificates.row_certificates import FUNCTION, above_row_constant, row_certificate
from likewise.fairness.certificates.row_map import LinearRowMap, RowMap
from likewise.fairness.certificates.types import AffineCertificate, Certificate, Domain, Unavailable
from likewise.observations import ObservedMatrix


@dataclass(frozen=True)
class LipschitzCertificates:
    """Constants of the pre-processing step ``Z_i -> A_hat_i``, on the method's interval.

    Iterating gives the constants for every pair of rows; `seen` speaks of the rows of the fit alone.

    Attributes
    ----------
    k_star : Certificate
        l1 -> l2 constant, exact for the un-clipped map; also for rows never seen; never above `k2`.
    k2 : Certificate or Unavailable
        The constant of Theorem 4.1.
    spectral : Certificate
        l2 -> l2 constant, exact for the un-clipped map; also for rows never seen.
    incoherent : Certificate or Unavailable
        What the measured incoherence proves: never below `k_star`, never above Corollary 4.2.
    corollary : Certificate or Unavailable
        Corollary 4.2's bound on K2 with the measured incoherence, where it does bound K2.
    printed_corollary : Certificate or Unavailable
        The same as printed, with ``mu_1 = 1``.
    seen : AffineCertificate
        K* for the rows of the fit as the solver estimated them: plus what its residuals can add.
    incoherence : float or None
        The measured ``mu_1``; None at rank 0.
    """

    k_star: Certificate
    k2: Certificate | Unavailable
    spectral: Certificate
    incoherent: Certificate | Unavailable
    corollary: Certificate | Unavailable
    printed_corollary: Certificate | Unavailable
    seen: AffineCertificate
    incoherence: float | None

    def __iter__(self) -> Iterator[Certificate | Unavailable]:
        return iter(
            (self.k_star, self.k2, self.spectral, self.incoherent, self.corollary, self.printed_corollary)
        )

    def __str__(self) -> str:
        return "\n".join(map(str, (*self, self.seen)))

    def explain(self) -> str:
        """Return every statement with what it assumes and how it is proved."""
        return "\n".join(statement.explain() for statement in (*self, self.seen))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, a record for each constant."""
        records = {name: value for name, value in vars(self).items() if name != "incoherence"}
        return {name: value.to_dict() for name, value in records.items()} | {"incoherence": self.incoherence}


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
        They hold for the factors as they are stored, in exact arithmetic; rounding of the constants themselves is added.

    Raises
    ------
    ShapeError
        If the observations are not of the estimate's size.
    ThresholdError
        If the threshold is negative or not a finite number.

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
        seen=_seen(rows, k_star),
        incoherence=rows.incoherence,
    )


def _row_constant(rows: RowMap) -> Certificate:
    step = "the l1 to l2 norm of a linear map is the largest l2 norm of a row of its matrix; none smaller holds before clipping"
    return row_certificate("K*", rows.largest_row, "l1", rows.shape[1], (step,))


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


def _seen(rows: RowMap, k_star: Certificate) -> AffineCertificate:
    departure = "K*, and for each of the two rows what its estimate departs from its fold-in: ||V|| ||g (sigma u - Z_i V)||"
    return AffineCertificate(
        name="K*, rows of the fit",
        slope=k_star.value,
        offset=2 * rows.largest_departure,
        from_norm="l1",
        to_norm="l2",
        domain=Domain.SEEN,
        function=FUNCTION,
        proof=(*k_star.proof, departure),
        n_inputs=k_star.n_inputs,
        n_outputs=k_star.n_outputs,
    )
