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
    assert frame.columns == ["name", "score", "change"]
    assert frame["name"].to_list() == ["ann", "bob", "cy", "'=dan"]
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
    assert pl.read_csv(out).columns == ["name", "'=1+1", "change"]


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
    assert "Outputs were 0 or 1; they are scores now, no decisions" in ran.out
    text = " ".join(likewise("repair", "--help").out.replace("│", "").split())
    assert "Decisions of 0 or 1 come back as scores between" in text


def test_no_column_takes_the_place_of_another(likewise, files, tmp_path):
    applicants, scores = files
    scores.write_text(scores.read_text().replace("score", "change"))
    out = tmp_path / "fair.csv"
    options = ("--outputs", scores, "--lipschitz", "0.5", "--out", out, "--id-columns", "name")
    assert likewise("repair", applicants, *options).code == 0
    assert pl.read_csv(out).columns == ["name", "change", "change_"]


def test_one_unit_of_d_is_told_in_the_unit_of_the_column(likewise, tmp_path):
    """Scores of 246 to 705: half of that range is d = 1, so L for one point is 229.5 times as much."""
    people, chances, out = tmp_path / "people.csv", tmp_path / "chances.csv", tmp_path / "fair.csv"
    people.write_text("name,score\nann,246\nbob,400\ncy,705\n")
    chances.write_text("name,chance\nann,0.1\nbob,0.9\ncy,0.5\n")
    options = ("--outputs", chances, "--out", out, "--id-columns", "name")
    said = "One unit of d: 229.5 of score. L = 0.002 is 8.715e-06 for 1 of score; 0.002 for 1 of score is L = 0.459."
    planned = likewise("repair", people, *options, "--lipschitz", "0.002", "--dry-run")
    assert said in planned.out.splitlines()
    assert not out.exists()
    ran = likewise("repair", people, *options, "--lipschitz", "0.002")
    assert said in ran.out.splitlines()
    assert "0.19% of their spread is left" in ran.err
    meant = likewise("repair", people, *options, "--lipschitz", "0.459")
    frame = pl.read_csv(out)
    gaps = np.abs(np.subtract.outer(*[frame["chance"].to_numpy()] * 2))
    points = np.abs(np.subtract.outer(*[np.array([246.0, 400, 705])] * 2))
    assert (gaps <= 0.002 * points + 1e-12).all()
    assert gaps.max() > 0.3
    assert meant.err == ""


def test_blanks_beside_gower_are_named_with_what_to_do(likewise, tmp_path):
    people, scores, out = tmp_path / "people.csv", tmp_path / "scores.csv", tmp_path / "fair.csv"
    people.write_text("name,age,town\nann,20,york\nbob,,york\ncy,30,\ndee,40,leeds\n")
    scores.write_text("name,score\nann,0\nbob,1\ncy,2\ndee,3\n")
    options = (
        "--outputs",
        scores,
        "--lipschitz",
        "1",
        "--out",
        out,
        "--reference",
        "gower",
        "--id-columns",
        "name",
    )
    for more in ((), ("--dry-run",)):
        ran = likewise("repair", people, *options, *more)
        assert ran.code == 1
        assert ran.err.startswith("error: people.csv with 2 people with blanks (bob, cy)")
        assert "leave them out of both files; or take numbers alone, --columns age without" in ran.err
        assert "columns without blanks" not in ran.err  # no column is complete
        assert len(ran.err.splitlines()) == 1
    people.write_text("name,age,town\nann,20,york\nbob,,york\ncy,30,leeds\ndee,40,leeds\n")
    assert "or name columns without blanks, --columns town" in likewise("repair", people, *options).err
    advised = likewise("repair", people, *options, "--columns", "town")
    assert advised.code == 0, advised.err
    assert "the mean over 1 column: each alone adds up to 1, by another town." in advised.out


@pytest.mark.parametrize("name", ["score", "amount"])
def test_the_file_it_writes_is_read_as_it_stands(likewise, tmp_path, name):
    people, given, out = tmp_path / "people.csv", tmp_path / "given.csv", tmp_path / "fair.csv"
    rng = np.random.default_rng(0)
    tests, scores = rng.normal(size=20), rng.normal(size=20)
    people.write_text("id,test\n" + "".join(f"{k},{test}\n" for k, test in enumerate(tests)))
    given.write_text(f"id,{name}\n" + "".join(f"{k},{score}\n" for k, score in enumerate(scores)))
    assert (
        likewise(
            "repair", people, "--id-columns", "id", "--outputs", given, "--lipschitz", "0.5", "--out", out
        ).code
        == 0
    )
    assert out.read_text().startswith(f"id,{name},change\n")
    ran = likewise(
        "audit",
        people,
        "--id-columns",
        "id",
        "--outputs",
        out,
        "--details",
        "--fail-above",
        "0.5",
        "--tolerance",
        "0",
    )
    assert ran.code == 0, ran.err
    assert f"outputs from {name}; left out: change." in " ".join(ran.out.split())
    again = likewise("audit", people, "--id-columns", "id", "--outputs", out, "--output-columns", "change")
    assert "outputs from change" in " ".join(again.out.split())


def test_words_and_blanks_are_told_in_one_message(likewise, tmp_path):
    people, scores, out = tmp_path / "people.csv", tmp_path / "scores.csv", tmp_path / "fair.csv"
    people.write_text("name,age,town\nann,20,york\nbob,,york\ncy,30,leeds\ndee,40,leeds\n")
    scores.write_text("name,score\nann,0\nbob,1\ncy,2\ndee,3\n")
    options = "--id-columns", "name", "--outputs", scores, "--lipschitz", "1", "--out", out
    ran = likewise("repair", people, *options)
    assert ran.code == 1
    assert ran.err.startswith(
        "error: people.csv with words in town; expected numbers, or numbers and categories without blanks."
    )
    assert "--columns age; or give --reference gower, once 1 person with blanks (bob) is left out" in ran.err
    assert likewise("repair", people, *options, "--columns", "age").code == 0
    out.unlink()
    people.write_text("name,age,town\nann,20,york\nbob,25,york\ncy,30,leeds\ndee,40,leeds\n")
    ran = likewise("repair", people, *options)
    assert ran.err.rstrip().endswith("--columns age; or give --reference gower")
    assert likewise("repair", people, *options, "--reference", "gower").code == 0


def test_another_fault_of_a_file_is_told_as_it_is(likewise, tmp_path):
    people, scores = tmp_path / "people.csv", tmp_path / "scores.csv"
    people.write_text("name,age\nann,20\nbob,25\n")
    scores.write_text("name,score\nann,0\nbob,good\n")
    options = "--id-columns", "name", "--outputs", scores, "--lipschitz", "1", "--out", tmp_path / "fair.csv"
    assert "'good' where a number should be" in likewise("repair", people, *options).err
