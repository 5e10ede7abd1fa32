"""What an audit measures on the outputs of its arms: over which pairs, by which groups, at which limit, in how much memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.arrays import as_array
from likewise.checks import checked_confidence, checked_name, checked_share, checked_whole
from likewise.errors import InputError, option
from likewise.fairness import (
    FairnessMetrics,
    LearnedDistance,
    PairedDifferences,
    PairExplanation,
    PairwiseDistance,
    RowDistance,
    Verdict,
    WorstPair,
    explain_pair,
    judge_learned,
    measure_arms,
    measure_sampled,
    paired_differences,
    verdict,
    violating_share,
)
from likewise.fairness.distances.named_outputs import check_output_distance
from likewise.fairness.metrics.groups import number_groups
from likewise.fairness.metrics.target_accuracy import Target
from likewise.fairness.metrics.worst_pairs import WORST
from likewise.fairness.options import check_options
from likewise.memory import bytes_of, ensure_fits, format_bytes
from likewise.observations import ObservedMatrix
from likewise.observations.ids import as_labels
from likewise.observations.index_alignment import aligned
from likewise.pipeline.summaries import Proved
from likewise.pipeline.violating_pairs import write_violating_pairs
from likewise.progress import Steps
from likewise.randomness import generator_of
from likewise.writing import PathLike, check_file

PairChoice = Literal["all"] | int
MissingEntries = Literal["any", "intervals"]

_PAIRED = 20_000
"""Pairs drawn to compare two arms pair by pair; a share of them is known to within a percent."""

_RATINGS = 2
"""Dimensions of a target that has a value for each individual and item."""

_LISTED = 5
"""Features that are listed of each of the worst pairs."""

_ACROSS, _KEPT_WITH_GROUPS = 5, 100
"""Pairs across groups that are explained, those among the worst ones included; and among how many of the largest ratios they are looked for."""

_WORKING = 64 * 2**20
"""Bytes for blocks of distances, whatever the number of pairs."""

_COMPLETE_MATRICES = 4
"""Held at once while the second arm runs: outputs of the first, the estimate, outputs, and a working copy."""

DEFAULT_MEMORY = "1 GiB"
"""What an audit may hold beyond its data unless told otherwise."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """Options of the measurement; see `likewise.audit`. One out of its range raises InputError before anything is computed."""

    nearest_share: float = 0.1
    lipschitz: float | None = None
    tolerance: float = 0.0
    groups: ArrayLike | None = None
    pairs: PairChoice = "all"
    confidence: float = 0.95
    random_state: int | np.random.Generator | None = None
    memory_limit: float | str = DEFAULT_MEMORY
    violations: PathLike | None = None
    output_distance: str | None = None
    consistency: int | None = None
    least_shared: int | None = None
    missing_entries: MissingEntries | None = None
    target: ArrayLike | ObservedMatrix | None = None
    item_groups: ArrayLike | Mapping[Any, Any] | None = None
    paired: Mapping[str, Any] = field(default_factory=lambda: {"population": "data set"})
    population: Literal["data set", "population"] = "data set"
    notes: tuple[str, ...] = ()
    individual_constants: PathLike | None = None
    sandwich_individuals: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Take those of the arguments of `likewise.audit`, by name, that say how to measure."""
        return cls(**{field.name: given[field.name] for field in fields(cls) if field.name in given})

    def __post_init__(self) -> None:
        check_options(self.nearest_share, (), 0, self.lipschitz, 0.0)
        checked_share("tolerance", self.tolerance, zero=True)
        if self.tolerance:
            self._ensure_limit("tolerance", self.tolerance)
        if self.missing_entries is not None:
            checked_name("missing_entries", self.missing_entries, get_args(MissingEntries))
            self._ensure_limit("missing_entries", self.missing_entries)
        if self.violations is not None:
            self._ensure_limit("violations", str(self.violations))
            check_file(self.violations)
        if self.individual_constants is not None:
            check_file(self.individual_constants)
        if self.sandwich_individuals is not None:
            checked_whole("sandwich_individuals", self.sandwich_individuals, least=2)
        checked_confidence(self.confidence)
        if self.output_distance is not None:
            check_output_distance(self.output_distance)
        if self.consistency is not None:
            checked_whole("consistency", self.consistency)
        if self.least_shared is not None:
            checked_whole("least_shared", self.least_shared)
        if not (isinstance(self.pairs, str) and self.pairs == "all"):
            checked_whole("pairs", self.pairs, or_else="'all'")
        generator_of(self.random_state)
        bytes_of(self.memory_limit)

    def _ensure_limit(self, name: str, value: str | float) -> None:
        """Raise where something was asked for that only a limit gives a meaning."""
        if self.lipschitz is None:
            given = f"{option(name, repr(value))} without {option('lipschitz', '')}"
            raise InputError(given, "both, or neither")

    def of_individuals(self, n_individuals: int, ids: NDArray[Any] | None) -> Measurement:
        """Return the same with groups and target in the order of these individuals; raise InputError where there is not one for each."""
        groups, of_groups = aligned("groups", self.groups, ids)
        target, of_target = self._target_of(n_individuals, ids)
        if groups is not None:
            number_groups(groups, n_individuals)
        return replace(self, groups=groups, target=target, notes=(*of_groups, *of_target))

    def _target_of(self, n_individuals: int, ids: NDArray[Any] | None) -> tuple[Any, tuple[str, ...]]:
        """Return the target in the order of the individuals; ratings, which have ids of their own, as they are."""
        if isinstance(self.target, ObservedMatrix):
            return self.target, ()
        target, notes = aligned("target", self.target, ids)
        found = as_array(target, "target")
        if found.ndim == _RATINGS and found.shape[1] != 1:
            return ObservedMatrix(self.target), ()
        target = found.ravel() if found.ndim == _RATINGS else target
        if target is not None:
            Target.of(target, n_individuals)
        return target, notes

    def check_memory(self, shape: tuple[int, int]) -> None:
        """Raise MemoryLimitError where complete matrices of this shape would not fit: before the work, not after it."""
        m, n = shape
        ensure_fits(
            _matrix_bytes(shape),
            f"complete {m:,} x {n:,} matrices of both arms",
            f"raise {option('memory_limit', '')}, or audit outputs computed elsewhere",
            bytes_of(self.memory_limit),
        )

    def needed_memory(self, shape: tuple[int, int], *, runs_model: bool) -> str:
        """Say what an audit will hold beyond its data.

        >>> print(Measurement().needed_memory((24_983, 100), runs_model=True))
        about 140.2 MiB: 76.2 MiB for complete matrices, and 312,062,653 pairs measured block by block, as holding them would take 7.0 GiB
        """
        m, matrices = shape[0], _matrix_bytes(shape) if runs_model else 0.0
        n_pairs, held = m * (m - 1) // 2, _pair_bytes(m, 2 if runs_model else 1)
        streams = self.pairs == "all" and self.streams(m, 2 if runs_model else 1)
        pairs = f"{format_bytes(held)} for {n_pairs:,} pairs"
        if self.pairs != "all":
            pairs, held = f"drawn pairs ({self.pairs:,})", _WORKING
        elif streams:
            pairs = (
                f"{n_pairs:,} pairs measured block by block, as holding them would take {format_bytes(held)}"
            )
            held = _WORKING
        return f"about {format_bytes(matrices + held)}: {format_bytes(matrices)} for complete matrices, and {pairs}"

    def measure(
        self, outputs: Mapping[str, Any], references: Mapping[str, PairwiseDistance], steps: Steps
    ) -> dict[str, FairnessMetrics]:
        """Measure every arm; together where they share a reference, which is then computed once. Drawn pairs give `SampledFairness`."""
        if self.pairs == "all" and _are_one(references[name] for name in outputs):
            reference = next(iter(references.values()))
            streams = self.streams(reference.n_individuals, len(outputs))
            with steps.step(f"compare all pairs{' block by block' if streams else ''}") as report:
                return self._measure_all(outputs, reference, report)
        found: dict[str, FairnessMetrics] = {}
        for name, values in outputs.items():
            with steps.step(f"compare pairs: {name}") as report:
                found[name] = self._measure_alone(values, references[name], report)
        return found

    def compare(
        self, outputs: Mapping[str, PairwiseDistance], references: Mapping[str, PairwiseDistance]
    ) -> PairedDifferences | None:
        """Compare two arms pair by pair, on drawn pairs; None where there is one arm, or each has its own reference."""
        population = self.paired.get("population")
        if population is not None:
            checked_name("population", population, ("data set", "population"))
        if len(outputs) != 2 or population is None or not _are_one(references.values()):
            return None
        options = dict(self.paired)
        # Pairs of these data may share people; pairs of the population may not, so their number has its own default.
        if population == "data set" and options.get("n_pairs") is None:
            m = next(iter(references.values())).n_individuals
            options["n_pairs"] = min(_PAIRED, m * (m - 1) // 2)
        before, after = outputs.values()
        return paired_differences(
            before,
            after,
            next(iter(references.values())),
            confidence=self.confidence,
            nearest_share=self.nearest_share,
            random_state=self.random_state,
            **options,
        )

    def explain(
        self,
        fairness: FairnessMetrics,
        output: PairwiseDistance,
        reference: PairwiseDistance,
        output_ids: ArrayLike | None,
    ) -> tuple[PairExplanation, ...]:
        """Say of the worst pairs which features make d small, and which outputs make D large."""
        if not isinstance(output, RowDistance) or output.rows.shape[1:] != np.shape(np.asarray(output_ids)):
            output_ids = None  # of lists of items, which have names of their own, or of sums over outputs
        ids = range(reference.n_individuals) if reference.row_ids is None else reference.row_ids.tolist()
        wanted = {one for pair in fairness.worst for one in (pair.left, pair.right)}
        places = {one: place for place, one in enumerate(ids) if one in wanted}
        groups = None if self.groups is None else as_labels(self.groups, "groups")
        chosen = [*fairness.worst[:WORST], *_across(fairness.worst, places, groups)]
        return tuple(
            explain_pair(
                output,
                reference,
                places[pair.left],
                places[pair.right],
                output_ids=output_ids,
                groups=groups,
                top=_LISTED,
            )
            for pair in chosen
        )

    def list_violations(
        self, outputs: Mapping[str, PairwiseDistance], references: Mapping[str, PairwiseDistance]
    ) -> None:
        """Write every violating pair to the file that was asked for, if any."""
        if self.violations is not None and self.lipschitz is not None:
            write_violating_pairs(self.violations, outputs, references, self.lipschitz)

    def settings(self) -> dict[str, Any]:
        """Return the options as a report lists them."""
        return {
            "nearest_share": self.nearest_share,
            "lipschitz": self.lipschitz,
            "tolerance": self.tolerance,
            "pairs": self.pairs,
            "confidence": self.confidence,
            "missing_entries": self.missing_entries,
            "random_state": self.random_state if isinstance(self.random_state, int) else None,
            "memory_limit": format_bytes(bytes_of(self.memory_limit)),
            "output_distance": self.output_distance,
            "consistency": self.consistency,
        }

    def judge(
        self,
        fairness: FairnessMetrics,
        output: PairwiseDistance,
        reference: PairwiseDistance,
        proved: Proved | None = None,
    ) -> Verdict | None:
        """Judge ``D <= L d`` for all pairs but the tolerated share, by what is proved of this d first; None if no L was given."""
        if self.lipschitz is None:
            return None
        if not isinstance(reference, LearnedDistance):
            measured = fairness.violations is not None
            return verdict(fairness, self.lipschitz, self.tolerance, proved) if measured else None
        # Nothing is proved of a learned d: the answers that it was learned from leave open what it is.
        share = violating_share(
            output, reference, self.lipschitz, confidence=self.confidence, random_state=self.random_state
        )
        return judge_learned(share, reference, self.lipschitz, tolerance=self.tolerance)

    def streams(self, n_individuals: int, n_arms: int) -> bool:
        """Return whether distances of all pairs are measured twice, block by block, as they would not fit into the memory."""
        return _pair_bytes(n_individuals, n_arms) > bytes_of(self.memory_limit)

    def _measure_all(
        self, outputs: Mapping[str, Any], reference: PairwiseDistance, report: Any
    ) -> dict[str, FairnessMetrics]:
        streaming = self.streams(reference.n_individuals, len(outputs)) or None
        return measure_arms(
            outputs,
            reference,
            progress=report,
            streaming=streaming,
            confidence=self.confidence,
            **self._common(),
        )

    def _measure_alone(self, outputs: Any, reference: PairwiseDistance, progress: Any) -> FairnessMetrics:
        if self.pairs == "all":
            return self._measure_all({"arm": outputs}, reference, progress)["arm"]
        return measure_sampled(
            outputs,
            reference,
            n_pairs=self.pairs,
            tolerance=self.tolerance,
            confidence=self.confidence,
            population=self.population,
            random_state=self.random_state,
            progress=progress,
            **self._common(),
        )

    def _common(self) -> dict[str, Any]:
        # Of two groups few of the very worst pairs may be: with groups more are kept, to find some.
        told = {"nearest_share": self.nearest_share, "lipschitz": self.lipschitz, "groups": self.groups}
        return told if self.groups is None else told | {"worst": _KEPT_WITH_GROUPS}


def _across(
    worst: Sequence[WorstPair], places: Mapping[Any, int], groups: NDArray[Any] | None
) -> list[WorstPair]:
    """Return the pairs of two groups that are explained beside the worst ones, so that there are five with those among these, if so many were kept."""
    if groups is None:
        return []
    # Whose group is unknown is in no pair of two groups; those among the worst ones are told anyway.
    named = [(groups[places[pair.left]], groups[places[pair.right]]) for pair in worst]
    across = [place for place, (one, other) in enumerate(named) if None not in (one, other) and one != other]
    return [worst[place] for place in across[:_ACROSS] if place >= WORST]


def _matrix_bytes(shape: tuple[int, int]) -> float:
    return 8.0 * _COMPLETE_MATRICES * shape[0] * shape[1]


def _pair_bytes(n_individuals: int, n_arms: int) -> float:
    """Return what d of all pairs and D of each arm take, with blocks to work in."""
    return _WORKING + 8.0 * (n_arms + 1) * (n_individuals * (n_individuals - 1) // 2)


def _are_one(distances: Any) -> bool:
    return all(one is other for one, other in pairwise(distances))
