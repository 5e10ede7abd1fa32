"""Figures of ratios D / d as plain functions of vectors, one entry a pair."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats

_LEADING = 16
_N_LEADING = 1 << _LEADING
_CHUNK = 1 << 19


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
    """Return the values of the given 0-based ranks, exactly, without sorting or copying all values.

    The leading bits of floats, read as integers, are ordered as the floats are. One pass counts them; a second one takes
    out the few values that share them with a wanted rank, and only those are partitioned.

    Parameters
    ----------
    values : ndarray, shape (n,)
        None NaN; infinity is allowed.
    ranks : list of int
        Each from 0 to n - 1.

    Examples
    --------
    >>> order_statistics(np.array([3.0, 1.0, np.inf, 2.0]), [0, 2, 3])
    [1.0, 3.0, inf]
    """
    if values.size <= _CHUNK:
        return [float(value) for value in np.partition(values, sorted(set(ranks)))[ranks]] if ranks else []
    counts = np.zeros(_N_LEADING, dtype=np.int64)
    for chunk in _chunks(values):
        counts += np.bincount(_leading_bits(chunk), minlength=_N_LEADING)
    ends = np.cumsum(counts)
    wanted = np.searchsorted(ends, ranks, side="right")
    sharing = _values_sharing(values, sorted(set(wanted.tolist())))
    found = []
    for rank, leading in zip(ranks, wanted.tolist(), strict=True):
        within = rank - int(ends[leading] - counts[leading])
        found.append(float(np.partition(sharing[leading], within)[within]))
    return found


def _values_sharing(values: Floats, wanted: list[int]) -> dict[int, Floats]:
    """Return, for each wanted pattern of leading bits, the values that have it."""
    is_wanted = np.zeros(_N_LEADING, dtype=bool)
    is_wanted[wanted] = True
    parts = [chunk[is_wanted[_leading_bits(chunk)]] for chunk in _chunks(values)]
    chosen = np.concatenate(parts) if parts else values
    leading = _leading_bits(chosen)
    return {pattern: chosen[leading == pattern] for pattern in wanted}


def _chunks(values: Floats) -> Iterator[Floats]:
    for k in range(0, values.size, _CHUNK):
        yield values[k : k + _CHUNK]


def _leading_bits(chunk: Floats) -> NDArray[np.int64]:
    """Return the 16 leading bits as numbers from 0 to 65535 in the order of the values."""
    bits: NDArray[np.int64] = (chunk + 0.0).view(np.int64)  # Adding zero turns -0.0 into 0.0.
    flipped_if_negative = bits ^ ((bits >> 63) & np.int64(2**63 - 1))
    return (flipped_if_negative >> (64 - _LEADING)) + (_N_LEADING >> 1)
