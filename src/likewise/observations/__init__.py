"""Room of the observations, Z: what was observed, read from memory or from files, with its value range."""

from likewise.observations.observed_matrix import ObservedMatrix
from likewise.observations.split import HoldOut, hold_out
from likewise.observations.value_range import AffineScale, Interval, ValueRange

__all__ = ["AffineScale", "HoldOut", "Interval", "ObservedMatrix", "ValueRange", "hold_out"]
