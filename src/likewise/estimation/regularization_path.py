"""SoftImpute's lambda: a path of solutions from large to small, and the choice on it by held-out observations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import sampled_entries
from likewise.estimation.soft_impute import NuclearNormFit, soft_impute
from likewise.estimation.weighting import kept_weights, self_normalised_error
from likewise.observations.table import Values, keep_entries, with_data
from likewise.spectrum import singular_triplets

Floats = NDArray[np.float64]

_LARGEST = 0.9
"""Of the largest singular value: where a path begins; above it the solution is 0."""
_SMALLEST = 0.02
"""Of the same: where it ends at the latest."""
_HIDDEN = 0.1
"""Share of the observations that is held out to choose."""
_LOOSER = 10
"""How many times the tolerance is enough to compare solutions: their held-out errors differ by far more than the last steps change them."""
_PATIENCE = 1
"""How many solutions may be worse than the best before the path ends: those of smaller lambdas cost the most."""


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A solution on the path.

    Parameters
    ----------
    fit : NuclearNormFit
    held_out_error : float
        Root mean squared error, weighted where the fit is, on the observations held out; NaN where none are.
    """

    fit: NuclearNormFit
    held_out_error: float = float("nan")


def largest_singular_value(values: Values) -> float:
    """Return sigma_1 of the observations, missing entries 0: the smallest lambda at which the solution is 0."""
    return float(singular_triplets(values, at_most=1, random_state=0).values.max(initial=0.0))


def solution_path(
    values: Values, regularizations: Floats, start: NuclearNormFit | None = None, **options: Any
) -> Iterator[NuclearNormFit]:
    """Yield the solutions for decreasing lambdas, each started from the last.

    Parameters
    ----------
    values : csr_array, shape (m, n)
    regularizations : ndarray
        Decreasing, above 0.
    start : NuclearNormFit, optional
        Of the first.
    **options
        Of `soft_impute`.

    Yields
    ------
    NuclearNormFit
    """
    for regularization in regularizations.tolist():
        start = soft_impute(values, regularization, start=start, **options)
        yield start


def lambdas_down_to(smallest: float, largest: float, n_path: int) -> Floats:
    """Return `n_path` lambdas in geometric steps, the last of them `smallest`.

    Examples
    --------
    >>> lambdas_down_to(1.0, 10.0, 3).round(6)
    array([9., 3., 1.])
    """
    first = max(_LARGEST * largest, smallest)
    return np.asarray(np.geomspace(smallest, first, n_path if first > smallest else 1)[::-1])


def chosen_on_path(
    values: Values,
    n_path: int,
    rng: np.random.Generator,
    weights: Floats | None = None,
    **options: Any,
) -> list[PathPoint]:
    """Follow the path on part of the observations until the error on the rest has risen for good.

    Parameters
    ----------
    values : csr_array, shape (m, n)
    n_path : int
        Solutions on the whole path, from `_LARGEST` to `_SMALLEST` of the largest singular value.
    rng : Generator
        Draws the observations held out.
    weights : ndarray, shape (n_observed,), optional
        Of squared errors, in the fit and held out.
    **options
        Of `soft_impute`.

    Returns
    -------
    list of PathPoint
        Up to where the path ended; empty where there are too few observations to hold any out, or nothing to explain but 0.
    """
    hidden = np.zeros(values.nnz, dtype=bool)
    hidden[rng.choice(values.nnz, round(_HIDDEN * values.nnz), replace=False)] = True
    if not hidden.any():
        return []
    training, rest = keep_entries(values, ~hidden), keep_entries(values, hidden)
    seen, unseen = kept_weights(weights, ~hidden), kept_weights(weights, hidden)
    largest = largest_singular_value(training if seen is None else with_data(training, seen * training.data))
    if not largest:
        return []
    points: list[PathPoint] = []
    lambdas = lambdas_down_to(_SMALLEST * largest, largest, n_path)
    options["tol"] *= _LOOSER
    for fit in solution_path(training, lambdas, weights=seen, **options):
        errors = rest.data - sampled_entries(rest, fit.left * fit.values, fit.right)
        points.append(PathPoint(fit, self_normalised_error(errors, unseen)))
        if len(points) - 1 - best_of(points) >= _PATIENCE:
            break
    return points


def best_of(points: list[PathPoint]) -> int:
    """Return which point has the smallest held-out error."""
    return int(np.argmin([point.held_out_error for point in points]))


def scaled_up(regularization: float) -> float:
    """Return the lambda for all observations that goes with one for those that were not held out: noise grows with the root of their number."""
    return float(regularization / np.sqrt(1 - _HIDDEN))
