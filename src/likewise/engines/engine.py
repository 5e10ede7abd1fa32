"""Three verbs for work on blocks of rows: map, reduce in a fixed tree, broadcast."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from likewise.engines.tree import Arrays, add_in_place, grouped, groups_of, in_tree

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
