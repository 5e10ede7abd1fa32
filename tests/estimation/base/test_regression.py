"""Foldings as regressions: the map that a certificate speaks of is the one that fills rows."""

from __future__ import annotations

import numpy as np
import pytest

from likewise import ObservedMatrix, make_estimator
from likewise.certificates.regression import certify_regression
from likewise.certificates.regression_map import RegressionMap
from likewise.observations import clustered


def fitted(name, **options):
    data = clustered(60, 40, 3, observed_fraction=0.4, random_state=1)
    return make_estimator(name, random_state=0, **options).fit(data.observed)


ESTIMATORS = {
    "biases": ("biases", {}),
    "als, noise estimated": ("als", {"rank": 3}),
    "als, least squares": ("als", {"rank": 3, "regularization": 5.0}),
    "soft-impute": ("soft-impute", {"regularization": 2.0}),
    "soft-impute, zero-filled": ("soft-impute", {"regularization": 2.0, "centering": "none"}),
}


@pytest.fixture(scope="module", params=ESTIMATORS.values(), ids=ESTIMATORS)
def estimator(request):
    name, options = request.param
    return fitted(name, **options)


def new_rows(seed, m=30, n=40):
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, size=(m, n))
    values[rng.random((m, n)) > rng.uniform(0.05, 0.9, size=(m, 1))] = np.nan
    values[:, 0] = rng.uniform(-1, 1, size=m)  # nobody observed nothing
    return ObservedMatrix(values, value_range=(-1, 1))


def test_predicts_what_fold_in_does_before_clipping(estimator):
    estimate = estimator.estimate_
    regression = estimate.folding.regression(estimate)
    assert isinstance(regression, RegressionMap)
    rows = new_rows(0)
    scaled = rows.scaled("symmetric").values
    mine = [
        regression.offsets + a + regression.noise * regression.regressors @ u
        for u, a in regression.solve(scaled)
    ]
    folded = estimate.on_working_range().fold_in(rows)
    np.testing.assert_allclose(np.clip(mine, -1, 1), folded, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_no_pair_of_unseen_rows_exceeds_the_constant(estimator, seed):
    estimate = estimator.estimate_
    regression = estimate.folding.regression(estimate)
    rows = new_rows(seed)
    values = rows.scaled("symmetric").values
    proved = certify_regression(regression, values)
    folded = estimate.on_working_range().fold_in(rows)
    left, right = np.triu_indices(len(folded), 1)
    apart = np.linalg.norm(folded[left] - folded[right], axis=1)
    assert (apart <= proved.bound(values[left], values[right]) + 1e-9).all()


def test_maps_that_are_no_regressions_say_why():
    estimate = fitted("svt", threshold=4.0).estimate_
    assert "not regressions" in estimate.folding.regression(estimate)
