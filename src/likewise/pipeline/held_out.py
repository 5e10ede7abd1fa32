"""Fairness on the truth A as part of an audit: what was hidden from the algorithm tells how much two individuals differ."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from likewise.errors import InputError
from likewise.fairness.held_out import HeldOutFairness, MeasuredSplit, measure_held_out, reference_pairs
from likewise.observations import HoldOut, ObservedMatrix, hold_out
from likewise.observations.value_range import WorkingRange
from likewise.pipeline.measurement import Measurement
from likewise.pipeline.references import ReferenceChoice
from likewise.pipeline.run import Run
from likewise.randomness import generator_of

HELD_OUT_SHARE = 0.5
"""Share of the observations that is kept aside: pairs that share enough fall with its square, what the algorithm learns from with the rest."""

HIDDEN_SHARE = 0.1
"""The same where it measures the error alone."""

NOTHING_KEPT = (
    "reference 'held-out' without observations kept aside",
    "a model to run here, and a share to hide above 0",
    "outputs computed elsewhere have seen all observations, so none is left to compare people on",
)

_MOST_OBSERVED = 0.5
"""Share of the matrix up to which data are ratings, of which everybody gives some; what is fuller is a table."""


def kept_aside(hidden: HoldOut, working_range: WorkingRange) -> sparse.csr_array:
    """Return the hidden observations as a matrix of their own, on the working range."""
    training = hidden.training
    values = training.value_range.scale_to(working_range).forward(hidden.values, hidden.columns)
    return sparse.csr_array((values, (hidden.rows, hidden.columns)), shape=training.shape)


def reference_and_share(
    observed: ObservedMatrix,
    reference: ReferenceChoice | None,
    share: float | None,
    random_state: int | np.random.Generator | None,
) -> tuple[ReferenceChoice, float]:
    """Return what d is, and the share of the observations to hide, before anything is fitted.

    Ratings of which enough pairs share enough, when half is kept aside, are compared on that; other data on zero-filled observations.

    Raises
    ------
    InputError
        The reference ``"held-out"`` where nothing is to be hidden.
    DistanceError
        The same where too few pairs share enough of what is.
    """
    if reference is None and share is None and observed.observed_fraction <= _MOST_OBSERVED:
        try:
            _ensure_enough(observed, HELD_OUT_SHARE, random_state)
        except InputError:
            return "observed", HIDDEN_SHARE
        return "held-out", HELD_OUT_SHARE
    if isinstance(reference, str) and reference == "held-out":
        kept = HELD_OUT_SHARE if share is None else share
        if not kept:
            raise InputError(*NOTHING_KEPT)
        _ensure_enough(observed, kept, random_state)
        return reference, kept
    return "observed" if reference is None else reference, HIDDEN_SHARE if share is None else share


def _ensure_enough(
    observed: ObservedMatrix, share: float, random_state: int | np.random.Generator | None
) -> None:
    """Hide as the audit will, and raise where too little is in common; where the draw cannot be repeated, another one tells."""
    seed = random_state if isinstance(random_state, int) else 0
    hidden = hold_out(observed, share, seed)
    reference_pairs(kept_aside(hidden, "symmetric"), most_pairs=1, rng=np.random.default_rng(seed))


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
        raise InputError(*NOTHING_KEPT)
    rng = generator_of(measurement.random_state)
    pairs = reference_pairs(kept_aside(run.hidden, run.working_range), rng=rng)
    split = MeasuredSplit(pairs, run.outputs)
    return measure_held_out(
        [split], nearest_share=measurement.nearest_share, confidence=measurement.confidence, rng=rng
    )
