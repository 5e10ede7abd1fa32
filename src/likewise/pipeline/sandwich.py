"""Three numbers for each arm: the largest ratio over the pairs of the data, the worst that a search over unseen rows finds, and what is proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from likewise._typing import Floats, Indices, Mask
from likewise.certificates import (
    Certificate,
    LipschitzCertificates,
    RegressionCertificate,
)
from likewise.certificates.worst_rows import worst_rows
from likewise.estimation import LowRankEstimate
from likewise.fairness import PairwiseDistance, PatternDistance, RowDistance, search_unseen_rows
from likewise.fairness.search.unseen_rows import attained_ratios, rounding_of
from likewise.norms import Norm, norm_name, norm_order
from likewise.pipeline.own_constants import own_constants
from likewise.pipeline.run import Run
from likewise.pipeline.summaries import Proved, proved_of_d
from likewise.randomness import generator_of
from likewise.report.records import Sandwich

SANDWICH_INDIVIDUALS = 300
"""Whose pairs are all measured unless told otherwise: 44,850 of them; where there are more people, so many are drawn."""
_STARTS = 4
"""Pairs of the data that the search begins with, those of the largest ratios."""
_BLOCK = 512
"""Individuals whose distances to all later ones are held at once."""
_STEP = 0.1
"""By how much the two rows differ that attain a constant of a linear map: small, so that nothing is clipped."""


@dataclass(frozen=True, eq=False)
class _Question:
    """What is asked of one arm."""

    function: Callable[[Floats], Any]
    norm: Norm
    empty: float | None = None
    admissible: Callable[[Floats], Mask] | None = None
    starts: tuple[Floats, ...] = ()
    regression: RegressionCertificate | None = None

    @property
    def words(self) -> str:
        """What d is."""
        if self.empty is None:
            return f"{norm_name(norm_order(self.norm))} between zero-filled rows"
        return f"l1 with the empty entry as a point, {self.empty:.4g} from every value"

    def distance(self, rows: Floats) -> PairwiseDistance:
        """Return d between rows."""
        if self.empty is None:
            return RowDistance(np.nan_to_num(rows), self.norm)
        return PatternDistance(_stored(rows), self.empty)


def sandwiches(
    run: Run,
    proved: Mapping[str, Proved],
    certificates: LipschitzCertificates | None,
    norm: Norm,
    worst: Mapping[str, Indices],
    random_state: int | np.random.Generator | None = 0,
    n_individuals: int = SANDWICH_INDIVIDUALS,
) -> dict[str, Sandwich]:
    """Return for each arm in which an algorithm ran here how large D / d is: measured <= found <= proved.

    An arm is measured from d between zero-filled rows, in `norm`, unless its constant speaks of another distance. All pairs of `n_individuals` are measured:
    of those in `worst`, the positions of individuals of the pairs that are known to be the worst in each arm, and of others who are drawn. Arms whose
    algorithm is no function of a row that is known here are left out.
    """
    found: dict[str, Sandwich] = {}
    for arm in run.trained:
        question = _question(arm, run, certificates, norm)
        if question is not None and run.training is not None:
            rng = generator_of(random_state)
            known = worst.get(arm, np.empty(0, dtype=np.intp))
            people = _people(run.training.shape[0], known, n_individuals, rng)
            found[arm] = _answer(question, run, arm, proved.get(arm), people, rng)
    return found


def _question(arm: str, run: Run, certificates: LipschitzCertificates | None, norm: Norm) -> _Question | None:
    """Return the function of an arm with the distance that its constant speaks of; None where no search can be made."""
    function = run.trained[arm].function
    if function is None:
        return None
    if arm == "without":
        return _Question(lambda rows: function(np.nan_to_num(rows)), norm)
    if run.estimate is None or certificates is None:
        return None
    estimate = run.estimate.on_working_range()

    def both(rows: Floats) -> Any:
        return function(estimate.fold_in(rows))

    regression = certificates.regression
    if isinstance(regression, RegressionCertificate):
        worst = _filled(worst_rows(regression.map, starts=8).rows)
        within = np.nanmin(worst) >= estimate.scale.bounds[0]  # the search knows the range [-1, 1] alone
        return _Question(
            both,
            "l1",
            regression.empty,
            lambda rows: regression.covers(_stored(rows)),
            (worst,) if within else (),
            regression,
        )
    if not proved_of_d(arm, certificates, norm):
        return None
    return _Question(both, norm, starts=(_steepest(estimate),))


def _steepest(estimate: LowRankEstimate) -> Floats:
    """Return two rows, within any working range, that differ in the feature along which a linear map moves most."""
    # A step in feature j moves the estimate by V diag(g) v_j, and V has orthonormal columns: its length is that of g v_j.
    lengths = np.linalg.norm(estimate.right * estimate.gains, axis=1)
    rows = np.zeros((2, estimate.shape[1]))
    rows[:, int(lengths.argmax())] = _STEP, 0.0
    return rows


def _answer(
    question: _Question,
    run: Run,
    arm: str,
    proved: Proved | None,
    people: Indices,
    rng: np.random.Generator,
) -> Sandwich:
    assert run.training is not None
    rows = _filled(run.training.scaled(run.working_range).values[people])
    constant = proved.value if isinstance(proved, Certificate) else None
    # A constant speaks of rows that are folded in; those of the fit can depart from that by what a solver left.
    outputs = question.function(rows) if constant is not None else np.asarray(run.outputs[arm])[people]
    ratios, worst = _rows_of_worst_pairs(question, rows, np.asarray(outputs, dtype=np.float64))
    measured = float(ratios[0])
    starts = np.stack([*rows[worst], *question.starts])
    searched = search_unseen_rows(
        question.function,
        starts,
        norm=question.norm,
        empty=question.empty,
        admissible=question.admissible,
        random_state=rng,
    )
    return Sandwich(
        measured=measured,
        found=max(measured, searched.ratio),
        proved=constant,
        distance=question.words,
        n_individuals=len(people),
        n_pairs=len(people) * (len(people) - 1) // 2,
        drawn=len(people) < run.training.shape[0],
        n_rows=searched.n_rows,
        own=own_constants(question.regression, constant, _stored(rows), run.training.row_ids[people]),
    )


def _rows_of_worst_pairs(question: _Question, rows: Floats, outputs: Floats) -> tuple[Floats, Indices]:
    """Return the largest ratios D / d between all rows, the largest first, and whose they are, shape (pairs, 2)."""
    columns = outputs.reshape(len(outputs), -1)
    D, d, rounding = RowDistance(columns, "l2"), question.distance(rows), rounding_of(rows, columns)
    k, largest, pairs = len(rows), np.empty(0), np.empty((0, 2), dtype=np.intp)
    for start in range(0, k, _BLOCK):
        stop = min(start + _BLOCK, k)
        of_outputs, of_rows = (distance.block(start, stop, start, k) for distance in (D, d))
        ratios = attained_ratios(of_outputs, of_rows, rounding[start:stop, None] + rounding[start:])
        # Once as many are kept as are wanted, only what is larger than the least of them counts.
        bar = largest[-1] if largest.size == _STARTS else -1.0
        left, right = np.nonzero(np.triu(ratios > bar, 1))
        largest = np.append(largest, ratios[left, right])
        pairs = np.vstack([pairs, np.column_stack([left, right]) + start])
        # Stable: of equal ratios the pair that came first stays, whatever the size of a block.
        kept = np.argsort(-largest, kind="stable")[:_STARTS]
        largest, pairs = largest[kept], pairs[kept]
    return largest, pairs


def _people(m: int, worst: Indices, n_individuals: int, rng: np.random.Generator) -> Indices:
    """Return everybody, or those of the worst pairs and others who are drawn."""
    if m <= n_individuals:
        return np.arange(m)
    # Individuals who are drawn hardly meet the worst pairs, without which the measured ratio says little.
    worst = worst[:n_individuals]
    others = np.setdiff1d(rng.permutation(m), worst, assume_unique=True)
    drawn = rng.choice(others, n_individuals - worst.size, replace=False)
    return np.sort(np.concatenate([worst, drawn]))


def _filled(values: sparse.csr_array) -> Floats:
    """Return rows in which NaN stands where nothing is stored."""
    rows = np.full(values.shape, np.nan)
    entries = sparse.coo_array(values)
    rows[entries.row, entries.col] = entries.data
    return rows


def _stored(rows: Floats) -> sparse.csr_array:
    """Return rows of which what is not NaN is stored, zeros too."""
    seen = ~np.isnan(rows)
    counts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    return sparse.csr_array((rows[seen], np.nonzero(seen)[1], counts), shape=rows.shape)
