"""Distances by expansion are fast, but wrong where they cancel: find those pairs and measure them again directly.

``||x - y||^q`` computed as ``size(x) + size(y) - cross(x, y)`` carries an absolute error of about
``terms * u * (size(x) + size(y))`` with u the rounding unit, so a relative one that is large only between nearly equal rows. There
the rows are subtracted instead. Equal rows are recognised by their bytes, and are at distance exactly zero. Where every value is a
small multiple of 1/1024, as ratings mostly are, sums are not rounded and nothing is in doubt (`sums_are_exact`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._kernels import distances_from_products
from likewise._typing import Floats

RELATIVE_ERROR = 1e-9
"""What is guaranteed for every distance computed by expansion."""

_ROUNDING_UNIT = 2.0**-53
_GRID_BITS = 10


class CancellationGuard:
    """Repairs blocks of q-th powers that were computed by expansion.

    `sizes`, shape (n_individuals,), are ``sum |x|^q`` of every row; the sum of one pair has `terms` terms at most. `label` returns labels,
    (n_individuals,), equal for equal rows alone; it reads all rows, so it is called when the first pair is in doubt. ``measure(left, right)``
    returns the q-th powers of given pairs from the definition.
    """

    def __init__(
        self,
        sizes: Floats,
        label: Callable[[], NDArray[np.intp]],
        terms: int,
        measure: Callable[[NDArray[np.intp], NDArray[np.intp]], Floats],
    ) -> None:
        self.sizes, self.label, self.measure = sizes, label, measure
        # A power below this share of both sizes can be off by more than RELATIVE_ERROR of itself.
        self.doubt = (terms + 2) * _ROUNDING_UNIT / RELATIVE_ERROR

    @cached_property
    def _labels(self) -> NDArray[np.intp]:
        return self.label()

    def repair(self, powers: Floats, start: int, first: int) -> None:
        """Correct in place the doubtful entries of ``powers[k, l]``, the pair ``(start + k, first + l)``."""
        if not powers.size:
            return
        rows, others = (self.sizes[k : k + n] for k, n in zip((start, first), powers.shape, strict=True))
        # Mostly nothing is in doubt, which one number tells without a sum for each pair.
        if powers.min() > self.doubt * (rows.max() + others.max()):
            return
        limit = np.add.outer(rows, others)
        limit *= self.doubt
        left, right = np.nonzero(powers <= limit)
        powers[left, right] = self._again(left + start, right + first)

    def distances(self, products: Floats, start: int, first: int, resolution: float = 0.0) -> Floats:
        """Turn inner products, ``products[k, l]`` of the pair ``(start + k, first + l)``, into l2 distances in place.

        Distances of at most `resolution` become 0.
        """
        rows, others = (self.sizes[k : k + n] for k, n in zip((start, first), products.shape, strict=True))
        if distances_from_products(products, rows, others, self.doubt, resolution):
            left, right = np.divmod(np.flatnonzero(np.isnan(products)), others.size)
            measured = np.sqrt(self._again(left + start, right + first))
            products[left, right] = np.where(measured <= resolution, 0.0, measured)
        return products

    def _again(self, left: NDArray[np.intp], right: NDArray[np.intp]) -> Floats:
        """Return the q-th powers of given pairs from the definition; exactly zero between equal rows."""
        powers = np.zeros(left.size)
        different = np.flatnonzero(
            left != right
        )  # near its diagonal a block measures individuals from themselves
        if different.size:
            different = different[self._labels[left[different]] != self._labels[right[different]]]
            powers[different] = self.measure(left[different], right[different])
        return powers


def sums_are_exact(values: Floats, largest_size: float, order: float) -> bool:
    """Whether sums of products of values are not rounded: multiples of 1/1024 that stay small, under l1 and l2.

    `largest_size` is the largest ``sum |x|^q`` of a row.
    """
    grid = 2.0 ** (_GRID_BITS * order)
    on_grid = np.ldexp(values, _GRID_BITS)
    # Twice the sum of two sizes is the largest number that occurs on the way.
    return order in (1, 2) and 4 * largest_size * grid < 2**53 and bool((on_grid == np.rint(on_grid)).all())


def label_equal_rows(rows: Floats | sparse.csr_array) -> NDArray[np.intp]:
    """Number the distinct rows, so that two rows have the same number exactly if they are equal.

    A csr_array is sorted, without duplicates; a stored zero equals an entry that is not stored.
    """
    numbers: dict[bytes, int] = {}
    return np.array(
        [numbers.setdefault(_row_bytes(rows, i), len(numbers)) for i in range(rows.shape[0])], dtype=np.intp
    )


def _row_bytes(rows: Floats | sparse.csr_array, i: int) -> bytes:
    """Return the row as bytes; adding zero turns -0.0 into 0.0."""
    if isinstance(rows, np.ndarray):
        return bytes((rows[i] + 0.0).tobytes())
    part = slice(rows.indptr[i], rows.indptr[i + 1])
    values = rows.data[part]
    stored = values != 0
    return bytes(rows.indices[part][stored].tobytes() + values[stored].tobytes())
