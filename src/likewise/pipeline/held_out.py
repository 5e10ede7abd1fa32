"""Fairness on the truth A as part of an audit: what was hidden from the algorithm tells how much two individuals differ."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from likewise.errors import DistanceError, InputError
from likewise.fairness.held_out import HeldOutFairness, MeasuredSplit, measure_held_out, reference_pairs
from likewise.observations import HoldOut, ObservedMatrix, hold_out
from likewise.observations.value_range import WorkingRange
from likewise.pipeline.measurement import Measurement
from likewise.pipeline.run import Run

HELD_OUT_SHARE = 0.5
"""Share of the observations that is kept aside: pairs that share enough fall with its square, what the algorithm learns from with the rest."""

_MOST_OBSERVED = 0.5
"""Share of the matrix up to which data are ratings, of which everybody gives some; what is fuller is a table."""


def kept_aside(hidden: HoldOut, working_range: WorkingRange) -> sparse.csr_array:
    """Return the hidden observations as a matrix of their own, on the working range."""
    training = hidden.training
    values = training.value_range.scale_to(working_range).forward(hidden.values, hidden.columns)
    return sparse.csr_array((values, (hidden.rows, hidden.columns)), shape=training.shape)


def has_enough_in_common(observed: ObservedMatrix, random_state: int | np.random.Generator | None) -> bool:
    """Whether data are ratings of which enough can be kept aside to compare people on, found before anything is fitted."""
    if observed.observed_fraction > _MOST_OBSERVED or not isinstance(random_state, int):
        return False
    try:
        hidden = hold_out(observed, HELD_OUT_SHARE, random_state)
        reference_pairs(
            kept_aside(hidden, "symmetric"), most_pairs=1, rng=np.random.default_rng(random_state)
        )
    except (DistanceError, InputError):
        return False
    return True


def measure_on_truth(run: Run, measurement: Measurement) -> HeldOutFairness:
    """Hold the outputs of every arm against the distance on what was hidden.

    Raises
    ------
    InputError
        Nothing was hidden.
    DistanceError
        Too few pairs share enough of it.
    """
    if run.hidden is None:
        raise InputError(
            "reference 'held-out' without observations kept aside",
            "a model to run here, and a share to hide above 0",
            "outputs computed elsewhere have seen all observations, so none is left to compare people on",
        )
    seed = measurement.random_state
    rng = np.random.default_rng(seed if isinstance(seed, int) else None)
    pairs = reference_pairs(kept_aside(run.hidden, run.working_range), rng=rng)
    split = MeasuredSplit(pairs, run.outputs)
    return measure_held_out(
        [split], nearest_share=measurement.nearest_share, confidence=measurement.confidence, rng=rng
    )
