"""`likewise audit`: what it prints, what it writes, and that Python gives the same."""

import json

import numpy as np
import pytest

import likewise as package
from likewise.errors import ConstantOutputWarning
from likewise.report.audit_report import FILES

OPTIONS = ("--threshold", "1.0", "--value-range", "1,5", "--n-neighbors", "3")


def test_the_table_goes_to_standard_output(likewise, ratings):
    ran = likewise("audit", ratings, *OPTIONS)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Individual fairness of ratings.csv: 12 individuals, 10 features, ")
    assert len(ran.out.splitlines()) <= 25
    assert (
        "Read ratings.csv: individuals from userId, features from movieId, values from rating."
        in " ".join(ran.out.split())
    )
    ran = likewise("audit", ratings, *OPTIONS, "--details")
    for heading in ("Findings", "Data", "Estimate", "Reference distance d", "Measured", "Proved"):
        assert f"\n{heading}\n" in ran.out
    assert "ratings.csv: 12 individuals x 10 features" in ran.out
    assert not any(line.endswith(" ") for line in ran.out.splitlines())


def test_it_is_what_three_lines_of_python_give(likewise, ratings):
    ran = likewise("audit", ratings, *OPTIONS[:4], "--json", "-")
    observed = package.read_ratings(ratings, value_range=(1, 5))
    report = package.audit(
        observed, estimator=package.SVT(threshold=1.0, random_state=0), source="ratings.csv"
    )
    assert ran.out == report.to_json()


def test_options_reach_the_audit(likewise, ratings):
    options = (
        "--working-range",
        "unit",
        "--norm",
        "l2",
        "--nearest-share",
        "0.5",
        "--hold-out",
        "0",
        "--shrinker",
        "soft",
    )
    ran = likewise("audit", ratings, *OPTIONS, *options, "--model", "knn-co-raters", "--json", "-")
    document = json.loads(ran.out)
    assert document["data"]["working_range"] == "unit"
    assert document["estimate"]["threshold"] == 1.0
    assert "soft" in document["estimate"]["estimator"]
    assert document["arms"]["with"]["error"] is None
    assert document["arms"]["with"]["fairness"]["reference"]["norm"] == "l2"
    assert document["arms"]["with"]["title"].startswith("3 nearest neighbours who observed the item")


def test_a_threshold_by_name(likewise, ratings):
    ran = likewise("audit", ratings, "--threshold", "universal", "--json", "-", "--value-range", "1,5")
    assert json.loads(ran.out)["estimate"]["threshold_name"] == "universal"


def test_out_writes_a_whole_report_and_says_where(likewise, ratings, tmp_path):
    ran = likewise("audit", ratings, *OPTIONS, "--out", tmp_path / "report")
    assert {path.name for path in (tmp_path / "report").iterdir()} == set(FILES)
    assert ran.out.endswith(f"Report: {tmp_path / 'report' / 'report.html'}\n")


@pytest.mark.parametrize("limit", [(), ("--lipschitz", "0.5")])
def test_quiet_alone_is_refused_before_the_work_as_nothing_would_come_of_it(likewise, limit):
    ran = likewise("audit", "nowhere.csv", *limit, "--quiet")
    expected = "error: --quiet without --out, --json, --violations or --fail-above; expected one of them, or no --quiet.\n"
    assert (ran.code, ran.out, ran.err) == (1, "", expected)


def test_quiet_prints_nothing(likewise, ratings, tmp_path, quick):
    ran = likewise("audit", ratings, *OPTIONS, "--quiet", "--out", tmp_path / "report")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert (tmp_path / "report" / "report.html").exists()


def test_json_to_a_file_and_to_standard_output_are_the_same(likewise, ratings, tmp_path):
    printed = likewise("audit", ratings, *OPTIONS, "--json", "-")
    written = likewise("audit", ratings, *OPTIONS, "--json", tmp_path / "report.json")
    assert (tmp_path / "report.json").read_text(encoding="utf-8") == printed.out
    assert written.out.startswith("Individual fairness of ")
    assert "Individual fairness of" not in printed.out


def test_the_released_codes_convention_is_called_invalid(likewise, ratings):
    ran = likewise("audit", ratings, *OPTIONS, "--reference", "estimate")
    assert "not a valid" in ran.out
    ran = likewise("audit", ratings, *OPTIONS, "--reference", "estimate", "--details")
    assert ran.code == 0
    assert "NOT A VALID BEFORE/AFTER COMPARISON" in ran.out


def test_outputs_from_files(likewise, ratings, tmp_path):
    scores = "\n".join(f"user-{k},{k % 2}.5" for k in range(12))
    (tmp_path / "scores.csv").write_text(f"id,score\n{scores}\n")
    for options, arms in (
        (("--outputs-without",), ["without"]),
        (("--outputs-without", "--outputs-with"), ["without", "with"]),
    ):
        given = [part for option in options for part in (option, tmp_path / "scores.csv")]
        document = json.loads(likewise("audit", ratings, *given, "--value-range", "1,5", "--json", "-").out)
        assert list(document["arms"]) == arms
        assert document["estimate"] is None
    certified = likewise("audit", ratings, *given, *OPTIONS[:4], "--estimator", "svt", "--json", "-")
    assert json.loads(certified.out)["certificates"]["k_star"]["value"] > 0


def test_ones_own_model(likewise, ratings, tmp_path, monkeypatch):
    (tmp_path / "my_model_of_a_test.py").write_text("def mean(matrix):\n    return matrix.mean(axis=1)\n")
    monkeypatch.chdir(tmp_path)
    ran = likewise("audit", ratings, *OPTIONS[:4], "--model", "my_model_of_a_test:mean", "--json", "-")
    assert json.loads(ran.out)["arms"]["with"]["fairness"]["output"]["norm"]


def test_a_table_of_applicants(likewise, tmp_path):
    rows = "\n".join(f"a{k},{k % 7},{'' if k % 3 else k % 5},x" for k in range(15))
    (tmp_path / "marks.csv").write_text(f"applicant,written,course,remark\n{rows}\n")
    ran = likewise(
        "audit", tmp_path / "marks.csv", "--id-columns", "applicant", "--columns", "written,course",
        "--value-range", "per-column", "--threshold", "0.1", "--n-neighbors", "3", "--hold-out", "0", "--json", "-",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["data"]["n_features"] == 2


def test_the_papers_shape_and_a_missing_mark(likewise, tmp_path):
    (tmp_path / "grid.txt").write_text("1 0 5\n2 3 0\n4 4 1\n5 1 2\n")
    ran = likewise(
        "audit", tmp_path / "grid.txt", "--format", "grid", "--missing-value", "0", "--value-range", "1,5",
        "--n-neighbors", "2", "--threshold", "0.1", "--hold-out", "0", "--json", "-",
    )  # fmt: skip
    assert json.loads(ran.out)["data"]["n_observed"] == 10
    (tmp_path / "ratings.dat").write_text("1::2::5\n2::1::3\n3::2::1\n2::3::4\n")
    ran = likewise(
        "audit", tmp_path / "ratings.dat", "--shape", "6,4", "--value-range", "1,5", "--n-neighbors", "2",
        "--threshold", "0.1", "--hold-out", "0", "--json", "-",
    )  # fmt: skip
    data = json.loads(ran.out)["data"]
    assert (data["n_individuals"], data["n_features"]) == (6, 4)


def test_a_warning_is_one_line_on_standard_error(likewise, ratings, tmp_path):
    same = "\n".join(f"user-{k},0.5" for k in range(12))
    (tmp_path / "same.csv").write_text(f"id,score\n{same}\n")
    ran = likewise(
        "audit", ratings, "--value-range", "1,5", "--outputs-with", tmp_path / "same.csv", "--json", "-"
    )
    assert ran.code == 0
    assert [line.partition(":")[0] for line in ran.err.splitlines()] == ["warning"]
    assert "nearly constant" in ran.err
    assert ConstantOutputWarning.__name__ not in ran.err


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_gives_the_same_bytes(likewise, ratings, seed):
    first, second = (
        likewise("audit", ratings, *OPTIONS, "--random-state", seed, "--json", "-").out for _ in range(2)
    )
    assert first == second


def test_another_seed_hides_other_observations(likewise, ratings):
    errors = [
        json.loads(likewise("audit", ratings, *OPTIONS, "--random-state", seed, "--json", "-").out)["arms"][
            "with"
        ]["error"]
        for seed in (0, 1)
    ]
    assert not np.isclose(errors[0]["rmse"], errors[1]["rmse"])
