"""What an interval is: two ends, how sure they are, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Parameters
    ----------
    low, high : float
        Its ends, both included; one that was not asked for is the least or largest possible value.
    confidence : float
        Least probability, over the draws, that the interval holds the true value.
    method : str
        How it was made. One whose confidence is only approached as the sample grows is called asymptotic.
    """

    low: float
    high: float
    confidence: float
    method: str

    def covers(self, value: float) -> bool:
        """Whether the interval holds a value."""
        return self.low <= value <= self.high
