"""What an audit was asked: checked once, before the work, and put in the order of the individuals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from likewise.errors import InputError, option
from likewise.estimation import Auto, MatrixEstimator, as_estimator
from likewise.fairness import GowerDistance, PairwiseDistance
from likewise.fairness.distances.distance import in_order_of
from likewise.inference import Model, as_model
from likewise.norms import Norm
from likewise.observations import ObservedMatrix, PartitionedMatrix
from likewise.observations.doubtful_values import warn_of_unlike_columns
from likewise.observations.frames import as_frame
from likewise.observations.index_alignment import aligned
from likewise.observations.split import SplitRule
from likewise.pipeline.held_out import NOTHING_KEPT, asked_reference, reference_and_share
from likewise.pipeline.measurement import Measurement
from likewise.pipeline.outside_test import OutsideTest
from likewise.pipeline.references import (
    ReferenceChoice,
    check_reference,
    is_named,
    refuse_other_distance,
    takes_norm,
)
from likewise.pipeline.run import Run, check_model, hide, run_fitted, take_outputs
from likewise.progress import Steps
from likewise.randomness import seed_of

_OF_A_MODEL = (
    "model",
    "target",
    "hold_out",
    "test",
    "split",
    "splits",
    "least_shared",
    "sandwich_individuals",
)
"""Arguments that have no effect on outputs computed elsewhere."""

_OF_OBSERVATIONS = ("norm", "reference", "estimator", "missing_entries", "individual_constants")
"""Arguments that have no effect where only a distance between the individuals is given."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditRequest:
    """The arguments of `likewise.audit`, in order; what they leave open is decided before anything is fitted."""

    individuals: ObservedMatrix | PairwiseDistance
    reference: ReferenceChoice
    outputs: Any  # None where a model runs
    estimator: MatrixEstimator | None  # None: `Auto` beside a model, no estimate beside outputs
    model: Any
    target: Any  # what the model learns; what outputs should have told is `measurement.target`
    hold_out: float  # 0 beside outputs
    split: SplitRule | None
    splits: int | None
    test: OutsideTest | None
    norm: Norm
    measurement: Measurement

    @classmethod
    def of(cls, given: dict[str, Any]) -> Self:
        """Check the arguments of an audit, by name, and decide what they leave open.

        Raises
        ------
        InputError
            Or one of its kinds: an argument that is wrong, or without effect beside the others.
        """
        outputs, model = given["outputs"], "knn" if given["model"] is None else given["model"]
        untold = {"target": None}  # a target is what a model learns, or what outputs should have told
        measurement = Measurement.of(given | untold if outputs is None else given)
        given = _with_gower(given if outputs is None else given | untold)
        _refuse_without_effect(given)
        people, d, estimator = given["individuals"], given["reference"], given["estimator"]
        if isinstance(people, PairwiseDistance):
            m, d = people.n_individuals, people
        else:
            people = people if isinstance(people, ObservedMatrix) else _observed(people)
            m, d = people.shape[0], _in_order(d, people.row_ids)
        measurement = measurement.of_individuals(m, people.row_ids)
        target, notes = aligned("target", given["target"], people.row_ids)
        measurement = replace(measurement, notes=(*measurement.notes, *notes))
        estimator = None if estimator is None else as_estimator(estimator, measurement.random_state)
        test = None if given["test"] is None else _outside_test(given["test"], people, model, target)
        share = 0.0
        if outputs is None:
            measurement.check_memory(people.shape)
            d = asked_reference(d, given)
            d, share, measurement = reference_and_share(people, d, given["hold_out"], measurement)
        return cls(
            individuals=people,
            reference="observed" if d is None else d,
            outputs=outputs,
            estimator=estimator,
            model=model,
            target=target,
            hold_out=share,
            split=given["split"],
            splits=given["splits"],
            test=test,
            norm="l1" if given["norm"] is None else given["norm"],
            measurement=measurement,
        )

    def settings(self) -> dict[str, Any]:
        """Return the settings as a report lists them."""
        # A d that was given has a norm of its own, or none.
        norm = self.norm if takes_norm(self.reference) else None
        told = {"norm": norm, **self.measurement.settings()}
        if self.outputs is None:
            told |= {"model": _name(self.model), "hold_out": self.hold_out}
        if is_named(self.reference, "held-out"):
            told["splits"] = self.splits or 1
        asked = {"least_shared": self.measurement.least_shared, "split": self.split}
        asked |= {"sandwich_individuals": self.measurement.sandwich_individuals}
        return told | {name: value for name, value in asked.items() if value is not None}

    def runs(self, steps: Steps) -> Iterator[Run]:
        """Yield a run for each split, none before it is asked for; one of outputs computed elsewhere.

        Splits after the first draw from one generator: from one of its own where a seed was given, else from the one that was given.
        """
        observed = self.individuals if isinstance(self.individuals, ObservedMatrix) else None
        draws = self.measurement.random_state
        if self.outputs is not None or observed is None:
            yield take_outputs(observed, self.outputs, self.estimator, steps, self.individuals.row_ids)
            return
        by, aside = self.split or "random", is_named(self.reference, "held-out")
        for _ in range(self.splits or 1):
            model = as_model(self.model, self.target, seed_of(draws))
            estimator = Auto(random_state=seed_of(draws)) if self.estimator is None else clone(self.estimator)
            hidden = hide(observed, self.hold_out, draws, leave_one=aside, split=by)
            check_model(model, observed.shape[0])
            training = observed if hidden is None else hidden.training
            with steps.step("estimate the matrix"):
                fitted = estimator.fit(training)
            yield run_fitted(training, hidden, fitted, model, steps)
            if draws is self.measurement.random_state:
                draws = np.random.default_rng([draws, 1] if isinstance(draws, int) else draws)


def _with_gower(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with Gower's distance where it is asked for by name: it reads text, which observations do not hold.

    Two records must share as many features as are asked for; of a distance that is made here, half of what two share on average.
    """
    people, d, least_shared = given["individuals"], given["reference"], given["least_shared"]
    if is_named(d, "gower") and as_frame(people) is not None:
        people, d = GowerDistance(people, least_shared="half" if least_shared is None else least_shared), None
    elif least_shared is not None:
        people, d = (
            one.sharing(least_shared) if isinstance(one, GowerDistance) else one for one in (people, d)
        )
    return {**given, "individuals": people, "reference": d}


def _refuse_without_effect(given: Mapping[str, Any]) -> None:
    """Raise for an argument that would have no effect beside the others."""
    individuals, outputs, d = given["individuals"], given["outputs"], given["reference"]
    if outputs is not None:
        # Of outputs from elsewhere, `least_shared` speaks of a distance on what two individuals share.
        shared = is_named(d, "co-observed") or any(isinstance(one, GowerDistance) for one in (individuals, d))
        unused = [name for name in _OF_A_MODEL if not (shared and name == "least_shared")]
        _refuse(
            "outputs computed elsewhere", given, unused, "outputs computed elsewhere, or a model to run here"
        )
        if is_named(d, "held-out"):
            raise InputError(*NOTHING_KEPT)
    if isinstance(individuals, PairwiseDistance):
        if outputs is None:
            raise InputError("a distance between individuals and no outputs", "outputs to compare with it")
        expected = "the distance alone, or observations instead of it"
        _refuse("a distance between the individuals", given, _OF_OBSERVATIONS, expected)
    elif given["missing_entries"] is not None:
        refuse_other_distance(d)
    elif not takes_norm(d):
        _refuse("a reference distance that is given", given, ["norm"], "one of them")


def _refuse(beside: str, given: Mapping[str, Any], without_effect: Sequence[str], expected: str) -> None:
    unused = [option(name, "") for name in without_effect if given[name] is not None]
    if unused:
        raise InputError(f"{', '.join(unused)} beside {beside}", expected)


def _observed(individuals: Any) -> ObservedMatrix:
    """Return observations made of what can be taken for them."""
    if isinstance(individuals, PartitionedMatrix):
        raise InputError(
            repr(individuals),
            "observations in memory",
            "audit_partitioned audits individuals who are drawn from blocks",
        )
    observed = ObservedMatrix(individuals)
    warn_of_unlike_columns(observed, stacklevel=4)  # whoever calls `audit`
    return observed


def _in_order(reference: ReferenceChoice | None, ids: NDArray[Any]) -> ReferenceChoice | None:
    """Return a reference beside observations; a distance in the order of these individuals, and with their ids."""
    check_reference("observed" if reference is None else reference)
    if not isinstance(reference, PairwiseDistance):
        return reference
    ordered = in_order_of("the reference distance", reference, ids)
    if ordered.row_ids is None:
        ordered = copy(ordered)
        ordered.row_ids = ids
    return ordered


def _outside_test(test: Any, observed: Any, model: Any, target: Any) -> OutsideTest:
    """Find the places of test observations; raise before the work where the model does not predict entries, which they are."""
    algorithm = as_model(model, target, 0)
    if not algorithm.predicts_entries:
        raise InputError(
            f"{option('test', '')} beside {option('model', algorithm.name)}",
            "a model that predicts values of the features, which test observations are",
        )
    return OutsideTest.of(test, observed)


def _name(model: Any) -> str:
    if isinstance(model, Model):
        return model.name
    return model if isinstance(model, str) else type(model).__name__
