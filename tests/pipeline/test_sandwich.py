"""measured <= found <= proved, for every estimator, model and working range; and the estimate itself beside an algorithm."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA

import likewise
from likewise.certificates import individual_constants
from likewise.errors import InputError
from likewise.inference import SmoothNeighborModel
from likewise.observations import clustered
from likewise.pipeline import sandwich

OPTIONS = {"progress": False, "reference": "observed", "hold_out": 0.1}


def in_order(sandwich):
    assert sandwich.measured <= sandwich.found
    if sandwich.proved is not None:
        assert sandwich.found <= sandwich.proved


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::likewise.errors.ConstantOutputWarning")
@pytest.mark.parametrize("working_range", ["symmetric", "unit"])
@pytest.mark.parametrize("model", ["identity", "knn", SmoothNeighborModel(2.0), PCA(3)], ids=str)
@pytest.mark.parametrize("name", ["svt", "als", "soft-impute", "biases"])
@settings(
    max_examples=1, deadline=None, phases=[Phase.generate]
)  # an audit each: shrinking would take minutes
@given(seed=st.integers(0, 10**6))
def test_the_three_are_in_order(seed, name, model, working_range):
    data = clustered(40, 30, 3, observed_fraction=0.5, random_state=seed).observed
    estimator = likewise.make_estimator(name, working_range=working_range, random_state=seed)
    report = likewise.audit(data, estimator=estimator, model=model, random_state=seed, **OPTIONS)
    for arm in report.arms.values():
        if arm.sandwich is not None:
            in_order(arm.sandwich)
            assert arm.sandwich.proved == getattr(arm.certificate, "value", None)
    if report.estimate_alone is not None:
        in_order(report.estimate_alone.sandwich)


DATA = clustered(40, 60, 3, observed_fraction=0.5, random_state=2).observed


def test_identity_has_the_constant_one_and_attains_it():
    report = likewise.audit(DATA, estimator="svt", model="identity", **OPTIONS)
    before, after = (report.arms[name].sandwich for name in ("without", "with"))
    assert before.proved == pytest.approx(1.0, abs=1e-9)
    assert before.attained > 0.999
    assert (
        after.attained > 0.999
    )  # the largest row of a linear map is attained by two rows that differ in one feature
    assert report.estimate_alone is None  # the outputs are the estimate


def test_what_jumps_is_found_out():
    """Nearest neighbours have no constant, and the search shows that none could hold."""
    report = likewise.audit(DATA, estimator="svt", **OPTIONS)
    assert report.arms["with"].sandwich.proved is None
    assert report.arms["with"].sandwich.found > 20 * report.arms["with"].sandwich.measured


@pytest.mark.slow
def test_the_estimate_stands_beside_an_algorithm_everywhere():
    report = likewise.audit(DATA, estimator="als", random_state=0, progress=False, reference="observed")
    beside = report.estimate_alone
    constant = report.certificates.regression.certificate.value
    assert beside.sandwich.proved == beside.certificate.value == constant
    assert beside.error.rmse > 0
    line = "The estimate itself, without the algorithm:"
    for text in (" ".join(str(report).split()), report._repr_html_(), report.to_json()):
        assert line in text
    assert "measured, found, proved" in " ".join(str(report).split())
    document = json.loads(report.to_json())
    assert document["estimate_alone"]["sandwich"]["proved"] == constant
    assert document["arms"]["with"]["sandwich"]["proved"] is None
    assert document["arms"]["with"]["sandwich"]["n_pairs"] == 40 * 39 // 2


def test_many_people_are_drawn_and_it_is_said():
    data = clustered(320, 20, 3, observed_fraction=0.5, random_state=0).observed
    report = likewise.audit(data, estimator="svt", model="identity", **OPTIONS)
    found = report.arms["with"].sandwich
    assert (found.drawn, found.n_individuals, found.n_pairs) == (True, 300, 44_850)


def test_how_many_people_are_measured_can_be_told():
    """With everybody, the largest ratio is that of all pairs; with some, those of the worst pairs are among them."""
    options = {**OPTIONS, "hold_out": 0.0, "model": "identity", "estimator": "svt"}
    some = likewise.audit(DATA, sandwich_individuals=12, **options)
    everybody = likewise.audit(DATA, **options)
    for name, arm in some.arms.items():
        found = arm.sandwich
        assert (found.drawn, found.n_individuals, found.n_pairs) == (True, 12, 66)
        assert found.measured == pytest.approx(everybody.arms[name].sandwich.measured, rel=1e-6)
        assert found.measured == pytest.approx(arm.fairness.max_ratio.value, rel=1e-5)
    assert some.settings["sandwich_individuals"] == 12


@pytest.mark.parametrize("size", [1, 0, -3, 2.5, "all", np.nan, True])
def test_less_than_a_pair_is_refused(size):
    with pytest.raises(InputError, match="sandwich_individuals"):
        likewise.audit(DATA, sandwich_individuals=size, **OPTIONS)


def test_of_outputs_from_elsewhere_it_has_no_meaning():
    with pytest.raises(InputError, match="sandwich_individuals beside outputs computed elsewhere"):
        likewise.audit(DATA, outputs=np.arange(40.0), sandwich_individuals=10, progress=False)


@given(data=st.data(), k=st.integers(2, 40), block=st.integers(1, 50))
@settings(max_examples=25)
def test_the_worst_pairs_are_those_of_all_ratios(data, k, block):
    """Block by block as at once: the naive way, over every pair."""
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    rows, outputs = rng.normal(size=(k, 4)), rng.normal(size=(k, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandwich, "_BLOCK", block)
        largest, pairs = sandwich._rows_of_worst_pairs(
            sandwich._Question(lambda rows: rows, "l1"), rows, outputs
        )
    D = np.linalg.norm(outputs[:, None] - outputs, axis=2)
    d = np.abs(rows[:, None] - rows).sum(axis=2)
    i, j = np.triu_indices(k, 1)
    naive = D[i, j] / d[i, j]
    order = np.argsort(-naive, kind="stable")[: sandwich._STARTS]
    np.testing.assert_allclose(largest, naive[order], rtol=1e-5)
    np.testing.assert_allclose(D[tuple(pairs.T)] / d[tuple(pairs.T)], naive[order], rtol=1e-5)


@pytest.mark.slow
def test_individuals_with_the_largest_constants_are_named():
    """One who observed a single feature has nearly the constant of all; those who observed more have less."""
    values = DATA.to_dense(np.nan)
    values[7, 1:] = np.nan
    values[7, 0] = np.nanmin(values)
    few = likewise.ObservedMatrix(
        values, value_range=DATA.value_range, row_ids=np.array([f"p{i}" for i in range(40)])
    )
    estimator = likewise.make_estimator("als", random_state=0)
    report = likewise.audit(few, estimator=estimator, model=SmoothNeighborModel(2.0), **OPTIONS)
    itself, smooth = report.estimate_alone.sandwich, report.arms["with"].sandwich
    alone = individual_constants(report.certificates.regression, few.scaled("symmetric").values[[7]])[0]
    assert itself.own.largest[0].individual == "p7"
    assert itself.own.median < itself.own.largest[0].constant <= itself.proved
    assert itself.own.largest[0].constant == pytest.approx(alone, rel=1e-9)
    assert smooth.own.largest[0].constant == pytest.approx(2 * alone, rel=1e-9)
    for text in (" ".join(report.details().split()), report._repr_html_()):
        assert "the largest for p7 (" in text
    document = json.loads(report.to_json())["estimate_alone"]["sandwich"]["own"]
    assert document["largest"][0]["individual"] == "p7"
    assert document["n_individuals"] == itself.own.n_individuals <= 40


def test_arms_without_a_regression_have_no_constants_of_individuals():
    report = likewise.audit(DATA, estimator="svt", model="identity", **OPTIONS)
    assert all(arm.sandwich.own is None for arm in report.arms.values())


def test_outputs_from_elsewhere_have_none():
    report = likewise.audit(DATA, outputs=np.arange(40.0), progress=False)
    assert report.arms["outputs"].sandwich is None
    assert report.estimate_alone is None
    assert "measured, found" not in str(report)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::likewise.errors.ConstantOutputWarning")
@pytest.mark.parametrize("model", ["identity", SmoothNeighborModel(2.0)], ids=str)
def test_what_is_found_and_what_is_proved_are_of_one_distance(tmp_path, model):
    """The estimate of biases has two constants, from rows with the empty entry as a point and, smaller, from filled rows: all that is told side by side is of the first."""
    data = clustered(80, 60, 3, observed_fraction=0.5, random_state=0).observed
    path = tmp_path / "own.csv"
    report = likewise.audit(
        data, estimator="biases", model=model, individual_constants=path, random_state=0, **OPTIONS
    )
    arm, regression = report.main_arm, report.certificates.regression
    assert report.certificates.filled.value < regression.certificate.value
    alone = report.estimate_alone
    for told in filter(None, [arm, alone]):
        in_order(told.sandwich)
        assert told.certificate.from_norm == regression.certificate.from_norm
    itself = alone or arm
    assert itself.sandwich.found > 0.999 * regression.certificate.value
    own = report.individual_constants
    k1 = arm.certificate.value / regression.certificate.value
    np.testing.assert_allclose(own.outputs, k1 * own.estimate, rtol=1e-9)
    assert k1 >= 1 - 1e-9
