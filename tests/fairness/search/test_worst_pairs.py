"""The worst pairs are those that sorting all pairs gives; what was ruled out could not have been among them."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise import ObservedMatrix
from likewise._kernels import pair_ratios
from likewise.errors import InputError, ShapeError
from likewise.fairness import (
    CallableDistance,
    CoObservedDistance,
    FactorDistance,
    ObservedDistance,
    PrecomputedDistance,
    RowDistance,
    measure_fairness,
    worst_pairs,
)
from likewise.fairness.search import best_first
from likewise.fairness.search.best_first import Search


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch):
    monkeypatch.setattr(best_first, "_LEAF_SIZE", 4)


def ratings(rng, m, whole_numbers=False):
    table = rng.integers(-2, 3, (m, 9)) if whole_numbers else rng.standard_normal((m, 9))
    return sparse.csr_array(np.where(rng.random((m, 9)) < 0.4, table, 0).astype(float))


REFERENCES = {
    "sparse l1": lambda rng, m: ObservedDistance(ratings(rng, m)),
    "sparse l1.5": lambda rng, m: ObservedDistance(ratings(rng, m), 1.5),
    "sparse l2": lambda rng, m: ObservedDistance(ratings(rng, m), "l2"),
    "narrow rows": lambda rng, m: RowDistance(rng.standard_normal((m, 2)), "l1"),
    "wide rows": lambda rng, m: RowDistance(rng.standard_normal((m, 12)) ** 3),
    "wide rows l1": lambda rng, m: RowDistance(rng.standard_normal((m, 12)) ** 3, "l1"),
    "rows far from the origin": lambda rng, m: RowDistance(1e6 + 1e-6 * rng.standard_normal((m, 12))),
    "nearly equal sparse rows": lambda rng, m: ObservedDistance(
        sparse.csr_array(rng.random(9) * 1e3 + 1e-9 * rng.standard_normal((m, 9)))
    ),
    "a metric matrix": lambda rng, m: PrecomputedDistance(
        RowDistance(rng.standard_normal((m, 3))).block(0, m), axioms="metric"
    ),
    "a function": lambda rng, m: CallableDistance(lambda x, y: float(abs(x - y)), rng.random(m)),
}
OUTPUTS = {
    "numbers": lambda rng, m: RowDistance(rng.random(m)),
    "rows": lambda rng, m: RowDistance(rng.standard_normal((m, 3)), "l1"),
    "factors": lambda rng, m: FactorDistance(rng.standard_normal((m, 3)), rng.standard_normal((20, 3))),
    "a function": lambda rng, m: CallableDistance(lambda x, y: float(abs(x - y)), rng.random(m)),
}


def sorted_pairs(output, reference):
    """All pairs with ratio, D and d, the worst first."""
    found = []
    for i, j in combinations(range(reference.n_individuals), 2):
        d, D = (
            reference.between(np.array([i]), np.array([j]))[0],
            output.between(np.array([i]), np.array([j]))[0],
        )
        found.append((D / d if d else math.inf if D else 0.0, D, i, j))
    return sorted(found, key=lambda pair: (-pair[0], -pair[1], pair[2], pair[3]))


def test_by_hand():
    # d (l1) and D of 01, 02, 03, 12, 13, 23: ratios 1/2, 5/4, 0, 18^0.5 / 4, 1/3, 5/7.
    people = RowDistance([[0.0, 0.0], [1.0, 1.0], [0.0, 4.0], [3.0, 0.0]], "l1")
    outputs = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 4.0], [0.0, 0.0]])
    found = worst_pairs(outputs, people, 3, row_ids=["a", "b", "c", "d"])
    assert [(pair.left, pair.right) for pair in found.pairs] == [("a", "c"), ("b", "c"), ("c", "d")]
    assert [pair.ratio for pair in found.pairs] == pytest.approx([5 / 4, 18**0.5 / 4, 5 / 7])
    assert found.positions.tolist() == [[0, 2], [1, 2], [2, 3]]
    assert (found.pairs[0].output_distance, found.pairs[0].reference_distance) == (5, 4)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 30),
    st.sampled_from(list(REFERENCES)),
    st.sampled_from(list(OUTPUTS)),
    st.data(),
)
def test_as_by_sorting_all(seed, m, reference, output, data):
    rng = np.random.default_rng(seed)
    d, D = REFERENCES[reference](rng, m), OUTPUTS[output](rng, m)
    k = data.draw(st.integers(1, m * (m - 1) // 2))
    found, expected = worst_pairs(D, d, k), sorted_pairs(D, d)[:k]
    np.testing.assert_allclose(
        [pair.ratio for pair in found.pairs], [pair[0] for pair in expected], rtol=1e-9
    )
    apart = (
        np.diff([pair[0] for pair in expected]) < -1e-9 * expected[0][0] if expected[0][0] < math.inf else []
    )
    if np.all(apart):
        assert found.positions.tolist() == [list(pair[2:]) for pair in expected]
    assert found.n_measured <= found.n_examined <= found.n_pairs


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.data())
def test_ties_and_infinite_ratios_come_in_the_stated_order(seed, m, data):
    # Whole numbers: distances are not rounded, many people are equal, many ratios are.
    rng = np.random.default_rng(seed)
    table = sparse.csr_array(np.where(rng.random((m, 3)) < 0.5, rng.integers(-1, 2, (m, 3)), 0).astype(float))
    d, D = ObservedDistance(table), RowDistance(rng.integers(0, 4, m).astype(float))
    k = data.draw(st.integers(1, m * (m - 1) // 2))
    found = worst_pairs(D, d, k)
    assert found.positions.tolist() == [list(pair[2:]) for pair in sorted_pairs(D, d)[:k]]
    held = (
        measure_fairness(D.rows[:, 0], d, worst=k, streaming=False).worst
        if D.rows.std() > 0.1
        else found.pairs
    )
    assert held == found.pairs


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.sampled_from(list(REFERENCES)[:-1]))
def test_no_pair_exceeds_the_bounds_of_its_leaves(seed, m, reference):
    rng = np.random.default_rng(seed)
    d, D = REFERENCES[reference](rng, m), OUTPUTS["rows"](rng, m)
    search = Search.prepare(D, d)
    seen = 0
    for b, c, ratio, output in zip(*vars(search.leaf_pairs).values(), strict=True):
        left, right = (search.leaves.order[search.leaves.members(leaf)] for leaf in (b, c))
        pairs = [(i, j) for i in left for j in right if b != c or i < j]
        seen += len(pairs)
        if pairs:
            i, j = np.array(pairs).T
            assert (D.between(i, j) <= output).all()
            assert (pair_ratios(D.between(i, j), d.between(i, j)) <= ratio).all()
    assert seen == m * (m - 1) // 2


@given(st.integers(0, 2**32 - 1), st.floats(1, 4))
def test_fine_bounds_never_exceed_distances(seed, order):
    d = ObservedDistance(ratings(np.random.default_rng(seed), 20), order)
    search = Search.prepare(RowDistance(np.arange(20.0)), d)
    lower = search.fine.bounds(slice(0, 20), slice(0, 20))
    left, right = (
        ends.ravel() for ends in np.meshgrid(search.leaves.order, search.leaves.order, indexing="ij")
    )
    assert (lower.ravel() <= d.between(left, right)).all()
    assert lower.max() > 0


def people_in_clusters(m=600):
    rng = np.random.default_rng(3)
    centres = np.repeat(np.arange(m // 20), 20)
    outputs = rng.random((m, 2))
    return RowDistance(np.stack([100.0 * centres, centres % 7], axis=1) + rng.random((m, 2))), outputs


def test_most_pairs_are_ruled_out_where_people_are_far_apart():
    d, outputs = people_in_clusters()
    found = worst_pairs(outputs, d, 20)
    assert found.n_examined < 0.05 * found.n_pairs
    assert found.bound < found.pairs[-1].ratio
    held = measure_fairness(outputs, d, worst=20).worst
    assert [(pair.left, pair.right) for pair in found.pairs] == [(pair.left, pair.right) for pair in held]
    assert f"none of the pairs that were not examined has a ratio above {found.bound:.4g}" in str(found)


def test_all_pairs_are_visited_where_nothing_bounds_them():
    table = np.array([[1.0, np.nan, 2], [np.nan, 2.0, 2], [4, 5, 1], [2, 2, np.nan], [5, np.nan, np.nan]])
    d = CoObservedDistance(ObservedMatrix(table, value_range=(1, 5)))
    found = worst_pairs(np.arange(5.0), d, 3)
    assert found.n_examined == found.n_measured == found.n_pairs == 10
    assert found.bound == -math.inf
    held = measure_fairness(np.arange(5.0), d, worst=3).worst
    assert found.pairs == held
    assert len(worst_pairs(np.arange(5.0), d, 10).pairs) == 9  # 1 and 4 share nothing


def test_equal_outputs_leave_nothing_to_find():
    d, outputs = people_in_clusters(100)
    found = worst_pairs(np.zeros_like(outputs), d, 2)
    assert [pair.ratio for pair in found.pairs] == [0, 0]
    assert found.positions.tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_number_of_threads_changes_nothing(monkeypatch, threads):
    d, outputs = people_in_clusters()
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", "2")
    two = worst_pairs(outputs, d, 30).to_dict()
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", threads)
    assert worst_pairs(outputs, d, 30).to_dict() == two


def test_progress_reaches_its_total():
    d, outputs = people_in_clusters(100)
    seen = []
    worst_pairs(outputs, d, 5, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (4950, 4950)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_it_prints_and_exports():
    d, outputs = people_in_clusters(100)
    found = worst_pairs(outputs, d, 12)
    assert "12 largest ratios of 4,950 pairs, exact" in str(found)
    assert "and 2 more" in str(found)
    record = found.to_dict()
    assert (len(record["pairs"]), record["positions"][0]) == (12, found.positions[0].tolist())
    assert record["reference"]["is_metric"] is True
    assert found.to_frame()["ratio"].to_list() == [pair.ratio for pair in found.pairs]


def test_bad_input():
    d, outputs = people_in_clusters(40)
    for k in (0, 781, 2.5, None):
        with pytest.raises(InputError, match="from 1 to 780"):
            worst_pairs(outputs, d, k)
    with pytest.raises(ShapeError):
        worst_pairs(outputs[:30], d)
