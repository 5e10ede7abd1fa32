"""What a threshold rule may know of the observations: a few numbers and, for rules that need more, the matrix itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, log, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.errors import ThresholdError
from likewise.estimation.base.preparation import Recentred
from likewise.spectrum import RowOperator


@dataclass(frozen=True)
class ObservationStatistics:
    """What a threshold rule may use. Most rules need the numbers only.

    Parameters
    ----------
    n_individuals, n_features : int
        m and n.
    observed_fraction : float
        ``p_hat = |Omega| / (m n)``.
    mean_square : float
        Mean over all m n entries of the squared value, missing entries as 0, on the method's working range.
    matrix : csr_array of shape (m, n), or None, default None
        The zero-filled observations themselves, times their weights.
    weights : ndarray, shape (n_observed,), or None, default None
        Inverse propensities of the observations, times the observed fraction; all 1 where None.
    recentred : callable or None, default None
        From which observations are hidden, boolean of shape (n_observed,), to `Recentred`. None where nothing was subtracted and nothing will be clipped.
    operator : RowOperator or None, default None
        Products with the observations where they are in blocks, and there is no matrix.

    Examples
    --------
    >>> from scipy import sparse
    >>> ObservationStatistics.of(sparse.csr_array([[1.0, 0.5], [0.0, 0.0]]))
    ObservationStatistics(n_individuals=2, n_features=2, observed_fraction=0.5, mean_square=0.3125)
    """

    n_individuals: int
    n_features: int
    observed_fraction: float
    mean_square: float
    matrix: sparse.csr_array | None = field(default=None, repr=False, compare=False)
    weights: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    recentred: Callable[[NDArray[np.bool_]], Recentred] | None = field(
        default=None, repr=False, compare=False
    )
    operator: RowOperator | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        zero_filled: sparse.csr_array,
        weights: NDArray[np.float64] | None = None,
        recentred: Callable[[NDArray[np.bool_]], Recentred] | None = None,
    ) -> ObservationStatistics:
        """Collect the numbers from observations on the method's working range (stored means observed), times their weights."""
        m, n = zero_filled.shape
        energy = float(np.dot(zero_filled.data, zero_filled.data))
        return cls(m, n, zero_filled.nnz / (m * n), energy / (m * n), zero_filled, weights, recentred)

    @classmethod
    def of_blocks(cls, operator: RowOperator, observed_fraction: float) -> ObservationStatistics:
        """Collect the numbers from observations in blocks, whose energy is known."""
        m, n = operator.shape
        assert operator.energy is not None
        return cls(m, n, observed_fraction, operator.energy / (m * n), operator=operator)

    @property
    def longer_side(self) -> int:
        """``rho_1 = max(m, n)``."""
        return max(self.n_individuals, self.n_features)

    @property
    def shorter_side(self) -> int:
        """``rho_2 = min(m, n)``."""
        return min(self.n_individuals, self.n_features)

    @property
    def aspect(self) -> float:
        """``beta = rho_2 / rho_1``, in (0, 1]."""
        return self.shorter_side / self.longer_side

    @property
    def density_exponent(self) -> float:
        """The largest eps with ``p_hat >= rho_1^(eps - 1)``: ``1 + log(p_hat) / log(rho_1)``; Proposition 4.4 needs one above 0.

        Examples
        --------
        >>> round(ObservationStatistics(10, 100, 0.1, 0.1).density_exponent, 12)  # 0.1 = 100^(0.5 - 1)
        0.5
        """
        return density_exponent(self.observed_fraction, self.longer_side)

    @property
    def energy(self) -> float:
        """Squared Frobenius norm of the zero-filled observations."""
        return self.mean_square * self.n_individuals * self.n_features

    def noise_fraction(self, variance: float) -> float:
        """``q_hat = p s2 + p (1 - p) (1 - s2)`` for entries of variance at most s2 <= 1 (Section 4.1)."""
        p = self.observed_fraction
        return p * variance + p * (1 - p) * (1 - variance)

    def noise_edge(self, variance: float) -> float:
        """``(sqrt(m) + sqrt(n)) sqrt(v)``: where the singular values of noise of variance v end (Bai and Yin 1993)."""
        return (sqrt(self.n_individuals) + sqrt(self.n_features)) * sqrt(variance)

    def remaining_variance(self, kept: NDArray[np.float64]) -> float:
        """Mean square of what the components with these singular values leave, per free dimension.

        k components of an m x n matrix have ``k (m + n - k)`` parameters, so ``(m - k)(n - k)`` dimensions are left.
        """
        free = (self.n_individuals - kept.size) * (self.n_features - kept.size)
        return max(self.energy - float(np.dot(kept, kept)), 0.0) / free if free else 0.0

    def require_products(self, rule: str) -> sparse.csr_array | RowOperator:
        """Return what has products with the observations, in memory or in blocks."""
        return self.require_matrix(rule) if self.operator is None else self.operator

    def require_matrix(self, rule: str) -> sparse.csr_array:
        """Return the observations, or say that this rule cannot do without them."""
        if self.operator is not None:
            raise ThresholdError(
                f"{rule} for observations in blocks",
                "a rule that needs numbers or products alone, such as noise-edge, noise-edge-residual or universal",
            )
        if self.matrix is None:
            raise ThresholdError(
                f"{rule} from numbers alone", "the observations too, as ObservationStatistics.of() takes them"
            )
        return self.matrix

    def without(self, hidden: NDArray[np.bool_]) -> Recentred:
        """Return all observations less a centre that knows nothing of the hidden ones."""
        matrix = self.require_matrix("hiding observations")
        return Recentred(matrix, np.zeros(matrix.nnz)) if self.recentred is None else self.recentred(hidden)


def density_exponent(observed_fraction: float, longer_side: int) -> float:
    """Return the largest eps with ``p >= rho_1^(eps - 1)``; infinite where everything is observed of a single row and column."""
    if observed_fraction == 1:
        return 1.0 if longer_side > 1 else inf
    return 1 + log(observed_fraction) / log(longer_side)


class ThresholdRule(ABC):
    """Where noise ends: from what is known of the observations to tau.

    A plain function of `ObservationStatistics` is taken for a rule too; it may carry `assumes_white_noise` as an attribute.
    """

    assumes_white_noise: ClassVar[bool] = False
    """Whether noise is taken to have one variance and no correlation. Where that does not hold, a note says so."""
    needs_density: ClassVar[bool] = False
    """Whether what is proved of it needs ``p >= rho_1^(eps - 1)`` for some eps > 0. Where that fails, a note says so."""
    is_adaptive: ClassVar[bool] = False
    """Whether it tries what it chooses on hidden observations, so that nobody is advised to let that be tried."""

    @abstractmethod
    def __call__(self, statistics: ObservationStatistics) -> float:
        """Return tau >= 0, on the method's working range."""

    def notes(self, statistics: ObservationStatistics, threshold: float) -> tuple[str, ...]:  # noqa: ARG002
        """What the reader should know of the threshold that was found; most rules have nothing to say."""
        return ()

    @property
    def when_nothing_is_kept(self) -> str:
        """What to say where no singular value exceeds the threshold."""
        return "data may be too scarce for this threshold"

    def trying(self, shrinker: ShrinkerChoice) -> ThresholdRule:  # noqa: ARG002
        """Return the rule that knows what becomes of the kept singular values; most rules do not ask."""
        return self


ThresholdChoice = float | str | ThresholdRule | Callable[[ObservationStatistics], float]
"""A number, a name of `THRESHOLDS`, a rule, or a function of `ObservationStatistics`."""

Shrinker = Callable[[Floats], Floats]
"""psi: an array of singular values to an array of the same shape."""


@dataclass(frozen=True, eq=False)
class KeptSpectrum:
    """The singular values that were kept, and where they come from.

    Parameters
    ----------
    statistics : ObservationStatistics
    threshold : float
        ``tau``.
    values : ndarray, shape (k,)
        The singular values above it, decreasing.
    """

    statistics: ObservationStatistics
    threshold: float
    values: Floats

    @property
    def residual_variance(self) -> float:
        """Mean square of what the kept components leave: an estimate of the noise that costs nothing more."""
        return self.statistics.remaining_variance(self.values)


class ShrinkerRule(ABC):
    """A shrinker that depends on more than the singular value; a plain function of it needs no rule."""

    assumes_white_noise: ClassVar[bool] = False
    """As in `ThresholdRule`."""

    @abstractmethod
    def psi(self, kept: KeptSpectrum) -> Shrinker:
        """Return the function psi for these data."""


ShrinkerChoice = str | ShrinkerRule | Shrinker
"""A name of `SHRINKERS`, a rule, or psi itself."""
