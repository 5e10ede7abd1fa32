"""How far predictions are from observations that were hidden: fairness is never read without it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats, Indices
from likewise.arrays import as_array, as_floats
from likewise.checks import checked_confidence, checked_instance
from likewise.errors import ModelError, ShapeError
from likewise.fairness.metrics.jackknife import Jackknife
from likewise.fairness.sampled.intervals.interval import Interval
from likewise.observations.value_range import AffineScale
from likewise.plain import IN_MEMORY

OF_THE_DATA = "the units of the data"
OF_RANGES = "shares of each column's own range"


@dataclass(frozen=True)
class ErrorMetrics:
    """Error of predictions at hidden observations.

    Parameters
    ----------
    n : int
        How many hidden observations were predicted.
    mse_scaled : float
        Mean squared error in the method's working range.
    mse, rmse, mae : float
        Mean squared error, its root, and mean absolute error, in `unit`.
    rmse_interval : Interval or None
        Of the RMSE, over the individuals whose observations were hidden; None where they are not known, or too few.
    unit : str
        The user's units; or, as units of unlike columns do not add up, shares of each column's own range where every column has its own.
    leaving_out : Jackknife or None
        How the RMSE moves where each individual is left out, which an interval for its change needs; not in files.
    """

    n: int
    mse_scaled: float
    mse: float
    rmse: float
    mae: float
    rmse_interval: Interval | None = None
    unit: str = OF_THE_DATA
    leaving_out: Jackknife | None = field(default=None, repr=False, compare=False, metadata=IN_MEMORY)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that go to files as a plain dictionary."""
        return {name: value for name, value in asdict(self).items() if name != "leaving_out"}

    def __str__(self) -> str:
        return f"RMSE {self.rmse:.4g}, MAE {self.mae:.4g} over {self.n:,} hidden observations"


def held_out_error(
    predicted: ArrayLike,
    actual: ArrayLike,
    scale: AffineScale | None = None,
    columns: NDArray[np.integer] | None = None,
    *,
    individuals: NDArray[np.integer] | None = None,
    confidence: float = 0.95,
) -> ErrorMetrics:
    """Compare predictions with hidden observations, both in the method's working range.

    Parameters
    ----------
    predicted, actual : array-like, shape (n_hidden,)
    scale : AffineScale, optional
        Leads back to the user's units; None if the values are in them already.
    columns : ndarray of int, shape (n_hidden,), optional
        Column of each observation; needed where every column has its own range.
    individuals : ndarray of int, shape (n_hidden,), optional
        Whose observation each is: for the interval of the RMSE, as errors of one individual are not independent.
    confidence : float, default 0.95
        Of that interval.

    Returns
    -------
    ErrorMetrics

    Raises
    ------
    ShapeError
        Nothing hidden, or shapes that differ.
    ModelError
        A prediction that is NaN or infinite.

    Examples
    --------
    >>> from likewise.observations.value_range import ValueRange
    >>> held_out_error([0.0, 1.0], [0.5, 1.0], ValueRange.declared((1, 5)).scale_to("symmetric")).mae
    0.5
    """
    guess, truth = as_floats(predicted, "predictions"), as_floats(actual, "hidden observations")
    checked_instance("scale", scale, AffineScale | None, "an AffineScale, or None")
    checked_confidence(confidence)
    if guess.shape != truth.shape or truth.ndim != 1 or not truth.size:
        raise ShapeError(
            f"predictions {guess.shape} and hidden observations {truth.shape}", "two equal, non-empty vectors"
        )
    if not np.isfinite(guess).all():
        raise ModelError(
            f"{np.count_nonzero(~np.isfinite(guess))} predictions are NaN or infinite", "finite predictions"
        )
    error, unit = _errors(guess, truth, scale, columns)
    mse = float(np.mean(error**2))
    whose = None if individuals is None else _owners(error**2, individuals)
    return ErrorMetrics(
        truth.size,
        float(np.mean((guess - truth) ** 2)),
        mse,
        float(np.sqrt(mse)),
        float(np.mean(np.abs(error))),
        None if whose is None else _rmse_interval(error**2, *whose, confidence),
        unit,
        None if whose is None else _leaving_each_out(error**2, *whose),
    )


def _errors(
    guess: Floats, truth: Floats, scale: AffineScale | None, columns: NDArray[np.integer] | None
) -> tuple[Floats, str]:
    """Return the errors, and in what they are: shares of each column's range where each has its own, else the user's units."""
    if scale is None:
        return guess - truth, OF_THE_DATA
    if scale.factor.ndim:
        low, high = scale.bounds
        return (guess - truth) / (high - low), OF_RANGES
    return scale.backward(guess, columns) - scale.backward(truth, columns), OF_THE_DATA


_FEWEST = 10
"""Individuals, below whom a normal approximation says nothing."""


def _owners(squares: Floats, individuals: NDArray[np.integer]) -> tuple[Indices, Indices]:
    """Return whose observation each is, counted from 0, and how many everybody has."""
    owners = as_array(individuals, "individuals", ShapeError)
    if owners.shape != squares.shape or owners.dtype.kind not in "iu":
        raise ShapeError(
            f"individuals of type {owners.dtype}, shape {owners.shape}",
            f"the position of one for each of {squares.size} hidden observations",
        )
    _, owner, counts = np.unique(owners, return_inverse=True, return_counts=True)
    return owner, counts


def _rmse_interval(squares: Floats, owner: Indices, counts: Indices, confidence: float) -> Interval | None:
    """Bound the root of a ratio of means over individuals: squared errors over how many were hidden of each."""
    if counts.size < _FEWEST:
        return None
    mean = squares.mean()
    # The linearised ratio: each individual's squared errors less what so many would have on average.
    deviations = np.bincount(owner, weights=squares) - mean * counts
    spread = np.sqrt(counts.size / (counts.size - 1) * np.sum(deviations**2)) / squares.size
    margin = NormalDist().inv_cdf(0.5 + confidence / 2) * spread
    low, high = np.sqrt(max(mean - margin, 0.0)), np.sqrt(mean + margin)
    return Interval(float(low), float(high), confidence, "normal over individuals (asymptotic)")


def _leaving_each_out(squares: Floats, owner: Indices, counts: Indices) -> Jackknife:
    """Return the RMSE, and how it moves without all the observations of each individual."""
    sums = np.bincount(owner, weights=squares)
    with np.errstate(invalid="ignore"):  # of one individual alone nothing is left
        without_one = np.sqrt(np.maximum(sums.sum() - sums, 0.0) / (squares.size - counts))
    return Jackknife(float(np.sqrt(squares.mean())), without_one - without_one.mean())
