"""Sweeps under priors that are estimated in between: variational Bayes, heated once to leave a poor minimum, idle components dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from likewise._typing import Floats, Mask
from likewise.estimation.als.descent import Descent, FactorFit, Limits, Sides, State
from likewise.estimation.als.sources import STRENGTH, SideSources, regress_on_sources
from likewise.estimation.base.factor_update import Factors, Prior
from likewise.estimation.base.prior_mean import PriorMean

_HELD = 5
"""Sweeps for which the priors are held, so that the factors find the signal before the priors are judged by them."""
_FIRST_NOISE = 0.5
"""Share of the variance of the observations that is taken for noise meanwhile, unless it is given."""
_HEAT, _HOT_SWEEPS = 1.5, 6
"""Where the energy has settled, the noise is taken for so many times what it is estimated to be, for so many sweeps."""
_LEAST_NOISE = 1e-10
"""Share of the variance of the observations: where they fit exactly, an estimate of the noise below it would be rounding."""
_FADING = 1e-3
"""Nats an observation: where a sweep lowers the energy by less, what goes on is mostly that components fade that nothing needs."""
_IDLE = 1e-3
"""Nats an observation by which the energy falls for each component that is left out, where it is. Of many observations of everybody a weak
component is still of use, which its energy tells only once it has settled; of few, one that is idle costs more."""
_NO_USE = 1e-3
"""A component with less than this share of the variance of the noise is dropped: 0.05% of the error at most."""
_PSEUDO = 1e-3
"""Weight of the first prior, in vectors, where a prior is estimated: it keeps a component that nothing needs from vanishing."""


class EstimatedDescent(Descent):
    """Sweeps under priors that are estimated in between.

    The free energy has several minima. In one that is often met on sparse ratings, components that fit noise make the noise look small,
    and a small noise keeps them alive. So factors that have settled are *heated* once: for a few sweeps the noise is taken to be larger
    than it is estimated to be, which such components do not outlive; then it is free again. What comes of it is kept where its energy is lower.
    Components that nothing needs fade over dozens of sweeps; so once they fade slowly, the weaker half is left out as long as that lowers the energy enough.
    """

    def __init__(self, sides: Sides, limits: Limits, rank: int, noise: float | None) -> None:
        self.noise, self.may_thin = None if noise is None else noise * sides.variance, True
        # Two sides of this variance make products of the variance that is observed.
        coordinates = np.full(rank, (sides.variance / max(rank, 1)) ** 0.5)
        self.first = np.diag([*coordinates, sides.variance])
        first_noise = _FIRST_NOISE * sides.variance if self.noise is None else self.noise
        super().__init__(sides, limits, Prior(np.linalg.inv(self.first), first_noise, uncertain=True))

    def run(self, rng: np.random.Generator, start: FactorFit | None) -> FactorFit:
        """Sweep until the energy has settled; heat, and sweep again."""
        state = self._begun(rng, start)
        while start is None and self.n_sweeps < _HELD and not self._over:
            state = self._swept(state)
            self.objectives.append(state.objective)
        self.may_thin = start is None and self.noise is None and self.sides.sources.is_empty
        # From infinity, so that the first sweep under priors that follow the factors is never taken for the last.
        state, converged = self._settled(replace(state, objective=inf))
        if converged and self.may_thin:
            state = self._heated(state)
        return self._fit(state, converged)

    def _settled(self, state: State, tol: float = 0.0) -> tuple[State, bool]:
        """Sweep until the energy has settled; on the way, once components that nothing needs fade slowly, leave them out."""
        # Energies with sources leave out a constant that depends on the rank, so that those of other ranks cannot be compared.
        if self.may_thin:
            state, fading = super()._settled(state, _FADING)
            if not fading:
                return state, False
            state = self._thinned(state)
        return super()._settled(state, tol)

    def _thinned(self, state: State) -> State:
        """Leave out the weaker half of the components as long as that lowers the energy at once: to fade they would take many sweeps."""
        while (rank := state.row_prior.precision.shape[0] - 1) and not self._over:
            thinner = self._swept(_of_rank(state, rank // 2))
            gain = (state.objective - thinner.objective) / self._n_observations
            if not gain > _IDLE * (rank - rank // 2):
                break
            state = thinner
            self.objectives.append(state.objective)
        return state

    def _heated(self, state: State) -> State:
        """Return what settles after a few sweeps with much noise, where its energy is lower; else the state itself."""
        so_far, hot = len(self.objectives), state
        for _ in range(_HOT_SWEEPS):
            if self._over or hot.row_prior.precision.size == 1:
                return state
            hot = self._swept(self._with_new_priors(hot, _HEAT))
        cooled, converged = self._settled(replace(hot, objective=inf))
        better = converged and cooled.objective < state.objective
        # The record of objectives never increases: of the sweeps with more noise, only those with a lower energy than before are kept.
        self.objectives[so_far:] = [
            energy for energy in self.objectives[so_far:] if better and energy < state.objective
        ]
        return cooled if better else state

    def _with_new_priors(self, state: State, heat: float = 1.0) -> State:
        """Take the priors that make the factors and observations most likely, and leave out components that are of no use."""
        noise = self.noise
        if noise is None:
            least = _LEAST_NOISE * self.sides.variance
            # The noise that makes the observations most likely is the mean of their squared residuals, the uncertainty of the factors included.
            noise = max(heat * self._misfit(state) / self._n_observations, least)
        sides, sources = self.sides, self.sides.sources
        found = self._likeliest(
            state.rows.factors, sides.row_counts, noise, sources.rows, state.row_prior, state.row_mean
        )
        others = self._likeliest(
            state.columns.factors,
            sides.column_counts,
            noise,
            sources.columns,
            state.column_prior,
            state.column_mean,
        )
        after = replace(
            state, row_prior=found[0], column_prior=others[0], row_mean=found[1], column_mean=others[1]
        )
        return _without_idle(after)

    def _likeliest(
        self,
        factors: Factors,
        counts: NDArray[np.integer],
        noise: float,
        sources: SideSources | None,
        before: Prior,
        mean: PriorMean | None,
    ) -> tuple[Prior, PriorMean | None]:
        """The covariance that makes the vectors of those of which something is observed most likely, and means that follow from sources."""
        seen, d, means = counts > 0, factors.width, None
        if sources is None:
            total = factors.total_moment(seen)
        else:
            mean = mean or sources.none_yet(d)
            mean = replace(
                mean,
                weights=regress_on_sources(
                    sources.regressors, factors.means, seen, before.precision, mean.weights
                ),
            )
            means = sources.regressors.product(mean.weights)
            total = factors.moment_about(means, seen) + STRENGTH * mean.weights.T @ mean.weights
        # Likeliest is the mean of the second moments about the means; the first prior counts as a thousandth of a vector.
        total = total + _PSEUDO * self._first(d)
        return Prior(np.linalg.inv(total / (seen.sum() + _PSEUDO)), noise, uncertain=True, means=means), mean

    def _first(self, d: int) -> Floats:
        """Covariance of the first prior, of as many components as are left."""
        kept = [*range(d - 1), -1]
        return self.first[np.ix_(kept, kept)]

    def _objective(self, state: State) -> float:
        noise = state.row_prior.noise
        # Free energy: minus the expected log-likelihood, the divergence of the vectors of both sides from their priors (which `penalty` is),
        # and what the priors and the weights of sources cost.
        fit = self._n_observations * np.log(2 * np.pi * noise) + self._misfit(state) / noise
        beliefs = sum(self._belief(prior) for prior in (state.row_prior, state.column_prior))
        beliefs += _tie(state.row_prior, state.row_mean) + _tie(state.column_prior, state.column_mean)
        return float(fit / 2) + state.rows.penalty + state.columns.penalty + beliefs

    def _belief(self, prior: Prior) -> float:
        """What the pseudo-observations of the first prior cost: nothing where the prior is that one still."""
        # The divergence of normal distributions, 0 where they are equal, times the weight of the first.
        against_first = prior.precision @ self._first(prior.precision.shape[0])
        return (
            _PSEUDO
            / 2
            * float(np.trace(against_first) - len(against_first) - np.linalg.slogdet(against_first)[1])
        )

    def _size(self, objective: float) -> float:  # noqa: ARG002
        """Nats an observation."""
        return self._n_observations

    @property
    def _n_observations(self) -> float:
        return self.sides.weight


def _tie(prior: Prior, mean: PriorMean | None) -> float:
    """What the weights of the sources cost: half of ``STRENGTH tr(P W^T W)``."""
    return (
        0.0 if mean is None else STRENGTH / 2 * float(np.sum((mean.weights @ prior.precision) * mean.weights))
    )


def _without_idle(state: State) -> State:
    """Drop components whose variance in an entry is next to nothing beside the noise, so that later sweeps cost less."""
    return _reduced(state, lambda variances: variances > _NO_USE * state.row_prior.noise)


def _of_rank(state: State, rank: int) -> State:
    """Keep so many components, those that bring the largest variances into an entry."""
    return _reduced(state, lambda variances: np.arange(variances.size) < rank)


def _reduced(state: State, which: Callable[[Floats], Mask]) -> State:
    """Keep some of the components, chosen by the variances that they bring into an entry, in decreasing order.

    ``u^T v`` stays the same where u is turned by T and v by the inverse of T^T. So there is a basis in which both covariances are the same
    diagonal matrix, whose squared entries are the variances that the components bring into ``u^T v``.
    """
    rows, columns = state.row_prior, state.column_prior
    k = rows.precision.shape[0] - 1
    turn_rows, turn_columns, variances = _balanced(_spread(rows, k), _spread(columns, k))
    kept = which(variances)
    if kept.all():
        return state
    turns = [linalg.block_diag(turn[:, kept], np.eye(1)) for turn in (turn_rows, turn_columns)]
    priors = [
        replace(
            prior,
            precision=np.asarray(np.linalg.inv(turn.T @ prior.covariance @ turn), np.float64),
            means=None if prior.means is None else prior.means @ turn,
        )
        for prior, turn in zip((rows, columns), turns, strict=True)
    ]
    # The next sweep begins with the columns, found from the rows alone.
    turned = replace(state.rows, factors=state.rows.factors.turned(turns[0]))
    means = [
        None if mean is None else mean.turned(turn)
        for mean, turn in zip((state.row_mean, state.column_mean), turns, strict=True)
    ]
    return replace(
        state,
        rows=turned,
        row_prior=priors[0],
        column_prior=priors[1],
        row_mean=means[0],
        column_mean=means[1],
    )


def _spread(prior: Prior, k: int) -> Floats:
    """Mean of ``u u^T`` that a prior expects of the coordinates, that of its means included, shape (k, k)."""
    around = prior.covariance[:k, :k]
    if prior.means is None:
        return around
    return np.asarray(around + prior.means[:, :k].T @ prior.means[:, :k] / len(prior.means), np.float64)


def _balanced(rows: Floats, columns: Floats) -> tuple[Floats, Floats, Floats]:
    """Return T, its inverse transposed, and s^2, decreasing, so that ``T^T rows T = T^-1 columns T^-T = diag(s)``.

    Moore, "Principal component analysis in linear systems", IEEE Transactions on Automatic Control 26 (1981): balancing.
    """
    # rows = H H^T, and H^T columns H = V s^2 V^T. Then T = H^-T V s^(1/2) makes both diag(s).
    half = np.linalg.cholesky(rows)
    squares, vectors = np.linalg.eigh(half.T @ columns @ half)
    squares, vectors = np.maximum(squares[::-1], np.finfo(np.float64).tiny), vectors[:, ::-1]
    roots = squares**0.25
    return np.linalg.solve(half.T, vectors) * roots, half @ vectors / roots, squares


def notes_on_few_observations(rank: int, fit: FactorFit, n_observed: int) -> tuple[str, ...]:
    """Say where the noise that was estimated may have swallowed components: it does where there are fewer observations than numbers to find."""
    n_numbers = rank * (len(fit.rows.means) + len(fit.columns.means))
    if fit.rank >= rank or n_observed >= n_numbers:
        return ()
    return (
        f"{n_observed:,} observations for the {n_numbers:,} numbers of {rank} components, of which {fit.rank} are left: where observations are so "
        "few, the estimated noise takes weak components for noise; a smaller share of noise, such as 0.6, and fewer components can predict better "
        "(auto tries such)",
    )
