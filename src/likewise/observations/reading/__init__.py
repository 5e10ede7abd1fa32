"""Files of observations: unpack, recognise, parse, and name the first line that is wrong."""

from likewise.observations.reading.formats import Format, register_format
from likewise.observations.reading.groups import (
    GroupsFile,
    TargetFile,
    is_long,
    read_groups,
    read_groups_file,
    read_target_file,
)
from likewise.observations.reading.mixed import MixedTable, read_features, read_table
from likewise.observations.reading.output_kinds import OutputsFile
from likewise.observations.reading.outputs import read_outputs, read_outputs_file
from likewise.observations.reading.pairs import AnswersFile, read_answers, read_pairs
from likewise.observations.reading.ratings import read_ratings
from likewise.observations.reading.text import TextOptions

__all__ = [
    "AnswersFile",
    "Format",
    "GroupsFile",
    "MixedTable",
    "OutputsFile",
    "TargetFile",
    "TextOptions",
    "is_long",
    "read_answers",
    "read_features",
    "read_groups",
    "read_groups_file",
    "read_outputs",
    "read_outputs_file",
    "read_pairs",
    "read_ratings",
    "read_table",
    "read_target_file",
    "register_format",
]
