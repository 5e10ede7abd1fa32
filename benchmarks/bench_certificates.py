"""Are the certificates sound, and how tight are they? Pairs that try to exceed them: random, adversarial, seen in the fit and not.

Run ``python benchmarks/bench_certificates.py``: some minutes on two cores, tens of millions of pairs; ``--quick`` takes seconds. With LIKEWISE_DATA
set, all 18.2 million pairs of MovieLens 1M are added; with torch installed, its nets. A row is one certificate: its constant, how many pairs were
held against it, how many exceed it, the largest ratio that was found and its share of the constant (100%: attained, so that no smaller
constant holds). Distances carry rounding of their own, so a pair counts as exceeding from 1e-12 (of the size of the outputs) on.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from adversarial_pairs import Distances, Function, Rows, ascent, every_pair, one_feature_apart
from likewise import ObservedMatrix, certify, read_ratings, svt
from likewise.certificates import (
    AffineCertificate,
    Certificate,
    ErrorBound,
    Unavailable,
    certify_on_truth,
    compose,
    model_constant,
)
from likewise.errors import LikewiseWarning
from likewise.fairness import ObservedDistance, RowDistance
from likewise.observations import AffineScale
from likewise.observations.synthetic import clustered

Bound = Certificate | AffineCertificate
ROUNDING = 1e-12
NORMS = (("l2", "l2"), ("l1", "l2"), ("l1", "l1"), ("l2", "linf"), ("linf", "linf"))


@dataclass
class Finding:
    """What became of one certificate."""

    case: str
    bound: Bound
    n_pairs: int = 0
    n_exceeding: int = 0
    largest_ratio: float = 0.0
    share: float = 0.0

    def add(self, d: np.ndarray, D: np.ndarray, slack: float) -> None:
        """Hold more pairs against it."""
        check = self.bound.holds_for(d, D, slack=slack)
        self.n_pairs += check.n_pairs
        self.n_exceeding += check.n_violated
        ratios = np.divide(D, d, out=np.zeros_like(D), where=d > 0)
        self.largest_ratio = max(self.largest_ratio, float(ratios.max(initial=0)))
        self.share = max(self.share, check.largest_share)


@dataclass
class Case:
    """A function, the inputs that it was fitted to, others, and what is proved of it."""

    title: str
    function: Function
    seen: Rows
    draw: Callable[[int], Rows]
    bounds: list[Bound]
    in_sample: list[Bound] = field(default_factory=list)
    at_seen: Rows | None = None  # outputs at the inputs of the fit, where they are not the function's


def hold(case: Case, rng: np.random.Generator, effort: float) -> list[Finding]:
    """Hold every kind of pair against all that is proved in a case."""
    findings = [Finding(case.title, bound) for bound in case.bounds]
    slack = ROUNDING * (1 + float(np.abs(case.function(case.seen)).max()))
    for _, distances in _pairs(case, rng, effort):
        _add(findings, distances, slack)
    in_sample = [Finding(case.title, bound) for bound in case.in_sample]
    at_seen = case.function if case.at_seen is None else lambda _: case.at_seen
    for _, distances in every_pair(at_seen, case.seen):
        _add(in_sample, distances, slack)
    return findings + in_sample


def _add(findings: list[Finding], distances: Distances, slack: float) -> None:
    for finding in findings:
        finding.add(*distances(finding.bound.from_norm, finding.bound.to_norm), slack)


def _pairs(case: Case, rng: np.random.Generator, effort: float) -> Iterator[tuple[int, Distances]]:
    rows = case.draw(max(30, int(2000 * np.sqrt(effort))))
    near = rows[: len(rows) // 4] + 1e-3 * rng.normal(size=rows[: len(rows) // 4].shape)
    yield from every_pair(case.function, case.seen)
    yield from every_pair(case.function, np.vstack([rows, near]))
    origin = np.zeros((1, rows.shape[1]))
    yield from one_feature_apart(
        case.function, np.vstack([origin, rows[: max(2, int(20 * effort))]]), (1e-2, -1.0)
    )
    for norms in dict.fromkeys((bound.from_norm, bound.to_norm) for bound in case.bounds):
        centres = np.vstack([case.seen, origin.repeat(100, axis=0), rows])[: max(40, int(400 * effort))]
        yield from ascent(case.function, centres, norms, rng, max(40, int(200 * effort)))


# --- cases ------------------------------------------------------------------------------------------------------------


def preprocessing_cases(rng: np.random.Generator, effort: float) -> Iterator[Case]:
    """K*, K2 and the others on the paper's data, by fraction observed, shrinker and interval; with a model after it."""
    sizes, paper = ((200, 800, 10), "paper-synthetic") if effort >= 1 else ((60, 80, 5), "noise-edge")
    for p, threshold, shrinker in (
        (0.4, paper, "rescaled"),
        (0.2, "noise-edge", "rescaled"),
        (0.2, "noise-edge", "soft"),
    ):
        data = clustered(*sizes, observed_fraction=p, random_state=rng)
        yield _preprocessing(
            data.observed, svt(data.observed, threshold, shrinker), rng, f"SVT {shrinker}, p = {p:g}"
        )
    yield _composed(data.observed, svt(data.observed, threshold, shrinker), rng)


def _preprocessing(observed: ObservedMatrix, estimate: Any, rng: np.random.Generator, title: str) -> Case:
    certificates = certify(estimate, observed)
    proved = [bound for bound in certificates if isinstance(bound, Certificate)]
    at_seen = estimate.on_working_range().to_dense()
    seen = observed.scaled("symmetric").to_dense()
    return Case(
        title, partial(_fold_in_any, estimate), seen, _like(seen, rng), proved, [certificates.seen], at_seen
    )


def _fold_in_any(estimate: Any, rows: Any) -> Any:
    """Complete rows whatever their values: certificates speak of all of them, `fold_in` refuses what is outside the range of the fit."""
    low, high = estimate.scale.bounds
    wide = replace(estimate, scale=AffineScale(np.asarray(0.0), np.asarray(1.0), (-1e9, 1e9)))
    return np.clip(wide.fold_in(rows), low, high)


def _composed(observed: ObservedMatrix, estimate: Any, rng: np.random.Generator) -> Case:
    """Logistic regression on the estimate: K1 K*."""
    from sklearn.linear_model import LogisticRegression

    at_seen, seen = estimate.on_working_range().to_dense(), observed.scaled("symmetric").to_dense()
    model = LogisticRegression(C=10).fit(at_seen, at_seen[:, 0] > np.median(at_seen[:, 0]))
    certificates, K1 = certify(estimate, observed), model_constant(model)
    return Case(
        "SVT, then logistic regression",
        lambda rows: model.predict_proba(_fold_in_any(estimate, rows)),
        seen,
        _like(seen, rng),
        [compose(certificates.k_star, K1), compose(certificates.spectral, K1)],
        [compose(certificates.seen, K1)],
        model.predict_proba(at_seen),
    )


def _like(seen: Rows, rng: np.random.Generator) -> Callable[[int], Rows]:
    """Draw rows that were never seen: as sparse as those of the fit, or full."""

    def draw(count: int) -> Rows:
        share = np.where(rng.random((count, 1)) < 0.7, (seen != 0).mean(), 1.0)
        return rng.uniform(-1, 1, (count, seen.shape[1])) * (rng.random((count, seen.shape[1])) < share)

    return draw


def model_cases(rng: np.random.Generator) -> Iterator[Case]:
    """K1 of scikit-learn's and torch's models, in several norms."""
    X = rng.normal(size=(300, 12))
    scores = X @ rng.normal(size=(12, 4)) + 0.1 * rng.normal(size=(300, 4))
    for title, model, function in chain(_sklearn_models(X, scores), _torch_models(X)):
        constants = [model_constant(model, from_norm=p, to_norm=q) for p, q in NORMS]
        proved = [constant for constant in constants if isinstance(constant, Certificate)]
        yield Case(title, function, X, lambda count: 2 * rng.normal(size=(count, 12)), proved)


def _sklearn_models(X: Rows, scores: Rows) -> Iterator[tuple[str, Any, Function]]:
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    two, four = scores[:, 0] > 0, scores.argmax(axis=1)
    net = {"hidden_layer_sizes": [30, 10], "max_iter": 200, "random_state": 0}
    yield _trained("ridge, 4 outputs", Ridge(), X, scores)
    yield _trained("logistic, 2 classes", LogisticRegression(), X, two)
    yield _trained("logistic, 4 classes", LogisticRegression(), X, four)
    yield _trained(
        "scaler, PCA, logistic", make_pipeline(StandardScaler(), PCA(5), LogisticRegression()), X, four
    )
    for activation in ("relu", "tanh", "logistic", "identity"):
        yield _trained(f"MLP {activation}", MLPRegressor(activation=activation, **net), X, scores)
    yield _trained("MLP relu, 4 classes", MLPClassifier(**net), X, four)


def _trained(title: str, model: Any, X: Rows, y: np.ndarray) -> tuple[str, Any, Function]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a net that has not converged has a constant too
        model.fit(X, y)
    return title, model, getattr(model, "predict_proba", None) or model.predict


def _torch_models(X: Rows) -> Iterator[tuple[str, Any, Function]]:
    try:
        import torch
        from torch import nn
    except ImportError:
        return
    torch.manual_seed(0)
    dense = nn.Sequential(
        nn.Linear(12, 30), nn.ReLU(), nn.Linear(30, 10), nn.ReLU(), nn.Linear(10, 1), nn.Sigmoid()
    )
    normed = nn.Sequential(
        nn.Linear(12, 30), nn.BatchNorm1d(30), nn.GELU(), nn.Dropout(), nn.Linear(30, 4), nn.Softmax(-1)
    )
    normed(torch.tensor(X, dtype=torch.float32))
    for title, net in (("torch dense net", dense), ("torch, batch norm", normed)):
        net.double().eval()
        yield title, net, lambda rows, net=net: net(torch.tensor(rows)).detach().numpy()


def truth_findings(rng: np.random.Generator, effort: float) -> list[Finding]:
    """Theorem 4.3: a model on the estimate, held against distances of the truth."""
    from sklearn.linear_model import Ridge

    data = clustered(
        *((1500, 300, 10) if effort >= 1 else (60, 80, 5)), observed_fraction=0.4, random_state=rng
    )
    estimate = svt(data.observed, "noise-edge").on_working_range().to_dense()
    model = Ridge().fit(estimate, data.truth[:, :3])
    error = ErrorBound.measured(estimate, data.truth)
    finding = Finding("ridge on SVT, truth known", certify_on_truth(model_constant(model), error))
    for _, distances in every_pair(lambda _: model.predict(estimate), data.truth):
        finding.add(*distances("l2", "l2"), ROUNDING)
    return [finding]


def movielens_findings() -> Iterable[Finding]:
    """All pairs of MovieLens 1M, rows of the fit, by the paper's threshold."""
    if "LIKEWISE_DATA" not in os.environ:
        return []
    observed = read_ratings(
        Path(os.environ["LIKEWISE_DATA"]) / "ml-1m" / "ratings.dat", shape=(6040, 3952), value_range=(1, 5)
    )
    estimate = svt(observed, "paper-ratings", working_range="unit")
    certificates = certify(estimate, observed)
    findings = [
        Finding("MovieLens 1M", bound) for bound in (certificates.seen, certificates.k_star, certificates.k2)
    ]
    d, D = (
        ObservedDistance(observed, working_range="unit"),
        RowDistance(estimate.on_working_range().to_dense()),
    )
    for start in range(0, 6040, 200):
        stop = min(start + 200, 6040)
        kept = np.triu(np.ones((stop - start, 6040 - start), bool), 1)
        of_pairs = d.block(start, stop, start)[kept], D.block(start, stop, start)[kept]
        for finding in findings:
            finding.add(*of_pairs, ROUNDING)
    return findings


# --- constants among each other ---------------------------------------------------------------------------------------


@dataclass
class Order:
    """K* against K2 and the incoherence bound, over random estimates."""

    n_estimates: int = 0
    largest_star_over_k2: float = 0.0
    n_corollary_refused: int = 0


def constants_in_order(rng: np.random.Generator, n_estimates: int) -> Order:
    """Compare K* with the printed formula of K2 on estimates of random sizes, ranks, shrinkers and fractions observed."""
    order = Order()
    while order.n_estimates < n_estimates:
        m, n, c = rng.integers(5, 80), rng.integers(5, 80), rng.integers(1, 5)
        data = clustered(
            int(m), int(n), int(min(m, c)), observed_fraction=rng.uniform(0.2, 1), random_state=rng
        )
        estimate = svt(data.observed, rng.uniform(0.05, 3), rng.choice(["rescaled", "soft", "identity"]))
        certificates = certify(estimate, data.observed)
        order.n_estimates += 1
        if estimate.rank:
            order.largest_star_over_k2 = max(
                order.largest_star_over_k2, naive_star(estimate) / naive_k2(estimate, data.observed)
            )
        order.n_corollary_refused += isinstance(certificates.corollary, Unavailable)
    return order


def naive_star(estimate: Any) -> float:
    """Largest l2 norm of a row of P, formed in full."""
    return float(np.linalg.norm((estimate.right * estimate.gains) @ estimate.right.T, axis=1).max())


def naive_k2(estimate: Any, observed: ObservedMatrix) -> float:
    """Theorem 4.1's constant as printed."""
    weights = (estimate.left * estimate.gains / estimate.singular_values) @ estimate.right.T
    columns = np.abs(observed.scaled("symmetric").to_dense()).sum(axis=0)
    return float(np.abs(weights).max() * np.sqrt(observed.shape[1]) * columns.max())


# --- the table --------------------------------------------------------------------------------------------------------


def soundness(effort: float = 1.0, seed: int = 0) -> Iterator[Finding]:
    """Hold all certificates against all pairs; `effort` below 1 takes fewer of them."""
    rng = np.random.default_rng(seed)
    for case in chain(preprocessing_cases(rng, effort), model_cases(rng)):
        yield from hold(case, rng, effort)
    yield from truth_findings(rng, effort)


HEAD = f"{'case':30} {'certificate':34} {'norms':13} {'constant':>10} {'pairs':>12} {'exceed':>7} {'largest':>10} {'share':>7}"


def _line(finding: Finding) -> str:
    bound = finding.bound
    constant = bound.value if isinstance(bound, Certificate) else bound.slope
    plus = f" + {bound.offset:.1e}" if isinstance(bound, AffineCertificate) else ""
    norms = f"{bound.from_norm} to {bound.to_norm}"
    measured = (
        f"{finding.n_pairs:12,} {finding.n_exceeding:7,} {finding.largest_ratio:10.4g} {finding.share:7.1%}"
    )
    return f"{finding.case:30} {bound.name + plus:34} {norms:13} {constant:10.4g} {measured}"


def summary(findings: list[Finding]) -> str:
    """Count pairs once, however many certificates they are held against."""
    cases = {finding.case for finding in findings}
    pairs = sum(max(finding.n_pairs for finding in findings if finding.case == case) for case in cases)
    held, exceeding = (
        sum(getattr(finding, name) for finding in findings) for name in ("n_pairs", "n_exceeding")
    )
    return f"{pairs:,} pairs, held against a certificate {held:,} times; {exceeding:,} exceed one"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer pairs, small matrices")
    quick = parser.parse_args().quick
    start, findings = perf_counter(), []
    print(HEAD)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        for finding in chain(soundness(0.02 if quick else 1.0), () if quick else movielens_findings()):
            findings.append(finding)
            print(_line(finding), flush=True)
        order = constants_in_order(np.random.default_rng(1), 50 if quick else 500)
    print(f"\n{summary(findings)}; {perf_counter() - start:.0f} s")
    print(
        f"K* / K2 (both formed in full) over {order.n_estimates} random estimates: at most {order.largest_star_over_k2:.4g}"
    )
    print(f"Corollary 4.2 not available in {order.n_corollary_refused} of them")


if __name__ == "__main__":
    main()
