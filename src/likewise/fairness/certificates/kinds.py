"""What kind of map an estimate is on rows, from what it says of itself: which certificates can hold for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROW_WEIGHTS = (
    "each row has weights of its own, so rows that agree where both are observed can have different estimates"
)
_CENTRED = "a missing entry is filled with its centre, not with 0, so rows at distance 0 on zero-filled data can have different estimates"


@dataclass(frozen=True, eq=False)
class KindOfMap:
    """How the rows of an estimate depend on observations.

    Parameters
    ----------
    not_linear : str
        Why no linear map describes it; empty where one does.
    row_penalty : float or None
        Of row offsets; None where rows have none.
    column_weights : ndarray, shape (n,), or None
        Weights of the columns, the same in every row.
    weights_by_row : bool
        Whether rows have weights of their own.
    centred : bool
        Whether offsets were subtracted before.
    """

    not_linear: str
    row_penalty: float | None
    column_weights: Floats | None
    weights_by_row: bool
    centred: bool

    @classmethod
    def of(cls, estimate: Any) -> KindOfMap:
        """Ask an estimate; one that says nothing is linear on zero-filled rows."""
        folding = getattr(estimate, "folding", None)
        weighting = getattr(folding, "weighting", None)
        penalty = getattr(folding, "row_penalty", None)
        by_row = weighting is not None and weighting.by_count
        return cls(
            not_linear=getattr(folding, "not_linear", ""),
            row_penalty=penalty,
            column_weights=None if weighting is None or by_row else weighting.of_columns(),
            weights_by_row=by_row,
            centred=penalty is not None or getattr(estimate, "column_offsets", None) is not None,
        )

    @property
    def plain(self) -> bool:
        """Whether the map is ``z -> clip(z P)`` on zero-filled rows, as the paper has it."""
        return not (self.not_linear or self.centred or self.weights_by_row or self.column_weights is not None)

    @property
    def not_on_zero_filled(self) -> str:
        """Why no constant holds for distances of zero-filled rows; empty where one does."""
        if self.not_linear:
            return self.not_linear
        if self.weights_by_row:
            return _ROW_WEIGHTS
        return _CENTRED if self.centred else ""

    @property
    def not_on_filled(self) -> str:
        """Why no constant holds for distances of rows filled with their centre; empty where one does."""
        return self.not_linear or (_ROW_WEIGHTS if self.weights_by_row else "")
