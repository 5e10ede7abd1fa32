"""What a shrinker may depend on beside the singular value: threshold, observed fraction, shape, and the strength of the noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.estimation.statistics import ObservationStatistics

Floats = NDArray[np.float64]
Shrinker = Callable[[Floats], Floats]
"""psi: an array of singular values to an array of the same shape."""


@dataclass(frozen=True, eq=False)
class KeptSpectrum:
    """The singular values that were kept, and where they come from.

    Parameters
    ----------
    statistics : ObservationStatistics
    threshold : float
        ``tau``.
    values : ndarray, shape (k,)
        The singular values above it, decreasing.
    """

    statistics: ObservationStatistics
    threshold: float
    values: Floats

    @property
    def residual_variance(self) -> float:
        """Mean square of what the kept components leave: an estimate of the noise that costs nothing more."""
        return self.statistics.remaining_variance(self.values)


class ShrinkerRule(ABC):
    """A shrinker that depends on more than the singular value; a plain function of it needs no rule."""

    assumes_white_noise = False

    @abstractmethod
    def psi(self, kept: KeptSpectrum) -> Shrinker:
        """Return the function psi for these data."""
