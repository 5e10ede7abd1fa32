"""Is D <= L d whatever the missing values are? Fair for certain, violated for certain, or it depends on them, and on which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats, Indices, Mask
from likewise.checks import checked_callable, checked_confidence, checked_positive, checked_whole
from likewise.errors import DistanceError, InputError, ShapeError
from likewise.fairness.distances.completion_distance import CompletionDistance
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.rows import RowDistance
from likewise.fairness.sampled.sampling import draw_pairs
from likewise.norms import Norm
from likewise.observations import ObservedMatrix
from likewise.observations.value_range import WorkingRange
from likewise.progress import Progress
from likewise.randomness import generator_of

Status = Literal["fair", "violated", "depends"]

_PAIRS_AT_ONCE = 1 << 16
_ROUNDING = 1e-12
"""Relative: D within that of L d is as fair as rounding can tell."""
_MOST_FEATURES = 5
_MOSTLY = 0.5


@dataclass(frozen=True)
class UndecidedPair:
    """A pair for which the missing values decide.

    Parameters
    ----------
    left, right : object
        Ids of the two individuals.
    output_distance : float
        D.
    least_distance, largest_distance : float
        Between which d lies.
    features : tuple of (object, float)
        The features that decide, by id, each with what its missing value can add to d (its largest difference less its least), largest first.
    """

    left: Any
    right: Any
    output_distance: float
    least_distance: float
    largest_distance: float
    features: tuple[tuple[Any, float], ...]

    def __str__(self) -> str:
        named = ", ".join(f"{name} (up to {added:.3g})" for name, added in self.features)
        return (
            f"{self.left} and {self.right}: D = {self.output_distance:.4g}, d between {self.least_distance:.4g} and "
            f"{self.largest_distance:.4g}; it depends on {named}"
        )


@dataclass(frozen=True)
class CompletionVerdict:
    """For how many pairs ``D <= L d`` whatever is missing, for how many it fails whatever is missing, and for how many that decides.

    Parameters
    ----------
    lipschitz : float
    n_pairs : int
        Looked at.
    n_fair, n_violated : int
        Decided, whatever the missing values are: D <= L d at the least d there can be; D > L d at the largest.
    n_depends : int
        The others: some completion is fair, another is not.
    narrowed : bool
        Whether missing values were taken to lie in intervals of the caller's, and not just in the value range. The verdict is then about
        completions within them, and as sure as they are.
    sampled : bool
        Whether pairs were drawn; else these are all.
    undecided : tuple of UndecidedPair
        Those whose excess ``D - L d`` can be largest.
    confidence : float or None
        With which each interval holds its value, where missing values were taken to lie in intervals and that is known.
    """

    lipschitz: float
    n_pairs: int
    n_fair: int
    n_violated: int
    n_depends: int
    narrowed: bool
    sampled: bool
    undecided: tuple[UndecidedPair, ...] = ()
    confidence: float | None = None

    @property
    def status(self) -> Status:
        """``"violated"`` if a pair is for certain, ``"fair"`` if all are, else ``"depends"``."""
        if self.n_violated:
            return "violated"
        return "depends" if self.n_depends else "fair"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "status": self.status,
            "lipschitz": self.lipschitz,
            "n_pairs": self.n_pairs,
            "n_fair": self.n_fair,
            "n_violated": self.n_violated,
            "n_depends": self.n_depends,
            "narrowed": self.narrowed,
            "sampled": self.sampled,
            "confidence": self.confidence,
            "undecided": [str(pair) for pair in self.undecided],
        }

    def __str__(self) -> str:
        within = "within their intervals" if self.narrowed else "in the value range"
        if self.confidence is not None:
            within += f" (each holds its value with confidence {self.confidence:g})"
        kind = "drawn pairs" if self.sampled else "pairs"
        text = (
            f"Whatever the missing values are, {within}: D <= {self.lipschitz:g} d holds for {self.n_fair:,} of {self.n_pairs:,} {kind} and fails for "
            f"{self.n_violated:,}. For {self.n_depends:,} ({self.n_depends / self.n_pairs:.1%}) it depends on what is missing."
        )
        if self.n_depends <= _MOSTLY * self.n_pairs:
            return text
        return f"{text} So this is mostly undetermined: too much is missing to say more{'' if self.narrowed else ' without intervals for what is'}."


def judge_completions(
    outputs: ArrayLike | PairwiseDistance,
    observed: ObservedMatrix,
    *,
    lipschitz: float,
    norm: Norm = "l1",
    intervals: tuple[Floats, Floats] | None = None,
    pairs: Literal["all"] | int = "all",
    confidence: float | None = None,
    working_range: WorkingRange = "symmetric",
    n_undecided: int = 10,
    random_state: int | np.random.Generator | None = 0,
    progress: Progress | None = None,
) -> CompletionVerdict:
    """Judge ``D <= L d`` over all values that missing entries may have (Section 3.3: applicants who report different things).

    Of each pair, d has a least and a largest value. ``D > L d_largest``: violated whatever is missing. ``D <= L d_least``: fair whatever
    is missing. Else it depends.

    Parameters
    ----------
    outputs : array-like, shape (m,) or (m, k), or PairwiseDistance
        Outputs, compared by l2, or a distance D between them.
    observed : ObservedMatrix, shape (m, n)
        With its value range, in which missing entries lie; d is lq between rows on the working range.
    lipschitz : float
        L > 0.
    norm : {"l1", "l2", "linf"} or float, default "l1"
    intervals : (ndarray, ndarray), each of shape (m, n), optional
        Lower and upper ends of missing entries in the user's units, for example of `entry_intervals`.
    pairs : "all" or int, default "all"
        All m (m - 1) / 2, at a cost of n each, or draw that many.
    confidence : float, optional
        Of each interval, in (0, 1); said with the verdict.
    working_range : {"symmetric", "unit"}, default "symmetric"
        On which d is measured.
    n_undecided : int, default 10
        How many pairs to explain.
    random_state : int, Generator or None, default 0
        Draws the pairs.
    progress : callable, optional
        Called with (pairs done, all).

    Returns
    -------
    CompletionVerdict

    Raises
    ------
    InputError
        `lipschitz` is not above 0; `pairs` is not a number of pairs; a confidence without intervals.
    ShapeError
        Outputs of other individuals than are observed.

    Examples
    --------
    The first two applicants are alike for certain; whether the third is close to them depends on the second feature.

    >>> Z = ObservedMatrix(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, np.nan]]), value_range=(0, 4))
    >>> print(judge_completions([0.9, 0.1, 0.5], Z, lipschitz=1.0))
    Whatever the missing values are, in the value range: D <= 1 d holds for 0 of 3 pairs and fails for 1. For 2 (66.7%) it depends on what is missing. So this is mostly undetermined: ...
    """
    D, m = _checked_outputs(outputs, observed), observed.shape[0]
    _check_request(lipschitz, pairs, n_undecided, progress)
    _check_confidence(confidence, intervals)
    least, largest = (
        CompletionDistance(observed, end, norm, working_range=working_range, intervals=intervals)
        for end in ("least", "largest")
    )
    n_fair = n_violated = done = 0
    worst: list[tuple[float, int, int]] = []
    total = m * (m - 1) // 2 if pairs == "all" else pairs
    for left, right in _chunks(m, pairs, random_state):
        gaps = D.between(left, right)
        with np.errstate(over="ignore"):  # a limit beyond all numbers allows everything
            allowed = [lipschitz * d.between(left, right) * (1 + _ROUNDING) for d in (least, largest)]
        # Fair even at the least d there can be, violated even at the largest: for all completions either
        # way.
        fair, violated = gaps <= allowed[0], gaps > allowed[1]
        n_fair, n_violated = n_fair + int(fair.sum()), n_violated + int(violated.sum())
        worst = _worst(worst, gaps - allowed[0], ~fair & ~violated, left, right, n_undecided)
        done += left.size
        if progress is not None:
            progress(done, total)
    return CompletionVerdict(
        float(lipschitz),
        total,
        n_fair,
        n_violated,
        total - n_fair - n_violated,
        narrowed=intervals is not None,
        sampled=pairs != "all",
        undecided=tuple(_explained(D, least, largest, i, j) for _, i, j in worst),
        confidence=confidence,
    )


def _check_request(
    lipschitz: float, pairs: Literal["all"] | int, n_undecided: int, progress: Progress | None
) -> None:
    checked_positive("lipschitz", lipschitz)
    checked_whole("n_undecided", n_undecided, least=0)
    if not isinstance(pairs, str) or pairs != "all":
        checked_whole("pairs", pairs, or_else="'all'")
    if progress is not None:
        checked_callable("progress", progress)


def _check_confidence(confidence: float | None, intervals: tuple[Floats, Floats] | None) -> None:
    if confidence is None:
        return
    if intervals is None:
        raise InputError(
            f"confidence={confidence!r} without intervals", "both, or neither", "it is that of each interval"
        )
    checked_confidence(confidence)


def _checked_outputs(outputs: ArrayLike | PairwiseDistance, observed: ObservedMatrix) -> PairwiseDistance:
    if not isinstance(observed, ObservedMatrix):
        raise DistanceError(
            f"observations of type {type(observed).__name__}", "an ObservedMatrix, with its value range"
        )
    D = outputs if isinstance(outputs, PairwiseDistance) else RowDistance.of_outputs(outputs)
    m = observed.shape[0]
    if D.n_individuals != m:
        raise ShapeError(
            f"outputs of {D.n_individuals} individuals", f"those of the {m} individuals observed"
        )
    return D


def _chunks(
    m: int, pairs: Literal["all"] | int, random_state: int | np.random.Generator | None
) -> Iterator[tuple[Indices, Indices]]:
    """Yield all pairs i < j, or drawn ones, a few at a time."""
    if pairs != "all":
        left, right = draw_pairs(m, pairs, generator_of(random_state))
        for first in range(0, pairs, _PAIRS_AT_ONCE):
            yield left[first : first + _PAIRS_AT_ONCE], right[first : first + _PAIRS_AT_ONCE]
        return
    # Some rows of the upper triangle at a time.
    step = max(1, _PAIRS_AT_ONCE // m)
    for start in range(0, m - 1, step):
        rows = np.arange(start, min(start + step, m - 1))
        counts = m - 1 - rows
        left = np.repeat(rows, counts)
        # In each row the later individuals: a running number, less where the row begins.
        right = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + left + 1
        yield left, right


def _worst(
    known: list[tuple[float, int, int]],
    excess: Floats,
    depends: Mask,
    left: Indices,
    right: Indices,
    n: int,
) -> list[tuple[float, int, int]]:
    """Keep the undecided pairs with the largest excess so far; ties by position."""
    places = np.flatnonzero(depends)
    places = places[np.argsort(-excess[places], kind="stable")[:n]]
    new = [(float(excess[p]), int(left[p]), int(right[p])) for p in places]
    return sorted(known + new, key=lambda found: (-found[0], found[1:]))[:n]


def _explained(
    D: PairwiseDistance, least: CompletionDistance, largest: CompletionDistance, i: int, j: int
) -> UndecidedPair:
    left, right = np.array([i]), np.array([j])
    # How much one missing value can move d by itself, which says what to ask for.
    added = (largest.of_features(left, right) - least.of_features(left, right))[0]
    most = np.argsort(-added, kind="stable")[:_MOST_FEATURES]
    name = (lambda position: position) if least.row_ids is None else least.row_ids.tolist().__getitem__
    return UndecidedPair(
        name(i),
        name(j),
        D.between(left, right).item(),
        least.between(left, right).item(),
        largest.between(left, right).item(),
        tuple((least.column_ids.tolist()[k], float(added[k])) for k in most if added[k] > 0),
    )
