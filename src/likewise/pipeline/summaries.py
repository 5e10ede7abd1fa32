"""Describe the data and the estimate of an audit in the records that its report shows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.estimation import SVT, threshold_name
from likewise.fairness import PairwiseDistance
from likewise.observations import ObservedMatrix
from likewise.pipeline.result import DataSummary, EstimateSummary

_CHEAP_SPECTRUM = 2e9
"""Floating-point operations up to which the singular values below the threshold are computed too, only to be drawn."""


def summarise_data(individuals: ObservedMatrix | PairwiseDistance, interval: str, source: str) -> DataSummary:
    """Describe the individuals of an audit: their observations, or how many there are if only a distance is known."""
    if isinstance(individuals, PairwiseDistance):
        return DataSummary(source, individuals.n_individuals)
    observed = individuals
    m, n = observed.shape
    return DataSummary(
        source=source,
        n_individuals=m,
        n_features=n,
        n_observed=observed.n_observed,
        observed_fraction=observed.observed_fraction,
        value_range=str(observed.value_range),
        interval=interval,
        notes=observed.notes,
    )


def summarise_estimate(estimator: SVT) -> EstimateSummary:
    """Describe a fitted estimator.

    Parameters
    ----------
    estimator : SVT
        Fitted.

    Returns
    -------
    EstimateSummary
    """
    observed, rank = estimator.observed_, estimator.rank_
    return EstimateSummary(
        estimator=" ".join(repr(estimator).split()),
        threshold=estimator.threshold_,
        threshold_name=threshold_name(estimator.threshold),
        rank=rank,
        singular_values=_drawn_spectrum(estimator),
        clipped_fraction=estimator.estimate_.clipped_fraction(),
        completeness=str(estimator.completeness_),
        regime=regime(*observed.shape, rank, observed.observed_fraction),
    )


def regime(n_individuals: int, n_features: int, rank: int, observed_fraction: float) -> str:
    """Compare n with r m / p_hat, the regimes of Section 5, in words.

    Parameters
    ----------
    n_individuals, n_features, rank : int
        m, n and r.
    observed_fraction : float
        ``p_hat``.

    Returns
    -------
    str

    Examples
    --------
    >>> regime(100, 5000, 2, 0.5)
    'n = 5,000 against r m / p_hat = 400: n is larger, where the theory (Section 5) expects fairness to improve as n grows'
    """
    if rank == 0:
        return "rank 0: the estimate is constant, so every pair is treated alike and nothing is learned"
    needed = rank * n_individuals / observed_fraction
    comparison = f"n = {n_features:,} against r m / p_hat = {needed:,.0f}"
    if n_features > needed:
        return (
            f"{comparison}: n is larger, where the theory (Section 5) expects fairness to improve as n grows"
        )
    return f"{comparison}: n is smaller, where the theory (Section 5) does not promise that fairness improves"


def _drawn_spectrum(estimator: SVT) -> NDArray[np.float64]:
    m, n = estimator.observed_.shape
    if m * n * min(m, n) > _CHEAP_SPECTRUM:
        return np.asarray(estimator.singular_values_, dtype=np.float64)
    zero_filled = estimator.observed_.scaled(estimator.interval).to_dense()
    spectrum: NDArray[np.float64] = np.linalg.svd(zero_filled.astype(np.float64), compute_uv=False)
    return spectrum
