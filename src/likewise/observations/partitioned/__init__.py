"""Observations larger than memory: parts on disk, brought together by individuals in blocks, read block by block."""

from likewise.observations.partitioned.matrix import PartitionedMatrix
from likewise.observations.partitioned.reading import read_partitioned

__all__ = ["PartitionedMatrix", "read_partitioned"]
