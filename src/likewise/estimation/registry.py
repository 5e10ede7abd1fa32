"""Estimators by name, the same in Python and on the command line."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from likewise.errors import EstimatorError, unknown_name
from likewise.estimation.als.solver import AlternatingLeastSquares
from likewise.estimation.auto.mixture import Mixture
from likewise.estimation.auto.transformer import Auto
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.biases import Biases
from likewise.estimation.nuclear_norm.cai_candes_shen import CaiCandesShen
from likewise.estimation.nuclear_norm.transformer import SoftImpute
from likewise.estimation.thresholding.svt import SVT
from likewise.randomness import seed_of
from likewise.registry import Registry


def _as_class(thing: Any) -> type[MatrixEstimator]:
    if isinstance(thing, type) and issubclass(thing, MatrixEstimator):
        return thing
    raise EstimatorError(f"{thing!r} as an estimator to be named", "a class derived from MatrixEstimator")


ESTIMATORS: Registry[type[MatrixEstimator]] = Registry(
    "likewise.estimators",
    "estimator",
    {
        "svt": SVT,
        "biases": Biases,
        "als": AlternatingLeastSquares,
        "soft-impute": SoftImpute,
        "cai-candes-shen": CaiCandesShen,
        "mixture": Mixture,
        "auto": Auto,
    },
    EstimatorError,
    _as_class,
)
"""Estimators that have a name: singular value thresholding (Section 4.1), row and column biases alone, those that iterate, and one that chooses."""


def register_estimator(name: str) -> Callable[[Any], Any]:
    """Give an estimator a name, under which every call and the command line find it.

    Parameters
    ----------
    name : str
        Not one of the package's own.

    Returns
    -------
    callable
        Takes a class derived from `MatrixEstimator` and returns it: a decorator.

    Raises
    ------
    EstimatorError
        The name is taken, or the thing is no such class.

    Examples
    --------
    >>> register_estimator("baseline")(Biases) is Biases
    True
    >>> make_estimator("baseline")
    Biases()
    >>> ESTIMATORS.unregister("baseline")
    """
    return lambda estimator: ESTIMATORS.register(name, estimator)


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
        An unknown name; an option that the estimator does not have, or a value that it refuses.

    Examples
    --------
    >>> make_estimator("svt", threshold="universal")
    SVT(threshold='universal')
    >>> make_estimator("svd")
    Traceback (most recent call last):
    ...
    likewise.errors.EstimatorError: unknown estimator 'svd'; expected one of 'svt', 'biases', 'als', 'soft-impute', 'cai-candes-shen', 'mixture', 'auto'. Hint: did you mean 'svt'?
    """
    estimator, known = ESTIMATORS.named(name), options_of(name)
    for option in options:
        if option in estimator.refused:
            raise EstimatorError(f"{option} for {name}", estimator.refused[option])
        if option not in known:
            given, expected, hint = unknown_name(f"option of {name}", option, known)
            raise EstimatorError(given, expected, _takers(option) or hint)
    return estimator(**options)


def _takers(option: str) -> str:
    """Say which estimators take an option; nothing where none does."""
    takers = [name for name in ESTIMATORS if option in options_of(name)]
    return f"taken by {', '.join(takers)}" if takers else ""


def options_of(name: str) -> tuple[str, ...]:
    """Return the names of the options that an estimator takes.

    >>> options_of("biases")
    ('regularization', 'propensities', 'max_lipschitz', 'value_range', 'working_range', 'random_state')
    """
    return tuple(signature(ESTIMATORS.named(name)).parameters)


def as_estimator(estimator: Any, random_state: int | np.random.Generator | None = None) -> MatrixEstimator:
    """Return the estimator that a name stands for, or the estimator itself, with a seed.

    Parameters
    ----------
    estimator : str or MatrixEstimator
    random_state : int, Generator or None, default None
        Of an estimator that has none of its own; then a clone of it is returned, never itself changed.

    Returns
    -------
    MatrixEstimator

    Raises
    ------
    EstimatorError
        If it is neither.
    """
    made = make_estimator(estimator) if isinstance(estimator, str) else estimator
    if not isinstance(made, MatrixEstimator):
        names = ", ".join(map(repr, ESTIMATORS))
        raise EstimatorError(f"{estimator!r} as an estimator", f"one of {names}, or a MatrixEstimator")
    if random_state is None or made.get_params(deep=False).get("random_state", random_state) is not None:
        return made
    # A generator becomes a number, so that what a report says of the estimator is the same whenever the bits are.
    seeded: MatrixEstimator = clone(made).set_params(random_state=seed_of(random_state))
    return seeded
