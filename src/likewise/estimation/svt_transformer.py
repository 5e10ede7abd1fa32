"""Singular value thresholding as a scikit-learn transformer: a thin layer on `threshold_spectrum`."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise.errors import ValueRangeWarning
from likewise.estimation.shrinkers import Shrinker
from likewise.estimation.thresholding import threshold_spectrum
from likewise.estimation.thresholds import ThresholdRule
from likewise.observations import ObservedMatrix
from likewise.observations.convert import to_table
from likewise.observations.range_check import RangeChoice, column_extremes
from likewise.observations.value_range import Interval

Floats = NDArray[np.float64]

_UNLIKE = 10.0
"""How many times as wide as the narrowest column's the widest column's range may be before one range for all is doubtful."""

_TABLE = 0.5
"""Share of observed entries from which on columns are features of a table: of a film that few rated, few values were seen."""


class SVT(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Complete a sparse, noisy matrix by singular value thresholding, as pre-processing for any model.

    Parameters
    ----------
    threshold : float, str or callable, default "noise-edge"
        ``tau``: a number on the method's interval, a name of `THRESHOLDS`, or a rule. The default is the edge of noise of the
        observed strength; the paper's own thresholds keep nothing where data are scarce.
    shrinker : str or callable, default "rescaled"
        ``psi``: a name of `SHRINKERS` (the default is the paper's ``x / p_hat``) or a function that never decreases.
    value_range : (low, high), "per-column" or None, default None
        The range that values can take, in the user's units. None infers one range from the data of the fit. Ignored
        where an `ObservedMatrix` is fitted, which has its own.
    interval : {"symmetric", "unit"}, default "symmetric"
        Where that range is mapped to: [-1, 1] or [0, 1].
    solver : str, default "auto"
        See `singular_triplets`.
    random_state : int, Generator or None, default None
        For solvers that start from a random block.

    Attributes
    ----------
    threshold_ : float
        ``tau``.
    rank_ : int
        How many singular values exceed it.
    singular_values_ : ndarray, shape (r,)
        Those singular values, decreasing.
    estimate_ : LowRankEstimate
        ``A_hat`` for the individuals of the fit.
    observed_ : ObservedMatrix
        The observations of the fit.
    completeness_ : Completeness
        Whether any singular value above the threshold may have been missed.
    n_features_in_ : int

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[5.0, 5.0, 1.0], [5.0, np.nan, 1.0], [1.0, 1.0, 5.0]])
    >>> SVT(threshold=1.5, value_range=(1, 5)).fit_transform(Z).round(1)
    array([[5. , 4.8, 1. ],
           [4.8, 4.3, 1.2],
           [1. , 1.2, 5. ]])
    """

    def __init__(
        self,
        threshold: float | str | ThresholdRule = "noise-edge",
        shrinker: str | Shrinker = "rescaled",
        value_range: RangeChoice = None,
        interval: Interval = "symmetric",
        solver: str = "auto",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.threshold = threshold
        self.shrinker = shrinker
        self.value_range = value_range
        self.interval = interval
        self.solver = solver
        self.random_state = random_state

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        """Estimate the complete matrix.

        Parameters
        ----------
        X : ObservedMatrix, array-like with NaN, data frame, or SciPy sparse; shape (n_individuals, n_features)
            What was observed, in the user's units. In a sparse matrix a stored entry is an observation.
        y : None
            Ignored.

        Returns
        -------
        SVT
            Itself.

        Raises
        ------
        ThresholdError, ShrinkerError, ObservationError
        """
        observed = self._observe(X)
        self.estimate_, triplets, self.threshold_ = threshold_spectrum(
            observed, self.threshold, self.shrinker, self.interval, self.solver, self.random_state
        )
        self.observed_ = observed
        self.singular_values_ = triplets.values
        self.rank_ = triplets.rank
        self.completeness_ = triplets.completeness
        return self

    def transform(self, X: Any) -> Floats:
        """Estimate the rows of X, individuals of the fit or never seen, by fold-in.

        Parameters
        ----------
        X : ObservedMatrix, array-like with NaN, data frame, or SciPy sparse; shape (n_individuals, n_features)

        Returns
        -------
        ndarray, shape (n_individuals, n_features)
            Complete rows, in the user's units.
        """
        check_is_fitted(self)
        return self.estimate_.fold_in(self._validate(X, reset=False))

    def _observe(self, X: Any) -> ObservedMatrix:
        values = self._validate(X, reset=True)
        if isinstance(values, ObservedMatrix):
            return values
        names = getattr(self, "feature_names_in_", None)
        observed = ObservedMatrix(values, value_range=self.value_range, column_ids=names)
        if self.value_range is None:
            _warn_of_unlike_columns(observed)
        return observed

    def _validate(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, ObservedMatrix):
            if reset:
                self.n_features_in_ = X.shape[1]
            return X
        return validate_data(
            self,
            # scikit-learn would add up duplicates, and take the padding of BSR for observations.
            to_table(X).values if sparse.issparse(X) else X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _warn_of_unlike_columns(observed: ObservedMatrix) -> None:
    """Say so where one inferred range would squeeze a column into a corner of it."""
    low, high = column_extremes(observed.values)
    widths = (high - low)[high > low]
    if widths.size and widths.max() > _UNLIKE * widths.min() and observed.observed_fraction > _TABLE:
        warnings.warn(
            f"columns range over {widths.min():.3g} to {widths.max():.3g} units, yet one value range is inferred for all of them, which hides "
            "the narrow ones. Give value_range='per-column', or the range that values can take.",
            ValueRangeWarning,
            stacklevel=4,
        )
