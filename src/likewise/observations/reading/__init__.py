"""Files of observations: unpack, recognise, parse, and name the first line that is wrong."""

from likewise.observations.reading.pairs import read_pairs
from likewise.observations.reading.ratings import read_ratings

__all__ = ["read_pairs", "read_ratings"]
