"""Every individual against every other, at the cost of the features they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import native_pairs, numpy_pairs
from likewise._kernels.checks import checked_csr, checked_out, checked_range
from likewise._kernels.choice import use_native
from likewise._kernels.pair_lists import Doubles, PairLists, Walk
from likewise._kernels.threads import thread_count


class PairWalk:
    """The observations by individual and by feature, prepared for walks over pairs that share a feature.

    Made by `from_csr`; immutable. A walk from individual i goes through the lists of those who observed each
    feature that i observed; over all i this costs the sum of squared feature counts, not m^2 n.
    """

    def __init__(self, lists: PairLists, walk_pairs: Callable[..., None]) -> None:
        self.lists, self.walk_pairs = lists, walk_pairs

    @classmethod
    def from_csr(cls, matrix: Any) -> Self:
        """Check a sparse matrix (individuals are rows) and lay it out both ways.

        Raises
        ------
        InputError
            If `matrix` is no sparse matrix, its indices contradict its shape, or it holds a NaN or infinity.
        """
        lists = PairLists.of(checked_csr(matrix, np.float64))
        return cls(lists, native_pairs.walk_pairs if use_native() else numpy_pairs.walk_pairs)

    @property
    def shape(self) -> tuple[int, int]:
        """``(m, n)``."""
        return self.lists.shape


def absolute_differences(
    pairs: PairWalk,
    start: int,
    stop: int,
    later_only: bool = False,
    out: Doubles | None = None,
    n_threads: int | None = None,
    others: range | None = None,
) -> Doubles:
    """Return the l1 distances ``||z_i - z_j||_1`` of zero-filled rows, from i in [start, stop) to every j in `others`.

    Computed as ``(||z_i|| - s) + (||z_j|| - s)``, s the sum of min(|z_ik|, |z_jk|) over shared features of equal
    sign. All three sums run over features in increasing order and rounding is monotonic, so both terms are >= 0,
    and exactly 0 for identical rows. The absolute error is at most ``(n_i + n_j + 4) eps (||z_i|| + ||z_j||)``,
    n_i the observations of i, eps = 1.1e-16.

    Parameters
    ----------
    pairs : PairWalk
    start, stop : int
        Range of individuals i.
    later_only : bool
        Compare with j > i alone, at little more than half the cost; the other entries are 0.
    out : ndarray of float64, shape (stop - start, n_others), optional
        C-contiguous array to write into.
    n_threads : int, optional
        By default LIKEWISE_NUM_THREADS, else the processors that this process may use. The result has the same
        bits whatever their number.
    others : range, optional
        Individuals j, consecutive; by default all.

    Returns
    -------
    ndarray of float64, shape (stop - start, n_others)
    """
    return _walked(pairs, Walk.ABSOLUTE, range(start, stop), others, later_only, out, n_threads)


def squared_differences(
    pairs: PairWalk,
    start: int,
    stop: int,
    later_only: bool = False,
    out: Doubles | None = None,
    n_threads: int | None = None,
    others: range | None = None,
) -> Doubles:
    """Return the squared l2 distances ``||z_i - z_j||_2^2`` of zero-filled rows.

    Parameters as for `absolute_differences`. Computed as ``(||z_i||^2 - s) + (||z_j||^2 - s)``, s = z_i . z_j, cut at
    0; exactly 0 for identical rows. The absolute error is at most ``(n_i + n_j + 4) eps (||z_i||^2 + ||z_j||^2)``, so
    relative accuracy is lost for rows that nearly agree; squares must not underflow.
    """
    return _walked(pairs, Walk.SQUARED, range(start, stop), others, later_only, out, n_threads)


def shared_differences(
    pairs: PairWalk,
    start: int,
    stop: int,
    later_only: bool = False,
    n_threads: int | None = None,
    others: range | None = None,
) -> tuple[NDArray[np.int32], Doubles]:
    """Return, over the features that both observed, how many there are and the sum of ``|z_ik - z_jk|``.

    Parameters as for `absolute_differences`. A stored zero is an observation.

    Returns
    -------
    counts : ndarray of int32, shape (stop - start, n_others)
    sums : ndarray of float64, shape (stop - start, n_others)
    """
    n_others = pairs.shape[0] if others is None else len(others)
    counts = np.zeros((max(stop - start, 0), n_others), np.int32)
    return counts, _walked(
        pairs, Walk.SHARED, range(start, stop), others, later_only, None, n_threads, counts
    )


def _walked(
    pairs: PairWalk,
    walk: Walk,
    rows: range,
    others: range | None,
    later_only: bool,
    out: Doubles | None,
    n_threads: int | None,
    counts: NDArray[np.int32] | None = None,
) -> Doubles:
    m = pairs.shape[0]
    others = range(m) if others is None else others
    for asked in (rows, others):
        checked_range(asked.start, asked.stop, m, asked.step)
    sums: Doubles = checked_out(out, np.empty(0), (len(rows), len(others)))
    if later_only:
        sums.fill(0.0)
    pairs.walk_pairs(pairs.lists, walk, rows, others, later_only, sums, counts, thread_count(n_threads))
    return sums
