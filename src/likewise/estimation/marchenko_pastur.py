"""The law of the singular values of white noise (Marchenko and Pastur 1967)."""

from __future__ import annotations

from functools import lru_cache
from math import cos, pi, sin, sqrt


@lru_cache(maxsize=64)
def median_square(aspect: float) -> float:
    """Return the median ``mu_beta`` of the squared singular values of white noise, over the longer side and the variance.

    Parameters
    ----------
    aspect : float
        ``beta``, shorter over longer side, in (0, 1].

    Returns
    -------
    float

    References
    ----------
    Gavish and Donoho, "The optimal hard threshold for singular values is 4/sqrt(3)", IEEE Transactions on Information Theory 60
    (2014).

    Examples
    --------
    >>> round(median_square(1.0), 4)
    0.6528
    """
    from scipy.optimize import brentq

    angle = brentq(lambda angle: _share_above(angle, aspect) - 0.5, 0.0, pi, xtol=1e-14)
    return 1 + aspect + 2 * sqrt(aspect) * cos(angle)


def _share_above(angle: float, aspect: float) -> float:
    """Return the probability of ``x > 1 + beta + 2 sqrt(beta) cos(angle)``.

    In the angle the density ``sqrt((b - x)(x - a)) / (2 pi beta x)`` on [a, b] = [(1 - sqrt(beta))^2, (1 + sqrt(beta))^2] is smooth.
    """
    from scipy.integrate import quad

    def density(t: float) -> float:
        if aspect == 1:  # sin^2 t / (1 + cos t), whose limit at pi is 2
            return (1 - cos(t)) / pi
        return 2 * sin(t) ** 2 / (pi * (1 + aspect + 2 * sqrt(aspect) * cos(t)))

    return float(quad(density, 0.0, angle, epsabs=1e-13, epsrel=1e-12, limit=200)[0])
