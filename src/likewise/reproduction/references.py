"""Reference distances of a simulation, measured once for all arms: d on Z, d on A, and the most similar pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import pair_ratios
from likewise._typing import Counts, Floats
from likewise.fairness import ObservedDistance, RowDistance
from likewise.fairness.exact.blocks import all_pairs
from likewise.fairness.metrics.metric_value import order_statistics, ordered_mean, share_rank
from likewise.fairness.metrics.similar import reach
from likewise.observations.synthetic import ClusteredData

NEAREST_SHARE = 0.1
"""Share of the pairs, by distance on the truth A, that counts as most similar."""


BIN_EDGES: Floats = np.linspace(0, 2, 4001)
"""Fixed bins of every histogram of ratios, so that those of several simulations can be added up."""


@dataclass(frozen=True, eq=False)
class ReferenceDistances:
    """Reference distances of all pairs, the truth, and the entries that are predicted."""

    observed: Floats  # (n_pairs,), d = l1 on Z, missing entries as 0
    truth: Floats  # (n_pairs,), d = l2 on A
    similar: NDArray[np.bool_]  # (n_pairs,), the tenth of the pairs that is most similar by l2 on A
    matrix: Floats  # A, (m, n)
    hidden: NDArray[np.bool_]  # (m, n), the entries that were not observed

    @classmethod
    def of(cls, data: ClusteredData) -> ReferenceDistances:
        """Measure the pairs of a simulation."""
        truth = all_pairs(RowDistance(data.truth, "l2"))
        radius = order_statistics(truth, [share_rank(NEAREST_SHARE, truth.size)])[0]
        hidden = np.ones(data.truth.shape, dtype=np.bool_)
        hidden[data.observed.positions()] = False
        observed = all_pairs(ObservedDistance(data.observed, "l1"))
        return cls(observed, truth, truth <= reach(radius), data.truth, hidden)

    @property
    def n_individuals(self) -> int:
        """How many individuals there are."""
        return len(self.matrix)

    def error(self, outputs: Floats) -> float:
        """Return the mean squared error over the entries that were not observed; NaN if all were."""
        squares = (outputs - self.matrix)[self.hidden] ** 2
        return float(squares.mean()) if squares.size else float("nan")

    def measure(self, outputs: Floats, output_distance: Floats, on_input: Floats) -> dict[str, float]:
        """Compute every metric of one arm, by the keys of `likewise.reproduction.results.METRICS`.

        `outputs` are (m, n), `output_distance` is D = l2 between them and `on_input` d = l1 on what the algorithm was given, Z or A_hat; both
        (n_pairs,).
        """
        m = self.n_individuals
        on_observed = pair_ratios(output_distance, self.observed)
        rescale = _rescale(output_distance, self.observed)
        return {
            "mse": self.error(outputs),
            "if1_observed": ordered_mean(float(on_observed.sum()), m),
            "if1_input": ordered_mean(float(pair_ratios(output_distance, on_input).sum()), m),
            "if2_truth": ordered_mean(float(pair_ratios(output_distance, self.truth).sum()), m),
            "similar_ratio": float(on_observed[self.similar].mean()),
            "scale_free_ratio": float(on_observed.mean()) * rescale,
            "similar_scale_free_ratio": float(on_observed[self.similar].mean()) * rescale,
            "spread": float(np.sqrt((output_distance**2).sum())) / m,
        }

    def histograms(self, output_distance: Floats, on_input: Floats) -> dict[str, list[int]]:
        """Count the ratios on both references in `BIN_EDGES`; the last number counts those beyond."""
        references = {"observed": self.observed, "input": on_input}
        return {name: counted(pair_ratios(output_distance, d)) for name, d in references.items()}


def counted(ratios: Floats) -> list[int]:
    """Count ratios in `BIN_EDGES`, without the empty bins at the end; last come the ratios beyond the edges.

    >>> counted(np.array([0.0002, 0.0012, 0.0012, np.inf]))
    [1, 0, 2, 1]
    """
    counts = np.histogram(ratios, BIN_EDGES)[0]
    return up_to_the_last(counts, int(ratios.size - counts.sum()))


def up_to_the_last(counts: Counts, beyond: int) -> list[int]:
    """Return counts of bins without the empty ones at the end, which a file need not hold, and how many are beyond."""
    return [*np.trim_zeros(counts, "b").tolist(), beyond]


def _rescale(output_distance: Floats, reference: Floats) -> float:
    """Return mean d over mean D, which makes a ratio free of the scale of the outputs; NaN for constant outputs."""
    mean = float(output_distance.mean())
    return float(reference.mean()) / mean if mean else float("nan")
