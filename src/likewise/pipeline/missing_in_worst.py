"""Where most was observed, say that in some of the worst pairs somebody has a missing value: it may be what made them equal."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np

from likewise.observations import ObservedMatrix
from likewise.observations.value_range import Interval
from likewise.pipeline.references import ReferenceChoice
from likewise.pipeline.result import Arm
from likewise.pipeline.run import Run

_A_TABLE = 0.5
"""Observed share from which a missing value is the exception: below it, as in ratings, missing is the rule and says nothing of a pair."""

_COUNTS_AS: dict[Interval, str] = {
    "symmetric": "the middle of its value range",
    "unit": "the low end of its value range",
}


def missing_in_worst_pairs(arms: Mapping[str, Arm], reference: ReferenceChoice, run: Run) -> str:
    """Count the pairs among those listed as worst in which somebody has a missing value, in words.

    Parameters
    ----------
    arms : mapping of str to Arm
    reference : {"observed", "co-observed", "estimate"} or PairwiseDistance
    run : Run

    Returns
    -------
    str
        Empty where there is no such pair, where observations were hidden by the audit itself, where less than half is observed, and
        where d does not fill missing values.
    """
    if reference != "observed" or run.training is None or run.hidden is not None:
        return ""
    if run.training.observed_fraction < _A_TABLE:
        return ""
    incomplete = _with_missing_values(run.training)
    worst = list(chain.from_iterable(arm.fairness.worst for arm in arms.values()))
    count = sum(pair.left in incomplete or pair.right in incomplete for pair in worst)
    if not count:
        return ""
    return (
        f"In {count:,} of the {len(worst):,} worst pairs someone has a missing value, which counts as {_COUNTS_AS[run.interval]} under this "
        "d, so that two people can look nearly equal who are not: look at these pairs before you conclude, or take individuals without "
        "missing values."
    )


def _with_missing_values(observed: ObservedMatrix) -> set[object]:
    """Return the ids of the individuals of whom not every feature was observed, as worst pairs name them."""
    m, n = observed.shape
    ids = np.arange(m) if observed.row_ids is None else observed.row_ids
    return set(ids[np.diff(observed.values.indptr) < n].tolist())
