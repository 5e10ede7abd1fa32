"""Describe the data and the estimate of an audit in the records that its report shows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.estimation import Auto, MatrixEstimator, threshold_name
from likewise.fairness import PairwiseDistance
from likewise.observations import ObservedMatrix
from likewise.report.records import DataSummary, EstimateSummary

_CHEAP_SPECTRUM = 2e9
"""Floating-point operations up to which the singular values below the threshold are computed too, only to be drawn."""


def summarise_data(
    individuals: ObservedMatrix | PairwiseDistance, working_range: str, source: str
) -> DataSummary:
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
        working_range=working_range,
        notes=observed.notes,
    )


def summarise_estimate(estimator: MatrixEstimator) -> EstimateSummary:
    """Describe a fitted estimator.

    Parameters
    ----------
    estimator : MatrixEstimator
        Fitted.

    Returns
    -------
    EstimateSummary
    """
    observed, rank = estimator.observed_, estimator.rank_
    parameters = estimator.get_params(deep=False)
    made = estimator.best_estimator_ if isinstance(estimator, Auto) else estimator
    cut = estimator.threshold_ is not None
    completeness = getattr(made, "completeness_", None)
    return EstimateSummary(
        estimator=", which chose ".join(_in_a_line(each) for each in dict.fromkeys((estimator, made))),
        threshold=estimator.threshold_,
        threshold_name=threshold_name(getattr(made, "threshold", "given")) if cut else None,
        rank=rank,
        singular_values=_drawn_spectrum(estimator),
        clipped_fraction=estimator.estimate_.clipped_fraction(),
        completeness=None if completeness is None else str(completeness),
        regime=regime(*observed.shape, rank, observed.observed_fraction) if cut else None,
        parameters={name: _plain(value) for name, value in parameters.items()},
        converged=estimator.converged_,
        n_iter=estimator.n_iter_,
        notes=estimator.notes_,
    )


def _in_a_line(estimator: MatrixEstimator) -> str:
    return " ".join(repr(estimator).split())


def _plain(value: Any) -> Any:
    """Return a parameter as a report can show it: an array or Generator in words, which are the same on every run."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, np.random.Generator):
        return "a random generator"
    return getattr(value, "__name__", None) or repr(value)


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


def _drawn_spectrum(estimator: MatrixEstimator) -> NDArray[np.float64]:
    m, n = estimator.observed_.shape
    decomposed = estimator.decomposed_matrix()
    if decomposed is None or m * n * min(m, n) > _CHEAP_SPECTRUM:
        return np.asarray(estimator.singular_values_, dtype=np.float64)
    spectrum: NDArray[np.float64] = np.linalg.svd(decomposed.toarray().astype(np.float64), compute_uv=False)
    return spectrum
