"""Room of the engines: work on blocks of rows, in this process, in others, or on a cluster, always to the same bits."""

from likewise.engines.choice import ENGINES, engine_of
from likewise.engines.engine import Engine

__all__ = ["ENGINES", "Engine", "engine_of"]
