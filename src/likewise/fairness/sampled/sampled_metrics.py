"""From drawn pairs to the metrics of an audit, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import beyond_rounding, excesses, pair_ratios
from likewise._typing import Floats, Indices, Mask
from likewise.errors import DistanceError
from likewise.fairness.distances.distance import check_magnitude
from likewise.fairness.exact.blocks import pair_positions
from likewise.fairness.metrics.groups import GroupMetrics, GroupSplit, PairGroups, two_groups
from likewise.fairness.metrics.metric_value import SampledValue
from likewise.fairness.metrics.pair_metrics import PairMetric
from likewise.fairness.metrics.relative_gap import drawn_pairs_jackknife, gap_interval, relative_gap
from likewise.fairness.metrics.similar import SimilarPairs, reach
from likewise.fairness.metrics.violations import SHARES, Violations
from likewise.fairness.sampled.sampling import DATA_SET, Bounds, Claims, DrawnPairs

MOST_GROUPS_APART = 30
"""Up to so many groups every two of them have metrics of their own. With more, each kind of pair has a few draws only."""


_LARGEST_BOUND = 1e150
"""On D: beyond it the square is no number, and so no bound."""


@dataclass(frozen=True, eq=False)
class PairSample:
    """Drawn pairs with a defined reference distance, and what is known of them; arrays have an entry for each, unless said otherwise."""

    claims: Claims
    bounds: Bounds
    n_individuals: int
    places: NDArray[np.intp]  # where each pair stands in the vector of all pairs
    reference: Floats  # d
    output: Floats  # D
    ratios: Floats  # D / d
    near: Mask  # which are most similar
    defined: Mask  # (n_drawn,), which of all pairs drawn these are

    @classmethod
    def of(cls, drawn: DrawnPairs, bounds: Bounds, n_individuals: int) -> PairSample:
        """Set undefined pairs apart and hold the others against the bounds."""
        defined = ~np.isnan(drawn.reference)
        if not defined.any():
            raise DistanceError(
                f"none of {defined.size:,} pairs drawn has a defined distance", "at least one"
            )
        reference, output = drawn.reference[defined], drawn.output[defined]
        check_magnitude("output distances", float(output.max()))
        check_magnitude("reference distances", float(reference.max()))
        ratios = pair_ratios(output, reference)
        # A bound that one pair exceeds is none, and whatever rests on it would be wrong.
        bounds.check(reference=reference, output=output, ratio=ratios)
        near = reference <= reach(drawn.radius)
        places = drawn.places[defined]
        return cls(drawn.claims, bounds, n_individuals, places, reference, output, ratios, near, defined)

    def overall(self) -> dict[str, Any]:
        """Return the metrics over all pairs."""
        bounds, finite = self.bounds, np.isfinite(self.ratios)
        # Which of all pairs drawn have a finite ratio, those without a defined distance included.
        counted = self.defined.copy()
        counted[self.defined] = finite
        return {
            "mean_ratio": self._ordered_mean(None, self.defined),
            "pair_mean_ratio": self.claims.mean(self.ratios, bounds.ratio),
            "finite_mean_ratio": self._ordered_mean(None if finite.all() else finite, counted),
            "max_ratio": self.claims.maximum(self.ratios, bounds.ratio),
            "scale_free_ratio": self._scale_free(None),
            "mean_reference_distance": self.claims.mean(self.reference, bounds.reference),
            "mean_output_distance": self.claims.mean(self.output, bounds.output),
            "output_spread": self._spread(),
        }

    def similar(self, share: float, radius: float) -> SimilarPairs:
        """Return the metrics over the most similar pairs."""
        near, n_near = self.near, int(np.count_nonzero(self.near))
        people = pair_positions(self.places, self.n_individuals)
        mean = self.claims.mean(self.ratios, self.bounds.ratio, near)
        gap = self.claims.mean(self.output, self.bounds.output, near)
        largest, finite = self.claims.maximum(self.ratios[near], self.bounds.ratio), self._finite_mean(near)
        leaving_out = drawn_pairs_jackknife(people, self.output, near)
        return SimilarPairs(
            relative_gap=self._relative_gap(near),
            relative_gap_interval=gap_interval(leaving_out, self.claims.confidence),
            share=share,
            radius=radius,
            n_pairs=n_near,
            mean_ratio=mean,
            max_ratio=largest,
            output_gap=gap,
            scale_free_ratio=self._scale_free(near),
            no_difference=self._no_difference(near),
            finite_mean_ratio=finite,
            leaving_out=leaving_out,
        )

    def violations(self, lipschitz: float, slack: float) -> Violations:
        """Hold the pairs against ``D <= L d + gamma``."""
        beyond = excesses(self.output, self.reference, lipschitz)
        needed = {share: self.claims.quantile(beyond, 1 - share) for share in SHARES}
        # As over all pairs: what D exceeds its limit by in its last digits is no violation.
        excess, broken = beyond_rounding(beyond - slack, self.output), self.violates(lipschitz, slack)
        return Violations(
            lipschitz,
            slack,
            int(np.count_nonzero(broken)),
            self.claims.rate(broken),
            self.claims.mean(excess, self.bounds.output),
            self.claims.maximum(excess, self.bounds.output),
            needed,
        )

    def violates(self, lipschitz: float, slack: float) -> Mask:
        """Mark the pairs with ``D > L d + gamma``, by more than rounding."""
        return beyond_rounding(excesses(self.output, self.reference, lipschitz) - slack, self.output) > 0

    def mean_of(self, metric: PairMetric) -> SampledValue:
        """Claim the mean over pairs of what somebody else's function makes of d and D; nothing bounds it from above."""
        return self.claims.mean(metric.of(self.reference, self.output), None)

    def groups(self, groups: PairGroups) -> GroupSplit:
        """Return the metrics of every kind of pair."""
        left, right = (groups.numbers[who] for who in pair_positions(self.places, self.n_individuals))
        return self.split(groups.names, left, right, groups.n_unknown)

    def split(self, names: NDArray[Any], left: Indices, right: Indices, n_unknown: int = 0) -> GroupSplit:
        """Return the same by the numbers of the two groups of each pair; what is not a number of a name is unknown."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        known, n_groups = high < len(names), len(names)
        apart = range(n_groups if n_groups <= MOST_GROUPS_APART else 0)
        kinds = [(a, b) for a in apart for b in apart[a:]]
        return GroupSplit(
            self._kind("within", known & (low == high)),
            self._kind("across", known & (low != high)),
            tuple(self._kind(two_groups(names, a, b), (low == a) & (high == b)) for a, b in kinds),
            n_unknown,
        )

    def _kind(self, name: str, chosen: Mask) -> GroupMetrics:
        claims, bounds, similar = self.claims, self.bounds, chosen & self.near
        return GroupMetrics(
            name=name,
            n_pairs=int(np.count_nonzero(chosen)),
            n_similar=int(np.count_nonzero(similar)),
            relative_gap=self._relative_gap(similar),
            similar_output_gap=claims.mean(self.output, bounds.output, similar),
            output_gap=claims.mean(self.output, bounds.output, chosen),
            mean_reference_distance=claims.mean(self.reference, bounds.reference, chosen),
            finite_mean_ratio=self._finite_mean(chosen),
            n_infinite=int(np.count_nonzero(np.isinf(self.ratios[chosen]))),
            mean_ratio=claims.mean(self.ratios, bounds.ratio, chosen),
            max_ratio=claims.maximum(self.ratios[chosen], bounds.ratio),
            similar_mean_ratio=claims.mean(self.ratios, bounds.ratio, similar),
        )

    def _relative_gap(self, similar: Mask) -> SampledValue:
        """Claim the mean of D over similar pairs by its mean over all pairs, each mean with half the error."""
        claims, bound = self.claims.spending(1 / 2), self.bounds.output
        part, whole = claims.mean(self.output, bound, similar), claims.mean(self.output, bound)
        # By the union bound both means lie within their intervals with the confidence asked for; then so
        # does their quotient, from the least by the largest to the largest by the least.
        low, high = (part.low / whole.high, part.high / whole.low) if whole.low else (0.0, inf)
        return replace(
            part,
            value=relative_gap(part.value, whole.value),
            low=_or(0.0, low),
            high=_or(inf, high),
            confidence=self.claims.confidence,
            method=f"quotient of means, {part.method}",
        )

    def _no_difference(self, near: Mask) -> float:
        """Return the scale-free ratio of the similar pairs where D has nothing to do with d."""
        apart = near & (self.reference > 0)
        return float(self.reference.mean() * np.mean(1 / self.reference[apart])) if apart.any() else nan

    def _finite_mean(self, within: Mask) -> SampledValue:
        """Claim the mean ratio of those pairs within that have a finite one."""
        return self.claims.mean(self.ratios, self.bounds.ratio, within & np.isfinite(self.ratios))

    def _ordered_mean(self, within: Mask | None, counted: Mask) -> SampledValue:
        """Claim the mean over ordered pairs, where i = j contributes 0 and counts, and `counted` marks the pairs that count.

        With w their share of all pairs it is ``(m - 1) w / ((m - 1) w + 1)`` times the mean over unordered ones. A hundredth of the error goes
        to w. In a population nobody meets themself.
        """
        claims, others = self.claims, self.n_individuals - 1
        if claims.population != DATA_SET:
            return claims.mean(self.ratios, self.bounds.ratio, within)
        mean = claims.spending(0.99).mean(self.ratios, self.bounds.ratio, within)
        share = claims.spending(0.01).rate(counted)
        # The factor grows with w, and both factors are >= 0, so ends go with ends.
        value, low, high = (others * w / (others * w + 1) for w in (share.value, share.low, share.high))
        return replace(
            mean,
            value=mean.value * value,
            low=mean.low * low,
            high=mean.high * high,
            confidence=claims.confidence,
        )

    def _scale_free(self, within: Mask | None) -> SampledValue:
        """Claim mean(D / d) mean(d) / mean(D), each mean with a third of the error."""
        claims = self.claims.spending(1 / 3)
        ratio = claims.mean(self.ratios, self.bounds.ratio, within)
        reference = claims.mean(self.reference, self.bounds.reference)
        output = claims.mean(self.output, self.bounds.output)
        value = ratio.value * reference.value / output.value if output.value else nan
        # All three hold at once by the union bound; each end takes the worst ends of the three.
        low = _or(0.0, ratio.low * reference.low / output.high if output.high else 0.0)
        high = _or(inf, ratio.high * reference.high / output.low if output.low else inf)
        method = f"product of means, {ratio.method}"
        return replace(
            ratio, value=value, low=low, high=high, confidence=self.claims.confidence, method=method
        )

    def _spread(self) -> SampledValue:
        """Claim ``sqrt((1/m^2) sum_{i<j} D^2)``, in a population ``sqrt(E D^2 / 2)``; an undefined pair counts as 0."""
        squares = np.zeros(self.defined.size)
        squares[self.defined] = self.output**2
        most = self.bounds.output
        bound = None if most is None or most > _LARGEST_BOUND else most**2
        mean, m = self.claims.mean(squares, bound), self.n_individuals
        # The m (m - 1) / 2 pairs over m^2: the mean square of a pair times this is the variance.
        share = (m - 1) / m / 2 if self.claims.population == DATA_SET else 0.5
        value, low, high = (sqrt(share * end) for end in (mean.value, mean.low, mean.high))
        return replace(mean, value=value, low=low, high=high, n_pairs=self.output.size)


def _or(otherwise: float, value: float) -> float:
    """Return a value, or what is always true of it where it is an infinity times 0."""
    return otherwise if isnan(value) else value
