"""Two rows that a regression drives apart as far as a search can find: from below what a certificate bounds from above."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from likewise._typing import Floats, Indices
from likewise.certificates.regression_map import RegressionMap, RegressionMixture

_MOST_STARTS = 32
_MOST_OBSERVED = 64


@dataclass(frozen=True, eq=False)
class WorstRows:
    """Two rows that differ in the value of one feature, and by how much their estimates differ for it."""

    # (2, n) on the working range; admissible rows, with estimates near the offsets, where nothing is
    # clipped
    rows: sparse.csr_array
    feature: int  # the one that differs, by its position
    ratio: float  # l2 between the estimates over l1 between the rows: no constant below it holds


def worst_rows(regression: RegressionMap | RegressionMixture, *, starts: int = _MOST_STARTS) -> WorstRows:
    """Search for the pattern of observations under which one value moves the estimate most.

    Rows of one pattern O differ by ``X A_O^-1 w_k x_k dz_k``, whatever their other values are. For each of the `starts` features with the
    largest slopes, the search begins with that feature alone and observes another one as long as that helps: it helps where ``||x_k||`` is
    above 1, since then a row that says nothing else is already moved less. What it finds is attained, by the rows that it returns. Of a
    mixture the part of the largest weight is searched, and the ratio is that of the mixture for the rows found.

    >>> found = worst_rows(RegressionMap(np.diag([1.0, 0.5]), np.zeros(2)))
    >>> found.feature, found.ratio, found.rows.toarray().tolist()
    (0, 0.5, [[0.25, 0.0], [-0.25, 0.0]])
    """
    if isinstance(regression, RegressionMixture):
        return _of_mixture(regression, worst_rows(regression.leading, starts=starts))
    slopes = regression.slopes + regression.offset_slopes
    best, feature, observed = 0.0, int(slopes.argmax()), np.array([int(slopes.argmax())])
    for k in np.argsort(-slopes, kind="stable")[:starts].tolist():
        ratio, pattern = _best_pattern(regression, k)
        if ratio > best:
            best, feature, observed = ratio, k, pattern
    return WorstRows(_rows(regression, feature, observed), feature, best)


def _of_mixture(mixture: RegressionMixture, found: WorstRows) -> WorstRows:
    """Return the same rows with the ratio of the mixture."""
    observed = found.rows.indices[: found.rows.indptr[1]].tolist()
    images = []
    for part in mixture.parts:
        matrix = np.eye(part.shape[1])
        for k in observed:
            matrix += _information(part, k)
        images.append(_image(part, _inverse(matrix), found.feature, observed))
    return replace(found, ratio=float(np.linalg.norm(mixture.weights @ np.asarray(images))))


def _best_pattern(regression: RegressionMap, k: int) -> tuple[float, Indices]:
    """Return the ratio of feature k, and the features that were observed for it, k among them."""
    n, d = regression.shape
    matrix, ratio, candidate = np.eye(d), 0.0, k
    observed: list[int] = []
    for _ in range(_MOST_OBSERVED):
        larger = matrix + _information(regression, candidate)
        reached = _ratio(regression, _inverse(larger), k, [*observed, candidate])
        # Whatever else is observed steadies the row: from here on one value moves it less.
        if observed and reached <= ratio:
            break
        matrix, ratio = larger, reached
        observed.append(candidate)
        if len(observed) == n:
            break
        candidate = _most_promising(regression, _inverse(matrix), k, observed)
    return ratio, np.sort(np.array(observed, dtype=np.intp))


def _information(regression: RegressionMap, k: int) -> Floats:
    x = regression.regressors[k]
    spread = 0.0 if regression.spreads is None else regression.spreads[k]
    return np.asarray(regression.column_weights[k] * (np.outer(x, x) + spread))


def _inverse(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _ratio(regression: RegressionMap, inverse: Floats, k: int, observed: list[int]) -> float:
    """Return by how much the estimate of a row moves for one unit of feature k."""
    return float(np.linalg.norm(_image(regression, inverse, k, observed)))


def _image(regression: RegressionMap, inverse: Floats, k: int, observed: list[int]) -> Floats:
    """Return what one unit of feature k adds to the estimate of a row."""
    w, x = regression.column_weights[observed], regression.regressors[observed]
    share = 0.0
    if regression.row_penalty is not None:  # the offset takes its share of the unit from every residual
        share = float(regression.column_weights[k] / (w.sum() + regression.row_penalty))
    side = regression.column_weights[k] * regression.regressors[k] - share * (w @ x)
    return np.asarray(share + regression.regressors @ (inverse @ side))


def _most_promising(regression: RegressionMap, inverse: Floats, k: int, observed: list[int]) -> int:
    """Return the feature that moves k's step most when it is observed too, by the formula of Sherman and Morrison, uncertainty left out."""
    x = regression.regressors * np.sqrt(regression.column_weights)[:, None]
    step = inverse @ regression.regressors[k]
    images = x @ inverse
    after = step - images * ((x @ step) / (1 + np.einsum("kd,kd->k", images, x)))[:, None]
    moved = np.einsum("kd,de,ke->k", after, x.T @ x, after, optimize=True)
    moved[observed] = -np.inf
    return int(moved.argmax())


def _rows(regression: RegressionMap, feature: int, observed: Indices) -> sparse.csr_array:
    """Return two rows of a pattern whose values are the offsets, but for a quarter more and less of the feature."""
    # A quarter of room on either side, so that both rows stay within [-1, 1].
    values = np.clip(np.tile(regression.offsets[observed], (2, 1)), -0.75, 0.75)
    place = np.searchsorted(observed, feature)
    values[:, place] += [0.25, -0.25]
    size = observed.size
    return sparse.csr_array(
        (values.ravel(), np.tile(observed, 2), [0, size, 2 * size]), shape=(2, regression.shape[0])
    )
