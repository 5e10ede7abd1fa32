"""Files of observations: unpack, recognise, parse, and name the first line that is wrong."""

from likewise.observations.reading.ratings import read_ratings

__all__ = ["read_ratings"]
