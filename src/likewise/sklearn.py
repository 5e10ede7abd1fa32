"""Scorers for scikit-learn's model selection: by fairness, by error, or by both."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from likewise.arrays import as_array
from likewise.checks import checked_callable, checked_non_negative, checked_positive
from likewise.errors import ConstantOutputWarning, InputError, ModelError, unknown_name
from likewise.fairness import PairwiseDistance, feature_distance, measure_fairness

__all__ = ["FairnessScorer"]

_OUTPUTS = ("predict_proba", "decision_function", "predict", "transform")
"""Where the outputs of an estimator come from; the first that it has."""
_OF_A_LIMIT = ("violation_rate", "violation_mean_excess", "violation_max_excess")
_UNFAIRNESS = (
    *("similar_relative_gap", "similar_output_gap", "similar_scale_free_ratio", "similar_mean_ratio"),
    *("similar_finite_mean_ratio", "similar_max_ratio", "mean_ratio", "pair_mean_ratio", "finite_mean_ratio"),
    *("max_ratio", "scale_free_ratio", "ratio_quantile_0.5", "ratio_quantile_0.9", "ratio_quantile_0.99"),
    *_OF_A_LIMIT,
)
"""Metrics of which less is fairer. Of spreads and mean distances it is not: a search would take what gives everybody the same."""


class FairnessScorer:
    """A scorer for `GridSearchCV`, `cross_val_score` and the like: minus an unfairness, so that more is better.

    Parameters
    ----------
    metric : str, default "similar_relative_gap"
        Which metric of `measure_fairness` is the unfairness: ``"similar_relative_gap"`` is how far apart the outputs of the most similar tenth of the pairs are, beside all
        pairs; ``"violation_rate"``, with `lipschitz`, the share of pairs with D > L d.
    distance : callable, optional
        Makes the distance d between individuals from X. By default l2 between features in standard deviations, without `exclude`, which takes
        numbers; `likewise.fairness.GowerDistance` takes words and blanks too.
    exclude : sequence, default ()
        Columns that must not count: names of a frame, positions of an array.
    lipschitz : float, optional
        L > 0.
    error : str or scorer, optional
        A scoring of scikit-learn, such as ``"neg_log_loss"``: the score is then ``error - weight * unfairness``.
    weight : float, default 1.0
        >= 0; how much of the other score one unit of unfairness is worth.

    Raises
    ------
    InputError
        An option out of its range, or without effect; a metric or a scoring that there is not.

    Notes
    -----
    Outputs are probabilities, else decision values, predictions or transformed rows. A score is NaN, which scikit-learn ranks last, where the metric is not
    defined, such as the gap of constant outputs.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 3))
    >>> y = X[:, 0] + 0.5 * rng.normal(size=120) > 0
    >>> both = FairnessScorer(error="neg_log_loss", weight=0.2)
    >>> search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=both).fit(X, y)
    >>> search.best_params_
    {'C': 1.0}
    """

    def __init__(
        self,
        metric: str = "similar_relative_gap",
        *,
        distance: Callable[[Any], PairwiseDistance] | None = None,
        exclude: Sequence[Any] = (),
        lipschitz: float | None = None,
        error: Any = None,
        weight: float = 1.0,
    ) -> None:
        if not isinstance(metric, str):
            raise InputError(f"metric of type {type(metric).__name__}", "the name of a metric")
        if distance is not None:
            checked_callable("distance", distance)
            if len(exclude):
                raise InputError("exclude beside distance", "one of them")
        if lipschitz is not None:
            checked_positive("lipschitz", lipschitz)
        checked_non_negative("weight", weight)
        if metric not in _UNFAIRNESS:
            raise InputError(*unknown_name("metric", metric, _UNFAIRNESS))
        if (metric in _OF_A_LIMIT) != (lipschitz is not None):
            raise InputError(
                f"metric {metric!r} {'with' if lipschitz is not None else 'without'} lipschitz",
                f"lipschitz beside {', '.join(_OF_A_LIMIT)}, and only there",
            )
        if error is None and weight != 1.0:
            raise InputError("weight without error", "error= too: weight says what an unfairness costs of it")
        _checked_error(error)
        self.metric, self.distance, self.exclude = metric, distance, exclude
        self.lipschitz, self.error, self.weight = lipschitz, error, weight

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the score of a fitted estimator on X.

        Parameters
        ----------
        estimator : scikit-learn estimator or pipeline
        X : array-like or data frame, shape (m, n)
        y : array-like, shape (m,), optional
            For `error`.
        """
        unfairness = self.unfairness(estimator, X)
        if self.error is None:
            return -unfairness
        from sklearn.metrics import get_scorer

        return float(get_scorer(self.error)(estimator, X, y)) - self.weight * unfairness

    def unfairness(self, estimator: Any, X: Any) -> float:
        """Return the metric itself; lower is better."""
        d = (
            feature_distance(X, "l2", exclude=self.exclude, scaling="standard")
            if self.distance is None
            else self.distance(X)
        )
        with warnings.catch_warnings():  # a search tries models on purpose that hardly tell people apart
            warnings.simplefilter("ignore", ConstantOutputWarning)
            metrics = measure_fairness(_outputs_of(estimator, X), d, lipschitz=self.lipschitz).metrics()
        if self.metric not in metrics:
            raise InputError(*unknown_name("metric", self.metric, metrics))
        return float(metrics[self.metric].value)

    def __repr__(self) -> str:
        both = "" if self.error is None else f", error={self.error!r}, weight={self.weight:g}"
        return f"FairnessScorer({self.metric!r}{both})"


def _checked_error(error: Any) -> None:
    """Raise for a scoring that scikit-learn does not have."""
    if error is None or callable(error):
        return
    from sklearn.metrics import get_scorer_names

    if not isinstance(error, str):
        raise InputError(f"error of type {type(error).__name__}", "a scoring of scikit-learn, or its name")
    if error not in get_scorer_names():
        raise InputError(*unknown_name("error", error, get_scorer_names()))


def _outputs_of(estimator: Any, X: Any) -> Any:
    name = next((name for name in _OUTPUTS if hasattr(estimator, name)), None)
    if name is None:
        raise ModelError(
            f"{type(estimator).__name__} as an estimator to score", f"one with {', '.join(_OUTPUTS)}"
        )
    outputs = as_array(getattr(estimator, name)(X), "outputs")
    if outputs.dtype.kind not in "fiub":  # labels that are names: equal or not
        # A column of 0 and 1 for each label: two labels that differ are at one distance, whatever they are.
        return (outputs[:, None] == np.unique(outputs)).astype(np.float64)
    return outputs.astype(np.float64)
