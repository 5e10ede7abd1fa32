"""Every distance keeps the axioms that its description states, and measures a pair the same in a block and alone."""

import inspect

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import likewise
from likewise import ObservedMatrix
from likewise.errors import ShapeError
from likewise.fairness import (
    CallableDistance,
    CoObservedDistance,
    FactorDistance,
    GowerDistance,
    ObservedDistance,
    PairwiseDistance,
    PatternDistance,
    PrecomputedDistance,
    RowDistance,
    feature_distance,
    hellinger_distance,
    mahalanobis_distance,
    projected_distance,
    rank_biased_distance,
    top_items,
    top_n_distance,
    total_variation_distance,
    wasserstein_distance,
)

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


KINDS = {
    "zero-filled l1": lambda s: ObservedDistance(stars(s)),
    "zero-filled l2": lambda s: ObservedDistance(stars(s), "l2", working_range="unit"),
    "zero-filled without a column": lambda s: ObservedDistance(stars(s), exclude=[0, 3]),
    "co-observed l1": lambda s: CoObservedDistance(stars(s)),
    "co-observed l2": lambda s: CoObservedDistance(stars(s), "l2", least_shared=2),
    "rows l1": lambda s: RowDistance(numbers(s), "l1"),
    "rows l2": lambda s: RowDistance(numbers(s, 12)),
    "factors": lambda s: FactorDistance(numbers(s), np.random.default_rng(s).integers(-2, 3, (9, 5))),
    "numbers": lambda s: RowDistance(numbers(s)[:, 0]),
    "scaled": lambda s: feature_distance(numbers(s), "l1", scaling="range"),
    "without a column": lambda s: feature_distance(numbers(s), exclude=[1], scaling="standard"),
    "mahalanobis": lambda s: mahalanobis_distance(numbers(s)),
    "singular mahalanobis": lambda s: mahalanobis_distance(numbers(s)[:, [0, 1, 1]]),
    "projected": lambda s: projected_distance(numbers(s), directions=[[1.0, 1, 0, 0, 0], [0, 0, 0, 1, -1]]),
    "precomputed": precomputed,
    "callable": lambda s: CallableDistance(lambda x, y: np.abs(x - y).max(), numbers(s), axioms="metric"),
    "vectorized callable": lambda s: CallableDistance(
        lambda x, y: np.abs(x - y).sum(axis=1), numbers(s), vectorized=True, axioms="metric"
    ),
    "gower": lambda s: GowerDistance(records(s)),
    "gower with gaps": lambda s: GowerDistance(records(s, missing=True)),
    "gower without a column": lambda s: GowerDistance(records(s), exclude=["job"]),
    "total variation": lambda s: total_variation_distance(numbers(s, 3) / 3 / 3 + (1 - numbers(s, 3).sum(1, keepdims=True) / 9) / 3),
    "hellinger": lambda s: hellinger_distance(numbers(s, 3) / 3 / 3 + (1 - numbers(s, 3).sum(1, keepdims=True) / 9) / 3),
    "wasserstein": lambda s: wasserstein_distance(numbers(s, 3) / 3 / 3 + (1 - numbers(s, 3).sum(1, keepdims=True) / 9) / 3),
    "zero-filled linf": lambda s: ObservedDistance(stars(s), "linf"),
    "co-observed linf": lambda s: CoObservedDistance(stars(s), "linf"),
    "rows linf": lambda s: RowDistance(numbers(s), "linf"),
    "binary probabilities": lambda s: total_variation_distance(numbers(s)[:, 0] / 2),
    "top-n": lambda s: top_n_distance(recommendations(s)),
    "rank-biased": lambda s: rank_biased_distance(recommendations(s), 0.7),
    "empty entries as a point": lambda s: PatternDistance(stars(s)),
    "empty entries, weighted": lambda s: PatternDistance(stars(s), feature_weights=[0, 1, 2, 1, 1, 1, 1]),
}  # fmt: skip


def test_every_class_of_distances_is_here():
    """But for the ends of a distance over completions, of which only the least can be 0 between unlike rows: test_completions.py has them."""
    public = (getattr(likewise.fairness, name) for name in likewise.fairness.__all__)
    classes = {
        thing
        for thing in public
        if inspect.isclass(thing) and issubclass(thing, PairwiseDistance) and not inspect.isabstract(thing)
    }
    checked = {type(make(0)) for make in KINDS.values()}
    missing = {one.__name__ for one in classes if not any(issubclass(one, each) for each in checked)}
    assert missing == {"CompletionDistance"}


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
@pytest.mark.parametrize("kind", [*KINDS, "some of them"])
def test_what_is_no_pair_of_individuals_is_refused(kind, given):
    distance = KINDS["rows l1"](5).taken(np.arange(M)) if kind == "some of them" else KINDS[kind](5)
    with pytest.raises(ShapeError, match=r"position"):
        distance.between(given, [0])
    with pytest.raises(ShapeError, match=r"position"):
        distance.between([0], given)
