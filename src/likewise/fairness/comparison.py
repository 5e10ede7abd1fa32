"""Compare two sets of outputs against one fixed reference distance, and say what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.errors import InputError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.exact.measure import measure_arms
from likewise.fairness.metrics.accuracy import ErrorMetrics
from likewise.fairness.metrics.fairness_metrics import FairnessMetrics
from likewise.fairness.metrics.metric_value import ExactValue
from likewise.fairness.metrics.paired import PairedDifferences, paired_differences
from likewise.fairness.options import output_distance
from likewise.fairness.sentences import findings
from likewise.plain import plain
from likewise.progress import Progress

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes

Reference = PairwiseDistance | Mapping[str, PairwiseDistance]


@dataclass(frozen=True, eq=False)
class MeasuredArm:
    """One set of outputs: its fairness, with its error beside.

    Parameters
    ----------
    fairness : FairnessMetrics
    error : ErrorMetrics or None
        None if accuracy was not measured.
    """

    fairness: FairnessMetrics
    error: ErrorMetrics | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sets of outputs, figure by figure.

    Parameters
    ----------
    before, after : str
        Names of the two.
    arms : mapping of str to MeasuredArm
        Figures over all pairs of this data set, and errors.
    valid : bool
        Whether both were held against the same reference distance. If not, differences mean nothing, and the sentences say so.
    differences : mapping of str to ExactValue
        After minus before, for every figure over all pairs that both have.
    paired : PairedDifferences or None
        Pair by pair, with intervals; None if not asked for or not valid.
    findings : tuple of str
        What is shown and what is not.
    """

    before: str
    after: str
    arms: Mapping[str, MeasuredArm]
    valid: bool
    differences: Mapping[str, ExactValue]
    paired: PairedDifferences | None = None
    findings: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers."""
        return {
            "before": self.before,
            "after": self.after,
            "valid": self.valid,
            "arms": {
                name: {"fairness": arm.fairness.to_dict(), "error": arm.error and arm.error.to_dict()}
                for name, arm in self.arms.items()
            },
            "differences": plain(self.differences),
            "paired": self.paired and self.paired.to_dict(),
            "findings": list(self.findings),
        }

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with one row a figure: its name, both values, and their difference."""
        import polars

        figures = {name: arm.fairness.figures() for name, arm in self.arms.items()}
        rows = [
            (name, float(figures[self.before][name]), float(figures[self.after][name]), float(difference))
            for name, difference in self.differences.items()
        ]
        return polars.DataFrame(rows, schema=["figure", self.before, self.after, "difference"], orient="row")

    def plot_histogram(self, ax: Axes | None = None) -> Axes:
        """Draw both histograms of ratios (the paper's Figures 1 and 3); returns the axes."""
        for name, arm in self.arms.items():
            ax = arm.fairness.plot_histogram(ax, label=name)
        assert ax is not None
        ax.legend()
        return ax

    def __str__(self) -> str:
        figures = {name: arm.fairness.figures() for name, arm in self.arms.items()}
        lines = [*self.findings, "", f"{'':<28}{self.before:>14}{self.after:>14}{'difference':>14}"]
        for name, difference in self.differences.items():
            values = (float(figures[self.before][name]), float(figures[self.after][name]), difference.value)
            lines.append(f"{name.replace('_', ' '):<28}" + "".join(f"{value:>14.4g}" for value in values))
        errors = [f"{name}: {arm.error}" for name, arm in self.arms.items() if arm.error is not None]
        return "\n".join([*lines, *errors, *([str(self.paired)] if self.paired else [])])


def compare(
    arms: Mapping[str, ArrayLike | PairwiseDistance],
    reference: Reference,
    *,
    errors: Mapping[str, ErrorMetrics | None] | None = None,
    mixed_references: bool = False,
    population: str | None = "population",
    n_pairs: int | None = None,
    confidence: float = 0.95,
    ratio_bound: float | None = None,
    nearest_share: float = 0.1,
    random_state: int | np.random.Generator | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Compare two sets of outputs of the same individuals against one reference distance.

    Parameters
    ----------
    arms : mapping of str to outputs or PairwiseDistance
        Two of them, before and after a change, for example ``{"without": Yh, "with": Yf}``; see `measure_fairness`.
    reference : PairwiseDistance, or mapping of str to PairwiseDistance
        d, fixed before the change. One distance for each arm is refused unless `mixed_references` names it.
    errors : mapping of str to ErrorMetrics, optional
        Error of each arm, to be read beside fairness; see `held_out_error`.
    mixed_references : bool, default False
        Allow one reference distance for each arm. That is not a valid comparison, and the result says so.
    population : {"population", "data set"} or None, default "population"
        Of which pairs the paired intervals speak; None for none. See `paired_differences`.
    n_pairs, confidence, ratio_bound, nearest_share, random_state
        See `paired_differences`.
    progress : callable, optional
    **options
        Further options of `measure_fairness`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        Not two arms, or mixed references that were not named.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> people = np.random.default_rng(0).standard_normal((200, 2))
    >>> scores = {"without": people @ [1.0, 1.0], "with": people @ [0.4, 0.4]}
    >>> found = compare(scores, RowDistance(people), random_state=0)
    >>> round(found.differences["max_ratio"].value, 3), found.valid
    (-0.849, True)
    """
    if len(arms) != 2:
        raise InputError(f"{len(arms)} arms", "two: before and after", "measure_arms takes any number")
    before, after = arms
    references = _references(arms, reference, mixed_references=mixed_references)
    valid = references[before] is references[after]
    distances = {name: output_distance(name, arms[name], references[name]) for name in arms}
    options["nearest_share"] = nearest_share
    figures = _measure(distances, references, valid, progress, options)
    measured = {name: MeasuredArm(figures[name], (errors or {}).get(name)) for name in arms}
    paired = None
    if valid and population is not None:
        paired = paired_differences(
            distances[before],
            distances[after],
            references[before],
            population=population,
            n_pairs=n_pairs,
            confidence=confidence,
            ratio_bound=ratio_bound,
            nearest_share=nearest_share,
            random_state=random_state,
        )
    return _put_together(measured, valid, paired)


def _put_together(
    measured: Mapping[str, MeasuredArm], valid: bool, paired: PairedDifferences | None
) -> Comparison:
    (before, earlier), (after, later) = measured.items()
    return Comparison(
        before=before,
        after=after,
        arms=measured,
        valid=valid,
        differences=_differences(earlier.fairness, later.fairness),
        paired=paired,
        findings=findings(measured, valid=valid, paired=paired),
    )


def _references(
    arms: Mapping[str, Any], reference: Reference, *, mixed_references: bool
) -> dict[str, PairwiseDistance]:
    if isinstance(reference, PairwiseDistance):
        return dict.fromkeys(arms, reference)
    if set(reference) != set(arms):
        raise InputError(
            f"references for {sorted(reference)}", f"one for each of {sorted(arms)}, or one for both"
        )
    if len({id(distance) for distance in reference.values()}) > 1 and not mixed_references:
        raise InputError(
            "one reference distance for each arm",
            "one for both: a comparison holds only with one fixed yardstick",
            "mixed_references=True measures all the same, and says that it is not a valid comparison",
        )
    return dict(reference)


def _measure(
    distances: Mapping[str, PairwiseDistance],
    references: Mapping[str, PairwiseDistance],
    valid: bool,
    progress: Progress | None,
    options: Mapping[str, Any],
) -> dict[str, FairnessMetrics]:
    """Measure the arms together where they share a reference, else one by one."""
    if valid:
        return measure_arms(distances, next(iter(references.values())), progress=progress, **options)
    figures: dict[str, FairnessMetrics] = {}
    for name, distance in distances.items():
        figures |= measure_arms({name: distance}, references[name], progress=progress, **options)
    return figures


def _differences(before: FairnessMetrics, after: FairnessMetrics) -> dict[str, ExactValue]:
    earlier, later = before.figures(), after.figures()
    with np.errstate(invalid="ignore"):
        return {
            name: ExactValue(
                float(np.subtract(later[name].value, earlier[name].value)), earlier[name].n_pairs
            )
            for name in earlier
            if name in later
        }
