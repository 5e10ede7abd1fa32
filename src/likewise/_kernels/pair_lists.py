"""The observations by individual and by feature, as the walks over pairs read them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._kernels.checks import Floats
from likewise.errors import InputError

Doubles = NDArray[np.float64]


class Walk(IntEnum):
    """What a walk computes for each pair; the numbers are those of pairs.c."""

    ABSOLUTE = 0
    SQUARED = 1
    SHARED = 2


@dataclass(frozen=True, eq=False)
class Lists:
    """Members and values of list k: positions ``pointers[k]`` to ``pointers[k + 1]``, members increasing."""

    pointers: NDArray[np.int64]
    members: NDArray[Any]
    values: Floats

    @classmethod
    def of(cls, matrix: Any) -> Self:
        """Take the arrays of a canonical csr_array or csc_array."""
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.data)

    def narrowed(self, n_members: int) -> Self:
        """Return the same lists in fewer bytes where that is exact: walks wait for memory."""
        narrow = self.values.astype(np.float32)
        return replace(
            self,
            members=self.members.astype(np.uint16) if n_members <= 1 << 16 else self.members,
            values=narrow if np.array_equal(narrow, self.values) else self.values,
        )


@dataclass(frozen=True, eq=False)
class PairLists:
    """A matrix sorted both ways, without duplicates, with the norms of its rows.

    Norms are summed in the order of the walks, one by one, so that what identical rows share cancels exactly.
    """

    shape: tuple[int, int]
    by_row: Lists
    by_column: Lists

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> Self:
        """Lay a sound matrix out both ways."""
        rows = matrix.copy()
        rows.has_canonical_format = False  # a flag that a caller may have set wrongly
        rows.sum_duplicates()
        if not np.isfinite(rows.data).all():
            raise InputError("the matrix holds a NaN or infinity", "finite values")
        m, n = rows.shape
        return cls((m, n), Lists.of(rows), Lists.of(rows.tocsc()).narrowed(m))

    @cached_property
    def norms(self) -> dict[Walk, Doubles]:
        """Of the rows: l1 norms and squared l2 norms."""
        m, values = self.shape[0], self.by_row.values
        owners = np.repeat(np.arange(m), np.diff(self.by_row.pointers))
        sizes = {Walk.ABSOLUTE: np.abs(values), Walk.SQUARED: values**2}
        return {walk: sums_in_order(owners, size, m) for walk, size in sizes.items()}

    @cached_property
    def work(self) -> NDArray[np.int64]:
        """Entries that walks from the individuals before i read, for i = 0 to m."""
        lengths = np.diff(self.by_column.pointers)
        read = np.concatenate([[0], np.cumsum(lengths[self.by_row.members])])
        every_pair = self.shape[0] * np.arange(self.shape[0] + 1)
        return np.asarray(read[self.by_row.pointers] + every_pair)


def sums_in_order(keys: NDArray[Any], weights: Doubles, size: int) -> Doubles:
    """Sum weights by key one by one, in order, as the compiled walk does: hence the same bits."""
    return np.bincount(keys, weights=weights, minlength=size).astype(np.float64, copy=False)
