"""Whatever is given to whatever is public: it works, or an error of likewise says what was given and what was expected."""

from __future__ import annotations

import datetime
import decimal
import importlib
import importlib.util
import inspect
import signal
import sys
import warnings
from collections.abc import Callable
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression

import likewise
from likewise import SVT, ObservedMatrix, svt
from likewise.errors import LikewiseError
from likewise.registry import Registry

from .public import public_callables


class NeedsGrad:
    """Stands for a tensor that requires grad: NumPy cannot have it."""

    shape = (6, 3)
    ndim = 2

    def __array__(self, *_: object, **__: object) -> Any:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )


class Graded:
    """Stands for one from which it is taken: without its gradient it is an array."""

    def __init__(self, values: Any) -> None:
        self.values, self.shape, self.ndim = values, values.shape, values.ndim

    def __len__(self) -> int:
        return len(self.values)

    __array__ = NeedsGrad.__array__

    def detach(self) -> Any:
        return self

    def cpu(self) -> Any:
        return self.values


class Sour:
    """Can neither be compared nor written."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("no")

    def __repr__(self) -> str:
        return "<sour>"

    __hash__ = None  # type: ignore[assignment]


def _ragged() -> Any:
    return [[1.0], [1.0, 2.0], [3.0]]


HOSTILE: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "text": lambda: "no such thing",
    "no text": lambda: "",
    "bytes": lambda: b"\x00\xff",
    "0": lambda: 0,
    "-1": lambda: -1,
    "2.5": lambda: 2.5,
    "huge": lambda: 10**400,
    "NaN": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: -np.inf,
    "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324,
    "complex": lambda: 1 + 2j,
    "decimal": lambda: decimal.Decimal("0.5"),
    "date": lambda: datetime.date(2024, 5, 1),
    "empty list": list,
    "empty rows": lambda: [[], []],
    "list of text": lambda: ["a", "b", "c", "d", "e", "f"],
    "ragged": _ragged,
    "list of None": lambda: [None] * 6,
    "list of lists of text": lambda: [["a", "b", "c"]] * 6,
    "NaN everywhere": lambda: np.full((6, 3), np.nan),
    "one infinity": lambda: np.where(np.eye(6, 3) > 0, np.inf, 1.0),
    "no rows": lambda: np.empty((0, 3)),
    "no columns": lambda: np.empty((6, 0)),
    "a cube": lambda: np.zeros((6, 3, 2)),
    "all equal": lambda: np.ones((6, 3)),
    "few rows": lambda: np.ones((1, 3)),
    "large numbers": lambda: np.full((6, 3), 1e308) * np.array([1, -1, 0.5]),
    "complex array": lambda: np.ones((6, 3)) * 1j,
    "dates": lambda: np.array(["2024-01-01", "NaT", "2024-01-02"] * 2, dtype="M8[D]"),
    "text array": lambda: np.array(["a"] * 6),
    "objects": lambda: np.array([object()] * 6, dtype=object),
    "records": lambda: np.zeros(6, dtype=[("a", float), ("b", int)]),
    "masked": lambda: np.ma.masked_all((6, 3)),
    "empty sparse": lambda: sparse.csr_array((6, 3)),
    "huge sparse": lambda: sparse.coo_array(([1.0, 2.0], ([0, 10**9], [0, 10**9])), shape=(2**60, 2**60)),
    "dictionary": lambda: {"a": 1},
    "set": lambda: {1, 2},
    "generator": lambda: (k for k in range(3)),
    "function": lambda: lambda *_, **__: None,
    "class": lambda: dict,
    "module": lambda: np,
    "object": object,
    "sour": Sour,
    "tensor": NeedsGrad,
    "tensor of numbers": lambda: Graded(SCORES),
    "tensor of rows": lambda: Graded(COMPLETE),
    "unfitted": SVT,
    "estimator": LinearRegression,
    "no file": lambda: Path("/dev/null/no such file"),
    "random": lambda: np.random.default_rng(0),
}
"""What is given instead of each argument in turn; made anew each time."""

try:
    import pandas as pd

    HOSTILE |= {
        "pd.NA": lambda: pd.NA,
        "list of pd.NA": lambda: [pd.NA] * 6,
        "nullable": lambda: pd.DataFrame({"a": pd.array([1, None, 3, 4, 5, 6], dtype="Int64")}),
        "frame of text": lambda: pd.DataFrame({"a": list("uvwxyz")}),
        "no frame": pd.DataFrame,
        "other index": lambda: pd.DataFrame(np.arange(18.0).reshape(6, 3), index=[3, 1, 4, 1, 5, 9]),
    }
except ImportError:  # the others do without it
    pass


Z = np.array(
    [[5.0, 4, 1, np.nan], [1, 2, 5, 4], [5, np.nan, 2, 1], [2, 1, 4, 5], [4, 4, np.nan, 2], [1, 3, 5, 5]]
)
"""Six individuals and four features, of which each individual has three or more."""


@cache
def observed() -> ObservedMatrix:
    return ObservedMatrix(Z, value_range=(1, 5), row_ids=list("abcdef"))


@cache
def estimate() -> Any:
    return svt(observed(), threshold=0.5)


@cache
def distance() -> Any:
    return likewise.fairness.RowDistance(np.nan_to_num(Z, nan=3.0))


@cache
def report() -> Any:
    return likewise.audit(observed(), estimator=SVT(0.5), model="identity", hold_out=0.2, random_state=0)


@cache
def bound() -> Any:
    return likewise.certificates.model_constant("identity")


@cache
def statistics() -> Any:
    return likewise.estimation.ObservationStatistics.of(observed().scaled().values)


def matrix() -> Any:
    return observed().scaled().values


COMPLETE = np.nan_to_num(Z, nan=3.0)
SCORES = np.array([0.1, 0.5, 0.2, 0.9, 0.4, 0.7])
HALF = {"features": COMPLETE / 5, "targets": Z / 5}

PEOPLE = np.random.default_rng(0).normal(size=(30, 2))
ANSWERS = [(i, k, bool(abs(PEOPLE[i] - PEOPLE[k]).sum() < 1.5)) for i in range(30) for k in range(0, i, 5)]


@cache
def learned() -> Any:
    return likewise.fairness.learn_distance(PEOPLE, pairs=ANSWERS, n_draws=20)


def learned_parts() -> Any:
    made = learned()
    kept = (made.weights, made.draws, made.agreement, made.by_chance, "units", ())
    return likewise.fairness.learned.fit.Learned(*kept)


def fetched_before() -> str:
    """Name a data set that is there, so that no network is used."""
    Path("ml-100k").mkdir(exist_ok=True)
    return "ml-100k"


def partitioned() -> Any:
    """Thirty individuals, of whom many pairs share features."""
    values = np.random.default_rng(0).integers(1, 6, (30, 20)).ravel()
    frame = {"user": np.repeat(np.arange(30), 20), "item": np.tile(np.arange(20), 30), "rating": values * 1.0}
    pl.DataFrame(frame).write_parquet("people.parquet")
    return likewise.read_partitioned("people.parquet")


RATINGS, PART, TABLE, ESTIMATE = "ratings.csv", "part.parquet", "table.csv", "estimate.npz"
"""Files in the folder of a test."""


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Read and write where nothing else is."""
    monkeypatch.chdir(tmp_path)
    registries = [
        thing
        for module in tuple(sys.modules)
        if module.startswith("likewise")
        for thing in vars(sys.modules[module]).values()
        if isinstance(thing, Registry)
    ]
    known = [(registry, dict(registry)) for registry in registries]
    likewise.observations.write_ratings(RATINGS, observed())
    lines = {"user": [1, 1, 2], "item": [1, 2, 1], "rating": [1.0, 5.0, 2.0]}
    pl.DataFrame(lines).write_parquet(PART)
    Path(TABLE).write_text(
        "id,score\n" + "".join(f"{name},{score}\n" for name, score in zip("abcdef", SCORES, strict=True))
    )
    estimate().save(ESTIMATE)
    yield
    for registry, names in known:
        for name in set(registry) - set(names):
            registry.unregister(name)


NAMED: dict[str, Callable[[], Any]] = {
    "above": lambda: 0.1,
    "after": lambda: likewise.fairness.RowDistance(SCORES / 2),
    "actual": lambda: SCORES,
    "arms": lambda: {"without": SCORES, "with": SCORES / 2},
    "before": lambda: likewise.fairness.RowDistance(SCORES),
    "centering": lambda: "column",
    "lists": lambda: [["a", "b"], ["b", "c"], ["c", "a"], ["a", "c"], ["b", "a"], ["c", "b"]],
    "groups": lambda: ["a", "b"] * (len(SCORES) // 2) + ["a"] * (len(SCORES) % 2),
    "certificate": bound,
    "choice": lambda: "degrees",
    "distance": distance,
    "error": lambda: likewise.certificates.ErrorBound(0.1, "l2", 1.0, "a simulation"),
    "estimate": estimate,
    "estimator": lambda: "biases",
    "experiment": lambda: "1",
    "features": lambda: COMPLETE / 5,
    "folder": lambda: "folder",
    "frame": lambda: pytest.importorskip("pandas").DataFrame(COMPLETE),
    "function": lambda: lambda x, y: float(np.abs(x - y).sum()),
    "gains": lambda: np.ones(2),
    "individuals": lambda: COMPLETE,
    "kept": lambda: likewise.estimation.KeptSpectrum(statistics(), 0.5, np.array([2.0, 1.0])),
    "end": lambda: "least",
    "left": lambda: 0,
    "level": lambda: 0.05,
    "limit": lambda: 0.5,
    "lipschitz": lambda: 0.5,
    "matrix": lambda: COMPLETE,
    "model": lambda: "identity",
    "n": lambda: 2,
    "n_neighbors": lambda: 2,
    "name": lambda: "svt",
    "noise": lambda: 0.1,
    "observed": observed,
    "operand": lambda: COMPLETE,
    "outputs": lambda: SCORES,
    "target": lambda: ["yes", "no"] * (len(SCORES) // 2) + ["no"] * (len(SCORES) % 2),
    "path": lambda: __file__,
    "predicted": lambda: SCORES,
    "preprocessing": bound,
    "probabilities": lambda: np.full((6, 2), 0.5),
    "psi": lambda: lambda sigma: sigma,
    "rank": lambda: 1,
    "rate": lambda: likewise.fairness.ExactValue(0.1, 15),
    "max_ratio": lambda: likewise.fairness.ExactValue(0.1, 15),
    "recommendations": lambda: [["a", "b"], ["b", "c"], ["c", "a"], ["a", "c"], ["b", "a"], ["c", "b"]],
    "reference": distance,
    "regularization": lambda: 0.5,
    "report": report,
    "old": lambda: report().to_dict(),
    "new": lambda: report().to_dict(),
    "checks": lambda: ["gap<=0.9"],
    "right": lambda: 1,
    "row": lambda: "h",
    "row_ids": lambda: list("abcdef"),
    "rows": lambda: COMPLETE,
    "scores": lambda: COMPLETE,
    "shrinker": lambda: "soft",
    "singular_values": lambda: np.array([2.0, 1.0]),
    "statistics": statistics,
    "targets": lambda: Z / 5,
    "threshold": lambda: 0.5,
    "tree": lambda: {"a": 1},
    "values": matrix,
    "verdicts": lambda: likewise.fairness.judge_rate(likewise.fairness.ExactValue(0.1, 15), 1.0),
    "factor": lambda: 2.0,
    "thing": lambda: 1,
    "X": lambda: Z,
    "bounds": lambda: (1, 5),
    "from_norm": lambda: "l2",
    "to_norm": lambda: "l2",
    "slope": lambda: 1.0,
    "offset": lambda: 0.0,
    "confidence": lambda: 1.0,
    "source": lambda: "a simulation",
    "metrics": lambda: likewise.measure_fairness(SCORES, distance()),
    "new_rows": lambda: Z[:2],
}
"""A value that works, for each argument that must be given, by its name."""

OTHERWISE: dict[str, dict[str, Callable[[], Any]]] = {
    # By default nothing is kept of so few observations, which is a warning.
    "likewise.SVT": {"threshold": lambda: 0.5},
    "likewise.svt": {"threshold": lambda: 0.5},
    "likewise.read_ratings": {"path": lambda: RATINGS},
    "likewise.read_partitioned": {"source": lambda: PART},
    "observations.read_pairs": {"path": lambda: RATINGS},
    "observations.read_table": {"path": lambda: TABLE},
    "observations.write_ratings": {"path": lambda: "ratings.csv"},
    "inference.read_groups": {"path": lambda: TABLE},
    "inference.read_outputs": {"path": lambda: TABLE},
    "LowRankEstimate.load": {"path": lambda: ESTIMATE},
    "LowRankEstimate.save": {"path": lambda: "estimate.npz"},
    "likewise.singular_triplets": {"operand": lambda: COMPLETE, "above": lambda: 0.1},
    "certificates.Certificate": {"name": lambda: "K1", "value": lambda: 1.0},
    "certificates.AffineCertificate": {"name": lambda: "K1"},
    "certificates.ErrorBound": {"value": lambda: 0.1, "norm": lambda: "l2"},
    "estimation.RandomSample": {"values": lambda: [1.0, 2.0]},
    "estimation.soft_impute": {"observed": matrix},
    "fairness.envy": {"ratings": lambda: np.ones((6, 3)), "items": lambda: ["a", "b", "c"]},
    "fairness.ranking_accuracy": {
        "lists": lambda: [[0, 1], [1, 2], [2, 0], [0, 2], [1, 0], [2, 1]],
        "ratings": lambda: ObservedMatrix(np.arange(18.0).reshape(6, 3)),
    },
    "likewise.KNNRecommender": {"n_neighbors": lambda: 2, "average": lambda: "co-raters"},
    "fairness.search_unseen_rows": {
        "function": lambda: lambda rows: np.nan_to_num(rows) + 0.0,
        "starts": lambda: COMPLETE[:4].reshape(2, 2, 4),
    },
    "fairness.verdict": {"lipschitz": lambda: 1.0},
    "certificates.certify_on_truth": {"model": bound},
    "certificates.compose": {"model": bound},
    "certificates.individual_constants": {
        "proved": lambda: (
            likewise.make_estimator("als", random_state=0).fit(observed()).certificate_.regression
        ),
        "values": lambda: observed().scaled("symmetric").values,
    },
    "inference.nearest_neighbor_outputs": {"n_neighbors": lambda: 2},
    "fairness.distance_by_name": {"name": lambda: "rows"},
    "fairness.named_output_distance": {"name": lambda: "l2"},
    "fairness.projected_distance": {"directions": lambda: np.eye(1, 4)},
    "fairness.worst_pairs": {"k": lambda: 3},
    "report.findings": {"arms": lambda: report().arms},
    "reproduction.reproduce": {
        "experiments": lambda: "4",
        "simulations": lambda: 1,
        "arms": lambda: "h",
        "model": lambda: "identity",
        "quick": lambda: True,
    },
    "KNNRecommender.predict": {"X": lambda: COMPLETE},
    "PairwiseDistance.between": {"left": lambda: [0], "right": lambda: [1]},
    "LowRankEstimate.entries": {"left": lambda: [0], "right": lambda: [1]},
    "LowRankEstimate.rows": {"rows": lambda: [0]},
    "ObservedMatrix.take_rows": {"rows": lambda: [0]},
    "ObservedMatrix.keep": {"rows": lambda: np.arange(observed().n_observed) % 2 == 0},
    "ObservedMatrix.scaled": {"name": lambda: "unit"},
    "ObservedMatrix.with_values": {"values": lambda: observed().values.data, "value_range": lambda: (1, 5)},
    "ObservedMatrix.from_triplets": {
        "rows": lambda: [1, 2],
        "columns": lambda: [1, 2],
        "values": lambda: [1.0, 2.0],
    },
    "KNNRecommender.fit": {"X": lambda: COMPLETE, "y": lambda: SCORES},
    "likewise.audit": {"individuals": distance, "outputs": lambda: SCORES},
    "likewise.audit_partitioned": {
        "observed": partitioned,
        "pairs": lambda: 10,
        "estimator": lambda: "als",
    },
    "pipeline.worst_within_blocks": {
        "observed": partitioned,
        "fitted": lambda: likewise.make_estimator("biases").fit(partitioned()),
    },
    "estimation.mixed_estimate": {
        "estimates": lambda: [estimate(), likewise.make_estimator("biases").fit(observed()).estimate_],
        "weights": lambda: [0.5, 0.5],
    },
    "estimation.level_probabilities": {
        "observed": lambda: np.random.default_rng(0).integers(1, 4, (40, 20)) * 1.0,
        "estimator": lambda: "biases",
    },
    "estimation.stacking_weights": {"errors": lambda: np.array([[1.0, -1.0, 0.5], [0.5, 1.0, -0.5]])},
    "likewise.compare": {"arms": lambda: {"without": SCORES, "with": SCORES / 2}},
    "likewise.entry_intervals": {"estimator": lambda: "biases", "calibration_share": lambda: 0.5},
    "likewise.frontier": {
        "individuals": observed,
        "estimator": lambda: SVT(0.5),
        "budgets": lambda: [0.5],
        "hold_out": lambda: 0.2,
    },
    "likewise.ObservedMatrix": {"values": lambda: Z},
    "estimation.one_bit_completion": {"observed": lambda: ~np.isnan(Z)},
    "estimation.shrink_to_budget": {"right": lambda: np.eye(4, 2)},
    "fairness.CallableDistance": {"individuals": lambda: COMPLETE},
    "fairness.FactorDistance": {"left": lambda: COMPLETE, "right": lambda: np.ones((3, 4))},
    "fairness.recommender_distance": {"model": lambda: (COMPLETE, np.ones((3, 4)))},
    "likewise.load": {"path": lambda: ESTIMATE},
    "likewise.save": {"result": estimate, "path": lambda: "saved.npz"},
    "datasets.fetch": {"dataset": fetched_before},
    "fairness.learn_distance": {
        "individuals": lambda: PEOPLE,
        "pairs": lambda: ANSWERS,
        "n_draws": lambda: 20,
    },
    "fairness.LearnedDistance": {
        "compared": lambda: learned()._compared,
        "learned": learned_parts,
        "answers": lambda: likewise.fairness.learned.Answers.of(np.arange(30), ANSWERS, None, None),
        "row_ids": lambda: np.arange(30),
    },
    "fairness.violating_share": {
        "outputs": lambda: likewise.fairness.RowDistance(PEOPLE[:, 0]),
        "learned": learned,
        "lipschitz": lambda: 1.0,
    },
    "fairness.judge_learned": {
        "share": lambda: likewise.fairness.SampledValue(0.1, 0.0, 0.2, 0.9, "all pairs", "a bootstrap", 10),
        "learned": learned,
        "lipschitz": lambda: 1.0,
    },
    "observations.with_times": {"times": lambda: np.arange(float(observed().n_observed))},
    "likewise.repair": {"lipschitz": lambda: 1.0},
    "fairness.CompletionDistance": {"end": lambda: "least"},
    "fairness.judge_completions": {"lipschitz": lambda: 1.0},
    "fairness.PrecomputedDistance": {"matrix": lambda: 1.0 - np.eye(6)},
}
"""Where an argument of that name is another thing, or one is better given than left out."""


def is_estimator(thing: Any) -> bool:
    return hasattr(thing, "fit") and hasattr(thing, "get_params")


def made_and_fitted(kind: Any) -> Callable[..., Any]:
    """An estimator keeps its options unseen until it is fitted."""
    return lambda **options: kind(**options).fit(Z)


def public() -> dict[str, Callable[..., Any]]:
    """Return every public function and class by its name in its first room; records that hold whatever they are given are left out."""
    return {name: thing for name, thing in public_callables().items() if not holds_anything(thing)}


def holds_anything(thing: Callable[..., Any]) -> bool:
    """Whether it is a class that is not made by users, or checks nothing when it is made."""
    return inspect.isclass(thing) and (
        inspect.isabstract(thing)
        or issubclass(thing, Exception | Enum)
        or getattr(thing, "_is_protocol", False)
        or (hasattr(thing, "__dataclass_fields__") and not hasattr(thing, "__post_init__"))
    )


METHODS: dict[str, Callable[..., Any]] = {
    "SVT.fit": lambda X: SVT(0.5).fit(X),
    "SVT.transform": lambda X: SVT(0.5).fit(Z).transform(X),
    "LowRankEstimate.fold_in": lambda new_rows: estimate().fold_in(new_rows),
    "LowRankEstimate.rows": lambda rows: estimate().rows(rows),
    "LowRankEstimate.entries": lambda left, right: estimate().entries(left, right),
    "LowRankEstimate.load": likewise.LowRankEstimate.load,
    "LowRankEstimate.save": lambda path: estimate().save(path),
    "ObservedMatrix.take_rows": lambda rows: observed().take_rows(rows),
    "ObservedMatrix.keep": lambda rows: observed().keep(rows),
    "ObservedMatrix.scaled": lambda name: observed().scaled(name),
    "ObservedMatrix.with_values": lambda values, value_range: observed().with_values(values, value_range),
    "ObservedMatrix.from_triplets": ObservedMatrix.from_triplets,
    "KNNRecommender.fit": lambda X, y: likewise.KNNRecommender(2).fit(X, y),
    "KNNRecommender.predict": lambda X: likewise.KNNRecommender(2).fit(COMPLETE).predict(X),
    "PairwiseDistance.between": lambda left, right: distance().between(left, right),
    "ValueRange.declared": likewise.observations.ValueRange.declared,
}


def working(name: str, call: Callable[..., Any]) -> dict[str, Callable[[], Any]]:
    """Return makers of arguments with which a call works: those that must be given."""
    otherwise = OTHERWISE.get(name, {})
    required = [
        parameter.name
        for parameter in inspect.signature(call).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    return {argument: NAMED[argument] for argument in required if argument not in otherwise} | otherwise


CALLED = {
    "progress",
    "ends",
    "ratings",
    "threshold",
    "shrinker",
    "stop",
    "psi",
    "function",
    "model",
    "thing",
    "metrics",
}
"""Arguments that are called: what a class does then is its own affair."""


def outcome(call: Callable[..., Any], arguments: dict[str, Any], variadic: str | None) -> str | None:
    """Return what is wrong with the way a call ends, or None."""
    rest = (arguments.pop(variadic),) if variadic in arguments else ()
    signal.setitimer(signal.ITIMER_PROF, 20)  # of computing: a busy computer is no fault of the call
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for kind in (
                RuntimeWarning,
                np.exceptions.ComplexWarning,
            ):  # what NumPy says of numbers that it makes up
                warnings.simplefilter("error", kind)
            result = call(*rest, **arguments)
            if inspect.isgenerator(result):
                list(result)
    except LikewiseError as error:
        return None if str(error) else "an error without a word"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:100]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


HELD = {"estimation.RidgeFolding", "estimation.ValueWeighting", "estimation.Weighting"}
"""Parts of an estimate, made by estimators of numbers that were checked."""
NEED_TORCH = {"likewise.DenseNetRecommender", "inference.train_dense_net", "inference.dense_net_outputs"}


@pytest.fixture(autouse=True)
def _told_where_it_hangs():
    """An argument that would be worked on for hours is as bad as one that fails."""

    def stop(*_: object) -> None:
        raise TimeoutError("still at it after 20 seconds of computing")

    before = signal.signal(signal.SIGPROF, stop)
    yield
    signal.signal(signal.SIGPROF, before)


EVERYTHING = {
    name: call
    for name, call in (public() | METHODS).items()
    if name not in HELD and (importlib.util.find_spec("torch") or name not in NEED_TORCH)
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERYTHING)
def test_only_errors_of_likewise_come_out(name):
    call = EVERYTHING[name]
    makers = working(name, call)
    signature = inspect.signature(call)
    call = made_and_fitted(call) if is_estimator(call) else call
    variadic = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL), None)
    found = {}
    for argument, parameter in signature.parameters.items():
        if parameter.kind is not parameter.VAR_KEYWORD:
            for kind, hostile in HOSTILE.items():
                if kind == "class" and argument in CALLED:
                    continue
                arguments = {other: make() for other, make in makers.items()} | {argument: hostile()}
                if (wrong := outcome(call, arguments, variadic)) is not None:
                    found[f"{argument}={kind}"] = wrong
    assert found == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERYTHING)
def test_each_call_works_with_the_arguments_that_are_not_hostile(name):
    """Else every hostile argument would be refused for another one's sake."""
    call = EVERYTHING[name]
    arguments = {argument: make() for argument, make in working(name, call).items()}
    variadic = [p.name for p in inspect.signature(call).parameters.values() if p.kind is p.VAR_POSITIONAL]
    rest = [arguments.pop(argument) for argument in variadic]
    (made_and_fitted(call) if is_estimator(call) else call)(*rest, **arguments)
