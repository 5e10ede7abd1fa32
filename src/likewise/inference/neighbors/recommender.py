"""K-nearest neighbours as a scikit-learn estimator: a thin layer on `nearest_neighbor_outputs`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from likewise._typing import Floats
from likewise.checks import checked_name
from likewise.errors import ModelError
from likewise.inference.neighbors.nearest_neighbors import (
    AVERAGES,
    Average,
    check_neighbors,
    nearest_neighbor_outputs,
)
from likewise.observations import ObservedMatrix
from likewise.observations.estimator_input import validated, validated_target
from likewise.observations.index_alignment import aligned_with


class KNNRecommender(BaseEstimator):
    """Recommend to each individual what the individuals most similar to it value.

    The inference algorithm of Experiment 2: an individual's outputs are the average of the rows of its K nearest
    neighbours, weighted by adjusted cosine. See `nearest_neighbor_outputs` for every corner of the definition.

    Parameters
    ----------
    n_neighbors : int or None, default 10
        K, less than the number of individuals. None takes every individual whose similarity is positive.
    average : {"all", "co-raters"}, default "all"
        Whose entries count in the average for an item: those of all neighbours (the matrix is complete), or of the
        neighbours who observed the item.

    Attributes
    ----------
    n_features_in_ : int

    Raises
    ------
    ModelError
        By `fit`, if `n_neighbors` does not fit the number of individuals; by `fit` and `predict`, for infinite values, and for NaN unless
        ``average="co-raters"``.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 6, Experiment 2.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[1.0, 0.0, 0.0], [1.0, 0.2, 0.0], [0.0, 0.0, 1.0], [0.0, 0.4, 1.0]])
    >>> recommender = KNNRecommender(n_neighbors=1).fit(B)
    >>> recommender.predict()  # nobody is their own neighbour
    array([[1. , 0.2, 0. ],
           [1. , 0. , 0. ],
           [0. , 0.4, 1. ],
           [0. , 0. , 1. ]])
    >>> recommender.predict([[0.9, 0.0, 0.1]])  # somebody new
    array([[1., 0., 0.]])
    """

    def __init__(self, n_neighbors: int | None = 10, average: Average = "all") -> None:
        self.n_neighbors = n_neighbors
        self.average = average

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the rows among which neighbours are sought.

        Parameters
        ----------
        X : array-like, data frame or SciPy sparse, shape (n_individuals, n_features)
            A complete matrix; what a sparse one does not store is 0. For ``average="co-raters"`` it need not be
            complete: what is NaN or not stored is missing, and an `ObservedMatrix` is taken too.
        y : array-like, shape (n_individuals,) or (n_individuals, n_targets), optional
            Average these instead of the rows of X; labels of its own are matched with those of X.

        Returns
        -------
        KNNRecommender
            Itself.
        """
        self._rows, self._targets = self._validate(X, y)
        check_neighbors(self.n_neighbors, self._rows.shape[0])
        return self

    def predict(self, X: Any = None) -> Floats:
        """Return the outputs for new individuals, or for those of the fit.

        Parameters
        ----------
        X : as in `fit`, shape (n_individuals, n_features), optional
            New individuals; each may have any row of the fit as neighbour, also one that equals it. By default the
            individuals of the fit, of whom none is its own neighbour.

        Returns
        -------
        ndarray, shape (n_individuals, n_features), or that of the targets
        """
        check_is_fitted(self)
        return nearest_neighbor_outputs(
            self._rows,
            self.n_neighbors,
            average=self.average,
            targets=self._targets,
            new_rows=None if X is None else self._checked(X, reset=False),
        )

    def fit_predict(self, X: Any, y: Any = None) -> Floats:
        """Return the outputs for the rows of X, of which none is its own neighbour: ``fit(X, y).predict()``."""
        return self.fit(X, y).predict()

    def _validate(self, X: Any, y: Any) -> tuple[Any, Floats | None]:
        rows = self._checked(X, reset=True)
        if y is None:
            return rows, None
        return rows, _finite(validated_target(aligned_with("y", y, X), rows), "y")

    def _checked(self, X: Any, *, reset: bool) -> Any:
        checked_name("average", self.average, AVERAGES, ModelError)
        if isinstance(X, ObservedMatrix) and self.average == "all":
            raise ModelError(
                'an ObservedMatrix for average="all"',
                "a complete matrix",
                "zero-fill it on the method's working range, Z.scaled().zero_filled(), or estimate it",
            )
        rows = validated(self, X, reset=reset, stored_is_observed=self.average == "co-raters")
        return _finite(rows, "X", allow_nan=self.average == "co-raters")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.average == "co-raters"
        return tags


def _finite(values: Any, name: str, *, allow_nan: bool = False) -> Any:
    """Return an array or csr matrix unless a value cannot be averaged: `ModelError` names the first one and its place."""
    numbers = values if isinstance(values, np.ndarray) else values.data
    usable = np.isfinite(numbers) | np.isnan(numbers) if allow_nan else np.isfinite(numbers)
    if usable.all():
        return values
    first = np.flatnonzero(~usable)[0]
    value = numbers.flat[first]
    coordinates = np.unravel_index(first, values.shape) if numbers is values else _coordinates(values, first)
    place = ", ".join(str(int(coordinate)) for coordinate in coordinates)
    raise ModelError(
        f"value {'NaN' if np.isnan(value) else value} at {place} of {name}",
        "finite values, NaN where missing" if allow_nan else "finite values",
        "" if allow_nan or name == "y" else 'a complete matrix, or average="co-raters" for what is missing',
    )


def _coordinates(values: Any, entry: np.intp) -> tuple[Any, ...]:
    return tuple(axis[entry] for axis in values.tocoo().coords)
