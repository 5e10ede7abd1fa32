"""The theorems of Section 4 held against simulations: no pair may exceed a proved bound, no error the rate as m and n grow."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import atanh, sqrt
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.certificates import (
    Certificate,
    ErrorBound,
    LipschitzCertificates,
    ProvedBound,
    Unavailable,
    certify_on_truth,
    compose,
)
from likewise.errors import LikewiseWarning
from likewise.estimation import SVT, UniversalWithVariance
from likewise.estimation.thresholding.statistics import density_exponent
from likewise.observations import ObservedMatrix
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction.arms import Arm, dense_estimate, described, make_preprocessing
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.references import ReferenceDistances

_ROUNDING = 2e-9
"""What D and d carry of rounding, 1e-9 each: a pair that attains a bound must not exceed it by that."""


@dataclass(frozen=True)
class TheoryCheck:
    """A statement, and how the pairs of one simulation compare with it."""

    statement: str
    n_pairs: int  # 0 where there is no bound
    n_violated: int
    closest: float  # largest output distance over bound
    reason: str = ""  # why there is no bound; else empty

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return asdict(self)


def check_theorems(
    model: str,
    constant: Certificate | Unavailable,
    features: Floats,
    output_distance: Floats,
    references: ReferenceDistances,
    certificates: LipschitzCertificates | None,
) -> list[TheoryCheck]:
    """Hold one arm's pairs against Theorem 4.3, and where the features come from SVT against Theorem 4.1.

    `model` names whose K1, from l2 to l2, `constant` is. `features`, (m, n), are what it was given: A_hat, or Z with missing entries as 0, which
    is a pre-processing as well; `output_distance` is (n_pairs,); `certificates` are None where there is no pre-processing.
    """
    error = ErrorBound.measured(features, references.matrix)
    on_truth = certify_on_truth(constant, error)
    checks = [_check(f"Theorem 4.3, K1 of {model}", on_truth, references.truth, output_distance)]
    if certificates is not None:
        for name, step in (("K2", certificates.k2), ("K*", certificates.k_star)):
            bound = compose(step, constant)
            statement = f"Theorem 4.1 with {name}, K1 of {model}"
            checks.append(_check(statement, bound, references.observed, output_distance))
    return checks


def describe_corollary(certificates: LipschitzCertificates) -> dict[str, Any]:
    """Say whether Corollary 4.2 bounds K2, with the measured incoherence and as printed with mu_1 = 1.

    Returns ``incoherence``; ``measured`` and ``printed``, each a value, or None with a reason under ``measured_reason`` and
    ``printed_reason``.
    """
    record: dict[str, Any] = {"incoherence": certificates.incoherence}
    for name, bound in (("measured", certificates.corollary), ("printed", certificates.printed_corollary)):
        has_value = isinstance(bound, Certificate)
        record[name] = bound.value if isinstance(bound, Certificate) else None
        record[f"{name}_reason"] = "" if has_value else bound.reason if isinstance(bound, Unavailable) else ""
    return record


def _check(
    statement: str, bound: ProvedBound | Unavailable, distances: Floats, outputs: Floats
) -> TheoryCheck:
    if isinstance(bound, Unavailable):
        return TheoryCheck(statement, 0, 0, 0.0, bound.reason)
    slack = _ROUNDING * float(outputs.max(initial=0.0))
    found = bound.holds_for(distances, outputs, slack=slack)
    return TheoryCheck(statement, found.n_pairs, found.n_violated, found.largest_share)


THEOREM_ARM = Arm(
    "universal", "SVT at the threshold of the proposition, (2 + eta) sqrt(rho_1 p)", "universal"
)
"""The estimator that the proposition speaks of; the other arms stand beside it."""


VARIANCE_ARM = Arm(
    "universal-variance",
    "SVT at the threshold of the footnote, (2 + eta) sqrt(rho_1 q), for entries of a known variance",
    "universal-variance",
)
"""The estimator of the footnote to the proposition: it is told the variance of the noise."""


def proved_rate(truth: Floats, observed_fraction: float, variance: float = 1.0) -> float:
    """Return ``min(sqrt(q) ||A||_* / (rho_2 sqrt(rho_1) p), ||A||_*^2 / (rho_1 rho_2), 1)`` (Proposition 4.4 and its footnote).

    The mean squared error is at most a constant times this, and something exponentially small. A is `truth`, p the observed fraction, s2 the
    `variance`, which that of no entry exceeds; ``q = p s2 + p (1 - p) (1 - s2)``. At s2 = 1, the most that [-1, 1] allows, q = p and the first
    term is that of the proposition, ``||A||_* / (rho_2 sqrt(rho_1 p))``. It is also the shape of the minimax lower bound over matrices of this
    nuclear norm (Chatterjee, "Matrix estimation by universal singular value thresholding", Annals of Statistics 2015, Theorems 2.1 and 2.2).

    >>> round(proved_rate(np.ones((4, 16)), 0.25), 6)  # nuclear norm 8: min(8 / (4 x 2), 64 / 64, 1)
    1.0
    >>> round(proved_rate(np.ones((4, 16)) / 4, 0.25), 6)  # nuclear norm 2: min(2 / 8, 4 / 64, 1)
    0.0625
    >>> round(proved_rate(np.ones((4, 16)), 0.25, 0.04), 6)  # q = 0.25 (0.04 + 0.75 x 0.96) = 0.19: min(sqrt(0.19) x 8 / 4, 1, 1)
    0.87178
    """
    p = observed_fraction
    nuclear = float(np.linalg.svd(truth, compute_uv=False).sum())
    longer, shorter = max(truth.shape), min(truth.shape)
    spread = sqrt(p * variance + p * (1 - p) * (1 - variance))
    rate: float = min(spread * nuclear / (shorter * sqrt(longer) * p), nuclear**2 / (longer * shorter), 1.0)
    return rate


def run_rate(
    data: ClusteredData, experiment: Experiment, arms: list[Arm], fraction: float, variance: float, seed: int
) -> dict[str, Any]:
    """Measure the error of each estimate over all entries, beside the rates of the proposition and of its footnote.

    `fraction` is p, `variance` that of the noise, s2. h, which estimates nothing, is left out.
    """
    rates = {
        "rate": proved_rate(data.truth, fraction),
        "rate_variance": proved_rate(data.truth, fraction, variance),
    }
    record: dict[str, Any] = {
        "observed_fraction": data.observed.observed_fraction,
        **rates,
        "exponent": density_exponent(data.observed.observed_fraction, max(data.truth.shape)),
        "arms": {},
    }
    estimators = {
        arm.name: make_preprocessing(arm, experiment, "symmetric", seed) for arm in estimating(arms)
    }
    estimators[VARIANCE_ARM.name] = SVT(threshold=UniversalWithVariance(variance), random_state=seed)
    for name, estimator in estimators.items():
        record["arms"][name] = {"metrics": error_beside(estimator, data, rates)}
    return record


def estimating(arms: list[Arm]) -> list[Arm]:
    """Return the estimator that the proposition speaks of, and the arms that estimate."""
    return [THEOREM_ARM, *(arm for arm in arms if arm.estimator is not None)]


def error_beside(estimator: Any, data: ClusteredData, rates: Mapping[str, float]) -> dict[str, float | None]:
    """Return the mean squared error of an estimate over all entries, alone and as a share of each rate, and what the estimate is like."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        fitted = estimator.fit(data.observed)
    error = float(np.mean((dense_estimate(fitted) - data.truth) ** 2))
    shares = {f"share_of_{name}": error / rate for name, rate in rates.items()}
    return {"mse_all": error, **shares, **described(fitted)}


BEST = "best answer"
"""The posterior mean of whoever knows the clusters and theta: on average over such matrices no estimator has a smaller error."""


def least_favourable(
    n_individuals: int,
    n_features: int,
    observed_fraction: float,
    size: float,
    random_state: np.random.Generator,
) -> ClusteredData:
    """Draw a matrix, m <= n, that is as hard to estimate as any of its nuclear norm, up to a constant.

    `size` is theta squared, in (0, 1); there are ``r = m p theta^2`` clusters, at least one, p the observed fraction.

    >>> data = least_favourable(40, 60, 0.5, 0.25, np.random.default_rng(0))
    >>> np.unique(data.truth), np.unique(data.clusters).size
    (array([-0.5,  0.5]), 5)
    """
    shape, p = (n_individuals, n_features), observed_fraction
    n_clusters = max(1, round(n_individuals * p * size))
    clusters = np.arange(n_individuals) * n_clusters // n_individuals
    # The m / r = 1 / (p theta^2) rows of a cluster show each sign about 1 / theta^2 times, of which every
    # observation tells theta^2: just too little to be sure.
    signs = random_state.choice([-1.0, 1.0], (n_clusters, n_features))
    truth = sqrt(size) * signs[clusters]
    # An observation is 1 or -1 with mean A_ij, the most noise that [-1, 1] allows.
    answers = np.where(random_state.random(shape) < (1 + truth) / 2, 1.0, -1.0)
    values = np.where(random_state.random(shape) < p, answers, np.nan)
    return ClusteredData(ObservedMatrix(values, value_range=(-1, 1)), truth, clusters)


def best_answer(data: ClusteredData, size: float) -> Floats:
    """Return the posterior mean of the entries, given clusters and theta: ``theta tanh(s artanh theta)``, s the sum of a cluster's observations.

    >>> truth = np.full((2, 2), 0.5)
    >>> Z = ObservedMatrix([[1.0, np.nan], [1.0, np.nan]], value_range=(-1, 1))
    >>> best_answer(ClusteredData(Z, truth, np.array([0, 0])), 0.25).round(6)  # odds 3 to 1, twice: (9 - 1) / (9 + 1) / 2
    array([[0.4, 0. ],
           [0.4, 0. ]])
    """
    theta = sqrt(size)
    totals = np.zeros((int(data.clusters.max()) + 1, data.truth.shape[1]))
    np.add.at(totals, data.clusters, data.observed.values.toarray())
    # Each observation multiplies the odds of + theta by (1 + theta) / (1 - theta), or divides them: log
    # odds 2 s artanh theta.
    answer: Floats = theta * np.tanh(totals * atanh(theta))[data.clusters]
    return answer


def run_minimax(
    data: ClusteredData, experiment: Experiment, arms: list[Arm], fraction: float, size: float, seed: int
) -> dict[str, Any]:
    """Measure the error of each estimate, and of the best answer, beside the shape of the lower bound.

    `data` are of `least_favourable`; `fraction` is p, `size` theta squared. h, which estimates nothing, is left out.
    """
    rates = {"rate": proved_rate(data.truth, fraction)}
    error = float(np.mean((best_answer(data, size) - data.truth) ** 2))
    best: dict[str, float | None] = {"mse_all": error, "share_of_rate": error / rates["rate"]}
    found = {BEST: {"metrics": best}}
    for arm in estimating(arms):
        estimator = make_preprocessing(arm, experiment, "symmetric", seed)
        found[arm.name] = {"metrics": error_beside(estimator, data, rates)}
    return {"observed_fraction": data.observed.observed_fraction, **rates, "arms": found}
