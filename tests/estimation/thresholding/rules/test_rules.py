"""Rules that look at the matrix: by hand on small ones, against naive references and known limits on larger ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.integrate import quad

from likewise.errors import ThresholdError
from likewise.estimation import (
    CrossValidated,
    NoiseEdge,
    ObservationStatistics,
    OptimalHard,
    OptimalShrinker,
    ScreeNOT,
    SignFlipEdge,
    noise_variance,
    resolve_threshold,
)
from likewise.estimation.thresholding.noise_level import median_square
from likewise.estimation.thresholding.rules.optimal import (
    optimal_coefficient,
    optimal_threshold,
    pseudo_noise,
)

ROOT = np.sqrt(3.0)


def statistics_of(matrix):
    return ObservationStatistics.of(sparse.csr_array(np.asarray(matrix, dtype=float)))


def white(shape, seed=0, deviation=1.0):
    return deviation * np.random.default_rng(seed).standard_normal(shape)


def planted(shape=(120, 200), strengths=(60.0, 40.0, 30.0), seed=0):
    """A matrix of low rank in white noise of deviation 1, whose edge is at sqrt(m) + sqrt(n)."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((side, len(strengths))))[0] for side in shape)
    return (left * strengths) @ right.T + rng.standard_normal(shape)


# --- Marchenko and Pastur


@pytest.mark.parametrize("aspect", [1.0, 0.5, 0.1, 0.01])
def test_half_of_the_law_lies_below_its_median(aspect):
    """Integrated in x itself, where the implementation integrates in an angle."""
    low, high = (1 - np.sqrt(aspect)) ** 2, (1 + np.sqrt(aspect)) ** 2

    def density(x):
        return np.sqrt((high - x) * (x - low)) / (2 * np.pi * aspect * x)

    assert quad(density, median_square(aspect), high)[0] == pytest.approx(0.5, abs=1e-8)


@pytest.mark.slow
def test_median_of_simulated_noise():
    squares = np.linalg.svd(white((600, 1200)), compute_uv=False) ** 2 / 1200
    assert np.median(squares) == pytest.approx(median_square(0.5), rel=0.01)


# --- noise level and noise edge

SPIKE = np.diag([10.0, *np.ones(9)])
"""Energy 109, mean square 1.09, edge 2 sqrt(10.9) = 6.6: the 10 is kept, and 9 is left on 9 x 9 dimensions."""


def test_residual_noise_by_hand():
    assert noise_variance("residual", statistics_of(SPIKE)) == pytest.approx(1 / 9)
    assert NoiseEdge("residual")(statistics_of(SPIKE)) == pytest.approx(2 * np.sqrt(10) / 3)


def test_median_noise_by_hand():
    """The median singular value of SPIKE is 1; at beta = 1 its law has median square 0.6528."""
    assert noise_variance("median", statistics_of(SPIKE)) == pytest.approx(1 / (10 * median_square(1.0)))


@pytest.mark.parametrize("noise", ["residual", "median"])
def test_noise_level_of_a_planted_matrix(noise):
    """The largest signal would make the mean square 1.25; both estimates see the noise behind it."""
    statistics = statistics_of(planted())
    assert statistics.mean_square > 1.2
    assert noise_variance(noise, statistics) == pytest.approx(1.0, rel=0.04)


@given(st.integers(0, 10_000), st.floats(0.05, 1.0))
def test_residual_noise_is_never_above_the_mean_square(seed, p):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random((12, 9)) < p, rng.standard_normal((12, 9)), 0.0)
    values[0, 0] = 1.0
    statistics = statistics_of(values)
    assert 0 <= noise_variance("residual", statistics) <= statistics.mean_square


def test_the_median_ignores_rows_and_columns_without_an_observation():
    padded = np.zeros((40, 30))
    padded[:10, :10] = SPIKE
    assert noise_variance("median", statistics_of(padded)) == pytest.approx(
        noise_variance("median", statistics_of(SPIKE))
    )


def test_a_median_of_zero_is_refused():
    with pytest.raises(ThresholdError, match="a median singular value of 0"):
        noise_variance("median", statistics_of(np.ones((6, 8))))


# --- Gavish and Donoho 2014


def omega(aspect):
    """The threshold in units of the median singular value, as published for unknown noise."""
    return optimal_coefficient(aspect) / np.sqrt(median_square(aspect))


def test_optimal_hard_threshold_as_published():
    assert optimal_coefficient(1.0) == pytest.approx(4 / ROOT)
    assert omega(1.0) == pytest.approx(2.858, abs=5e-4)
    beta = np.linspace(0.05, 1, 20)  # their cubic is within 0.02 of omega
    cubic = 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43
    np.testing.assert_allclose([omega(b) for b in beta], cubic, atol=0.021)


def test_optimal_hard_by_hand():
    """Median 1, beta = 1: 2.858; known deviation 0.1: 4/sqrt(3) sqrt(10) 0.1."""
    assert OptimalHard()(statistics_of(SPIKE)) == pytest.approx(omega(1.0))
    assert OptimalHard(noise=0.1)(statistics_of(SPIKE)) == pytest.approx(0.4 * np.sqrt(10) / ROOT)


@pytest.mark.parametrize("aspect", [1.0, 0.4])
def test_optimal_hard_threshold_is_where_cutting_costs_what_keeping_costs(aspect):
    """A signal x seen at y: cut it and lose x^2; keep it and lose x^2 + y^2 - 2 x y c c' = x^2 + y^2 - 2 y eta(y)."""
    from likewise.estimation.thresholding.shrinkers import frobenius_optimal

    y = optimal_coefficient(aspect)
    assert y == pytest.approx(2 * frobenius_optimal(np.array([y]), aspect)[0])


def test_optimal_hard_falls_back_on_the_residual(monkeypatch):
    monkeypatch.setattr("likewise.estimation.thresholding.rules.optimal.LONGEST_SHORT_SIDE", 5)
    monkeypatch.setattr("likewise.estimation.thresholding.noise_level.LONGEST_SHORT_SIDE", 5)
    assert OptimalHard()(statistics_of(SPIKE)) == OptimalHard("residual")(statistics_of(SPIKE))
    with pytest.raises(ThresholdError, match="at most 5"):
        OptimalHard("median")(statistics_of(SPIKE))


# --- ScreeNOT


@pytest.mark.parametrize("aspect", [1.0, 0.5, 0.1])
def test_screenot_of_white_noise_is_the_optimal_hard_threshold(aspect):
    """On quantiles of the law itself, so that nothing is left to chance."""
    size = 4000
    angles = (np.arange(200_000) + 0.5) * np.pi / 200_000
    x = 1 + aspect + 2 * np.sqrt(aspect) * np.cos(angles)
    share = np.cumsum(2 * np.sin(angles) ** 2 / (np.pi * x)) * np.pi / 200_000
    assert share[-1] == pytest.approx(1.0, abs=1e-4)
    values = np.sqrt(np.interp((np.arange(size) + 0.5) / size, share, x))
    assert optimal_threshold(values, aspect) == pytest.approx(optimal_coefficient(aspect), rel=2e-3)


def test_pseudo_noise_by_hand():
    """k = 2: y_3 = 4, y_5 = 2, so the step is 2 / (2^(2/3) - 1); weights 1 and 1 - 2^(-2/3)."""
    step = 2 / (2 ** (2 / 3) - 1)
    expected = [4 + step, 4 + (1 - 0.5 ** (2 / 3)) * step, 4.0, 3.0, 2.0, 1.0]
    np.testing.assert_allclose(pseudo_noise(np.array([90.0, 80.0, 4.0, 3.0, 2.0, 1.0]), 2), expected)


@pytest.mark.slow
def test_screenot_sees_correlated_noise_that_the_white_edge_takes_for_signal():
    rng = np.random.default_rng(3)
    correlated = white((150, 400), 3) @ np.diag(np.where(np.arange(400) < 40, 4.0, 1.0))
    correlated += np.outer(rng.standard_normal(150), rng.standard_normal(400)) * 1.5
    statistics = statistics_of(correlated)
    values = np.linalg.svd(correlated, compute_uv=False)
    assert (values > ScreeNOT()(statistics)).sum() == 1
    assert (values > NoiseEdge("residual")(statistics)).sum() > 5


@pytest.mark.parametrize("bound", [0, 5, 2.5])
def test_screenot_refuses_impossible_rank_bounds(bound):
    with pytest.raises(ThresholdError, match="rank_bound"):
        ScreeNOT(bound)(statistics_of(SPIKE))


def test_screenot_names_values_that_end():
    with pytest.raises(ThresholdError, match="no singular value above 0 but the largest 1; expected noise"):
        ScreeNOT(1)(statistics_of(np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0, 1.0])))


# --- sign flips


def test_sign_flips_by_hand():
    """Signs do not change the singular value of a single row, nor those of a diagonal matrix."""
    assert SignFlipEdge()(statistics_of([[3.0, 4.0]])) == pytest.approx(5.0)
    assert SignFlipEdge(n_flips=2)(statistics_of(SPIKE)) == pytest.approx(10.0)


def test_sign_flips_of_noise_give_its_edge():
    noise = white((150, 300))
    assert SignFlipEdge()(statistics_of(noise)) == pytest.approx(np.sqrt(150) + np.sqrt(300), rel=0.03)


def test_sign_flips_follow_the_variances():
    """Columns observed with very different strength: the white edge is too low, flips find the true one."""
    noise = white((150, 300)) * np.where(np.arange(300) < 30, 5.0, 0.5)
    largest = np.linalg.svd(noise, compute_uv=False)[0]
    assert NoiseEdge()(statistics_of(noise)) < 0.9 * largest
    assert SignFlipEdge()(statistics_of(noise)) == pytest.approx(largest, rel=0.05)


def test_quantiles_of_sign_flips_are_ordered_and_seeded():
    statistics = statistics_of(white((40, 60)))
    low, high = SignFlipEdge(0.0)(statistics), SignFlipEdge(1.0)(statistics)
    assert low < high
    assert SignFlipEdge(1.0)(statistics) == high
    assert SignFlipEdge(1.0, random_state=1)(statistics) != high


@pytest.mark.parametrize("rule", [SignFlipEdge(1.5), SignFlipEdge(n_flips=0), SignFlipEdge(n_flips=1.5)])
def test_impossible_flips_are_refused(rule):
    with pytest.raises(ThresholdError):
        rule(statistics_of(SPIKE))


# --- cross-validation


def naive_path(matrix, rule, shrink):
    """One estimate after another, by dense decompositions; `shrink(sigma, tau, p)` gives what becomes of what is kept."""
    csr = sparse.csr_array(matrix)
    hidden = np.zeros(csr.nnz, dtype=bool)
    n_hidden = round(rule.share * csr.nnz)
    hidden[np.random.default_rng(rule.random_state).choice(csr.nnz, n_hidden, replace=False)] = True
    rows, columns = csr.tocoo().coords
    training = np.zeros(matrix.shape)
    training[rows[~hidden], columns[~hidden]] = csr.data[~hidden]
    p = (csr.nnz - n_hidden) / matrix.size
    edge = (np.sqrt(matrix.shape[0]) + np.sqrt(matrix.shape[1])) * np.sqrt((training**2).mean())
    u, sigma, vt = np.linalg.svd(training, full_matrices=False)
    sigma = sigma[sigma > rule.lowest * edge][: rule.max_rank]
    taus = [np.linalg.norm(training), *np.sqrt(sigma[:-1] * sigma[1:]), rule.lowest * edge]
    errors = []
    for count, tau in enumerate(taus):
        estimate = (u[:, :count] * shrink(sigma[:count], tau, p)) @ vt[:count]
        errors.append(((estimate[rows[hidden], columns[hidden]] - csr.data[hidden]) ** 2).mean())
    return np.array(taus), np.array(errors)


@pytest.mark.parametrize(
    ("shrinker", "shrink"),
    [
        ("rescaled", lambda sigma, _, p: sigma / p),
        ("soft-rescaled", lambda sigma, tau, p: (sigma - tau) / p),
        (np.sqrt, lambda sigma, *_: np.sqrt(sigma)),
    ],
)
def test_path_equals_one_estimate_after_another(shrinker, shrink):
    rng = np.random.default_rng(5)
    matrix = np.where(rng.random((60, 90)) < 0.6, planted((60, 90)), 0.0)
    rule = CrossValidated(max_rank=8).trying(shrinker)
    path = rule.path(statistics_of(matrix))
    taus, errors = naive_path(matrix, rule, shrink)
    np.testing.assert_allclose(path.thresholds, taus, rtol=1e-9)
    np.testing.assert_allclose(path.errors, errors, rtol=1e-7)
    assert rule(statistics_of(matrix)) == pytest.approx(taus[errors.argmin()] / np.sqrt(0.9))


def test_weighted_errors_are_those_of_the_observations_themselves_self_normalised():
    """What is decomposed is W Z; what is predicted is Z, and its errors are averaged by W."""
    rng = np.random.default_rng(7)
    truth = planted((60, 90))
    seen = rng.random(truth.shape) < 0.6
    w = rng.uniform(0.3, 3.0, truth.shape)
    csr, rule = sparse.csr_array(np.where(seen, w * truth, 0.0)), CrossValidated(max_rank=5)
    path = rule.path(ObservationStatistics.of(csr, w[seen]))
    hidden = np.zeros(csr.nnz, dtype=bool)
    hidden[np.random.default_rng(0).choice(csr.nnz, round(0.1 * csr.nnz), replace=False)] = True
    rows, columns = (c[hidden] for c in csr.tocoo().coords)
    training = csr.toarray()
    training[rows, columns] = 0.0
    u, sigma, vt = np.linalg.svd(training, full_matrices=False)
    p, weights = (csr.nnz - hidden.sum()) / truth.size, w[rows, columns]
    for count, error in enumerate(path.errors):
        estimate = (u[:, :count] * sigma[:count] / p) @ vt[:count]
        squares = (estimate - truth)[rows, columns] ** 2
        assert error == pytest.approx((weights * squares).sum() / weights.sum())
    assert path.errors.size == 6


def test_with_propensities_the_error_is_that_over_all_entries():
    """What is liked is seen: the weighted error at hidden observations is near the error over all cells, the plain one is not."""
    rng = np.random.default_rng(8)
    truth = np.outer(rng.uniform(0, 1, 300), rng.uniform(0, 1, 200))
    chances = 0.1 + 0.8 * truth
    seen = rng.random(truth.shape) < chances
    w = seen.mean() / chances
    weighted = sparse.csr_array(np.where(seen, w * truth, 0.0))
    path = CrossValidated(share=0.2, max_rank=1).path(ObservationStatistics.of(weighted, w[seen]))
    of_nothing = path.errors[0]  # no component is kept: the estimate is 0
    assert of_nothing == pytest.approx(np.mean(truth**2), rel=0.05)
    assert np.mean(truth[seen] ** 2) > 1.5 * np.mean(truth**2)


def test_equal_weights_choose_the_same_threshold():
    rng = np.random.default_rng(9)
    csr = sparse.csr_array(np.where(rng.random((60, 90)) < 0.6, planted((60, 90)), 0.0))
    rule = CrossValidated(max_rank=5)
    assert rule(ObservationStatistics.of(csr, np.ones(csr.nnz))) == rule(ObservationStatistics.of(csr))


def test_cross_validation_keeps_the_planted_components():
    rng = np.random.default_rng(6)
    matrix = np.where(rng.random((120, 200)) < 0.7, planted(), 0.0)
    tau = resolve_threshold("cross-validated", statistics_of(matrix))
    assert (np.linalg.svd(matrix, compute_uv=False) > tau).sum() == 3


def test_cross_validation_of_pure_noise_keeps_nothing():
    noise = white((60, 80), seed=2)
    tau = resolve_threshold("cross-validated", statistics_of(noise))
    assert (np.linalg.svd(noise, compute_uv=False) > tau).sum() == 0


def test_the_estimators_shrinker_is_tried_unless_another_is_given():
    assert CrossValidated().trying("soft").shrinker == "soft"
    assert CrossValidated(shrinker="identity").trying("soft").shrinker == "identity"
    statistics = statistics_of(np.where(white((60, 90)) > 0, planted((60, 90)), 0.0))
    by_name = resolve_threshold("cross-validated", statistics, OptimalShrinker())
    assert by_name == CrossValidated(shrinker=OptimalShrinker())(statistics)


@pytest.mark.parametrize(
    "rule",
    [
        CrossValidated(share=0.0),
        CrossValidated(share=1.0),
        CrossValidated(max_rank=0),
        CrossValidated(lowest=0.0),
        CrossValidated(share=0.001),
    ],
)
def test_impossible_cross_validation_is_refused(rule):
    with pytest.raises(ThresholdError):
        rule(statistics_of(SPIKE))
