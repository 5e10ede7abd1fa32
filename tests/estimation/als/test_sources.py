"""Vectors regressed on features and on who observed what: each formula against a naive one, and what follows from it for users."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.certificates import Unavailable
from likewise.errors import FeatureWarning, InputError
from likewise.estimation import LowRankEstimate, make_estimator
from likewise.estimation.als.sources import STRENGTH, Drift, checked_sources, regress_on_sources
from likewise.estimation.auto import transformer as auto_module
from likewise.estimation.base.factor_update import Factors, ObservedRows, Prior, regress
from likewise.estimation.base.prior_mean import Coding, PriorMean, Regressors, pattern_of
from likewise.observations import Features, ObservedMatrix, hold_out, with_features, with_times


def _two_groups(
    m: int = 60, n: int = 30, share: float = 0.3, seed: int = 0
) -> tuple[ObservedMatrix, np.ndarray]:
    """People of two groups who like opposite halves of the columns; the last five are not observed at all."""
    rng = np.random.default_rng(seed)
    people, columns = rng.integers(2, size=m), np.arange(n) % 2
    truth = np.where(people[:, None] == columns, 4.0, 2.0)
    noisy = np.clip(truth + 0.2 * rng.normal(size=truth.shape), 1, 5)
    seen = rng.random(truth.shape) < share
    seen[-5:] = False
    rows, places = np.nonzero(seen)
    observed = ObservedMatrix.from_triplets(rows, places, noisy[seen], shape=(m, n), value_range=(1, 5))
    return with_features(observed, rows=people.astype(float), columns=columns.astype(float)), truth


def test_regressors_by_hand() -> None:
    # Ages 20 and 40 lie 10 from their mean, a spread of 10; three rows of squares 1, 1 and 0 have length 2/3.
    age = Features(sparse.csr_array([[20.0], [40.0], [np.nan]]), np.array(["age"]), np.array([True]))
    coding = Coding.of(age)
    root = np.sqrt(1.5)
    np.testing.assert_allclose(coding.regressors(age).product(np.eye(1)).ravel(), [-root, root, 0.0])
    # A category keeps its unit: 0 and 1 about 1/2, of squared length 1/4.
    sex = Features(sparse.csr_array([[1.0], [0.0]]), np.array(["sex=f"]), np.array([False]))
    np.testing.assert_allclose(Coding.of(sex).regressors(sex).product(np.eye(1)).ravel(), [1.0, -1.0])
    seen = sparse.csr_array(([1.0, 1.0, 1.0], ([0, 0, 1], [0, 2, 1])), shape=(2, 3))
    np.testing.assert_allclose(pattern_of(seen).matrix.toarray(), [[0.5**0.5, 0, 0.5**0.5], [0, 1, 0]])


@given(st.integers(0, 10**6))
def test_steps_lead_to_the_ridge_regression(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, p, d = (int(size) for size in rng.integers(1, 6, 3))
    s = rng.normal(size=(k, p)) * (rng.random((k, p)) < 0.7)
    shift, x, seen = rng.normal(size=p), rng.normal(size=(k, d)), rng.random(k) < 0.8
    half = rng.normal(size=(d, d))
    precision = half @ half.T + np.eye(d)
    regressors = Regressors(sparse.csr_array(s), shift)
    found = regress_on_sources(regressors, x, seen, precision, np.zeros((p, d)), n_steps=60)
    design = (s - shift)[seen]
    expected = np.linalg.solve(design.T @ design + STRENGTH * np.eye(p), design.T @ x[seen])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(regressors.squares(), ((s - shift) ** 2).sum(axis=0))


@given(st.integers(0, 10**6))
def test_each_step_lowers_the_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    s, x = rng.normal(size=(6, 4)), rng.normal(size=(6, 3))
    half = rng.normal(size=(3, 3))
    precision, everybody = half @ half.T + 0.1 * np.eye(3), np.ones(6, bool)
    regressors = Regressors(sparse.csr_array(s), np.zeros(4))

    def cost(weights: np.ndarray) -> float:
        left = x - s @ weights
        return float(
            np.trace(left @ precision @ left.T) + STRENGTH * np.trace(precision @ weights.T @ weights)
        )

    weights = rng.normal(size=(4, 3))
    for _ in range(4):
        after = regress_on_sources(regressors, x, everybody, precision, weights, n_steps=1)
        assert cost(after) <= cost(weights) * (1 + 1e-9)
        weights = after


@given(st.integers(0, 10**6))
def test_a_prior_with_means_is_bayes_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, f, mean = rng.normal(size=(2, 3)), rng.normal(size=(3, 3)), rng.normal(size=(2, 3))
    precision, noise = np.diag([1.0, 2.0, 4.0]), 0.5
    columns = Factors.certain(f)
    found = regress(
        ObservedRows(sparse.csr_array(z), None, 2), columns, Prior(precision, noise, True, means=mean)
    )
    x = np.column_stack([f[:, :2], np.ones(3)])
    covariance = np.linalg.inv(precision + x.T @ x / noise)
    expected = (mean @ precision + (z - f[:, 2]) @ x / noise) @ covariance
    np.testing.assert_allclose(found.factors.means, expected, rtol=1e-8, atol=1e-10)
    divergence = 0.0
    for row in range(2):
        left = expected[row] - mean[row]
        divergence += np.trace(precision @ covariance) + left @ precision @ left - 3
        divergence -= np.linalg.slogdet(precision @ covariance)[1]
    assert found.penalty == pytest.approx(divergence / 2, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("sources", [None, "all", ["row-pattern"], ["column-pattern", "row-features"]])
@pytest.mark.parametrize("noise", [None, 0.5])
def test_the_energy_never_rises_and_rows_fold_in_to_themselves(
    sources: object, noise: float | None, tmp_path: Path
) -> None:
    observed, _ = _two_groups()
    als = make_estimator("als", rank=4, noise=noise, sources=sources, random_state=0).fit(observed)
    objectives = np.array(als.factor_fit_.objectives)
    held = 5  # priors are held so long, and their energy is another one
    assert (np.diff(objectives[held:]) <= 1e-9 * np.abs(objectives[held:-1])).all()
    np.testing.assert_allclose(als.estimate_.fold_in(observed), als.estimate_.to_dense(), atol=1e-8)
    als.estimate_.save(tmp_path / "kept.npz")
    loaded = LowRankEstimate.load(tmp_path / "kept.npz")
    np.testing.assert_array_equal(loaded.fold_in(observed), als.estimate_.fold_in(observed))


def test_rows_without_the_features_of_the_fit_are_told_of() -> None:
    """They are taken to be at the mean, which can move a row by half the range."""
    observed, _ = _two_groups()
    als = make_estimator("als", rank=2, random_state=0).fit(observed)
    bare = ObservedMatrix(observed.to_dense(np.nan), value_range=(1, 5))
    with pytest.warns(FeatureWarning, match="these rows have none"):
        found = als.estimate_.fold_in(bare)
    assert not np.allclose(found, als.estimate_.to_dense())


def test_people_of_whom_nothing_is_observed_are_predicted_from_their_features() -> None:
    observed, truth = _two_groups()
    errors = {
        sources: float(
            np.abs(
                make_estimator("als", rank=4, sources=sources, random_state=0)
                .fit(observed)
                .estimate_.rows(slice(-5, None))
                - truth[-5:]
            ).mean()
        )
        for sources in ("none", "row-features")
    }
    assert errors["none"] > 0.8
    assert errors["row-features"] < 0.4


def test_a_new_person_without_features_is_at_their_mean() -> None:
    observed, _ = _two_groups()
    als = make_estimator("als", rank=2, sources="row-features", random_state=0).fit(observed)
    mean = als.factor_fit_.row_mean
    assert isinstance(mean, PriorMean)
    empty = observed.scaled().values[-1:]
    np.testing.assert_array_equal(mean.of(empty, None), np.zeros((1, mean.weights.shape[1])))


def test_certificates_hold_where_rows_depend_on_their_values_alone() -> None:
    observed, _ = _two_groups()
    of_columns = make_estimator("als", rank=2, sources="column-features,column-pattern", random_state=0).fit(
        observed
    )
    assert not isinstance(of_columns.certificate_.regression, Unavailable)
    for sources, why in (("row-features", "other features"), ("row-pattern", "which entries were observed")):
        fitted = make_estimator("als", rank=2, sources=sources, random_state=0).fit(observed)
        assert why in str(fitted.certificate_.regression)


def test_names_are_checked_and_contradictions_refused() -> None:
    observed, _ = _two_groups()
    bare = ObservedMatrix(observed.values, value_range=(1, 5))
    assert checked_sources(None, bare) == () == checked_sources("none", observed)
    assert checked_sources("all", bare) == ("row-pattern", "column-pattern")
    for sources in ("everything", ["row-features", 3], 7, ["row-features"]):
        with pytest.raises(InputError, match="sources"):
            make_estimator("als", sources=sources).fit(bare)
    with pytest.raises(InputError, match="estimated"):
        make_estimator("als", sources="all", regularization=1.0).fit(observed)
    with pytest.raises(InputError, match="propensities"):
        make_estimator("als", sources="all", propensities="degrees").fit(observed)
    with pytest.raises(InputError, match="max_lipschitz"):
        make_estimator("als", sources="row-pattern", max_lipschitz=1.0).fit(observed)
    assert make_estimator("als", rank=2, regularization=1.0).fit(observed).sources_ == ()


def test_a_damaged_file_is_refused() -> None:
    observed, _ = _two_groups()
    folding = make_estimator("als", rank=2, random_state=0).fit(observed).estimate_.folding
    arrays = folding.to_arrays()
    with pytest.raises(InputError, match="missing"):
        type(folding).from_arrays(arrays | {"feature_centre": np.zeros(7)})


@pytest.mark.parametrize("unit", [1.0, 1e-300, 1e150])
def test_the_unit_of_a_feature_does_not_matter(unit: float) -> None:
    age = Features(
        sparse.csr_array([[20.0 * unit], [40.0 * unit], [np.nan]]), np.array(["age"]), np.array([True])
    )
    found = Coding.of(age).regressors(age).product(np.eye(1)).ravel()
    np.testing.assert_allclose(found, [-(1.5**0.5), 1.5**0.5, 0], atol=1e-12)


def test_the_factors_of_other_rows_take_their_features_into_account() -> None:
    rng = np.random.default_rng(0)
    known = with_features(
        ObservedMatrix(rng.uniform(-1, 1, (20, 8)), value_range=(-1, 1)), rows=rng.normal(size=(20, 2))
    )
    estimate = make_estimator("als", rank=2, random_state=0).fit(known).estimate_
    np.testing.assert_allclose(estimate.of_rows(known).to_dense(), estimate.to_dense(), atol=1e-9)


M, N = 60, 12


def drifting(seed=0, jump=1.5):
    """Levels of columns that jump after half of the time, the odd ones up and the even ones down."""
    rng = np.random.default_rng(seed)
    times = rng.permutation(M * N).astype(float)
    later = (times >= M * N / 2).reshape(M, N)
    tastes = rng.normal(size=(M, 1)) * rng.normal(size=N)
    values = 3 + tastes + jump * later * np.where(np.arange(N) % 2, 1, -1)
    return with_times(ObservedMatrix(values + rng.normal(0, 0.1, (M, N)), value_range=(-15, 21)), times)


def test_two_periods_by_hand():
    residuals = sparse.csr_array(np.array([[1.0, -1.0], [3.0, -3.0]]))
    drift = Drift.of(residuals, np.array([0.0, 0.0, 1.0, 1.0]), noise=1e-9, n_periods=2)
    # With hardly any noise the levels of the columns are the residuals, and nothing is left for the rows.
    np.testing.assert_allclose(drift.columns, [[1, 3], [-1, -3]], rtol=1e-6)
    np.testing.assert_allclose(drift.rows, 0, atol=1e-6)
    present = drift.to_present(residuals, np.array([0.0, 0.0, 1.0, 1.0]))
    np.testing.assert_allclose(present.toarray(), [[3, -3], [3, -3]], rtol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_levels_against_a_naive_reference(seed):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(4, 3)) * (rng.random((4, 3)) < 0.8)
    dense[0, 0] = 1.0
    residuals, noise = sparse.csr_array(dense), 0.5
    times = rng.integers(0, 4, residuals.nnz).astype(float)
    drift = Drift.of(residuals, times, noise, n_periods=3)
    columns = residuals.indices
    periods = [sum(time > edge for edge in drift.edges) for time in times]
    sums, counts = np.zeros((3, drift.edges.size + 1)), np.zeros((3, drift.edges.size + 1))
    for j, period, value in zip(columns, periods, residuals.data, strict=True):
        sums[j, period] += value
        counts[j, period] += 1
    variance = noise
    for _ in range(20):
        moments = [
            (sums[cell] / (counts[cell] + noise / variance)) ** 2 + noise / (counts[cell] + noise / variance)
            for cell in zip(*np.nonzero(counts), strict=True)
        ]
        variance = max(np.mean(moments), 1e-12 * noise)
    np.testing.assert_allclose(drift.columns, sums / (counts + noise / variance), rtol=1e-9, atol=1e-12)


def test_the_estimate_is_of_the_present():
    split = hold_out(drifting(), 0.2, by="time")
    errors = {}
    for sources in ("none", "time"):
        fitted = make_estimator("als", rank=2, sources=sources, random_state=0).fit(split.training)
        errors[sources] = np.abs(fitted.estimate_.entries(split.rows, split.columns) - split.values).mean()
    assert errors["time"] < errors["none"] / 2


@pytest.mark.slow
def test_auto_chooses_by_later_observations():
    fitted = make_estimator("auto", sources="time", random_state=0).fit(drifting())
    assert fitted.best_estimator_.sources_ == ("time",)


def test_rows_of_the_present_are_folded_in_and_no_constant_is_claimed(tmp_path):
    observed = drifting()
    fitted = make_estimator("als", rank=2, sources="time", random_state=0).fit(observed)
    assert isinstance(fitted.certificate_.regression, Unavailable)
    assert "present" in fitted.certificate_.regression.reason
    fitted.estimate_.save(tmp_path / "estimate.npz")
    loaded = LowRankEstimate.load(tmp_path / "estimate.npz")
    rows = observed.take_rows([0, 1])
    np.testing.assert_allclose(loaded.fold_in(rows), fitted.estimate_.fold_in(rows))
    assert loaded.folding.is_dated


def test_observations_without_a_time_do_not_move():
    observed = drifting()
    times = observed.times.copy()
    times[::3] = np.nan
    fitted = make_estimator("als", rank=2, sources="time", random_state=0).fit(with_times(observed, times))
    residuals = observed.scaled().values
    moved = fitted.drift_.to_present(residuals, times)
    np.testing.assert_array_equal(moved.data[::3], residuals.data[::3])


@pytest.mark.parametrize(
    ("times", "options", "said"),
    [
        (None, {}, "without times"),
        (np.zeros(M * N), {}, "all at one"),
        (np.arange(M * N), {"max_lipschitz": 1.0}, "max_lipschitz"),
        (np.arange(M * N), {"regularization": 1.0}, "estimated"),
    ],
)
def test_what_time_contradicts(times, options, said):
    with pytest.raises(InputError, match=said):
        make_estimator("als", rank=2, sources="time", **options).fit(with_times(drifting(), times))


def test_times_that_do_not_differ_are_no_source_where_all_are_asked_for():
    one = with_times(drifting(), np.zeros(M * N))
    assert make_estimator("als", rank=2, sources="all", random_state=0).fit(one).sources_ == (
        "row-pattern",
        "column-pattern",
    )
    for times in (None, np.zeros(M * N)):
        with pytest.raises(InputError) as refused:
            make_estimator("als", rank=2, sources="time").fit(with_times(drifting(), times))
        assert "split" not in str(refused.value)


@pytest.mark.parametrize("known", [2, 3])
def test_auto_leaves_time_out_where_the_latest_observations_are_no_part_to_compare_on(known, monkeypatch):
    """One that is known to be the latest tells nothing; where all but one are at the latest time nothing is left to learn from."""
    monkeypatch.setattr(auto_module, "FIRST", ())
    monkeypatch.setattr(auto_module, "LADDERS", ())
    monkeypatch.setattr(auto_module, "GRIDS", ())
    times = np.full(M * N, np.nan)
    times[:known] = np.arange(known)
    if known == 3:
        times[:] = 1.0
        times[0] = 0.0
    fitted = make_estimator("auto", sources="time", random_state=0).fit(with_times(drifting(), times))
    assert any(note.startswith("time is left out") for note in fitted.notes_)
    assert fitted.choice_.name == "biases"


def test_names_of_sources_may_have_spaces_between_them():
    fitted = make_estimator("als", rank=2, sources="time, row-pattern", random_state=0).fit(drifting())
    assert fitted.sources_ == ("row-pattern", "time")
