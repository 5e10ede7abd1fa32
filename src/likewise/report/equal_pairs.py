"""What pairs at distance 0 do to an answer: their ratio D/d is no number where their outputs differ, and where all pairs are such, nobody is similar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.fairness import SampledFairness
from likewise.report.numbers import Row, change_between, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from likewise.fairness import FairnessMetrics
    from likewise.report.records import Arm


def are_all_equal(fairness: FairnessMetrics) -> bool:
    """Return whether every pair is at distance 0, so that d tells nobody from anybody else."""
    return 0 < fairness.n_pairs == fairness.n_zero_distance


def nobody_is_told_apart(*arms: Arm) -> str:
    """Say so where d is 0 for all pairs of an arm: then none is more similar than others; empty where it is not."""
    flat = [arm.fairness for arm in arms if are_all_equal(arm.fairness)]
    if not flat:
        return ""
    drawn = "drawn " if isinstance(flat[0], SampledFairness) else ""
    return (
        f"Cannot be told: d is 0 for all {flat[0].n_pairs:,} {drawn}pairs, as where what it is made of is the same for everybody. It tells nobody "
        "apart, so no pair is more similar than another."
    )


def set_apart(*arms: Arm) -> str:
    """Count the pairs of infinite ratio, which other sentences leave out; empty where there is none."""
    if not any(arm.fairness.n_infinite for arm in arms):
        return ""
    counts = " before and ".join(f"{arm.fairness.n_infinite:,}" for arm in arms)
    return (
        f"Pairs at distance 0 that get different outputs: {counts}{' after' if len(arms) > 1 else ''}, of {arms[0].fairness.n_pairs:,}. Their ratio "
        "D/d is infinite; mean ratios in these findings are those of the other pairs."
    )


def equal_pairs_row(arms: Sequence[Arm], comparable: bool, *, zero_filled: bool) -> Row:
    """Return how many of the pairs that d does not tell apart are treated differently: what stands in the place of a largest ratio that does not exist.

    At least one of the arms has such pairs; `zero_filled` says that d is that of zero-filled observations, beside another one that the gap is of.
    """
    every = [arm.fairness for arm in arms]
    counts = [(fairness.n_infinite, fairness.n_zero_distance) for fairness in every]
    texts = tuple(f"{n:,} of {of:,} {'pair' if of == 1 else 'pairs'}" for n, of in counts)
    shares = [n / of if of else 0.0 for n, of in counts]
    # The worst pairs begin with those of infinite ratio, the largest D first.
    worst = (
        [pair.output_distance for pair in fairness.worst[:1] if pair.reference_distance == 0]
        for fairness in every
    )
    farthest = " and ".join(number(max(distances, default=0.0)) for distances in worst)
    meaning = (
        "How many of the pairs that d does not tell apart (d = 0) get different outputs (D > 0): a ratio D/d exists only for the others. The largest such "
        f"D is {farthest}."
    )
    label = "zero-filled d = 0 < D" if zero_filled else "d = 0, outputs differ"
    return Row(label, meaning, texts, change_between(shares) if comparable else "")
