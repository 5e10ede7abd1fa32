"""Files of observations: unpack, recognise, parse, and name the first line that is wrong."""

from likewise.observations.reading.groups import GroupsFile, read_groups, read_groups_file
from likewise.observations.reading.outputs import OutputsFile, read_outputs, read_outputs_file
from likewise.observations.reading.pairs import read_pairs
from likewise.observations.reading.ratings import read_ratings

__all__ = [
    "GroupsFile",
    "OutputsFile",
    "read_groups",
    "read_groups_file",
    "read_outputs",
    "read_outputs_file",
    "read_pairs",
    "read_ratings",
]
