"""What outputs should have told of everybody: the target, which of them is known, and which of two values counts as 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats
from likewise.errors import InputError, ShapeError
from likewise.observations.ids import as_id_array, unknown_labels
from likewise.observations.reading.output_kinds import two_valued


@dataclass(frozen=True, eq=False)
class Target:
    """A target as it was understood.

    Parameters
    ----------
    known : ndarray of bool, shape (m,)
        Whose is known.
    values : ndarray, shape (n_known,)
        Numbers, or text.
    classes : ndarray
        The different values, sorted.
    """

    known: NDArray[np.bool_]
    values: NDArray[Any]
    classes: NDArray[Any]

    @classmethod
    def of(cls, target: ArrayLike, n_individuals: int) -> Target:
        """Understand a target; what is missing is unknown, and left out.

        Raises
        ------
        ShapeError
            Another length than there are individuals.
        InputError
            Nothing known, the same for all, or a number that is infinite.
        """
        given = as_id_array(target, "the target")
        if given.shape != (n_individuals,):
            raise ShapeError(
                f"a target of shape {given.shape}", f"one value for each of {n_individuals} individuals"
            )
        known = ~unknown_labels(given)
        values = _numbers_or_text(given[known])
        classes = np.unique(values)
        if classes.size < 2:
            given_is = f"the same for all of them, {classes[0]!s}" if classes.size else "known of nobody"
            raise InputError(
                f"a target of {known.sum():,} of {n_individuals:,} individuals, {given_is}",
                "at least two different values",
                "accuracy has no meaning if everybody has the same target",
            )
        return cls(known, values, classes)

    @property
    def is_text(self) -> bool:
        """Whether the values are words."""
        return self.values.dtype.kind == "O"

    def as_zero_one(self) -> tuple[Floats, str]:
        """Return one of two values as 1 and the other as 0, and say which is which."""
        if self.is_text and (read := two_valued(self.values.tolist())) is not None:
            return np.array(read[0]), read[1].replace("outputs: ", "target: ", 1)
        low, high = self.classes.tolist()
        spoken = [repr(one) if self.is_text else f"{one:g}" for one in (high, low)]
        meaning = f"target: {spoken[0]} counts as 1, {spoken[1]} counts as 0"
        return (self.values == high).astype(np.float64), meaning


def _numbers_or_text(known: NDArray[Any]) -> NDArray[Any]:
    """Return floats where all values are numbers, or text that reads as them; else text."""
    try:
        numbers = known.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array([str(one) for one in known.tolist()], dtype=object)
    if not np.isfinite(numbers).all():
        raise InputError(
            f"a target with {np.count_nonzero(~np.isfinite(numbers)):,} infinite values", "finite numbers"
        )
    return numbers
