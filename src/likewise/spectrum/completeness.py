"""Proofs that no eigenvalue of A^T A above a level lies outside a given subspace.

Let V hold l orthonormal approximate eigenvectors with Rayleigh quotients theta, E what couples them to the rest, and
``M' = (I - V V^T) A^T A (I - V V^T)`` the deflated operator. If ``||M'|| <= mu < tau^2``, then by Haynsworth's
inertia additivity A^T A has exactly as many eigenvalues above tau^2 as there are theta above it, except that
theta within ``||E||^2 / (tau^2 - mu)`` below tau^2 cannot be told from tau^2. Three ways to bound ``||M'||``:

* energy: its trace, ``||A||_F^2 - sum(theta)``, is below tau^2;
* inertia: the signature of ``A^T A - tau^2 I`` by LDL^T, which counts the eigenvalues outright;
* a Chebyshev test: a polynomial that is at most 1 on [0, c] and enormous at mu is applied to independent Gaussian
  vectors; they would have grown if an eigenvalue were at mu or above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import gammaincinv

from likewise._typing import AnyFloats
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.request import Progress
from likewise.spectrum.threaded_blas import inner, subtract_product

FAILURE_PROBABILITY = 1e-8
TEST_WIDTH = 16  # columns: narrower blocks make a pass over the matrix no cheaper
_PATIENCE = 1.5  # times the degree that should do
_MAX_GROWTH = 1e8  # growth of the squared norm that only an eigenvalue above the level explains


@dataclass(frozen=True, eq=False)
class ChebyshevTest:
    """Outcome of a randomised test of ``||M'|| < level``.

    Parameters
    ----------
    passed : bool
        If the norm is at least `level`, this happens with at most the probability that was asked for.
    degree : int
        Of the polynomial, that is passes over the matrix.
    grown : ndarray, shape (n, b)
        What became of the random vectors: rich in whatever lies above `cut`.
    """

    passed: bool
    degree: int
    grown: AnyFloats


def degree_needed(
    n: int,
    cut: float,
    level: float,
    failure_probability: float = FAILURE_PROBABILITY,
    width: int = TEST_WIDTH,
) -> int:
    """Degree at which `chebyshev_test` passes for sure if nothing lies above `cut`, about ``4 / sqrt(level/cut - 1)``."""
    growth = math.sqrt(max(n * width / _chi_squared_quantile(failure_probability, width), 1.0))
    return math.ceil(math.acosh(growth) / math.acosh(2 * level / cut - 1))


def chebyshev_test(
    operator: RowOperator,
    deflated: AnyFloats,
    cut: float,
    level: float,
    rng: np.random.Generator,
    report: Progress,
    failure_probability: float = FAILURE_PROBABILITY,
    width: int = TEST_WIDTH,
) -> ChebyshevTest:
    """Test whether the norm of A^T A outside a subspace is below `level`.

    For a fixed unit eigenvector w of M' with eigenvalue ``lambda >= level``, and G with `width` Gaussian columns drawn
    after V was fixed, ``||T_q(M') G||_F >= T_q(lambda) ||w^T G||`` and ``||w^T G||^2`` is chi-squared with `width`
    degrees of freedom. So ``||T_q(M') G||_F^2 < x T_q(level)^2`` for some q happens with probability
    ``P(chi2 <= x)`` at most, which is made to equal `failure_probability`. Nothing is assumed of the spectrum, not
    even that eigenvalues are simple; `cut` only decides how soon the test passes. Exact up to rounding in the products.

    Parameters
    ----------
    operator : RowOperator
    deflated : ndarray, shape (n, l)
        V, orthonormal, float32 or float64; the test runs in its precision.
    cut : float
        c > 0: the Chebyshev polynomial is the one of [0, c].
    level : float
        mu > c.
    rng : Generator
        Must not have been used for V's start in a way that makes G depend on V.
    report : callable
        Progress.
    failure_probability : float
    width : int

    Returns
    -------
    ChebyshevTest
    """
    n = operator.shape[1]
    # G, without its part in V: M' does not see that part, and rounding of it would only grow.
    current: AnyFloats = rng.standard_normal((n, width)).astype(deflated.dtype)
    subtract_product(current, deflated, inner(deflated, current))
    allowed, rate = _chi_squared_quantile(failure_probability, width), math.acosh(2 * level / cut - 1)
    patience = 4 + math.ceil(_PATIENCE * degree_needed(n, cut, level, failure_probability, width))
    start, previous = _squared_norm(current), np.zeros_like(current)
    for degree in range(1, patience + 1):
        # T_0 = 1, T_1(x) = x, T_(q+1)(x) = 2 x T_q(x) - T_(q-1)(x), for x = 2 M' / c - I.
        image = _scaled_to_unit(operator, deflated, cut, current)
        previous, current = current, image if degree == 1 else 2 * image - previous
        # T_q(2 level / cut - 1) = cosh(q rate): so much an eigenvalue at the level would have grown.
        grown = _squared_norm(current)
        if grown < allowed * math.cosh(degree * rate) ** 2:
            return ChebyshevTest(True, degree, current)
        if grown > _MAX_GROWTH * start:
            break
        report("checking that no singular value was missed", degree / patience)
    return ChebyshevTest(False, degree, current)


def _scaled_to_unit(operator: RowOperator, deflated: AnyFloats, cut: float, block: AnyFloats) -> AnyFloats:
    """Apply ``2 M' / c - I``, which maps [0, c] to [-1, 1]."""
    image = operator.gram(block)
    subtract_product(image, deflated, inner(deflated, image))
    image *= 2 / cut
    image -= block
    return image


@cache
def _chi_squared_quantile(probability: float, degrees: int) -> float:
    return float(2 * gammaincinv(degrees / 2, probability))


def _squared_norm(block: AnyFloats) -> float:
    with np.errstate(over="ignore"):  # infinite growth is growth enough
        return float(np.sum(np.square(block, dtype=np.float64)))


def eigenvalues_above(operator: RowOperator, level: float) -> int:
    """Count the eigenvalues of A^T A above `level` by the signature of ``A^T A - level I`` (Sylvester's law of inertia).

    Exact up to rounding: of values within about ``n eps ||A||^2`` of `level`. Needs n^2 numbers and n^3/3 operations.
    """
    shifted = gram_matrix(operator)
    shifted[np.diag_indices_from(shifted)] -= level
    # LDL^T is a congruence, which keeps the number of positive eigenvalues: those of the diagonal blocks are counted.
    _, blocks, _ = linalg.ldl(shifted, overwrite_a=True, check_finite=False)
    # A 2 x 2 block of Bunch and Kaufman's pivoting always has one eigenvalue of each sign.
    pairs = int(np.count_nonzero(np.diag(blocks, -1)))
    coupled = np.zeros(len(blocks), dtype=bool)
    coupled[:-1] |= np.diag(blocks, -1) != 0
    coupled[1:] |= np.diag(blocks, -1) != 0
    return pairs + int(np.count_nonzero(np.diag(blocks)[~coupled] > 0))


def gram_matrix(operator: RowOperator, columns: int = 256) -> NDArray[np.float64]:
    """Return A^T A as a dense float64 array, a few columns at a time."""
    n = operator.shape[1]
    gram, identity = np.empty((n, n)), np.eye(n, min(n, columns))
    for start in range(0, n, columns):
        gram[:, start : start + columns] = operator.gram(np.ascontiguousarray(identity[:, : n - start]))
        identity = np.roll(identity, columns, axis=0)
    return (gram + gram.T) / 2
