"""Every individual against every other, at the cost of the features they share."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.checks import checked_csr, checked_range
from likewise._kernels.numpy_pairs import NumpyPairs
from likewise._kernels.threads import thread_count
from likewise.errors import ShapeError

Doubles = NDArray[np.float64]


class PairWalk:
    """The observations by individual and by feature, prepared for walks over pairs that share a feature.

    Made by `from_csr`; immutable. A walk from individual i goes through the lists of those who observed each
    feature that i observed; over all i this costs the sum of squared feature counts, not m^2 n.
    """

    def __init__(self, lists: NumpyPairs) -> None:
        self.lists = lists

    @classmethod
    def from_csr(cls, matrix: Any) -> Self:
        """Check a sparse matrix (individuals are rows) and lay it out both ways.

        Raises
        ------
        InputError
            If `matrix` is no sparse matrix, its indices contradict its shape, or it holds a NaN or infinity.
        """
        return cls(NumpyPairs.from_csr(checked_csr(matrix, np.float64)))

    @property
    def shape(self) -> tuple[int, int]:
        """``(m, n)``."""
        return self.lists.shape


def absolute_differences(
    pairs: PairWalk, start: int, stop: int, out: Doubles | None = None, n_threads: int | None = None
) -> Doubles:
    """Return the l1 distances ``||z_i - z_j||_1`` of zero-filled rows, from i in [start, stop) to every j.

    Computed as ``(||z_i|| - s) + (||z_j|| - s)``, s the sum of min(|z_ik|, |z_jk|) over shared features of
    equal sign. All three sums run over features in increasing order, and rounding is monotonic, so both terms
    are >= 0, and exactly 0 for identical rows. The absolute error is at most
    ``(n_i + n_j + 4) eps (||z_i|| + ||z_j||)``, n_i the observations of i, eps = 1.1e-16.

    Parameters
    ----------
    pairs : PairWalk
    start, stop : int
        Range of individuals.
    out : ndarray of float64, shape (stop - start, m), optional
        C-contiguous array to write into.
    n_threads : int, optional
        By default LIKEWISE_NUM_THREADS, else the processors that this process may use. The result has the
        same bits whatever their number.

    Returns
    -------
    ndarray of float64, shape (stop - start, m)
    """
    start, stop, out = _prepared(pairs, start, stop, out)
    pairs.lists.absolute(start, stop, out, thread_count(n_threads))
    return out


def squared_differences(
    pairs: PairWalk, start: int, stop: int, out: Doubles | None = None, n_threads: int | None = None
) -> Doubles:
    """Return the squared l2 distances ``||z_i - z_j||_2^2`` of zero-filled rows.

    Parameters as for `absolute_differences`. Computed as ``||z_i||^2 + ||z_j||^2 - 2 z_i . z_j``, cut at 0 and
    exactly 0 for identical rows; the absolute error is at most ``(n_i + n_j + 4) eps (||z_i||^2 + ||z_j||^2)``, so
    *relative* accuracy is lost for rows that nearly agree.
    """
    start, stop, out = _prepared(pairs, start, stop, out)
    pairs.lists.squared(start, stop, out, thread_count(n_threads))
    return out


def shared_differences(
    pairs: PairWalk, start: int, stop: int, n_threads: int | None = None
) -> tuple[NDArray[np.int32], Doubles]:
    """Return, over the features that both observed, how many there are and the sum of ``|z_ik - z_jk|``.

    Parameters as for `absolute_differences`. A stored zero is an observation.

    Returns
    -------
    counts : ndarray of int32, shape (stop - start, m)
    sums : ndarray of float64, shape (stop - start, m)
    """
    start, stop, sums = _prepared(pairs, start, stop, None)
    counts = np.empty(sums.shape, np.int32)
    pairs.lists.shared(start, stop, counts, sums, thread_count(n_threads))
    return counts, sums


def _prepared(pairs: PairWalk, start: int, stop: int, out: Doubles | None) -> tuple[int, int, Doubles]:
    m = pairs.shape[0]
    start, stop = checked_range(start, stop, m)
    shape = (stop - start, m)
    if out is None:
        return start, stop, np.empty(shape)
    if out.shape != shape or out.dtype != np.float64 or not (out.flags.c_contiguous and out.flags.writeable):
        raise ShapeError(
            f"out is {out.dtype} {out.shape}", f"a writeable C-contiguous float64 array of {shape}"
        )
    return start, stop, out
