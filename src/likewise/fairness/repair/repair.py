"""Outputs made individually fair after the fact: D <= L d for everybody, seen or not, at the least change.

Without the triangle inequality nothing can be promised for people who were not seen: it is checked first.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.checks import checked_callable, checked_name, checked_positive
from likewise.errors import ConstantOutputWarning, ConvergenceWarning, DistanceError, InputError, ShapeError
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.outputs import are_distributions
from likewise.fairness.distances.rows import complete_rows
from likewise.fairness.repair.projection import (
    DistanceBlocks,
    envelopes,
    envelopes_of_all,
    least_change_of_several,
    nearest_distributions,
    project,
    shared_budgets,
)
from likewise.progress import Progress

_MOST_CHECKED = 1000
"""Individuals whose triangles are all looked at; a check costs the cube of their number."""
_ROUNDING = 1e-9


def ensure_triangle_inequality(distance: PairwiseDistance) -> None:
    """Refuse a distance that is not a metric, not even one with zeros between unequal individuals, with a DistanceError.

    What a distance says of itself is believed; where it says nothing, every triangle is looked at, for as many individuals as can be.
    """
    axioms = distance.description.axioms
    if axioms in ("metric", "pseudometric"):
        return
    what = f"the distance {distance.name!r}"
    if (broken := broken_triangle(distance)) is not None:
        *places, direct, around = broken
        i, j, k = places if distance.row_ids is None else (distance.row_ids[place] for place in places)
        raise DistanceError(
            f"{what}, for which d({i}, {k}) = {direct:.6g} exceeds d({i}, {j}) + d({j}, {k}) = {around:.6g}",
            "a metric, for which the triangle inequality holds",
            "repair with a norm of complete features, or with the distance of shortest paths",
        )
    if axioms == "semimetric" or distance.n_individuals > _MOST_CHECKED:
        raise DistanceError(
            f"{what} of {distance.n_individuals:,} individuals, whose axioms are {axioms}",
            "a distance that is known to be a metric",
            f"up to {_MOST_CHECKED:,} individuals of unknown axioms are checked",
        )


def broken_triangle(distance: PairwiseDistance) -> tuple[int, int, int, float, float] | None:
    """Return the worst i, j, k with ``d(i, k) > d(i, j) + d(j, k)`` among the first 1,000, and both sides; None if there is none.

    >>> from likewise.fairness import PrecomputedDistance
    >>> broken_triangle(PrecomputedDistance([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]]))
    (0, 1, 2, 5.0, 2.0)
    """
    m = min(distance.n_individuals, _MOST_CHECKED)
    # An undefined distance is a way that nobody can go.
    d = np.nan_to_num(distance.block(0, m, 0, m), nan=np.inf)
    worst, found = 0.0, None
    for j in range(m):
        # All ways over j at once: m products of m^2 numbers, not m^3 at a time.
        around = d[:, j, None] + d[j]
        with np.errstate(invalid="ignore"):  # of two undefined distances neither is longer
            excess = np.where(np.isfinite(d), d - around, -np.inf)
        place = int(excess.argmax())
        i, k = divmod(place, m)
        if excess[i, k] > max(worst, _ROUNDING * d[i, k]):
            worst, found = float(excess[i, k]), (i, j, k, float(d[i, k]), float(around[i, k]))
    return found


Objective = Literal["largest-change", "least-squares"]

_LOOSE_GAP = 1e-6
_UNSEEN = 1e-12
"""Of the largest output: what changes by less has not changed."""
_HARDLY_ANY = 0.05
"""Share of their spread below which outputs that are left tell hardly anything of anybody."""
_LARGEST = 1e145  # squares of differences of k such outputs are still numbers


@dataclass(frozen=True, eq=False)
class Repair:
    """Fair outputs, what they cost, and what anybody else would get.

    Parameters
    ----------
    outputs : ndarray, shape (m,) or (m, k)
        ``D(g_i, g_j) <= L d(i, j)`` for every pair, D = l2.
    original : ndarray, of the same shape
        What was repaired.
    lipschitz : float
        L.
    budgets : ndarray, shape (k,)
        L of each output; their squares sum to at most L^2.
    objective : {"largest-change", "least-squares"}
    changes : ndarray, shape (m,)
        l2 between what each individual got and gets.
    least_possible : float
        A proved lower bound, for any repair to ``D <= L d``, on what is to be least: the largest change of one person, or the root mean square of all changes. One output
        attains it, but for what the dual leaves of the squares; several need not.
    anchors : ndarray, shape (m, k)
        Outputs between whose envelopes everybody's output lies.
    distributions : bool, default False
        Whether outputs are probabilities of classes: the middle of the envelopes is then brought to the closest distribution.
    """

    outputs: Floats
    original: Floats
    lipschitz: float
    budgets: Floats
    objective: Objective
    changes: Floats
    least_possible: float
    anchors: Floats = field(repr=False)
    distributions: bool = False

    @property
    def largest_change(self) -> float:
        """The most that anybody's output was changed by."""
        return float(self.changes.max())

    @property
    def root_mean_square_change(self) -> float:
        """Root mean square of everybody's change."""
        return float(np.sqrt(np.mean(self.changes**2)))

    @property
    def n_changed(self) -> int:
        """How many individuals got another output, by more than rounding."""
        size = float(np.abs(self.original).max(initial=0.0))
        return int((self.changes > _UNSEEN * size).sum())

    @property
    def spread_left(self) -> float:
        """Share of their standard deviation, root mean square over outputs, that the repair leaves; 1 where there was none."""
        before, after = (np.linalg.norm(each - each.mean(axis=0)) for each in (self.original, self.outputs))
        rounding = _UNSEEN * np.linalg.norm(self.original)
        return float(after / before) if before > rounding else 1.0

    @property
    def were_decisions(self) -> bool:
        """Whether the outputs were whole numbers of two values at most, such as 0 and 1, and are numbers between them now."""
        values = np.unique(self.original)
        return bool(self.n_changed and len(values) <= 2 and not (values % 1).any())

    def predict(self, distances: ArrayLike) -> Floats:
        """Return the outputs of individuals who were not there, so that all pairs stay fair, old and new.

        Parameters
        ----------
        distances : array-like, shape (q, m)
            From each new individual to each old one, in the metric of the repair.

        Returns
        -------
        ndarray, shape (q,) or (q, k)

        Raises
        ------
        ShapeError
            Not one column for each individual of the repair.
        InputError
            A distance below 0.

        Examples
        --------
        >>> from likewise.fairness import RowDistance
        >>> fair = repair([0.0, 1.0], RowDistance([[0.0], [2.0]]), lipschitz=0.25)
        >>> fair.outputs, fair.predict([[1.0, 1.0]])
        (array([0.25, 0.75]), array([0.5]))
        """
        measured = np.atleast_2d(as_floats(distances, "distances"))
        if measured.ndim != 2 or measured.shape[1] != len(self.anchors):
            raise ShapeError(
                f"distances of shape {measured.shape}",
                f"(new individuals, {len(self.anchors)}): a distance to each individual of the repair",
            )
        if not (np.isfinite(measured) & (measured >= 0)).all():
            raise InputError("distances that are below 0, NaN or infinite", "distances >= 0")
        upper, lower = envelopes(measured, self.anchors, self.budgets)
        # Anything between the envelopes is fair beside the old ones; their middle is so among the new ones,
        # too.
        middle = (upper + lower) / 2
        if self.distributions:
            middle = nearest_distributions(middle)
        return middle if self.outputs.ndim == 2 else middle[:, 0]

    def to_dict(self) -> dict[str, Any]:
        """Return what the repair cost, as plain numbers."""
        return {
            "lipschitz": self.lipschitz,
            "objective": self.objective,
            "n_individuals": len(self.outputs),
            "n_changed": self.n_changed,
            "largest_change": self.largest_change,
            "root_mean_square_change": self.root_mean_square_change,
            "least_possible": self.least_possible,
            "spread_left": self.spread_left,
        }

    def __str__(self) -> str:
        fair = f"D <= {self.lipschitz:g} d for every pair, seen or not."
        if not self.n_changed:
            return f"{fair} So it was before: nobody gets another output."
        minimised = "largest change" if self.objective == "largest-change" else "root mean square change"
        told = [
            fair,
            f"{self.n_changed:,} of {len(self.outputs):,} individuals get another output: by at most {self.largest_change:.4g}, "
            f"{self.root_mean_square_change:.4g} root mean square.",
        ]
        if self.least_possible > _UNSEEN * self.largest_change:
            told.append(f"No repair has a {minimised} below {self.least_possible:.4g}.")
        told.append(f"{100 * self.spread_left:.3g}% of the spread of the outputs is left.")
        if self.were_decisions:
            values = " or ".join(f"{value:g}" for value in np.unique(self.original))
            told.append(
                f"Outputs were {values}; they are scores now, no decisions: what a threshold makes of them need not be fair."
            )
        if self.budgets.size > 1:
            told.append(f"{self.budgets.size} outputs share L; changes are lengths. Another may be less.")
        if self.distributions:
            told.append("Probabilities still sum to 1.")
        return " ".join(told)


def repair(
    outputs: ArrayLike,
    distance: PairwiseDistance,
    *,
    lipschitz: float,
    objective: Objective = "largest-change",
    progress: Progress | None = None,
) -> Repair:
    """Change outputs as little as possible so that ``D(g_i, g_j) <= L d(i, j)`` holds for everybody, seen or not.

    With ``"largest-change"``, g lies midway between two envelopes of the outputs (`likewise.fairness.repair.projection`). It is L-Lipschitz
    on the whole metric space. Nobody changes by more than half the largest excess ``D - L d``. No repair needs less, since both people of
    the worst pair must move that far together. With ``"least-squares"``, the sum of squared changes is least; g extends the fair outputs to
    others in the same way.

    Each of k outputs is repaired alone, with L_k in proportion to its spread and ``sum L_k^2 = L^2``, so that l2 between outputs is within
    L d. For k > 1 that is a guarantee, but not the least change: also fair outputs can change, since pairs whose outputs differ in one alone have no use for the budgets of the others. Where every row is
    a probability distribution, so are the repaired ones: each is brought to the closest, which parts nobody and changes nobody more.

    Parameters
    ----------
    outputs : array-like, shape (m,) or (m, k)
        Finite numbers: scores, probabilities, predictions.
    distance : PairwiseDistance
        d between the m individuals: a metric, or a pseudometric, where unequal people may be at distance 0. If it declares no axioms, they
        are checked, for up to 1,000 individuals.
    lipschitz : float
        L > 0, in units of outputs over units of d.
    objective : {"largest-change", "least-squares"}, default "largest-change"
        What is least. The second takes about ten passes over all pairs for each output.
    progress : callable, optional
        Called with (individuals done, m).

    Returns
    -------
    Repair

    Raises
    ------
    ShapeError
        There are more or fewer outputs than individuals.
    InputError
        `lipschitz` is not a number above 0; an unknown objective; outputs that are not finite numbers.
    DistanceError
        d is not a metric; the triangle that shows it is named.

    Warns
    -----
    ConstantOutputWarning
        Less than a twentieth of the spread of the outputs is left.

    References
    ----------
    McShane, "Extension of range of functions", Bull. AMS 1934; Whitney, Trans. AMS 1934. Fair outputs as a constraint: Dwork et al., "Fairness
    through awareness", ITCS 2012.

    Examples
    --------
    Two similar applicants with unlike scores, and a third far from both:

    >>> from likewise.fairness import RowDistance
    >>> fair = repair([0.9, 0.1, 0.5], RowDistance([[0.0], [1.0], [9.0]]), lipschitz=0.2)
    >>> fair.outputs
    array([0.6, 0.4, 0.5])
    >>> print(fair)
    D <= 0.2 d for every pair, seen or not. 2 of 3 individuals get another output: by at most 0.3, 0.2449 root mean square. No repair has a largest change below 0.3. 25% of the spread of the outputs is left.
    """
    given = _checked_outputs(outputs, distance)
    budget = checked_positive("lipschitz", lipschitz)
    checked_name("objective", objective, get_args(Objective))
    report = None if progress is None else checked_callable("progress", progress)
    ensure_triangle_inequality(distance)
    columns, blocks = given.reshape(len(given), -1), DistanceBlocks(distance)
    budgets = shared_budgets(columns, budget)
    distributions = columns.shape[1] > 1 and bool(are_distributions(columns).all())
    if objective == "largest-change":
        fair, least = _between_envelopes(columns, blocks, budgets, report)
        anchors = columns
    else:
        fair, least = _closest(columns, blocks, budgets)
        # Envelopes of fair outputs pass through them, so whoever comes later is fair beside everybody's;
        # those of the given ones need not.
        anchors = fair
    if (
        columns.shape[1] > 1
    ):  # the budgets are one way to share L; what no repair can do without is asked of all
        least = least_change_of_several(columns, blocks, budget, objective)
    fair = nearest_distributions(fair) if distributions else fair
    found = Repair(
        outputs=fair.reshape(given.shape),
        original=given,
        lipschitz=budget,
        budgets=budgets,
        objective=objective,
        changes=np.linalg.norm(fair - columns, axis=1),
        least_possible=least,
        anchors=anchors,
        distributions=distributions,
    )
    _warn_of_constant_outputs(found)
    return found


def _warn_of_constant_outputs(found: Repair) -> None:
    """Say so where outputs are fair because they hardly differ any more."""
    if found.n_changed and found.spread_left < _HARDLY_ANY:
        warnings.warn(
            f"repaired outputs are nearly constant: {100 * found.spread_left:.2g}% of their spread is left, so they tell hardly anything of anybody. A "
            "larger L leaves more; mind what one unit of d is",
            ConstantOutputWarning,
            stacklevel=3,
        )


def _between_envelopes(
    columns: Floats, blocks: DistanceBlocks, budgets: Floats, report: Progress | None
) -> tuple[Floats, float]:
    """Return the middle between the envelopes, and the least largest change with these budgets."""
    with np.errstate(over="ignore"):  # a limit beyond all numbers asks for nothing
        upper, lower = envelopes_of_all(blocks, columns, budgets, report)
    # Somebody's own output is on both sides of their envelopes, so what the upper one lacks is an excess D - L d of a pair.
    return (upper + lower) / 2, float(np.max(columns - upper, initial=0.0)) / 2


def _closest(columns: Floats, blocks: DistanceBlocks, budgets: Floats) -> tuple[Floats, float]:
    """Return the fair outputs closest in squared error, and a lower bound on the root mean square change of any with these budgets."""
    m = len(columns)
    found = [project(values, blocks, budget) for values, budget in zip(columns.T, budgets, strict=True)]
    changed = sum(projection.squared_change for projection in found)
    bound = sum(projection.lower_bound for projection in found)
    rounding = m * (_UNSEEN * float(np.abs(columns).max())) ** 2
    # What was reached and what is proved differ by all that is not known of the least change.
    if changed - bound > _LOOSE_GAP * changed + rounding:
        warnings.warn(
            f"the least squared change is known to lie between {bound:.6g} and {changed:.6g} only; the outputs are fair all the same",
            ConvergenceWarning,
            stacklevel=3,
        )
    return np.column_stack([projection.outputs for projection in found]), float(np.sqrt(max(bound, 0.0) / m))


def _checked_outputs(outputs: ArrayLike, distance: PairwiseDistance) -> Floats:
    rows = complete_rows(outputs)
    given = rows[:, 0] if np.ndim(outputs) == 1 else rows
    if not isinstance(distance, PairwiseDistance):
        raise DistanceError(
            f"a distance of type {type(distance).__name__}",
            "a PairwiseDistance, such as RowDistance(features)",
        )
    n_individuals = distance.n_individuals
    if len(given) != n_individuals:
        raise ShapeError(
            f"outputs of {len(given)} individuals", f"those of the {n_individuals} individuals of d"
        )
    largest = float(np.abs(given).max())
    if largest > _LARGEST:
        raise DistanceError(
            f"outputs up to {largest:.3g}, whose squares exceed the largest number", "smaller units"
        )
    return given
