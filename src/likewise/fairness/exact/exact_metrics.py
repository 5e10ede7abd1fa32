"""From what was found of all pairs to the metrics of one arm."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from likewise.errors import ConstantOutputWarning
from likewise.fairness.distances.distance import PairwiseDistance, check_magnitude
from likewise.fairness.exact.accumulated import Request
from likewise.fairness.exact.sweep import Accumulated, AccumulatedArm
from likewise.fairness.metrics.curves import accumulated
from likewise.fairness.metrics.fairness_metrics import FairnessMetrics
from likewise.fairness.metrics.groups import GroupSplit, unknown_note
from likewise.fairness.metrics.metric_value import ExactValue, ordered_mean, share_rank
from likewise.fairness.metrics.pair_metrics import PairMetric
from likewise.fairness.metrics.relative_gap import all_pairs_jackknife, gap_interval, relative_gap
from likewise.fairness.metrics.similar import SimilarPairs, neighbor_metrics
from likewise.fairness.metrics.violations import Violations, violations_of
from likewise.fairness.metrics.worst_pairs import name_pairs

NEAR_CONSTANT = 0.01
"""Outputs are called nearly constant where each, by itself, has a spread below this share of its size."""


def summarise(
    pairs: Accumulated,
    name: str,
    distance: PairwiseDistance,
    reference: PairwiseDistance,
    request: Request,
    neighbors: NDArray[np.intp] | None = None,
) -> FairnessMetrics:
    """Compute every metric of one arm from what was added up of all pairs.

    D and d are asked for their descriptions, and to measure `neighbors`, shape (n_individuals, n_neighbors), where these are given.
    """
    arm = _Arm(pairs, pairs.arms[name], reference.n_individuals)
    # Under l2 the variance of outputs is sum_{i<j} D^2 / m^2, whatever their dimension.
    spread = float(np.sqrt(arm.total("output_squared"))) / reference.n_individuals
    epsilon, tally = pairs.cutoffs.epsilon, arm.found.tally
    return FairnessMetrics(
        n_individuals=reference.n_individuals,
        n_pairs=arm.n_pairs,
        reference=reference.description,
        output=distance.description,
        **arm.mean_ratios(),
        max_ratio=arm.exact(float(tally.largest["ratio"])),
        quantiles=arm.found.quantiles,
        similar=arm.similar(request.nearest_share, request.confidence),
        histogram=arm.found.histogram,
        worst=name_pairs(ids=request.ids, **tally.worst.columns),
        n_zero_distance=arm.count("zero"),
        n_infinite=arm.count("infinite"),
        n_undefined=pairs.n_undefined,
        mean_reference_distance=arm.exact(arm.total("reference") / arm.n_pairs),
        mean_output_distance=arm.exact(arm.total("output") / arm.n_pairs),
        output_spread=arm.exact(spread),
        epsilon_delta=accumulated(epsilon, tally.largest["epsilon"], tally.added["epsilon"]),
        groups=arm.groups(),
        added={metric.name: arm.exact(value / arm.n_pairs) for metric, value in arm.added_metrics()},
        violations=request.condition and arm.violations(request.condition),
        neighbors=None if neighbors is None else neighbor_metrics(distance, reference, neighbors),
        notes=(*arm.notes(request.nearest_share), *constant_notes(spread, distance)),
    )


class _Arm:
    """Metrics of what was added up for one arm."""

    def __init__(self, pairs: Accumulated, found: AccumulatedArm, n_individuals: int) -> None:
        self.pairs, self.found, self.n_individuals = pairs, found, n_individuals
        self.n_pairs = self.count("pairs")
        check_magnitude("output distances", float(found.tally.largest["epsilon"].max()))
        check_magnitude("reference distances", float(pairs.cutoffs.epsilon[-1]))
        total = self.total("output")
        # mean(d) / mean(D): what a ratio is multiplied by so that no unit of the outputs counts.
        self.rescale = self.total("reference") / total if total else np.nan

    def total(self, name: str) -> float:
        return float(self.found.tally.added[name])

    def count(self, name: str) -> int:
        return int(self.found.tally.added[name])

    def exact(self, value: float) -> ExactValue:
        return ExactValue(float(value), self.n_pairs)

    def mean_ratios(self) -> dict[str, ExactValue]:
        """Return the means of ratios over all pairs, in their several conventions."""
        m, undefined, infinite = self.n_individuals, self.pairs.n_undefined, self.count("infinite")
        # A pair with D > 0 = d makes every mean infinite but that of finite ratios.
        finite_total = self.total("ratio")
        total = np.inf if infinite else finite_total
        means = {
            "mean_ratio": ordered_mean(total, m, undefined),
            "pair_mean_ratio": total / self.n_pairs,
            "finite_mean_ratio": ordered_mean(finite_total, m, undefined + infinite),
            "scale_free_ratio": total / self.n_pairs * self.rescale,
        }
        return {name: self.exact(value) for name, value in means.items()}

    def similar(self, share: float, confidence: float) -> SimilarPairs:
        """Return the metrics over the most similar pairs."""
        n_near, infinite = self.count("near"), self.count("near_infinite")
        total, n_finite = self.total("near_ratio"), n_near - infinite
        # Pairs at d = 0 and D = 0 count with ratio 0; none has 1 / d, so `near_inverse` is over those
        # apart.
        mean = np.inf if infinite else total / n_near
        mean_reference = self.total("reference") / self.n_pairs
        gap, apart = self.total("near_output") / n_near, n_near - self.count("zero")
        leaving_out = all_pairs_jackknife(self.found.tally.added["individuals"].sum(axis=0))
        return SimilarPairs(
            relative_gap=ExactValue(relative_gap(gap, self.total("output") / self.n_pairs), n_near),
            relative_gap_interval=gap_interval(leaving_out, confidence),
            share=share,
            radius=self.pairs.cutoffs.radius,
            n_pairs=n_near,
            mean_ratio=ExactValue(mean, n_near),
            max_ratio=ExactValue(float(self.found.tally.largest["near_ratio"]), n_near),
            output_gap=ExactValue(gap, n_near),
            scale_free_ratio=ExactValue(mean * self.rescale, n_near),
            no_difference=mean_reference * self.total("near_inverse") / apart if apart else np.nan,
            finite_mean_ratio=ExactValue(total / n_finite if n_finite else np.nan, n_finite),
            leaving_out=leaving_out,
        )

    def groups(self) -> GroupSplit | None:
        """Return the metrics of every kind of pair, where groups were given."""
        added, groups = self.found.tally.sums.groups, self.pairs.cutoffs.request.groups
        largest, mean_gap = self.found.tally.largest["group_ratio"], self.total("output") / self.n_pairs
        return None if groups is None else groups.split(added, largest, mean_gap)

    def added_metrics(self) -> Iterator[tuple[PairMetric, float]]:
        """Yield the metrics that others added, and their sums over all pairs."""
        sums = self.found.tally.added["metrics"].tolist()
        return zip(self.pairs.cutoffs.request.metrics, sums, strict=True)

    def violations(self, condition: tuple[float, float]) -> Violations:
        """Return how often and by how much ``D <= L d + gamma`` is broken."""
        largest = float(self.found.tally.largest["excess"])
        counted = (self.n_pairs, self.count("violating"), self.total("excess"), largest)
        return violations_of(condition, *counted, self.found.needed_slack)

    def notes(self, share: float) -> list[str]:
        """Say what a reader must know of the pairs."""
        notes = []
        if infinite := self.count("infinite"):
            notes.append(
                f"{infinite:,} {'pair has' if infinite == 1 else 'pairs have'} reference distance 0 but different outputs: their ratio is infinite"
            )
        if undefined := self.pairs.n_undefined:
            notes.append(f"{undefined:,} pairs have no defined reference distance and count nowhere")
        # Ranks are 0-based: without ties, rank + 1 pairs are within the radius.
        if n_tied := self.count("near") - share_rank(share, self.n_pairs) - 1:
            width = self.pairs.tie_width
            within = f", to within {width:.2%} of its distance," if width else ""
            notes.append(
                f"{n_tied:,} pairs tie{within} with the last of the most similar ones and are counted with them"
            )
        if groups := self.pairs.cutoffs.request.groups:
            notes += unknown_note(groups.n_unknown)
        return notes


def constant_notes(spread: float, output: PairwiseDistance) -> list[str]:
    """Say, and warn, where every output is nearly constant beside its size; and what else is to be known of them."""
    relative = output.relative_spread()
    if spread > 0 and (relative is None or relative >= NEAR_CONSTANT):
        return [*output.notes]
    note = "outputs are nearly constant: small ratios then say little"
    warnings.warn(f"{note} (spread {spread:.3g})", ConstantOutputWarning, stacklevel=3)
    return [note, *output.notes]
