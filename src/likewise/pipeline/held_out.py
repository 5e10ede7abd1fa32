"""Fairness on the truth A as part of an audit: what was hidden from the algorithm tells how much two individuals differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from scipy import sparse

from likewise.checks import checked_name, checked_share, checked_whole, is_number
from likewise.errors import InputError, ObservationError, option
from likewise.fairness import ErrorMetrics
from likewise.fairness.held_out import (
    FEWER_SHARED,
    LEAST_SHARED,
    HeldOutFairness,
    MeasuredSplit,
    measure_held_out,
    reference_pairs,
    usual_shared,
)
from likewise.observations import HoldOut, ObservedMatrix, hold_out
from likewise.observations.split import SplitRule
from likewise.observations.value_range import WorkingRange
from likewise.pipeline.compared import compared_outputs
from likewise.pipeline.measurement import Measurement
from likewise.pipeline.references import ReferenceChoice, is_named
from likewise.pipeline.run import HiddenErrors, Run
from likewise.progress import Steps
from likewise.randomness import generator_of

HELD_OUT_SHARE = 0.5
"""Share of the observations that is kept aside: pairs that share enough fall with its square, what the algorithm learns from with the rest."""

HIDDEN_SHARE = 0.1
"""The same where it measures the error alone."""

NOTHING_KEPT = (
    "reference 'held-out' without observations kept aside",
    f"a model to run here, and {option('hold_out', '')} above 0",
    "outputs computed elsewhere used all observations, so none is left to compare people on",
)

_MOST_OBSERVED = 0.5
"""Share of the matrix up to which data are ratings, of which everybody gives some; what is fuller is a table."""


def kept_aside(hidden: HoldOut, working_range: WorkingRange) -> sparse.csr_array:
    """Return the hidden observations as a matrix of their own, on the working range."""
    training = hidden.training
    values = training.value_range.scale_to(working_range).forward(hidden.values, hidden.columns)
    return sparse.csr_array((values, (hidden.rows, hidden.columns)), shape=training.shape)


_OF_HELD_OUT = {
    "splits": ("reference 'held-out', or one split", "only what is kept aside can be kept aside anew"),
    "least_shared": (
        "reference 'held-out', 'co-observed' or 'gower', or no such limit",
        "only these compare individuals on what they have in common",
    ),
}
"""What would have done instead of an option beside another reference, and why."""


def asked_reference(reference: ReferenceChoice | None, asked: Mapping[str, Any]) -> ReferenceChoice | None:
    """Return the reference that options of what is kept aside ask for; raise InputError where they stand beside another.

    What is kept aside by time does not do: who is seen late shares few observations with others.
    """
    given = [name for name in _OF_HELD_OUT if asked.get(name) is not None]
    if is_named(reference, "co-observed"):
        given = [name for name in given if name != "least_shared"]
    for name in given:
        value = checked_whole(name, asked[name])
        if reference is not None and not is_named(reference, "held-out"):
            named = repr(reference) if isinstance(reference, str) else "a distance that is given"
            beside = f"{option(name, str(value))} beside {option('reference', named)}"
            raise InputError(beside, *_OF_HELD_OUT[name])
    reference = "held-out" if given else reference
    split = asked.get("split")
    if split is None or checked_name("split", split, get_args(SplitRule), InputError) == "random":
        return reference
    if is_named(reference, "held-out"):
        raise InputError(
            f"{option('split', repr(split))} beside the reference 'held-out', its {option('splits', '')} and {option('least_shared', '')}",
            "observations kept aside at random, or another reference",
            f"{option('reference', repr('observed'))} compares on what is left",
        )
    return "observed" if reference is None else reference


def reference_and_share(
    observed: ObservedMatrix,
    reference: ReferenceChoice | None,
    share: float | None,
    measurement: Measurement,
) -> tuple[ReferenceChoice, float, Measurement]:
    """Return what d is, the share of the observations to hide, and how many of them pairs must share, before anything is fitted.

    Ratings of which enough pairs share enough, when half is kept aside, are compared on that; other data on zero-filled observations. Where nobody said how
    many pairs must share, it is as many as enough pairs do; see `likewise.fairness.held_out.usual_shared`. The reference ``"held-out"`` raises InputError
    where nothing is to be hidden, ObservationError where somebody would be left without an observation, DistanceError where too few pairs share enough.
    """
    left_open = reference is None and share is None and observed.observed_fraction <= _MOST_OBSERVED
    if not (left_open or is_named(reference, "held-out")):
        return reference or "observed", HIDDEN_SHARE if share is None else share, measurement
    kept = HELD_OUT_SHARE if share is None else share
    if is_number(kept) and kept == 0:
        raise InputError(*NOTHING_KEPT)
    checked_share("hold_out", kept, error=ObservationError)
    if not left_open:
        _ensure_some_left(observed, kept)
    # Hide as the audit will; where its draw cannot be repeated, another one tells.
    seed = measurement.random_state if isinstance(measurement.random_state, int) else 0
    aside = kept_aside(hold_out(observed, kept, seed, leave_one=True), "symmetric")
    least = measurement.least_shared
    if least is None:
        least = usual_shared(aside, np.random.default_rng(seed))
        if least is None and left_open:
            return "observed", HIDDEN_SHARE, measurement
        least = least or FEWER_SHARED[-1]
    if not left_open:  # else enough pairs were just counted
        reference_pairs(aside, least_shared=least, most_pairs=1, rng=np.random.default_rng(seed))
    return "held-out", kept, replace(measurement, least_shared=least)


def _ensure_some_left(observed: ObservedMatrix, share: float) -> None:
    """Raise where a share leaves somebody, who has observations to share, less than one of them."""
    counts = np.diff(observed.values.indptr)
    left = (1 - share) * counts < 1
    n_without, fewest = int((left & (counts > 1)).sum()), counts[counts > 1].min(initial=observed.shape[1])
    if n_without:
        raise ObservationError(
            f"{option('hold_out', f'{share:g}')}, which leaves {n_without:,} of {counts.size:,} individuals less than one observation",
            f"a share up to {1 - 1 / fewest:.4g}, as somebody has {fewest} observations",
            "an algorithm needs observations of every person",
        )


def measure_on_truth(
    runs: Iterable[Run], measurement: Measurement, steps: Steps
) -> tuple[HeldOutFairness, dict[str, ErrorMetrics | None]]:
    """Hold the outputs of every arm against the distance on what was hidden, in every split; with the errors of arms that predict it.

    Each of the runs, of which there is at least one, is measured, then let go, before the next one is asked for. Raises InputError where nothing was
    hidden, DistanceError where too few pairs share enough of it.
    """
    rng = generator_of(measurement.random_state)
    errors: dict[str, list[HiddenErrors]] = {}

    def splits() -> Iterator[MeasuredSplit]:
        for run in runs:
            if run.hidden is None:
                raise InputError(*NOTHING_KEPT)
            for arm in run.outputs:
                errors.setdefault(arm, []).extend(filter(None, [run.hidden_errors(arm)]))
            with steps.step("compare on what was kept aside"):  # which goes on while the split is measured
                aside = kept_aside(run.hidden, run.working_range)
                pairs = reference_pairs(aside, least_shared=measurement.least_shared or LEAST_SHARED, rng=rng)
                yield MeasuredSplit(pairs, compared_outputs(run, measurement.output_distance))

    fairness = measure_held_out(
        splits(), nearest_share=measurement.nearest_share, confidence=measurement.confidence, rng=rng
    )
    pooled = {arm: HiddenErrors.of_splits(parts) for arm, parts in errors.items() if parts}
    return fairness, {arm: found.metrics(measurement.confidence) for arm, found in pooled.items()}
