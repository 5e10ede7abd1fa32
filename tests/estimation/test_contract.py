"""What every estimator of the register keeps, whatever its method: a new one inherits these checks by its name."""

import inspect
import json
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from likewise import LowRankEstimate, ObservedMatrix, audit, make_estimator
from likewise.errors import EstimatorError, InputError, ObservationError, ShapeError
from likewise.estimation import ESTIMATORS, MatrixEstimator
from likewise.estimation.auto.candidates import Plan
from likewise.estimation.registry import options_of
from likewise.fairness import AffineCertificate, Certificate, LipschitzCertificates, Unavailable

QUICK: dict[str, dict] = {
    "svt": {"threshold": 1.0},
    "soft-impute": {"regularization": 0.5},
    "cai-candes-shen": {"tol": 0.01, "max_iter": 5000},
    "auto": {"time_budget": 0.25},
}
"""Options with which an estimator has something to say on small data, soon, and converges."""

CHECKS: list[Callable] = []
pytestmark = pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")


@pytest.fixture(autouse=True)
def no_clock(monkeypatch):
    """What `auto` tries follows from its plan; on a busy computer a budget of a quarter of a second would end some fits early."""
    monkeypatch.setattr(Plan, "over", lambda _: False)


def check(function):
    CHECKS.append(function)
    return function


def made(name, **options) -> MatrixEstimator:
    return make_estimator(name, **{"random_state": 0, **QUICK.get(name, {}), **options})


def ratings(m=24, n=15, share=0.5, seed=0):
    """Whole stars of two kinds of people; NaN where nothing was observed."""
    rng = np.random.default_rng(seed)
    tastes = rng.uniform(-1, 1, (2, n))[rng.integers(0, 2, m)]
    stars = np.clip(np.round(3 + 2 * tastes + rng.normal(0, 0.4, (m, n))), 1, 5)
    stars[rng.random((m, n)) >= share] = np.nan
    stars[:, 0], stars[0] = np.resize([1.0, 5.0], m), 3.0
    return stars


def observed_ratings(**options):
    return ObservedMatrix(ratings(**options), value_range=(1, 5))


@check
def what_is_no_interval_and_no_seed_is_told(name):
    for option, match in (
        ({"working_range": "foo"}, "unknown working_range 'foo'"),
        ({"random_state": "abc"}, "random_state='abc'"),
    ):
        with pytest.raises(InputError, match=match):
            made(name, **option).fit(observed_ratings())


@check
def fit_returns_itself_and_leaves_what_the_base_promises(name):
    estimator, Z = made(name), observed_ratings()
    assert estimator.fit(Z) is estimator
    assert isinstance(estimator.estimate_, LowRankEstimate)
    assert estimator.observed_ is Z
    assert estimator.rank_ == estimator.estimate_.rank == estimator.singular_values_.size
    assert estimator.threshold_ is None or estimator.threshold_ >= 0
    assert estimator.converged_ in (None, True, False)
    assert estimator.n_iter_ is None or estimator.n_iter_ > 0
    assert all(isinstance(note, str) for note in estimator.notes_)


@check
def every_way_to_read_the_estimate_agrees(name):
    estimate = made(name).fit(observed_ratings()).estimate_
    dense = estimate.to_dense()
    assert dense.shape == (24, 15)
    assert ((dense >= 1) & (dense <= 5)).all()
    i, j = np.indices(dense.shape)
    np.testing.assert_allclose(estimate.entries(i.ravel(), j.ravel()).reshape(dense.shape), dense, atol=1e-12)
    np.testing.assert_allclose(np.vstack([block for _, block in estimate.blocks()]), dense, atol=1e-12)
    np.testing.assert_allclose(estimate.rows([3, 1]), dense[[3, 1]], atol=1e-12)
    np.testing.assert_allclose(estimate.on_working_range().to_dense(), (dense - 3) / 2, atol=1e-12)


@check
def the_estimate_is_nearer_than_the_middle_of_the_range(name):
    """On what was observed: any estimator must know more than nothing."""
    stars = ratings()
    dense = made(name).fit(ObservedMatrix(stars, value_range=(1, 5))).estimate_.to_dense()
    assert np.nanmean((dense - stars) ** 2) < np.nanmean((3 - stars) ** 2)


@check
def rows_never_seen_are_filled(name):
    complete = made(name).fit(observed_ratings()).transform(ratings(m=7, seed=5))
    assert complete.shape == (7, 15)
    assert ((complete >= 1) & (complete <= 5)).all()


@check
def a_row_is_filled_alike_alone_and_among_others(name):
    estimator, others = made(name).fit(observed_ratings()), ratings(m=7, seed=5)
    together = estimator.transform(others)
    np.testing.assert_allclose(np.vstack([estimator.transform(row[None]) for row in others]), together)


@check
def a_row_of_the_fit_is_folded_in_to_its_estimate(name):
    """Exactly where folding is linear; a regression on the factors comes to it as the iterations converge."""
    Z = observed_ratings()
    estimator = made(name).fit(Z)
    accuracy = 0.1 if estimator.estimate_.folding.not_linear else 1e-9
    difference = estimator.transform(Z) - estimator.estimate_.to_dense()
    assert np.sqrt((difference**2).mean()) < accuracy


@check
def a_row_without_an_observation_is_filled_with_what_is_known_of_the_columns(name):
    estimator = made(name).fit(observed_ratings())
    nothing = estimator.transform(np.full((2, 15), np.nan))
    offsets = estimator.estimate_.column_offsets
    expected = 3 + 2 * np.clip(np.zeros(15) if offsets is None else offsets, -1, 1)
    np.testing.assert_allclose(nothing, np.tile(expected, (2, 1)), atol=1e-9)


@check
def rows_and_columns_without_an_observation_have_an_estimate(name):
    stars = ratings()
    stars[5], stars[:, 7] = np.nan, np.nan
    estimator = made(name).fit(ObservedMatrix(stars, value_range=(1, 5)))
    dense = estimator.estimate_.to_dense()
    assert ((dense >= 1) & (dense <= 5)).all()
    assert "1 of 24 rows have no observation" in estimator.observed_.notes
    assert "1 of 15 columns have no observation" in estimator.observed_.notes


@check
def a_stored_zero_is_an_observation(name):
    """Zeros that are stored pull the estimate of a column down to them; the same entries missing do not."""
    values = np.where(np.isnan(ratings()), np.nan, ratings() - 1)
    values[:, 3] = np.nan
    zeros = values.copy()
    zeros[::2, 3] = 0.0
    i, j = np.nonzero(~np.isnan(zeros))
    stored = sparse.csr_array((zeros[i, j], (i, j)), shape=zeros.shape)
    assert (stored.data == 0).any()
    from_stored, from_dense, without = (
        made(name, value_range=(0, 4)).fit(X).estimate_.to_dense() for X in (stored, zeros, values)
    )
    np.testing.assert_allclose(from_stored, from_dense)
    assert from_stored[:, 3].mean() < without[:, 3].mean() - 0.1


@check
def arrays_sparse_matrices_and_observed_matrices_give_the_same(name):
    stars = ratings()
    i, j = np.nonzero(~np.isnan(stars))
    stored = sparse.coo_array((stars[i, j], (i, j)), shape=stars.shape)
    results = [
        made(name, value_range=(1, 5)).fit(X).estimate_.to_dense()
        for X in (stars, stored, ObservedMatrix(stars, value_range=(1, 5)))
    ]
    np.testing.assert_allclose(results[1], results[0])
    np.testing.assert_allclose(results[2], results[0])


@check
def other_units_give_the_same_in_those_units(name):
    stars = ratings()
    plain = made(name, value_range=(1, 5)).fit_transform(stars)
    shifted = made(name, value_range=(-90, -50)).fit_transform(10 * stars - 100)
    np.testing.assert_allclose((shifted + 100) / 10, plain, atol=1e-6)


@check
def the_unit_interval_is_taken_too(name):
    estimator = made(name, working_range="unit").fit(observed_ratings())
    assert estimator.estimate_.scale.bounds == (0.0, 1.0)
    on_unit = estimator.estimate_.on_working_range().to_dense()
    np.testing.assert_allclose(estimator.estimate_.to_dense(), 1 + 4 * on_unit)


@check
def the_same_seed_gives_the_same_and_a_clone_is_fresh(name):
    first = made(name).fit(observed_ratings())
    copy = clone(first)
    assert not hasattr(copy, "estimate_")
    assert repr(copy.get_params()) == repr(first.get_params())
    np.testing.assert_array_equal(
        copy.fit(observed_ratings()).estimate_.to_dense(), first.estimate_.to_dense()
    )


@check
def a_second_fit_forgets_the_first(name):
    twice = made(name).fit(observed_ratings(seed=3))
    kept = twice.certificate_
    twice.fit(observed_ratings())
    assert twice.certificate_ is not kept
    np.testing.assert_allclose(
        twice.estimate_.to_dense(), made(name).fit(observed_ratings()).estimate_.to_dense()
    )


@check
def an_estimate_comes_back_from_its_file(name):
    import tempfile
    from pathlib import Path

    estimate = made(name).fit(observed_ratings()).estimate_
    with tempfile.TemporaryDirectory() as folder:
        estimate.save(Path(folder) / "estimate.npz")
        loaded = LowRankEstimate.load(Path(folder) / "estimate.npz")
    np.testing.assert_array_equal(loaded.to_dense(), estimate.to_dense())
    np.testing.assert_array_equal(
        loaded.fold_in(ratings(m=4, seed=9)), estimate.fold_in(ratings(m=4, seed=9))
    )
    assert type(loaded.folding) is type(estimate.folding)


@check
def an_estimator_comes_back_from_its_file(name):
    import tempfile
    from pathlib import Path

    import likewise

    estimator = made(name).fit(observed_ratings())
    with tempfile.TemporaryDirectory() as folder:
        likewise.save(estimator, Path(folder) / "estimator.npz")
        loaded = likewise.load(Path(folder) / "estimator.npz")
    assert type(loaded) is type(estimator)
    assert repr(loaded.get_params()) == repr(estimator.get_params())
    new = ratings(m=4, seed=9)
    np.testing.assert_array_equal(loaded.transform(new), estimator.transform(new))
    assert loaded.notes_ == estimator.notes_
    assert repr(loaded.observed_) == repr(estimator.observed_)
    assert {key for key in vars(loaded) if key.endswith("_")} == {
        key for key in vars(estimator) if key.endswith("_")
    }
    assert loaded.certificate_.to_dict() == estimator.certificate_.to_dict()


@check
def the_certificate_says_what_is_proved_or_why_nothing_is(name):
    estimator = made(name).fit(observed_ratings())
    constants = estimator.certificate_
    assert isinstance(constants, LipschitzCertificates)
    for constant in (*constants, constants.seen):
        assert isinstance(constant, Certificate | AffineCertificate | Unavailable)
        assert constant.reason if isinstance(constant, Unavailable) else constant.function
    json.dumps(constants.to_dict())
    assert isinstance(constants.k_star, Certificate) or constants.k_star.reason


@check
def no_pair_of_rows_exceeds_a_constant_on_zero_filled_rows(name):
    estimator = made(name).fit(observed_ratings())
    if isinstance(estimator.certificate_.k_star, Unavailable):
        return
    stars = ratings(m=60, seed=8)
    rows = np.where(np.isnan(stars), 0.0, (stars - 3) / 2)
    out = (estimator.transform(stars) - 3) / 2
    d = np.abs(rows[:, None] - rows[None]).sum(axis=2)
    D = np.sqrt(((out[:, None] - out[None]) ** 2).sum(axis=2))
    assert estimator.certificate_.k_star.holds_for(d, D, slack=1e-9).holds


@check
def propensities_weigh_or_are_refused_with_a_reason(name):
    """Equal ones change nothing; unequal ones change the estimate, are told, and hold for the rows of the fit when they are folded in."""
    if "propensities" not in options_of(name):
        with pytest.raises(EstimatorError, match="propensities"):
            made(name, propensities="degrees")
        return
    Z, plain = observed_ratings(), made(name).fit(observed_ratings())
    equal = made(name, propensities=np.full(Z.shape, Z.observed_fraction)).fit(Z)
    np.testing.assert_allclose(equal.estimate_.to_dense(), plain.estimate_.to_dense(), atol=1e-9)
    weighted = made(name, propensities="degrees").fit(Z)
    assert abs(weighted.estimate_.to_dense() - plain.estimate_.to_dense()).max() > 1e-3
    assert weighted.propensities_.method == "degrees"
    assert set(weighted.propensities_.notes) <= set(weighted.notes_)
    assert weighted.estimate_.folding.weighting is weighted.propensities_.weighting
    difference = weighted.transform(Z) - weighted.estimate_.to_dense()
    assert np.sqrt((difference**2).mean()) < 0.1


@check
def bad_observations_are_named(name):
    with pytest.raises((ObservationError, ValueError), match=r"."):
        made(name).fit(np.full((4, 3), np.nan))
    with pytest.raises(ShapeError):
        made(name).fit(observed_ratings()).estimate_.fold_in(np.ones((2, 4)))


@check
def an_audit_takes_it_by_name_or_as_it_is(name):
    Z = observed_ratings()
    for estimator in (name, made(name)):
        report = audit(Z, estimator=estimator, model="identity", hold_out=0.2)
        assert type(ESTIMATORS[name]()).__name__ in report.estimate.estimator
        assert report.estimate.threshold is None or report.estimate.threshold >= 0
        assert "Estimate" in report.details()
        document = json.loads(report.to_json())
        assert document["estimate"]["rank"] == report.estimate.rank
        assert set(document["estimate"]["parameters"]) == set(made(name).get_params())
        report.plot_spectrum()


MANY_FITS = {"auto", "mixture", "cai-candes-shen"}
"""What makes many fits, or many steps, of one."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in MANY_FITS)) for name in ESTIMATORS]
)
@pytest.mark.parametrize("function", CHECKS, ids=lambda function: function.__name__)
def test_contract(name, function):
    function(name)


@pytest.mark.slow
@parametrize_with_checks([made(name) for name in ESTIMATORS])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_no_check_is_lost():
    """A check that nobody collects passes for ever."""
    written = [
        function
        for name, function in globals().items()
        if inspect.isfunction(function)
        and function.__module__ == __name__
        and [*inspect.signature(function).parameters] == ["name"]
        and not name.startswith("test_")
    ]
    assert written == CHECKS
    for name in ESTIMATORS:
        checks = {check.func.__name__ for _, check in estimator_checks_generator(made(name))}
        assert {"check_estimators_dtypes", "check_fit_idempotent", "check_transformer_general"} <= checks
