"""How a row is completed from what is observed of it: by one linear map for all rows, or by a regression on the rows of a factor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.certificates.regression_map import RegressionMap, RegressionMixture
from likewise.errors import InputError, ShapeError
from likewise.estimation.base.weighting import AnyWeighting, ValueWeighting, Weighting, stored_weighting
from likewise.observations import Features
from likewise.observations.table import Values, rows_of_entries, with_data

_BLOCK_BYTES = 16 << 20


def ridge_rows(
    values: Values,
    basis: Floats,
    penalties: Floats,
    weights: Floats | None = None,
) -> Floats:
    """Solve ``min sum_j w_ij (values_ij - c_i b_j)^2 + sum_l penalty_l c_il^2`` for each row i of `values`, (k, n), over its stored entries j.

    `basis` has the rows ``b_j``, (n, r); penalties, (r,), are above 0, weights >= 0. The coefficients, (k, r), are 0 for rows without an entry. The normal
    equations of a row cost ``n_i r^2`` operations; they are solved for many rows at once.

    >>> from scipy import sparse
    >>> ridge_rows(sparse.csr_array([[2.0, 4.0]]), np.array([[1.0], [2.0]]), np.array([5.0]))
    array([[1.]])
    """
    k, rank = values.shape[0], basis.shape[1]
    basis = np.ascontiguousarray(basis, dtype=np.float64)
    coefficients = np.zeros((k, rank))
    if rank == 0:
        return coefficients
    step = max(1, _BLOCK_BYTES // (8 * rank * rank))
    for start in range(0, k, step):
        stop = min(start + step, k)
        grams, sides = _normal_equations(values, basis, weights, start, stop)
        diagonal = np.arange(rank)
        grams[:, diagonal, diagonal] += penalties
        coefficients[start:stop] = np.linalg.solve(grams, sides[:, :, None])[:, :, 0]
    return coefficients


def _normal_equations(
    values: Values, basis: Floats, weights: Floats | None, start: int, stop: int
) -> tuple[Floats, Floats]:
    rank = basis.shape[1]
    grams, sides = np.empty((stop - start, rank, rank)), np.empty((stop - start, rank))
    bounds = values.indptr[start : stop + 1].tolist()
    for row, (first, last) in enumerate(pairwise(bounds)):
        seen = basis[values.indices[first:last]]
        weighted = seen if weights is None else seen * weights[first:last, None]
        np.matmul(weighted.T, seen, out=grams[row])
        np.matmul(values.data[first:last], weighted, out=sides[row])
    return grams, sides


class Factors(Protocol):
    """What folding needs to know of an estimate."""

    @property
    def right(self) -> Floats: ...  # noqa: D102
    @property
    def gains(self) -> Floats: ...  # noqa: D102
    @property
    def column_offsets(self) -> Floats | None: ...  # noqa: D102


PENALTY_BY_COUNT = (
    "the penalty of a row grows with what is observed of it, so a row that is given what it predicts changes"
)
FEATURES_COUNT = "the estimate of a row begins at what its features say, so two people with the same observations and other features are estimated differently"
TIME_COUNTS = "observations were brought to the present by how far rows and columns drifted since, so what a value says depends on when it was given"
PATTERN_COUNTS = "the estimate of a row uses which entries were observed, beyond their values, so a row that is given what it predicts changes"
WEIGHTS_BY_ROW = "each row weighs features in its own way"
_NO_REGRESSION = "its rows are not regressions on what is observed of them"


@dataclass(frozen=True, eq=False)
class Folding(ABC):
    """From the observations of rows to their coefficients c and offset a: the row of the estimate is ``c V^T + a + column offsets``.

    What remains of an observation after the offsets, its residual, is ``z_ij - column_offset_j - a_i``. With a penalty ``lambda`` the
    offset of a row is ``a_i = sum_j w_ij (z_ij - column_offset_j) / (sum_j w_ij + lambda)`` over what is observed of it; of a row of which
    nothing is, it is 0.

    Parameters
    ----------
    row_penalty : float or None, default None
        lambda >= 0; None where rows have no offset.
    weighting : Weighting, ValueWeighting or None, default None
        The weights ``w_ij`` of observations; all 1 by default.
    """

    row_penalty: float | None = None
    weighting: AnyWeighting | None = None

    kind: ClassVar[str]
    """The name under which it is stored."""
    not_linear: ClassVar[str] = ""
    """Why the map from filled rows to the estimate is not linear; empty where it is."""

    def knowing(self, features: Features | None) -> Self:  # noqa: ARG002
        """Return the folding of rows of which more is known than their observations; the same where that does not count."""
        return self

    def stronger(self, strength: float) -> Self:
        """Return the same with the prior of every row so many times as strong: what rows are shrunk by is multiplied."""
        return replace(self, row_penalty=_stronger_penalty(self.row_penalty, strength))

    def regression(self, factors: Factors) -> RegressionMap | RegressionMixture | str:
        """Return the map as a regression of each row on what is observed of it, as its constant needs it; or why it is none."""
        if factors.right.shape[1]:
            return _NO_REGRESSION
        return self._regression(factors, np.zeros((factors.right.shape[0], 1)))

    def _regression(self, factors: Factors, regressors: Floats) -> RegressionMap | str:
        weights = shared_weights(self.weighting)
        if isinstance(weights, str):
            return weights
        offsets = factors.column_offsets
        return RegressionMap(
            regressors,
            np.zeros(factors.right.shape[0]) if offsets is None else offsets,
            row_penalty=self.row_penalty,
            weights=weights,
        )

    def fold(self, observations: Values, factors: Factors) -> tuple[Floats, Floats | None]:
        """Return the coefficients of rows, and their offsets where rows have such.

        Parameters
        ----------
        observations : csr_array, shape (k, n)
            On the method's working range; a stored entry is an observation.
        factors : LowRankEstimate
            Its ``right`` (n, r), ``gains`` (r,) and ``column_offsets`` (n,) or None.

        Returns
        -------
        coefficients : ndarray, shape (k, r)
        row_offsets : ndarray, shape (k,), or None
        """
        residuals, offsets = self.residuals(observations, factors)
        weights = None if self.weighting is None else self.weighting.weights(observations)
        return self.coefficients(residuals, weights, factors), offsets

    def residuals(self, observations: Values, factors: Factors) -> tuple[Values, Floats | None]:
        """Return what remains of the observations of rows after the offsets, and the rows' offsets.

        Parameters
        ----------
        observations : csr_array, shape (k, n)
            On the method's working range.
        factors : LowRankEstimate

        Returns
        -------
        residuals : csr_array, shape (k, n)
        row_offsets : ndarray, shape (k,), or None
        """
        data = np.asarray(observations.data, dtype=np.float64)
        if factors.column_offsets is not None:
            data = data - factors.column_offsets[observations.indices]
        if self.row_penalty is None:
            return with_data(observations, data), None
        weights = None if self.weighting is None else self.weighting.weights(observations)
        offsets = row_offsets(with_data(observations, data), self.row_penalty, weights)
        return with_data(observations, data - offsets[rows_of_entries(observations)]), offsets

    @abstractmethod
    def coefficients(self, residuals: Values, weights: Floats | None, factors: Factors) -> Floats:
        """Return the coefficients of rows, given what remains of their observations after the offsets.

        Parameters
        ----------
        residuals : csr_array, shape (k, n)
        weights : ndarray, shape (n_observed,), or None
            Of each stored entry; None where all are 1.
        factors : LowRankEstimate

        Returns
        -------
        ndarray, shape (k, r)
        """

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `from_arrays` needs, to be stored."""
        arrays: dict[str, NDArray[Any]] = {}
        if self.row_penalty is not None:
            arrays["row_penalty"] = np.asarray(self.row_penalty, dtype=np.float64)
        return arrays if self.weighting is None else arrays | self.weighting.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return what was stored.

        Raises
        ------
        InputError
            If the arrays are not those of this kind.
        """
        return cls(**cls._common_fields(arrays))

    @staticmethod
    def _common_fields(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        penalty = arrays.get("row_penalty")
        return {
            "row_penalty": None if penalty is None else non_negative("row penalty", penalty),
            "weighting": stored_weighting(arrays),
        }


@dataclass(frozen=True, eq=False)
class LinearFolding(Folding):
    """``c = ((z - centre) w) V diag(gains)``: of singular value thresholding, for which ``u_l = Z v_l / sigma_l``.

    A row of the fit folds in to its own row of the estimate, if the weights of its observations follow from `weighting`.

    Parameters
    ----------
    row_penalty, weighting
        As in `Folding`.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import ObservedMatrix, svt
    >>> estimate = svt(ObservedMatrix(np.array([[1.0, 1.0], [1.0, np.nan]]), value_range=(-1, 1)), threshold=1.0)
    >>> estimate.folding.kind
    'linear'
    """

    kind: ClassVar[str] = "linear"

    def coefficients(self, residuals: Values, weights: Floats | None, factors: Factors) -> Floats:
        """Return ``(residuals * weights) V diag(gains)``."""
        weighted = residuals if weights is None else with_data(residuals, residuals.data * weights)
        coefficients: Floats = (weighted @ factors.right) * factors.gains
        return coefficients


@dataclass(frozen=True, eq=False)
class RidgeFolding(Folding):
    """``c = argmin sum_j w_ij (residual_ij - c v_j)^2 + sum_l penalty_l c_l^2`` over what is observed of the row.

    This is how the rows of alternating least squares are made. SoftImpute with lambda has ``penalty_l = lambda / d_l``, for the
    shrunk value ``d_l``: at its solution ``U diag(d) V^T`` each row is that ridge regression on V (Hastie et al. 2015, Section 2).

    Parameters
    ----------
    row_penalty, weighting
        As in `Folding`.
    penalties : ndarray, shape (r,)
        Above 0, so that also a row with fewer observations than components has one solution. A row of which nothing is observed
        gets coefficients 0.

    References
    ----------
    Hastie, Mazumder, Lee, Zadeh, "Matrix Completion and Low-Rank SVD via Fast Alternating Least Squares", JMLR 16 (2015).

    Examples
    --------
    >>> RidgeFolding(penalties=np.array([0.5, 0.5])).kind
    'ridge'
    """

    penalties: Floats = field(kw_only=True)

    kind: ClassVar[str] = "ridge"
    not_linear: ClassVar[str] = (
        "each row is a regression on what was observed of it, so the map from a row to its estimate depends on which entries are observed"
    )

    def __post_init__(self) -> None:
        penalties = np.asarray(self.penalties, dtype=np.float64)
        if penalties.ndim != 1 or not (np.isfinite(penalties) & (penalties > 0)).all():
            raise InputError(f"penalties {self.penalties!r}", "a finite number above 0 for each component")
        object.__setattr__(self, "penalties", penalties)

    def stronger(self, strength: float) -> Self:
        """Return the same with penalties so many times as large; see `Folding.stronger`."""
        penalty = _stronger_penalty(self.row_penalty, strength)
        return replace(self, row_penalty=penalty, penalties=strength * self.penalties)

    def regression(self, factors: Factors) -> RegressionMap | str:
        """Return the ridge regression with its penalty taken into the regressors; see `Folding.regression`."""
        # With c = c' / sqrt(penalty) the penalty is |c'|^2, the same for all components.
        return self._regression(factors, factors.right / np.sqrt(self.penalties))

    def coefficients(self, residuals: Values, weights: Floats | None, factors: Factors) -> Floats:
        """Return the ridge regression of each row on the rows of V."""
        if self.penalties.size != factors.right.shape[1]:
            raise ShapeError(
                f"{self.penalties.size} penalties", f"{factors.right.shape[1]}, one for each component"
            )
        return ridge_rows(residuals, factors.right, self.penalties, weights)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `from_arrays` needs, to be stored."""
        return super().to_arrays() | {"penalties": self.penalties}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return what was stored."""
        if "penalties" not in arrays:
            raise InputError("a ridge folding without penalties", "penalties")
        if arrays.get("by_count", False):  # of a version that knew it; nothing ever stored it
            raise InputError("a ridge folding whose penalties count observations", "one without")
        return cls(**cls._common_fields(arrays), penalties=arrays["penalties"])


def shared_weights(weighting: Weighting | ValueWeighting | None) -> Floats | str | None:
    """Return the weights of the columns that all rows share, None where all are 1; or why there are none such."""
    if weighting is None:
        return None
    return (
        weighting.of_columns()
        if isinstance(weighting, Weighting) and not weighting.by_row
        else WEIGHTS_BY_ROW
    )


def _stronger_penalty(penalty: float | None, strength: float) -> float | None:
    """Multiply a penalty; one of 0 becomes ``strength - 1``, so that it grows too and stays 0 at a strength of 1."""
    if penalty is None:
        return None
    return strength * penalty if penalty else strength - 1


def row_offsets(values: Values, penalty: float, weights: Floats | None = None) -> Floats:
    """Return ``sum_j w_ij values_ij / (sum_j w_ij + penalty)`` of each row; 0 where nothing is observed.

    >>> from scipy import sparse
    >>> row_offsets(sparse.csr_array([[1.0, 2.0], [0.0, 0.0]]), penalty=1.0)
    array([1., 0.])
    """
    weighted = values.data if weights is None else values.data * weights
    return shrunk_means(
        rows_of_entries(values),
        weighted,
        np.ones_like(weighted) if weights is None else weights,
        penalty,
        values.shape[0],
    )


def shrunk_means(
    labels: NDArray[np.integer], weighted: Floats, weights: Floats, penalty: float, n_labels: int
) -> Floats:
    """Return for each label the sum of its weighted values over the sum of its weights plus a penalty; 0 for 0 / 0."""
    sums = np.bincount(labels, weighted, minlength=n_labels)
    totals = np.bincount(labels, weights, minlength=n_labels) + penalty
    means: Floats = np.divide(sums, totals, out=np.zeros(n_labels), where=totals > 0)
    return means


def non_negative(name: str, value: Any) -> float:
    """Return a number >= 0, also infinite, or raise InputError."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise InputError(f"{name} {value!r}", "a number >= 0") from error
    if not number >= 0:
        raise InputError(f"{name} {number!r}", "a number >= 0")
    return number
