"""An engine that is lost after so many sums, for tests of what goes on from a checkpoint."""

from likewise.engines.local import Serial
from likewise.errors import EngineError


class Failing(Serial):
    """Lost after so many sums."""

    def __init__(self, left=10**6):
        self.left, self.done = left, 0

    def reduce(self, task, blocks, shared=None):
        if self.done == self.left:
            raise EngineError("the scheduler was lost")
        self.done += 1
        return super().reduce(task, blocks, shared)
