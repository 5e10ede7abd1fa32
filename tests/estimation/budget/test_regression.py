from __future__ import annotations

import numpy as np
import pytest

from likewise import make_estimator
from likewise.certificates.regression import certify_regression
from likewise.errors import EstimatorError
from likewise.estimation.budget.regression import within_regression_budget
from likewise.observations import clustered

ESTIMATORS = {
    "biases": ("biases", {}),
    "als, noise estimated": ("als", {"rank": 3}),
    "als, least squares": ("als", {"rank": 3, "regularization": 5.0}),
    "soft-impute": ("soft-impute", {"regularization": 2.0}),
    "soft-impute, zero-filled": ("soft-impute", {"regularization": 2.0, "centering": "none"}),
}


@pytest.fixture(scope="module")
def data():
    return clustered(60, 40, 3, observed_fraction=0.4, random_state=1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), ESTIMATORS.values(), ids=ESTIMATORS)
@pytest.mark.parametrize("share", [0.9, 0.3, 0.05])
def test_the_proved_constant_is_within_the_budget_and_uses_it_up(data, name, options, share):
    estimate = make_estimator(name, random_state=0, **options).fit(data.observed).estimate_
    values = data.observed.scaled("symmetric").values
    before = certify_regression(estimate.folding.regression(estimate), values).certificate.value
    found = within_regression_budget(estimate, values, share * before)
    after = certify_regression(found.estimate.folding.regression(found.estimate), values).certificate.value
    assert share * before * (1 - 1e-6) <= after <= share * before
    assert found.strength > 1
    np.testing.assert_allclose(found.estimate.to_dense(), found.estimate.fold_in(data.observed), atol=1e-9)


def test_by_hand():
    """Rows have an offset alone, lambda = 3, n = 4: the constant is sqrt(4) / (1 + 3 t), which is 1/8 at t = 5."""
    data = clustered(20, 4, 2, observed_fraction=0.9, random_state=0)
    estimate = make_estimator("biases", regularization=3.0, random_state=0).fit(data.observed).estimate_
    found = within_regression_budget(estimate, data.observed.scaled("symmetric").values, 1 / 8)
    assert found.strength == pytest.approx(5.0, rel=1e-6)


@pytest.mark.parametrize(("name", "options"), ESTIMATORS.values(), ids=ESTIMATORS)
def test_a_loose_budget_changes_nothing(data, name, options):
    estimate = make_estimator(name, random_state=0, **options).fit(data.observed).estimate_
    found = within_regression_budget(estimate, data.observed.scaled("symmetric").values, 1e6)
    assert found.estimate is estimate
    assert found.strength == 1


def test_what_is_no_regression_is_refused(data):
    estimate = make_estimator("svt", threshold=4.0).fit(data.observed).estimate_
    with pytest.raises(EstimatorError, match="not regressions"):
        within_regression_budget(estimate, data.observed.scaled("symmetric").values, 0.5)


@pytest.mark.parametrize("limit", [np.float32(0.5), np.float32(0.1), 1e-12, 1e-40])
def test_any_limit_is_met_in_double_precision(data, limit):
    """Half a unit of single precision is more than what is left for rounding."""
    estimate = make_estimator("soft-impute", random_state=0, regularization=2.0).fit(data.observed).estimate_
    values = data.observed.scaled("symmetric").values
    held = within_regression_budget(estimate, values, limit).estimate
    proved = certify_regression(held.folding.regression(held), values).certificate.value
    assert float(limit) * (1 - 1e-6) <= proved <= float(limit)
