"""Folding for a mixture of estimates: each part folds a row in as it does alone, and their results are mixed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.certificates.regression_map import RegressionMap, RegressionMixture
from likewise.errors import InputError
from likewise.estimation.base.folding import Factors, Folding, LinearFolding, RidgeFolding
from likewise.estimation.base.posterior_folding import PosteriorFolding
from likewise.observations import Features
from likewise.observations.table import Values

_OF_PARTS: dict[str, type[Folding]] = {
    folding.kind: folding for folding in (LinearFolding, RidgeFolding, PosteriorFolding)
}
_NUMBERS = ("weight", "right", "gains", "turn")


@dataclass(frozen=True, eq=False)
class MixturePart:
    """One estimate of a mixture, as far as folding needs it."""

    weight: float  # >= 0
    right: Floats  # (n, r_p), V of the part
    gains: Floats  # (r_p,)
    column_offsets: Floats | None  # (n,)
    folding: Folding
    turn: Floats  # (r_p, r), from coefficients of the part to those of the mixture: c V_p^T = c turn V^T

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `from_arrays` needs, to be stored."""
        arrays = {name: np.asarray(getattr(self, name), dtype=np.float64) for name in _NUMBERS}
        if self.column_offsets is not None:
            arrays["column_offsets"] = self.column_offsets
        own = {f"folding_{name}": array for name, array in self.folding.to_arrays().items()}
        return arrays | own | {"kind": np.array(self.folding.kind)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return what was stored; `InputError` if something is missing, of another shape, or of a kind that this version does not know."""
        if not {*_NUMBERS, "kind"} <= set(arrays) or str(arrays["kind"]) not in _OF_PARTS:
            raise InputError(f"a part of a mixture with {sorted(arrays)}", "a whole part")
        own = {name.removeprefix("folding_"): a for name, a in arrays.items() if name.startswith("folding_")}
        part = cls(
            float(arrays["weight"]),
            arrays["right"],
            arrays["gains"],
            arrays.get("column_offsets"),
            _OF_PARTS[str(arrays["kind"])].from_arrays(own),
            arrays["turn"],
        )
        rank = part.right.shape[-1]
        if part.right.ndim != 2 or part.gains.shape != (rank,) or part.turn.shape[:-1] != (rank,):
            raise InputError("a part of a mixture whose shapes do not fit", "a whole part")
        return part


@dataclass(frozen=True, eq=False)
class MixtureFolding(Folding):
    """``c = sum_p weight_p c_p turn_p`` and ``a = sum_p weight_p a_p``: of a row, the weighted sum of what its parts make of it.

    The weights of the parts sum to 1; row penalties and weights of observations are their own.
    """

    parts: tuple[MixturePart, ...] = field(kw_only=True)

    kind: ClassVar[str] = "mixture"
    not_linear: ClassVar[str] = (
        "it is a mixture of estimates, each of which maps rows in its own way, so no one linear map describes it"
    )

    def fold(self, observations: Values, factors: Factors) -> tuple[Floats, Floats | None]:  # noqa: ARG002
        """Return the coefficients of rows, and their offsets where a part has such."""
        folded = [(part, *part.folding.fold(observations, part)) for part in self.parts]
        coefficients = np.sum([part.weight * (own @ part.turn) for part, own, _ in folded], axis=0)
        offsets = [part.weight * own for part, _, own in folded if own is not None]
        return np.asarray(coefficients), np.asarray(np.sum(offsets, axis=0)) if offsets else None

    def coefficients(self, residuals: Values, weights: Floats | None, factors: Factors) -> Floats:  # noqa: ARG002
        """Return the mixture of the parts' coefficients; offsets and weights are those that each part finds for itself."""
        return self.fold(residuals, factors)[0]

    def knowing(self, features: Features | None) -> Self:
        """Return the folding of rows whose features are known, to every part; see `Folding.knowing`."""
        return self._with(lambda folding: folding.knowing(features))

    def stronger(self, strength: float) -> Self:
        """Return the same with the prior of every part so many times as strong; see `Folding.stronger`."""
        return self._with(lambda folding: folding.stronger(strength))

    def _with(self, change: Callable[[Folding], Folding]) -> Self:
        return replace(self, parts=tuple(replace(part, folding=change(part.folding)) for part in self.parts))

    def regression(self, factors: Factors) -> RegressionMixture | str:  # noqa: ARG002
        """Return the mixture of the parts' regressions, or why a part is none."""
        found = []
        for number, part in enumerate(self.parts, start=1):
            regression = part.folding.regression(part)
            if not isinstance(regression, RegressionMap):
                return (
                    f"part {number} of the mixture has no constant in the metric of the others: {regression}"
                )
            found.append(regression)
        return RegressionMixture(tuple(found), np.array([part.weight for part in self.parts]))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `from_arrays` needs, to be stored."""
        return {
            f"part{number}_{name}": array
            for number, part in enumerate(self.parts)
            for name, array in part.to_arrays().items()
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return what was stored."""
        parts: dict[str, dict[str, NDArray[Any]]] = {}
        for name, array in arrays.items():
            prefix, _, rest = name.partition("_")
            parts.setdefault(prefix, {})[rest] = array
        ordered = [f"part{number}" for number in range(len(parts))]
        if not parts or set(ordered) != set(parts):
            raise InputError(f"a mixture of {sorted(parts)}", "its parts")
        found = tuple(MixturePart.from_arrays(parts[name]) for name in ordered)
        if len({part.turn.shape[1] for part in found}) > 1:
            raise InputError("parts of a mixture with coefficients of different lengths", "parts that fit")
        return cls(parts=found)


FOLDINGS: dict[str, type[Folding]] = {**_OF_PARTS, MixtureFolding.kind: MixtureFolding}
"""Kinds of folding by the name under which they are stored."""
