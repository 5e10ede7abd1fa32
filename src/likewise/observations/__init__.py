"""Room of the observations, Z: what was observed, read from memory or from files, with its value range."""

from likewise.observations.features import Features, SideInformation
from likewise.observations.observed_matrix import ObservedMatrix
from likewise.observations.partitioned import PartitionedMatrix, read_partitioned
from likewise.observations.reading import read_pairs, read_ratings
from likewise.observations.reading.ratings import write_ratings
from likewise.observations.split import HoldOut, hold_out
from likewise.observations.synthetic import ClusteredData, clustered
from likewise.observations.value_range import AffineScale, ValueRange, WorkingRange
from likewise.observations.with_features import with_features, with_times

__all__ = [
    "AffineScale",
    "ClusteredData",
    "Features",
    "HoldOut",
    "ObservedMatrix",
    "PartitionedMatrix",
    "SideInformation",
    "ValueRange",
    "WorkingRange",
    "clustered",
    "hold_out",
    "read_pairs",
    "read_partitioned",
    "read_ratings",
    "with_features",
    "with_times",
    "write_ratings",
]
