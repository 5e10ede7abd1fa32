"""Every distance keeps the axioms that its description states, and measures a pair the same in a block and alone."""

import importlib
import inspect
import pkgutil

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import likewise.fairness
from likewise import ObservedMatrix
from likewise.errors import ShapeError
from likewise.fairness import (
    OUTPUT_DISTANCES,
    CallableDistance,
    CoObservedDistance,
    FactorDistance,
    GowerDistance,
    ObservedDistance,
    PairwiseDistance,
    PatternDistance,
    PrecomputedDistance,
    RowDistance,
    distance_by_name,
    feature_distance,
    mahalanobis_distance,
    named_output_distance,
    projected_distance,
    rank_biased_distance,
    top_items,
    total_variation_distance,
)
from likewise.fairness.distances.registry import OF_THE_PACKAGE

M = 24


def numbers(seed, columns=5):
    # Few distinct values, so that equal rows and zero distances between different rows occur.
    return np.random.default_rng(seed).integers(0, 3, (M, columns)).astype(float)


def stars(seed):
    table = 1 + numbers(seed, 7)
    table[np.random.default_rng(seed + 1).random(table.shape) < 0.4] = np.nan
    return ObservedMatrix(table, value_range=(1, 5))


def records(seed, missing=False):
    rng = np.random.default_rng(seed)
    gaps = rng.random((M, 3)) < (0.4 if missing else 0.0)
    age = [
        None if gap else int(value) for gap, value in zip(gaps[:, 0], rng.integers(20, 24, M), strict=True)
    ]
    job = [
        None if gap else str(value)
        for gap, value in zip(gaps[:, 1], rng.choice(["cook", "nurse"], M), strict=True)
    ]
    tall = [
        None if gap else bool(value) for gap, value in zip(gaps[:, 2], rng.integers(0, 2, M), strict=True)
    ]
    return pl.DataFrame({"age": age, "job": job, "tall": tall})


def recommendations(seed, n=4):
    return top_items(np.random.default_rng(seed).random((M, 8)), n)


def precomputed(seed):
    rows = RowDistance(numbers(seed), "l1")
    return PrecomputedDistance(rows.block(0, M), axioms="metric")


def probabilities(seed):
    # Some are 0; equal shares have equal bits, as a quotient is rounded correctly.
    table = np.hstack([numbers(seed, 2), np.ones((M, 1))])
    return table / table.sum(axis=1, keepdims=True)


DATA = {
    "observed": stars,
    "co-observed": stars,
    "pattern": stars,
    "rows": numbers,
    "features": numbers,
    "mahalanobis": numbers,
    "projected": numbers,
    "gower": records,
    "total-variation": probabilities,
    "hellinger": probabilities,
    "wasserstein-1": probabilities,
    "top-n": recommendations,
    "rank-biased": recommendations,
}
"""What each distance of the registry is made from."""
NEEDED = {"projected": {"directions": [[1.0, 1, 0, 0, 0], [0, 0, 0, 1, -1]]}}
"""Options that have no default."""

OUTPUTS = {
    **dict.fromkeys(("l1", "l2", "linf"), numbers),
    "absolute": lambda s: numbers(s)[:, 0],
    **dict.fromkeys(("tv", "hellinger", "w1"), probabilities),
    **dict.fromkeys(("top-n", "rbo"), lambda s: np.random.default_rng(s).random((M, 12))),
}
"""What each output distance is made from."""


def by_name(name):
    return lambda seed: distance_by_name(name, DATA[name](seed), **NEEDED.get(name, {}))


def of_outputs(name):
    return lambda seed: named_output_distance(name, OUTPUTS[name](seed))


KINDS = {
    **{name: by_name(name) for name in DATA},
    **{f"outputs by {name}": of_outputs(name) for name in OUTPUTS},
    "observed l2": lambda s: ObservedDistance(stars(s), "l2", working_range="unit"),
    "observed linf": lambda s: ObservedDistance(stars(s), "linf"),
    "observed without a column": lambda s: ObservedDistance(stars(s), exclude=[0, 3]),
    "co-observed l2": lambda s: CoObservedDistance(stars(s), "l2", least_shared=2),
    "co-observed linf": lambda s: CoObservedDistance(stars(s), "linf"),
    "rows l1": lambda s: RowDistance(numbers(s), "l1"),
    "rows l2, many columns": lambda s: RowDistance(numbers(s, 12)),
    "rows linf": lambda s: RowDistance(numbers(s), "linf"),
    "factors": lambda s: FactorDistance(numbers(s), np.random.default_rng(s).integers(-2, 3, (9, 5))),
    "numbers": lambda s: RowDistance(numbers(s)[:, 0]),
    "scaled": lambda s: feature_distance(numbers(s), "l1", scaling="range"),
    "without a column": lambda s: feature_distance(numbers(s), exclude=[1], scaling="standard"),
    "singular mahalanobis": lambda s: mahalanobis_distance(numbers(s)[:, [0, 1, 1]]),
    "precomputed": precomputed,
    "callable": lambda s: CallableDistance(lambda x, y: np.abs(x - y).max(), numbers(s), axioms="metric"),
    "vectorized callable": lambda s: CallableDistance(
        lambda x, y: np.abs(x - y).sum(axis=1), numbers(s), vectorized=True, axioms="metric"
    ),
    "gower with gaps": lambda s: GowerDistance(records(s, missing=True)),
    "gower without a column": lambda s: GowerDistance(records(s), exclude=["job"]),
    "binary probabilities": lambda s: total_variation_distance(numbers(s)[:, 0] / 2),
    "rank-biased 0.7": lambda s: rank_biased_distance(recommendations(s), 0.7),
    "pattern, weighted": lambda s: PatternDistance(stars(s), feature_weights=[0, 1, 2, 1, 1, 1, 1]),
    "some of them": lambda s: CallableDistance(
        lambda x, y: np.abs(x - y).max(), numbers(s)[::-1], axioms="pseudometric"
    ).taken(np.arange(M)[::-1]),
}


def test_every_distance_of_the_registry_is_here():
    """A distance that is added to the package is tried as soon as it is told what it is made from."""
    assert set(DATA) == set(OF_THE_PACKAGE)
    assert set(OUTPUTS) == set(OUTPUT_DISTANCES)


def test_every_class_of_distances_is_here():
    """But for the ends of a distance over completions, of which only the least can be 0 between unlike rows: test_completions.py has them."""
    for module in pkgutil.walk_packages(likewise.fairness.__path__, "likewise.fairness."):
        importlib.import_module(module.name)
    classes = {one for one in subclasses(PairwiseDistance) if one.__module__.startswith("likewise.")}
    checked = {type(make(0)) for make in KINDS.values()}
    missing = {
        one.__name__
        for one in classes
        if not inspect.isabstract(one) and not any(issubclass(one, each) for each in checked)
    }
    assert missing == {"CompletionDistance"}


def subclasses(kind):
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


def contents(distance):
    """The rows that a metric must tell apart, one for each individual."""
    if isinstance(distance, RowDistance):
        return distance.rows
    if isinstance(distance, ObservedDistance):
        return distance.values.toarray()
    if isinstance(distance, CallableDistance):
        return distance.individuals
    if isinstance(distance, PatternDistance):  # an empty entry is a point of its own
        pattern = sparse.csr_array(
            (np.ones(distance.values.nnz), distance.values.indices, distance.values.indptr),
            distance.values.shape,
        )
        return np.hstack([distance.values.toarray(), pattern.toarray()])
    return distance.matrix if isinstance(distance, PrecomputedDistance) else distance.features.T


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_axioms(kind, seed):
    distance = KINDS[kind](seed)
    d = distance.block(0, M)
    axioms = distance.description.axioms
    assert not np.isinf(d).any()
    assert (d[~np.isnan(d)] >= 0).all()
    assert np.isnan(d).any() <= (axioms == "semimetric")
    diagonal = np.diag(d)
    assert (diagonal[~np.isnan(diagonal)] == 0).all()
    np.testing.assert_allclose(d, d.T, rtol=1e-12, atol=1e-15)
    if axioms in ("metric", "pseudometric"):
        through = (d[:, :, None] + d[None, :, :]).min(axis=1)
        assert (d <= through + 1e-9 * d.max()).all()
    if axioms == "metric":
        rows = contents(distance)
        differ = (rows[:, None] != rows[None, :]).any(axis=2)
        np.testing.assert_array_equal(d > 0, differ)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_and_single_pairs_agree(kind):
    distance = KINDS[kind](11)
    whole = distance.block(0, M)
    left, right = np.random.default_rng(0).integers(M, size=(2, 200))
    np.testing.assert_allclose(distance.between(left, right), whole[left, right], rtol=1e-9, atol=1e-15)
    part = distance.block(3, 9, 3, 8)
    np.testing.assert_allclose(part, whole[3:9, 3:8], rtol=1e-9, atol=1e-15)
    part[:] = -1  # it may be written to
    np.testing.assert_allclose(distance.block(3, 9, 3), whole[3:9, 3:], rtol=1e-9, atol=1e-15)
    assert distance.between(left[:0], right[:0]).shape == (0,)
    assert set(distance.description.to_dict()) >= {"norm", "columns", "scaling", "missing", "is_metric"}
    assert distance.name in repr(distance)


def test_the_semimetrics_do_break_the_triangle():
    # 0 and 2 share only the feature on which they differ; both agree with 1 wherever they share one.
    table = np.array([[0.0, 1.0, np.nan], [np.nan, 1.0, 1.0], [1.0, np.nan, 1.0]])
    co_observed = CoObservedDistance(ObservedMatrix(table, value_range=(0, 1)))
    gower = GowerDistance(pl.DataFrame(table, schema=["a", "b", "c"]).fill_nan(None))
    for distance in (co_observed, gower):
        d = distance.block(0, 3)
        assert d[0, 2] > d[0, 1] + d[1, 2]


def test_pseudometrics_do_put_different_rows_at_zero():
    rows = np.array([[0.0, 1.0], [5.0, 1.0], [0.0, 2.0]])
    for distance in (
        feature_distance(rows, exclude=[0]),
        projected_distance(rows, directions=[1.0, 0.0]),
        ObservedDistance(sparse.csr_array(rows), exclude=[0]),
    ):
        assert distance.description.axioms == "pseudometric"
        d = distance.block(0, 3)
        assert d[0, 1] == 0 < d[0, 2]


@pytest.mark.parametrize("given", [[-1], [M], [0.5], [True], ["a"], [[0]], 3, None, [0, 1]])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_pair_of_individuals_is_refused(kind, given):
    distance = KINDS[kind](5)
    with pytest.raises(ShapeError, match=r"position"):
        distance.between(given, [0])
    with pytest.raises(ShapeError, match=r"position"):
        distance.between([0], given)
