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
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Chebyshev

from likewise._typing import AnyFloats, Floats
from likewise.spectrum.operators import RowOperator
from likewise.spectrum.orthonormal import Subspace, orthonormalise

_ROUNDING = 8.0
"""Units in the last place that a product may be off by."""


@dataclass(frozen=True, eq=False)
class _Step:
    """A block Z_j, what its product has along D, and how far rounding may have moved the product."""

    block: Floats
    along: Floats
    rounding: float


class CarriedTest:
    """Random vectors that are multiplied together with whatever else is.

    Parameters
    ----------
    operator : RowOperator
    known : ndarray, shape (n, d)
        D, what would grow fastest.
    cut : float
        c > 0: about the largest eigenvalue that will be left outside V.
    rng : Generator
    width : int
        Of G.
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
        self._steps.append(_Step(current, along, _ROUNDING * unit * float(size)))
        shifted = (2 / self.cut) * (image - self.known @ along) - current
        self._next = shifted if self.degree == 1 else 2 * shifted - self._steps[-2].block

    def largest_part(self, subspace: Subspace, cut: float, level: float) -> float:
        """Return how large ``||w^T G||`` is at most, for any eigenvector w outside V with an eigenvalue at the level or above.

        Parameters
        ----------
        subspace : Subspace
            V, which was found without G.
        cut, level : float
            c and mu, 0 < c < mu.
        """
        vectors = subspace.vectors
        coupled = subspace.images - vectors * subspace.squares
        beyond = self.known - vectors @ (vectors.T @ self.known)
        inside = [vectors.T @ step.block for step in self._steps]
        left = [coupled @ part - beyond @ step.along for part, step in zip(inside, self._steps, strict=True)]
        outside = [step.block - vectors @ part for part, step in zip(inside, self._steps, strict=True)] + [
            self._next - vectors @ (vectors.T @ self._next)
        ]
        angle, ratio = math.acosh(2 * level / cut - 1), cut / self.cut
        # U_{k-1}(cosh a) = sinh(k a) / sinh(a), T_q(cosh a) = cosh(q a)
        lost = [
            (np.linalg.norm(_mixed(left, weights)) + np.abs(weights) @ self._roundings[: weights.size])
            * (4 if degree else 2)
            / (cut * math.sinh(angle))
            for degree, weights in enumerate(_changed(ratio, self.degree))
        ]
        least = math.inf
        for q, weights in enumerate(_changed(ratio, self.degree + 1)):
            steps = sum(math.sinh((q - j) * angle) * lost[j] for j in range(q))
            found = np.linalg.norm(_mixed(outside, weights)) + steps
            least = min(least, float(found) / math.cosh(q * angle))
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
