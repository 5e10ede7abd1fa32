"""Three verbs for work on blocks of rows: map, reduce in a fixed tree, broadcast."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Handle = TypeVar("Handle")
Arrays = tuple[NDArray[Any], ...]
"""What is added up: some arrays, each with its namesake."""


def in_tree(leaves: Iterable[Handle], add: Callable[[Handle, Handle], Handle]) -> Handle:
    """Add at least one leaf up: neighbours first, then neighbouring pairs, and so on; what has no neighbour waits.

    The tree depends on how many leaves there are and on nothing else. A leaf is a partial sum, or what stands for one on another machine.
    Leaves are taken one by one, and of k leaves at most ``log2(k) + 1`` sums exist at a time.

    >>> in_tree("abcdefg", lambda left, right: f"({left}{right})")
    '(((ab)(cd))((ef)g))'
    """
    waiting: list[tuple[int, Handle]] = []
    for leaf in leaves:
        # As in binary counting: a leaf joins every finished branch that is as high as what it has become.
        height, total = 0, leaf
        while waiting and waiting[-1][0] == height:
            height, total = height + 1, add(waiting.pop()[1], total)
        waiting.append((height, total))
    # What is left are branches of falling height; the lowest ones join first, whatever their number.
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

    >>> groups_of(range(9), 1)
    [range(0, 2), range(2, 4), range(4, 6), range(6, 8), range(8, 9)]
    """
    size = 1
    # Doubled while at least four groups of twice the size remain for each worker.
    while 8 * size * n_workers <= len(blocks):
        size *= 2
    return [blocks[start : start + size] for start in range(0, len(blocks), size)]


def sum_of_group(task: Callable[[Any, Any], Arrays], group: Sequence[Any], shared: Any) -> Arrays:
    """Add up what a task makes of neighbouring blocks."""
    return in_tree((task(block, shared) for block in group), add_in_place)


def grouped(task: Callable[[Any, Any], Arrays]) -> Callable[[Sequence[Any], Any], Arrays]:
    """Return the task that adds up a group."""
    return partial(sum_of_group, task)


Task = Callable[[Any, Any], Any]
"""``task(block, shared)``: a function that other processes can import, or a `functools.partial` of one."""


class Engine(ABC):
    """Where tasks on blocks of rows run: subclass it for a system of your own; `map` is enough.

    A block says where its rows lie, not who holds them, so any worker can take any block, and a task that was lost runs again
    somewhere else. What a task makes depends on its block and on what is shared alone; sums are added in a tree that depends on
    how many blocks there are alone. So all engines give the same bits.

    Attributes
    ----------
    name : str
    n_workers : int
        How many tasks run at a time.
    """

    name: str
    n_workers: int = 1

    @abstractmethod
    def map(self, task: Task, blocks: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        """Yield what `task` makes of each block, in their order, a few ahead of who takes them.

        Parameters
        ----------
        task : callable
            ``task(block, shared)``.
        blocks : iterable
        shared : object, optional
            What every task is given; it is broadcast.

        Raises
        ------
        EngineError
            Workers were lost again and again, or with them whoever hands out work.
        """

    def reduce(self, task: Task, blocks: Sequence[Any], shared: Any = None) -> Arrays:
        """Return the sum of what `task` makes of the blocks: a tuple of arrays, each added to its namesakes.

        Parameters are those of `map`; there is at least one block, and a task hands its arrays over for good.

        Raises
        ------
        EngineError
            As of `map`.
        """
        branches = self._branches(blocks)
        return in_tree(self.map(grouped(task), branches, shared), add_in_place)

    def broadcast(self, value: Any) -> Any:
        """Bring a value near all workers, and return what stands for it in a call; here itself."""
        return value

    def kept_folder(self, key: str) -> Path | None:  # noqa: ARG002
        """Return where files of a computation outlive a run that is cut off; None where nothing does."""
        return None

    def close(self) -> None:  # noqa: B027  most have nothing to give back
        """Give back processes that were started; the next call starts them anew."""

    def _branches(self, blocks: Sequence[Any]) -> list[Sequence[Any]]:
        return groups_of(blocks, self.n_workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_workers={self.n_workers})"
