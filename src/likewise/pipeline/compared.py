"""How the outputs of an audit are compared: under which output distance D, and how consistent they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from likewise.errors import InputError, option
from likewise.fairness import (
    ExactValue,
    PairwiseDistance,
    TargetAccuracy,
    consistency,
    named_output_distance,
    target_accuracy,
)
from likewise.fairness.options import output_distance
from likewise.pipeline.run import Run


def output_distances(
    run: Run, references: Mapping[str, PairwiseDistance], how: str | None
) -> dict[str, PairwiseDistance]:
    """Return the output distance D of each arm, made once for all that is measured on it.

    Parameters
    ----------
    run : Run
    references : mapping of str to PairwiseDistance
    how : str or None
        A name of `likewise.fairness.OUTPUT_DISTANCES`; None for l2.
    """
    return {
        name: output_distance(name, values, references[name], how, run.output_ids(name))
        for name, values in run.outputs.items()
    }


def compared_outputs(run: Run, how: str | None) -> Mapping[str, Any]:
    """Return the outputs of every arm as they are to be compared: as they are where that is by l2, else as distances."""
    if how is None:
        return run.outputs
    return {
        name: values
        if isinstance(values, PairwiseDistance)
        else named_output_distance(how, values, run.output_ids(name))
        for name, values in run.outputs.items()
    }


def is_l2(how: str | None) -> bool:
    """Return whether D is the paper's l2 between outputs, of which something may be proved."""
    return how in (None, "l2")


def consistency_of(outputs: Any, reference: PairwiseDistance, n_neighbors: int | None) -> ExactValue | None:
    """Return how close everybody's output is to the mean of their nearest neighbours', where that was asked for.

    Raises
    ------
    InputError
        Outputs that are a distance.
    ShapeError
        Outputs of several numbers.
    """
    if n_neighbors is None:
        return None
    if isinstance(outputs, PairwiseDistance):
        raise InputError(
            f"{option('consistency', str(n_neighbors))} of outputs that are a distance",
            "one number for each individual",
        )
    return consistency(outputs, reference, n_neighbors)


_BY_UNSEEN = "fits that had not seen the individual's target (cross-validation)"


def accuracy_of(run: Run, arm: str, target: ArrayLike | None, confidence: float) -> TargetAccuracy | None:
    """Hold outputs against the target, where there is one: those given; of a model that learns it those of fits that had not seen it.

    Raises
    ------
    InputError
        Outputs that are a distance.
    """
    if run.unseen is not None:
        found = target_accuracy(run.unseen.outputs[arm], run.unseen.target, confidence=confidence)
        return replace(found, predicted_by=_BY_UNSEEN)
    if target is None:
        return None
    outputs = run.outputs[arm]
    if isinstance(outputs, PairwiseDistance):
        raise InputError(
            f"{option('target', '')} for outputs that are lists or a distance", "outputs that are numbers"
        )
    return target_accuracy(outputs, target, confidence=confidence)
