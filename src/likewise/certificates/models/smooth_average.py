"""K1 of an average of fixed rows whose weights fall smoothly with their distance: neighbours that never jump.

The output at x is ``h(x) = sum_j s_j B_j``, ``s_j`` in proportion to ``exp(-||x - B_j||^2 / (2 t))``. The squares of x cancel, so s is the softmax
of scores that are linear in x, with slopes ``B_j / t``, and the derivative of h is the covariance of the rows under these weights, over t. In no
direction can it exceed ``R^2 / t``, for rows within R of any centre: a variance is at most the mean square about any point. Along feature k it is at
most ``R r_k / t``, where r_k is half the range of the feature (Popoviciu 1935, Cauchy and Schwarz).
"""

from __future__ import annotations

from math import frexp, inf, ldexp, sqrt
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from likewise._typing import Floats
from likewise.certificates.certificate import Certificate, Unavailable
from likewise.certificates.operator_norm import POWER_ROUNDINGS, gamma, product_upward, upward
from likewise.norms import conversion, norm_name

_STEPS = 50
"""Of the search for a centre: the radius is then within a few percent of the least."""


@runtime_checkable
class SmoothAverage(Protocol):
    """An average of rows with weights in proportion to ``exp(-||x - B_j||^2 / (2 t))``."""

    @property
    def bandwidth(self) -> float:
        """``t > 0``."""

    @property
    def radius(self) -> float:
        """R: all rows lie within it of one centre."""

    @property
    def half_ranges(self) -> Floats:
        """Half of largest less smallest value of each feature, shape (n,)."""


def smooth_average_constant(average: SmoothAverage, p: float, q: float) -> Certificate | Unavailable:
    """Prove the Lipschitz constant K1 of a smooth average, from lp to lq, for any two inputs; Unavailable where it would exceed the largest number.

    Rows at -1 and 1 with t = 1: half-way between them the output moves as fast as its input, ``h(x) = tanh(x)``.

    >>> from types import SimpleNamespace
    >>> smooth_average_constant(SimpleNamespace(bandwidth=1.0, radius=1.0, half_ranges=np.ones(1)), 2.0, 2.0).value
    1.0...
    """
    n = average.half_ranges.size
    # In any direction the slope is at most R^2 / t; where distances are l1, feature after feature, R r_k /
    # t.
    widest = average.radius
    if p == 1:  # one feature after another
        widest = min(widest, float(average.half_ranges.max(initial=0.0)))
    factor = conversion(p, 2.0, n) * conversion(2.0, q, n)
    with np.errstate(over="ignore"):
        per_bandwidth = float(np.float64(1.0) / average.bandwidth)
    value = upward(product_upward(average.radius, per_bandwidth, widest, factor), POWER_ROUNDINGS)
    if not value < inf:
        return Unavailable("K1", "it is larger than the largest number")
    return Certificate(
        name="K1",
        value=value,
        from_norm=norm_name(p),
        to_norm=norm_name(q),
        function="a row to the average of all rows, weighted smoothly by their distance",
        proof=(
            "the derivative is the covariance of the averaged rows under their weights, over the bandwidth",
            f"rows lie within {average.radius:.4g} of a centre, features within {widest:.4g} of theirs; the bandwidth is {average.bandwidth:.4g}",
        ),
        n_inputs=n,
        n_outputs=n,
    )


def enclosing_ball(rows: Floats | sparse.csr_array) -> tuple[Floats, float]:
    """Return a centre and a radius, rounded up, of a ball that holds all rows, (m, n): nearly the smallest there is.

    From the mean, the centre moves towards the row that is farthest, less each time (Badoiu and Clarkson 2003). Whatever centre is found,
    the radius is that of the rows about it. What a sparse matrix does not store is 0.

    >>> centre, radius = enclosing_ball(np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0]]))
    >>> radius < 2.1
    True
    """
    # By an exact power of two, so that no square vanishes and nothing is rounded.
    exponent = _small_exponent(rows)
    if exponent:
        centre, radius = enclosing_ball(_times_power(rows, -exponent))
        return _times_power(centre, exponent), product_upward(radius, ldexp(1.0, exponent))
    squares = np.asarray(
        (rows**2).sum(axis=1) if sparse.issparse(rows) else np.einsum("ij,ij->i", rows, rows)
    )
    centre = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    best, radius = centre, inf
    for step in range(2, _STEPS + 2):
        lengths = _squared_lengths(rows, squares, centre)
        farthest = int(lengths.argmax())
        if lengths[farthest] < radius:
            best, radius = centre, float(lengths[farthest])
        # Shorter and shorter steps: the k-th is 1 / k of the way.
        centre = centre + (_dense_row(rows, farthest) - centre) / step
    return best, upward(sqrt(radius), POWER_ROUNDINGS)


_VANISHING = -300
"""Exponent of the largest entry from which on squares of others that matter could vanish."""


def _small_exponent(rows: Floats | sparse.csr_array) -> int:
    """Return the exponent of the largest entry where squares would vanish; 0 elsewhere."""
    entries = rows if isinstance(rows, np.ndarray) else rows.data
    exponent = frexp(float(np.abs(entries).max(initial=0.0)))[1]
    return exponent if exponent < _VANISHING else 0


def _times_power(rows: Any, exponent: int) -> Any:
    """Multiply by a power of two, in two steps, of which neither overflows."""
    half = exponent // 2
    return rows * ldexp(1.0, half) * ldexp(1.0, exponent - half)


def _squared_lengths(rows: Floats | sparse.csr_array, squares: Floats, centre: Floats) -> Floats:
    """Return ``||row - centre||^2``, each rounded up: the terms cancel, so what rounding they carry is added."""
    own = float(centre @ centre)
    lengths = squares - 2 * (rows @ centre) + own
    sizes = (np.sqrt(squares) + sqrt(own)) ** 2
    return np.asarray(np.maximum(lengths, 0.0) + gamma(4 * centre.size + 16) * sizes)


def _dense_row(rows: Floats | sparse.csr_array, k: int) -> Floats:
    row = rows[k] if isinstance(rows, np.ndarray) else rows[[k]].toarray()[0]
    return np.asarray(row, dtype=np.float64)
