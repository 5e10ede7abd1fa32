"""Shrinkers psi by name, and the check that every psi must pass (Section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.checks import checked_callable
from likewise.errors import InputError, ShrinkerError
from likewise.estimation.thresholding.optimal_shrinkers import LOSSES, OptimalShrinker
from likewise.estimation.thresholding.statistics import KeptSpectrum, Shrinker, ShrinkerChoice, ShrinkerRule
from likewise.registry import Registry, as_rule

_CHECK_POINTS = 257


@dataclass(frozen=True)
class _Rescaled(ShrinkerRule):
    """``x / p_hat``: an entry is seen with probability p, so Z has mean p A."""

    def psi(self, kept: KeptSpectrum) -> Shrinker:
        return lambda sigma: sigma / kept.statistics.observed_fraction


@dataclass(frozen=True)
class _Soft(ShrinkerRule):
    """``max(x - tau, 0)``, over p_hat if asked for."""

    rescaled: bool

    def psi(self, kept: KeptSpectrum) -> Shrinker:
        unit = kept.statistics.observed_fraction if self.rescaled else 1.0
        return lambda sigma: np.maximum(sigma - kept.threshold, 0.0) / unit


@dataclass(frozen=True)
class _Function(ShrinkerRule):
    """psi itself, the same for all data."""

    function: Shrinker

    def psi(self, kept: KeptSpectrum) -> Shrinker:  # noqa: ARG002
        return self.function


def _as_rule(thing: Any) -> ShrinkerRule:
    """Return a rule, a class of rules with its defaults, or a plain psi, as a rule."""
    refused = ShrinkerError(f"shrinker {thing!r}", "a known name, a ShrinkerRule, or a function psi")
    return as_rule(thing, ShrinkerRule, _Function, refused)  # type: ignore[type-abstract]


SHRINKERS: Registry[ShrinkerRule] = Registry(
    "likewise.shrinkers",
    "shrinker",
    {
        "rescaled": _Rescaled(),
        "identity": _Function(lambda sigma: sigma),
        "soft": _Soft(rescaled=False),
        "soft-rescaled": _Soft(rescaled=True),
        **{f"optimal-{loss}": OptimalShrinker(loss) for loss in LOSSES},
    },
    ShrinkerError,
    _as_rule,
)
"""Shrinkers by name, each a rule that makes psi from what was kept of the spectrum.

``rescaled`` is the paper's ``x / p_hat`` (an entry is seen with probability p, so Z has mean p A), ``identity`` is x,
``soft`` is ``max(x - tau, 0)``, ``soft-rescaled`` is ``max(x - tau, 0) / p_hat``; ``optimal-frobenius``, ``optimal-operator`` and
``optimal-nuclear`` are `OptimalShrinker` with noise estimated from what the kept components leave.
"""


def register_shrinker(name: str) -> Callable[[Any], Any]:
    """Give a shrinker a name, under which every call and the command line find it.

    Parameters
    ----------
    name : str
        Not one of the package's own.

    Returns
    -------
    callable
        Takes a `ShrinkerRule`, a class of it that needs no argument, or a function psi of an array of singular values, and returns it: a
        decorator.

    Raises
    ------
    ShrinkerError
        The name is taken, or the thing is no shrinker.

    Examples
    --------
    >>> @register_shrinker("root")
    ... def root(sigma):
    ...     return np.sqrt(sigma)
    >>> shrinker_rule("root").psi(None)(np.array([9.0, 4.0]))
    array([3., 2.])
    >>> SHRINKERS.unregister("root")
    """
    return lambda shrinker: SHRINKERS.register(name, shrinker)


def shrinker_rule(shrinker: ShrinkerChoice) -> ShrinkerRule:
    """Return the rule that a name or a function psi stands for.

    Raises
    ------
    ShrinkerError
        Unknown name, or none of these.
    """
    if isinstance(shrinker, ShrinkerRule) or callable(shrinker):
        return _as_rule(shrinker)
    return SHRINKERS.named(shrinker)


def resolve_shrinker(shrinker: ShrinkerChoice, kept: KeptSpectrum) -> Shrinker:
    """Turn a name or a rule into the function psi; another callable is taken as it is.

    Parameters
    ----------
    shrinker : str, ShrinkerRule or callable
        One of `SHRINKERS`, a rule such as `OptimalShrinker`, or a callable from an array of singular values to an array of the same
        shape.
    kept : KeptSpectrum
        Threshold, singular values above it, and statistics of the observations.

    Returns
    -------
    callable

    Raises
    ------
    ShrinkerError
        If the name is unknown or the object is neither a name nor callable.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.estimation import ObservationStatistics
    >>> kept = KeptSpectrum(ObservationStatistics(4, 9, 0.5, 0.1), 2.0, np.array([3.0]))
    >>> resolve_shrinker("soft-rescaled", kept)(np.array([2.0, 3.0]))
    array([0., 2.])
    """
    return shrinker_rule(shrinker).psi(kept)


def shrink(psi: Shrinker, singular_values: Floats) -> Floats:
    """Apply psi to the kept singular values after checking that it is what Section 4.1 asks for.

    psi must map [0, inf) to [0, inf) and never decrease. It is checked at the singular values themselves and on a
    grid from 0 to the largest of them; between those points it is taken on trust.

    Parameters
    ----------
    psi : callable
    singular_values : ndarray, shape (k,)
        Decreasing.

    Returns
    -------
    ndarray, shape (k,)

    Raises
    ------
    ShrinkerError
        If psi decreases, is negative or not finite somewhere, or returns another shape.

    Examples
    --------
    >>> import numpy as np
    >>> shrink(np.sqrt, np.array([9.0, 4.0]))
    array([3., 2.])
    """
    checked_callable("psi", psi)
    singular_values = as_floats(singular_values, "singular values")
    if singular_values.ndim != 1 or not np.isfinite(singular_values).all():
        raise InputError(f"singular values of shape {singular_values.shape}", "a vector of finite numbers")
    if singular_values.size == 0:
        return np.zeros(0)
    grid = np.linspace(0.0, singular_values[0], _CHECK_POINTS)
    points = np.sort(np.concatenate([grid, singular_values]))
    images = _evaluate(psi, points)
    drop = np.diff(images)
    # psi is the caller's floating-point code: a decrease within rounding of its values is not a decrease.
    if (drop < -1e-12 * np.abs(images).max(initial=0.0)).any():
        at = int(np.argmin(drop))
        given = f"psi({points[at]:g}) = {images[at]:g} but psi({points[at + 1]:g}) = {images[at + 1]:g}"
        raise ShrinkerError(given, "a function that never decreases (Section 4.1)")
    return _evaluate(psi, singular_values)


def _evaluate(psi: Shrinker, points: Floats) -> Floats:
    images = np.asarray(psi(points.copy()), dtype=np.float64)
    if images.shape != points.shape:
        raise ShrinkerError(
            f"psi returned shape {images.shape} for input of shape {points.shape}",
            "the same shape",
            "vectorise it with NumPy",
        )
    unusable = ~(np.isfinite(images) & (images >= 0))
    if unusable.any():
        at = int(np.argmax(unusable))
        raise ShrinkerError(f"psi({points[at]:g}) = {images[at]:g}", "finite values >= 0 (Section 4.1)")
    return images
