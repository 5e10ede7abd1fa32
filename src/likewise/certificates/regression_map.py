"""Rows estimated by regression, as maps of rows: how steep they are feature by feature, and how far rows go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isinf, sqrt

import numpy as np
from scipy import sparse

from likewise._typing import Floats
from likewise.certificates.operator_norm import spectral_norm
from likewise.certificates.steepness import phi, steepest_images
from likewise.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Reach:
    """How far rows go, on the working range: what a constant takes for granted of them; each field has shape (k,)."""

    predictions: Floats  # largest absolute prediction, before clipping, of what a row did not observe
    # the same of the part that is not a regression, max |o_k + a|; 0 where rows have no offset
    offsets: Floats
    sizes: Floats  # ||u||, the size of the coefficients

    def largest(self) -> tuple[float, float, float]:
        """Return the largest of each over all rows."""
        prediction, offset, size = (
            float(part.max(initial=0.0)) for part in (self.predictions, self.offsets, self.sizes)
        )
        return prediction, offset, size


@dataclass(frozen=True, eq=False)
class RegressionMap:
    """An estimate as a map on rows, each the regression of what was observed of it."""

    # x_k, (n, d), whitened: the prior of the coefficients is standard normal and the noise is 1
    regressors: Floats
    offsets: Floats  # o_k, (n,), what is predicted of a row of which nothing is known, less its own offset
    noise: float = 1.0  # s, the standard deviation of the noise
    # lambda of the row's own offset a = sum w (z - o) / (sum w + lambda), found before the regression; None
    # where there is none
    row_penalty: float | None = None
    weights: Floats | None = None  # w_k, (n,), the same in every row; None: all 1
    spreads: Floats | None = None  # S_k, (n, d, d), a covariance: what is uncertain of the regressors
    shifts: Floats | None = None  # s_k, (n, d), the covariance of regressors and offset, over the noise

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
        # All that is known of A beside the feature itself is the prior, B = I, so levels are eigenvalues of
        # X^T X.
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
            # A_O u = sum_O w_k (x_k r_k - s_k), A_O = I + sum_O w_k (x_k x_k^T + S_k).
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
            # Only what was not observed is ever predicted in a comparison of two rows.
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

    Half of z / 2 and half of 0 is z / 4.

    >>> half = RegressionMap(np.ones((1, 1)), np.zeros(1)), RegressionMap(np.zeros((1, 1)), np.zeros(1))
    >>> RegressionMixture(half, np.array([0.5, 0.5])).slopes.round(9)
    array([0.25])
    """

    parts: tuple[RegressionMap, ...]
    weights: Floats  # (k,), >= 0; they sum to 1

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
