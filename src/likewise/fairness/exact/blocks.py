"""All pairs i < j in rectangles of individuals against individuals: units of work, and the blocks that they are measured in."""

from __future__ import annotations

from collections.abc import Iterator

from likewise._kernels import PairBlock, tile_width

_BLOCK_PAIRS = 1 << 18
_WIDEST = 1 << 13
_UNITS_A_COLUMN = 16
_LEAST_ROWS = 64


class Block(PairBlock):
    """A block that can be cut into smaller ones."""

    def cut(self, n_pairs: int = _BLOCK_PAIRS) -> Iterator[Block]:
        """Cut into blocks with about `n_pairs` pairs that stay in cache, with enough rows for a product to run at its full speed."""
        for left in range(self.first, self.last, _WIDEST):
            last = min(left + _WIDEST, self.last)
            step = max(1, n_pairs // (last - left))
            for start in range(self.start, min(self.stop, last - 1), step):
                first = max(left, start + 1)  # what lies before never counts
                yield Block(start, min(start + step, self.stop, last - 1), first, last)


def units(n_individuals: int) -> list[Block]:
    """Cut all pairs into units of work: always the same ones, many enough for several threads, few enough to be saved after each.

    On the right a unit has the individuals of one tile of the compiled walks.
    """
    columns = tile_width(n_individuals)
    rows = max(_LEAST_ROWS, min(n_individuals // _UNITS_A_COLUMN, columns))
    found = []
    for first in range(0, n_individuals, columns):
        last = min(first + columns, n_individuals)
        found += [
            Block(start, min(start + rows, last - 1), first, last) for start in range(0, last - 1, rows)
        ]
    return found
