"""Theorem 4.3: individual fairness on the truth A, given how far the estimate is from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats
from likewise.certificates.certificate import (
    AffineCertificate,
    Certificate,
    Domain,
    Unavailable,
)
from likewise.certificates.operator_norm import largest_norm
from likewise.checks import checked_confidence, checked_instance, checked_non_negative
from likewise.errors import InputError, ShapeError
from likewise.norms import Norm, norm_name, norm_order

_BLOCK_ROWS = 1024


@dataclass(frozen=True)
class ErrorBound:
    """A bound on the largest error of a row of the estimate, ``max_i ||A_hat_i - A_i||_q``.

    Parameters
    ----------
    value : float
        >= 0 and finite, in the units of the estimate.
    norm : str
        lq.
    confidence : float
        In (0, 1]: with which probability the bound holds. 1 where the truth is known.
    source : str
        Where it comes from: a theorem, a hold-out, a simulation whose truth is known.

    Raises
    ------
    InputError
        If the value is negative or not finite, or the confidence is not in (0, 1].
    DistanceError
        If the norm is unknown.
    """

    value: float
    norm: str
    confidence: float
    source: str

    def __post_init__(self) -> None:
        checked_non_negative("value", self.value)
        checked_confidence(self.confidence, certain=True)
        norm_order(self.norm)

    @classmethod
    def measured(cls, estimate: Any, truth: ArrayLike, *, norm: Norm = "l2") -> ErrorBound:
        """Measure the error against a truth that is known, as in a simulation.

        Parameters
        ----------
        estimate : array-like, shape (m, n), or LowRankEstimate
            ``A_hat``; of an object with ``blocks()``, which yields (rows, block), no more than a block is held.
        truth : array-like, shape (m, n)
            A, in the same units.
        norm : str or float, default "l2"
            The norm that the model's certificate starts from.

        Raises
        ------
        ShapeError
            If the shapes differ.
        InputError
            If an entry is NaN or infinite.

        Examples
        --------
        >>> ErrorBound.measured([[1.0, 1.0], [0.0, 0.5]], [[1.0, 1.0], [0.0, 0.0]]).value
        0.5...
        """
        actual = np.asarray(truth, dtype=np.float64)
        shape = estimate.shape if hasattr(estimate, "blocks") else np.shape(estimate)
        if shape != actual.shape or len(shape) != 2:
            raise ShapeError(
                f"an estimate of shape {shape} and a truth of {actual.shape}", "two equal (m, n)"
            )
        order = norm_order(norm)
        largest = max(
            (_largest_error(block - actual[rows], order) for rows, block in _blocks(estimate)), default=0.0
        )
        return cls(largest, norm_name(order), 1.0, "measured against the truth")


def certify_on_truth(model: Certificate | Unavailable, error: ErrorBound) -> AffineCertificate | Unavailable:
    """Bound output distances by distances of the truth A, whatever the pre-processing (Theorem 4.3).

    ``D <= K1 ||A_i - A_j||_q + 2 K1 max_i ||A_hat_i - A_i||_q``, for the rows whose error is bounded.

    Parameters
    ----------
    model : Certificate or Unavailable
        K1 of the model, from lq.
    error : ErrorBound
        In the same lq.

    Returns
    -------
    AffineCertificate or Unavailable

    Raises
    ------
    InputError
        If the two speak of different norms.

    Examples
    --------
    >>> K1 = Certificate(name="K1", value=2.0, from_norm="l2", to_norm="l2")
    >>> print(certify_on_truth(K1, ErrorBound(0.25, "l2", 0.9, "hold-out")))
    Theorem 4.3: D <= 2 d + 1 with confidence 0.9 (l2 to l2; in sample: rows of the fit)
    """
    name = "Theorem 4.3"
    checked_instance("error", error, ErrorBound, "an ErrorBound")
    checked_instance(
        "model", model, Certificate | Unavailable, "a Certificate", "model_constant(...) makes one"
    )
    if isinstance(model, Unavailable):
        return Unavailable(name, f"{model.name} has none: {model.reason}")
    if norm_order(model.from_norm) != norm_order(error.norm):
        raise InputError(
            f"an error in {error.norm} for a model from {model.from_norm}", "the same norm in both"
        )
    assumed = f"every row's error is at most {error.value:.4g} in {error.norm} ({error.source})"
    step = "D <= K1 ||A_hat_i - A_hat_j||, and the triangle inequality through A_i and A_j"
    return AffineCertificate(
        name=name,
        slope=model.value,
        # ||A_hat_i - A_hat_j|| <= ||A_i - A_j|| + 2 error: each estimate is that far from its truth at
        # most.
        offset=model.times(2 * error.value).value,
        confidence=error.confidence,
        from_norm=model.from_norm,
        to_norm=model.to_norm,
        domain=Domain.SEEN,
        function=f"rows of the truth A to {model.function or 'outputs'} of their estimates",
        assumptions=model.assumptions if error.confidence == 1 else (*model.assumptions, assumed),
        proof=(*model.proof, step, assumed),
        n_inputs=model.n_inputs,
        n_outputs=model.n_outputs,
    )


def _largest_error(difference: Floats, order: float) -> float:
    if not np.isfinite(difference).all():
        raise InputError(
            "an estimate or a truth with entries that are NaN or infinite", "complete, finite matrices"
        )
    return largest_norm(difference, order)


def _blocks(estimate: Any) -> Iterator[tuple[slice, Floats]]:
    if hasattr(estimate, "blocks"):
        yield from estimate.blocks()
        return
    rows = np.asarray(estimate, dtype=np.float64)
    for start in range(0, len(rows), _BLOCK_ROWS):
        part = slice(start, start + _BLOCK_ROWS)
        yield part, rows[part]
