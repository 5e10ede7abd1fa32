"""What is told of lists of items, as a plain record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise.fairness import Envy, Exposure, Unavailable


@dataclass(frozen=True, eq=False)
class ListFigures:
    """What is told of lists of items beside how far apart they are.

    Parameters
    ----------
    length : int
        Items on each.
    made : str
        Where the lists come from.
    exposure : Exposure
    envy : Envy or Unavailable
        By an estimate of the ratings, or why there is none.
    estimate : str
        By what the ratings were estimated, and how wide intervals are; empty where they were not.
    """

    length: int
    made: str
    exposure: Exposure
    envy: Envy | Unavailable
    estimate: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return {
            "length": self.length,
            "made": self.made,
            "exposure": self.exposure.to_dict(),
            "envy": self.envy.to_dict(),
            "estimate": self.estimate,
        }
