"""Every individual against every other: distances at the cost of the features they share, and what is added up over pairs in one sweep."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.backend import thread_count, use_native
from likewise._kernels.checks import checked_csr, checked_range
from likewise._kernels.fallback import pairs as fallback
from likewise._kernels.native import pairs as native
from likewise._kernels.pair_lists import PairLists, SplitColumns, Walk
from likewise._kernels.pair_sums import MeasuredBlock, PairBlock, PairLimits, PairSums
from likewise._kernels.ratios import N_BINS
from likewise._typing import Counts, Floats
from likewise.errors import ShapeError


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

        Raises `InputError` if `matrix` is not a sparse matrix, its indices contradict its shape, or it holds a NaN or infinity.
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
    """Return the l1 distances ``||z_i - z_j||_1`` of zero-filled rows, from i in [start, stop) to every j in `others`, by default all.

    Computed as ``(||z_i|| - s) + (||z_j|| - s)``, s the sum of min(|z_ik|, |z_jk|) over shared features of equal
    sign. All three sums run over features in increasing order and rounding is monotonic, so both terms are >= 0,
    and exactly 0 for identical rows. Features that many observed are compared as bits, where there are few values: the sum of what
    lies between neighbouring values, times the bits in which i and j differ there. The absolute error is at most
    ``(n_i + n_j + g + 4) eps (||z_i|| + ||z_j||)``, n_i the observations of i, g <= 16 the distinct values other than 0 where
    bits are compared, else 0, eps = 1.1e-16. The result has the same bits whatever the number of threads.
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
    """Return the squared l2 distances ``||z_i - z_j||_2^2`` of zero-filled rows; arguments as for `absolute_differences`.

    Computed as ``(||z_i||^2 - s) + (||z_j||^2 - s)``, s = z_i . z_j, cut at
    0; exactly 0 for identical rows. The absolute error is at most ``(n_i + n_j + 4) eps (||z_i||^2 + ||z_j||^2)``, so
    relative accuracy is lost for rows that nearly agree; squares must not underflow.
    """
    rows, others, sums = _checked(pairs, range(start, stop), others)
    pairs.walk_pairs(pairs.lists, Walk.SQUARED, rows, others, sums, None, thread_count(n_threads))
    return sums


def shared_differences(
    pairs: PairWalk, start: int, stop: int, others: range | None = None, n_threads: int | None = None
) -> tuple[NDArray[np.int32], Floats]:
    """Return, over the features that both observed, how many there are (int32) and the sum of ``|z_ik - z_jk|``.

    Arguments as for `absolute_differences`. A stored zero is an observation.
    """
    rows, others, sums = _checked(pairs, range(start, stop), others)
    counts = np.zeros(sums.shape, np.int32)
    pairs.walk_pairs(pairs.lists, Walk.SHARED, rows, others, sums, counts, thread_count(n_threads))
    return counts, sums


def distances_from_products(
    products: Floats, sizes: Floats, other_sizes: Floats, doubt: float, resolution: float = 0.0
) -> int:
    """Turn ``x.y`` into ``sqrt(||x||^2 + ||y||^2 - 2 x.y)``, in place, on one thread; return how many have cancelled and became NaN.

    `products` is (n_rows, n_others), `sizes` and `other_sizes` are ``||x||^2`` and ``||y||^2``, all C-contiguous and float64, or `ShapeError`. A square of
    at most the share `doubt` of ``||x||^2 + ||y||^2`` has cancelled. Distances of at most `resolution` become 0.

    >>> import numpy as np
    >>> products = np.array([[25.0, 0.0]])                # (3, 4) with itself and with (-4, 3)
    >>> distances_from_products(products, np.array([25.0]), np.array([25.0, 25.0]), 1e-9)
    1
    >>> products[0, 1] == 50**0.5, products[0, 0]
    (np.True_, np.float64(nan))
    """
    arrays = (products, sizes, other_sizes)
    if products.shape != (sizes.size, other_sizes.size) or not all(
        array.dtype == np.float64 and array.flags.c_contiguous and array.ndim == n
        for array, n in zip(arrays, (2, 1, 1), strict=True)
    ):
        shapes = ", ".join(f"{array.dtype} {array.shape}" for array in arrays)
        raise ShapeError(f"products and sizes: {shapes}", "contiguous float64 (m, n), (m,) and (n,)")
    compute = native.distances_from_products if use_native() else fallback.distances_from_products
    return compute(products, sizes, other_sizes, doubt, resolution)


def _checked(pairs: PairWalk, rows: range, others: range | None) -> tuple[range, range, Floats]:
    """Return the individuals on both sides, and zeros to add to."""
    m = pairs.shape[0]
    others = range(m) if others is None else others
    for asked in (rows, others):
        checked_range(asked.start, asked.stop, m, asked.step)
    return rows, others, np.zeros((len(rows), len(others)))


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

    `reference` and `output`, d and D, have the block's shape, or in one dimension the pairs that count alone, row by row; `ShapeError` if they are
    not those of the block. Returned are ``ratio``, ``output``, ``reference``, ``left`` and ``right`` of the `n_largest` pairs with the largest
    ratios, none below `floor`, in any order; ties by output distance, then by position.

    >>> import numpy as np
    >>> from likewise._kernels.ratios import EdgeCounter
    >>> from likewise._kernels.pair_sums import PairBlock, PairLimits, PairSums
    >>> limits = PairLimits(near=1.0, epsilon=EdgeCounter(np.array([]), "left"))
    >>> sums = PairSums(limits)
    >>> block = PairBlock(0, 2, 0, 3)
    >>> largest = add_pairs(sums, limits, block, np.array([1.0, 2.0, 2.0]), np.array([1.0, 1.0, 6.0]), 1)
    >>> float(sums.totals["ratio"]), largest["ratio"], largest["left"], largest["right"]
    (4.5, array([3.]), array([1]), array([2]))
    """
    d, D = _checked_distances(block, reference), _checked_distances(block, output)
    if d.shape != D.shape:
        raise ShapeError(f"d of shape {d.shape} and D of shape {D.shape}", "the same pairs")
    if limits.groups is not None and limits.groups.size < max(block.stop, block.last):
        raise ShapeError(f"groups of {limits.groups.size} individuals", "a group for everybody in the block")
    if 0 < sums.individuals.shape[-1] < max(block.stop, block.last):
        raise ShapeError(f"sums of {sums.individuals.shape[-1]} individuals", "everybody in the block")
    add = native.add_pairs if use_native() else fallback.add_pairs
    return add(sums, limits, MeasuredBlock(block, d, D), min(n_largest, block.n_pairs), floor)


def count_pairs(counts: Counts, largest: Floats, block: PairBlock, reference: Floats) -> int:
    """Add the number of d of a block to `counts` by bin, take the largest in each into `largest`, and return how many pairs have no defined d.

    Both arrays have N_BINS places, int64 and float64, or `ShapeError`; the rest as for `add_pairs`.
    """
    for array, kind in ((counts, np.int64), (largest, np.float64)):
        if array.shape != (N_BINS,) or array.dtype != kind or not array.flags.c_contiguous:
            raise ShapeError(f"{array.dtype} of shape {array.shape}", f"{N_BINS} bins of {np.dtype(kind)}")
    count = native.count_pairs if use_native() else fallback.count_pairs
    return count(counts, largest, block, _checked_distances(block, reference))


def _checked_distances(block: PairBlock, distances: Floats) -> Floats:
    """Return distances as the kernels read them."""
    if not (0 <= block.start <= block.stop < 1 << 31 and 0 <= block.first <= block.last < 1 << 31):
        raise ShapeError(f"{block}", "individuals counted from 0 to less than 2^31")
    expected = (block.n_pairs,) if distances.ndim == 1 else block.shape
    if distances.shape != expected:
        raise ShapeError(f"distances of shape {distances.shape}", f"shape {expected}, those of {block}")
    return np.ascontiguousarray(distances, dtype=np.float64)
