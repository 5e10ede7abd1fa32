"""The estimators that `Auto` chooses among, what a fit of each costs, which the time and memory allow, and which show what a source brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

from likewise._typing import Floats
from likewise.errors import InputError, option
from likewise.estimation.als.descent import FactorFit, bytes_of_fit
from likewise.estimation.als.solver import AlternatingLeastSquares, Regularization
from likewise.estimation.als.sources import checked_sources, sources_of_rows
from likewise.estimation.auto.mixture import Mixture
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.preparation import Centering, prepare
from likewise.estimation.biases import Biases
from likewise.estimation.nuclear_norm.soft_impute import largest_singular_value
from likewise.estimation.thresholding.svt import SVT
from likewise.memory import format_bytes
from likewise.observations import ObservedMatrix, PartitionedMatrix
from likewise.observations.value_range import WorkingRange

_SPEED = 2e9
"""Floating-point operations a second on a usual computer."""
_OVERHEAD = 0.02
"""Seconds that a fit takes however small the data are."""
_SWEEPS = 25
"""Of alternating least squares at full rank that cost as much as all of a fit, the last of which are of a smaller rank."""
_PASSES = 6
"""Over the observations in a sweep, for each pattern."""
_TOL, _NUCLEAR_TOL = 1e-4, 1e-3
"""Tolerance of alternating least squares: in nats an observation, and relative where lambda is given."""
_SVT_COLUMNS = 320
"""Columns that a Krylov space may have: where a hundred components or more rise above the edge of white noise, noise is not white."""
RANKS = (10, 20, 40, 80)
_SMALL_RANK = 5
NOISES = (0.9, 0.75, 0.6, 0.4, 0.3, 0.2, 0.1)
"""Shares of the variance. Where observations are few, the estimate of the noise takes weak components for it."""
_INFORMED_NOISE = 0.75
"""Where sources explain a part, the rest is taken for noise first."""
_NUCLEAR_RANKS = (10, 20)
_NUCLEAR_SHARES = (0.5, 0.35, 0.25, 0.18, 0.12)
"""Lambdas, of the largest singular value of what the biases leave: above it the estimate is the biases."""
_ROUNDING = 1e-8
"""Singular values up to here, on the method's working range, are rounding: biases alone explain what was observed."""


@dataclass(frozen=True)
class Settings:
    """What a candidate is made with.

    Parameters
    ----------
    working_range : {"symmetric", "unit"}
    seed : int
    stop : callable
        Whether the time is over: iterations then end with what they have.
    start : FactorFit, optional
        Of the same candidate on other observations of the same matrix, where its iterations begin.
    """

    working_range: WorkingRange
    seed: int
    stop: Callable[[], bool] = lambda: False
    start: FactorFit | None = None


@dataclass(frozen=True)
class Candidate:
    """An estimator that may be chosen."""

    name: str
    # From the observations that it is going to be fitted on.
    make: Callable[[Any, Settings], MatrixEstimator] = field(repr=False)
    # Of a fit, from m, n and the number of observations.
    operations: Callable[[int, int, int], float] = field(repr=False)
    rank: int = 0  # number of components that it is given; 0 where it finds it
    mixes: bool = False  # whether mixtures are made of it: its rows are regressions, so a mixture has a constant where it has
    parts: tuple[Candidate, ...] = ()  # what it is a mixture of

    def seconds(self, observed: ObservedMatrix | PartitionedMatrix) -> float:
        """Predict from the sizes alone, the same on every computer, how long a fit takes."""
        return _OVERHEAD + self.operations(*observed.shape, observed.n_observed) / _SPEED

    def bytes(self, observed: ObservedMatrix) -> float:
        """Predict how much memory a fit takes."""
        if not self.rank:
            return _svt_bytes(observed.shape)
        return bytes_of_fit(observed.shape, observed.n_observed, min(self.rank, *observed.shape))

    def kept_bytes(self, observed: ObservedMatrix) -> float:
        """Predict how much memory factors take that are kept, with what remains uncertain of them."""
        d = self.rank + 2
        return 4.0 * d * (d + 5) * sum(observed.shape)


Ladder = tuple[Candidate, ...]
"""Candidates of one kind from simple to complex, climbed as long as that helps."""

Grid = tuple[Ladder, ...]
"""Candidates by rank, and within a rank from strong to weak regularisation."""


def _svt(name: str, centering: Centering = "none", propensities: str | None = None) -> Candidate:
    def make(observed: ObservedMatrix, settings: Settings) -> MatrixEstimator:
        return SVT(
            "noise-edge",
            "optimal-frobenius",
            centering=centering,
            propensities=propensities,
            working_range=settings.working_range,
            random_state=settings.seed,
        ).bounded(_svt_bytes(observed.shape))

    # A block of some 50 vectors of the short side meets the observations some 10 times, and is made orthonormal as often.
    return Candidate(name, make, lambda m, n, observed: 2e3 * observed + 1e5 * min(m, n))


def _svt_bytes(shape: tuple[int, int]) -> float:
    """A Krylov space of so many columns, and the dense matrices that take its place where a side is short."""
    return 16 * _SVT_COLUMNS * min(shape) + 24 * _SVT_COLUMNS**2 + (16 << 20)


def _factors(
    name: str,
    rank: int,
    tol: float,
    regularization: Callable[[ObservedMatrix, Settings], Regularization],
    noise: float | None,
    sources: tuple[str, ...] = (),
) -> Candidate:
    def make(observed: ObservedMatrix, settings: Settings) -> MatrixEstimator:
        return AlternatingLeastSquares(
            rank,
            regularization(observed, settings),
            noise,
            tol=tol,
            sources=sources or "none",
            working_range=settings.working_range,
            random_state=settings.seed,
        ).continuing(settings.start, settings.stop)

    d = rank + 1
    # In a sweep each observation adds to a Gram matrix on both sides, and is passed over for each pattern; each row and column has a matrix to invert.
    passes = _PASSES * sum(source.endswith("pattern") for source in sources)
    return Candidate(
        name,
        make,
        lambda m, n, observed: (
            _SWEEPS * (2.0 * observed * d * (d + 5 + passes) + 3.0 * (m + n) * d**2 * (d + 10))
        ),
        rank,
        mixes=True,
    )


def _least_squares(rank: int, noise: float | None = None, sources: tuple[str, ...] = ()) -> Candidate:
    name = f"least squares, rank {rank}" + ("" if noise is None else f", noise {noise:g}")
    name += f", with {' and '.join(sources)}" if sources else ""
    return _factors(name, rank, _TOL, lambda *_: "estimated", noise, sources)


def informed(sources: tuple[str, ...]) -> tuple[Grid, int]:
    """Return least squares that are regressed on sources too, and the place in the lowest rank where the climb begins."""
    grid = tuple(tuple(_least_squares(rank, noise, sources) for noise in NOISES) for rank in RANKS)
    return grid, NOISES.index(_INFORMED_NOISE)


def _nuclear(rank: int, share: float) -> Candidate:
    def regularization(observed: ObservedMatrix, settings: Settings) -> float:
        largest = largest_singular_value(prepare(observed, settings.working_range, "biases").matrix)
        return share * (largest if largest > _ROUNDING else 1.0)

    return _factors(f"nuclear norm, rank {rank}, {share:g} sigma_1", rank, _NUCLEAR_TOL, regularization, None)


BIASES = Candidate(
    "biases",
    lambda _, settings: Biases(working_range=settings.working_range, random_state=settings.seed),
    lambda m, n, observed: 500.0 * observed + 100.0 * (m + n),
    mixes=True,
)
"""The baseline: tried always, taken where nothing is better."""


def mixture(parts: Sequence[Candidate], weights: Floats) -> Candidate:
    """Return the mixture of some candidates as a candidate, which costs what they cost."""
    terms = [f"{w:.2f} x {part.name}" for w, part in zip(weights, parts, strict=True)]

    def make(observed: ObservedMatrix, settings: Settings) -> MatrixEstimator:
        made = [part.make(observed, settings) for part in parts]
        return Mixture(
            made, weights.tolist(), working_range=settings.working_range, random_state=settings.seed
        )

    return Candidate(
        " + ".join(terms),
        make,
        lambda *sizes: sum(part.operations(*sizes) for part in parts),
        parts=tuple(parts),
    )


FIRST: tuple[tuple[Grid, int], ...] = (
    ((tuple(_least_squares(_SMALL_RANK, noise) for noise in NOISES),), NOISES.index(0.6)),
)
"""The cheapest factors, climbed before the ladders.

In a wide, sparse matrix most of the time goes into a small matrix for each row and column, and so grows with the cube of the rank. Of 40,000 x 140,000
with 620,000 observations the plan has room for rank 10 once. Its estimated noise takes every weak component for noise, and nothing would be better than
biases, though rank 5 with a given noise is. Elsewhere these few fits cost little beside the rest, and the rest is tried as without them.
"""
LADDERS: tuple[Ladder, ...] = (
    (_svt("svt"),),
    (_svt("svt, biases", "biases"),),
    (_svt("svt, biases, propensities", "biases", "degrees"),),
    tuple(_least_squares(rank) for rank in RANKS),
)
GRIDS: tuple[tuple[Grid, int], ...] = (
    (tuple(tuple(_least_squares(rank, noise) for noise in NOISES) for rank in RANKS), NOISES.index(0.6)),
    (tuple(tuple(_nuclear(rank, share) for share in _NUCLEAR_SHARES) for rank in _NUCLEAR_RANKS), 1),
)
"""Each with the place in its lowest rank where the climb begins."""


def within(ladder: Ladder, shape: tuple[int, int]) -> Ladder:
    """Leave out candidates that differ from the one before only by components that a matrix of this shape cannot have."""
    return tuple(candidate for candidate in ladder if candidate.rank <= max(RANKS[0], 2 * min(shape) - 1))


_MEMORY = 2.0**30
"""Bytes that a fit may take."""
_GOES_ON = 0.4
"""Share of the time of a fit that it takes where it goes on from a trial."""


@dataclass
class Plan:
    """What may be tried, by predicted seconds; what has passed of the real ones, of which there may be so many more."""

    seconds: float
    more: float = 0.0
    planned: float = 0.0
    reserved: float = 0.0
    began: float = field(default_factory=process_time)

    def over(self) -> bool:
        """Whether this process has computed for as long as it may."""
        return process_time() - self.began > self.seconds + self.more

    def refuses(self, trials: float, final: float, n_bytes: float = 0.0) -> str:
        """Return why a candidate is not tried; empty where it is."""
        if n_bytes > _MEMORY:
            return f"not tried: needs {format_bytes(n_bytes)}, more than {format_bytes(_MEMORY)}"
        if self.over():
            return f"not tried: the {self.seconds:g} s of computing were over"
        # Only one candidate is fitted again on everything: the dearest of those tried has to fit in.
        needed = trials + max(final, self.reserved)
        if self.planned + needed > self.seconds:
            return f"not tried: needs {needed:.2g} s more than the {self.planned:.2g} of {self.seconds:g} s that are planned"
        return ""

    def spend(self, trials: float, final: float) -> None:
        """Plan a candidate that is tried and may be fitted again on everything."""
        self.planned += trials
        self.reserved = max(self.reserved, final)


def final_seconds(candidate: Candidate, observed: ObservedMatrix) -> float:
    """Predict how long the last fit takes, which goes on from a trial."""
    return candidate.seconds(observed) * (_GOES_ON if candidate.rank else 1.0)


ALL = "all together"
"""What the fit with every source is called where there are several."""


def sources_within(sources: Any, observed: ObservedMatrix, max_lipschitz: float | None) -> tuple[str, ...]:
    """Return the names of the sources that may be tried; those of the columns alone where a constant of the rows is to be kept to.

    `sources` as in `AlternatingLeastSquares`. Raises `InputError` for an unknown name, features that the observations do not have, or rows that were asked
    to be regressed beside a limit.
    """
    names = checked_sources(sources, observed)
    if max_lipschitz is None:
        return names
    of_rows = sources_of_rows(names)
    if of_rows and sources is not None:
        raise InputError(
            f"{option('max_lipschitz', str(max_lipschitz))} for rows that are regressed on {' and '.join(of_rows)}",
            "rows that depend on their values alone",
            f"{option('sources', repr('none'))}, or sources of the columns",
        )
    return tuple(name for name in names if name not in of_rows)


def without_rows(sources: Any, observed: ObservedMatrix, max_lipschitz: float | None) -> tuple[str, ...]:
    """Say which sources a limit leaves out; nothing where there are none such."""
    kept = sources_within(sources, observed, max_lipschitz)
    left = [name for name in checked_sources(sources, observed) if name not in kept]
    why = "no constant holds for rows that are regressed on them"
    return (f"{' and '.join(left)} left out, as {why}",) if left else ()


def ablation(sources: tuple[str, ...]) -> dict[str, Candidate]:
    """Return least squares of the lowest rank without sources, with each alone, and with all, under the names of what they use.

    >>> list(ablation(("row-features", "column-pattern")))
    ['nothing', 'row-features', 'column-pattern', 'all together']
    """
    used = {"nothing": (), **{name: (name,) for name in sources}}
    if len(sources) > 1:
        used[ALL] = sources
    return {name: _least_squares(RANKS[0], _INFORMED_NOISE, names) for name, names in used.items()}


def told(base: float, changes: Mapping[str, float]) -> Sequence[str]:
    """Say what each source brought, in one sentence; nothing where there is nothing to compare.

    `base` is the held-out error without sources, in the unit of the data; `changes` by how much the error is larger with each source, on the
    observations that both were measured on.

    >>> told(0.9, {"row-features": -0.05})
    ['what each source brought to a held-out error of 0.9000 without any: row-features -0.0500']
    """
    parts = [f"{name} {change:+.4f}" for name, change in changes.items()]
    said = f"what each source brought to a held-out error of {base:.4f} without any: {', '.join(parts)}"
    return [said] if parts else []
