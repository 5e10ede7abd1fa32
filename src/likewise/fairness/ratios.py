"""Figures of ratios D / d as plain functions of vectors, one entry a pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def pair_ratios(output: Floats, reference: Floats) -> Floats:
    """Return D / d of each pair: 0 where both are 0 (no violation), infinite where only d is.

    Examples
    --------
    >>> pair_ratios(np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 0.0]))
    array([0.5, 0. , inf])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = output / reference
    ratios[(reference == 0) & (output == 0)] = 0.0
    return ratios


def ordered_mean(total: float, n_individuals: int, left_out: int = 0) -> float:
    """Return the mean over ordered pairs, where i = j contributes 0 and counts.

    ``(1/m^2) sum_ij`` of a symmetric quantity whose sum over i < j is `total`; `left_out` unordered pairs do not count.
    """
    return 2 * total / (n_individuals**2 - 2 * left_out)


def share_rank(share: float, n_pairs: int) -> int:
    """Return the 0-based rank of the smallest value that at least `share` of all values do not exceed."""
    # A share like 0.1 is not a binary fraction: 0.1 * 30 exceeds 3 by rounding and must still mean 3 pairs.
    needed = np.ceil(share * n_pairs * (1 - 4 * np.finfo(float).eps))
    return min(max(int(needed), 1), n_pairs) - 1


def order_statistics(values: Floats, ranks: list[int]) -> list[float]:
    """Return the values of the given 0-based ranks, without a full sort."""
    return [float(value) for value in np.partition(values, sorted(set(ranks)))[ranks]] if ranks else []
