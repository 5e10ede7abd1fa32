"""What is added up over pairs, in one sweep over their distances d and D."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.backend import use_native
from likewise._kernels.fallback import pair_sums as fallback
from likewise._kernels.log_bins import N_BINS
from likewise._kernels.native import pair_sums as native
from likewise._kernels.pair_sums_record import MeasuredBlock, PairBlock, PairLimits, PairSums
from likewise._typing import Counts, Floats
from likewise.errors import ShapeError


def add_pairs(
    sums: PairSums,
    limits: PairLimits,
    block: PairBlock,
    reference: Floats,
    output: Floats,
    n_largest: int = 0,
    floor: float = -np.inf,
) -> dict[str, NDArray[Any]]:
    """Add the pairs of a block; pairs whose d is NaN count nowhere.

    Infinite ratios are counted, not summed. Sums have the same bits with compiled and with NumPy kernels: pairs are taken 512 at a time, of
    which every 32nd is added one by one, then these 32 sums, then what comes of every 512, pairwise. So over B blocks the relative error of a
    sum is at most about B + 60 times 1.1e-16. Sums by group are added one by one.

    Parameters
    ----------
    sums : PairSums
        Of these limits.
    limits : PairLimits
    block : PairBlock
    reference, output : ndarray of float64, of the block's shape, or shape (n_pairs,)
        d and D; in one dimension of the pairs that count alone, row by row.
    n_largest : int
        How many pairs with the largest ratios to return.
    floor : float
        None with a smaller ratio.

    Returns
    -------
    dict of str to ndarray
        ``ratio``, ``output``, ``reference``, ``left`` and ``right`` of these pairs, in any order; ties by output distance, then by position.

    Raises
    ------
    ShapeError
        Distances that are not those of the block.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise._kernels.log_bins import EdgeCounter
    >>> from likewise._kernels.pair_sums_record import PairBlock, PairLimits, PairSums
    >>> limits = PairLimits(near=1.0, epsilon=EdgeCounter(np.array([]), "left"))
    >>> sums = PairSums(limits)
    >>> block = PairBlock(0, 2, 0, 3)
    >>> largest = add_pairs(sums, limits, block, np.array([1.0, 2.0, 2.0]), np.array([1.0, 1.0, 6.0]), 1)
    >>> float(sums.totals["ratio"]), largest["ratio"], largest["left"], largest["right"]
    (4.5, array([3.]), array([1]), array([2]))
    """
    d, D = _checked(block, reference), _checked(block, output)
    if d.shape != D.shape:
        raise ShapeError(f"d of shape {d.shape} and D of shape {D.shape}", "the same pairs")
    if limits.groups is not None and limits.groups.size < max(block.stop, block.last):
        raise ShapeError(f"groups of {limits.groups.size} individuals", "a group for everybody in the block")
    if 0 < sums.individuals.shape[-1] < max(block.stop, block.last):
        raise ShapeError(f"sums of {sums.individuals.shape[-1]} individuals", "everybody in the block")
    add = native.add_pairs if use_native() else fallback.add_pairs
    return add(sums, limits, MeasuredBlock(block, d, D), min(n_largest, block.n_pairs), floor)


def count_pairs(counts: Counts, largest: Floats, block: PairBlock, reference: Floats) -> int:
    """Count d of the pairs of a block by bin, and take the largest in each.

    Parameters
    ----------
    counts, largest : ndarray of int64 and of float64, shape (N_BINS,)
        What is added to.
    block, reference
        See `add_pairs`.

    Returns
    -------
    int
        How many pairs have no defined d.

    Raises
    ------
    ShapeError
        Distances that are not those of the block, or counts that are not by bin.
    """
    for array, kind in ((counts, np.int64), (largest, np.float64)):
        if array.shape != (N_BINS,) or array.dtype != kind or not array.flags.c_contiguous:
            raise ShapeError(f"{array.dtype} of shape {array.shape}", f"{N_BINS} bins of {np.dtype(kind)}")
    count = native.count_pairs if use_native() else fallback.count_pairs
    return count(counts, largest, block, _checked(block, reference))


def _checked(block: PairBlock, distances: Floats) -> Floats:
    """Return distances as the kernels read them."""
    if not (0 <= block.start <= block.stop < 1 << 31 and 0 <= block.first <= block.last < 1 << 31):
        raise ShapeError(f"{block}", "individuals counted from 0 to less than 2^31")
    expected = (block.n_pairs,) if distances.ndim == 1 else block.shape
    if distances.shape != expected:
        raise ShapeError(f"distances of shape {distances.shape}", f"shape {expected}, those of {block}")
    return np.ascontiguousarray(distances, dtype=np.float64)
