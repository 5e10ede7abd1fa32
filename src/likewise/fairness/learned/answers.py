"""What people answered: of two individuals whether they are similar, or of three which of two is closer to the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Indices
from likewise.errors import DistanceError, ShapeError
from likewise.observations.ids import as_id_array
from likewise.observations.index_alignment import positions_of

_PARTS = 3

LEAST = 20
"""Answers below which nothing is learned."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers about individuals, by their positions."""

    # (k, 2) or (k, 3): of a pair the two; of a triplet the one that was asked about, the closer and the
    # farther one
    individuals: Indices
    similar: NDArray[np.bool_] | None  # (k,), of pairs, whether they were called similar; None for triplets
    judges: NDArray[Any] | None = None  # (k,), who answered

    @classmethod
    def of(
        cls,
        row_ids: NDArray[Any],
        pairs: Sequence[Any] | None,
        triplets: Sequence[Any] | None,
        judges: ArrayLike | None,
    ) -> Answers:
        """Check answers that name individuals by their ids.

        DistanceError for pairs and triplets, or neither; fewer than 20; an answer that is no yes or no; all answers the same; the same individual
        twice. ShapeError for answers of another length, or judges of another number. ObservationError for an unknown id.
        """
        if (pairs is None) == (triplets is None):
            raise DistanceError(
                "pairs and triplets" if pairs is not None else "no answers", "one of pairs and triplets"
            )
        given = _answers(triplets if pairs is None else pairs)
        if len(given) < LEAST:
            raise DistanceError(
                f"{len(given)} answers",
                f"at least {LEAST}",
                "a few hundred answers are enough to learn the weights",
            )
        # The third part of a pair is its answer, that of a triplet another individual.
        named = [answer[:2] for answer in given] if triplets is None else given
        flat = np.empty(sum(map(len, named)), dtype=object)
        flat[:] = [name for answer in named for name in answer]
        individuals = positions_of(flat, row_ids, "row").reshape(len(given), -1)
        similar = None if triplets is not None else _yes_or_no([answer[2] for answer in given])
        _refuse_same(individuals, row_ids)
        return cls(individuals, similar, _checked_judges(judges, len(given)))

    @property
    def n(self) -> int:
        """How many."""
        return len(self.individuals)

    def in_words(self) -> str:
        """Say how many answers of what kind there are, and of how many judges."""
        kind = "which of two is closer" if self.similar is None else "similar or not"
        by = "" if self.judges is None else f" of {len(set(map(str, self.judges.tolist()))):,} judges"
        return f"{self.n:,} answers{by} ({kind})"


def _answers(given: Any) -> list[Any]:
    """Return answers of three things each."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence | np.ndarray):
        raise DistanceError(f"answers of type {type(given).__name__}", "a list of them")
    answers = list(given)
    if any(not isinstance(answer, list | tuple | np.ndarray) or len(answer) != _PARTS for answer in answers):
        raise ShapeError("answers of other lengths", "(left, right, similar) or (anchor, closer, farther)")
    return answers


def _yes_or_no(given: list[Any]) -> NDArray[np.bool_]:
    wrong = [
        answer for answer in given if not (isinstance(answer, int | float | np.generic) and answer in (0, 1))
    ]
    if wrong:
        raise DistanceError(f"an answer {wrong[0]!r}", "True for similar, False for not")
    answers = np.array([bool(answer) for answer in given])
    if answers.all() or not answers.any():
        said = "similar" if answers.all() else "not similar"
        raise DistanceError(
            f"{answers.size} pairs that are all {said}", "some that are similar and some that are not"
        )
    return answers


def _refuse_same(individuals: Indices, row_ids: NDArray[Any]) -> None:
    """Raise where an individual is compared with itself: that is no question."""
    ordered = np.sort(individuals, axis=1)
    same = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if same.size:
        name = row_ids[individuals[same[0], 0]]
        raise DistanceError(
            f"{same.size} answers that name one individual twice, such as {name!r}", "different ones"
        )


def _checked_judges(judges: ArrayLike | None, n: int) -> NDArray[Any] | None:
    if judges is None:
        return None
    checked = as_id_array(judges, "judges")
    if checked.shape != (n,):
        raise ShapeError(f"judges of shape {checked.shape}", f"({n},), one for each answer")
    return checked
