"""The tree of sums: its shape depends on the number of leaves alone, and groups are branches of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from likewise.engines.tree import groups_of, in_tree


def joined(left, right):
    return f"({left}{right})"


def level_by_level(leaves):
    leaves = list(leaves)
    while len(leaves) > 1:
        pairs = [joined(*leaves[k : k + 2]) for k in range(0, len(leaves) - 1, 2)]
        leaves = pairs + leaves[len(leaves) - len(leaves) % 2 :]
    return leaves[0]


@given(st.integers(1, 200))
def test_the_tree_is_the_one_of_levels(n_leaves):
    leaves = [f"{k}." for k in range(n_leaves)]
    assert in_tree(leaves, joined) == level_by_level(leaves)


@given(st.integers(1, 300), st.integers(1, 40))
def test_groups_are_branches_whatever_their_size(n_blocks, n_workers):
    blocks = [f"{k}." for k in range(n_blocks)]
    groups = groups_of(blocks, n_workers)
    assert [block for group in groups for block in group] == blocks
    assert in_tree([in_tree(group, joined) for group in groups], joined) == in_tree(blocks, joined)


@given(st.integers(1, 500))
def test_few_sums_exist_at_a_time(n_leaves):
    alive, most = 0, 0

    def leaves():
        nonlocal alive, most
        for _ in range(n_leaves):
            alive += 1
            most = max(most, alive)
            yield 1

    def add(left, right):
        nonlocal alive
        alive -= 1
        return left + right

    assert in_tree(leaves(), add) == n_leaves
    assert most <= n_leaves.bit_length() + 1
