"""Every individual against every other, at the cost of the features they share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.backend import use_native
from likewise._kernels.bit_planes import SplitColumns
from likewise._kernels.checks import checked_csr, checked_range
from likewise._kernels.fallback import pairs as fallback
from likewise._kernels.native import pairs as native
from likewise._kernels.pair_lists import PairLists, Walk
from likewise._kernels.threads import thread_count
from likewise._typing import Floats


class PairWalk:
    """The observations by individual and by feature, prepared for walks over pairs that share a feature.

    Made by `from_csr`; immutable. A walk from individual i goes through the lists of those who observed each
    feature that i observed; over all i this costs the sum of squared feature counts, not m^2 n. For l1 the features that many
    observed are compared as bits instead, where values are few.
    """

    def __init__(
        self, lists: PairLists, walk_pairs: Callable[..., None], compare_planes: Callable[..., None]
    ) -> None:
        self.lists, self.walk_pairs, self.compare_planes = lists, walk_pairs, compare_planes

    @classmethod
    def from_csr(cls, matrix: Any) -> Self:
        """Check a sparse matrix (individuals are rows) and lay it out both ways.

        Raises
        ------
        InputError
            If `matrix` is not a sparse matrix, its indices contradict its shape, or it holds a NaN or infinity.
        """
        lists = PairLists.of(checked_csr(matrix, np.float64))
        if use_native():
            return cls(lists, native.walk_pairs, native.compare_planes)
        return cls(lists, fallback.walk_pairs, fallback.compare_planes)

    @cached_property
    def split(self) -> SplitColumns:
        """What l1 distances are made from."""
        return SplitColumns.of(self.lists)

    @property
    def shape(self) -> tuple[int, int]:
        """``(m, n)``."""
        return self.lists.shape


def absolute_differences(
    pairs: PairWalk, start: int, stop: int, others: range | None = None, n_threads: int | None = None
) -> Floats:
    """Return the l1 distances ``||z_i - z_j||_1`` of zero-filled rows, from i in [start, stop) to every j in `others`.

    Computed as ``(||z_i|| - s) + (||z_j|| - s)``, s the sum of min(|z_ik|, |z_jk|) over shared features of equal
    sign. All three sums run over features in increasing order and rounding is monotonic, so both terms are >= 0,
    and exactly 0 for identical rows. Features that many observed are compared as bits, where there are few values: the sum of what
    lies between neighbouring values, times the bits in which i and j differ there. The absolute error is at most
    ``(n_i + n_j + g + 4) eps (||z_i|| + ||z_j||)``, n_i the observations of i, g <= 16 the distinct values other than 0 where
    bits are compared, else 0, eps = 1.1e-16.

    Parameters
    ----------
    pairs : PairWalk
    start, stop : int
        Range of individuals i.
    others : range, optional
        Individuals j, consecutive; by default all.
    n_threads : int, optional
        By default LIKEWISE_NUM_THREADS, else the processors that this process may use. The result has the same
        bits whatever their number.

    Returns
    -------
    ndarray of float64, shape (stop - start, n_others)
    """
    rows, others, sums = _checked(pairs, range(start, stop), others)
    planes, rest = pairs.split.planes, pairs.split.rest
    if planes is not None:
        pairs.compare_planes(planes, rows, others, sums, thread_count(n_threads))
    if rest is not None:
        pairs.walk_pairs(rest, Walk.ABSOLUTE, rows, others, sums, None, thread_count(n_threads))
    return sums


def squared_differences(
    pairs: PairWalk, start: int, stop: int, others: range | None = None, n_threads: int | None = None
) -> Floats:
    """Return the squared l2 distances ``||z_i - z_j||_2^2`` of zero-filled rows.

    Parameters as for `absolute_differences`. Computed as ``(||z_i||^2 - s) + (||z_j||^2 - s)``, s = z_i . z_j, cut at
    0; exactly 0 for identical rows. The absolute error is at most ``(n_i + n_j + 4) eps (||z_i||^2 + ||z_j||^2)``, so
    relative accuracy is lost for rows that nearly agree; squares must not underflow.
    """
    rows, others, sums = _checked(pairs, range(start, stop), others)
    pairs.walk_pairs(pairs.lists, Walk.SQUARED, rows, others, sums, None, thread_count(n_threads))
    return sums


def shared_differences(
    pairs: PairWalk, start: int, stop: int, others: range | None = None, n_threads: int | None = None
) -> tuple[NDArray[np.int32], Floats]:
    """Return, over the features that both observed, how many there are and the sum of ``|z_ik - z_jk|``.

    Parameters as for `absolute_differences`. A stored zero is an observation.

    Returns
    -------
    counts : ndarray of int32, shape (stop - start, n_others)
    sums : ndarray of float64, shape (stop - start, n_others)
    """
    rows, others, sums = _checked(pairs, range(start, stop), others)
    counts = np.zeros(sums.shape, np.int32)
    pairs.walk_pairs(pairs.lists, Walk.SHARED, rows, others, sums, counts, thread_count(n_threads))
    return counts, sums


def _checked(pairs: PairWalk, rows: range, others: range | None) -> tuple[range, range, Floats]:
    """Return the individuals on both sides, and zeros to add to."""
    m = pairs.shape[0]
    others = range(m) if others is None else others
    for asked in (rows, others):
        checked_range(asked.start, asked.stop, m, asked.step)
    return rows, others, np.zeros((len(rows), len(others)))
