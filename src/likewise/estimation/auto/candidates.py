"""The estimators that `Auto` chooses among: short ladders of candidates, each with what it costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from likewise.estimation.als.transformer import AlternatingLeastSquares
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.preparation import Centering, prepare
from likewise.estimation.biases import Biases
from likewise.estimation.nuclear_norm.soft_impute import largest_singular_value
from likewise.estimation.thresholding.svt import SVT
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import WorkingRange

_SPEED = 2e9
"""Floating-point operations a second on a usual computer."""
_OVERHEAD = 0.01
"""Seconds that a fit takes however small the data are."""
_SWEEPS = 25
"""Of alternating least squares until it has settled."""
_TRIED_TO, _KEPT_AT = 1e-3, 1e-4
"""Tolerance of alternating least squares where it is tried, and where it is kept."""
_RANKS = (10, 20, 40, 80)
_GIVEN_NOISE_RANKS = (10, 20)
_GIVEN_NOISE = (0.6, 0.4, 0.3, 0.2, 0.1)
"""Shares of the variance. Where observations are few, the estimate of the noise takes weak components for it."""
_NUCLEAR_RANKS = (10, 20)
_NUCLEAR_SHARES = (0.35, 0.25, 0.18, 0.12)
"""Lambdas, of the largest singular value of what the biases leave: above it the estimate is the biases."""

_ROUNDING = 1e-8
"""Singular values up to here, on the method's working range, are rounding: biases alone explain what was observed."""


@dataclass(frozen=True)
class Settings:
    """What all candidates are made with.

    Parameters
    ----------
    working_range : {"symmetric", "unit"}
    seed : int
    trial : bool
        Whether the fit is to be compared or to be kept.
    """

    working_range: WorkingRange
    seed: int
    trial: bool = True


@dataclass(frozen=True)
class Candidate:
    """An estimator that may be chosen.

    Parameters
    ----------
    name : str
    make : callable
        Takes the observations that it is going to be fitted on, and `Settings`.
    operations : callable
        Takes m, n and the number of observations.
    rank : int
        Number of components that it is given; 0 where it finds it.
    switches_off : bool
        Whether a fit leaves out those of them that it does not need.
    """

    name: str
    make: Callable[[ObservedMatrix, Settings], MatrixEstimator] = field(repr=False)
    operations: Callable[[int, int, int], float] = field(repr=False)
    rank: int = 0
    switches_off: bool = False

    @property
    def kind(self) -> str:
        """What its name begins with: candidates of one kind differ by how much they keep."""
        return self.name.partition(", rank")[0]

    def seconds(self, observed: ObservedMatrix) -> float:
        """Predict from the sizes alone, the same on every computer, how long a fit takes."""
        return _OVERHEAD + self.operations(*observed.shape, observed.n_observed) / _SPEED

    def exhausts(self, fitted: MatrixEstimator) -> bool:
        """Whether a fit uses all components that it was given, so that more may help."""
        return not self.switches_off or fitted.rank_ >= self.rank


Ladder = tuple[Candidate, ...]
"""Recipes of one kind from simple to complex, climbed as long as that helps."""


def _svt(name: str, centering: Centering = "none", propensities: str | None = None) -> Candidate:
    def make(_: ObservedMatrix, settings: Settings) -> MatrixEstimator:
        return SVT(
            shrinker="optimal-frobenius",
            centering=centering,
            propensities=propensities,
            working_range=settings.working_range,
            random_state=settings.seed,
        )

    # A block of some 50 vectors meets the observations some 10 times, and is made orthonormal as often.
    return Candidate(name, make, lambda m, n, observed: 2e3 * observed + 5e4 * (m + n))


def _least_squares(rank: int, noise: float | None = None) -> Candidate:
    def make(_: ObservedMatrix, settings: Settings) -> MatrixEstimator:
        return AlternatingLeastSquares(
            rank,
            noise=noise,
            tol=_TRIED_TO if settings.trial else _KEPT_AT,
            working_range=settings.working_range,
            random_state=settings.seed,
        )

    name, estimated = f"least squares, rank {rank}", noise is None
    return Candidate(
        name if estimated else f"{name}, noise {noise:g}", make, _sweeps(rank), rank, switches_off=estimated
    )


def _nuclear(rank: int, share: float) -> Candidate:
    def make(observed: ObservedMatrix, settings: Settings) -> MatrixEstimator:
        largest = largest_singular_value(prepare(observed, settings.working_range, "biases").matrix)
        unit = largest if largest > _ROUNDING else 1.0
        return AlternatingLeastSquares(
            rank,
            regularization=share * unit,
            tol=_TRIED_TO,
            working_range=settings.working_range,
            random_state=settings.seed,
        )

    return Candidate(f"nuclear norm, rank {rank}, {share:g} sigma_1", make, _sweeps(rank), rank)


def _sweeps(rank: int) -> Callable[[int, int, int], float]:
    d = rank + 1
    # Gram matrices from both sides, and an inverse for each row and column.
    return lambda m, n, observed: _SWEEPS * (2.0 * observed * d * (d + 1) + 4.0 * (m + n) * d**3)


BIASES = Candidate(
    "biases",
    lambda _, settings: Biases(working_range=settings.working_range, random_state=settings.seed),
    lambda m, n, observed: 500.0 * observed + 100.0 * (m + n),
)
"""The baseline: tried always, taken where nothing is better."""

LADDERS: tuple[Ladder, ...] = (
    (_svt("svt"),),
    (_svt("svt, biases", "biases"),),
    (_svt("svt, biases, propensities", "biases", "degrees"),),
    tuple(_least_squares(rank) for rank in _RANKS),
    *(tuple(_least_squares(rank, noise) for noise in _GIVEN_NOISE) for rank in _GIVEN_NOISE_RANKS),
    *(tuple(_nuclear(rank, share) for share in _NUCLEAR_SHARES) for rank in _NUCLEAR_RANKS),
)
"""From those with a provable constant to those without, from the smoother to the rougher: among equals the first is taken."""


def ladders_for(shape: tuple[int, int]) -> tuple[Ladder, ...]:
    """Leave out candidates that differ from the one before only by components that a matrix of this shape cannot have."""
    return tuple(
        tuple(candidate for candidate in ladder if candidate.rank <= max(_RANKS[0], 2 * min(shape) - 1))
        for ladder in LADDERS
    )
