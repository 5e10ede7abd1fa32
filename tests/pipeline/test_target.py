"""An audit of outputs with a target: the error on the first screen is the accuracy against it."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

import likewise
from likewise.errors import InputError, ModelError, ShapeError
from likewise.fairness import RowDistance, target_accuracy
from likewise.observations import clustered
from likewise.report.checks import with_checks

RNG = np.random.default_rng(0)
PEOPLE = RNG.normal(size=(60, 3))
HIRED = np.where(PEOPLE[:, 0] + RNG.normal(size=60) > 0, "yes", "no")
SCORES = 1 / (1 + np.exp(-PEOPLE[:, 0]))
D = RowDistance(PEOPLE)


@pytest.mark.slow
def test_terminal_page_and_json_name_it_in_place_of_the_error(tmp_path):
    report = likewise.audit(D, outputs=SCORES, target=HIRED)
    expected = target_accuracy(SCORES, HIRED)
    area, ends = expected.first.value, expected.first.interval
    row = f"{area:.3g} [{ends.low:.3g}, {ends.high:.3g}]"
    told = report.to_dict()
    assert told["answer"]["rows"][1] == {"label": "accuracy (AUC)", "values": [row], "change": ""}
    assert told["arms"]["outputs"]["accuracy"]["values"]["AUC"]["value"] == area
    assert any(line.split() == ["accuracy", "(AUC)", *row.split()] for line in str(report).splitlines())
    report.save(tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text()
    assert "accuracy (AUC)" in page
    assert row in page
    assert "Against the target, by the outputs as they were given: AUC" in " ".join(report.details().split())
    again = likewise.load(tmp_path / "report")
    assert again.arms["outputs"].accuracy == report.arms["outputs"].accuracy


def test_two_sets_of_outputs_say_what_a_change_costs():
    other = PEOPLE[:, 1]
    report = likewise.audit(D, outputs={"old": SCORES, "new": other}, target=HIRED)
    before, after = (target_accuracy(each, HIRED).first.value for each in (SCORES, other))
    assert f"the AUC falls ({before:.3g} before, {after:.3g} after)" in report.findings[0]
    numbers = likewise.audit(D, outputs={"old": PEOPLE[:, 0], "new": other}, target=PEOPLE[:, 0] + 0.1)
    assert "the RMSE rises (0.1 before" in numbers.findings[0]
    assert numbers.to_dict()["answer"]["rows"][1]["label"] == "error (RMSE)"


@pytest.mark.parametrize(("check", "status"), [("auc>=0.99", "broken"), ("auc>=0.1", "holds")])
def test_checks_are_held_against_it(check, status):
    report = likewise.audit(D, outputs=SCORES, target=HIRED)
    assert with_checks(report, [check]).checks[0].status == status


def test_a_difference_of_two_reports_has_it():
    old, new = (likewise.audit(D, outputs=each, target=HIRED).to_dict() for each in (SCORES, PEOPLE[:, 1]))
    from likewise.report.difference import difference

    rows = {row[0]: row[1:] for row in difference(old, json.loads(json.dumps(new))).rows}
    assert rows["AUC, of the target"][0] == f"{target_accuracy(SCORES, HIRED).first.value:.4g}"


@pytest.mark.parametrize(
    ("target", "error", "words"),
    [
        (HIRED[:-1], ShapeError, "one value for each of 60 individuals"),
        (["yes"] * 60, InputError, "the same for all of them"),
        ([None] * 60, InputError, "known of nobody"),
    ],
)
def test_a_target_that_cannot_be_used_is_refused_before_the_work(target, error, words):
    with pytest.raises(error, match=words):
        likewise.audit(D, outputs=SCORES, target=target)


def test_a_distance_between_outputs_tells_no_target():
    with pytest.raises(InputError, match="outputs that are lists or a distance"):
        likewise.audit(D, outputs=RowDistance(SCORES[:, None]), target=HIRED)


def test_whose_target_is_unknown_is_left_out_and_counted():
    some = [None, *HIRED[1:]]
    found = likewise.audit(D, outputs=SCORES, target=some)
    assert found.arms["outputs"].accuracy.n_unknown == 1
    assert "1 whose target is unknown are left out" in " ".join(found.details().split())


@pytest.mark.slow
def test_a_model_is_judged_by_fits_that_have_not_seen_the_target():
    """Nearest neighbours of one recall what they have seen: all right; of a target that is a coin, others are told as by chance."""
    data = clustered(60, 40, 3, observed_fraction=0.5, random_state=0).observed
    coin = np.random.default_rng(1).integers(0, 2, 60)
    report = likewise.audit(data, model=KNeighborsClassifier(1), target=coin, estimator="svt")
    for arm in report.arms.values():
        assert 0.2 < arm.accuracy.values["accuracy"].value < 0.8
        assert "had not seen" in arm.accuracy.predicted_by
    assert report.to_dict()["answer"]["rows"][1]["label"] == "accuracy (share right)"
    assert "not measured" not in report.findings[0]


def test_a_target_with_missing_values_is_nothing_to_learn_from():
    data = clustered(20, 10, 2, observed_fraction=0.5, random_state=0).observed
    with pytest.raises(ModelError, match="NaN"):
        likewise.audit(data, model=LinearRegression(), target=[np.nan, *range(19)], estimator="svt")
