"""Where the vector of a row is thought to lie before its values are known: a linear map of its features, and of which entries were observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.errors import InputError
from likewise.observations import Features
from likewise.observations.table import Values, with_data


@dataclass(frozen=True, eq=False)
class Regressors:
    """``s_i = row i of matrix - shift``, one for each row of a side; the matrix, (k, p), is sparse, the shift never made into one.

    >>> two = Regressors(sparse.csr_array([[1.0, 0.0], [0.0, 2.0]]), np.array([0.5, 0.0]))
    >>> two.product(np.eye(2))
    array([[ 0.5,  0. ],
           [-0.5,  2. ]])
    """

    matrix: Values
    shift: Floats

    @classmethod
    def beside(cls, parts: Sequence[Regressors]) -> Regressors:
        """Put regressors of several sources side by side."""
        matrix = sparse.csr_array(sparse.hstack([part.matrix for part in parts], format="csr"))
        return cls(matrix, np.concatenate([part.shift for part in parts]))

    @cached_property
    def _transposed(self) -> Values:
        return self.matrix.T.tocsr()

    def product(self, weights: Floats) -> Floats:
        """Return ``S W``, shape (k, d)."""
        return np.asarray(self.matrix @ weights - self.shift @ weights, np.float64)

    def transposed_product(self, vectors: Floats) -> Floats:
        """Return ``S^T X``, shape (p, d)."""
        return np.asarray(self._transposed @ vectors - np.outer(self.shift, vectors.sum(axis=0)), np.float64)

    def squares(self) -> Floats:
        """Return the sum of the squares of each regressor, shape (p,)."""
        sums = self._transposed @ np.ones(self.matrix.shape[0])
        squares = with_data(self._transposed, self._transposed.data**2) @ np.ones(self.matrix.shape[0])
        return np.asarray(squares - 2 * self.shift * sums + self.matrix.shape[0] * self.shift**2, np.float64)


def pattern_of(values: Values) -> Regressors:
    """Return which entries of each row are observed, each row divided by its length: ``1 / sqrt(n_i)`` at what is observed (Koren 2008).

    >>> pattern_of(sparse.csr_array([[5.0, 3.0, 0.0, 1.0, 4.0]])).matrix.data
    array([0.5, 0.5, 0.5, 0.5])
    """
    counts = np.diff(values.indptr)
    data = np.repeat(1 / np.sqrt(np.maximum(counts, 1)), counts)
    return Regressors(with_data(values, data), np.zeros(values.shape[1]))


@dataclass(frozen=True, eq=False)
class Coding:
    """How p features become regressors: centred, numbers divided by their spread, and all scaled to rows of mean squared length 1.

    So one strength of regularisation suits all sources, whatever their units and however many columns they have.
    """

    names: NDArray[Any]
    centre: Floats  # means, which stand for what is missing
    factors: Floats

    @classmethod
    def of(cls, features: Features) -> Self:
        """Find means and factors from the features of a fit.

        >>> age = Features(sparse.csr_array([[20.0], [40.0], [np.nan]]), np.array(["age"]), np.array([True]))
        >>> coding = Coding.of(age)
        >>> coding.regressors(age).product(np.eye(1)).round(3).ravel()
        array([-1.225,  1.225,  0.   ])
        """
        (k, p), values = features.shape, features.values
        missing = np.isnan(values.data)
        n_known = np.maximum(k - np.bincount(values.indices[missing], minlength=p), 1)
        filled = np.where(missing, 0.0, values.data)
        # In units of the largest value, so that squares neither overflow nor vanish.
        units = np.zeros(p)
        np.maximum.at(units, values.indices, np.abs(filled))
        units = np.where(features.is_number & (units > 0), units, 1.0)
        relative = filled / units[values.indices]
        means = np.bincount(values.indices, relative, p) / n_known
        # A zero that is not stored is known: it lies its mean below the mean.
        deviations = np.where(missing, 0.0, relative - means[values.indices])
        n_zeros = k - np.bincount(values.indices, minlength=p)
        squares = np.bincount(values.indices, deviations**2, p) + n_zeros * means**2
        is_scaled = features.is_number & (squares > 0)
        factors = np.where(is_scaled, 1 / np.sqrt(np.where(is_scaled, squares, 1.0) / n_known), 1.0)
        # The mean squared length of a row of what is centred and divided.
        length = float(factors**2 @ squares) / k
        centre, factors = means * units, factors / units
        return cls(features.names, centre, factors / np.sqrt(length or 1.0))

    def regressors(self, features: Features) -> Regressors:
        """Return the regressors of individuals, of the fit or new; what is missing is at the mean."""
        known = features if np.array_equal(features.names, self.names) else features.named(self.names)
        places, data = known.values.indices, known.values.data
        filled = np.where(np.isnan(data), self.centre[places], data)
        return Regressors(with_data(known.values, filled * self.factors[places]), self.centre * self.factors)


_CODING = ("feature_names", "feature_centre", "feature_factors")


@dataclass(frozen=True, eq=False)
class PriorMean:
    """``m_i = s_i W``: the mean of the prior of row i, from its features and from which of its entries were observed."""

    weights: (
        Floats  # (p, d), W: of the features first, then of the columns of the matrix where the pattern counts
    )
    coding: Coding | None  # of the features; None where they do not count
    uses_pattern: bool  # whether it counts which entries were observed

    def of(self, observations: Values, features: Features | None) -> Floats:
        """Return the means of rows, of the fit or new, shape (k, d), by which entries are stored; without `features` these are taken to be at their means."""
        n_features = 0 if self.coding is None else self.coding.names.size
        means = np.zeros((observations.shape[0], self.weights.shape[1]))
        if self.coding is not None and features is not None:
            means += self.coding.regressors(features).product(self.weights[:n_features])
        if self.uses_pattern:
            means += pattern_of(observations).product(self.weights[n_features:])
        return means

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `from_arrays` needs, to be stored."""
        arrays = {"mean_weights": self.weights, "mean_pattern": np.asarray(float(self.uses_pattern))}
        if self.coding is not None:
            parts = self.coding.names.astype(np.str_), self.coding.centre, self.coding.factors
            arrays |= dict(zip(_CODING, parts, strict=True))
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self | None:
        """Return what was stored; None where the prior has mean 0, `InputError` for arrays that do not fit each other."""
        if "mean_weights" not in arrays:
            return None
        coding = None
        if _CODING[0] in arrays:
            names, centre, factors = (arrays[name] for name in _CODING)
            if not names.shape == centre.shape == factors.shape:
                raise InputError("a prior mean of features of which some are missing", "all of them")
            coding = Coding(names.astype(object), centre, factors)
        return cls(arrays["mean_weights"], coding, bool(arrays["mean_pattern"]))

    def turned(self, turn: Floats) -> Self:
        """Return the means of ``turn^T x``."""
        return replace(self, weights=self.weights @ turn)
