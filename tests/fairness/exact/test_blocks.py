"""Units and blocks: every pair once, and its two individuals found again."""

import numpy as np
import pytest

from likewise.fairness.exact import blocks
from likewise.fairness.exact.blocks import Block, units


@pytest.fixture(params=[(16, 3), (5, 2), (100, 64)])
def small_units(request, monkeypatch):
    columns, rows = request.param
    monkeypatch.setattr(blocks, "tile_width", lambda _: columns)
    monkeypatch.setattr(blocks, "_LEAST_ROWS", rows)
    monkeypatch.setattr(blocks, "_WIDEST", 5)


@pytest.mark.parametrize("m", [2, 3, 17, 40])
@pytest.mark.parametrize("n_pairs", [1, 11, 10**6])
def test_every_pair_once(small_units, m, n_pairs):
    seen = []
    for unit in units(m):
        parts = list(unit.cut(n_pairs))
        assert sum(part.n_pairs for part in parts) == unit.n_pairs
        for part in parts:
            left, right = part.people(np.arange(part.n_pairs))
            seen += list(zip(left.tolist(), right.tolist(), strict=True))
    assert sorted(seen) == [(i, j) for i in range(m) for j in range(i + 1, m)]


def test_entries_and_people_go_together():
    everything = np.add.outer(100 * np.arange(20), np.arange(20))
    for block in (Block(2, 5, 9, 14), Block(3, 8, 5, 12), Block(0, 7, 0, 20)):
        entries = block.pairs_of(everything[block.start : block.stop, block.first : block.last])
        left, right = block.people(np.arange(block.n_pairs))
        np.testing.assert_array_equal(entries, 100 * left + right)
        assert (left < right).all()
