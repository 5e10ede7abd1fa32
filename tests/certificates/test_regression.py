from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.certificates.regression import certify_regression
from likewise.certificates.regression_map import RegressionMap
from likewise.certificates.steepness import phi
from likewise.errors import InputError, ShapeError


def random_map(rng, n=8, d=3, kind="ridge"):
    regressors = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 5.0])
    options = {}
    if kind in ("offset", "weighted offset"):
        options["row_penalty"] = float(rng.choice([0.0, 0.5, 8.0]))
    if "weighted" in kind:
        options["weights"] = rng.uniform(0.2, 4.0, size=n)
    if kind == "uncertain":
        roots = rng.normal(size=(n, d, d)) * 0.3
        options |= {"spreads": roots @ roots.transpose(0, 2, 1), "shifts": 0.1 * rng.normal(size=(n, d))}
    return RegressionMap(
        regressors, rng.uniform(-0.5, 0.5, size=n), noise=float(rng.choice([0.3, 1.0])), **options
    )


KINDS = ["ridge", "weighted", "offset", "weighted offset", "uncertain"]


def random_rows(rng, count, n=8):
    values = rng.choice([-1.0, -0.5, 0.0, 1.0], size=(count, n))
    seen = rng.random((count, n)) < rng.choice([0.2, 0.5, 0.9])
    rows, columns = np.nonzero(seen)
    return sparse.csr_array((values[seen], (rows, columns)), shape=(count, n))


def estimate(regression, row):
    """The definition, one row at a time: minimise squares plus the prior, uncertain regressors in expectation."""
    k, z = row.indices, row.data
    w = np.ones(regression.shape[0]) if regression.weights is None else regression.weights
    a = 0.0
    if regression.row_penalty is not None and k.size:
        a = np.sum(w[k] * (z - regression.offsets[k])) / (np.sum(w[k]) + regression.row_penalty)
    A, b = np.eye(regression.shape[1]), np.zeros(regression.shape[1])
    for j, value in zip(k, z, strict=True):
        x = regression.regressors[j]
        A += w[j] * np.outer(x, x)
        b += w[j] * x * (value - regression.offsets[j] - a) / regression.noise
        if regression.spreads is not None:
            A += w[j] * regression.spreads[j]
            b -= w[j] * regression.shifts[j]
    u = np.linalg.solve(A, b)
    return regression.offsets + a + regression.noise * regression.regressors @ u


def pattern_distance(left, right, c):
    """Of two rows, from the definition."""
    a, b = (dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in (left, right))
    return sum(abs(a[k] - b[k]) if k in a and k in b else c for k in a.keys() | b.keys())


def row(matrix, i):
    return sparse.csr_array(matrix[[i]])


def test_one_feature_by_hand():
    """x = 1, w = 1: z gives z / 2. With x = 3 the estimate of the feature is 9 z / 10."""
    assert RegressionMap(np.array([[1.0]]), np.zeros(1)).slopes == pytest.approx([0.5], rel=1e-12)
    assert RegressionMap(np.array([[3.0]]), np.zeros(1)).slopes == pytest.approx([0.9], rel=1e-12)


def test_two_features_by_hand():
    """X = ((1, 0), (0, .5)) has slope 1/2 for the first feature. For the second the ball is .05^.5 (sin t, 1 + cos t), its image .05^.5 (sin t, .2^.5 (1 + cos t)), longest at cos t = 1/4.

    Its square is .05 (1 - 1/16 + .2 * 25/16) = 1/16. Rows of the fit (1, ?), (?, 1) predict 0 of what they lack.
    """
    regression = RegressionMap(np.diag([1.0, 0.5]), np.zeros(2))
    np.testing.assert_allclose(regression.slopes, [0.5, 0.25], rtol=1e-9)
    rows = sparse.csr_array(([1.0, 1.0], ([0, 1], [0, 1])), shape=(2, 2))
    proved = certify_regression(regression, rows)
    assert proved.certificate.value == pytest.approx(0.5, rel=1e-9)
    assert proved.empty == 1.0
    np.testing.assert_allclose(proved.bound(row(rows, 0), row(rows, 1)), [0.75], rtol=1e-9)
    apart = np.linalg.norm(estimate(regression, row(rows, 0)) - estimate(regression, row(rows, 1)))
    assert apart == pytest.approx((0.5**2 + 0.2**2) ** 0.5)


def test_offsets_by_hand():
    """Without regressors, n = 4, lambda = 1: an observation moves the offset by 1/2 at most, the estimate by sqrt(4) / 2."""
    regression = RegressionMap(np.zeros((4, 1)), np.zeros(4), row_penalty=1.0)
    np.testing.assert_allclose(regression.offset_slopes, 1.0)
    rows = sparse.csr_array(([1.0, -1.0], ([0, 1], [0, 0])), shape=(2, 4))
    proved = certify_regression(regression, rows)
    apart = np.linalg.norm(estimate(regression, row(rows, 0)) - estimate(regression, row(rows, 1)))
    assert apart == pytest.approx(2.0)
    assert proved.certificate.bound(2.0) == pytest.approx(2.0, rel=1e-9)


def test_an_offset_that_is_penalised_without_end_never_moves():
    regression = RegressionMap(np.zeros((4, 1)), np.zeros(4), row_penalty=np.inf)
    np.testing.assert_array_equal(regression.offset_slopes, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_solved_as_defined(kind):
    rng = np.random.default_rng(1)
    regression, rows = random_map(rng, kind=kind), random_rows(rng, 20)
    for i, (u, a) in enumerate(regression.solve(rows)):
        mine = regression.offsets + a + regression.noise * regression.regressors @ u
        np.testing.assert_allclose(mine, estimate(regression, row(rows, i)), atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10**6))
def test_no_pair_exceeds_the_bound(kind, seed):
    rng = np.random.default_rng(seed)
    regression, rows = random_map(rng, kind=kind), random_rows(rng, 10)
    proved = certify_regression(regression, rows)
    assert proved.covers(rows).all()
    estimates = np.array([estimate(regression, row(rows, i)) for i in range(10)])
    left, right = np.triu_indices(10, 1)
    apart = np.linalg.norm(estimates[left] - estimates[right], axis=1)
    tight = proved.bound(sparse.csr_array(rows[left]), sparse.csr_array(rows[right]))
    d = np.array(
        [pattern_distance(row(rows, i), row(rows, j), proved.empty) for i, j in zip(left, right, strict=True)]
    )
    assert (apart <= tight + 1e-9).all()
    assert (tight <= proved.certificate.value * d + 1e-9).all()


def test_phi_is_attained():
    """B = b I with b = max(1, t^2) turns the bound into an equality."""
    for t in (0.2, 0.9, 1.0, 4.0):
        x = np.array([t, 0.0])
        if t <= 1:
            A = np.eye(2) + np.outer(x, x)
            assert np.linalg.norm(np.linalg.solve(A, x)) == pytest.approx(phi(np.array([t]))[0])
    assert phi(np.array([4.0]))[0] == 0.5


def test_another_distance_of_the_empty_entry_is_paid_for_in_the_constant():
    rng = np.random.default_rng(0)
    regression, rows = random_map(rng), random_rows(rng, 10)
    tight = certify_regression(regression, rows)
    near = certify_regression(regression, rows, empty=1.0)
    assert near.certificate.value == pytest.approx(
        max(tight.slopes.max(), tight.empty_slopes.max()), rel=1e-9
    )
    assert tight.certificate.value <= near.certificate.value


def test_rows_outside_the_domain_are_told():
    regression = RegressionMap(np.array([[1.0], [4.0]]), np.zeros(2))
    seen = sparse.csr_array(([0.1], ([0], [0])), shape=(1, 2))  # predicts 4 * .05 of the second
    proved = certify_regression(regression, seen)
    far = sparse.csr_array(([0.1, 1.0], ([0, 1], [0, 0])), shape=(2, 2))
    assert proved.covers(far).tolist() == [True, False]


def test_rows_of_other_features_are_refused():
    with pytest.raises(ShapeError, match="rows of 3 features"):
        RegressionMap(np.ones((2, 1)), np.zeros(2)).reach(sparse.csr_array((1, 3)))


LINE = RegressionMap(np.array([[1.0], [0.5]]), np.zeros(2))
ROWS = sparse.csr_array([[1.0, 0.5], [-1.0, 1.0]])


@pytest.mark.parametrize("options", [{"margin": m} for m in (0, -1.0, np.nan, np.inf, "2")])
def test_a_margin_is_a_number_above_0(options):
    with pytest.raises(InputError, match="margin="):
        certify_regression(LINE, ROWS, **options)


@pytest.mark.parametrize("empty", [0, 0.2, -1, np.nan, np.inf, True])
def test_an_empty_entry_that_is_no_point_of_a_metric_is_refused(empty):
    with pytest.raises(InputError, match="empty="):
        certify_regression(LINE, ROWS, empty=empty)
    assert certify_regression(LINE, ROWS, empty=1).empty == 1.0


def test_what_is_no_regression_or_no_row_is_told():
    proved = certify_regression(LINE, ROWS)
    with pytest.raises(InputError, match="regression of type NoneType"):
        certify_regression(None, ROWS)
    for call in (proved.covers, proved.ensure_covers, lambda rows: certify_regression(LINE, rows)):
        with pytest.raises(InputError, match="values of type ndarray"):
            call(np.ones((2, 2)))
    with pytest.raises(ShapeError, match="rows of shapes"):
        proved.bound(ROWS, ROWS[:1])
