"""What scikit-learn's interface hands to our estimators, checked as it does, and told as we do."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from likewise._typing import Floats
from likewise.arrays import ensure_axes_fit, without_gradient
from likewise.errors import InputError, NumberTypeError, ObservationError, ShapeError
from likewise.observations.convert import to_table
from likewise.observations.frames import refuse_rating_lines
from likewise.observations.observed_matrix import ObservedMatrix

_FAILURES = (TypeError, ValueError, OverflowError, RuntimeError)


def validated(
    estimator: Any, X: Any, *, reset: bool, dtype: Any = np.float64, stored_is_observed: bool = True
) -> Any:
    """Return an array or csr matrix of individuals x features, having counted and named the features as scikit-learn wants.

    `reset` marks the fit; after it there must be as many features, under the same names, else a `ShapeError` is raised. In a sparse matrix what
    is not stored is missing, or 0 where `stored_is_observed` is False. An `ObservationError` refuses what is no real number, and a frame with a
    line for each rating. What is infinite or NaN is left to be told by place.
    """
    if isinstance(X, ObservedMatrix):
        X = X.values
    elif sparse.issparse(X) and stored_is_observed:
        # scikit-learn would add up duplicates, and take the padding of BSR for observations.
        X = to_table(X).values
    elif sparse.issparse(X):
        ensure_axes_fit(X)
    refuse_rating_lines(X)
    try:
        return validate_data(
            estimator,
            without_gradient(X),
            reset=reset,
            accept_sparse="csr",
            dtype=dtype,
            ensure_all_finite=False,
        )
    except _FAILURES as failure:
        raise _told(failure, "X", "numbers, individuals x features") from failure


def validated_target(y: Any, rows: Any) -> Floats:
    """Return a target with one row of numbers for each individual, or raise `ShapeError` or `ObservationError`."""
    try:
        target = check_array(
            without_gradient(y), dtype=np.float64, ensure_2d=False, ensure_all_finite=False, input_name="y"
        )
        check_consistent_length(rows, target)
    except _FAILURES as failure:
        raise _told(failure, "y", "numbers, one row for each individual") from failure
    return np.asarray(target)


def _told(failure: Exception, name: str, expected: str) -> InputError:
    """Return an error of ours that keeps the words of scikit-learn's."""
    if isinstance(failure, InputError):
        return failure
    words = " ".join(str(failure).split()).rstrip(".")
    about_shape = any(
        word in words for word in ("features", "feature(s)", "sample", "dim", "Expected 2D", "feature names")
    )
    if isinstance(failure, TypeError):
        return NumberTypeError(f"{name} ({words})", expected)
    return (ShapeError if about_shape else ObservationError)(f"{name} ({words})", expected)
