"""How widely observations lie about their estimate, by row and by column: what intervals are wide or narrow by."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from likewise._typing import Floats
from likewise.checks import checked_confidence, checked_name, checked_share
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.folding import shrunk_means
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.registry import as_estimator
from likewise.observations import ObservedMatrix, hold_out
from likewise.observations.index_alignment import checked_positions, positions_of
from likewise.observations.table import Values, rows_of_entries
from likewise.randomness import generator_of

Scaling = Literal["none", "row", "column", "both"]

SCALINGS: tuple[Scaling, ...] = ("none", "row", "column", "both")

_PRIOR = 10.0
"""Observations of average spread that each row and column is credited with, so that few of its own do not decide."""


@dataclass(frozen=True, eq=False)
class Spread:
    """``rows_i columns_j``, all above 0: the mean absolute residual that is expected of an entry."""

    rows: Floats  # (m,)
    columns: Floats  # (n,)

    @classmethod
    def of(cls, values: Values, estimate: LowRankEstimate, scaling: Scaling) -> Spread:
        """Measure the residuals of observations, on the method's working range, that the estimate was made of.

        `scaling` says by what the spread may differ; with ``"none"`` it is 1. `InputError` for an unknown one.
        """
        checked_name("scaling", scaling, SCALINGS)
        labels, indices = rows_of_entries(values), values.indices
        residuals = np.abs(values.data - estimate.on_working_range().entries(labels, indices))
        average = float(residuals.mean())
        rows, columns = (np.ones(size) for size in values.shape)
        if average > 0 and scaling in ("row", "both"):
            rows = _relative(residuals, labels, rows.size)
        if average > 0 and scaling in ("column", "both"):
            # What the rows do not say: a column is wide where its residuals are large for their rows.
            columns = _relative(residuals / rows[labels], indices, columns.size)
        return cls(rows, columns)

    def at(self, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> Floats:
        """Return the spread at entries."""
        return np.asarray(self.rows[rows] * self.columns[columns])


def _relative(residuals: Floats, labels: NDArray[np.integer], n_labels: int) -> Floats:
    """Return the mean residual of each label against that of all."""
    average = float(residuals.mean())
    excess = shrunk_means(labels, residuals - average, np.ones_like(residuals), _PRIOR, n_labels)
    return np.asarray(1 + excess / average)


_SELDOM = 0.1
"""Of the share that intervals may miss, the part that values beyond an inferred range may take before ends are not cut at it."""


@dataclass(frozen=True, eq=False)
class EntryIntervals:
    """For any entry, an interval that a further observation of it would fall into.

    Parameters
    ----------
    estimate : LowRankEstimate
        Of the observations that were not used to calibrate: the intervals are about it.
    confidence : float
        Share of the entries that intervals cover, at least, on average over the population.
    radius : float
        Half the width of an interval where the spread is 1, on the method's working range; infinite where there were too few observations
        to calibrate on, and each interval is then the whole range, or all numbers.
    spread : Spread
        What the radius of each entry is multiplied by.
    n_calibration : int
        How many observations the radius rests on.
    bounded : bool
        Whether ends beyond the value range of `estimate` are cut off: where it was declared, as no value lies beyond; where one was
        inferred for all columns from enough observations, as hidden observations beyond it then counted as not covered when the radius was
        chosen. Coverage is the same in both. Other inferred ranges end where few values happened to be seen, and cut nothing off.
    """

    estimate: LowRankEstimate
    confidence: float
    radius: float
    spread: Spread
    n_calibration: int
    bounded: bool

    @property
    def population(self) -> str:
        """Of which entries coverage is promised."""
        return (
            "entries that are observed in the same way as those of the data: a further observation of these rows and columns, drawn as the "
            "others were. Coverage is an average over such entries; it is not guaranteed for each row, column or entry, nor for entries that "
            "nobody would observe"
        )

    def entries(self, rows: ArrayLike, columns: ArrayLike) -> Floats:
        """Return the intervals of entries by their positions, in the user's units.

        Parameters
        ----------
        rows, columns : array-like of int, shape (k,)
            Positions (not ids).

        Returns
        -------
        ndarray, shape (k, 2)
            Lower and upper ends, within the value range where `bounded`.

        Raises
        ------
        ShapeError
            A position that is not there.
        """
        m, n = self.estimate.shape
        i, j = checked_positions(rows, m, "row"), checked_positions(columns, n, "column")
        middle = self.estimate.on_working_range().entries(i, j)
        half, scale = self.radius * self.spread.at(i, j), self.estimate.scale
        low, high = scale.bounds if self.bounded else (-inf, inf)
        ends = (scale.backward(np.clip(end, low, high), j) for end in (middle - half, middle + half))
        return np.column_stack(tuple(ends))

    def entries_of(self, row_ids: ArrayLike, column_ids: ArrayLike) -> Floats:
        """Return the intervals of entries by the ids of their rows and columns; see `entries`.

        Raises
        ------
        InputError
            An id that is not there.

        Examples
        --------
        >>> from likewise.observations import clustered
        >>> intervals = entry_intervals(clustered(60, 80, 3, observed_fraction=0.5, random_state=1).observed, "biases")
        >>> intervals.entries_of([7], [3]).tolist() == intervals.entries([7], [3]).tolist()  # ids here are positions
        True
        """
        rows = positions_of(row_ids, self.estimate.row_ids, "row")
        return self.entries(rows, positions_of(column_ids, self.estimate.column_ids, "column"))

    def half_widths(self) -> tuple[float, float]:
        """Return the smallest and the largest half width of an interval before its ends are cut off, in the user's units."""
        columns = self.spread.columns * self.estimate.scale.factor
        narrowest, widest = (
            float(self.radius * end(self.spread.rows) * end(columns)) for end in (np.min, np.max)
        )
        return narrowest, widest

    def __str__(self) -> str:
        return (
            f"{self.confidence:.0%} intervals, {self._width()}, calibrated on {self.n_calibration:,} observations, "
            f"for {self.population}"
        )

    def _width(self) -> str:
        if not np.isfinite(self.radius):
            return "the whole range" if self.bounded else "all numbers"
        narrowest, widest = (f"{half:.3g}" for half in self.half_widths())
        width = (
            narrowest
            if narrowest == widest
            else f"{narrowest} to {widest}, which differs from entry to entry"
        )
        return f"the estimate plus or minus {width}{', cut at the value range' if self.bounded else ''}"


def entry_intervals(
    observed: ObservedMatrix | Any,
    estimator: str | MatrixEstimator = "auto",
    *,
    confidence: float = 0.95,
    calibration_share: float = 0.1,
    scaling: Scaling = "both",
    random_state: int | np.random.Generator | None = 0,
) -> EntryIntervals:
    """Give intervals that cover further observations with a known probability, whatever the estimator and the noise.

    Some observations are hidden, and the estimator is fitted on the others. The radius is the smallest with which intervals about the
    estimate cover ``ceil((k + 1) confidence)`` of the k hidden ones. A further observation is as likely as any of them to have the largest
    residual. So the coverage is at least `confidence`, and at most ``1 / (k + 1)`` above it where residuals do not tie.
    `EntryIntervals.population` says of which entries that holds, `EntryIntervals.bounded` when ends are cut at the range.

    Parameters
    ----------
    observed : ObservedMatrix, or what its constructor takes; shape (m, n)
        Rows are individuals.
    estimator : str or MatrixEstimator, default "auto"
        It is cloned, not fitted in place.
    confidence : float, default 0.95
        In (0, 1).
    calibration_share : float, default 0.1
        Of the observations, in (0, 1).
    scaling : {"none", "row", "column", "both"}, default "both"
        What the width follows: how far the estimate is from the observations of the fit in the row, the column, or both.
    random_state : int, Generator or None, default 0
        For what is hidden, and an estimator given by name.

    Returns
    -------
    EntryIntervals

    Raises
    ------
    InputError
        Or one of its kinds: see `likewise.errors`. For one, the range of a column is inferred, and too few values are left to infer it from.

    References
    ----------
    Vovk, Gammerman, Shafer, "Algorithmic Learning in a Random World" (2005); Lei, G'Sell, Rinaldo, Tibshirani, Wasserman,
    "Distribution-free predictive inference for regression", JASA 113 (2018), for the split and the scaled residuals; Gui, Barber, Ma,
    "Conformalized matrix completion", NeurIPS (2023), for completion, also where chances to be observed differ.

    Examples
    --------
    >>> from likewise.observations import clustered
    >>> data = clustered(60, 80, 3, observed_fraction=0.5, random_state=1)
    >>> intervals = entry_intervals(data.observed, "biases", confidence=0.9)
    >>> intervals.n_calibration, intervals.entries([0], [0]).shape
    (248, (1, 2))
    """
    checked_confidence(confidence)
    checked_share("calibration_share", calibration_share)
    if not isinstance(observed, ObservedMatrix):
        observed = ObservedMatrix(observed)
    rng = generator_of(random_state)
    seed = int(rng.integers(2**31)) if isinstance(estimator, str) else None
    unfitted = clone(as_estimator(estimator, seed))
    hidden = hold_out(observed, calibration_share, rng)
    training = _with_its_own_range(hidden.training)
    fitted = unfitted.fit(training)
    estimate = fitted.estimate_
    spread = Spread.of(training.scaled(fitted.working_range).values, estimate, scaling)
    predicted = estimate.on_working_range().entries(hidden.rows, hidden.columns)
    actual = estimate.scale.forward(hidden.values, hidden.columns)
    scores = np.abs(actual - predicted) / spread.at(hidden.rows, hidden.columns)
    declared, cut = not observed.value_range.inferred, _may_cut(training, confidence)
    if cut:
        # Counted as not covered, whatever the radius: so cutting at the range costs no coverage.
        seen = training.value_range
        scores[(hidden.values < seen.low) | (hidden.values > seen.high)] = inf
    radius = conformal_radius(scores, confidence)
    return EntryIntervals(
        estimate, confidence, radius, spread, scores.size, declared or (cut and isfinite(radius))
    )


def _with_its_own_range(training: ObservedMatrix) -> ObservedMatrix:
    """Infer a range that was inferred again: from the hidden observations too it would tell where they end, and no further one."""
    found = training.value_range
    if not found.inferred:
        return training
    return ObservedMatrix(
        training.values,
        value_range="per-column" if found.low.ndim else None,
        row_ids=training.row_ids,
        column_ids=training.column_ids,
    )


def _may_cut(training: ObservedMatrix, confidence: float) -> bool:
    """Return whether intervals may end where the inferred range does, at little cost in width.

    A further observation lies beyond n that were seen with a chance of at most ``2 / (n + 1)``. Judged by n alone: a choice that looked at
    the hidden observations would void what they promise.
    """
    found = training.value_range
    seldom = 2 / (training.n_observed + 1) <= _SELDOM * (1 - confidence)
    return found.inferred and not found.low.ndim and seldom


def conformal_radius(scores: Floats, confidence: float) -> float:
    """Return the ``ceil((k + 1) confidence)``-th smallest of k scores; infinity where that is more than k.

    >>> conformal_radius(np.array([3.0, 1.0, 2.0, 4.0]), 0.6), conformal_radius(np.array([1.0]), 0.9)
    (3.0, inf)
    """
    # Rounding would lift (k + 1) confidence above a whole number that it is.
    rank = ceil((scores.size + 1) * confidence - 1e-9)
    return inf if rank > scores.size else float(np.partition(scores, rank - 1)[rank - 1])
