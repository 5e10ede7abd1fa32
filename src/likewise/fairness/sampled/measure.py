"""Audit by drawn pairs: every metric with an interval that says whether it covers this data set or the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._kernels import largest_places
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.blocks import pair_positions
from likewise.fairness.exact.exact_metrics import constant_notes
from likewise.fairness.metrics.curves import EpsilonBins, EqualBins, histogram_reach, ratio_histogram
from likewise.fairness.metrics.fairness_metrics import FairnessMetrics
from likewise.fairness.metrics.groups import PairGroups, unknown_note
from likewise.fairness.metrics.metric_value import MetricValue, SampledValue
from likewise.fairness.metrics.pair_metrics import PairMetric, chosen_metrics
from likewise.fairness.metrics.worst_pairs import WorstPair, name_pairs
from likewise.fairness.options import check_options, checked_bins, individual_ids, output_distance
from likewise.fairness.sampled.sampled_metrics import MOST_GROUPS_APART, PairSample
from likewise.fairness.sampled.sampling import POPULATION, Bounds, Plan, distance_bound, draw
from likewise.fairness.verdicts import Verdict, check_tolerance, judge_rate, strongest_verdict
from likewise.observations.index_alignment import aligned
from likewise.progress import Progress
from likewise.randomness import generator_of


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledFairness(FairnessMetrics):
    """Individual fairness as far as drawn pairs show it; counts, histogram, curve and worst pairs are those of the pairs drawn.

    Every metric is a `SampledValue`. Its confidence is its own, not that of all metrics together.

    Parameters
    ----------
    population : str
        Of which pairs the intervals speak.
    confidence : float
    share_above_max : SampledValue
        Share of the pairs with a ratio above the largest one drawn: at most its `high`.
    similar_share : SampledValue
        Share of the pairs that are as similar as those called most similar here.
    capped_mean_ratio : SampledValue or None
        Mean of min(D / d, L) where L was given: a mean with both ends whatever the ratios are.
    verdict : Verdict or None
        On ``D <= L d + gamma`` where L was given.
    """

    population: str
    confidence: float
    share_above_max: SampledValue
    similar_share: SampledValue
    capped_mean_ratio: SampledValue | None = None
    verdict: Verdict | None = None

    def headline(self) -> str:
        """Say which pairs the metrics speak of, and from how many."""
        drawn = f"from {self.n_pairs:,} pairs of {self.n_individuals:,} individuals"
        return f"Individual fairness of {self.population}, {drawn}, each interval with confidence {self.confidence:g}"

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *([f"  {self.verdict}"] if self.verdict is not None else [])])


def measure_sampled(
    outputs: ArrayLike | PairwiseDistance,
    reference: PairwiseDistance,
    *,
    n_pairs: int | None = None,
    population: str = "data set",
    confidence: float = 0.95,
    means: str | None = None,
    lipschitz: float | None = None,
    slack: float = 0.0,
    tolerance: float = 0.0,
    ratio_bound: float | None = None,
    output_bound: float | None = None,
    reference_bound: float | None = None,
    nearest_share: float = 0.1,
    nearest_radius: float | None = None,
    quantiles: Sequence[float] = (0.5, 0.9, 0.99),
    bins: int | ArrayLike = 60,
    worst: int = 10,
    groups: ArrayLike | None = None,
    row_ids: ArrayLike | None = None,
    metrics: Sequence[str] | None = None,
    random_state: int | np.random.Generator | None = None,
    progress: Progress | None = None,
) -> SampledFairness:
    """Measure D / d on drawn pairs of individuals and say what it shows of all pairs.

    Parameters
    ----------
    outputs, reference, quantiles, bins, worst, groups, row_ids, metrics, progress
        See `measure_fairness`.
    n_pairs : int, optional
        How many pairs to measure. By default 100,000, or as many disjoint ones as there are. One further pair in ten tells which
        pairs are similar.
    population : {"data set", "population"}
        Of which pairs to speak. ``"data set"``: pairs are drawn with replacement. ``"population"``: individuals count as independent
        draws that neither the model nor the distances have seen, and pairs share nobody.
    confidence : float, default 0.95
        In (0, 1), of each interval alone.
    means : str, optional
        How means are bounded: ``"betting"`` (the default), ``"empirical bernstein"``, ``"hoeffding"``, or, for many pairs,
        ``"asymptotic"``.
    lipschitz, slack : float, optional
        L > 0 and gamma >= 0: how often is ``D <= L d + gamma`` broken, and does it hold?
    tolerance : float, default 0
        Share of the pairs that may break it, in [0, 1). At 0 a sample can show a violation, but never that there is none.
    ratio_bound, output_bound, reference_bound : float, optional
        What D / d, D and d never exceed, such as a certificate's value, or 1 for rates. Without a bound a mean has only a low end. For a
        data set, the triangle inequality bounds D and d where it holds.
    nearest_share : float, default 0.1
        Share of the pairs, in (0, 1], that counts as most similar, by the further pairs.
    nearest_radius : float, optional
        Or: pairs with d up to this count as most similar; no further pairs are drawn.
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    SampledFairness

    Raises
    ------
    ShapeError
        Outputs and reference differ in their number of individuals.
    InputError
        An option out of its range, more pairs than there are, or a pair that exceeds a bound.
    DistanceError
        No drawn pair has a defined reference distance.

    Warns
    -----
    ConstantOutputWarning
        The spread of the outputs is below 1% of their size.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> rng = np.random.default_rng(0)
    >>> people = rng.standard_normal((2000, 3))
    >>> found = measure_sampled(
    ...     people @ [0.5, 0.2, 0.1], RowDistance(people), lipschitz=0.6, tolerance=0.01, random_state=0, n_pairs=1000
    ... )
    >>> print(found.verdict)
    D <= 0.6 d for all pairs of this data set but a share of 0.01: holds (a share of at most 0.002991 violates
    by Clopper-Pearson on 1,000 pairs; confidence 0.95)
    """
    check_options(nearest_share, quantiles, worst, lipschitz, slack)
    check_tolerance(tolerance)
    distance = output_distance("outputs", outputs, reference)
    groups, _ = aligned("groups", groups, reference.row_ids)
    ids, edges, asked = individual_ids(row_ids, reference), checked_bins(bins), tuple(map(float, quantiles))
    numbered = None if groups is None else PairGroups.of(groups, reference.n_individuals)
    condition = None if lipschitz is None else (lipschitz, slack, tolerance)
    request = _Request(ids, edges, worst, asked, numbered, condition, chosen_metrics(metrics))
    plan = Plan(n_pairs, population, confidence, means, nearest_share, nearest_radius)
    bounds = Bounds(ratio_bound, output_bound, reference_bound)
    drawn = draw(distance, reference, plan, generator_of(random_state), progress)
    if population == "data set":
        bounds = _completed(bounds, distance, reference)
    sample = PairSample.of(drawn, bounds, reference.n_individuals)
    return SampledFairness(
        reference=reference.description,
        output=distance.description,
        similar=sample.similar(nearest_share, drawn.radius),
        **_summary(sample, request, distance),
    )


@dataclass(frozen=True, eq=False)
class _Request:
    """What to report: ids, bins, how many worst pairs, quantiles, groups, L, slack and tolerance of a condition, and added metrics."""

    ids: NDArray[Any]
    bins: int | NDArray[np.float64]
    worst: int
    quantiles: tuple[float, ...]
    groups: PairGroups | None
    condition: tuple[float, float, float] | None
    metrics: tuple[PairMetric, ...]


def _summary(sample: PairSample, request: _Request, output: PairwiseDistance) -> dict[str, Any]:
    """Compute every metric over the drawn pairs."""
    overall, claims = sample.overall(), sample.claims
    return {
        **_counts(sample),
        **overall,
        "quantiles": {q: claims.quantile(sample.ratios, q) for q in request.quantiles},
        **_as_drawn(sample, request),
        "groups": None if request.groups is None else sample.groups(request.groups),
        "added": {metric.name: sample.mean_of(metric) for metric in request.metrics},
        **(_at_limit(sample, *request.condition) if request.condition else {}),
        "notes": (*_notes(sample, overall["output_spread"].value, output), *_note_on_groups(request)),
        "population": claims.population,
        "confidence": claims.confidence,
        "share_above_max": claims.beyond_maximum(sample.ratios),
        "similar_share": claims.rate(sample.near),
    }


def _completed(bounds: Bounds, output: PairwiseDistance, reference: PairwiseDistance) -> Bounds:
    """Complete bounds by the triangle inequality, which speaks of the individuals of the data set alone."""
    return Bounds(
        bounds.ratio,
        distance_bound(output) if bounds.output is None else bounds.output,
        distance_bound(reference) if bounds.reference is None else bounds.reference,
    )


def _counts(sample: PairSample) -> dict[str, Any]:
    """Count the drawn pairs, and those that no ratio does justice to."""
    return {
        "n_individuals": sample.n_individuals,
        "n_pairs": sample.ratios.size,
        "n_zero_distance": int(np.count_nonzero(sample.reference == 0)),
        "n_infinite": int(np.count_nonzero(np.isinf(sample.ratios))),
        "n_undefined": int(np.count_nonzero(~sample.defined)),
    }


def _at_limit(sample: PairSample, lipschitz: float, slack: float, tolerance: float) -> dict[str, Any]:
    """Count violations and judge: each end of the rate alone may use the whole error, since only one of them can mislead."""
    events = sample.violates(lipschitz, slack)
    found = sample.violations(lipschitz, slack)

    def judge(rate: MetricValue) -> Verdict:
        return judge_rate(rate, lipschitz, tolerance=tolerance, slack=slack)

    # At most one of both ends can lead to a wrong verdict, so the error need not be shared between them.
    verdict = strongest_verdict(
        judge(sample.claims.rate(events, "upper")), judge(sample.claims.rate(events, "lower"))
    )
    return {
        "violations": found,
        "capped_mean_ratio": sample.claims.mean(np.minimum(sample.ratios, lipschitz), lipschitz),
        "verdict": judge(found.rate) if verdict.status == "inconclusive" else verdict,
    }


def _as_drawn(sample: PairSample, request: _Request) -> dict[str, Any]:
    """Return what shows the pairs drawn and no others."""
    bins = request.bins
    edges = EqualBins(bins, histogram_reach(sample.ratios)) if isinstance(bins, int) else bins
    return {
        "histogram": ratio_histogram(sample.ratios, edges),
        "worst": _largest_ratios(sample, request.worst, request.ids),
        "epsilon_delta": EpsilonBins.of(sample.reference).curve(sample.output),
    }


def _largest_ratios(sample: PairSample, count: int, ids: NDArray[Any]) -> tuple[WorstPair, ...]:
    """Name the drawn pairs with the largest ratios, a pair that was drawn twice once."""
    # Pairs are drawn with replacement; who is listed twice says nothing more.
    _, first = np.unique(sample.places, return_index=True)
    ratios, output = sample.ratios[first], sample.output[first]
    chosen = first[largest_places(ratios, output, count)]
    left, right = pair_positions(sample.places[chosen], sample.n_individuals)
    return name_pairs(
        left, right, ids, sample.reference[chosen], sample.output[chosen], sample.ratios[chosen]
    )


def _note_on_groups(request: _Request) -> list[str]:
    if request.groups is None:
        return []
    notes, n_groups = unknown_note(request.groups.n_unknown), len(request.groups.names)
    if n_groups > MOST_GROUPS_APART:
        notes.append(
            f"{n_groups} groups: metrics within and across groups, none for every two of them, for which too few pairs are drawn"
        )
    return notes


def _notes(sample: PairSample, spread: float, output: PairwiseDistance) -> tuple[str, ...]:
    """Say what a reader must know."""
    counts, notes = _counts(sample), []
    if sample.claims.population == POPULATION:
        notes.append(
            "for individuals that are independent draws, which model and distances were not made from"
        )
    unbounded = [name for name, bound in vars(sample.bounds).items() if bound is None]
    if unbounded:
        words = " and ".join(f"{name}_bound" for name in unbounded)
        notes.append(f"means without a high end: nothing bounds what was not drawn; give {words} if known")
    if counts["n_infinite"]:
        notes.append(
            f"{counts['n_infinite']:,} pairs drawn have d = 0 but different outputs: an infinite ratio"
        )
    if counts["n_undefined"]:
        notes.append(
            f"{counts['n_undefined']:,} pairs drawn have no defined reference distance and count nowhere"
        )
    notes.append("histogram, epsilon-delta curve and worst pairs are those of the pairs drawn")
    return (*notes, *constant_notes(spread, output))
