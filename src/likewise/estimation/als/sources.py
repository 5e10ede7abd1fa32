"""What the vectors of rows and columns are regressed on beside the values: features, who observed what, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats, Indices, Mask
from likewise.errors import InputError, option
from likewise.estimation.base.prior_mean import Coding, PriorMean, Regressors, pattern_of
from likewise.observations import Features, ObservedMatrix
from likewise.observations.split import checked_times, differ
from likewise.observations.table import Values, rows_of_entries, with_data

SOURCES = ("row-features", "column-features", "row-pattern", "column-pattern", "time")
"""Features of the individuals, of the columns; which columns an individual observed; which individuals observed a column; when it was observed."""

STRENGTH = 1.0
"""Of the regularisation of W: before anything is seen, a source of regressors of length 1 explains as much as it leaves open."""
_STEPS = 4
"""Of conjugate gradients in a sweep, from the solution of the sweep before."""
_LOST = 1e-200
"""Squares below it are rounding: there is no way left to go."""


def checked_sources(sources: Any, observed: ObservedMatrix) -> tuple[str, ...]:
    """Return the names of the sources that are used: None stands for the features that the observations have, "all" for these and all else there is.

    All else is both patterns, and time where times are known and differ. Raises `InputError` for an unknown name, or features that the observations
    do not have.
    """
    given = {"row-features": observed.side.rows, "column-features": observed.side.columns}
    here = tuple(name for name in given if given[name] is not None)
    if sources is None or (isinstance(sources, str) and sources in ("none", "all")):
        dated = observed.times is not None and differ(observed.times)
        known = SOURCES[2:] if dated else SOURCES[2:-1]
        return here if sources is None else (*here, *known) if sources == "all" else ()
    names = [name.strip() for name in sources.split(",")] if isinstance(sources, str) else sources
    if not isinstance(names, Sequence) or not all(
        isinstance(name, str) and name in SOURCES for name in names
    ):
        raise InputError(option("sources", repr(sources)), f"'none', 'all', or some of {', '.join(SOURCES)}")
    for name in names:
        if name in given and given[name] is None:
            raise InputError(
                f"{option('sources', repr(name))} for observations without {name.replace('-', ' ')}",
                "observations that have such",
                f"likewise.observations.with_features(observed, {name.split('-')[0]}s=...) gives them, on the command line --{name}",
            )
    if "time" in names:
        checked_times(observed, "sources")
    return tuple(name for name in SOURCES if name in names)


def refuse_contradictions(
    names: Sequence[str], propensities: Any, max_lipschitz: float | None, sources: Any
) -> None:
    """Raise `InputError` for a pattern beside propensities, and for sources that rows depend on beside a limit of their constant."""
    if propensities is not None and any(name.endswith("pattern") for name in names):
        raise InputError(
            f"{option('sources', repr(sources))} beside {option('propensities', '')}",
            "one of them",
            "propensities undo what the pattern says, a regression on the pattern uses it",
        )
    if max_lipschitz is not None and (of_rows := sources_of_rows(names)):
        raise InputError(
            f"{option('max_lipschitz', str(max_lipschitz))} for rows that are regressed on {' and '.join(of_rows)}",
            "rows that depend on their values alone",
            f"{option('sources', repr('none'))}, or sources of the columns",
        )


def sources_of_rows(names: Sequence[str]) -> list[str]:
    """Return those with which a row depends on more than its values."""
    return [name for name in names if name.startswith("row") or name == "time"]


@dataclass(frozen=True, eq=False)
class SideSources:
    """What the vectors of one side are regressed on."""

    regressors: Regressors
    coding: Coding | None  # of the features
    uses_pattern: bool

    @classmethod
    def of(cls, features: Features | None, pattern: Values | None) -> Self | None:
        """Collect what is used, features and `pattern`, the (k, n) observations of each vector; None where nothing is."""
        coding = None if features is None else Coding.of(features)
        parts = [] if features is None or coding is None else [coding.regressors(features)]
        parts += [] if pattern is None else [pattern_of(pattern)]
        return cls(Regressors.beside(parts), coding, pattern is not None) if parts else None

    def none_yet(self, d: int) -> PriorMean:
        """Return a prior of mean 0."""
        return PriorMean(np.zeros((self.regressors.shift.size, d)), self.coding, self.uses_pattern)


@dataclass(frozen=True, eq=False)
class Sources:
    """What the vectors of both sides are regressed on; None where the prior has mean 0."""

    rows: SideSources | None = None
    columns: SideSources | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the prior of both sides has mean 0."""
        return self.rows is None and self.columns is None

    @classmethod
    def of(cls, observed: ObservedMatrix, values: Values, names: Sequence[str]) -> Self:
        """Collect the sources of these names."""
        side = observed.side
        return cls(
            SideSources.of(
                side.rows if "row-features" in names else None, values if "row-pattern" in names else None
            ),
            SideSources.of(
                side.columns if "column-features" in names else None,
                values.T.tocsr() if "column-pattern" in names else None,
            ),
        )


def regress_on_sources(
    regressors: Regressors,
    vectors: Floats,
    seen: Mask,
    precision: Floats,
    start: Floats,
    n_steps: int = _STEPS,
) -> Floats:
    """Go some steps towards W, the minimum of ``sum_i (x_i - s_i W) P (x_i - s_i W)^T + STRENGTH tr(P W^T W)`` over the vectors that were seen.

    In coordinates in which P is the identity the columns of W are ridge regressions of their own. Each goes some steps of conjugate gradients
    from where the last sweep left it, so that the sum falls with every sweep; a step passes twice over the regressors. There are k vectors of
    length d and as many regressors of length p; W is p x d, P d x d. A vector is `seen` where it rests on observations.

    >>> from scipy import sparse
    >>> ones = Regressors(sparse.csr_array([[1.0], [1.0]]), np.zeros(1))
    >>> regress_on_sources(ones, np.array([[3.0], [6.0]]), np.array([True, True]), np.eye(1), np.zeros((1, 1)))
    array([[3.]])
    """
    # P = R R^T: of W R each column is a regression that has nothing to do with the others.
    root = np.linalg.cholesky(precision)
    counted = seen[:, None].astype(np.float64)

    def normal(weights: Floats) -> Floats:
        return regressors.transposed_product(counted * regressors.product(weights)) + STRENGTH * weights

    weights = start @ root
    residual = regressors.transposed_product(counted * (vectors @ root)) - normal(weights)
    # Preconditioned by the diagonal: regressors of very different lengths would else need many steps.
    scaling = 1 / (regressors.squares() + STRENGTH)[:, None]
    direction = scaling * residual
    size = (residual * direction).sum(axis=0)
    for _ in range(n_steps):
        image = normal(direction)
        curvature = (direction * image).sum(axis=0)
        # A column that has arrived stays where it is.
        step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > _LOST)
        weights, residual = weights + step * direction, residual - step * image
        scaled = scaling * residual
        after = (residual * scaled).sum(axis=0)
        direction = scaled + np.divide(after, size, out=np.zeros_like(size), where=size > _LOST) * direction
        size = after
    return np.asarray(np.linalg.solve(root.T, weights.T).T, np.float64)


PERIODS = 10
"""Of equally many observations each."""
ROUNDS = 2
"""Of drifts and factors in turn."""
_LEAST = 1e-12
"""Of the noise, the smallest variance of levels, by which is divided."""
_SEARCH_STEPS = 20
"""Of expectation and maximisation, for the variance of the levels."""


@dataclass(frozen=True, eq=False)
class Drift:
    """Levels of rows and columns in each period, about what they are over all of it; 0 where nothing was observed."""

    edges: Floats  # (b - 1,), the last time of each period but the last one
    rows: Floats  # (m, b)
    columns: Floats  # (n, b)

    @classmethod
    def of(cls, residuals: Values, times: Floats, noise: float, n_periods: int = PERIODS) -> Self:
        """Fit levels to what an estimate without time leaves, those of the columns first, those of the rows to what is left.

        A level is normal about 0, with a variance that is common to its side and makes the residuals most likely, and so is the residual about it, with
        variance `noise`. `times` are in the order of ``residuals.data``, NaN where unknown: such say nothing of drifts. There are at most `n_periods`.
        """
        # Periods of equally many observations; many at one time may leave fewer of them.
        edges = np.unique(np.nanquantile(times, np.arange(1, n_periods) / n_periods, method="lower"))
        drift = cls(edges, *(np.zeros((k, edges.size + 1)) for k in residuals.shape))
        known, periods = np.flatnonzero(~np.isnan(times)), drift.periods(times)
        left, row, column = residuals.data[known], rows_of_entries(residuals)[known], residuals.indices[known]
        drift.columns[:] = _levels(left, column, periods[known], drift.columns.shape, noise)
        left = left - drift.columns[column, periods[known]]
        drift.rows[:] = _levels(left, row, periods[known], drift.rows.shape, noise)
        return drift

    def periods(self, times: Floats) -> Indices:
        """Return the period of each time; the last one, which is the present, where that is unknown."""
        return np.searchsorted(self.edges, times, side="left")

    def to_present(self, values: Values, times: Floats) -> Values:
        """Return observations as they would be in the last period: each moved by what its row and column drifted since."""
        periods = self.periods(times)
        since = [
            (levels[:, -1:] - levels)[places, periods]
            for levels, places in ((self.rows, rows_of_entries(values)), (self.columns, values.indices))
        ]
        return with_data(values, values.data + since[0] + since[1])


def _levels(
    residuals: Floats,
    places: NDArray[np.integer],
    periods: Indices,
    shape: tuple[int, int],
    noise: float,
) -> Floats:
    """Return the expected levels, shape (k, b), under the variance that makes the residuals most likely."""
    cells = places * shape[1] + periods
    counts = np.bincount(cells, minlength=shape[0] * shape[1])
    sums = np.bincount(cells, residuals, counts.size)
    seen, variance = counts > 0, noise
    for _ in range(_SEARCH_STEPS):
        # Expectation: given the variance, a level has mean sums / precision and variance noise / precision. Maximisation: the mean of
        # their squares is the next variance.
        precision = counts + noise / variance
        variance = max(
            float(np.mean((sums / precision) ** 2 + noise / precision, where=seen)), _LEAST * noise
        )
    levels: Floats = (sums / (counts + noise / variance)).reshape(shape)
    return levels
