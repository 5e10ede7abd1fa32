"""Same seed, same bits: every public callable that draws gives the same twice, and never reads or changes NumPy's global state."""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import inspect
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import likewise
from likewise import ObservedMatrix
from likewise.estimation.auto.candidates import Plan
from likewise.observations import clustered

from .public import public_callables


@pytest.fixture(autouse=True)
def no_clock(monkeypatch):
    """What `auto` tries follows from its plan; on a busy computer a budget of seconds would end some fits early."""
    monkeypatch.setattr(Plan, "over", lambda _: False)


@cache
def observed() -> ObservedMatrix:
    return clustered(30, 40, 3, observed_fraction=0.5, random_state=0).observed


@cache
def distance() -> Any:
    return likewise.fairness.ObservedDistance(observed())


@cache
def outputs(seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(30, 3))


def answers() -> Any:
    """Say of some pairs whether they are similar, by how far apart they are."""
    apart = {(i, k): abs(outputs()[i] - outputs()[k]).sum() for i in range(30) for k in range(0, i, 3)}
    return [(i, k, bool(far < 3)) for (i, k), far in apart.items()]


@cache
def learned() -> Any:
    return likewise.fairness.learn_distance(outputs(), pairs=answers(), n_draws=20)


def values() -> Any:
    return observed().scaled().values


@cache
def partitioned() -> Any:
    """The same observations, in one part."""
    rows, columns = observed().positions()
    lines = {"user": rows, "item": columns, "rating": observed().values.data}
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    pl.DataFrame(lines).write_parquet(f"{folder.name}/part.parquet")
    return likewise.read_partitioned(folder.name)


NEEDED: dict[str, Callable[[], dict[str, Any]]] = {
    "likewise.DenseNetRecommender": lambda: {"n_steps": 20},
    "likewise.SVT": dict,
    "likewise.audit": lambda: {"individuals": observed(), "estimator": "svt", "model": "knn", "pairs": 200},
    "likewise.compare": lambda: {"arms": {"without": outputs(), "with": outputs(1)}, "reference": distance()},
    "likewise.audit_partitioned": lambda: {"observed": partitioned(), "pairs": 10, "estimator": "als"},
    "likewise.entry_intervals": lambda: {"observed": observed(), "estimator": "soft-impute"},
    "likewise.frontier": lambda: {"individuals": observed(), "pairs": 200, "budgets": [0.3]},
    "likewise.hold_out": lambda: {"observed": observed()},
    "likewise.singular_triplets": lambda: {"operand": values(), "at_most": 3, "solver": "krylov"},
    "likewise.svt": lambda: {"observed": observed(), "threshold": 3.0, "solver": "krylov"},
    "observations.clustered": lambda: {"n_individuals": 20, "n_features": 15, "n_clusters": 3},
    "estimation.AlternatingLeastSquares": lambda: {"rank": 3},
    "estimation.Auto": lambda: {"time_budget": 5.0},
    "estimation.Biases": dict,
    "estimation.CaiCandesShen": lambda: {"tol": 0.05},
    "estimation.CrossValidated": dict,
    "estimation.SignFlipEdge": dict,
    "estimation.Mixture": dict,
    "estimation.SoftImpute": dict,
    "estimation.alternating_least_squares": lambda: {"values": values(), "rank": 3},
    "estimation.as_estimator": lambda: {"estimator": "soft-impute"},
    "estimation.cai_candes_shen": lambda: {"values": values(), "tol": 0.05},
    "estimation.level_probabilities": lambda: {
        "observed": np.random.default_rng(0).integers(1, 4, (40, 20)) * 1.0, "estimator": "als"
    },
    "estimation.one_bit_completion": lambda: {"observed": values().toarray() != 0},
    "estimation.propensities_of": lambda: {"values": values(), "choice": "1-bit"},
    "estimation.soft_impute": lambda: {"observed": values(), "regularization": 2.0},
    "inference.as_model": lambda: {"model": likewise.inference.MODELS["knn"]},
    "inference.train_dense_net": lambda: {
        "features": values(), "targets": values(), "settings": likewise.inference.NetSettings(n_steps=20, device="cpu")
    },
    "fairness.activity_check": lambda: {"observed": observed(), "reference": distance(), "n_pairs": 100},
    "fairness.envy": lambda: {"lists": np.argsort(outputs(), axis=1)[:, :2], "ratings": outputs(), "most": 10},
    "fairness.group_effects": lambda: {
        "outputs": np.arange(60.0), "reference": likewise.fairness.RowDistance(np.arange(60.0)), "groups": ["a", "b"] * 30
    },
    "fairness.judge_completions": lambda: {"outputs": outputs(), "observed": observed(), "lipschitz": 1.0, "pairs": 100},
    "fairness.learn_distance": lambda: {"individuals": outputs(), "pairs": answers(), "n_draws": 20},
    "fairness.search_unseen_rows": lambda: {
        "function": lambda rows: rows.sum(axis=1),
        "starts": np.stack([outputs()[:8].reshape(-1, 2), outputs()[8:16].reshape(-1, 2)], axis=1),
    },
    "fairness.violating_share": lambda: {
        "outputs": likewise.fairness.RowDistance(outputs(1)), "learned": learned(), "lipschitz": 1.0, "n_pairs": 50
    },
    "fairness.measure_sampled": lambda: {"outputs": outputs(), "reference": distance(), "n_pairs": 100},
    "fairness.paired_differences": lambda: {
        "before": likewise.fairness.RowDistance(outputs()), "after": likewise.fairness.RowDistance(outputs(1)),
        "reference": distance(), "n_pairs": 5,
    },
    "reproduction.reproduce": lambda: {"experiments": "rate", "simulations": 1, "model": "identity", "quick": True},
}  # fmt: skip
"""What each needs besides a seed."""

IGNORED = {"seconds", "provenance"}
"""What a run measures of itself."""


def drawing() -> dict[str, Callable[..., Any]]:
    """Return every public callable with a ``random_state``, by its name in its first room."""
    return {
        name: thing
        for name, thing in public_callables().items()
        if "random_state" in inspect.signature(thing).parameters
    }


DRAWING = {
    name: call
    for name, call in drawing().items()
    if importlib.util.find_spec("torch")
    or name not in ("likewise.DenseNetRecommender", "inference.train_dense_net")
}


def test_every_callable_that_draws_is_here():
    """`Settings` only holds the seed of `reproduce`."""
    assert set(drawing()) - {"reproduction.Settings"} == set(NEEDED)


def result(name: str, seed: Any) -> Any:
    """Return what a callable draws: of an estimator what it fits, of a rule its threshold, of a model its outputs."""
    made = DRAWING[name](**NEEDED[name](), random_state=seed)
    if hasattr(made, "fit"):
        return vars(made.fit(observed()))
    if isinstance(made, likewise.inference.Model):
        return made(values())
    if isinstance(made, likewise.estimation.ThresholdRule):
        return made(likewise.estimation.ObservationStatistics.of(values()))
    return made


def assert_same_bits(first: Any, second: Any, where: str = "it") -> None:
    assert type(first) is type(second), where
    if isinstance(first, np.ndarray):
        assert first.dtype == second.dtype, where
        np.testing.assert_array_equal(first, second, where)
    elif sparse.issparse(first):
        for part in ("data", "indices", "indptr"):
            assert_same_bits(getattr(first, part), getattr(second, part), f"{where}.{part}")
    elif isinstance(first, Mapping):
        assert list(first) == list(second), where
        for key in first:
            if key not in IGNORED:
                assert_same_bits(first[key], second[key], f"{where}[{key!r}]")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), where
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            assert_same_bits(one, other, f"{where}[{place}]")
    elif is_dataclass(first):
        named = [field.name for field in fields(first)]
        assert_same_bits({n: getattr(first, n) for n in named}, {n: getattr(second, n) for n in named}, where)
    elif isinstance(first, ObservedMatrix):
        assert_same_bits(first.values, second.values, where)
    elif isinstance(first, float | int | str | None):
        assert first == second or first != first, where
    elif hasattr(first, "__dict__") and not callable(first) and not isinstance(first, np.random.Generator):
        assert_same_bits(vars(first), vars(second), where)


SLOW = {"estimation.Auto", "estimation.Mixture", "likewise.frontier", "reproduction.reproduce"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in NEEDED if name in DRAWING],
)
@pytest.mark.parametrize("seed", [int, np.random.default_rng], ids=["seed", "generator"])
def test_the_same_seed_gives_the_same_bits(name, seed):
    if seed is not int and name in (
        "inference.as_model",
        "reproduction.reproduce",
        "estimation.SignFlipEdge",
        "estimation.CrossValidated",
    ):
        pytest.skip("takes a whole number only")
    before = np.random.get_state()  # noqa: NPY002  which nothing of ours touches
    first, second = (result(name, seed(7)) for _ in range(2))
    assert_same_bits(first, second)
    assert_same_bits(np.random.get_state(), before)  # noqa: NPY002


def test_a_seed_reaches_the_parts_of_a_scikit_learn_model():
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TruncatedSVD(3), KMeans(4, n_init=1))
    first, second = (likewise.inference.as_model(model, random_state=5)(values()) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_other_seeds_give_other_draws():
    """Else the test above would hold for a seed that is not used."""
    one, other = (likewise.hold_out(observed(), random_state=seed) for seed in (0, 1))
    assert not np.array_equal(one.values, other.values)
    for name in ("fairness.measure_sampled", "likewise.audit"):
        with pytest.raises(AssertionError):
            assert_same_bits(result(name, 0), result(name, 1))
