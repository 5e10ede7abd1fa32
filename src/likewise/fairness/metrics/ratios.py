"""Ratios D / d of many pairs: their means and order statistics, as plain functions of vectors, one entry a pair."""

from __future__ import annotations

import numpy as np

from likewise._typing import Floats


def ordered_mean(total: float, n_individuals: int, left_out: int = 0) -> float:
    """Return the mean over ordered pairs, where i = j contributes 0 and counts.

    ``(1/m^2) sum_ij`` of a symmetric quantity whose sum over i < j is `total`; `left_out` unordered pairs do not count.
    """
    return 2 * total / (n_individuals**2 - 2 * left_out)


def finite_mean(ratios: Floats) -> float:
    """Return the mean of the finite ratios; NaN without one."""
    finite = np.isfinite(ratios)
    count = np.count_nonzero(finite)
    return float(np.sum(ratios, where=finite)) / count if count else float("nan")


def share_rank(share: float, n_pairs: int) -> int:
    """Return the 0-based rank of the smallest value that at least `share` of all values do not exceed."""
    # A share like 0.1 is not a binary fraction: 0.1 * 30 exceeds 3 by rounding and must still mean 3 pairs.
    needed = np.ceil(share * n_pairs * (1 - 4 * np.finfo(float).eps))
    return min(max(int(needed), 1), n_pairs) - 1


def order_statistics(values: Floats, ranks: list[int]) -> list[float]:
    """Return the values of the given 0-based ranks, without sorting all; no value is NaN, infinity is allowed.

    >>> order_statistics(np.array([3.0, 1.0, np.inf, 2.0]), [0, 2, 3])
    [1.0, 3.0, inf]
    """
    return [float(value) for value in np.partition(values, sorted(set(ranks)))[ranks]] if ranks else []
