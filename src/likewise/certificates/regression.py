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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isinf, sqrt
from typing import Any

import numpy as np
from scipy import sparse

from likewise._typing import Floats, Mask
from likewise.certificates.certificate import Certificate, Domain
from likewise.certificates.operator_norm import spectral_norm, upward
from likewise.certificates.steepness import steepest_images
from likewise.errors import ShapeError

FROM_NORM = "l1 with the empty entry as a point"
_STEPS = (
    "if a row is given a missing entry with the value that it predicts, its coefficients do not change",
    "so two rows differ by A_U^-1 times one step for each feature in the union of what they observed",
    "||X A_U^-1 x|| is at most its largest over all A of at least I + x x^T, found by its dual; the estimate is X times the coefficients",
    "clipping does not expand",
)
_OF_A_MIXTURE = "a mixture moves by at most the same mixture of what its parts move by"


@dataclass(frozen=True, eq=False)
class Reach:
    """How far rows go, on the working range: what a constant takes for granted of them.

    Parameters
    ----------
    predictions : ndarray, shape (k,)
        Of each row, the largest absolute prediction, before clipping, of what it did not observe.
    offsets : ndarray, shape (k,)
        The same of the part that is not a regression: ``max |o_k + a|``; 0 where rows have no offset.
    sizes : ndarray, shape (k,)
        ``||u||``, the size of the coefficients.
    """

    predictions: Floats
    offsets: Floats
    sizes: Floats

    def largest(self) -> tuple[float, float, float]:
        """Return the largest of each over all rows."""
        prediction, offset, size = (
            float(part.max(initial=0.0)) for part in (self.predictions, self.offsets, self.sizes)
        )
        return prediction, offset, size


@dataclass(frozen=True, eq=False)
class RegressionMap:
    """An estimate as a map on rows, each the regression of what was observed of it.

    Parameters
    ----------
    regressors : ndarray, shape (n, d)
        ``x_k``, whitened: the prior of the coefficients is standard normal and the noise is 1.
    offsets : ndarray, shape (n,)
        ``o_k``, what is predicted of a row of which nothing is known, less its own offset.
    noise : float, default 1
        s, the standard deviation of the noise.
    row_penalty : float or None, default None
        lambda of the row's own offset ``a = sum w (z - o) / (sum w + lambda)``, found before the regression; None where there is none.
    weights : ndarray, shape (n,), or None, default None
        ``w_k``, the same in every row; 1 by default.
    spreads : ndarray, shape (n, d, d), or None, default None
        ``S_k``: what is uncertain of the regressors, a covariance.
    shifts : ndarray, shape (n, d), or None, default None
        ``s_k``: the covariance of regressors and offset, over the noise.
    """

    regressors: Floats
    offsets: Floats
    noise: float = 1.0
    row_penalty: float | None = None
    weights: Floats | None = None
    spreads: Floats | None = None
    shifts: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        n, d = self.regressors.shape
        return n, d

    @cached_property
    def column_weights(self) -> Floats:
        """``w_k``, shape (n,)."""
        return np.ones(self.shape[0]) if self.weights is None else self.weights

    @cached_property
    def norm(self) -> float:
        """``||X||_2``, rounded up."""
        return spectral_norm(self.regressors)

    @cached_property
    def slopes(self) -> Floats:
        """``kappa_k``, how far one unit of feature k moves the regression: ``sup ||X A^-1 w_k x_k||`` over all ``A >= I + w_k x_k x_k^T``; shape (n,).

        It is at most ``||X|| sqrt(w_k) phi(sqrt(w_k) ||x_k||)``, which takes X for equally long in all directions; see `likewise.certificates.steepness`.
        """
        roots = np.sqrt(self.column_weights)
        levels, axes = np.linalg.eigh(self.regressors.T @ self.regressors)
        images = steepest_images(levels, (roots[:, None] * self.regressors @ axes) ** 2, True)
        simple = self.norm * phi(roots * np.linalg.norm(self.regressors, axis=1))
        return np.asarray(roots * np.minimum(images, simple))

    @cached_property
    def offset_slopes(self) -> Floats:
        """How far one unit of feature k moves the estimate through the offset of the row; shape (n,).

        The offset moves by at most ``w / (W + lambda)``, W the weights of the union; the estimate by that times ``||1 - X A_U^-1 X_U^T w||``, at most
        ``sqrt(n) + ||X|| sqrt(W) / 2``, for ``||A_U^-1 X_U^T sqrt(w)|| <= 1/2``.
        """
        if self.row_penalty is None or isinf(self.row_penalty):
            return np.zeros(self.shape[0])
        w, penalty = self.column_weights, self.row_penalty
        total = np.maximum(w, penalty)  # where sqrt(W) / (W + lambda) is largest, among W >= w
        regression = 0.5 * self.norm * w * np.sqrt(total) / (total + penalty)
        return np.asarray(sqrt(self.shape[0]) * w / (w + penalty) + regression)

    def excesses(self, size: float) -> Floats:
        """``s ||X|| w_k (||s_k|| + ||S_k|| size)``: what is uncertain of feature k moves a row that lacks it by, at most; shape (n,)."""
        found = np.zeros(self.shape[0])
        if self.shifts is not None:
            found += np.linalg.norm(self.shifts, axis=1)
        if self.spreads is not None:
            found += size * np.linalg.norm(self.spreads, axis=(1, 2))  # Frobenius, at least the l2 norm
        return np.asarray(self.noise * self.norm * self.column_weights * found)

    def solve(self, values: sparse.csr_array) -> Iterator[tuple[Floats, float]]:
        """Yield the coefficients u and the offset a of each row; values on the working range, a stored entry is an observation."""
        if values.shape[1] != self.shape[0]:
            raise ShapeError(f"rows of {values.shape[1]} features", f"{self.shape[0]} features")
        identity = np.eye(self.shape[1])
        for first, last in pairwise(values.indptr.tolist()):
            k = values.indices[first:last]
            w, x = self.column_weights[k], self.regressors[k]
            residuals = values.data[first:last] - self.offsets[k]
            offset = 0.0
            if self.row_penalty is not None and k.size:
                offset = float(w @ residuals / (w.sum() + self.row_penalty))
            matrix = identity + (x.T * w) @ x
            side = x.T @ (w * (residuals - offset)) / self.noise
            if self.spreads is not None:
                matrix += np.tensordot(w, self.spreads[k], 1)
            if self.shifts is not None:
                side -= w @ self.shifts[k]
            yield np.asarray(np.linalg.inv(matrix) @ side, dtype=np.float64), offset

    def reach(self, values: sparse.csr_array) -> Reach:
        """Measure how far rows go; see `Reach`."""
        found = np.zeros((3, values.shape[0]))
        for row, (u, offset) in enumerate(self.solve(values)):
            base = self.offsets + offset
            predicted = base + self.noise * (self.regressors @ u)
            predicted[values.indices[values.indptr[row] : values.indptr[row + 1]]] = 0.0
            found[:, row] = (
                np.abs(predicted).max(initial=0.0),
                0.0 if self.row_penalty is None else np.abs(base).max(initial=0.0),
                np.linalg.norm(u),
            )
        return Reach(*found)


@dataclass(frozen=True, eq=False)
class RegressionMixture:
    """The map ``z -> sum_p weight_p regression_p(z)``, whose constant is at most the same mixture of the constants of its parts.

    Parts speak of one metric, that in which the empty entry is a point, once they share its distance c from every value and the domain, the farthest reach of any part.

    Parameters
    ----------
    parts : tuple of RegressionMap
    weights : ndarray, shape (k,)
        >= 0; they sum to 1.

    Examples
    --------
    Half of z / 2 and half of 0 is z / 4.

    >>> half = RegressionMap(np.ones((1, 1)), np.zeros(1)), RegressionMap(np.zeros((1, 1)), np.zeros(1))
    >>> RegressionMixture(half, np.array([0.5, 0.5])).slopes.round(9)
    array([0.25])
    """

    parts: tuple[RegressionMap, ...]
    weights: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d), d of all parts together."""
        return self.parts[0].shape[0], sum(part.shape[1] for part in self.parts)

    @property
    def leading(self) -> RegressionMap:
        """The part of the largest weight."""
        return self.parts[int(self.weights.argmax())]

    @cached_property
    def slopes(self) -> Floats:
        """Shape (n,); see `RegressionMap.slopes`."""
        return self._mixed([part.slopes for part in self.parts])

    @cached_property
    def offset_slopes(self) -> Floats:
        """Shape (n,); see `RegressionMap.offset_slopes`."""
        return self._mixed([part.offset_slopes for part in self.parts])

    def excesses(self, size: float) -> Floats:
        """Shape (n,); see `RegressionMap.excesses`."""
        return self._mixed([part.excesses(size) for part in self.parts])

    def reach(self, values: sparse.csr_array) -> Reach:
        """Return how far the part goes that goes farthest, for each row."""
        found = [part.reach(values) for part in self.parts]
        return Reach(
            np.max([each.predictions for each in found], axis=0),
            np.max([each.offsets for each in found], axis=0),
            np.max([each.sizes for each in found], axis=0),
        )

    def _mixed(self, of_parts: list[Floats]) -> Floats:
        return np.asarray(self.weights @ np.asarray(of_parts))


def phi(t: Floats) -> Floats:
    """Return ``sup ||A^-1 x||`` over all ``A >= I + x x^T``, for ``||x|| = t``: ``t / (1 + t^2)`` up to 1, then 1/2.

    With ``A = B + x x^T`` and ``q = x^T B^-1 x <= t^2``, ``||A^-1 x|| = ||B^-1 x|| / (1 + q) <= sqrt(q) / (1 + q)``, which grows up to q = 1.

    Examples
    --------
    >>> phi(np.array([0.0, 0.5, 1.0, 9.0]))
    array([0. , 0.4, 0.5, 0.5])
    """
    below = np.minimum(t, 1.0)
    return np.asarray(below / (1 + below**2))


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
    map: RegressionMap | RegressionMixture

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
        found = self.map.reach(values)
        parts = (found.predictions, found.offsets, found.sizes)
        within = [part <= limit for part, limit in zip(parts, self.reach, strict=True)]
        return np.asarray(np.all(within, axis=0))

    def bound(self, left: sparse.csr_array, right: sparse.csr_array) -> Floats:
        """Return the tighter bound for pairs of rows, feature by feature: slopes where both observed, empty slopes where one did.

        Parameters
        ----------
        left, right : csr_array, shape (k, n)
            Row i of one against row i of the other, on the working range.
        """
        one, other = (_pattern(side) for side in (left, right))
        both = one.multiply(other)
        gaps = abs(left.multiply(both) - right.multiply(both))
        single = one + other - 2 * both
        return np.asarray(gaps @ self.slopes + single @ self.empty_slopes)


def _pattern(values: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array((np.ones(values.nnz), values.indices, values.indptr), shape=values.shape)


def certify_regression(
    regression: RegressionMap | RegressionMixture,
    values: sparse.csr_array,
    *,
    margin: float = 1.0,
    empty: float | None = None,
) -> RegressionCertificate:
    """Prove a constant for the estimate of rows by regression.

    Parameters
    ----------
    regression : RegressionMap or RegressionMixture
    values : csr_array, shape (m, n)
        Rows of the fit on the working range; their reach is the domain of the constant.
    margin : float, default 1
        The domain reaches that many times as far as the rows of the fit, so that unseen rows lie within.
    empty : float, optional
        c, at least 1 (half the working range, or d_c is not a metric). By default the smallest with which the constant is that of observed features.

    Returns
    -------
    RegressionCertificate

    Examples
    --------
    One feature, x = 1: an observation z gives z / 2, so the constant is 1/2.

    >>> line = RegressionMap(np.array([[1.0]]), np.zeros(1))
    >>> proved = certify_regression(line, sparse.csr_array([[1.0], [-1.0]]))
    >>> round(proved.certificate.value, 9), proved.empty
    (0.5, 1.0)
    """
    prediction, offset, size = (margin * part for part in regression.reach(values).largest())
    reach = prediction, offset, size
    slopes = regression.slopes + regression.offset_slopes
    alone = (
        regression.slopes * (1 + prediction)
        + regression.offset_slopes * (1 + offset)
        + regression.excesses(size)
    )
    steepest, steepest_alone = float(slopes.max(initial=0.0)), float(alone.max(initial=0.0))
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
        assumptions=(_domain(reach),),
        proof=_STEPS if isinstance(regression, RegressionMap) else (*_STEPS, _OF_A_MIXTURE),
        n_inputs=regression.shape[0],
        n_outputs=regression.shape[0],
    )
    up = 1 + operations * 2.0**-52
    return RegressionCertificate(certificate, c, slopes * up, alone * up, reach, regression)


def _domain(reach: tuple[float, float, float]) -> str:
    prediction, offset, size = reach
    said = [f"both rows predict their missing entries within {prediction:.4g} of the middle before clipping"]
    said += [f"offsets within {offset:.4g}"] if offset else []
    said += [f"coefficients of size {size:.4g} at most"] if size else []
    return ", ".join(said) + ", as every row of these data does"
