"""What an audit finds: exact and sampled figures as different types, and the record of all figures of one arm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.fairness.distance import DistanceDescription

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ExactFigure:
    """A figure over every pair that it speaks of: no sampling, no interval.

    Parameters
    ----------
    value : float
        May be infinite (zero-distance pairs whose outputs differ) or NaN (not defined, for example no pair).
    n_pairs : int
        How many unordered pairs it was computed over.
    """

    value: float
    n_pairs: int

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4g}"


@dataclass(frozen=True)
class SampledFigure:
    """A figure estimated from sampled pairs, with an interval; an estimate is not a bound on every pair.

    Parameters
    ----------
    value : float
        The estimate.
    low, high : float
        Ends of the interval; infinite where it is one-sided.
    confidence : float
        Coverage that the interval guarantees, in (0, 1).
    population : str
        What the interval speaks of: all pairs of this data set, or the population that the individuals come from.
    method : str
        How the interval was made.
    n_pairs : int
        How many pairs were drawn.
    """

    value: float
    low: float
    high: float
    confidence: float
    population: str
    method: str
    n_pairs: int

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


Figure = ExactFigure | SampledFigure


@dataclass(frozen=True)
class WorstPair:
    """A pair with one of the largest ratios.

    Parameters
    ----------
    left, right : object
        Ids of the two individuals.
    reference_distance, output_distance : float
        d and D.
    ratio : float
        D / d; infinite where d = 0 and D > 0.
    """

    left: Any
    right: Any
    reference_distance: float
    output_distance: float
    ratio: float


@dataclass(frozen=True)
class SimilarPairs:
    """The same figures over the pairs that the reference distance calls most similar.

    Parameters
    ----------
    share : float
        Share of all pairs that was asked for.
    radius : float
        Largest reference distance among them. Every pair at this distance is in, so ties can make `n_pairs` larger than asked.
    n_pairs : int
    mean_ratio, max_ratio : Figure
        Of D / d.
    output_gap : Figure
        Mean of D.
    scale_free_ratio : Figure
        Mean of (D over its mean) / (d over its mean), both means over *all* pairs.
    """

    share: float
    radius: float
    n_pairs: int
    mean_ratio: Figure
    max_ratio: Figure
    output_gap: Figure
    scale_free_ratio: Figure


@dataclass(frozen=True, eq=False)
class RatioHistogram:
    """How many pairs have a ratio in each bin.

    Parameters
    ----------
    edges : ndarray, shape (n_bins + 1,)
    counts : ndarray of int, shape (n_bins,)
        The last bin includes its upper edge.
    above : int
        Pairs with a finite ratio above the last edge.
    infinite : int
        Pairs with an infinite ratio.
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    above: int
    infinite: int


@dataclass(frozen=True, eq=False)
class FairnessFigures:
    """Individual fairness of one set of outputs against one reference distance.

    A ratio is D / d of a pair: output distance over reference distance. A pair with d = 0 and D = 0 has ratio 0 (equal people,
    equal outputs); with d = 0 and D > 0 its ratio is infinite, and then so are the mean and the maximum.

    Parameters
    ----------
    n_individuals, n_pairs : int
        n_pairs counts unordered pairs with a defined reference distance.
    reference, output : DistanceDescription
        d and D.
    mean_ratio : Figure
        ``IF = (1/m^2) sum_ij D / d`` over ordered pairs, where i = j contributes 0 and counts (Section 6).
    pair_mean_ratio : Figure
        Plain mean over unordered pairs.
    finite_mean_ratio : Figure
        As `mean_ratio` with infinite pairs left out of sum and count; equals it where there is none.
    max_ratio : Figure
        The smallest L for which the outputs are L-Lipschitz fair on these pairs (Dwork et al. 2012).
    quantiles : mapping of float to Figure
        At q: the smallest ratio that at least the share q of the pairs does not exceed.
    scale_free_ratio : Figure
        Mean of (D over its mean) / (d over its mean): does not fall when all outputs shrink.
    similar : SimilarPairs
    histogram : RatioHistogram
    worst : tuple of WorstPair
        Largest ratios first; infinite ones by output distance.
    n_zero_distance, n_infinite, n_undefined : int
        Pairs with d = 0; those of them with D > 0; pairs whose reference distance is not defined, which count nowhere.
    mean_reference_distance, mean_output_distance : Figure
        Over unordered pairs.
    output_spread : Figure
        ``sqrt((1/m^2) sum_{i<j} D^2)``: under l2, the root mean square distance to the mean output.
    notes : tuple of str
        What the reader should know.
    """

    n_individuals: int
    n_pairs: int
    reference: DistanceDescription
    output: DistanceDescription
    mean_ratio: Figure
    pair_mean_ratio: Figure
    finite_mean_ratio: Figure
    max_ratio: Figure
    quantiles: Mapping[float, Figure]
    scale_free_ratio: Figure
    similar: SimilarPairs
    histogram: RatioHistogram
    worst: tuple[WorstPair, ...]
    n_zero_distance: int
    n_infinite: int
    n_undefined: int
    mean_reference_distance: Figure
    mean_output_distance: Figure
    output_spread: Figure
    notes: tuple[str, ...] = ()

    def figures(self) -> dict[str, Figure]:
        """Return every figure by name, in the order of a report."""
        overall = {f.name: getattr(self, f.name) for f in fields(self)}
        found = {name: value for name, value in overall.items() if isinstance(value, Figure)}
        found |= {f"ratio_quantile_{q:g}": figure for q, figure in self.quantiles.items()}
        similar = {f.name: getattr(self.similar, f.name) for f in fields(self.similar)}
        return found | {
            f"similar_{name}": value for name, value in similar.items() if isinstance(value, Figure)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers (infinities and NaN are Python floats)."""
        histogram = {f.name: _plain(getattr(self.histogram, f.name)) for f in fields(self.histogram)}
        return {
            "n_individuals": self.n_individuals,
            "n_pairs": self.n_pairs,
            "n_zero_distance": self.n_zero_distance,
            "n_infinite": self.n_infinite,
            "n_undefined": self.n_undefined,
            "reference": self.reference.to_dict(),
            "output": self.output.to_dict(),
            "figures": {name: _figure_record(figure) for name, figure in self.figures().items()},
            "similar": {name: getattr(self.similar, name) for name in ("share", "radius", "n_pairs")},
            "histogram": histogram,
            "worst": [{name: _plain(value) for name, value in asdict(pair).items()} for pair in self.worst],
            "notes": list(self.notes),
        }

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with one row a figure: name, kind, value, low, high, n_pairs."""
        import polars

        records = [{"figure": name, **_figure_record(figure)} for name, figure in self.figures().items()]
        schema = {
            "figure": polars.String,
            "kind": polars.String,
            "value": polars.Float64,
            "low": polars.Float64,
        }
        schema |= {"high": polars.Float64, "n_pairs": polars.Int64}
        return polars.DataFrame(
            [{name: record.get(name) for name in schema} for record in records], schema=schema
        )

    def plot_histogram(self, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw the histogram of ratios (the paper's Figures 1 and 3); returns the axes."""
        from likewise.fairness.plots import plot_ratio_histogram

        return plot_ratio_histogram(self.histogram, ax, label)

    def __str__(self) -> str:
        width = max(len(name) for name in self.figures())
        lines = [f"Individual fairness over {self.n_pairs:,} pairs of {self.n_individuals:,} individuals"]
        lines += [f"  d: {self.reference}", f"  D: {self.output}"]
        lines += [f"  {name.replace('_', ' '):<{width}}  {figure}" for name, figure in self.figures().items()]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _figure_record(figure: Figure) -> dict[str, Any]:
    """Return a figure as a plain dictionary that says whether it is exact or sampled."""
    return {"kind": "exact" if isinstance(figure, ExactFigure) else "sampled", **asdict(figure)}


def _plain(value: Any) -> Any:
    """Turn arrays and NumPy scalars into plain Python."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
