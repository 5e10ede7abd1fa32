"""The dense net as a scikit-learn estimator: a thin layer on `train_dense_net`."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.errors import ModelError, ShapeError
from likewise.inference.net.dense_net import train_dense_net
from likewise.inference.net.training import NetSettings
from likewise.observations import ObservedMatrix, WorkingRange
from likewise.observations.convert import to_table
from likewise.observations.estimator_input import validated
from likewise.observations.table import Values, with_data
from likewise.observations.value_range import RangeChoice
from likewise.progress import Progress
from likewise.randomness import RandomState


class DenseNetRecommender(BaseEstimator):
    """Predict each entry from its row and its column with a dense net.

    The inference algorithm h' of Experiments 1, 3 and 4: it learns the observed entries, and predicts all. Needs PyTorch:
    ``pip install 'likewise[dnn]'``.

    Parameters
    ----------
    hidden : tuple of int, default (300, 100)
        Units of each hidden layer.
    learning_rate : float, default 1e-3
        Of Adam.
    batch_size : int, default 128
    n_steps : int, default 2000
    validation_fraction : float, default 0.2
        Share of the observations that chooses the state to keep and trains nothing.
    check_every : int, default 100
        Steps between two validations.
    working_range : {"symmetric", "unit"}, default "symmetric"
        The working range that values are mapped to: [-1, 1], where a missing feature counts as the middle of the value range, or [0, 1],
        where it counts as the low end.
    value_range : (low, high), "per-column" or None, default None
        The range that a value can take, where X is no `ObservedMatrix`, which knows; None infers it from X.
    device : str, default "auto"
        A CUDA device where there is one, else the CPU; or a device of torch by name.
    n_threads : int or None, default 1
        Threads of torch on the CPU; None leaves its setting.
    random_state : int, numpy.random.Generator or None, default None

    Attributes
    ----------
    net_ : DenseNet
        On the working range; ``net_.record`` tells how the training went.
    scale_ : AffineScale
        From the units of X to the working range, and back.
    n_features_in_ : int

    Raises
    ------
    MissingDependencyError
        By `fit`, without PyTorch.
    ModelError
        By `fit`; see `train_dense_net`.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 6, Experiment 1.

    Examples
    --------
    >>> from likewise.observations import clustered
    >>> data = clustered(40, 60, 4, observed_fraction=0.5, random_state=0)
    >>> recommender = DenseNetRecommender(n_steps=300, random_state=0)
    >>> recommender.fit_predict(data.observed).shape  # doctest: +SKIP
    (40, 60)
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (300, 100),
        learning_rate: float = 1e-3,
        batch_size: int = 128,
        n_steps: int = 2000,
        validation_fraction: float = 0.2,
        check_every: int = 100,
        working_range: WorkingRange = "symmetric",
        value_range: RangeChoice = None,
        device: str = "auto",
        n_threads: int | None = 1,
        random_state: RandomState = None,
    ) -> None:
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_steps = n_steps
        self.validation_fraction = validation_fraction
        self.check_every = check_every
        self.working_range = working_range
        self.value_range = value_range
        self.device = device
        self.n_threads = n_threads
        self.random_state = random_state

    @property
    def settings(self) -> NetSettings:
        """Size and training of the net."""
        return NetSettings(
            self.hidden,
            self.learning_rate,
            self.batch_size,
            self.n_steps,
            self.validation_fraction,
            self.check_every,
            self.device,
            self.n_threads,
        )

    def fit(self, X: Any, y: Any = None, *, features: Any = None, progress: Progress | None = None) -> Self:  # noqa: ARG002
        """Train the net on the observed entries.

        Parameters
        ----------
        X : ObservedMatrix, array-like, data frame or SciPy sparse, shape (n_individuals, n_features)
            Observations: what is NaN or not stored is missing.
        y : ignored
            The entries of X are what is learnt.
        features : array-like or SciPy sparse, shape (n_individuals, n_features), optional
            A complete matrix in the units of X, such as an estimate, whose rows and columns the net gets as inputs. By default X, in
            which what is missing counts as 0 on the working range.
        progress : callable, optional
            Called with (steps done, steps in all).

        Returns
        -------
        DenseNetRecommender
            Itself.
        """
        observed = self._observations(X)
        targets = observed.scaled(self.working_range)
        self.scale_ = observed.value_range.scale_to(self.working_range)
        self._features = (
            targets.zero_filled() if features is None else self._complete(features, observed.shape)
        )
        self.net_ = train_dense_net(
            self._features,
            targets,
            settings=self.settings,
            bounds=self.scale_.bounds,
            random_state=self.random_state,
            progress=progress,
        )
        return self

    def predict(self, X: Any = None) -> Floats:
        """Predict every entry of new individuals, or of those of the fit.

        Parameters
        ----------
        X : as in `fit`, shape (n_individuals, n_features), optional
            Individuals, seen in the fit or not. Their rows are inputs, beside the columns of the fit; what is missing counts as 0 on
            the working range. By default the individuals of the fit, with the features that they had there.

        Returns
        -------
        ndarray, shape (n_individuals, n_features)
            In the units of X, within the value range.
        """
        check_is_fitted(self)
        outputs = self.net_.predict_all(self._features, None if X is None else self._new_rows(X))
        return self.scale_.backward(outputs)

    def fit_predict(self, X: Any, y: Any = None, *, features: Any = None) -> Floats:
        """Train the net and predict every entry: ``fit(X, features=features).predict()``."""
        return self.fit(X, y, features=features).predict()

    def _observations(self, X: Any) -> ObservedMatrix:
        values = validated(self, X, reset=True)
        if isinstance(X, ObservedMatrix):
            return X
        return ObservedMatrix(values, value_range=self.value_range)

    def _new_rows(self, X: Any) -> Values:
        table = to_table(validated(self, X, reset=False))
        return with_data(table.values, self.scale_.forward_checked(table))

    def _complete(self, features: Any, shape: tuple[int, int]) -> Floats:
        matrix = as_floats(features, "features", ModelError)
        if matrix.shape != shape:
            raise ShapeError(f"features of shape {matrix.shape} for X of shape {shape}", "the same shape")
        return self.scale_.forward(matrix)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.non_deterministic = self.random_state is None
        return tags
