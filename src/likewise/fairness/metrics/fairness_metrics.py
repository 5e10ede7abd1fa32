"""Everything that an audit finds about one set of outputs, in one record that prints, exports and draws itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from likewise.fairness.distances.distance import DistanceDescription
from likewise.fairness.metrics.curves import EpsilonDeltaCurve, RatioHistogram
from likewise.fairness.metrics.groups import GroupSplit
from likewise.fairness.metrics.metric_value import AnyMetricValue, MetricValue, values_of
from likewise.fairness.metrics.similar import NeighborMetrics, SimilarPairs
from likewise.fairness.metrics.violations import Violations
from likewise.fairness.metrics.worst_pairs import WorstPair
from likewise.plain import plain

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class FairnessMetrics:
    """Individual fairness of one set of outputs against one reference distance.

    A ratio is D / d of a pair: output distance over reference distance. A pair with d = 0 and D = 0 has ratio 0 (equal people,
    equal outputs); with d = 0 and D > 0 its ratio is infinite, and then so are the mean and the maximum.

    Parameters
    ----------
    n_individuals, n_pairs : int
        n_pairs counts unordered pairs with a defined reference distance.
    reference, output : DistanceDescription
        d and D.
    mean_ratio : MetricValue
        ``IF = (1/m^2) sum_ij D / d`` over ordered pairs, where i = j contributes 0 and counts (Section 6).
    pair_mean_ratio : MetricValue
        Plain mean over unordered pairs.
    finite_mean_ratio : MetricValue
        As `mean_ratio` with infinite pairs left out of sum and count; equals it where there is none.
    max_ratio : MetricValue
        The smallest L for which the outputs are L-Lipschitz fair on these pairs (Dwork et al. 2012).
    quantiles : mapping of float to MetricValue or BracketedValue
        At q: the smallest ratio that at least the share q of the pairs does not exceed.
    scale_free_ratio : MetricValue
        Mean of (D over its mean) / (d over its mean): does not fall when all outputs shrink.
    similar : SimilarPairs
    histogram : RatioHistogram
    worst : tuple of WorstPair
        Largest ratios first; infinite ones by output distance.
    n_zero_distance, n_infinite, n_undefined : int
        Pairs with d = 0; those of them with D > 0; pairs whose reference distance is not defined, which count nowhere.
    mean_reference_distance, mean_output_distance : MetricValue
        Over unordered pairs.
    output_spread : MetricValue
        ``sqrt((1/m^2) sum_{i<j} D^2)``: under l2, the root mean square distance to the mean output.
    epsilon_delta : EpsilonDeltaCurve
    violations : Violations or None
        Where a Lipschitz constant was given.
    neighbors : NeighborMetrics or None
        Where a number of neighbours was given.
    groups : GroupSplit or None
        Where an attribute was given.
    added : mapping of str to MetricValue
        Means over pairs of what others added, see `register_pair_metric`.
    notes : tuple of str
        What the reader should know.
    """

    n_individuals: int
    n_pairs: int
    reference: DistanceDescription
    output: DistanceDescription
    mean_ratio: MetricValue
    pair_mean_ratio: MetricValue
    finite_mean_ratio: MetricValue
    max_ratio: MetricValue
    quantiles: Mapping[float, AnyMetricValue]
    scale_free_ratio: MetricValue
    similar: SimilarPairs
    histogram: RatioHistogram
    worst: tuple[WorstPair, ...]
    n_zero_distance: int
    n_infinite: int
    n_undefined: int
    mean_reference_distance: MetricValue
    mean_output_distance: MetricValue
    output_spread: MetricValue
    epsilon_delta: EpsilonDeltaCurve
    violations: Violations | None = None
    neighbors: NeighborMetrics | None = None
    groups: GroupSplit | None = None
    added: Mapping[str, MetricValue] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def metrics(self) -> dict[str, AnyMetricValue]:
        """Return every single metric by name, the headline first; those by pair of groups stay in `groups`."""
        found = {"similar_relative_gap": self.similar.relative_gap, **self.added, **values_of(self)}
        found |= {f"ratio_quantile_{q:g}": value for q, value in self.quantiles.items()}
        found |= values_of(self.similar, "similar_")
        if self.violations:
            found |= values_of(self.violations, "violation_")
            found |= {f"slack_for_{share:g}": value for share, value in self.violations.needed_slack.items()}
        if self.neighbors:
            found |= values_of(self.neighbors, "neighbor_")
        if self.groups:
            found |= values_of(self.groups.within, "within_") | values_of(self.groups.across, "across_")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers (infinities and NaN are Python floats)."""
        record = {field.name: plain(getattr(self, field.name)) for field in fields(self)}
        return record | {"reference": self.reference.to_dict(), "output": self.output.to_dict()}

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with one row a metric: name, kind, value, low, high, n_pairs."""
        import polars

        numbers = dict.fromkeys(("value", "low", "high"), polars.Float64)
        schema = {"metric": polars.String, "kind": polars.String, **numbers, "n_pairs": polars.Int64}
        records = {name: {"metric": name, **plain(value)} for name, value in self.metrics().items()}
        if ends := self.similar.relative_gap_interval:  # of all pairs: over individuals
            records["similar_relative_gap"] |= {"low": ends.low, "high": ends.high}
        return polars.DataFrame(
            [{name: record.get(name) for name in schema} for record in records.values()], schema=schema
        )

    def plot_histogram(self, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw the histogram of ratios (the paper's Figures 1 and 3); returns the axes."""
        return self.histogram.plot(ax, label)

    def plot_epsilon_delta(self, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw the largest output distance of pairs within each reference distance; returns the axes."""
        return self.epsilon_delta.plot(ax, label)

    def headline(self) -> str:
        """Say which pairs the metrics speak of."""
        return f"Individual fairness over {self.n_pairs:,} pairs of {self.n_individuals:,} individuals"

    def __str__(self) -> str:
        shown = self.metrics()
        width = max(len(name) for name in shown)
        lines = [self.headline(), f"  d: {self.reference}", f"  D: {self.output}"]
        for name, value in shown.items():
            aside = _asides(self.similar).get(name, "")
            lines.append(f"  {name.replace('_', ' '):<{width}}  {value}{aside}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _asides(similar: SimilarPairs) -> dict[str, str]:
    """Say beside the metrics that need it how they are read."""
    interval, level = similar.relative_gap_interval, similar.no_difference
    over = "" if interval is None else f"; {interval.confidence:.0%} over individuals: {interval}"
    return {
        "similar_relative_gap": f" (0: the similar are treated alike, 1: similarity makes no difference{over})",
        "similar_scale_free_ratio": f" ({level:.4g}: similarity makes no difference)",
    }
