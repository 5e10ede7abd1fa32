"""What may be tried within the time and memory: planned from sizes alone, the same on every computer."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import process_time

from likewise.estimation.auto.candidates import Candidate
from likewise.memory import format_bytes
from likewise.observations import ObservedMatrix

_MEMORY = 2.0**30
"""Bytes that a fit may take."""
_GOES_ON = 0.4
"""Share of the time of a fit that it takes where it goes on from a trial."""


@dataclass
class Plan:
    """What may be tried, by predicted seconds; what has passed of the real ones, of which there may be so many more."""

    seconds: float
    more: float = 0.0
    planned: float = 0.0
    reserved: float = 0.0
    began: float = field(default_factory=process_time)

    def over(self) -> bool:
        """Whether this process has computed for as long as it may."""
        return process_time() - self.began > self.seconds + self.more

    def refuses(self, trials: float, final: float, n_bytes: float = 0.0) -> str:
        """Return why a candidate is not tried; empty where it is."""
        if n_bytes > _MEMORY:
            return f"not tried: needs {format_bytes(n_bytes)}, more than {format_bytes(_MEMORY)}"
        if self.over():
            return f"not tried: the {self.seconds:g} s of computing were over"
        needed = trials + max(final, self.reserved)
        if self.planned + needed > self.seconds:
            return f"not tried: needs {needed:.2g} s more than the {self.planned:.2g} of {self.seconds:g} s that are planned"
        return ""

    def spend(self, trials: float, final: float) -> None:
        """Plan a candidate that is tried and may be fitted again on everything."""
        self.planned += trials
        self.reserved = max(self.reserved, final)


def final_seconds(candidate: Candidate, observed: ObservedMatrix) -> float:
    """Predict how long the last fit takes, which goes on from a trial."""
    return candidate.seconds(observed) * (_GOES_ON if candidate.rank else 1.0)
