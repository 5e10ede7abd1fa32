"""A constant for each individual: the more was observed of somebody, the less one value can move his estimate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from likewise._typing import Counts, Floats, Indices
from likewise.certificates.operator_norm import upward
from likewise.certificates.regression import RegressionCertificate
from likewise.certificates.regression_map import RegressionMap
from likewise.certificates.steepness import steepest_images
from likewise.checks import checked_instance
from likewise.errors import ShapeError
from likewise.writing import PathLike, spreadsheet_safe, write_file

if TYPE_CHECKING:
    import polars

_EXACT = 32
"""Features of a row whose slope is searched for; of the others a bound that is at most twice as large tells that it is smaller."""


@dataclass(frozen=True)
class OwnConstant:
    """K_i of one individual, who is named by id, or by position where there are no ids."""

    individual: Any
    constant: float


@dataclass(frozen=True)
class OwnConstants:
    """What is proved of single individuals: D <= K_i d for every pair that one is in, the other seen or not."""

    n_individuals: int  # those of the sandwich whose rows the constant speaks of
    median: float  # of K_i over them
    largest: tuple[OwnConstant, ...]  # the individuals with the largest constants, the largest first


@dataclass(frozen=True, eq=False)
class IndividualConstants:
    """K_i of everybody in an audit; each field has an entry for each individual."""

    individuals: NDArray[Any]  # ids
    n_observed: Counts  # observations that the estimate was made from
    # D <= K_i d of the estimate, for every pair that one is in; NaN for a row outside the domain
    estimate: Floats
    # the same of the outputs of the algorithm that runs on it; None where it has no constant
    outputs: Floats | None

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with a row for each individual.

        Its columns are ``individual``, ``n_observed``, ``constant_of_estimate`` and ``constant_of_outputs``; a constant is null where there is none.
        """
        return self._frame(self.individuals.tolist())

    def to_csv(self, path: PathLike) -> None:
        """Write the frame as CSV, or raise OutputError and leave no file; text that a spreadsheet would run as a formula begins with an apostrophe."""
        safe = [spreadsheet_safe(name) for name in self.individuals.tolist()]
        write_file(path, self._frame(safe).write_csv())

    def _frame(self, names: list[Any]) -> polars.DataFrame:
        import polars as pl

        columns = {
            "individual": names,
            "n_observed": self.n_observed,
            "constant_of_estimate": self.estimate,
            "constant_of_outputs": self.outputs,
        }
        return pl.DataFrame(columns, schema_overrides={"constant_of_outputs": pl.Float64}).fill_nan(None)


def individual_constants(proved: RegressionCertificate, values: sparse.csr_array) -> Floats:
    """Return K_i of each row: ``D <= K_i d_c`` for every pair that the row is in, the other seen or not.

    In a pair all information is at least that of the row, ``A_U >= A_O``, and that of any feature that only the other observed besides. So slopes are
    ``sup ||X A^-1 y||`` over such A (`likewise.certificates.steepness`), which fall as more is observed, where the constant for all rows is that of a row
    with one observation.

    Parameters
    ----------
    proved : RegressionCertificate
        Of an estimate: ``certificate_.regression``.
    values : csr_array, shape (k, n)
        Rows within its domain, on the working range; a stored entry is an observation.

    Returns
    -------
    ndarray, shape (k,)
        At most the constant for all rows.

    Raises
    ------
    InputError
        No certificate of a regression; rows that are not a csr_array.
    ShapeError
        Rows of other features.
    ObservationError
        Rows outside the domain, of which nothing is proved.

    Examples
    --------
    Of 50 equal features somebody observed all, somebody one.

    >>> from likewise.certificates.regression import certify_regression
    >>> regression = RegressionMap(np.ones((50, 1)), np.zeros(50))
    >>> rows = sparse.csr_array(np.vstack([np.ones(50), np.eye(50)[0]]))
    >>> rows.eliminate_zeros()
    >>> proved = certify_regression(regression, rows)
    >>> individual_constants(proved, rows).round(2), round(proved.certificate.value, 2)
    (array([0.14, 3.54]), 3.54)
    """
    checked_instance(
        "proved",
        proved,
        RegressionCertificate,
        "the certificate of a regression",
        "an estimator's certificate_.regression",
    )
    checked_instance(
        "values", values, sparse.csr_array, "a csr_array of rows", "observed.scaled('symmetric').values"
    )
    n = proved.map.shape[0]
    if values.shape[1] != n:
        raise ShapeError(f"rows of {values.shape[1]} features", f"{n} features")
    proved.ensure_covers(values)
    return constants_within(proved, values)


def constants_within(proved: RegressionCertificate, values: sparse.csr_array) -> Floats:
    """Return what `individual_constants` does of rows that are known to lie in the domain."""
    if isinstance(proved.map, RegressionMap):
        found = _constants(proved, proved.map, values)
    else:
        of_parts = [_constants(proved, part, values) for part in proved.map.parts]
        found = np.asarray(proved.map.weights @ np.asarray(of_parts))
    return np.minimum(found, proved.certificate.value)


def _constants(proved: RegressionCertificate, regression: RegressionMap, values: sparse.csr_array) -> Floats:
    """Return K_i of each row for one regression, within the domain and with the c of what is proved."""
    regressors = np.sqrt(regression.column_weights)[:, None] * regression.regressors
    gram = regression.regressors.T @ regression.regressors
    found = np.empty(values.shape[0])
    for row, (first, last) in enumerate(pairwise(values.indptr.tolist())):
        observed = values.indices[first:last].astype(np.intp)
        # A_O: what is known of the row's coefficients once its own observations are in.
        information = np.eye(regression.shape[1]) + regressors[observed].T @ regressors[observed]
        if regression.spreads is not None:
            weights = regression.column_weights[observed]
            information += np.tensordot(weights, regression.spreads[observed], 1)
        # Generalised eigenvalues of G and A_O, as `steepest_images` takes them.
        levels, axes = eigh(gram, information)
        found[row] = _constant(proved, regression, observed, levels, (regressors @ axes) ** 2)
    return found


def _constant(
    proved: RegressionCertificate,
    regression: RegressionMap,
    observed: Indices,
    levels: Floats,
    squares: Floats,
) -> float:
    """Return K_i of a row, by the largest of both kinds: features that both observed, and that one did."""
    prediction, offset, size = proved.reach
    top = float(np.sqrt(max(levels[-1], 0.0))) if levels.size else 0.0
    # Both observed the feature: the step is its slope. One did: the other has its own prediction instead,
    # which is at most that far away.
    slopes = _slopes(regression, observed, levels, squares)
    offsets = _offset_slopes(regression, observed, top)
    share = min(1.0, top / regression.norm) if regression.norm else 0.0  # ||X A^-1|| is at most ||X A^-1/2||
    alone = slopes * (1 + prediction) + offsets * (1 + offset) + share * regression.excesses(size)
    value = max(float((slopes + offsets).max()), float(alone.max()) / proved.empty)
    return upward(value, 8 * regression.shape[0])


def _slopes(regression: RegressionMap, observed: Indices, levels: Floats, squares: Floats) -> Floats:
    """Return a slope for each feature: exact where it is largest, elsewhere half the diameter of the ball plus its centre."""
    lacking = np.ones(squares.shape[0], dtype=bool)
    lacking[observed] = False
    levels = np.maximum(levels, 0.0)
    # F maps the ball of the dual to one about F z / 2 with radius at most ||F|| ||z|| / 2; a feature that
    # the row lacks adds y y^T, which shrinks z (Sherman, Morrison).
    tau, centre = squares.sum(axis=1), np.sqrt(squares @ levels)
    shrunk = np.where(lacking, 1 + tau, 1.0)
    bounds = (centre / shrunk + np.sqrt(levels.max(initial=0.0) * tau / shrunk)) / 2
    roots = np.sqrt(regression.column_weights)
    slopes = np.minimum(roots * bounds, regression.slopes)
    # Only the largest slope matters, and the cheap bound says which can be it.
    largest = np.argsort(-slopes)[:_EXACT]
    exact = roots[largest] * steepest_images(levels, squares[largest], lacking[largest])
    slopes[largest] = np.minimum(slopes[largest], exact)
    return np.asarray(slopes)


def _offset_slopes(regression: RegressionMap, observed: Indices, top: float) -> Floats:
    """Return how far one unit of each feature moves the estimate through the offset of the row; see `RegressionMap.offset_slopes`."""
    if regression.row_penalty is None or not np.any(regression.offset_slopes):
        return np.zeros(regression.shape[0])
    w, penalty = regression.column_weights, regression.row_penalty
    # The weights of the union hold at least the row's own, and the feature's.
    least = w + w[observed].sum()
    least[observed] -= w[observed]
    total = np.maximum(least, penalty)
    by_regression = min(top, 0.5 * regression.norm) * w * np.sqrt(total) / (total + penalty)
    own = np.sqrt(regression.shape[0]) * w / (least + penalty) + by_regression
    return np.asarray(np.minimum(own, regression.offset_slopes))
