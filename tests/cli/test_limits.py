"""Limits, groups, drawn pairs and outputs of any origin from the command line, and the exit code that a pipeline reads."""

import json

import pytest

READ = ("--value-range", "1,5", "--quiet")
OPTIONS = ("--threshold", "1.0", *READ)


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("id,score\n" + "".join(f"user-{user},{user % 2}\n" for user in range(12)))
    return path


def test_a_limit_that_holds_exits_with_zero(likewise, ratings):
    ran = likewise("audit", ratings, *OPTIONS, "--fail-above", "1000")
    assert (ran.code, ran.err) == (0, "")


def test_a_limit_that_is_broken_exits_with_three_and_says_by_whom(likewise, ratings):
    ran = likewise("audit", ratings, *OPTIONS, "--fail-above", "0.001")
    assert ran.code == 3
    assert ran.err.startswith("error: with pre-processing: D <= 0.001 d")
    assert "violated" in ran.err
    assert "without" not in ran.err


def test_what_is_not_shown_to_hold_fails_as_well(likewise, ratings, scores):
    """A sample can never show that no pair at all violates."""
    ran = likewise("audit", ratings, *READ, "--outputs", scores, "--pairs", "20", "--fail-above", "1000")
    assert ran.code == 3
    assert "inconclusive" in ran.err


def test_a_limit_alone_judges_and_does_not_fail(likewise, ratings):
    ran = likewise("audit", ratings, *OPTIONS, "--lipschitz", "0.001", "--json", "-")
    verdict = json.loads(ran.out)["arms"]["with"]["verdict"]
    assert ran.code == 0
    assert verdict["status"] == "violated"
    assert verdict["limit"] == 0.001


def test_two_limits_are_refused(likewise, ratings):
    ran = likewise("audit", ratings, *OPTIONS, "--lipschitz", "1", "--fail-above", "2")
    assert ran.code == 1
    assert "one limit" in ran.err


def test_outputs_that_are_compared_with_no_others(likewise, ratings, scores):
    ran = likewise("audit", ratings, "--outputs", scores, "--lipschitz", "2")
    assert ran.code == 0
    assert "outputs: D <= 2 d" in ran.out
    ran = likewise("audit", ratings, "--outputs", scores, "--lipschitz", "2", "--details")
    assert "outputs computed elsewhere" in ran.out


def test_groups_split_the_figures(likewise, ratings, scores, tmp_path):
    groups = tmp_path / "groups.csv"
    groups.write_text("id,team\n" + "".join(f"user-{user},{'ab'[user // 6]}\n" for user in range(12)))
    options = ("--outputs", scores, "--groups", groups, "--group-column", "team", "--json", "-")
    figures = json.loads(likewise("audit", ratings, *READ, *options).out)["arms"]["outputs"]["fairness"]
    assert figures["groups"] is not None


def test_drawn_pairs_come_with_intervals(likewise, ratings, scores):
    ran = likewise("audit", ratings, *READ, "--outputs", scores, "--pairs", "40", "--json", "-")
    figure = json.loads(ran.out)["arms"]["outputs"]["fairness"]["mean_ratio"]
    assert figure["kind"] == "sampled"
    assert figure["confidence"] == 0.95


@pytest.mark.slow
def test_the_page_speaks_of_one_arm(likewise, ratings, scores, tmp_path):
    likewise("audit", ratings, *READ, "--outputs", scores, "--lipschitz", "2", "--out", tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "outputs: D &lt;= 2 d" in page
    assert "outputs pre-processing" not in page
