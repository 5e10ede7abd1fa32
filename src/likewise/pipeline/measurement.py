"""What an audit measures on the outputs of its arms: over which pairs, by which groups, at which limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError, option
from likewise.fairness import (
    FairnessMetrics,
    PairwiseDistance,
    SampledFairness,
    Verdict,
    judge_rate,
    measure_arms,
    measure_sampled,
)
from likewise.fairness.metrics.groups import number_groups
from likewise.fairness.options import check_options, check_whole, is_number
from likewise.observations.index_alignment import check_order
from likewise.progress import Steps
from likewise.randomness import generator_of

PairChoice = Literal["all"] | int


@dataclass(frozen=True, eq=False)
class Measurement:
    """Options of the measurement; see `likewise.audit`.

    Raises
    ------
    InputError
        An option out of its range, before anything is computed.
    """

    nearest_share: float = 0.1
    lipschitz: float | None = None
    tolerance: float = 0.0
    groups: ArrayLike | None = None
    pairs: PairChoice = "all"
    confidence: float = 0.95
    random_state: int | np.random.Generator | None = None

    def __post_init__(self) -> None:
        check_options(self.nearest_share, (), 0, self.lipschitz, 0.0)
        if not is_number(self.tolerance) or not 0 <= self.tolerance < 1:
            raise InputError(option("tolerance", repr(self.tolerance)), "a share of pairs in [0, 1)")
        if not is_number(self.confidence) or not 0 < self.confidence < 1:
            raise InputError(option("confidence", repr(self.confidence)), "a number in (0, 1)")
        if self.pairs != "all":
            check_whole("pairs", self.pairs, "'all', or how many pairs to draw")
        generator_of(self.random_state)

    def check_groups(self, n_individuals: int, ids: NDArray[Any] | None) -> None:
        """Raise InputError where groups are not one for each of these individuals, before anything is computed."""
        if self.groups is not None:
            number_groups(self.groups, n_individuals)
            check_order("groups", self.groups, ids)

    def measure(
        self, outputs: Mapping[str, Any], references: Mapping[str, PairwiseDistance], steps: Steps
    ) -> dict[str, FairnessMetrics]:
        """Measure every arm; together where they share a reference, which is then computed once.

        Parameters
        ----------
        outputs : mapping of str to array-like or PairwiseDistance
        references : mapping of str to PairwiseDistance
            One for each arm.
        steps : Steps

        Returns
        -------
        dict of str to FairnessMetrics
            Of the kind `SampledFairness` where pairs are drawn.
        """
        distances = [references[name] for name in outputs]
        if self.pairs == "all" and all(distance is distances[0] for distance in distances):
            with steps.step("compare all pairs") as report:
                return measure_arms(outputs, distances[0], progress=report, **self._common())
        figures: dict[str, FairnessMetrics] = {}
        for name, values in outputs.items():
            with steps.step(f"compare pairs: {name}") as report:
                figures[name] = self._measure_alone(values, references[name], report)
        return figures

    def settings(self) -> dict[str, Any]:
        """Return the options as a report lists them."""
        return {
            "nearest_share": self.nearest_share,
            "lipschitz": self.lipschitz,
            "tolerance": self.tolerance,
            "pairs": self.pairs,
            "confidence": self.confidence,
            "random_state": self.random_state if isinstance(self.random_state, int) else None,
        }

    def verdict(self, figures: FairnessMetrics) -> Verdict | None:
        """Judge ``D <= L d`` for all pairs but the tolerated share; None if no L was given."""
        if self.lipschitz is None or figures.violations is None:
            return None
        if isinstance(figures, SampledFairness):
            return figures.verdict
        return judge_rate(figures.violations.rate, self.lipschitz, tolerance=self.tolerance)

    def _measure_alone(self, outputs: Any, reference: PairwiseDistance, progress: Any) -> FairnessMetrics:
        if self.pairs == "all":
            return measure_arms({"arm": outputs}, reference, progress=progress, **self._common())["arm"]
        return measure_sampled(
            outputs,
            reference,
            n_pairs=self.pairs,
            tolerance=self.tolerance,
            confidence=self.confidence,
            random_state=self.random_state,
            progress=progress,
            **self._common(),
        )

    def _common(self) -> dict[str, Any]:
        return {"nearest_share": self.nearest_share, "lipschitz": self.lipschitz, "groups": self.groups}
