"""Propensities: how likely each entry was to be observed, for data that are missing not at random."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats
from likewise.arrays import as_floats, checked_sparse
from likewise.checks import checked_name, checked_share
from likewise.errors import InputError, PropensityWarning, ShapeError
from likewise.estimation.base.weighting import AnyWeighting, ValueWeighting, Weighting
from likewise.estimation.one_bit import one_bit_completion
from likewise.observations import AffineScale, ObservedMatrix
from likewise.observations.table import Values, rows_of_entries

METHODS = ("degrees", "1-bit")
"""Ways to estimate propensities."""

PropensityChoice = Any
"""None, a name of `METHODS`, an array of shape (m, n) or (n,), a pair of arrays of shapes (m,) and (n,), `RandomSample`, or `Propensities`."""

_MOST_LEVELS = 100
"""Different values up to which they are a scale of ratings, each with a propensity of its own."""
_RELATED = 0.1
"""Correlation of values and logarithms of weights below which these say next to nothing about the values."""
_SELDOM = 5
"""Ratings of the sample below which the propensity of a value rests on next to nothing."""

_LOWEST_SHARE = 0.1
"""Share of the observed fraction below which an estimated propensity is not believed: no weight is above ten times the average."""


@dataclass(frozen=True, eq=False)
class RandomSample:
    """Values of entries that were drawn at random: what people would say of what they did not choose to rate.

    Given as `propensities`, it tells how much more often each value is observed than it occurs (naive Bayes, Schnabel et al. 2016):
    ``P(observed | value r) = P(r | observed) P(observed) / P(r)``, with P(r) from the sample. A few hundred ratings are enough for a scale
    of five stars. Only the values count, not whose they are. It must be drawn at random, and not be what the error is measured on.

    Parameters
    ----------
    values : ObservedMatrix, or array-like of numbers; NaN where missing
        In the units of the observations.

    Raises
    ------
    InputError
        If there is no number in it.

    Examples
    --------
    >>> RandomSample([1, 1, 2, float("nan"), 5])
    RandomSample(4 values from 1 to 5)
    """

    values: Any

    def __post_init__(self) -> None:
        given = self.values.values.data if isinstance(self.values, ObservedMatrix) else self.values
        numbers = as_floats(given, "a random sample").ravel()
        numbers = numbers[~np.isnan(numbers)]
        if not numbers.size or not np.isfinite(numbers).all():
            raise InputError(f"a random sample of {numbers.size} finite values", "at least one, all finite")
        object.__setattr__(self, "values", numbers)

    def __repr__(self) -> str:
        return (
            f"RandomSample({self.values.size:,} values from {self.values.min():g} to {self.values.max():g})"
        )


@dataclass(frozen=True, eq=False)
class Propensities:
    """How likely each observed entry was to be observed, and the weights that follow from it.

    Parameters
    ----------
    method : str
        ``"degrees"``, ``"1-bit"``, ``"values"`` or ``"given"``.
    probabilities : ndarray, shape (n_observed,)
        ``p_ij`` of each observation, in (0, 1], in the order of ``values.data``.
    weighting : Weighting or ValueWeighting
        Weights of the observations of a row that was not in the fit.
    clipped_fraction : float
        Share of the observations whose propensity was raised to the floor or lowered to 1.
    notes : tuple of str
        Floor, clipped share, and how many equally weighted observations the weighted ones are worth.
    converged : bool or None
        Whether an iterative estimate came to its end.
    """

    method: str
    probabilities: Floats
    weighting: AnyWeighting
    clipped_fraction: float
    notes: tuple[str, ...]
    converged: bool | None = None

    @property
    def weights(self) -> Floats:
        """``w_ij = p_hat / p_ij``, shape (n_observed,): 1 where propensities are all the same."""
        return np.asarray(self.weighting.scale / self.probabilities)

    def scaled_to_their_worth(self) -> Propensities:
        """Return the same with weights that add up to what the observations are worth, ``(sum w)^2 / sum w^2`` (Kish 1965).

        For an estimator that reads from the weights how sure it may be: with those as they are it would count the observations in full.
        """
        weights = self.weights
        factor = float(weights.sum() / (weights @ weights))
        return replace(self, weighting=replace(self.weighting, scale=self.weighting.scale * factor))


def propensities_of(
    values: Values,
    choice: PropensityChoice,
    *,
    floor: float | None = None,
    random_state: int | np.random.Generator | None = None,
    scale: AffineScale | None = None,
) -> Propensities:
    """Estimate the propensities of observations, or take those that are given.

    Parameters
    ----------
    values : csr_array, shape (m, n)
        A stored entry is an observation.
    choice : {"degrees", "1-bit"}, array-like of shape (m, n) or (n,), pair of array-likes (m,) and (n,), RandomSample or Propensities
        - ``"degrees"``: ``r_i c_j / N`` for a row with r_i, a column with c_j and N observations in all: about that of a random
          matrix with these degrees.
        - ``"1-bit"``: see `one_bit_completion`; for matrices of some ten million cells.
        - `RandomSample`: by value; the only one that knows how liking and rating go together.
        - Probabilities of all cells, of columns, or factors of which they are the products.
    floor : float, optional
        In (0, 1]: propensities below it are raised to it. By default a tenth of the observed fraction where they are estimated, else none.
    random_state : int, Generator or None
        For the held-out cells of ``"1-bit"``.
    scale : AffineScale, optional
        From the units of a `RandomSample` to those of `values`; by default they are the same.

    Returns
    -------
    Propensities

    Raises
    ------
    InputError
        Unknown method; a probability or a floor outside (0, 1]; a random sample of more than a hundred different values, or for columns that
        have ranges of their own.
    ShapeError
        Arrays that do not fit the observations.

    References
    ----------
    Schnabel, Swaminathan, Singh, Chandak, Joachims, "Recommendations as treatments: debiasing learning and evaluation", ICML (2016),
    for weighting by inverse propensities.

    Examples
    --------
    >>> from scipy import sparse
    >>> seen = sparse.csr_array(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
    >>> propensities_of(seen, "degrees").probabilities.round(3)
    array([1.   , 0.667, 0.667])
    """
    checked_sparse(values)
    if isinstance(choice, Propensities):
        return _fitting(choice, values)
    if floor is not None:
        checked_share("floor", floor, one=True)
    if isinstance(choice, str):
        checked_name("propensities", choice, METHODS)
        lowest = _LOWEST_SHARE * _observed_fraction(values) if floor is None else floor
        return _by_degrees(values, lowest) if choice == "degrees" else _one_bit(values, lowest, random_state)
    if isinstance(choice, RandomSample):
        lowest = _LOWEST_SHARE * _observed_fraction(values) if floor is None else floor
        return _by_value(values, choice, lowest, scale)
    return _given(values, choice, floor)


def _by_degrees(values: Values, floor: float) -> Propensities:
    rows, columns = np.diff(values.indptr), np.bincount(values.indices, minlength=values.shape[1])
    raw = rows[rows_of_entries(values)] * columns[values.indices] / values.nnz
    # A new row with r observations has r c_j / N, whatever the rows of the fit: columns and the count say all.
    weighting = Weighting(columns / values.nnz, True, floor, _observed_fraction(values))
    found = _clipped("degrees", values, raw, weighting)
    return replace(found, notes=(*_notes_on_degrees(values, found), *found.notes))


def _notes_on_degrees(values: Values, found: Propensities) -> tuple[str, ...]:
    """Warn where weights by degrees say next to nothing about what is observed: where they hardly go with the values.

    Weights correct a bias as far as they go with the values. Under no relation at all, the correlation of N pairs has a standard error of
    ``1 / sqrt(N)``, but what counts is whether there is much to correct: below a tenth, under a hundredth of the variance of the values.
    """
    if values.nnz < 2 or not (np.ptp(values.data) and np.ptp(found.weights)):
        return ()
    correlation = float(np.corrcoef(values.data, np.log(found.weights))[0, 1])
    if abs(correlation) >= _RELATED:
        return ()
    note = (
        f"propensities by degrees have no basis in these data: how much is observed of rows and columns hardly depends on the values "
        f"(correlation {correlation:.2f}), so the weights add noise and correct hardly any bias. "
        "A small random sample of values gives propensities by value: RandomSample, or --propensities-sample"
    )
    warnings.warn(note, PropensityWarning, stacklevel=6)
    return (note,)


def _one_bit(values: Values, floor: float, random_state: int | np.random.Generator | None) -> Propensities:
    fit = one_bit_completion(values, random_state=random_state)
    raw = fit.probabilities[rows_of_entries(values), values.indices].astype(np.float64)
    columns = fit.probabilities.sum(axis=0, dtype=np.float64)
    # The completion knows no new rows: theirs follow from how likely each column is on average, and from their count.
    weighting = Weighting(columns / columns.sum(), True, floor, _observed_fraction(values))
    reached = "" if fit.converged else f"; NOT CONVERGED after {fit.n_iter} iterations, gap {fit.gap:.1g}"
    note = (
        f"1-bit completion of the pattern of observations with nuclear norm {fit.radius:g} sqrt(m n){reached}"
    )
    return _clipped("1-bit", values, raw, weighting, (note,), fit.converged)


def _by_value(values: Values, sample: RandomSample, floor: float, scale: AffineScale | None) -> Propensities:
    """``p(r) = p_hat P(r | observed) / P(r)`` for each value r; one more of each is counted on both sides, so that no count is 0."""
    if scale is not None and scale.factor.ndim:
        raise InputError(
            "a random sample of values for columns that have ranges of their own", "one range for all columns"
        )
    drawn = sample.values if scale is None else scale.forward(sample.values)
    levels = np.unique(np.concatenate([values.data.astype(np.float64), drawn]))
    if levels.size > _MOST_LEVELS:
        raise InputError(
            f"a random sample beside observations of {levels.size:,} different values",
            f"a scale of at most {_MOST_LEVELS} values, such as stars",
        )
    seen, occurring = (
        np.bincount(np.searchsorted(levels, part), minlength=levels.size) for part in (values.data, drawn)
    )
    given_seen, overall = ((count + 1) / (count.sum() + levels.size) for count in (seen, occurring))
    fraction = _observed_fraction(values)
    # Bayes: P(observed | r) = P(r | observed) P(observed) / P(r).
    chances = fraction * given_seen / overall
    weighting = ValueWeighting(levels, np.clip(chances, floor, 1.0), floor, fraction)
    raw = chances[np.searchsorted(levels, values.data)]
    users = levels if scale is None else scale.backward(levels)
    listed = ", ".join(f"{level:g}: {chance:.3g}" for level, chance in zip(users, chances, strict=True))
    note = f"propensities by value from {drawn.size:,} values drawn at random: {listed}"
    if (seldom := occurring[seen > 0] < _SELDOM).any():
        note += f"; {int(seldom.sum())} of the values occur fewer than {_SELDOM} times in the sample"
    return _clipped("values", values, raw, weighting, (note,))


def _given(values: Values, choice: Any, floor: float | None) -> Propensities:
    m, n = values.shape
    if isinstance(choice, tuple):
        rows, columns = _factors(choice, m, n)
        raw = rows[rows_of_entries(values)] * columns[values.indices]
        # Of a new row only its count is known: its factor is taken to be in proportion to that.
        shares, by_count = columns / columns.sum(), True
    else:
        chances = _probabilities(choice, "propensities")
        if chances.shape not in ((m, n), (n,)):
            raise ShapeError(
                f"propensities of shape {chances.shape}", f"({m}, {n}), ({n},), or a pair ({m},) and ({n},)"
            )
        by_count = chances.ndim == 2
        if by_count:
            raw = chances[rows_of_entries(values), values.indices]
            shares = chances.sum(axis=0) / chances.sum()
        else:
            raw, shares = chances[values.indices], chances
    lowest = float(raw.min()) if floor is None else floor
    return _clipped("given", values, raw, Weighting(shares, by_count, lowest, _observed_fraction(values)))


def _factors(choice: tuple[ArrayLike, ...], m: int, n: int) -> tuple[Floats, Floats]:
    if len(choice) != 2:
        raise ShapeError(f"{len(choice)} factors of propensities", "two, of rows and of columns")
    rows, columns = (_probabilities(factor, "a factor of propensities") for factor in choice)
    if rows.shape != (m,) or columns.shape != (n,):
        raise ShapeError(f"factors of shapes {rows.shape} and {columns.shape}", f"({m},) and ({n},)")
    return rows, columns


def _probabilities(given: Any, what: str) -> Floats:
    chances = as_floats(given, what)
    if not ((chances > 0) & (chances <= 1)).all():
        worst = chances[~((chances > 0) & (chances <= 1))].flat[0]
        raise InputError(f"{what} with {worst:g}", "numbers in (0, 1]")
    return chances


def _clipped(
    method: str,
    values: Values,
    raw: Floats,
    weighting: AnyWeighting,
    notes: tuple[str, ...] = (),
    converged: bool | None = None,
) -> Propensities:
    chances = np.clip(raw, weighting.floor, 1.0)
    share = float(np.mean(chances != raw))
    weights = 1 / chances
    # Kish: so many equally weighted observations would tell a mean as well.
    worth = float(weights.sum() ** 2 / (weights**2).sum())
    told = (
        f"propensities ({method}) from {chances.min():.3g} to {chances.max():.3g}; {share:.1%} of the observations clipped to "
        f"[{weighting.floor:.3g}, 1]; weighted, {values.nnz:,} observations are worth {worth:,.0f}"
    )
    return Propensities(method, np.asarray(chances), weighting, share, (*notes, told), converged)


def _fitting(chosen: Propensities, values: Values) -> Propensities:
    weighting, n = chosen.weighting, values.shape[1]
    n_given = weighting.columns.size if isinstance(weighting, Weighting) else n
    if chosen.probabilities.size != values.nnz or n_given != n:
        raise ShapeError(
            f"propensities of {chosen.probabilities.size:,} observations of {n_given:,} features",
            f"of the {values.nnz:,} observations of {n:,} features of the fit",
        )
    return chosen


def _observed_fraction(values: Values) -> float:
    return values.nnz / (values.shape[0] * values.shape[1])
