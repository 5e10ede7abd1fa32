"""A proved constant for estimates whose rows are regressions: ridge, alternating least squares, SoftImpute, biases.

No constant can hold for l1 between zero-filled rows: an observed 0 and a missing entry are at distance 0 and give different estimates. It holds
for the metric in which the empty entry is a point of its own, at distance c from every value (`likewise.fairness.PatternDistance`).

The estimate of a row z with observations O is ``o + a + s X u``, clipped, where ``u = A_O^-1 sum_O w_k (x_k r_k - s_k)``, ``A_O = I + sum_O w_k (x_k x_k^T + S_k)``, and
``r_k`` is the residual ``(z_k - o_k - a) / s``. Give a row what it lacks, with the values that it predicts: u stays as it is. So two rows are compared on the union U of what they
observed, by linear steps that all have A_U: where both observed k the step is ``A_U^-1 w_k x_k (z_k - z'_k) / s``, where one did it has the prediction of the other in place
of its value. And ``||X A_U^-1 w x||`` is at most its largest over all ``A >= I + w x x^T`` (`likewise.certificates.steepness`), itself at most ``||X|| sqrt(w) phi(sqrt(w) ||x||)`` with
``phi(t) = t / (1 + t^2)`` up to t = 1, 1/2 beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from likewise._typing import Floats, Mask
from likewise.certificates.certificate import Certificate, Domain
from likewise.certificates.operator_norm import upward
from likewise.certificates.regression_map import RegressionMap, RegressionMixture
from likewise.checks import checked_instance, checked_positive
from likewise.errors import InputError, ObservationError, ShapeError

AnyRegression = RegressionMap | RegressionMixture
FROM_NORM = "l1 with the empty entry as a point"
_STEPS = (
    "if a row is given a missing entry with the value that it predicts, its coefficients do not change",
    "so two rows differ by A_U^-1 times one step for each feature in the union of what they observed",
    "||X A_U^-1 x|| is at most its largest over all A of at least I + x x^T, found by its dual; the estimate is X times the coefficients",
    "clipping does not expand",
)
_OF_A_MIXTURE = "a mixture moves by at most the same mixture of what its parts move by"


@dataclass(frozen=True, eq=False)
class RegressionCertificate:
    """A proved constant of a regression, in the metric in which the empty entry is a point.

    Parameters
    ----------
    certificate : Certificate
        ``||estimate - estimate'||_2 <= K d_c``, for rows within the domain, seen in the fit or not.
    empty : float
        c, the distance of the empty entry from every value on the working range.
    slopes : ndarray, shape (n,)
        The constant of each feature: with them in place of K the bound is tighter.
    empty_slopes : ndarray, shape (n,)
        By how much a feature that only one of the two observed can move them apart; at most K c.
    reach : tuple of float
        The domain: largest prediction before clipping, largest offset, largest size of coefficients, as in `Reach`.
    map : RegressionMap or RegressionMixture
    """

    certificate: Certificate
    empty: float
    slopes: Floats
    empty_slopes: Floats
    reach: tuple[float, float, float]
    map: AnyRegression

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the constant, c, and the domain."""
        prediction, offset, size = self.reach
        domain = {"prediction": prediction, "offset": offset, "size": size}
        return {**self.certificate.to_dict(), "empty": self.empty, "reach": domain}

    def covers(self, values: sparse.csr_array) -> Mask:
        """Return which rows lie in the domain; for a pair of such rows the constant is proved.

        Parameters
        ----------
        values : csr_array, shape (k, n)
            On the working range; a stored entry is an observation.
        """
        found = self.map.reach(_checked_rows(values))
        parts = (found.predictions, found.offsets, found.sizes)
        within = [part <= limit for part, limit in zip(parts, self.reach, strict=True)]
        return np.asarray(np.all(within, axis=0))

    def ensure_covers(self, values: sparse.csr_array, names: ArrayLike | None = None) -> None:
        """Raise where a row lies outside the domain, of which nothing is proved.

        Parameters
        ----------
        values : csr_array, shape (k, n)
            On the working range; a stored entry is an observation.
        names : array-like, shape (k,), optional
            What rows are called in the message; by default their positions.

        Raises
        ------
        ObservationError
            It names up to five such rows.
        """
        outside = np.flatnonzero(~self.covers(values))
        if outside.size:
            named = outside if names is None else np.asarray(names)[outside]
            shown = ", ".join(str(name) for name in named[:_NAMED].tolist())
            more = " and others" if outside.size > _NAMED else ""
            raise ObservationError(
                f"{outside.size:,} of {values.shape[0]:,} rows outside the domain of the constant: {shown}{more}",
                f"pairs of which {_within(self.reach)}",
                "leave them out, as covers() says, or prove a constant of a larger domain: certify_regression(map, rows, margin=2)",
            )

    def bound(self, left: sparse.csr_array, right: sparse.csr_array) -> Floats:
        """Return the tighter bound for pairs of rows, feature by feature: slopes where both observed, empty slopes where one did.

        Parameters
        ----------
        left, right : csr_array, shape (k, n)
            Row i of one against row i of the other, on the working range.

        Raises
        ------
        ShapeError
            Not as many rows on either side.
        ObservationError
            A row outside the domain.
        """
        if left.shape != right.shape:
            raise ShapeError(
                f"rows of shapes {left.shape} and {right.shape}",
                "row i of one against row i of the other",
            )
        for side in (left, right):
            self.ensure_covers(side)
        one, other = (_pattern(side) for side in (left, right))
        both = one.multiply(other)
        gaps = abs(left.multiply(both) - right.multiply(both))
        single = one + other - 2 * both
        return np.asarray(gaps @ self.slopes + single @ self.empty_slopes)


_NAMED = 5
"""Rows outside the domain that are named."""
_ROUNDING = 1 + 1e-12
"""By which the domain is larger than what the rows of the fit reach, so that none of them is put outside by rounding."""


def _checked_rows(values: Any) -> Any:
    hint = "observed.scaled('symmetric').values"
    return checked_instance(
        "values", values, sparse.csr_array | sparse.csr_matrix, "a csr_array of rows", hint
    )


def _pattern(values: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array((np.ones(values.nnz), values.indices, values.indptr), shape=values.shape)


def certify_regression(
    regression: AnyRegression,
    values: sparse.csr_array,
    *,
    margin: float = 1.0,
    empty: float | None = None,
) -> RegressionCertificate:
    """Prove a constant for the estimate of rows by regression.

    The reach of the rows of the fit, `values` of shape (m, n) on the working range, is the domain of the constant; with a `margin` it reaches
    that many times as far, so that unseen rows lie within. `empty` is c, at least 1 (half the working range, or d_c is not a metric); by
    default the smallest with which the constant is that of observed features. InputError for no regression; rows that are not a csr_array; a
    margin that is not above 0, or an `empty` below 1.

    One feature, x = 1: an observation z gives z / 2, so the constant is 1/2.

    >>> line = RegressionMap(np.array([[1.0]]), np.zeros(1))
    >>> proved = certify_regression(line, sparse.csr_array([[1.0], [-1.0]]))
    >>> round(proved.certificate.value, 9), proved.empty
    (0.5, 1.0)
    """
    hint = "an estimator's certificate_.regression.map"
    checked_instance("regression", regression, AnyRegression, "a RegressionMap or RegressionMixture", hint)
    margin = checked_positive("margin", margin)
    if empty is not None and checked_positive("empty", empty) < 1:
        raise InputError(
            f"empty={empty!r}", "a number >= 1, half the working range", "with less d is no metric"
        )
    found = largest_reach(_checked_rows(values), regression)
    return regression_certificate(regression, tuple(margin * part for part in found), empty)


def largest_reach(values: sparse.csr_array, regression: AnyRegression) -> tuple[float, ...]:
    """Return the largest prediction, offset and size of coefficients over some rows; see `Reach`."""
    return regression.reach(values).largest()


def regression_certificate(
    regression: AnyRegression, reached: tuple[float, ...], empty: float | None = None
) -> RegressionCertificate:
    """Prove a constant for rows that reach so far, as `largest_reach` tells it; `empty` as in `certify_regression`."""
    prediction, offset, size = (part * _ROUNDING for part in reached)
    reach = prediction, offset, size
    slopes = regression.slopes + regression.offset_slopes
    # Where one of two observed a feature, the other has its prediction in the place of a value: they differ
    # by at most 1 + |prediction|. What is uncertain of the feature moves them besides.
    alone = (
        regression.slopes * (1 + prediction)
        + regression.offset_slopes * (1 + offset)
        + regression.excesses(size)
    )
    steepest, steepest_alone = float(slopes.max(initial=0.0)), float(alone.max(initial=0.0))
    # K = max(steepest, alone / c): a c as large as their quotient costs nothing.
    least = max(1.0, steepest_alone / steepest) if steepest else 1.0
    c = least if empty is None else float(empty)
    operations = 8 * regression.shape[0]
    certificate = Certificate(
        name="K of the regression",
        value=upward(max(steepest, steepest_alone / c), operations),
        from_norm=FROM_NORM,
        to_norm="l2",
        domain=Domain.SEEN_AND_UNSEEN,
        function=f"a row on the method's working range, an empty entry at distance {c:.4g} from every value, to its estimate by fold-in",
        assumptions=(f"{_within(reach)}, as every row of these data does",),
        proof=_STEPS if isinstance(regression, RegressionMap) else (*_STEPS, _OF_A_MIXTURE),
        n_inputs=regression.shape[0],
        n_outputs=regression.shape[0],
    )
    # Slopes are rounded as the constant is, which must stay above each of them.
    up = 1 + operations * 2.0**-52
    return RegressionCertificate(certificate, c, slopes * up, alone * up, reach, regression)


def _within(reach: tuple[float, float, float]) -> str:
    prediction, offset, size = reach
    said = [f"both rows predict their missing entries within {prediction:.4g} of the middle before clipping"]
    said += [f"offsets within {offset:.4g}"] if offset else []
    said += [f"coefficients of size {size:.4g} at most"] if size else []
    return ", ".join(said)
