"""Is D <= L d for a learned d? With what the answers leave open of d carried into the answer."""

from __future__ import annotations

import numpy as np

from likewise._typing import Floats
from likewise.checks import (
    checked_confidence,
    checked_instance,
    checked_positive,
    checked_share,
    checked_whole,
)
from likewise.errors import ShapeError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.learned.distance import LearnedDistance, some_pairs
from likewise.fairness.metrics.metric_value import SampledValue
from likewise.fairness.sampled.sampling import DATA_SET
from likewise.fairness.verdicts import Status, Verdict
from likewise.randomness import generator_of

METHOD = "bootstrap of the answers"


def violating_share(
    outputs: PairwiseDistance,
    learned: LearnedDistance,
    lipschitz: float,
    *,
    confidence: float = 0.95,
    n_pairs: int = 100_000,
    random_state: int | np.random.Generator | None = 0,
) -> SampledValue:
    """Return the share of pairs with D > L d, and between what it lies given what the answers leave open of d.

    Parameters
    ----------
    outputs : PairwiseDistance
        D between the same individuals.
    learned : LearnedDistance
        d.
    lipschitz : float
        L > 0.
    confidence : float, default 0.95
    n_pairs : int, default 100000
        Of more pairs so many are drawn.
    random_state : int, Generator or None, default 0
        For the drawn pairs.

    Returns
    -------
    SampledValue
        The interval is of the bootstrap over the answers; what drawing pairs adds, at most a third of a percent, is not in it.

    Raises
    ------
    ShapeError
        Other individuals.
    InputError
        L or the confidence out of range.
    """
    checked_positive("lipschitz", lipschitz)
    tail = (1 - checked_confidence(confidence)) / 2
    checked_whole("n_pairs", n_pairs, least=1)
    checked_instance(
        "learned", learned, LearnedDistance, "a LearnedDistance", "learn_distance(...) makes one"
    )
    checked_instance("outputs", outputs, PairwiseDistance, "a PairwiseDistance")
    if outputs.n_individuals != learned.n_individuals:
        raise ShapeError(f"outputs of {outputs.n_individuals} individuals", f"{learned.n_individuals}, as d")
    left, right = some_pairs(learned.n_individuals, n_pairs, generator_of(random_state))
    apart = outputs.between(left, right)

    def share(distances: Floats) -> float:
        with np.errstate(over="ignore"):  # an infinite allowance is one, too
            return float((apart > lipschitz * distances).mean())

    shares = [share(learned.drawn(draw, left, right)) for draw in range(len(learned.draws))]
    low, high = np.quantile(shares, [tail, 1 - tail])
    value = share(learned.between(left, right))
    # The fit is constrained, the draws are not: their quantiles need not hold its share, so the interval is
    # widened to it.
    return SampledValue(
        value, min(float(low), value), max(float(high), value), confidence, DATA_SET, METHOD, left.size
    )


def judge_learned(
    share: SampledValue, learned: LearnedDistance, lipschitz: float, *, tolerance: float = 0.0
) -> Verdict:
    """Judge by the interval of the share of violating pairs.

    Parameters
    ----------
    share : SampledValue
        From `violating_share`.
    learned : LearnedDistance
    lipschitz : float
        L > 0.
    tolerance : float, default 0
        Share of the pairs that may violate, in [0, 1).

    Returns
    -------
    Verdict
        ``"holds"`` where the whole interval is within the tolerance, ``"violated"`` where none of it is, else ``"inconclusive"``.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> from likewise.fairness.learned import learn_distance
    >>> rng = np.random.default_rng(0)
    >>> people = rng.normal(size=(30, 2))
    >>> asked = [(i, k) for i in range(30) for k in range(i)]
    >>> apart = {(i, k): abs(people[i, 0] - people[k, 0]) for i, k in asked}
    >>> d = learn_distance(people, pairs=[(i, k, apart[i, k] < 1) for i, k in asked])
    >>> D = RowDistance(people[:, 1])                       # scores by the column that nobody counted
    >>> judge_learned(violating_share(D, d, 1.0), d, 1.0).status
    'violated'
    """
    checked_positive("lipschitz", lipschitz)
    checked_share("tolerance", tolerance, zero=True)
    checked_instance("share", share, SampledValue, "a SampledValue", "violating_share(...) makes one")
    checked_instance(
        "learned", learned, LearnedDistance, "a LearnedDistance", "learn_distance(...) makes one"
    )
    status: Status = "inconclusive"
    if share.high <= tolerance:
        status = "holds"
    elif share.low > tolerance:
        status = "violated"
    reason = f"a share of {share.value:.4g} violates, from {share.low:.4g} to {share.high:.4g} by what {learned.answers} leave open of d"
    confidence = None if status == "inconclusive" else share.confidence
    return Verdict(status, lipschitz, tolerance, confidence, share.population, reason)
