"""`svt` against Section 4.1 done literally with a dense SVD, by hand and by properties; `SVT` gives the same answers, as scikit-learn asks."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.errors import (
    FullRankWarning,
    LikewiseWarning,
    ObservationError,
    RankZeroWarning,
    ShapeError,
    ValueRangeWarning,
)
from likewise.estimation import SVT, NoiseEdge, svt
from likewise.observations import ObservedMatrix


def literal_svt(values, tau, psi, low=-1.0, high=1.0):
    """Section 4.1, step by step, on a dense matrix with NaN where missing and values in [-1, 1]."""
    filled = np.where(np.isnan(values), 0.0, values)
    left, sigma, right = np.linalg.svd(filled, full_matrices=False)
    total = np.zeros_like(filled)
    for k in range(sigma.size):
        if sigma[k] > tau:
            total += psi(sigma[k]) * np.outer(left[:, k], right[k])
    return np.clip(total, low, high)


def test_hand_computed_three_by_three():
    """Z = [[1, 1, -1], [1, ?, -1], [-1, -1, 1]] with ? read as 0 has known singular values.

    Z is symmetric with eigenvectors (1, -1, -1... ) in the span of a = (1, 0, -1)/sqrt 2 and b = (0, 1, 0): on it Z acts as
    [[2, sqrt 2], [sqrt 2, 0]], eigenvalues 1 +- sqrt 3. Keeping only 1 + sqrt 3 with psi = identity leaves
    lambda w w^T with w = (s, t, -s), s^2 = (1 + 1/sqrt 3)/4, t^2 = (1 - 1/sqrt 3)/2.
    """
    Z = np.array([[1.0, 1.0, -1.0], [1.0, np.nan, -1.0], [-1.0, -1.0, 1.0]])
    estimate = svt(ObservedMatrix(Z, value_range=(-1, 1)), threshold=1.0, shrinker="identity")
    root = np.sqrt(3.0)
    eigenvalue, ss, tt = 1 + root, (1 + 1 / root) / 4, (1 - 1 / root) / 2
    st_ = np.sqrt(ss * tt)
    w_outer = np.array([[ss, st_, -ss], [st_, tt, -st_], [-ss, -st_, ss]])
    assert estimate.rank == 1
    np.testing.assert_allclose(estimate.singular_values, [eigenvalue])
    np.testing.assert_allclose(estimate.to_dense(), np.clip(eigenvalue * w_outer, -1, 1), atol=1e-12)


sparse_matrices = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7),
    elements=st.one_of(st.just(np.nan), st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])),
).filter(lambda values: not np.isnan(values).all())


@given(sparse_matrices, st.floats(0.01, 3), st.sampled_from(["rescaled", "identity", "soft"]))
def test_equals_the_literal_recipe(values, tau, shrinker):
    sigma = np.linalg.svd(np.nan_to_num(values), compute_uv=False)
    if np.abs(sigma - tau).min() < 1e-6:
        return  # which side rounding puts such a value on says nothing about the recipe
    p = np.mean(~np.isnan(values))
    psi = {"rescaled": lambda x: x / p, "identity": lambda x: x, "soft": lambda x: max(x - tau, 0.0)}[
        shrinker
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        estimate = svt(ObservedMatrix(values, value_range=(-1, 1)), tau, shrinker)
    np.testing.assert_allclose(estimate.to_dense(), literal_svt(values, tau, psi), atol=1e-9)


def test_threshold_is_strict():
    Z = ObservedMatrix(np.diag([1.0, 0.5]), value_range=(-1, 1))
    assert svt(Z, threshold=0.5).rank == 1
    assert svt(Z, threshold=0.5 - 1e-9).rank == 2


@pytest.mark.parametrize("working_range", ["symmetric", "unit"])
def test_any_range_goes_in_and_comes_out(working_range):
    """Stars 1..5: the literal recipe on the mapped values, mapped back."""
    rng = np.random.default_rng(3)
    stars = rng.integers(1, 6, size=(12, 9)).astype(float)
    stars[rng.random(stars.shape) < 0.4] = np.nan
    low, high = (-1.0, 1.0) if working_range == "symmetric" else (0.0, 1.0)
    mapped = low + (stars - 1) / 4 * (high - low)
    p = np.mean(~np.isnan(stars))
    expected = 1 + (literal_svt(mapped, 1.5, lambda x: x / p, low, high) - low) / (high - low) * 4
    estimate = svt(ObservedMatrix(stars, value_range=(1, 5)), 1.5, working_range=working_range)
    np.testing.assert_allclose(estimate.to_dense(), expected, atol=1e-10)
    assert estimate.to_dense().min() >= 1
    assert estimate.to_dense().max() <= 5


def test_each_column_may_have_a_range_of_its_own():
    """Marks of 0..10 and 0..1000: the same estimate as for the marks brought to one range by hand."""
    marks = np.array([[2.0, 900.0], [4.0, np.nan], [9.0, 100.0]])
    ranges = (np.zeros(2), np.array([10.0, 1000.0]))
    estimate = svt(ObservedMatrix(marks, value_range=ranges), 0.1).to_dense()
    by_hand = svt(ObservedMatrix(marks / [10, 1000], value_range=(0, 1)), 0.1).to_dense() * [10, 1000]
    np.testing.assert_allclose(estimate, by_hand)


def test_a_stored_zero_is_an_observation_and_changes_p_hat():
    stored = sparse.csr_array((np.array([1.0, 0.0]), ([0, 1], [0, 1])), shape=(2, 2))
    missing = sparse.csr_array((np.array([1.0]), ([0], [0])), shape=(2, 2))
    with_zero = svt(ObservedMatrix(stored, value_range=(-1, 1)), 0.5, lambda x: x).shrunk_values
    rescaled = svt(ObservedMatrix(stored, value_range=(-1, 1)), 0.5).shrunk_values
    without = svt(ObservedMatrix(missing, value_range=(-1, 1)), 0.5).shrunk_values
    assert with_zero[0] == pytest.approx(1.0)
    assert rescaled[0] == pytest.approx(1.0 / (2 / 4))
    assert without[0] == pytest.approx(1.0 / (1 / 4))


def test_rank_zero_is_the_middle_of_the_range_and_says_why():
    Z = ObservedMatrix(np.array([[1.0, np.nan], [np.nan, 5.0]]), value_range=(1, 5))
    with pytest.warns(RankZeroWarning, match="Try threshold='adaptive' or a smaller number"):
        estimate = svt(Z, threshold=100.0)
    assert estimate.rank == 0
    np.testing.assert_array_equal(estimate.to_dense(), np.full((2, 2), 3.0))
    np.testing.assert_array_equal(estimate.fold_in(np.array([[np.nan, 1.0]])), [[3.0, 3.0]])


def test_what_was_tried_is_not_advised_again():
    noise = np.random.default_rng(0).uniform(-1, 1, (30, 20))
    with pytest.warns(
        RankZeroWarning, match="better than none. Try a smaller number, shrinker='identity' or"
    ):
        svt(ObservedMatrix(noise, value_range=(-1, 1)))


def test_near_full_rank_warns():
    rng = np.random.default_rng(0)
    with pytest.warns(FullRankWarning, match="nearly all noise"):
        svt(ObservedMatrix(rng.uniform(-1, 1, (20, 30)), value_range=(-1, 1)), threshold=1e-3)


def test_planted_low_rank_matrix_is_recovered_when_all_is_observed():
    rng = np.random.default_rng(1)
    truth = rng.uniform(-1, 1, (40, 2)) @ rng.uniform(-1, 1, (2, 30)) / 2
    estimate = svt(ObservedMatrix(truth, value_range=(-1, 1)), threshold=1e-6)
    assert estimate.rank == 2
    np.testing.assert_allclose(estimate.to_dense(), truth, atol=1e-10)


class TestReading:
    """The ways to read a `LowRankEstimate` agree with each other."""

    @pytest.fixture
    def estimate(self):
        rng = np.random.default_rng(5)
        self.values = rng.uniform(0, 10, (23, 11))
        self.values[rng.random(self.values.shape) < 0.5] = np.nan
        observed = ObservedMatrix(self.values, value_range=(0, 10), row_ids=[f"p{i}" for i in range(23)])
        return svt(observed, threshold=2.0)

    def test_rows_entries_and_blocks_equal_dense(self, estimate):
        dense = estimate.to_dense()
        i, j = np.divmod(np.arange(dense.size), dense.shape[1])
        np.testing.assert_allclose(estimate.entries(i, j), dense.ravel())
        np.testing.assert_array_equal(estimate.rows([4, 2]), dense[[4, 2]])
        np.testing.assert_array_equal(np.vstack([block for _, block in estimate.blocks()]), dense)
        assert estimate.row_ids[3] == "p3"

    def test_fold_in_of_a_training_row_is_its_row(self, estimate):
        np.testing.assert_allclose(estimate.fold_in(self.values), estimate.to_dense(), atol=1e-9)

    def test_clipped_fraction_counts_what_clipping_changed(self, estimate):
        raw = (estimate.left * estimate.shrunk_values) @ estimate.right.T
        assert estimate.clipped_fraction() == np.mean((raw < -1) | (raw > 1))
        assert 0 < estimate.clipped_fraction() < 1

    def test_on_interval_reads_without_the_users_units(self, estimate):
        np.testing.assert_allclose(estimate.on_working_range().to_dense() * 5 + 5, estimate.to_dense())

    def test_wrong_shapes_are_refused(self, estimate):
        with pytest.raises(ShapeError, match="the 11 features"):
            estimate.fold_in(np.zeros((2, 12)))
        with pytest.raises(ShapeError, match="two equal lengths"):
            estimate.entries([1, 2], [1])

    def test_features_in_another_order_are_refused(self, estimate):
        names = np.arange(11)[::-1]
        reordered = ObservedMatrix(self.values[:, ::-1], value_range=(0, 10), column_ids=names)
        with pytest.raises(ShapeError, match="another order"):
            estimate.fold_in(reordered)


@pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")
@parametrize_with_checks(
    [SVT(), SVT(threshold="paper-ratings", shrinker="soft-rescaled", working_range="unit")]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def values():
    rng = np.random.default_rng(2)
    values = rng.uniform(1, 5, (30, 3)) @ np.eye(3, 12) + rng.uniform(1, 2, (30, 12))
    values[rng.random(values.shape) < 0.4] = np.nan
    return values


def test_same_estimate_as_the_pure_function(values):
    fitted = SVT(threshold=2.0, value_range=(1, 7)).fit(values)
    pure = svt(ObservedMatrix(values, value_range=(1, 7)), 2.0)
    np.testing.assert_array_equal(fitted.estimate_.to_dense(), pure.to_dense())
    assert fitted.rank_ == pure.rank == fitted.singular_values_.size
    assert fitted.threshold_ == 2.0
    assert fitted.completeness_.proved


def test_dense_sparse_frame_and_observed_matrix_agree(values):
    pandas = pytest.importorskip("pandas")
    rows, columns = np.nonzero(~np.isnan(values))
    stored = sparse.coo_array((values[rows, columns], (rows, columns)), shape=values.shape)
    expected = SVT(value_range=(1, 7)).fit_transform(values)
    for X in (stored, pandas.DataFrame(values), ObservedMatrix(values, value_range=(1, 7))):
        np.testing.assert_allclose(SVT(value_range=(1, 7)).fit(X).estimate_.to_dense(), expected)


def test_column_names_of_a_frame_stay(values):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(values, columns=[f"film {j}" for j in range(12)])
    transformer = SVT(threshold=NoiseEdge(), value_range=(0, 8)).set_output(transform="pandas").fit(frame)
    assert list(transformer.estimate_.column_ids) == list(frame.columns)
    assert list(transformer.transform(frame).columns) == list(frame.columns)


def test_new_rows_are_folded_in(values):
    transformer = SVT(threshold=4.0, value_range=(0, 8)).fit(values[:20])
    complete = transformer.transform(values[20:])
    assert complete.shape == (10, 12)
    assert np.isfinite(complete).all()


def test_a_row_of_nothing_gets_the_middle_of_the_range(values):
    transformer = SVT(threshold=4.0, value_range=(1, 7)).fit(values)
    np.testing.assert_allclose(transformer.transform(np.full((1, 12), np.nan)), np.full((1, 12), 4.0))


def test_works_as_a_pipeline_step():
    """A target that is linear in the truth is predicted from features of which a third is missing."""
    rng = np.random.default_rng(8)
    truth = rng.uniform(-1, 1, (80, 1)) @ rng.uniform(-1, 1, (1, 40))
    values = np.where(rng.random(truth.shape) < 0.33, np.nan, truth)
    target = truth.sum(axis=1)
    model = make_pipeline(SVT(value_range=(-1, 1)), Ridge()).fit(values[:60], target[:60])
    assert model.score(values[60:], target[60:]) > 0.9


def test_columns_of_unlike_scales_are_not_squeezed_in_silence():
    rng = np.random.default_rng(0)
    values = rng.random((30, 2)) * [4, 48]
    with pytest.warns(ValueRangeWarning, match="per-column"):
        SVT(threshold=0.1).fit(values)
    SVT(threshold=0.1, value_range="per-column").fit(values)
    SVT(threshold=0.1, value_range=(0, 48)).fit(values)


@pytest.mark.parametrize(
    "padded",
    [
        sparse.dia_array(([[1.0, 0.0, 3.0, 4.0]], [0]), shape=(4, 4)),
        sparse.bsr_array(np.diag([1.0, 2.0, 3.0, 4.0]), blocksize=(2, 2)),
    ],
)
def test_sparse_formats_that_pad_with_zeros_are_refused_not_read(padded):
    with pytest.raises(ObservationError, match="stores zeros"):
        SVT().fit(padded)


def test_duplicates_in_a_sparse_matrix_are_refused_not_added_up(values):
    twice = sparse.coo_array(([1.0, 3.0, 2.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 12))
    with pytest.raises(ObservationError, match="more than once"):
        SVT().fit(twice)
    with pytest.raises(ObservationError, match="more than once"):
        SVT(value_range=(0, 8)).fit(values).transform(twice)


@pytest.mark.filterwarnings("ignore::likewise.errors.RankZeroWarning")
@pytest.mark.parametrize("seed", range(6))
def test_the_first_sentence_of_its_page_is_true(seed):
    """Few ratings, of biases and two weak components in noise: the defaults are no worse than the centre alone, the noise edge by itself is."""
    page = (Path(__file__).parents[3] / "docs" / "thresholds.md").read_text(encoding="utf-8")
    told = "its defaults `svt` predicts no worse than its centre alone, and on ratings it often keeps nothing else"
    assert told in page.split("\n\n")[1].partition(".")[0]
    assert "Its defaults predict no worse than the centre alone" in SVT.__doc__
    rng = np.random.default_rng(seed)
    truth = 3.5 + rng.normal(0, 0.2, (300, 1)) + rng.normal(0, 0.2, 120)
    truth = truth + 0.2 * rng.normal(size=(300, 2)) @ rng.normal(size=(2, 120))
    ratings = np.clip(np.round(truth + rng.normal(0, 0.8, truth.shape)), 1, 5)
    place = rng.random(truth.shape)
    observed = ObservedMatrix(np.where(place < 0.06, ratings, np.nan), value_range=(1, 5))
    hidden = np.nonzero((place >= 0.06) & (place < 0.3))

    def error(**options):
        estimate = SVT(random_state=0, **options).fit(observed).estimate_
        return np.sqrt(np.mean((estimate.entries(*hidden) - ratings[hidden]) ** 2))

    centre = error(threshold=1e3)
    assert error() <= centre * (1 + 1e-9)
    assert error(threshold="noise-edge") > 1.03 * centre
    assert error(shrinker="identity", centering="biases") < 0.95 * centre
