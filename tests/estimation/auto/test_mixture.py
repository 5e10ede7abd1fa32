"""Mixtures of estimates: the estimate, its folding, its constant, its file; and the estimator that finds the weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from likewise import LowRankEstimate, ObservedMatrix, entry_intervals
from likewise.certificates.individual_constants import individual_constants
from likewise.certificates.worst_rows import worst_rows
from likewise.errors import EstimatorError, InputError, ShapeError
from likewise.estimation import (
    SVT,
    AlternatingLeastSquares,
    Biases,
    Mixture,
    SoftImpute,
    mixed_estimate,
    stacking_weights,
)
from likewise.estimation.auto.stacking import held_out_folds, later_fold
from likewise.fairness import PatternDistance, Unavailable
from likewise.fairness.search.unseen_rows import search_unseen_rows
from likewise.observations import with_features, with_times
from likewise.observations.synthetic import clustered

pytestmark = pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")


@pytest.fixture(scope="module")
def observed():
    return clustered(30, 20, 3, observed_fraction=0.5, random_state=0).observed


@pytest.fixture(scope="module")
def fits(observed):
    made = (
        AlternatingLeastSquares(3, noise=0.3, random_state=0),
        SoftImpute(0.5, random_state=0),
        Biases(),
    )
    return tuple(part.fit(observed) for part in made)


@pytest.fixture(scope="module")
def mixed(fits):
    return mixed_estimate([fit.estimate_ for fit in fits], [0.5, 0.2, 0.3])


def unclipped(estimate):
    return estimate.unclipped().to_dense()


def test_two_columns_by_hand():
    """Means of columns (2, 4) and (1, 0) mixed 1 : 3 are (1.25, 1); nothing is left of rows."""
    Z = ObservedMatrix(np.array([[2.0, 4.0], [2.0, 4.0]]), value_range=(-10, 10))
    W = ObservedMatrix(np.array([[1.0, 0.0], [1.0, 0.0]]), value_range=(-10, 10))
    parts = [Biases(regularization=0).fit(each).estimate_ for each in (Z, W)]
    mixed = mixed_estimate(parts, [0.25, 0.75])
    np.testing.assert_allclose(mixed.to_dense(), [[1.25, 1.0], [1.25, 1.0]])
    assert mixed.rank == 0


@pytest.mark.slow
@given(st.integers(0, 10**6), st.floats(0, 1))
@settings(max_examples=15)
def test_it_is_the_weighted_sum_for_rows_of_the_fit_and_new_ones(seed, weight):
    data = clustered(12, 15, 3, observed_fraction=0.6, random_state=seed).observed
    parts = [
        AlternatingLeastSquares(rank, lam, random_state=seed).fit(data).estimate_
        for rank, lam in ((10, 0.3), (9, 3.0))
    ]
    mixed = mixed_estimate(parts, [weight, 1 - weight])
    shares = np.array([weight, 1 - weight])
    np.testing.assert_allclose(
        unclipped(mixed),
        sum(share * unclipped(part) for share, part in zip(shares, parts, strict=True)),
        atol=1e-8,
    )
    new = clustered(7, 15, 3, observed_fraction=0.4, random_state=seed + 1).observed
    np.testing.assert_allclose(
        mixed.unclipped().fold_in(new),
        sum(share * part.unclipped().fold_in(new) for share, part in zip(shares, parts, strict=True)),
        atol=1e-8,
    )


def test_components_are_orthonormal_and_decrease(mixed):
    assert mixed.rank <= 20
    np.testing.assert_allclose(mixed.right.T @ mixed.right, np.eye(mixed.rank), atol=1e-10)
    assert (np.diff(mixed.singular_values) <= 0).all()


def test_a_part_of_no_weight_changes_nothing(fits):
    alone = mixed_estimate([fit.estimate_ for fit in fits], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(unclipped(alone), unclipped(fits[0].estimate_), atol=1e-8)


def test_a_mixture_of_mixtures_has_their_parts(fits):
    one, other, third = (fit.estimate_ for fit in fits)
    inner = mixed_estimate([one, other], [0.5, 0.5])
    outer = mixed_estimate([inner, third], [0.8, 0.2])
    assert [part.weight for part in outer.folding.parts] == pytest.approx([0.4, 0.4, 0.2])
    new = clustered(5, 20, 3, observed_fraction=0.4, random_state=3).observed
    flat = mixed_estimate([one, other, third], [0.4, 0.4, 0.2])
    np.testing.assert_allclose(outer.fold_in(new), flat.fold_in(new), atol=1e-8)


def test_features_of_new_rows_reach_every_part():
    rng = np.random.default_rng(0)
    ages, Z = rng.normal(size=40), np.full((40, 8), np.nan)
    Z[:, :6] = np.clip(0.5 * ages[:, None] + rng.normal(0, 0.1, (40, 6)), -1, 1)
    known = with_features(ObservedMatrix(Z, value_range=(-1, 1)), rows={"age": ages})
    parts = [
        AlternatingLeastSquares(1, noise=noise, random_state=0).fit(known).estimate_ for noise in (0.1, 0.3)
    ]
    mixed = mixed_estimate(parts, [0.5, 0.5])
    new = with_features(
        ObservedMatrix([[0.0] + [np.nan] * 7] * 2, value_range=(-1, 1)), rows={"age": [-1.0, 1.0]}
    )
    expected = 0.5 * parts[0].unclipped().fold_in(new) + 0.5 * parts[1].unclipped().fold_in(new)
    np.testing.assert_allclose(mixed.unclipped().fold_in(new), expected, atol=1e-8)
    assert expected[1, 0] > expected[0, 0]
    assert isinstance(mixed.folding.regression(mixed), str)


def test_it_comes_back_from_its_file(mixed, tmp_path):
    mixed.save(tmp_path / "mixture.npz")
    loaded = LowRankEstimate.load(tmp_path / "mixture.npz")
    new = clustered(5, 20, 3, observed_fraction=0.4, random_state=3).observed
    np.testing.assert_array_equal(loaded.fold_in(new), mixed.fold_in(new))
    assert [part.folding.kind for part in loaded.folding.parts] == ["posterior", "ridge", "linear"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda arrays: arrays.pop("part1_right"), "a whole part"),
        (lambda arrays: arrays.update(part1_kind=np.array("odd")), "a whole part"),
        (lambda arrays: arrays.update(part1_gains=np.ones(99)), "shapes do not fit"),
        (lambda arrays: arrays.update(part2_turn=np.ones((0, 99))), "different lengths"),
        (lambda arrays: [arrays.pop(name) for name in list(arrays) if name.startswith("part0")], "its parts"),
    ],
)
def test_a_damaged_folding_is_named(mixed, change, match):
    arrays = mixed.folding.to_arrays()
    change(arrays)
    with pytest.raises(InputError, match=match):
        type(mixed.folding).from_arrays(arrays)


# The constant.


def test_its_constant_is_at_most_the_mixture_of_those_of_its_parts(fits, observed):
    """In one metric, with the same distance of the empty entry, and within one domain."""
    shares, values = np.array([0.5, 0.2, 0.3]), observed.scaled("symmetric").values
    proved = Mixture(list(fits), shares).of(fits).fit(observed).certificate_.regression
    alone = [fit.certificate_.regression.map for fit in fits]
    reach, c = proved.reach, proved.empty
    constants = []
    for each in alone:
        slopes = each.slopes + each.offset_slopes
        lacking = each.slopes * (1 + reach[0]) + each.offset_slopes * (1 + reach[1]) + each.excesses(reach[2])
        constants.append(max(slopes.max(), lacking.max() / c))
    assert proved.certificate.value <= shares @ constants * (1 + 1e-9)
    assert reach == pytest.approx(
        [max(found) for found in zip(*(e.reach(values).largest() for e in alone), strict=True)]
    )
    assert "same mixture" in proved.certificate.proof[-1]


@pytest.mark.slow
def test_no_pair_exceeds_the_constant(fits, observed):
    mixture = Mixture(list(fits), [0.5, 0.2, 0.3]).of(fits).fit(observed)
    proved = mixture.certificate_.regression
    new = clustered(40, 20, 3, observed_fraction=0.3, random_state=9).observed
    values = new.scaled("symmetric").values
    within = np.flatnonzero(proved.covers(values))
    out = mixture.estimate_.on_working_range().fold_in(new)
    left, right = (index.ravel() for index in np.meshgrid(within, within))
    apart = np.linalg.norm(out[left] - out[right], axis=1)
    d = PatternDistance(new, proved.empty, working_range="symmetric").between(left, right)
    assert within.size > 10
    assert (apart <= proved.certificate.value * d + 1e-9).all()
    assert (apart <= proved.bound(values[left], values[right]) + 1e-9).all()
    own = individual_constants(proved, values[within])
    of_left = dict(zip(within.tolist(), own, strict=True))
    assert (apart <= np.array([of_left[i] for i in left.tolist()]) * d + 1e-9).all()
    assert (own <= proved.certificate.value).all()


def test_the_worst_rows_attain_their_ratio_and_do_not_exceed_the_constant(fits, observed):
    mixture = Mixture(list(fits), [0.5, 0.2, 0.3]).of(fits).fit(observed)
    found = worst_rows(mixture.certificate_.regression.map)
    rows = found.rows.toarray()
    rows[:, np.setdiff1d(np.arange(20), found.rows.indices)] = np.nan
    out = mixture.estimate_.unclipped().fold_in(ObservedMatrix(rows, value_range=(-1, 1)))
    assert np.linalg.norm(out[0] - out[1]) / 0.5 == pytest.approx(found.ratio)
    assert found.ratio <= mixture.certificate_.regression.certificate.value


def test_without_a_constant_of_a_part_there_is_none_and_the_reason_is_said(observed):
    parts = (SVT(threshold=1.0), AlternatingLeastSquares(2, random_state=0))
    mixture = Mixture(parts, [0.5, 0.5]).fit(observed)
    found = mixture.certificate_.regression
    assert isinstance(found, Unavailable)
    assert "part 1 of the mixture has no constant in the metric of the others" in found.reason
    with pytest.raises(EstimatorError, match="part 1 of the mixture"):
        Mixture(parts, [0.5, 0.5], max_lipschitz=0.5).fit(observed)


@pytest.fixture(scope="module")
def thresholded(observed):
    """Two linear maps of rows, of different components, and their mixture."""
    parts = (SVT(threshold=1.0, shrinker="identity"), SVT(threshold=2.5, shrinker="soft"))
    return Mixture(parts, [0.3, 0.7]).fit(observed)


def test_linear_parts_have_the_weighted_sum_of_their_constants(thresholded):
    proved, alone = thresholded.certificate_, [part.certificate_ for part in thresholded.estimators_]
    for name in ("k_star", "spectral"):
        constants = [getattr(each, name).value for each in alone]
        assert getattr(proved, name).value == pytest.approx(np.dot([0.3, 0.7], constants))
    assert "weighted sum" in " ".join(proved.k_star.proof)
    assert isinstance(proved.k2, Unavailable)
    assert "not singular triplets" in proved.k2.reason


def test_a_mixture_of_one_map_with_itself_has_its_constant(observed):
    part = SVT(threshold=1.0)
    mixture = Mixture([part, part], [0.25, 0.75]).fit(observed)
    alone = part.fit(observed).certificate_
    assert mixture.certificate_.k_star.value == pytest.approx(alone.k_star.value, rel=1e-9)


def test_no_search_finds_rows_that_a_linear_mixture_drives_further_apart(thresholded, observed):
    """From rows of the fit, and from nothing to a single feature, one of which attains the constant of each part."""
    estimate = thresholded.estimate_.unclipped()
    single = np.full((20, 2, 20), np.nan)
    single[np.arange(20), 1, np.arange(20)] = 1.0
    rows = observed.scaled("symmetric").to_dense(np.nan)
    starts = np.concatenate([single, rows[: rows.shape[0] // 2 * 2].reshape(-1, 2, 20)])

    def outputs(these):
        return estimate.fold_in(ObservedMatrix(these, value_range=(-1, 1)))

    scale = estimate.scale.factor  # outputs come in the user's units
    found = search_unseen_rows(outputs, starts)
    k_star = thresholded.certificate_.k_star.value
    assert 0.8 * k_star < found.ratio * scale <= k_star


@pytest.mark.slow
def test_a_budget_holds(fits, observed):
    free = Mixture(list(fits), [0.5, 0.2, 0.3]).fit(observed)
    limit = 0.5 * free.certificate_.regression.slopes.max()
    held = Mixture(list(fits), [0.5, 0.2, 0.3], max_lipschitz=limit).fit(observed)
    assert held.budget_.strength > 1
    assert held.certificate_.regression.slopes.max() <= limit * (1 + 1e-9)
    np.testing.assert_allclose(held.transform(observed), held.estimate_.to_dense(), atol=1e-8)


# The estimator.


def test_weights_are_those_of_what_was_held_out(observed):
    """Against a loop over the same folds."""
    parts = [AlternatingLeastSquares(3, 0.5, random_state=1), Biases()]
    found = Mixture(parts, random_state=5).fit(observed)
    rng = np.random.default_rng(5)
    rng.integers(2**31), rng.integers(2**31)
    rows, columns = observed.positions()
    errors = []
    for fold in held_out_folds(observed.n_observed, rng):
        fitted = [type(part)(**part.get_params()).fit(observed.keep(~fold)) for part in parts]
        actual = observed.values.data[fold]
        errors.append([each.estimate_.entries(rows[fold], columns[fold]) - actual for each in fitted])
    np.testing.assert_allclose(found.weights_, stacking_weights(np.hstack(errors)), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("sources", ["time", "all"])
def test_where_a_part_finds_drifts_the_latest_observations_tell_the_weights(observed, sources):
    dated = with_times(observed, np.random.default_rng(0).permutation(observed.n_observed))
    parts = [AlternatingLeastSquares(2, sources=sources, random_state=1), Biases()]
    found = Mixture(parts, random_state=5).fit(dated)
    (fold,) = later_fold(dated)
    assert set(dated.times[fold]) == set(range(dated.n_observed - int(fold.sum()), dated.n_observed))
    rows, columns = dated.positions()
    fitted = [type(part)(**part.get_params()).fit(dated.keep(~fold)) for part in parts]
    errors = [each.estimate_.entries(rows[fold], columns[fold]) - dated.values.data[fold] for each in fitted]
    np.testing.assert_allclose(found.weights_, stacking_weights(errors), atol=1e-9)
    undated = Mixture([parts[0].set_params(sources="none"), parts[1]], random_state=5)
    np.testing.assert_array_equal(undated.fit(dated).weights_, clone(undated).fit(observed).weights_)


def test_too_few_observations_have_equal_weights():
    Z = np.array([[5.0, 4.0, np.nan], [3.0, np.nan, 1.0]])
    found = Mixture([Biases(), Biases(regularization=1.0)], value_range=(1, 5)).fit(Z)
    assert found.weights_.tolist() == [0.5, 0.5]


def test_intervals_of_entries_take_it(observed):
    parts = [AlternatingLeastSquares(2, random_state=0), Biases()]
    intervals = entry_intervals(observed, Mixture(parts, [0.5, 0.5]), confidence=0.8)
    ends = intervals.entries([0, 1], [2, 3])
    assert (ends[:, 0] < ends[:, 1]).all()


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"estimators": []}, EstimatorError, "up to 3 estimators"),
        ({"estimators": [Biases()] * 4}, EstimatorError, "up to 3 estimators"),
        ({"estimators": "als"}, EstimatorError, "up to 3 estimators"),
        ({"estimators": ["als"]}, EstimatorError, "a MatrixEstimator"),
        ({"estimators": [Biases()], "weights": [0.5, 0.5]}, ShapeError, "one for each part"),
        ({"estimators": [Biases(), Biases()], "weights": [0.5, 0.6]}, InputError, "sum to 1"),
        ({"estimators": [Biases(), Biases()], "weights": [1.5, -0.5]}, InputError, ">= 0"),
        ({"estimators": [Biases(), Biases()], "weights": [np.nan, 1.0]}, InputError, ">= 0"),
        ({"estimators": [Biases(), Biases()], "weights": "half"}, InputError, "weights that are not numbers"),
    ],
)
def test_what_is_no_mixture_is_named(observed, options, error, match):
    with pytest.raises(error, match=match):
        Mixture(**options).fit(observed)


def test_estimates_of_other_data_are_not_mixed(observed, fits):
    other = Biases().fit(clustered(30, 21, 3, observed_fraction=0.5, random_state=0).observed).estimate_
    unit = Biases(working_range="unit").fit(observed).estimate_
    for estimate in (other, unit):
        with pytest.raises(ShapeError, match="the same individuals and features"):
            mixed_estimate([fits[0].estimate_, estimate], [0.5, 0.5])


def test_no_estimates_make_no_mixture():
    with pytest.raises(ShapeError, match="one at least"):
        mixed_estimate([], [])
