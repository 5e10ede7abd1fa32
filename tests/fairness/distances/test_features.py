"""Distances: hand-computed values, the naive definition, metric axioms, and accuracy where expansion cancels."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from tests.fairness import naive

from likewise import ObservedMatrix
from likewise.errors import DistanceError, ShapeError
from likewise.fairness import CoObservedDistance, ObservedDistance, RowDistance
from likewise.fairness.distances.cancellation import sums_are_exact

ORDERS = [1.0, 1.5, 2.0, 3.0]


def stars(seed, shape=(23, 17), missing=0.5):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 6, shape).astype(float)
    table[rng.random(shape) < missing] = np.nan
    return ObservedMatrix(table, value_range=(1, 5))


def whole(distance):
    return distance.block(0, distance.n_individuals)


def test_observed_distance_by_hand():
    # On [-1, 1]: (-1, missing, 1, 0.5) and (0.5, 1, missing, 0.5). Missing counts as 0.
    Z = ObservedMatrix(np.array([[1, np.nan, 5, 4], [4, 5, np.nan, 4]]), value_range=(1, 5))
    assert ObservedDistance(Z, "l1").block(0, 1).tolist() == [[0, 1.5 + 1 + 1 + 0]]
    np.testing.assert_allclose(ObservedDistance(Z, "l2").block(0, 1)[0, 1], np.sqrt(2.25 + 1 + 1))
    np.testing.assert_allclose(ObservedDistance(Z, 3).block(0, 1)[0, 1], (3.375 + 1 + 1) ** (1 / 3))
    # On [0, 1]: (0, missing, 1, 0.75) and (0.75, 1, missing, 0.75).
    assert ObservedDistance(Z, "l1", working_range="unit").block(0, 1).tolist() == [[0, 0.75 + 1 + 1 + 0]]


def test_row_distance_by_hand():
    rows = [[0.0, 1.0, 2.0], [3.0, 1.0, 6.0]]
    assert RowDistance(rows, "l1").block(0, 1).tolist() == [[0, 7]]
    assert RowDistance(rows, "l2").block(0, 1).tolist() == [[0, 5]]
    assert RowDistance([0.25, 1.0]).block(0, 2).tolist() == [[0, 0.75], [0.75, 0]]


def test_a_stored_zero_and_a_missing_entry_are_equally_far_from_the_middle():
    stored = sparse.csr_array(([0.0, 1.0], ([0, 1], [0, 0])), shape=(3, 2))
    distance = ObservedDistance(stored)
    assert whole(distance).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("order", ORDERS)
def test_observed_distance_agrees_with_the_definition(order):
    Z = stars(1)
    distance = ObservedDistance(Z, order)
    expected = naive.pair_table(Z.scaled().to_dense(), order)
    measured = whole(distance)
    for (i, j), value in expected.items():
        np.testing.assert_allclose([measured[i, j], measured[j, i]], value, rtol=1e-9)
    pairs = np.array(list(expected))
    np.testing.assert_allclose(distance.between(*pairs.T), list(expected.values()), rtol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("width", [1, 3, 40])
def test_row_distance_agrees_with_the_definition(order, width):
    rows = np.random.default_rng(2).standard_normal((15, width)) + 10
    distance = RowDistance(rows, order)
    expected = naive.pair_table(rows, order)
    measured = whole(distance)
    for (i, j), value in expected.items():
        np.testing.assert_allclose([measured[i, j], measured[j, i]], value, rtol=1e-9)
    pairs = np.array(list(expected))
    np.testing.assert_allclose(distance.between(*pairs.T), list(expected.values()), rtol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "make", [ObservedDistance, CoObservedDistance, lambda Z, q: RowDistance(Z.to_dense(), q)]
)
def test_blocks_are_parts_of_the_whole(make, order):
    distance = make(stars(3), order)
    everything = whole(distance)
    for start, stop, first, last in [
        (0, 5, 0, 7),
        (7, 11, 7, 20),
        (3, 4, 20, None),
        (0, 23, 22, 23),
        (2, 3, 4, 4),
    ]:
        np.testing.assert_allclose(
            distance.block(start, stop, first, last), everything[start:stop, first:last], rtol=1e-9
        )


@given(st.integers(0, 2**32 - 1), st.sampled_from(ORDERS), st.floats(0, 0.6))
def test_axioms_of_a_metric(seed, order, missing):
    Z = stars(seed, (8, 6), missing)
    for distance in (ObservedDistance(Z, order), RowDistance(Z.to_dense(), order)):
        d = whole(distance)
        assert distance.is_metric
        assert (d >= 0).all()
        assert (np.diag(d) == 0).all()
        np.testing.assert_allclose(d, d.T, rtol=1e-9)
        through = (d[:, :, None] + d[None, :, :]).min(axis=1)
        assert (d <= through * (1 + 1e-9)).all()
        differ = (distance.rows if isinstance(distance, RowDistance) else distance.values.toarray())[:, None]
        assert ((d > 0) == (differ != differ.swapaxes(0, 1)).any(axis=2)).all()


def exact_l2(x, y):
    total = sum((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(x, y, strict=True))
    return float(total) ** 0.5


@given(st.integers(0, 2**32 - 1), st.integers(-14, 0), st.floats(-1e3, 1e3))
def test_nearly_equal_rows_keep_their_relative_accuracy(seed, exponent, offset):
    rng = np.random.default_rng(seed)
    row = rng.standard_normal(30) + offset
    rows = np.stack(
        [row, row * (1 + 10.0**exponent * rng.standard_normal(30)), row, rng.standard_normal(30) * 100]
    )
    measured = whole(RowDistance(rows))
    assert measured[0, 2] == 0
    for i, j in [(0, 1), (0, 3), (1, 3), (1, 2)]:
        np.testing.assert_allclose(measured[i, j], exact_l2(rows[i], rows[j]), rtol=1e-9)


def test_expansion_alone_would_fail_there():
    # The guard is needed: without it the plain product loses all digits on these rows.
    row = np.random.default_rng(0).standard_normal(30) * 1e3
    rows = np.stack([row, row * (1 + 1e-12)])
    plain = (rows**2).sum(axis=1) @ [1, 1] - 2 * rows[0] @ rows[1]
    assert abs(plain**0.5 - exact_l2(*rows) if plain > 0 else np.inf) > 0.1 * exact_l2(*rows)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 1.7, 2.0]))
def test_nearly_equal_sparse_rows_keep_their_relative_accuracy(seed, order):
    rng = np.random.default_rng(seed)
    row = np.where(rng.random(40) < 0.5, rng.standard_normal(40), 0)
    rows = np.stack([row, row, row * (1 + 1e-13 * rng.standard_normal(40)), rng.standard_normal(40)])
    measured = whole(ObservedDistance(sparse.csr_array(rows), order))
    assert measured[0, 1] == 0
    for i, j in [(0, 2), (1, 2), (0, 3), (2, 3)]:
        np.testing.assert_allclose(measured[i, j], naive.distance(rows[i], rows[j], order), rtol=1e-9)


@pytest.mark.parametrize("order", [1.0, 2.0])
def test_sums_of_ratings_are_not_rounded(order):
    Z = ObservedDistance(stars(4), order)
    assert Z._exact
    powers = cdist(Z.values.toarray(), Z.values.toarray(), "cityblock" if order == 1 else "sqeuclidean")
    np.testing.assert_array_equal(whole(Z), powers if order == 1 else np.sqrt(powers))


def test_sums_that_may_be_rounded_are_not_called_exact():
    half = np.array([0.5, -1.0])
    assert sums_are_exact(half, 100.0, 1)
    assert sums_are_exact(half, 100.0, 2)
    assert not sums_are_exact(np.array([0.1]), 1.0, 1)  # not a binary fraction
    assert not sums_are_exact(np.array([2.0**-11]), 1.0, 1)  # finer than the grid
    assert not sums_are_exact(half, 2.0**45, 1)  # so large that the grid is lost
    assert not sums_are_exact(half, 1.0, 1.5)


def test_many_equal_rows_are_at_distance_zero():
    rows = np.repeat(np.random.default_rng(0).standard_normal((3, 50)) / 3, 40, axis=0)
    measured = whole(RowDistance(rows))
    np.testing.assert_array_equal(measured == 0, np.kron(np.eye(3), np.ones((40, 40))) == 1)
    np.testing.assert_allclose(measured, cdist(rows, rows), rtol=1e-9)


def test_descriptions_record_how_they_measure():
    d = ObservedDistance(stars(0), "l1").description.to_dict()
    assert (d["norm"], d["is_metric"]) == ("l1", True)
    assert "symmetric" in d["scaling"]
    assert "middle" in d["missing"]
    assert "low end" in ObservedDistance(stars(0), working_range="unit").description.missing
    assert RowDistance([1.0, 2.0]).name == "absolute difference"
    assert RowDistance([[1.0, 2.0], [3.0, 4.0]], 1.5).description.norm == "l1.5"


def test_ids_travel():
    Z = ObservedMatrix(np.array([[1.0, 2.0], [3.0, 4.0]]), value_range=(1, 5), row_ids=["ann", "bob"])
    assert list(ObservedDistance(Z).row_ids) == ["ann", "bob"]
    assert list(ObservedDistance(Z, row_ids=["a", "b"]).row_ids) == ["a", "b"]


@pytest.mark.parametrize("norm", ["l0", "max", 0.5, -np.inf, np.nan, None, "l"])
def test_unknown_norms(norm):
    with pytest.raises(DistanceError, match="norm"):
        RowDistance([1.0, 2.0], norm)


@pytest.mark.parametrize("rows", [[1.0], [[1.0, 2.0]], np.zeros((3, 0)), np.zeros((2, 2, 2)), 3.0])
def test_too_few_individuals_or_no_rows(rows):
    with pytest.raises(ShapeError, match="at least two individuals"):
        RowDistance(rows)


def test_unusable_values_are_named():
    with pytest.raises(DistanceError, match=r"2 rows: 1, 3"):
        RowDistance([[0.0], [np.nan], [1.0], [np.inf]])
    with pytest.raises(DistanceError, match="not numbers"):
        RowDistance(["yes", "no"])
    with pytest.raises(DistanceError, match="NaN or infinite"):
        ObservedDistance(sparse.csr_array([[1.0, np.nan], [0.0, 1.0]]))
    with pytest.raises(DistanceError, match="ndarray"):
        ObservedDistance(np.eye(2))
    with pytest.raises(ShapeError, match="1 individual"):
        ObservedDistance(sparse.csr_array([[1.0, 2.0]]))


@pytest.mark.parametrize("outputs", [[1e200, 0.0, 1.0], [[1e160, 0.0], [0.0, 1.0], [1.0, 1.0]]])
def test_outputs_whose_squares_overflow_are_refused_not_called_equal(outputs):
    with pytest.raises(DistanceError, match="powers neither vanish nor overflow"):
        RowDistance.of_outputs(outputs)
