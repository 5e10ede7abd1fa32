"""Propensities: how likely each entry was to be observed, for data that are missing not at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats
from likewise.errors import InputError, ShapeError, unknown_name
from likewise.estimation.base.weighting import Weighting
from likewise.estimation.one_bit import one_bit_completion
from likewise.observations.table import Values, rows_of_entries

METHODS = ("degrees", "1-bit")
"""Ways to estimate propensities."""

PropensityChoice = Any
"""None, a name of `METHODS`, an array of shape (m, n) or (n,), a pair of arrays of shapes (m,) and (n,), or `Propensities`."""

_LOWEST_SHARE = 0.1
"""Share of the observed fraction below which an estimated propensity is not believed: no weight is above ten times the average."""


@dataclass(frozen=True, eq=False)
class Propensities:
    """Probabilities of the observed entries to be observed, and the weights that follow.

    Parameters
    ----------
    method : str
        ``"degrees"``, ``"1-bit"`` or ``"given"``.
    probabilities : ndarray, shape (n_observed,)
        ``p_ij`` of each observation, in (0, 1], in the order of ``values.data``.
    weighting : Weighting
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
    weighting: Weighting
    clipped_fraction: float
    notes: tuple[str, ...]
    converged: bool | None = None

    @property
    def weights(self) -> Floats:
        """``w_ij = p_hat / p_ij``, shape (n_observed,): 1 where propensities are all the same."""
        return np.asarray(self.weighting.scale / self.probabilities)


def propensities_of(
    values: Values,
    choice: PropensityChoice,
    *,
    floor: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Propensities:
    """Estimate the propensities of observations, or take those that are given.

    Parameters
    ----------
    values : csr_array, shape (m, n)
        A stored entry is an observation.
    choice : {"degrees", "1-bit"}, array-like of shape (m, n) or (n,), pair of array-likes (m,) and (n,), or Propensities
        - ``"degrees"``: ``r_i c_j / N`` for a row with r_i, a column with c_j and N observations in all: what a random matrix with
          these degrees would have, about.
        - ``"1-bit"``: see `one_bit_completion`; for matrices of a few hundred thousand cells.
        - Probabilities of all cells, of columns, or factors of which they are the products.
    floor : float, optional
        In (0, 1]: propensities below it are raised to it. By default a tenth of the observed fraction for estimated ones, and nothing
        for given ones.
    random_state : int, Generator or None
        For the held-out cells of ``"1-bit"``.

    Returns
    -------
    Propensities

    Raises
    ------
    InputError
        Unknown method; a probability or a floor outside (0, 1].
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
    if isinstance(choice, Propensities):
        return _fitting(choice, values)
    if floor is not None and not 0 < floor <= 1:
        raise InputError(f"propensity floor {floor!r}", "a number in (0, 1]")
    if isinstance(choice, str):
        if choice not in METHODS:
            raise InputError(*unknown_name("propensities", choice, METHODS))
        lowest = _LOWEST_SHARE * _observed_fraction(values) if floor is None else floor
        return _by_degrees(values, lowest) if choice == "degrees" else _one_bit(values, lowest, random_state)
    return _given(values, choice, floor)


def _by_degrees(values: Values, floor: float) -> Propensities:
    rows, columns = np.diff(values.indptr), np.bincount(values.indices, minlength=values.shape[1])
    raw = rows[rows_of_entries(values)] * columns[values.indices] / values.nnz
    return _clipped(
        "degrees", values, raw, Weighting(columns / values.nnz, True, floor, _observed_fraction(values))
    )


def _one_bit(values: Values, floor: float, random_state: int | np.random.Generator | None) -> Propensities:
    mask = np.zeros(values.shape, dtype=bool)
    mask[rows_of_entries(values), values.indices] = True
    fit = one_bit_completion(mask, random_state=random_state)
    raw = fit.probabilities[rows_of_entries(values), values.indices]
    columns = fit.probabilities.sum(axis=0)
    weighting = Weighting(columns / columns.sum(), True, floor, _observed_fraction(values))
    reached = "" if fit.converged else f"; NOT CONVERGED after {fit.n_iter} iterations, gap {fit.gap:.1g}"
    note = (
        f"1-bit completion of the pattern of observations with nuclear norm {fit.radius:g} sqrt(m n){reached}"
    )
    return _clipped("1-bit", values, raw, weighting, (note,), fit.converged)


def _given(values: Values, choice: Any, floor: float | None) -> Propensities:
    m, n = values.shape
    if isinstance(choice, tuple):
        rows, columns = _factors(choice, m, n)
        raw = rows[rows_of_entries(values)] * columns[values.indices]
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
    try:
        chances = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} {given!r}", "numbers in (0, 1]") from error
    if not ((chances > 0) & (chances <= 1)).all():
        worst = chances[~((chances > 0) & (chances <= 1))].flat[0]
        raise InputError(f"{what} with {worst:g}", "numbers in (0, 1]")
    return chances


def _clipped(
    method: str,
    values: Values,
    raw: Floats,
    weighting: Weighting,
    notes: tuple[str, ...] = (),
    converged: bool | None = None,
) -> Propensities:
    chances = np.clip(raw, weighting.floor, 1.0)
    share = float(np.mean(chances != raw))
    weights = 1 / chances
    worth = float(weights.sum() ** 2 / (weights**2).sum())
    told = (
        f"propensities ({method}) from {chances.min():.3g} to {chances.max():.3g}; {share:.1%} of the observations clipped to "
        f"[{weighting.floor:.3g}, 1]; weighted, {values.nnz:,} observations are worth {worth:,.0f}"
    )
    return Propensities(method, np.asarray(chances), weighting, share, (*notes, told), converged)


def _fitting(chosen: Propensities, values: Values) -> Propensities:
    if chosen.probabilities.size != values.nnz or chosen.weighting.columns.size != values.shape[1]:
        raise ShapeError(
            f"propensities of {chosen.probabilities.size:,} observations of {chosen.weighting.columns.size:,} features",
            f"of the {values.nnz:,} observations of {values.shape[1]:,} features of the fit",
        )
    return chosen


def _observed_fraction(values: Values) -> float:
    return values.nnz / (values.shape[0] * values.shape[1])
