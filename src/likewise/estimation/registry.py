"""Estimators by name, the same in Python and on the command line."""

from __future__ import annotations

from inspect import signature
from typing import Any

from likewise.errors import EstimatorError, unknown_name
from likewise.estimation.als.transformer import AlternatingLeastSquares
from likewise.estimation.auto.transformer import Auto
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.biases import Biases
from likewise.estimation.nuclear_norm.cai_candes_shen import CaiCandesShen
from likewise.estimation.nuclear_norm.transformer import SoftImpute
from likewise.estimation.thresholding.transformer import SVT

ESTIMATORS: dict[str, type[MatrixEstimator]] = {
    "svt": SVT,
    "biases": Biases,
    "als": AlternatingLeastSquares,
    "soft-impute": SoftImpute,
    "cai-candes-shen": CaiCandesShen,
    "auto": Auto,
}
"""Estimators that have a name: singular value thresholding (Section 4.1), row and column biases alone, those that iterate, and one that chooses."""


def make_estimator(name: str, **options: Any) -> MatrixEstimator:
    """Make an estimator by its name.

    Parameters
    ----------
    name : str
        One of `ESTIMATORS`.
    **options
        Its parameters.

    Returns
    -------
    MatrixEstimator
        Not fitted.

    Raises
    ------
    EstimatorError
        If the name is unknown, or an option is none of that estimator's, or one that it refuses.

    Examples
    --------
    >>> make_estimator("svt", threshold="universal")
    SVT(threshold='universal')
    >>> make_estimator("svd")
    Traceback (most recent call last):
    ...
    likewise.errors.EstimatorError: unknown estimator 'svd'; expected one of 'svt', 'biases', 'als', 'soft-impute', 'cai-candes-shen', 'auto'. Hint: did you mean 'svt'?
    """
    if name not in ESTIMATORS:
        raise EstimatorError(*unknown_name("estimator", name, ESTIMATORS))
    known = options_of(name)
    for option in options:
        if option in ESTIMATORS[name].refused:
            raise EstimatorError(f"{option} for {name}", ESTIMATORS[name].refused[option])
        if option not in known:
            given, expected, hint = unknown_name(f"option of {name}", option, known)
            raise EstimatorError(given, expected, _takers(option) or hint)
    return ESTIMATORS[name](**options)


def _takers(option: str) -> str:
    """Say which estimators take an option; nothing where none does."""
    takers = [name for name in ESTIMATORS if option in options_of(name)]
    return f"taken by {', '.join(takers)}" if takers else ""


def options_of(name: str) -> tuple[str, ...]:
    """Return the names of the options that an estimator takes.

    Examples
    --------
    >>> options_of("biases")
    ('regularization', 'propensities', 'value_range', 'working_range', 'random_state')
    """
    return tuple(signature(ESTIMATORS[name]).parameters)


def as_estimator(estimator: Any) -> MatrixEstimator:
    """Return the estimator that a name stands for, or the estimator itself.

    Parameters
    ----------
    estimator : str or MatrixEstimator

    Returns
    -------
    MatrixEstimator

    Raises
    ------
    EstimatorError
        If it is neither.
    """
    if isinstance(estimator, str):
        return make_estimator(estimator)
    if not isinstance(estimator, MatrixEstimator):
        names = ", ".join(map(repr, ESTIMATORS))
        raise EstimatorError(f"{estimator!r} as an estimator", f"one of {names}, or a MatrixEstimator")
    return estimator
