"""Means over simulations, with bars of two standard deviations, as the paper prints them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum, isfinite, nan, sqrt


@dataclass(frozen=True)
class Summary:
    """A figure over the simulations of a cell.

    Parameters
    ----------
    mean : float
    two_sd : float
        Two standard deviations of single simulations; NaN where there is one.
    n : int
        How many simulations.
    """

    mean: float
    two_sd: float
    n: int

    @classmethod
    def of(cls, values: Iterable[float | str | None]) -> Summary | None:
        """Summarise the simulations that have the figure; None if none has.

        Examples
        --------
        >>> Summary.of([1.0, 2.0, None, 3.0]), Summary.of([None])
        (Summary(mean=2.0, two_sd=2.0, n=3), None)
        """
        known = [float(value) for value in values if value is not None]
        if not known:
            return None
        n = len(known)
        mean = fsum(known) / n if all(map(isfinite, known)) else sum(known) / n
        spread = (
            sqrt(fsum((value - mean) ** 2 for value in known) / (n - 1)) if n > 1 and isfinite(mean) else nan
        )
        return cls(mean, 2 * spread, n)
