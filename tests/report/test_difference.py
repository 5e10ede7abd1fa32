"""Two reports held against each other."""

import json

import numpy as np
import pytest

import likewise
from likewise import SVT
from likewise.errors import FileFormatError
from likewise.fairness import RowDistance
from likewise.observations import clustered
from likewise.report.difference import difference
from likewise.report.json_document import SCHEMA, SCHEMA_VERSION


def audited(noise, m=200, **options):
    rng = np.random.default_rng(0)
    skill = rng.normal(size=m)
    return likewise.audit(RowDistance(skill), outputs=skill + noise * rng.normal(size=m), **options)


def test_better_worse_cannot_be_told():
    fair, unfair = audited(0.01).to_dict(), audited(2.0).to_dict()
    assert difference(unfair, fair).sentence.startswith("Better:")
    assert difference(fair, unfair).sentence.startswith("Worse:")
    assert difference(fair, fair).sentence.startswith("Cannot be told of fairness:")


def test_numbers_are_those_of_the_reports():
    before, after = audited(0.5), audited(1.0)
    rows = {row[0]: row[1:] for row in difference(before.to_dict(), after.to_dict()).rows}
    old, new = (report.arms["outputs"].fairness.mean_ratio.value for report in (before, after))
    assert rows["mean ratio D/d"] == (f"{old:.4g}", f"{new:.4g}", f"{round(100 * (new - old) / old):+d}%")
    assert "error (RMSE)" not in rows


def test_other_data_and_settings_are_said():
    found = difference(audited(0.5).to_dict(), audited(0.5, m=150, nearest_share=0.2).to_dict())
    assert found.data == ("Data differ: individuals 200 before, 150 after.",)
    assert "Setting nearest_share: 0.1 before, 0.2 after." in found.settings
    assert found.sentence.endswith("the data differ, too.")
    assert "Setting nearest_share" in str(found)


@pytest.fixture(scope="module")
def of_estimators():
    """Audits of the same ratings with an estimator that predicts, and with one that is held to a budget."""
    observed = clustered(60, 40, 3, observed_fraction=0.5, noise=0.1, random_state=0).observed
    estimators = SVT(threshold=2.0), SVT(threshold=2.0, max_lipschitz=0.01)
    return [likewise.audit(observed, estimator=one, reference="observed").to_dict() for one in estimators]


def test_estimators_and_arms_are_named(of_estimators):
    found = difference(*of_estimators)
    assert found.settings[0].startswith(
        "Estimator: SVT(random_state=0, threshold=2.0) before, SVT(max_lipschitz=0.01,"
    )
    assert [line.split(":")[0] for line in found.arms] == ["Old", "New"]
    assert all("with pre-processing (10 nearest neighbours, on the estimate)." in line for line in found.arms)
    assert found.arms[1] in str(found)
    assert difference(of_estimators[0], of_estimators[0]).settings == ()


def test_an_error_whose_intervals_lie_apart_is_told_whatever_the_gaps_say(of_estimators):
    old, new = (document["arms"]["with"]["error"] for document in of_estimators)
    assert new["rmse_interval"]["low"] > old["rmse_interval"]["high"]
    assert f"; the error is larger: {new['rmse']:.3g} [" in difference(*of_estimators).sentence
    assert f"; the error is smaller: {old['rmse']:.3g} [" in difference(*of_estimators[::-1]).sentence
    assert "the error is" not in difference(of_estimators[0], of_estimators[0]).sentence
    rows = {row[0]: row for row in difference(*of_estimators).rows}
    assert rows["error (RMSE)"][1].startswith(f"{old['rmse']:.3g} [")


@pytest.mark.slow
def test_from_files_and_folders(tmp_path):
    before, after = audited(0.5), audited(1.0)
    before.save(tmp_path / "old")
    (tmp_path / "new.json").write_text(after.to_json(), encoding="utf-8")
    assert difference(tmp_path / "old", tmp_path / "new.json") == difference(
        before.to_dict(), after.to_dict()
    )


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "{",
        '{"schema": "likewise.audit"}',
        json.dumps({"schema": "likewise.audit", "schema_version": 9, "arms": {"a": {}}}),
    ],
)
def test_what_is_no_report(tmp_path, content):
    path = tmp_path / "old.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FileFormatError):
        difference(path, path)


def test_nothing_there(tmp_path):
    with pytest.raises(FileFormatError, match="no file"):
        difference(tmp_path / "none.json", tmp_path / "none.json")


@pytest.mark.parametrize("arms", [{"x": {}}, [1], {"x": {"fairness": {}}}])
def test_a_damaged_report_is_one_typed_error(arms):
    damaged = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "arms": arms, "settings": {}}
    with pytest.raises(FileFormatError):
        difference(damaged, damaged)
