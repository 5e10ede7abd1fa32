"""The JSON is valid, complete, says what kind each number is, and has the same bytes every time."""

import datetime
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from likewise.fairness import Verdict
from likewise.report import document, run_document, to_json


def refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


def parsed(report):
    return json.loads(report.to_json(), parse_constant=refuse)


def test_the_same_report_gives_the_same_bytes(make_report):
    slower = replace(make_report(), seconds={"estimate the matrix": 99.0})
    assert slower.to_json() == make_report().to_json()


def figures_in(tree):
    """Return what stands in a document as a figure, in its order."""
    if isinstance(tree, dict):
        if tree.get("kind") in ("exact", "sampled"):
            return [tree]
        tree = list(tree.values())
    return [figure for part in tree for figure in figures_in(part)] if isinstance(tree, list) else []


def test_every_figure_comes_back_exactly(make_report):
    report = make_report()
    arms = parsed(report)["arms"]
    for name, arm in report.arms.items():
        found = figures_in(arms[name]["fairness"])
        expected = arm.fairness.metrics().values()
        assert sorted(figure["value"] for figure in found) == sorted(figure.value for figure in expected)
        assert {figure["kind"] for figure in found} == {"exact"}
        assert arms[name]["fairness"]["mean_ratio"]["value"] == arm.fairness.mean_ratio.value
        assert arms[name]["fairness"]["mean_ratio"]["n_pairs"] == arm.fairness.n_pairs
        assert arms[name]["fairness"]["quantiles"]["0.9"]["value"] == arm.fairness.quantiles[0.9].value
        assert arms[name]["error"]["rmse"] == arm.error.rmse


def test_the_verdict_follows_the_answer(make_report):
    report = make_report(arms=("with",))
    assert parsed(report)["findings"] == list(report.findings)
    verdict = Verdict("violated", 0.5, 0.0, None, "all pairs", "half violate")
    judged = replace(report, arms={"with": replace(report.arms["with"], verdict=verdict)})
    told = [report.findings[0], f"with pre-processing: {verdict}", *report.findings[1:]]
    assert parsed(judged)["findings"] == told
    assert parsed(judged)["answer"]["verdicts"] == told[1:2]


def test_what_json_lacks_becomes_text(make_report):
    arms = parsed(make_report(duplicate=True, constant=True))["arms"]
    assert arms["without"]["fairness"]["max_ratio"]["value"] == "Infinity"
    assert arms["with"]["fairness"]["scale_free_ratio"]["value"] == "NaN"


def test_proved_constants_are_marked_as_such(make_report):
    report = make_report()
    certificates = parsed(report)["certificates"]
    assert certificates["k_star"]["kind"] == "proved"
    assert certificates["k_star"]["value"] == report.certificates.k_star.value
    assert certificates["k_star"]["domain"]
    assert certificates["k_star"]["from_norm"] == "l1"


def test_reference_says_whether_the_comparison_is_valid(make_report):
    assert parsed(make_report())["reference"]["valid_comparison"] is True
    assert parsed(make_report(valid=False))["reference"]["valid_comparison"] is False


def test_ids_stay_what_they_are(make_report):
    worst = parsed(make_report())["arms"]["without"]["fairness"]["worst"]
    assert {"[red]bob", "Zoë"} == {worst[0]["left"], worst[0]["right"]}


def test_values_of_any_type_are_written(make_report):
    day = datetime.date(2020, 1, 2)
    report = replace(
        make_report(), settings={"array": np.array([1.5, np.nan]), "int": np.int64(3), "id": day, "x": None}
    )
    assert parsed(report)["settings"] == {"array": [1.5, "NaN"], "int": 3, "id": "2020-01-02", "x": None}


def test_times_and_versions_are_kept_apart(make_report):
    report = make_report()
    assert "seconds" not in document(report)
    run = run_document(report)
    assert run["seconds"] == {"estimate the matrix": 0.5}
    assert run["libraries"]["numpy"] == np.__version__
    json.loads(to_json(run), parse_constant=refuse)


def test_the_schema_page_names_every_key(make_report):
    page = Path(__file__).parents[2].joinpath("docs/report_schema.md").read_text(encoding="utf-8")

    def keys(tree):
        if isinstance(tree, dict):
            for key, value in tree.items():
                yield key
                yield from keys(value)
        elif isinstance(tree, list):
            for value in tree:
                yield from keys(value)

    report = make_report()
    named_by_data = {*report.arms, *report.settings, *report.seconds, *run_document(report)["libraries"]}
    found = {*keys(document(report)), *keys(run_document(report))} - named_by_data
    unnamed = {key for key in found if f"`{key}`" not in page and not key.startswith("0.")}
    assert unnamed == set()


@pytest.mark.parametrize("arms", [("with",), ("without", "with")])
def test_to_frame_has_a_row_for_each_arm_and_figure(make_report, arms):
    report = make_report(arms=arms)
    frame = report.to_frame()
    expected = [(name, figure) for name, arm in report.arms.items() for figure in arm.fairness.metrics()]
    assert list(frame.select("arm", "metric").iter_rows()) == expected
    values = {
        (arm, figure): value for arm, figure, value in frame.select("arm", "metric", "value").iter_rows()
    }
    assert values["with", "mean_ratio"] == report.arms["with"].fairness.mean_ratio.value
