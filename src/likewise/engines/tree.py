"""The fixed tree in which partial sums are added: floating-point sums depend on the order, so the order depends on the blocks alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Handle = TypeVar("Handle")
Arrays = tuple[NDArray[Any], ...]
"""What is added up: some arrays, each with its namesake."""


def in_tree(leaves: Iterable[Handle], add: Callable[[Handle, Handle], Handle]) -> Handle:
    """Add leaves up: neighbours first, then neighbouring pairs, and so on; what has no neighbour waits.

    The tree depends on how many leaves there are and on nothing else. Leaves are taken one by one, and of k leaves at most
    ``log2(k) + 1`` sums exist at a time.

    Parameters
    ----------
    leaves : iterable
        At least one; partial sums, or whatever stands for them where they are on other machines.
    add : callable

    Examples
    --------
    >>> in_tree("abcdefg", lambda left, right: f"({left}{right})")
    '(((ab)(cd))((ef)g))'
    """
    waiting: list[tuple[int, Handle]] = []
    for leaf in leaves:
        height, total = 0, leaf
        while waiting and waiting[-1][0] == height:
            height, total = height + 1, add(waiting.pop()[1], total)
        waiting.append((height, total))
    total = waiting.pop()[1]
    while waiting:
        total = add(waiting.pop()[1], total)
    return total


def add_arrays(left: Arrays, right: Arrays) -> Arrays:
    """Return the sums of namesakes."""
    return tuple(one + other for one, other in zip(left, right, strict=True))


def add_in_place(left: Arrays, right: Arrays) -> Arrays:
    """Add to `left`, which nobody else holds, and return it."""
    for one, other in zip(left, right, strict=True):
        np.add(one, other, out=one)
    return left


def groups_of(blocks: Sequence[Any], n_workers: int) -> list[Sequence[Any]]:
    """Cut blocks into groups that are whole branches of the tree, some four for each worker.

    A worker adds a group up by itself and hands on one sum for many blocks. As a group of ``2^h`` neighbours is a branch of the tree,
    its size changes no bit.

    Examples
    --------
    >>> groups_of(range(9), 1)
    [range(0, 2), range(2, 4), range(4, 6), range(6, 8), range(8, 9)]
    """
    size = 1
    while 8 * size * n_workers <= len(blocks):
        size *= 2
    return [blocks[start : start + size] for start in range(0, len(blocks), size)]


def sum_of_group(task: Callable[[Any, Any], Arrays], group: Sequence[Any], shared: Any) -> Arrays:
    """Add up what a task makes of neighbouring blocks."""
    return in_tree((task(block, shared) for block in group), add_in_place)


def grouped(task: Callable[[Any, Any], Arrays]) -> Callable[[Sequence[Any], Any], Arrays]:
    """Return the task that adds up a group."""
    return partial(sum_of_group, task)
