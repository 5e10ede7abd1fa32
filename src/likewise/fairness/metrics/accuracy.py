"""How far predictions are from observations that were hidden: fairness is never read without it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import ModelError, ShapeError
from likewise.observations.value_range import AffineScale


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
        Mean squared error, its root, and mean absolute error in the user's units.
    """

    n: int
    mse_scaled: float
    mse: float
    rmse: float
    mae: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return asdict(self)

    def __str__(self) -> str:
        return f"RMSE {self.rmse:.4g}, MAE {self.mae:.4g} over {self.n:,} hidden observations"


def held_out_error(
    predicted: ArrayLike,
    actual: ArrayLike,
    scale: AffineScale | None = None,
    columns: NDArray[np.integer] | None = None,
) -> ErrorMetrics:
    """Compare predictions with hidden observations, both in the method's working range.

    Parameters
    ----------
    predicted, actual : array-like, shape (n_hidden,)
    scale : AffineScale, optional
        Leads back to the user's units; None if the values are in them already.
    columns : ndarray of int, shape (n_hidden,), optional
        Column of each observation; needed where every column has its own range.

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
    guess, truth = np.asarray(predicted, dtype=np.float64), np.asarray(actual, dtype=np.float64)
    if guess.shape != truth.shape or truth.ndim != 1 or not truth.size:
        raise ShapeError(
            f"predictions {guess.shape} and hidden observations {truth.shape}", "two equal, non-empty vectors"
        )
    if not np.isfinite(guess).all():
        raise ModelError(
            f"{np.count_nonzero(~np.isfinite(guess))} predictions are NaN or infinite", "finite predictions"
        )
    error: NDArray[np.float64] = (
        guess - truth if scale is None else scale.backward(guess, columns) - scale.backward(truth, columns)
    )
    mse = float(np.mean(error**2))
    return ErrorMetrics(
        truth.size,
        float(np.mean((guess - truth) ** 2)),
        mse,
        float(np.sqrt(mse)),
        float(np.mean(np.abs(error))),
    )
