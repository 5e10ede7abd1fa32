"""One value and one interval from several splits of the same observations, which are not independent of each other."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.stats import t as student_t

from likewise._typing import Floats
from likewise.fairness.metrics.metric_value import SampledValue

POPULATION = "individuals like these, the algorithm as it was fitted"
OVER_SPLITS = "individuals like these, the algorithm fitted on random parts of their observations"


def combined_value(estimates: Floats, confidence: float, n_pairs: int) -> SampledValue:
    """Average a metric over splits, with an interval over individuals that also holds what splits differ by beyond individuals.

    All splits are of the same individuals, so they are left out of all splits at once: the jackknife of the average holds whatever splits have in
    common. The average over infinitely many splits is the target; given the observations, splits are independent draws, so the average of S of them strays from it with
    variance B / S. Most of B comes from which observations of a person were kept aside, and the jackknife over individuals sees that already: its variance of
    ``theta_s - mean`` adds up to as much. What B exceeds it by comes from the fits, which differ from split to split, and is added.

    Parameters
    ----------
    estimates : ndarray, shape (n_splits, 1 + n_groups)
        Of each split: over all pairs, then without the pairs of each group.
    confidence : float
    n_pairs : int

    Returns
    -------
    SampledValue
        With Student's t, its degrees of freedom by Welch and Satterthwaite. With one split nothing can be said of others, and the population is that of the
        algorithm as it was fitted.

    Examples
    --------
    Two splits that differ by 2, from individuals who all count alike: B = 2, and the jackknife sees nothing of it.

    >>> found = combined_value(np.array([[1.0] * 41, [3.0] * 41]), 0.95, 100)
    >>> found.value, round(found.high - 2, 3)      # t of 1 degree of freedom at .975 is 12.706
    (2.0, 12.706)
    """
    n_splits, n_groups = estimates.shape[0], estimates.shape[1] - 1
    mean = estimates.mean(axis=0)
    by_individuals = _jackknife(mean[None])
    beyond = 0.0
    if n_splits > 1:
        deviations = estimates - mean
        between = float(np.sum(deviations[:, 0] ** 2)) / (n_splits - 1)
        beyond = max(0.0, between - _jackknife(deviations) / (n_splits - 1)) / n_splits
    variance = by_individuals + beyond
    margin = 0.0
    if variance != 0:  # also where it is NaN
        freedom = variance**2 / (by_individuals**2 / (n_groups - 1) + beyond**2 / max(1, n_splits - 1))
        margin = float(student_t.ppf((1 + confidence) / 2, freedom)) * sqrt(variance)
    return SampledValue(
        float(mean[0]),
        float(mean[0]) - margin,
        float(mean[0]) + margin,
        confidence,
        POPULATION if n_splits == 1 else OVER_SPLITS,
        _method(n_groups, n_splits),
        n_pairs,
    )


def _jackknife(estimates: Floats) -> float:
    """Return the sum over splits of the variance that leaving out one group after another shows."""
    without = estimates[:, 1:]
    n_groups = without.shape[1]
    centred = without - without.mean(axis=1, keepdims=True)
    return float((n_groups - 1) / n_groups * np.sum(centred**2))


def _method(n_groups: int, n_splits: int) -> str:
    text = f"jackknife over {n_groups} groups of individuals"
    if n_splits > 1:
        text += f", and what {n_splits} splits differ by beyond it"
    return f"{text} (asymptotic)"
