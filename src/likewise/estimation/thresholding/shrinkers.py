"""Shrinkers psi by name, those that lose least in white noise among them, and the check that every psi must pass (Section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.checks import checked_name
from likewise.errors import InputError, ShrinkerError, option
from likewise.estimation.thresholding.noise_level import noise_variance
from likewise.estimation.thresholding.statistics import KeptSpectrum, Shrinker, ShrinkerChoice, ShrinkerRule
from likewise.registry import Registry, as_rule

# Below, y are singular values in units of sqrt(longer side) times the standard deviation of the noise, so that noise ends at
# 1 + sqrt(beta); beta is the shorter side over the longer one.


def signal_strength(y: Floats, aspect: float) -> Floats:
    """Return the singular value x that the signal has where y is seen; 0 up to the edge of noise.

    Inverse of ``y = sqrt((x + 1/x) (x + beta/x))`` on x >= beta^(1/4), for beta = `aspect` in (0, 1].

    >>> signal_strength(np.array([1.9, 2.5]), 1.0)  # (2 + 1/2)^2 = 2.5^2
    array([0., 2.])
    """
    # x^2 is the larger root of x^4 - (y^2 - beta - 1) x^2 + beta = 0.
    root = _discriminant(y, aspect)
    strength: Floats = np.sqrt((np.maximum(y**2 - aspect - 1, 0.0) + root) / 2)
    return np.where(y > 1 + sqrt(aspect), strength, 0.0)


def frobenius_optimal(y: Floats, aspect: float) -> Floats:
    """Return ``sqrt((y^2 - beta - 1)^2 - 4 beta) / y`` above the edge, for the Frobenius norm of the error.

    >>> frobenius_optimal(np.array([2.0, 2.5]), 1.0)  # sqrt(4.25^2 - 4) / 2.5
    array([0. , 1.5])
    """
    return np.where(y > 1 + sqrt(aspect), _discriminant(y, aspect) / np.maximum(y, 1.0), 0.0)


def operator_optimal(y: Floats, aspect: float) -> Floats:
    """Return ``x sqrt((x^2 + beta) / (x^2 + 1))``, for the largest singular value of the error.

    Gavish and Donoho give x itself, which loses least for a square matrix only; this is Leeb's for every shape.

    >>> operator_optimal(np.array([2.0, 2.5]), 1.0)
    array([0., 2.])
    """
    x = signal_strength(y, aspect)
    strength: Floats = x * np.sqrt((x**2 + aspect) / (x**2 + 1))
    return strength


def nuclear_optimal(y: Floats, aspect: float) -> Floats:
    """Return ``(x^4 - beta - sqrt(beta) x y) / (x^2 y)`` where positive, for the sum of the singular values of the error.

    >>> nuclear_optimal(np.array([2.0, 2.5]), 1.0)  # x = 2: (16 - 1 - 5) / 10
    array([0., 1.])
    """
    x = signal_strength(y, aspect)
    gained = np.maximum(x**4 - aspect - sqrt(aspect) * x * y, 0.0)
    return gained / np.where(x > 0, x**2 * y, 1.0)


LOSSES: dict[str, Callable[[Floats, float], Floats]] = {
    "frobenius": frobenius_optimal,
    "operator": operator_optimal,
    "nuclear": nuclear_optimal,
}
"""Optimal shrinkers by the norm of the error that they make least."""


@dataclass(frozen=True)
class OptimalShrinker(ShrinkerRule):
    """The shrinker of least asymptotic loss for a low-rank matrix in white noise, then rescaled by ``1 / p_hat``.

    Zero-filled observations are ``p A`` plus noise, so what it makes of them estimates ``p A``. It is 0 up to the edge of the noise,
    whatever the threshold.

    Parameters
    ----------
    loss : {"frobenius", "operator", "nuclear"}, default "frobenius"
        Norm of the error that is made least.
    noise : float or str, default "kept"
        Standard deviation of an entry of the zero-filled observations about its mean, if it is known; ``"kept"`` for what the kept
        components leave; or another estimate, see `NoiseEdge`.

    Raises
    ------
    ShrinkerError
        An unknown loss.
    ThresholdError
        An unknown or unusable noise level.

    References
    ----------
    Gavish and Donoho, "Optimal shrinkage of singular values", IEEE Transactions on Information Theory 63 (2017). Leeb, "Optimal singular
    value shrinkage for operator norm loss: extending to non-square matrices", Statistics and Probability Letters 186 (2022).

    Examples
    --------
    >>> from likewise.estimation import ObservationStatistics
    >>> kept = KeptSpectrum(ObservationStatistics(100, 100, 0.5, 0.1), 0.0, np.array([2.5]))
    >>> OptimalShrinker(noise=0.1).psi(kept)(np.array([1.9, 2.5]))  # unit sqrt(100) x 0.1 = 1: 1.5 / p_hat
    array([0., 3.])
    """

    loss: str = "frobenius"
    noise: float | str = "kept"
    assumes_white_noise = True

    def psi(self, kept: KeptSpectrum) -> Shrinker:
        """Return the function psi for these data."""
        checked_name("loss", self.loss, LOSSES, ShrinkerError)
        statistics, optimal = kept.statistics, LOSSES[self.loss]
        variance = kept.residual_variance if self.noise == "kept" else noise_variance(self.noise, statistics)
        unit = sqrt(statistics.longer_side * variance)
        # Without noise nothing is to be shrunk: the limit of the formula.
        if unit == 0:
            return lambda sigma: sigma / statistics.observed_fraction
        return lambda sigma: unit * optimal(sigma / unit, statistics.aspect) / statistics.observed_fraction


def _discriminant(y: Floats, aspect: float) -> Floats:
    """Return ``sqrt((y^2 - beta - 1)^2 - 4 beta)``, by factors so that nothing cancels near the edge."""
    root = sqrt(aspect)
    inner: Floats = np.maximum((y**2 - (1 + root) ** 2) * (y**2 - (1 - root) ** 2), 0.0)
    return np.sqrt(inner)


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
        The name is taken, or the thing is not a shrinker.

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
    """Return the rule that a name or a function psi stands for; `ShrinkerError` for an unknown name, or none of these."""
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
    if not callable(psi):
        raise ShrinkerError(option("psi", repr(psi)), "a function")
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
