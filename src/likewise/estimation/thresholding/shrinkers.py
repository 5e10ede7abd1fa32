"""Shrinkers psi by name, and the check that every psi must pass (Section 4.1)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from likewise._typing import Floats
from likewise.errors import ShrinkerError, unknown_name
from likewise.estimation.base.statistics import KeptSpectrum, Shrinker, ShrinkerRule
from likewise.estimation.thresholding.optimal_shrinkers import LOSSES, OptimalShrinker

__all__ = ["SHRINKERS", "KeptSpectrum", "Shrinker", "ShrinkerRule", "resolve_shrinker", "shrink"]


_CHECK_POINTS = 257


def _soft(kept: KeptSpectrum) -> Shrinker:
    return lambda sigma: np.maximum(sigma - kept.threshold, 0.0)


def _soft_rescaled(kept: KeptSpectrum) -> Shrinker:
    return lambda sigma: np.maximum(sigma - kept.threshold, 0.0) / kept.statistics.observed_fraction


SHRINKERS: dict[str, Callable[[KeptSpectrum], Shrinker]] = {
    "rescaled": lambda kept: lambda sigma: sigma / kept.statistics.observed_fraction,
    "identity": lambda _: lambda sigma: sigma,
    "soft": _soft,
    "soft-rescaled": _soft_rescaled,
    **{f"optimal-{loss}": OptimalShrinker(loss).psi for loss in LOSSES},
}
"""Shrinkers by name, each made from what was kept of the spectrum.

``rescaled`` is the paper's ``x / p_hat`` (an entry is seen with probability p, so Z has mean p A), ``identity`` is x,
``soft`` is ``max(x - tau, 0)``, ``soft-rescaled`` is ``max(x - tau, 0) / p_hat``; ``optimal-frobenius``, ``optimal-operator`` and
``optimal-nuclear`` are `OptimalShrinker` with noise estimated from what the kept components leave.
"""


def resolve_shrinker(shrinker: str | Shrinker | ShrinkerRule, kept: KeptSpectrum) -> Shrinker:
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
    check_shrinker(shrinker)
    if isinstance(shrinker, ShrinkerRule):
        return shrinker.psi(kept)
    return shrinker if callable(shrinker) else SHRINKERS[shrinker](kept)


def check_shrinker(shrinker: object) -> None:
    """Raise ShrinkerError, before any work, for what is neither a known name nor callable nor a rule."""
    if not (
        isinstance(shrinker, ShrinkerRule)
        or callable(shrinker)
        or (isinstance(shrinker, str) and shrinker in SHRINKERS)
    ):
        raise ShrinkerError(*unknown_name("shrinker", shrinker, SHRINKERS))


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
