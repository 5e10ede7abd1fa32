"""Tell whether a reference distance measures how individuals differ, or only how much was observed of them."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.checks import checked_instance, checked_whole
from likewise.errors import ActivityWarning, ShapeError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.observed import co_observed_powers
from likewise.fairness.exact.blocks import pair_count, pair_positions
from likewise.fairness.sampled.sampling import draw_pairs
from likewise.observations import ObservedMatrix
from likewise.randomness import generator_of

_SOME = 0.3
"""Rank correlation with activity up to which d does not mostly measure it: that of ages and activity, say, of whom neither tells the other."""


@dataclass(frozen=True)
class ActivityCheck:
    """Rank correlations of a reference distance d over pairs.

    Parameters
    ----------
    with_activity : float
        Spearman's rank correlation of d with the number of observations of both individuals together. NaN where
        everybody has equally many.
    with_differences : float
        The same with the mean absolute difference over the features that both observed, on pairs that share one. NaN where
        fewer than two pairs do, or where it never varies.
    n_pairs : int
        Pairs that were looked at.
    n_without_shared : int
        Those of them that share no feature.
    """

    with_activity: float
    with_differences: float
    n_pairs: int
    n_without_shared: int

    @property
    def measures_activity(self) -> bool:
        """Whether d goes with how much was observed, and more so than with how much people differ where both were observed."""
        activity, differences = np.nan_to_num([self.with_activity, self.with_differences])
        return bool(activity > max(differences, _SOME))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the finding as a plain dictionary."""
        return {**asdict(self), "measures_activity": self.measures_activity}

    def __str__(self) -> str:
        verdict = "mostly measures" if self.measures_activity else "does not mostly measure"
        return (
            f"the reference distance {verdict} activity: its rank correlation with the number of observations is "
            f"{self.with_activity:.2f}, with differences on shared features {self.with_differences:.2f} "
            f"({self.n_pairs:,} pairs, {self.n_without_shared:,} of them share no feature)"
        )


def activity_check(
    observed: ObservedMatrix,
    reference: PairwiseDistance,
    *,
    n_pairs: int = 20_000,
    random_state: int | np.random.Generator | None = None,
) -> ActivityCheck:
    """Correlate a reference distance with row activity and with differences on shared features.

    Parameters
    ----------
    observed : ObservedMatrix
        The observations of the same individuals.
    reference : PairwiseDistance
    n_pairs : int, default 20000
        Pairs i < j to draw, uniformly, with replacement; where there are no more than that, all are taken.
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    ActivityCheck

    Raises
    ------
    ShapeError
        Different numbers of individuals.
    InputError
        Fewer than two pairs asked for.

    Warns
    -----
    ActivityWarning
        If the correlation with activity is the larger one, and above 0.3.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.fairness import RowDistance
    >>> answers = ObservedMatrix(np.random.default_rng(0).random((20, 5)), value_range=(0, 1))
    >>> activity_check(answers, RowDistance(answers.to_dense()), random_state=0).measures_activity
    False
    """
    checked_instance("observed", observed, ObservedMatrix, "an ObservedMatrix")
    checked_instance("reference", reference, PairwiseDistance, "a PairwiseDistance")
    if observed.shape[0] != reference.n_individuals:
        raise ShapeError(
            f"observations of {observed.shape[0]} individuals, a distance of {reference.n_individuals}",
            "the same",
        )
    checked_whole("n_pairs", n_pairs, least=2)
    left, right = _some_pairs(observed.shape[0], n_pairs, generator_of(random_state))
    values = observed.scaled("symmetric").values
    observations = np.diff(values.indptr)
    measured = reference.between(left, right)
    counts, sums = co_observed_powers(values, left, right)
    shared = counts > 0
    check = ActivityCheck(
        _rank_correlation(measured, observations[left] + observations[right]),
        _rank_correlation(measured[shared], sums[shared] / counts[shared]),
        left.size,
        int(np.count_nonzero(~shared)),
    )
    if check.measures_activity:
        warnings.warn(str(check), ActivityWarning, stacklevel=2)
    return check


def _some_pairs(
    n_individuals: int, n_pairs: int, generator: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw pairs, or take all of them where there are no more than that."""
    if (every := pair_count(n_individuals)) <= n_pairs:
        return pair_positions(np.arange(every), n_individuals)
    return draw_pairs(n_individuals, n_pairs, generator)


def _rank_correlation(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return Spearman's rank correlation over the pairs where `first` is defined; NaN where either never varies."""
    from scipy.stats import rankdata

    defined = ~np.isnan(first)
    ranks = [rankdata(values[defined]) for values in (first, second)]
    if not defined.any() or any(np.ptp(rank) == 0 for rank in ranks):
        return float("nan")
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
