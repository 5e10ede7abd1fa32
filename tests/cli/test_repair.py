"""`likewise repair`: fair outputs under the ids of the file."""

import numpy as np
import polars as pl
import pytest

import likewise as package
from likewise.fairness import GowerDistance, ObservedDistance
from likewise.fairness.repair import repair


@pytest.fixture
def files(tmp_path):
    applicants, scores = tmp_path / "applicants.csv", tmp_path / "scores.csv"
    applicants.write_text("name,test,grade\nann,60,3.5\nbob,61,3.5\ncy,90,2.0\n=dan,20,1.0\n")
    scores.write_text("name,score\nbob,0.1\nann,0.9\n=dan,0.3\ncy,0.5\n")
    return applicants, scores


def test_outputs_are_those_of_the_library(likewise, files, tmp_path):
    applicants, scores = files
    out = tmp_path / "fair.csv"
    ran = likewise(
        "repair", applicants, "--outputs", scores, "--lipschitz", "0.5", "--out", out, "--id-columns", "name"
    )
    assert ran.code == 0, ran.err
    frame = pl.read_csv(out)
    assert frame.columns == ["id", "score", "change"]
    assert frame["id"].to_list() == ["ann", "bob", "cy", "'=dan"]
    observed = package.read_ratings(applicants, id_columns=("name",))
    expected = repair([0.9, 0.1, 0.5, 0.3], ObservedDistance(observed, "l1"), lipschitz=0.5)
    np.testing.assert_allclose(frame["score"].to_numpy(), expected.outputs, rtol=1e-12)
    np.testing.assert_allclose(frame["change"].to_numpy(), expected.changes, rtol=1e-12)
    assert ran.out.startswith("D <= 0.5 d for every pair")
    assert "score" in ran.out.splitlines()[-2]


def test_no_heading_is_a_formula_either(likewise, files, tmp_path):
    applicants, scores = files
    scores.write_text(scores.read_text().replace("score", "=1+1"))
    out = tmp_path / "fair.csv"
    ran = likewise(
        "repair", applicants, "--outputs", scores, "--lipschitz", "0.5", "--out", out, "--id-columns", "name"
    )
    assert ran.code == 0, ran.err
    assert pl.read_csv(out).columns == ["id", "'=1+1", "change"]


def test_categories_are_compared_by_gower(likewise, tmp_path):
    people, scores, out = tmp_path / "people.csv", tmp_path / "scores.csv", tmp_path / "fair.parquet"
    people.write_text("name,age,town\nann,20,york\nbob,30,york\ncy,30,leeds\n")
    scores.write_text("name,score\nann,0\nbob,1\ncy,2\n")
    options = ("--lipschitz", "1", "--out", out, "--id-columns", "name", "--reference", "gower")
    ran = likewise("repair", people, "--outputs", scores, *options)
    assert ran.code == 0, ran.err
    d = GowerDistance(pl.DataFrame({"age": [20, 30, 30], "town": ["york", "york", "leeds"]}))
    np.testing.assert_allclose(pl.read_parquet(out)["score"], repair([0.0, 1, 2], d, lipschitz=1.0).outputs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--lipschitz": "0"}, "number above 0"),
        ({"--out": "fair.txt"}, ".csv or .parquet"),
        ({"--outputs": "nothere.csv"}, "no file"),
    ],
)
def test_bad_input_is_one_line(likewise, files, tmp_path, change, message):
    applicants, scores = files
    options = {
        "--outputs": scores,
        "--lipschitz": "0.5",
        "--out": tmp_path / "fair.csv",
        "--id-columns": "name",
    } | change
    ran = likewise("repair", applicants, *(part for option in options.items() for part in option))
    assert ran.code == 1
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not (tmp_path / "fair.csv").exists()


def test_what_is_read_is_not_overwritten(likewise, files):
    applicants, scores = files
    ran = likewise(
        "repair", applicants, "--outputs", scores, "--lipschitz", "1", "--out", scores, "--id-columns", "name"
    )
    assert ran.code == 1
    assert "which is read" in ran.err


def repaired(likewise, files, out, *options):
    applicants, scores = files
    asked = ("--lipschitz", "0.05", "--out", out, "--id-columns", "name", *options)
    return likewise("repair", applicants, "--outputs", scores, *asked)


def test_it_is_said_what_d_is(likewise, files, tmp_path):
    ran = repaired(likewise, files, tmp_path / "fair.csv", "--norm", "l2")
    assert "\nd is l2 between zero-filled observations; scaling: value range to" in ran.out
    assert "missing: the middle of the value range (0).\n" in ran.out


def test_a_d_that_measures_activity_is_said_to(likewise, tmp_path):
    """Ratings of 4 and 5 stars alone, of very unlike numbers of items."""
    rng = np.random.default_rng(0)
    lines, scores = ["user,item,rating"], ["user,score"]
    for user in range(40):
        scores.append(f"u{user},{rng.normal():.3f}")
        seen = rng.permutation(60)[: 2 + user]
        lines += [f"u{user},i{item},{rng.integers(4, 6)}" for item in seen]
    for name, text in (("ratings.csv", lines), ("scores.csv", scores)):
        (tmp_path / name).write_text("\n".join(text) + "\n")
    files = ("--outputs", tmp_path / "scores.csv", "--out", tmp_path / "fair.csv")
    ran = likewise("repair", tmp_path / "ratings.csv", *files, "--lipschitz", "0.05", "--value-range", "1,5")
    assert ran.code == 0, ran.err
    assert "mostly measures activity" in ran.out


def test_a_norm_beside_gower_has_no_effect_and_is_refused(likewise, files, tmp_path):
    ran = repaired(likewise, files, tmp_path / "fair.csv", "--norm", "l2", "--reference", "gower")
    assert ran.code == 1
    assert ran.err.startswith("error: --norm l2 beside --reference gower")
    assert not (tmp_path / "fair.csv").exists()


def test_decisions_in_words_are_refused_those_in_numbers_become_chances(likewise, files, tmp_path):
    files[1].write_text("name,decision\nbob,no\nann,yes\n=dan,no\ncy,yes\n")
    ran = repaired(likewise, files, tmp_path / "fair.csv")
    assert ran.code == 1
    assert ran.err.startswith(
        "error: scores.csv with classes as outputs ('yes' counts as 1, 'no' counts as 0)"
    )
    assert not (tmp_path / "fair.csv").exists()
    files[1].write_text("name,decision\nbob,0\nann,1\n=dan,0\ncy,1\n")
    ran = repaired(likewise, files, tmp_path / "fair.csv")
    assert ran.code == 0, ran.err
    assert "can be read as the chance of a 1" in ran.out
