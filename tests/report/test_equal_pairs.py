"""Pairs at distance 0 in an answer: how many are treated differently, and what is said where all pairs are such."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise
from likewise.fairness import RowDistance, measure_fairness
from likewise.observations import clustered, write_ratings
from likewise.report.equal_pairs import equal_pairs_row, nobody_is_told_apart, set_apart
from likewise.report.html import as_page

NOBODY = "It tells nobody apart, so no pair is more similar than another."


def row_of(report):
    return report.to_dict()["answer"]["rows"][2]


@pytest.mark.slow
def test_the_share_of_equal_pairs_that_fare_differently_by_hand():
    """Three people at 0, two at 1: four pairs at d = 0, of which three get different outputs, by 0.75 at most."""
    report = likewise.audit(RowDistance([0.0, 0, 0, 1, 1]), outputs=[0.25, 0.25, 1.0, 0.5, 0.0])
    assert row_of(report) == {"label": "d = 0, outputs differ", "values": ["3 of 4 pairs"], "change": ""}
    assert "d = 0, outputs differ  3 of 4 pairs" in str(report)
    page = as_page(report)
    assert "3 of 4 pairs" in page
    assert "The largest such D is 0.75." in page
    assert "3 of 4 pairs" in report._repr_html_()
    assert "mean ratio IF, finite pairs" in report.details()


def test_two_arms_have_the_change_of_the_share():
    d, before = RowDistance([0.0, 0, 0, 1]), [0.0, 1.0, 2.0, 0.0]
    row = row_of(likewise.audit(d, outputs={"before": before, "after": [0.0, 0.0, 1.0, 0.0]}))
    assert row["values"] == ["3 of 3 pairs", "2 of 3 pairs"]
    assert row["change"] == "-33%"
    row = row_of(likewise.audit(d, outputs={"before": before, "after": [1.0, 1.0, 1.0, 0.0]}))
    assert row["values"] == ["3 of 3 pairs", "0 of 3 pairs"]


@pytest.mark.filterwarnings("ignore::likewise.errors.ConstantOutputWarning")
@given(people=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=4, max_size=9))
def test_counts_are_those_of_the_loop(people):
    features, outputs = np.array(people, dtype=float).T
    pairs = list(combinations(range(len(people)), 2))
    equal = [(i, j) for i, j in pairs if features[i] == features[j]]
    apart = [abs(outputs[i] - outputs[j]) for i, j in equal if outputs[i] != outputs[j]]
    arm = SimpleNamespace(fairness=measure_fairness(outputs, RowDistance(features)))
    row = equal_pairs_row([arm], False, zero_filled=False)
    assert row.values == (f"{len(apart)} of {len(equal)} {'pair' if len(equal) == 1 else 'pairs'}",)
    assert row.meaning.endswith(f"The largest such D is {max(apart, default=0):g}.")
    assert bool(nobody_is_told_apart(arm)) == (len(equal) == len(pairs))
    assert bool(set_apart(arm)) == bool(apart)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", ["all", 50])
@pytest.mark.parametrize("n_arms", [1, 2])
def test_a_reference_that_is_the_same_for_everybody_is_told_first(pairs, n_arms):
    rng = np.random.default_rng(0)
    outputs = {name: rng.normal(size=100) for name in ("without", "with")[-n_arms:]}
    report = likewise.audit(RowDistance(np.ones((100, 3))), outputs=outputs, pairs=pairs)
    told = report.findings[0]
    assert told.startswith("Cannot be told: d is 0 for all ")
    assert ("drawn pairs" in told) == (pairs != "all")
    assert told.endswith(NOBODY)
    gap = report.to_dict()["answer"]["rows"][0]
    assert gap["values"] == ["none, as d = 0"] * n_arms
    assert NOBODY in as_page(report)
    assert "more alike" not in " ".join(str(report).split())
    assert "The gap is the mean distance" not in report.details()


def test_a_file_of_references_that_are_the_same_is_told_first(likewise_command, tmp_path):
    observed = clustered(12, 8, 2, observed_fraction=0.9, random_state=0).observed
    write_ratings(tmp_path / "ratings.csv", observed)
    (tmp_path / "scores.csv").write_text("user,score\n" + "".join(f"{i},{i % 5}\n" for i in range(12)))
    (tmp_path / "people.csv").write_text("user,age\n" + "".join(f"{i},30\n" for i in range(12)))
    said = likewise_command(
        "audit", tmp_path / "ratings.csv", "--value-range=-1,1",
        "--outputs", tmp_path / "scores.csv", "--reference", tmp_path / "people.csv",
    )  # fmt: skip
    assert "Cannot be told: d is 0 for all 66 pairs, as where what it is made of" in said
    assert NOBODY in said


@pytest.fixture
def likewise_command(capsys):
    """Run a command in this process, and return what it printed on one line."""
    from likewise.cli.main import run

    def command(*arguments):
        assert run([str(argument) for argument in arguments]) == 0
        return " ".join(capsys.readouterr().out.split())

    return command
