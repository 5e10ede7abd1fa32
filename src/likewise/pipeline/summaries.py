"""Describe what an audit saw, estimated and proved, in the records that its report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from likewise.certificates import RegressionCertificate
from likewise.certificates.composition import from_norm
from likewise.errors import LikewiseError
from likewise.estimation import Auto, MatrixEstimator, threshold_name
from likewise.fairness import (
    AffineCertificate,
    Certificate,
    ErrorMetrics,
    LipschitzCertificates,
    PairwiseDistance,
    Unavailable,
    compose,
    model_constant,
)
from likewise.fairness.held_out import HeldOutFairness
from likewise.inference import TrainedModel
from likewise.norms import Norm, norm_order
from likewise.observations import ObservedMatrix
from likewise.pipeline.run import Run
from likewise.report.records import DataSummary, EstimateAlone, EstimateSummary, Sandwich


def summarise_data(
    individuals: ObservedMatrix | PairwiseDistance,
    working_range: str,
    source: str,
    notes: tuple[str, ...] = (),
) -> DataSummary:
    """Describe the individuals of an audit: their observations, or how many there are if only a distance is known."""
    if isinstance(individuals, PairwiseDistance):
        return DataSummary(source, individuals.n_individuals, notes=tuple(filter(None, notes)))
    observed = individuals
    m, n = observed.shape
    return DataSummary(
        source=source,
        n_individuals=m,
        n_features=n,
        n_observed=observed.n_observed,
        observed_fraction=observed.observed_fraction,
        value_range=str(observed.value_range),
        working_range=working_range,
        notes=(*observed.notes, *filter(None, notes)),
        columns=() if observed.roles is None else (observed.roles,),
    )


def summarise_estimate(estimator: MatrixEstimator, clipped_fraction: float | None = None) -> EstimateSummary:
    """Describe a fitted estimator; without a clipped fraction, counted where the estimate was formed, it is formed once more."""
    observed, rank = estimator.observed_, estimator.rank_
    m, n = observed.shape
    parameters = estimator.get_params(deep=False)
    made = estimator.best_estimator_ if isinstance(estimator, Auto) else estimator
    cut = estimator.threshold_ is not None
    completeness = getattr(made, "completeness_", None)
    return EstimateSummary(
        # On one line each, whatever their parameters.
        estimator=", which chose ".join(
            " ".join(repr(each).split()) for each in dict.fromkeys((estimator, made))
        ),
        threshold=estimator.threshold_,
        threshold_name=threshold_name(getattr(made, "threshold", "given")) if cut else None,
        rank=rank,
        singular_values=np.asarray(estimator.singular_values_, dtype=np.float64),
        clipped_fraction=(
            estimator.estimate_.clipped_fraction() if clipped_fraction is None else clipped_fraction
        ),
        completeness=None if completeness is None else str(completeness),
        regime=regime(m, n, rank, observed.observed_fraction) if cut else None,
        parameters={name: _plain(value) for name, value in parameters.items()},
        converged=estimator.converged_,
        n_iter=estimator.n_iter_,
        notes=estimator.notes_,
    )


def _plain(value: Any) -> Any:
    """Return a parameter as a report can show it: an array or Generator in words, which are the same on every run."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, np.random.Generator):
        return "a random generator"
    return getattr(value, "__name__", None) or repr(value)


def regime(n_individuals: int, n_features: int, rank: int, observed_fraction: float) -> str:
    """Compare n with r m / p_hat, the regimes of Section 5, in words.

    >>> regime(100, 5000, 2, 0.5)
    'n = 5,000 against r m / p_hat = 400: n is larger, where the theory (Section 5) expects fairness to improve as n grows'
    """
    if rank == 0:
        return "rank 0: the estimate is constant, so every pair is treated alike and nothing is learned"
    needed = rank * n_individuals / observed_fraction
    comparison = f"n = {n_features:,} against r m / p_hat = {needed:,.0f}"
    if n_features > needed:
        return (
            f"{comparison}: n is larger, where the theory (Section 5) expects fairness to improve as n grows"
        )
    return f"{comparison}: n is smaller, where the theory (Section 5) does not promise that fairness improves"


ESTIMATE = "estimate"
"""What the estimate itself is called among the arms that are measured, where it stands beside an algorithm."""

Proved = Certificate | AffineCertificate | Unavailable


def prove_outputs(
    trained: Mapping[str, TrainedModel], constants: LipschitzCertificates | None, norm: Norm
) -> dict[str, Proved]:
    """Bound how far apart the outputs of two individuals can be, given their observations (Theorem 4.1), in each arm in which the algorithm ran here.

    Constants are from `norm`, between zero-filled observations, to l2. Of ``"with"`` the distance is the one that the pre-processing is bounded by, which
    is another where it centres or weighs.
    """
    found: dict[str, Proved] = {}
    for arm, learnt in trained.items():
        if arm == "without":
            found[arm] = _named(_constant_of(learnt, norm), arm)
        elif constants is not None and arm == ESTIMATE:
            found[arm] = _of_preprocessing(constants, norm)
        elif constants is not None:
            found[arm] = _named(compose(_of_preprocessing(constants, norm), _constant_of(learnt, "l2")), arm)
    return found


def _named(proved: Proved, arm: str) -> Proved:
    return replace(proved, name=f"{proved.name} {arm} pre-processing")


def proved_of_d(arm: str, constants: LipschitzCertificates | None, norm: Norm) -> bool:
    """Return whether what is proved of an arm speaks of the distance between zero-filled rows, and of no other."""
    if arm == "without":
        return True
    return constants is not None and isinstance(_plain_and_filled(constants, norm)[0], Certificate)


def _constant_of(trained: TrainedModel, norm: Norm) -> Certificate | Unavailable:
    try:
        return model_constant(trained.model, from_norm=norm, to_norm="l2", output=trained.output)
    except LikewiseError as error:
        return Unavailable("K1", str(error))


def _of_preprocessing(constants: LipschitzCertificates, norm: Norm) -> Certificate | Unavailable:
    """Return the constant from the distance between zero-filled rows; else that of a regression, of which single people have constants too; else from rows filled otherwise."""
    plain, filled = _plain_and_filled(constants, norm)
    if filled is None or isinstance(plain, Certificate):
        return plain
    regression = constants.regression
    if isinstance(regression, RegressionCertificate):  # from a metric of its own, whatever norm was asked
        return regression.certificate
    return filled if regression is None or isinstance(filled, Certificate) else regression


def _plain_and_filled(
    constants: LipschitzCertificates, norm: Norm
) -> tuple[Certificate | Unavailable, Certificate | Unavailable | None]:
    """Return the constant from the distance between zero-filled rows, and that from the distance between rows filled otherwise."""
    plain = _in_norm((constants.k_star, constants.spectral), norm)
    if constants.filled is None or constants.filled_spectral is None:
        return plain, None
    return plain, _in_norm((constants.filled, constants.filled_spectral), norm)


def _in_norm(
    from_l1_and_l2: tuple[Certificate | Unavailable, Certificate | Unavailable], norm: Norm
) -> Certificate | Unavailable:
    """Return the constant from l1 or l2, whichever is asked for; of another norm the smaller of what both say of it."""
    order = norm_order(norm)
    if order in (1, 2):
        return from_l1_and_l2[0 if order == 1 else 1]
    # A constant from l1 or l2 holds from any norm that is not smaller, and else times a factor: of two that hold, the smaller says more.
    restated = [from_norm(each, norm) if isinstance(each, Certificate) else each for each in from_l1_and_l2]
    known = [each for each in restated if isinstance(each, Certificate)]
    return min(known, key=lambda each: each.value) if known else restated[0]


def with_estimate(run: Run) -> Run:
    """Add the estimate itself, as an arm ``"estimate"``, where an algorithm ran on it whose outputs can be held against it; else nothing."""
    algorithm = run.trained.get("with")
    if (
        run.estimate is None
        or algorithm is None
        or algorithm.model == "identity"
        or run.hidden_errors("with") is None
    ):
        return run
    itself = TrainedModel("identity", function=lambda rows: rows)
    return replace(
        run,
        outputs={**run.outputs, ESTIMATE: run.estimate.on_working_range().to_dense()},
        trained={**run.trained, ESTIMATE: itself},
    )


def summarise_estimate_alone(
    errors: Mapping[str, ErrorMetrics | None],
    truth: HeldOutFairness | None,
    proved: Mapping[str, Proved],
    sandwiches: Mapping[str, Sandwich],
) -> EstimateAlone | None:
    """Describe the estimate itself; None where it is not among what ran."""
    if ESTIMATE not in proved:
        return None
    return EstimateAlone(
        error=errors.get(ESTIMATE),
        on_truth=None if truth is None else truth.arms[ESTIMATE],
        certificate=proved[ESTIMATE],
        sandwich=sandwiches.get(ESTIMATE),
    )
