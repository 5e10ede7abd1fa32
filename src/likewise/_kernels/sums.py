"""What is added up over pairs, in one sweep over their distances d and D."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import native_sums, numpy_sums
from likewise._kernels.choice import use_native
from likewise._kernels.log_bins import N_BINS, EdgeCounter
from likewise._kernels.pair_block import PairBlock
from likewise.errors import InputError, ShapeError

Doubles = NDArray[np.float64]
Counts = NDArray[np.int64]

COUNTS = ("pairs", "zero", "infinite", "near", "near_infinite", "violating")
TOTALS = ("reference", "output", "output_squared", "ratio", "near_ratio", "near_output", "excess")
LARGEST = ("ratio", "near_ratio", "excess")
GROUP_COLUMNS = (
    "pairs",
    "infinite",
    "similar",
    "ratio",
    "gap",
    "distance",
    "similar_infinite",
    "similar_ratio",
    "similar_gap",
)
"""What is summed for every two groups; the order of each list is that of sums.c."""


@dataclass(frozen=True, eq=False)
class PairLimits:
    """What pairs are held against.

    Parameters
    ----------
    near : float
        Pairs with d at most this large are most similar.
    epsilon : EdgeCounter
        All points of the epsilon-delta curve but the last, which all other pairs are under; counted from the left.
    histogram : EdgeCounter or None
        Edges for ratios, counted from the right.
    condition : (float, float) or None
        L and gamma of ``D <= L d + gamma``.
    groups : ndarray of int32, shape (n_individuals,), or None
        Everybody's group, from 0 to ``n_groups - 1``.
    n_groups : int
    in_bins : bool
        Whether ratios and excesses are counted in bins.

    Raises
    ------
    InputError
        Groups that are none.
    """

    near: float
    epsilon: EdgeCounter
    histogram: EdgeCounter | None = None
    condition: tuple[float, float] | None = None
    groups: NDArray[np.int32] | None = None
    n_groups: int = 0
    in_bins: bool = False

    def __post_init__(self) -> None:
        if self.groups is not None and not (
            self.groups.dtype == np.int32
            and self.groups.flags.c_contiguous
            and 0 <= self.groups.min(initial=0) <= self.groups.max(initial=0) < self.n_groups < 1 << 15
        ):
            raise InputError("groups of another type or range", f"int32 from 0 to {self.n_groups - 1}")

    @property
    def n_labels(self) -> int:
        """Two groups, lower number g and higher h, have the label ``g n_groups + h``."""
        return self.n_groups**2


class PairSums:
    """Counts, sums and maxima over pairs, none yet.

    Parameters
    ----------
    limits : PairLimits

    Attributes
    ----------
    counts, totals, largest : ndarray
        In the order of `COUNTS`, `TOTALS` and `LARGEST`.
    epsilon_counts, epsilon_largest : ndarray, shape (n_points,)
        Pairs under each point of the curve that are under none before, and the largest D among them.
    histogram : ndarray of int, shape (n_edges + 1,), or empty
        Ratios below, between and above the edges.
    ratio_bins, excess_bins : ndarray of int, shape (N_BINS,), or empty
        Finite ratios and excesses by bin.
    groups : ndarray, shape (n_columns, n_labels)
        Sums of `GROUP_COLUMNS`.
    group_largest : ndarray, shape (n_labels,)
        Largest ratios.
    """

    def __init__(self, limits: PairLimits) -> None:
        n_points, n_labels = limits.epsilon.edges.size + 1, limits.n_labels
        self.counts = np.zeros(len(COUNTS), np.int64)
        self.totals = np.zeros(len(TOTALS))
        self.largest = np.full(len(LARGEST), -np.inf)
        self.epsilon_counts, self.epsilon_largest = np.zeros(n_points, np.int64), np.zeros(n_points)
        n_places = 0 if limits.histogram is None else limits.histogram.edges.size + 1
        self.histogram = np.zeros(n_places, np.int64)
        self.ratio_bins = np.zeros(N_BINS if limits.in_bins else 0, np.int64)
        self.excess_bins = np.zeros(N_BINS if limits.in_bins and limits.condition else 0, np.int64)
        self.groups = np.zeros((len(GROUP_COLUMNS), n_labels))
        self.group_largest = np.full(n_labels, -np.inf)


def add_pairs(
    sums: PairSums,
    limits: PairLimits,
    block: PairBlock,
    reference: Doubles,
    output: Doubles,
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
    >>> limits = PairLimits(near=1.0, epsilon=EdgeCounter(np.array([]), "left"))
    >>> sums = PairSums(limits)
    >>> block = PairBlock(0, 2, 0, 3)
    >>> largest = add_pairs(sums, limits, block, np.array([1.0, 2.0, 2.0]), np.array([1.0, 1.0, 6.0]), 1)
    >>> dict(zip(TOTALS, sums.totals.tolist()))["ratio"], largest["ratio"], largest["left"], largest["right"]
    (4.5, array([3.]), array([1]), array([2]))
    """
    d, D = _checked(block, reference), _checked(block, output)
    if d.shape != D.shape:
        raise ShapeError(f"d of shape {d.shape} and D of shape {D.shape}", "the same pairs")
    if limits.groups is not None and limits.groups.size < max(block.stop, block.last):
        raise ShapeError(f"groups of {limits.groups.size} individuals", "a group for everybody in the block")
    add = native_sums.add_pairs if use_native() else numpy_sums.add_pairs
    return add(sums, limits, block, d, D, min(n_largest, block.n_pairs), floor)


def count_pairs(counts: Counts, largest: Doubles, block: PairBlock, reference: Doubles) -> int:
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
    count = native_sums.count_pairs if use_native() else numpy_sums.count_pairs
    return count(counts, largest, block, _checked(block, reference))


def _checked(block: PairBlock, distances: Doubles) -> Doubles:
    """Return distances as the kernels read them."""
    if not (0 <= block.start <= block.stop < 1 << 31 and 0 <= block.first <= block.last < 1 << 31):
        raise ShapeError(f"{block}", "individuals counted from 0 to less than 2^31")
    expected = (block.n_pairs,) if distances.ndim == 1 else block.shape
    if distances.shape != expected:
        raise ShapeError(f"distances of shape {distances.shape}", f"shape {expected}, those of {block}")
    return np.ascontiguousarray(distances, dtype=np.float64)
