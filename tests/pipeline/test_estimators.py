"""An audit with any estimator: named or made, with a threshold or without one, converged or not."""

import json

import numpy as np
import pytest

from likewise import SVT, KNNRecommender, LowRankEstimate, ObservedMatrix, audit, make_estimator
from likewise.errors import EstimatorError, ModelError
from likewise.estimation import ESTIMATORS, LinearFolding, MatrixEstimator, as_estimator
from likewise.estimation.budget.regression import is_regression
from likewise.pipeline.summaries import summarise_estimate


class Unfinished(MatrixEstimator):
    """Gives the middle of the range, and says that it did not come to its end."""

    def __init__(self, working_range="symmetric", value_range=None, random_state=None, rule=None):
        self.working_range, self.value_range, self.random_state, self.rule = (
            working_range,
            value_range,
            random_state,
            rule,
        )

    def _estimate(self, observed):
        self.converged_, self.n_iter_, self.notes_ = False, 12, ("stopped early",)
        m, n = observed.shape
        nothing = (np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0)))
        return LowRankEstimate.from_factors(observed, self.working_range, nothing, LinearFolding())


@pytest.fixture
def observed():
    rng = np.random.default_rng(0)
    generous, liked = rng.uniform(-0.5, 0.5, (20, 1)), rng.uniform(-1, 1, 18)
    stars = np.clip(np.round(3 + 2 * (generous + liked + rng.normal(0, 0.2, (20, 18)))), 1, 5)
    stars[rng.random(stars.shape) < 0.4] = np.nan
    return ObservedMatrix(stars, value_range=(1, 5))


@pytest.mark.slow
def test_without_a_threshold_the_report_names_none(observed):
    report = audit(observed, estimator="biases", model="identity")
    summary = report.estimate
    assert summary.threshold is summary.threshold_name is summary.completeness is summary.regime is None
    assert "0 components beside the offsets" in report.details()
    assert "tau" not in report.details().split("Estimate")[1].split("Outputs")[0]
    assert any(note.startswith("biases regularised by") for note in summary.notes)
    document = json.loads(report.to_json())
    assert document["estimate"]["threshold"] is None
    assert document["certificates"]["k_star"]["kind"] == "unavailable"
    assert document["certificates"]["filled"]["kind"] == "proved"


@pytest.mark.slow
def test_without_a_threshold_the_spectrum_is_drawn_without_one(observed, tmp_path):
    report = audit(observed, estimator="biases", model="identity")
    assert len(report.plot_spectrum().lines) <= 1
    page = report.save(tmp_path / "report").read_text(encoding="utf-8")
    assert "Singular values of the estimate without its offsets: 0." in page


def test_what_did_not_converge_is_kept_and_flagged(observed):
    report = audit(observed, estimator=Unfinished(), model=lambda matrix: matrix.sum(axis=1) + np.arange(20))
    assert report.estimate.converged is False
    assert "NOT CONVERGED after 12 iterations" in report.details()
    assert "stopped early" in report.details()
    document = json.loads(report.to_json())
    assert (document["estimate"]["converged"], document["estimate"]["n_iter"]) == (False, 12)


def test_parameters_are_the_same_words_on_every_run(observed):
    rule = np.random.default_rng(0)
    for given, shown in (
        (rule, "a random generator"),
        (np.zeros(3), "array of shape (3,)"),
        (len, "len"),
        ((1, 2), [1, 2]),
    ):
        fitted = Unfinished(rule=given).fit(observed)
        assert summarise_estimate(fitted).parameters["rule"] == shown


def test_the_spectrum_of_a_centred_estimate_is_of_what_was_decomposed(observed):
    fitted = SVT(threshold=0.5, centering="biases").fit(observed)
    middle = fitted.estimate_
    scaled = np.where(np.isnan(observed.to_dense(np.nan)), np.nan, (observed.to_dense(np.nan) - 3) / 2)
    residuals = np.nan_to_num(scaled - middle.column_offsets - middle.row_offsets[:, None])
    expected = np.linalg.svd(residuals, compute_uv=False)
    kept = expected[expected > 0.5]
    assert 0 < kept.size < expected.size
    np.testing.assert_allclose(summarise_estimate(fitted).singular_values, kept, atol=1e-12)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        ("svd", "unknown estimator 'svd'; expected one of 'svt'.*did you mean 'svt'"),
        (np.mean, "as an estimator; expected one of 'svt'"),
        (3, "3 as an estimator"),
        (SVT, "as an estimator"),
    ],
)
def test_what_is_no_estimator_is_named(observed, estimator, message):
    with pytest.raises(EstimatorError, match=message):
        audit(observed, estimator=estimator)


@pytest.mark.parametrize("n_neighbors", [0, 1000])
def test_neighbours_that_there_are_not_are_told_before_the_estimate_is_fitted(
    observed, monkeypatch, n_neighbors
):
    monkeypatch.setattr(MatrixEstimator, "fit", lambda *_: pytest.fail("too late"))
    with pytest.raises(ModelError, match=f"n_neighbors(=| is ){n_neighbors}"):
        audit(observed, model=KNNRecommender(n_neighbors))


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_is_said_of_budgets_before_a_fit_is_so_after_it(observed, name):
    made = make_estimator(name, random_state=0).fit(observed)
    linear = made.rank_ > 0 and not made.estimate_.folding.not_linear
    assert made.no_budget or linear or is_regression(made.estimate_)
    assert bool(made.no_budget) == (name == "cai-candes-shen")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_options_are_those_of_the_estimator(name):
    assert type(make_estimator(name)) is ESTIMATORS[name]
    assert type(as_estimator(name)) is ESTIMATORS[name]
    with pytest.raises(EstimatorError, match=f"unknown option of {name} 'frobnicate'"):
        make_estimator(name, frobnicate=1)
