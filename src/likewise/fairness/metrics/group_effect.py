"""Do people of a group get other outputs than similar people of other groups? A test that knows nothing but d, outputs and groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats
from likewise.certificates.certificate import Unavailable
from likewise.checks import checked_confidence, checked_instance, checked_whole
from likewise.errors import InputError, ShapeError, option
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.rows import complete_rows
from likewise.fairness.metrics.groups import number_groups
from likewise.fairness.metrics.remainder import (
    Remainder,
    are_decisions,
    beside_others,
    differences_kept,
    in_their_units,
    mean_differences,
    mirrors,
    mutually_defined,
    output_names,
    remainder,
)
from likewise.randomness import generator_of

N_NEIGHBORS = 5
NEAR = 0.3
"""How far the nearest others may be, as a share of the mean distance, for d to explain what the features explain.

About here, a yes or no that jumps raises a false alarm in one sample of twenty (benchmarks/bench_group_effect.py --decided 4); farther away, more often.
"""

MATERIAL = 0.1
"""A difference below this share of the mean difference between two people is none to speak of."""

_MOST = 3000
_FEWEST = 50
_KEPT = 0.5
"""At least this share of the people must be left once those of whom too little is known are out: else the rest are too few to speak for them."""

_BESIDE = 0.5
"""At least this share of a group, or of all others, must have somebody of the other kind among the nearest: else the few that do would speak for all."""

SMALLEST_GROUP = 10
_MOST_SUMS = 2 * 10**7
_DRAWS = 999
MOST_CONFIDENT = 0.999
_ROUNDING = 1e-20

NAME = "group effect"


@dataclass(frozen=True)
class GroupEffect:
    """How the outputs of a group differ from those of similar people of other groups.

    Parameters
    ----------
    group, n_members : str, int
        People of the group who were looked at.
    output : str
        The output in which they differ most clearly: its name, or the number of its column.
    difference, low, high : float
        Of that output, members less similar others, in its units; a simultaneous interval over all groups and outputs, infinite where nothing bounds it.
    share : float
        Size of `difference` by the mean difference of that output between two people.
    p_value : float
        Adjusted for all groups and outputs that were looked at.
    clear, mirrored : bool
        Whether the difference is more than chance gives, and at least a tenth of the mean difference between two people; and whether it is so no longer once
        the clearer differences of other groups are taken off, whose members are among the others here: one bias alone can make several groups differ.
    at_most : float
        No output of the group differs by more, as a share like `share`: the farthest end of all their intervals; infinite where nothing bounds one.
    decides : bool
        Whether that output is a decision, 0 or 1, so that the difference is one of shares of people.
    """

    group: str
    n_members: int
    output: str
    difference: float
    low: float
    high: float
    share: float
    p_value: float
    clear: bool
    at_most: float = np.inf  # where a report does not say, as one of before
    decides: bool = False
    mirrored: bool = False


@dataclass(frozen=True)
class GroupEffects:
    """One `GroupEffect` a group, the clearest and largest first; of equal ones, who gets less.

    Parameters
    ----------
    effects : tuple of GroupEffect
    n_individuals : int
        How many were looked at: all, or as many as were drawn.
    nearness : float
        Mean distance of the farthest of the nearest others, by the mean distance of any two people.
    confidence : float
    n_small, n_apart : int
        Groups that were not tested: of fewer than ten people, or because d keeps them apart from all others.
    n_left_out : int
        People left out because their distance to others is not defined: too little is known of them.
    lacking : tuple of str
        Features that all who were left out lack, where d is made of features.
    """

    effects: tuple[GroupEffect, ...]
    n_individuals: int
    nearness: float
    confidence: float
    n_small: int = 0
    n_left_out: int = 0
    n_apart: int = 0
    lacking: tuple[str, ...] = ()

    @property
    def clear(self) -> tuple[GroupEffect, ...]:
        """Those that are a finding."""
        return tuple(effect for effect in self.effects if effect.clear)


def group_effects(
    outputs: ArrayLike,
    reference: PairwiseDistance,
    groups: ArrayLike,
    output_ids: ArrayLike | None = None,
    *,
    n_neighbors: int | None = None,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> GroupEffects | Unavailable:
    """Test whether outputs depend on the group once d is known.

    From outputs and from membership, a smooth function of d is taken away; what is left is compared with its mean over the nearest others, ties
    included. The product of both remainders tells whether members get more or less than people like them.

    Parameters
    ----------
    outputs : array-like, shape (m,) or (m, k)
    reference : PairwiseDistance
        d; people at a small d should get the same.
    groups : array-like, shape (m,)
        People whose group is unknown are left out.
    output_ids : array-like, shape (k,), optional
        Names of the outputs.
    n_neighbors : int, optional
        In [1, m); by default 5, or all others where they are fewer.
    confidence : float, default 0.95
        In (0, .999]. If no group has an effect, one is found with a probability of at most the rest.
    random_state : int, Generator or None, default 0

    Returns
    -------
    GroupEffects or Unavailable
        Unavailable where the nearest others are too far to be similar or all of the same group, too few people have a known group, or most would be
        left out.

    Raises
    ------
    ShapeError
        Another number of outputs than individuals, or of names than outputs.
    InputError
        Not 2 to 200 groups, or not one for each individual; an option out of its range.

    Notes
    -----
    Let W be the mean over the nearest others, P the least-squares fit on the distances to 30 people far from one another (fewer than one in ten),
    and R = (I - W)(I - P), e = R Y, g = R G. The difference is <e, g> / <g, g>, and as <e, g> = sum_j c_j Y_j with
    c = R' g, its variance given d and the groups is estimated by sum_j c_j^2 e_j^2. The largest of all such z is held against those of
    999 draws in which the e_j take random signs, one for each person: dependence between groups and outputs is kept. People are the units, not pairs.
    Above 3,000 people as many are drawn. Where a distance is not defined, those with most undefined distances are left out, one by one, until all
    are defined. This looks at d alone, so chance finds a group no more often; what is found speaks of those who are left. Where d is made of the
    group itself, everybody's nearest others are of the same group, and nothing can be compared: such groups are not tested.

    References
    ----------
    Robinson, "Root-N-consistent semiparametric regression", Econometrica 1988; Abadie, Imbens, "Bias-corrected matching estimators for
    average treatment effects", Journal of Business and Economic Statistics 2011; Shah, Peters, "The hardness of conditional independence
    testing and the generalised covariance measure", Annals of Statistics 2020; Westfall, Young, "Resampling-based multiple testing", 1993.

    Examples
    --------
    >>> from likewise.fairness import RowDistance
    >>> rng = np.random.default_rng(0)
    >>> skill, group = rng.normal(size=400), rng.integers(2, size=400)
    >>> pay = skill + 0.1 * rng.normal(size=400) - 0.5 * group
    >>> found = group_effects(pay, RowDistance(skill), np.where(group, "b", "a"))
    >>> [(effect.group, round(effect.difference, 1)) for effect in found.clear]
    [('b', -0.5), ('a', 0.5)]
    """
    given = complete_rows(outputs)
    checked_instance("reference", reference, PairwiseDistance, "a distance between individuals")
    _check_people(given, reference)
    rows, units = in_their_units(given)
    called = output_names(rows.shape[1], output_ids)
    most = reference.n_individuals - 1
    n_neighbors = checked_whole(
        "n_neighbors", min(N_NEIGHBORS, most) if n_neighbors is None else n_neighbors, most=most
    )
    _check_confidence(confidence)
    names, numbers = number_groups(groups, reference.n_individuals)
    rng = generator_of(random_state)
    people = _compared(reference, numbers < len(names), len(names) * rows.shape[1], n_neighbors, rng)
    if isinstance(people, Unavailable):
        return people
    chosen, distances, n_left_out, lacking = people
    counts = np.bincount(numbers[chosen], minlength=len(names))
    large = np.flatnonzero((counts >= SMALLEST_GROUP) & (counts <= chosen.size - SMALLEST_GROUP))
    if not large.size:
        return Unavailable(NAME, f"no group has {SMALLEST_GROUP} people")
    left, nearness = remainder(distances, n_neighbors)
    if not nearness <= NEAR:
        return Unavailable(NAME, _too_far(nearness, n_neighbors))
    beside = beside_others((numbers[chosen][:, None] == large).astype(float), left.means)
    if not (beside >= _BESIDE).any():
        return Unavailable(NAME, _kept_apart(float(beside.max()), n_neighbors))
    tested = large[beside >= _BESIDE]
    members = (numbers[chosen][:, None] == tested).astype(float)
    sizes = [(str(names[group]), int(counts[group])) for group in tested]
    asked = _Outputs(rows[chosen], called, units, are_decisions(given))
    ordered = tuple(sorted(_tested(asked, sizes, members, left, confidence, rng), key=_rank))
    n_small, n_apart = int(np.count_nonzero(counts)) - large.size, large.size - tested.size
    return GroupEffects(
        ordered, chosen.size, nearness, float(confidence), n_small, n_left_out, n_apart, lacking
    )


class _People(NamedTuple):
    """Who is compared, all distances among them, how many were left out as too little is known of them, and what these lack."""

    chosen: Any
    distances: Floats
    n_left_out: int
    lacking: tuple[str, ...]


class _Outputs(NamedTuple):
    """Outputs between 0 and 1, what each is called, how long its range is, and whether it is a decision."""

    rows: Floats
    names: list[str]
    units: Floats
    decides: Any


def _compared(
    reference: PairwiseDistance, known: Any, n_columns: int, n_neighbors: int, rng: np.random.Generator
) -> _People | Unavailable:
    """Return who is compared, of those with a known group; or why there are too few."""
    chosen, fewest = _drawn(known, n_columns, rng), max(_FEWEST, n_neighbors + 1)
    if chosen.size < fewest:
        return Unavailable(NAME, f"only {chosen.size} people have a known group")
    distances = _distances_among(reference, chosen)
    kept = mutually_defined(distances)
    if kept.size < max(fewest, _KEPT * chosen.size):
        return Unavailable(NAME, _too_little_known(kept.size, chosen.size))
    left_out = np.delete(chosen, kept)
    return _People(chosen[kept], distances[np.ix_(kept, kept)], left_out.size, reference.lacked_by(left_out))


def _rank(effect: GroupEffect) -> tuple[bool, float, float, float]:
    """Order effects: the clearest and largest first; of equal ones, who gets less."""
    return not effect.clear, effect.p_value, -round(effect.share, 9), effect.difference


def _check_people(rows: Floats, reference: PairwiseDistance) -> None:
    if len(rows) != reference.n_individuals:
        raise ShapeError(
            f"outputs for {len(rows)} individuals", f"{reference.n_individuals}, as the distance has"
        )


def _check_confidence(confidence: float) -> None:
    if checked_confidence(confidence) > MOST_CONFIDENT:
        raise InputError(
            option("confidence", f"{confidence!r}"), f"at most {MOST_CONFIDENT}: {_DRAWS} draws tell no more"
        )


def _too_far(nearness: float, n_neighbors: int) -> str:
    if np.isnan(nearness):
        return "the distance of all pairs is 0: nothing tells who is similar"
    return (
        f"too few people are alike: the farthest of a person's {n_neighbors} nearest others is, on average, {nearness:.0%} as far away as any two people are, and from "
        f"{NEAR:.0%} on a difference between groups may come from what sets people apart; fewer columns in d, or more people, bring them nearer"
    )


def _kept_apart(beside: float, n_neighbors: int) -> str:
    return (
        f"d keeps the groups apart, as where the group is one of its features: at most {beside:.0%} of a group have anybody of another group among their "
        f"{n_neighbors} nearest others; leave that feature out of d"
    )


def _too_little_known(n_known: int, n_people: int) -> str:
    return (
        f"only {n_known:,} of {n_people:,} people are left once those with most undefined distances are out; of the others too little is known to say "
        "who is like them"
    )


def _drawn(known: Any, n_columns: int, rng: np.random.Generator) -> Any:
    """Return who is looked at: everybody with a known group, or as many as the sums allow."""
    people = np.flatnonzero(known)
    most = min(_MOST, max(10 * _FEWEST, _MOST_SUMS // n_columns))
    return people if people.size <= most else np.sort(rng.choice(people, most, replace=False))


def _distances_among(reference: PairwiseDistance, chosen: Any) -> Floats:
    among = reference if chosen.size == reference.n_individuals else reference.taken(chosen)
    distances = among.block(0, among.n_individuals)
    among.release()
    return distances


def _tested(
    outputs: _Outputs,
    sizes: list[tuple[str, int]],
    members: Floats,
    left: Remainder,
    confidence: float,
    rng: np.random.Generator,
) -> list[GroupEffect]:
    """Return the effect of each group on the output in which it is clearest."""
    e, g = left.of(outputs.rows), left.of(members)
    c = left.transposed(g)  # <e, g> = <Y, R' g>: a sum of c_j Y_j over people, of variance sum c_j^2 e_j^2
    sums, squares, variance = g.T @ e, (g**2).sum(axis=0), (c**2).T @ e**2
    z = _ratio(sums, np.sqrt(_not_rounding(variance, c, outputs.rows)))
    largest = np.sort(_largest_of_draws(e, c, z, rng))
    critical = largest[-max(1, int((1 - confidence) * (_DRAWS + 1) + 1e-9))]  # this rank is what chance gives
    usual = mean_differences(outputs.rows)
    effects = []
    for k, (group, n_members) in enumerate(sizes):
        best = int(np.abs(z[k]).argmax())
        difference = float(_ratio(sums[k, best], squares[k]))
        share = float(_ratio(abs(difference), usual[best]))
        intervals = [
            differences_kept(sums[k, j], squares[k], c[:, k] ** 2, e[:, j], g[:, k], critical)
            for j in range(len(usual))
        ]
        units = float(outputs.units[best])
        effects.append(
            GroupEffect(
                group,
                n_members,
                outputs.names[best],
                difference * units,
                float(intervals[best][0] * units),
                float(intervals[best][1] * units),
                share,
                p_value=(1 + int(np.count_nonzero(largest >= abs(z[k, best])))) / (_DRAWS + 1),
                clear=bool(abs(z[k, best]) > critical and share >= MATERIAL),
                at_most=float(np.max(_ratio(np.abs(intervals), usual[:, None]))),
                decides=bool(outputs.decides[best]),
            )
        )
    clear = [k for k in np.argsort(-np.abs(z).max(axis=1), kind="stable").tolist() if effects[k].clear]
    for k in mirrors(clear, e, g, left, critical, MATERIAL * usual):
        effects[k] = replace(effects[k], mirrored=True)
    return effects


def _ratio(numerator: Any, denominator: Any) -> Any:
    """Divide; 0 where there is nothing to divide by."""
    return np.divide(numerator, denominator, out=np.zeros(np.shape(numerator)), where=denominator > 0)


def _not_rounding(variance: Floats, c: Floats, outputs: Floats) -> Floats:
    """Return the variances, and 0 for those that rounding alone would leave."""
    largest = (c**2).sum(axis=0)[:, None] * (outputs**2).max(axis=0)
    return np.where(variance > _ROUNDING * largest, variance, 0.0)


def _largest_of_draws(e: Floats, c: Floats, z: Floats, rng: np.random.Generator) -> Floats:
    """Return the largest size of z, over groups and outputs, of each draw of signs, one a person: what depends on each other still does."""
    signs = rng.integers(2, size=(_DRAWS, len(e)), dtype=np.int8) * 2.0 - 1
    spread = np.sqrt((c**2).T @ e**2)
    largest = np.zeros(_DRAWS)
    for k in range(c.shape[1]):
        drawn = np.abs(signs @ (c[:, k, None] * e))
        tested = z[k] != 0
        if tested.any():
            largest = np.maximum(largest, (drawn[:, tested] / spread[k, tested]).max(axis=1))
    return largest
