"""Proofs that no eigenvalue of A^T A above a level lies outside a given subspace.

Let V hold l orthonormal approximate eigenvectors with Rayleigh quotients theta, E what couples them to the rest, and
``M' = (I - V V^T) A^T A (I - V V^T)`` the deflated operator. If ``||M'|| <= mu < tau^2``, then by Haynsworth's
inertia additivity A^T A has exactly as many eigenvalues above tau^2 as there are theta above it, except that
theta within ``||E||^2 / (tau^2 - mu)`` below tau^2 cannot be told from tau^2. Three ways to bound ``||M'||``:

* energy: its trace, ``||A||_F^2 - sum(theta)``, is below tau^2;
* inertia: the signature of ``A^T A - tau^2 I`` by LDL^T, which counts the eigenvalues outright;
* a randomised test: polynomials that are small on the spectrum and enormous at mu are applied to independent Gaussian
  vectors, which would have grown if an eigenvalue were at mu or above; alone, or in the passes of the solve (`CarriedTest`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import gammaincinv

from likewise._typing import AnyFloats, Floats
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.orthonormal import Subspace, inner, orthonormalise, subtract_product
from likewise.spectrum.request import Progress

FAILURE_PROBABILITY = 1e-8
TEST_WIDTH = 16  # columns: narrower blocks make a pass over the matrix no cheaper
_PATIENCE = 1.5  # times the degree that should do
_ROUNDING = 8.0  # units in the last place that a product may be off by


@dataclass(frozen=True, eq=False)
class RandomTest:
    """Outcome of a randomised test of ``||M'|| < level``."""

    passed: (
        bool  # if the norm is at least `level`, this happens with at most the probability that was asked for
    )
    degree: int  # of the polynomial, that is passes over the matrix
    grown: AnyFloats  # (n, b), what became of the random vectors: rich in whatever lies near the level or above it


def degree_needed(
    n: int,
    cut: float,
    level: float,
    failure_probability: float = FAILURE_PROBABILITY,
    width: int = TEST_WIDTH,
) -> int:
    """Degree at which `random_test` has passed, give or take one, if nothing lies above `cut`: about ``4 / sqrt(level/cut - 1)``.

    The Chebyshev polynomial of [0, c] reaches it for any spectrum there; one that is made for the spectrum at hand is through earlier.
    """
    growth = math.sqrt(max(n * width / chi_squared_quantile(failure_probability, width), 1.0))
    return math.ceil(math.acosh(growth) / math.acosh(2 * level / cut - 1))


def random_test(
    operator: RowOperator,
    deflated: AnyFloats,
    cut: float,
    level: float,
    rng: np.random.Generator,
    report: Progress,
    failure_probability: float = FAILURE_PROBABILITY,
    width: int = TEST_WIDTH,
) -> RandomTest:
    """Test whether the norm of A^T A outside a subspace is below `level`.

    For a fixed unit eigenvector w of M' with eigenvalue ``lambda >= level``, and G with `width` Gaussian columns drawn
    after V was fixed, ``||p(M') G||_F >= |p(lambda)| ||w^T G||`` for every polynomial p, and ``||w^T G||^2`` is chi-squared with
    `width` degrees of freedom. So if all zeros of p are below `level`, ``||p(M') G||_F^2 < x p(level)^2`` happens with probability
    ``P(chi2 <= x)`` at most, which is made to equal `failure_probability`; it is one event for all p, so p may depend on G. Taken
    are the polynomials that are orthonormal in the spectrum as G sees it (Lanczos with the inner product of Frobenius): of all of a
    degree they are as large at the level as can be, or nearly, for ``||p(M') G||_F = 1``. Nothing is assumed of the spectrum, not
    even that eigenvalues are simple; `cut` only decides how long to go on. Exact up to rounding in the products.

    `deflated` is V, n x l, orthonormal; the test runs in its precision. `cut` is c > 0, the largest eigenvalue outside as far as is known, and
    `level` is mu > c. `rng` must not have been used for V's start in a way that makes G depend on V.
    """
    n = operator.shape[1]
    # G, without its part in V: M' does not see that part, and rounding of it would only grow.
    start: AnyFloats = rng.standard_normal((n, width)).astype(deflated.dtype)
    subtract_product(start, deflated, inner(deflated, start))
    allowed = chi_squared_quantile(failure_probability, width)
    patience = 4 + math.ceil(_PATIENCE * degree_needed(n, cut, level, failure_probability, width))
    size = _frobenius(start)
    if not size:  # V spans the whole space
        return RandomTest(True, 0, start)
    # Values at the level of the polynomials of the last two degrees, and their blocks p(M') G, of norm 1.
    value, previous_value, coupling = 1 / size, 0.0, 0.0
    current, previous = start / size, np.zeros_like(start)
    grown = value * current
    # What rounding leaves of a block counts as so much, or else it would be taken for a polynomial that is huge at the level.
    least = _ROUNDING * float(np.finfo(deflated.dtype).eps) * level
    for degree in range(1, patience + 1):
        # One step of Lanczos: what M' makes of the block, without its parts along the last two blocks.
        image = _deflated_product(operator, deflated, current) - coupling * previous
        mean = float(np.vdot(current, image))
        image -= mean * current
        # The same three-term recurrence, for the numbers p(level) that belong to the blocks p(M') G.
        ahead = (level - mean) * value - coupling * previous_value
        coupling_ahead = max(_frobenius(image), least)
        # The polynomials' values are a sequence of Sturm: one that is not positive has a zero, so M' an eigenvalue, at the level or above.
        if ahead <= 0:
            break
        previous, current, coupling = current, image / coupling_ahead, coupling_ahead
        previous_value, value = value, ahead / coupling_ahead
        # The sum of p(level) p(M') G over all degrees is largest along eigenvectors near the level or above.
        grown += value * current
        # ||p(M') G||_F is 1, so this is ||p(M') G||_F^2 < x p(level)^2 turned round: the test has passed.
        if value**2 * allowed > 1:
            return RandomTest(True, degree, grown)
        report("checking that no singular value was missed", degree / patience)
    return RandomTest(False, degree, grown)


def _deflated_product(operator: RowOperator, deflated: AnyFloats, block: AnyFloats) -> AnyFloats:
    """Apply M' to a block that is orthogonal to what is deflated."""
    image = operator.gram(block)
    subtract_product(image, deflated, inner(deflated, image))
    return image


def _frobenius(block: AnyFloats) -> float:
    return math.sqrt(float(np.sum(np.square(block, dtype=np.float64))))


@cache
def chi_squared_quantile(probability: float, degrees: int) -> float:
    """Return what a chi-squared number is below with that probability."""
    return float(2 * gammaincinv(degrees / 2, probability))


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
    # All other rows are blocks of one number, which is positive or is not.
    coupled = np.zeros(len(blocks), dtype=bool)
    coupled[:-1] |= np.diag(blocks, -1) != 0
    coupled[1:] |= np.diag(blocks, -1) != 0
    return pairs + int(np.count_nonzero(np.diag(blocks)[~coupled] > 0))


def gram_matrix(operator: RowOperator, columns: int = 256) -> NDArray[np.float64]:
    """Return A^T A as a dense float64 array, a few columns at a time."""
    n = operator.shape[1]
    gram, identity = np.empty((n, n)), np.eye(n, min(n, columns))
    for start in range(0, n, columns):
        # The last block may be narrower.
        gram[:, start : start + columns] = operator.gram(np.ascontiguousarray(identity[:, : n - start]))
        identity = np.roll(identity, columns, axis=0)
    return (gram + gram.T) / 2


@dataclass(frozen=True, eq=False)
class _Step:
    """A block Z_j, what its product has along D, and how far rounding may have moved the product."""

    block: Floats
    along: Floats
    rounding: float


class CarriedTest:
    """The randomised test carried along: its vectors are multiplied in the passes of the solve, so that it takes none of its own.

    G is drawn while the space still grows, and nothing that finds V ever sees it; so V does not depend on G, as the test needs. But V is not
    known yet. So Chebyshev's recurrence is applied for ``H = S_D A^T A S_D`` with ``S_D = I - D D^T``, D a few Ritz vectors that are known by
    then: ``Z_j = T_j(H) S_D G``. In the end, with ``S = I - V V^T`` and ``E = A^T A V - V Theta``,

        ``S H Z_j = M' S Z_j + N_j,    N_j = E V^T Z_j - S D (D^T A^T A Z_j)``,

    all of which is known. For a unit eigenvector w of ``M' = S A^T A S`` with eigenvalue ``lambda = c (t + 1) / 2``, t > 1, this is a recurrence of
    numbers, whose solution is

        ``w^T S Z_q = T_q(t) w^T (I - D D^T) G + (2 / c) U_{q-1}(t) w^T N_0 + (4 / c) sum_{0<j<q} U_{q-1-j}(t) w^T N_j``.

    ``U_k / T_q`` falls with t where k < q. So if some lambda is at mu or above, ``||w^T G||`` is at most what `CarriedTest.largest_part` returns for mu, and
    ``||w^T G||^2`` is chi-squared: the test passes where that is so small that it happens once in 10^8 times. It is one event for all c and q, so
    both may be chosen afterwards: Chebyshev's polynomials of another interval are sums of those at hand.

    `known`, n x d, is D, what would grow fastest; `cut` is c > 0, about the largest eigenvalue that will be left outside V; G has `width` columns.
    """

    def __init__(
        self, operator: RowOperator, known: AnyFloats, cut: float, rng: np.random.Generator, width: int
    ) -> None:
        self.operator, self.cut = operator, cut
        self.known = known.astype(np.float64)
        orthonormalise(self.known)
        start = rng.standard_normal((operator.shape[1], width))
        self._start_along = self.known.T @ start
        self._next = start - self.known @ self._start_along
        self._steps: list[_Step] = []

    @property
    def degree(self) -> int:
        """How often the vectors were multiplied."""
        return len(self._steps)

    def gram(self, block: AnyFloats) -> AnyFloats:
        """Return ``A^T A block``, and multiply the vectors in the same pass."""
        count = block.shape[1]
        images = self.operator.gram(np.hstack([block, self._next.astype(block.dtype)]))
        self._advance(images[:, count:].astype(np.float64), float(np.finfo(block.dtype).eps))
        return np.ascontiguousarray(images[:, :count])

    def _advance(self, image: Floats, unit: float) -> None:
        current, size = self._next, np.linalg.norm(image) + self.cut * np.linalg.norm(self._next)
        along = self.known.T @ image
        # Rounding of a product goes with the sizes of the image and of what the recurrence subtracts from it.
        self._steps.append(_Step(current, along, _ROUNDING * unit * float(size)))
        # Chebyshev's recurrence on [0, c]: T_1(H) Z = (2 / c) H Z - Z, and T_{j+1} = 2 T_1 T_j - T_{j-1}.
        shifted = (2 / self.cut) * (image - self.known @ along) - current
        self._next = shifted if self.degree == 1 else 2 * shifted - self._steps[-2].block

    def largest_part(self, subspace: Subspace, cut: float, level: float) -> float:
        """Return how large ``||w^T G||`` is at most, for any eigenvector w outside V with an eigenvalue at the level or above.

        V is `subspace`, which was found without G; `cut` and `level` are c and mu, 0 < c < mu.
        """
        vectors = subspace.vectors
        coupled = subspace.images - vectors * subspace.squares  # E
        beyond = self.known - vectors @ (vectors.T @ self.known)  # S D
        inside = [vectors.T @ step.block for step in self._steps]  # V^T Z_j
        # N_j, and S Z_j with one block more: the last was made and not multiplied.
        coupled_steps = [
            coupled @ part - beyond @ step.along for part, step in zip(inside, self._steps, strict=True)
        ]
        outside_steps = [
            step.block - vectors @ part for part, step in zip(inside, self._steps, strict=True)
        ] + [self._next - vectors @ (vectors.T @ self._next)]
        # t = cosh(angle) for lambda = mu; then U_{k-1}(t) = sinh(k angle) / sinh(angle) and T_q(t) = cosh(q angle).
        # A step's c is that of the vectors it was made of, self.cut; the new polynomials end at this `cut`, called c' in _changed.
        angle, ratio = math.acosh(2 * level / cut - 1), cut / self.cut
        # (4 / c) ||N_j|| / sinh(angle), the first with 2 / c, and what rounding may have added to each.
        lost = [
            (
                np.linalg.norm(_mixed(coupled_steps, weights))
                + np.abs(weights) @ self._roundings[: weights.size]
            )
            * (4 if degree else 2)
            / (cut * math.sinh(angle))
            for degree, weights in enumerate(_changed(ratio, self.degree))
        ]
        # The solution of the recurrence, solved for ||w^T (I - D D^T) G||. Every degree q gives a bound: the least of them holds.
        least = math.inf
        for q, weights in enumerate(_changed(ratio, self.degree + 1)):
            steps = sum(math.sinh((q - j) * angle) * lost[j] for j in range(q))
            found = np.linalg.norm(_mixed(outside_steps, weights)) + steps
            least = min(least, float(found) / math.cosh(q * angle))
        # And w^T D D^T G, of which only the part of D outside V can lie along w.
        return least + float(np.linalg.norm(beyond @ self._start_along))

    @property
    def _roundings(self) -> Floats:
        return np.array([step.rounding for step in self._steps])


def _mixed(blocks: list[Floats], weights: Floats) -> Floats:
    return np.asarray(sum(weight * block for weight, block in zip(weights.tolist(), blocks, strict=False)))


def _changed(ratio: float, count: int) -> list[Floats]:
    """Return Chebyshev's polynomials of [0, c'] of so many degrees in terms of those of [0, c], lowest first; `ratio` is c' / c."""
    line = Chebyshev([1 / ratio - 1, 1 / ratio])  # t' = 2 x / c' - 1 = (t + 1) / ratio - 1
    return [np.asarray(Chebyshev.basis(degree)(line).coef, np.float64) for degree in range(count)]
