"""`likewise audit`: what it prints, what it writes, and that Python gives the same."""

import json

import numpy as np
import pytest

import likewise as package
from likewise.errors import ConstantOutputWarning
from likewise.report.audit_report import FILES

OPTIONS = ("--threshold", "1.0", "--value-range", "1,5", "--n-neighbors", "3")


@pytest.mark.slow
def test_the_table_goes_to_standard_output(likewise, ratings):
    ran = likewise("audit", ratings, *OPTIONS)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "Individual fairness of 3 nearest neighbours on ratings.csv: 12 individuals, 10"
    )
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


@pytest.mark.slow
def test_with_a_page_the_answer_leaves_a_line_for_where_it_is(likewise, ratings, tmp_path):
    """A limit and the worst pairs fill the screen; the place of the page still fits on it."""
    ran = likewise("audit", ratings, *OPTIONS, "--lipschitz", "0.1", "--out", tmp_path / "page")
    lines = ran.out.splitlines()
    assert len(lines) <= 25
    assert lines[-1] == f"Report: {tmp_path / 'page' / 'report.html'}"
    alone = likewise("audit", ratings, *OPTIONS, "--lipschitz", "0.1").out.splitlines()
    assert lines[0] == alone[0]
    # The line for the page may take the place of a note, which is then named among what is left out.
    more, more_alone = (line.removesuffix(".").split(": ")[1].split(", ") for line in (lines[-2], alone[-1]))
    assert set(more_alone) <= set(more) <= {*more_alone, "notes"}


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


@pytest.mark.slow
def test_out_writes_a_whole_report_and_says_where(likewise, ratings, tmp_path):
    ran = likewise("audit", ratings, *OPTIONS, "--out", tmp_path / "report")
    assert {path.name for path in (tmp_path / "report").iterdir()} == {*FILES, "config.toml"}
    assert ran.out.endswith(f"Report: {tmp_path / 'report' / 'report.html'}\n")


@pytest.mark.parametrize("limit", [(), ("--lipschitz", "0.5")])
def test_quiet_alone_is_refused_before_the_work_as_nothing_would_come_of_it(likewise, limit):
    ran = likewise("audit", "nowhere.csv", *limit, "--quiet")
    expected = "error: --quiet without --out, --json, --violations, --individual-constants, --fail-above or --check; expected one of them, or no --quiet.\n"
    assert (ran.code, ran.out, ran.err) == (1, "", expected)


def test_quiet_prints_nothing(likewise, ratings, tmp_path, quick):
    ran = likewise("audit", ratings, *OPTIONS, "--quiet", "--out", tmp_path / "report")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert (tmp_path / "report" / "report.html").exists()


@pytest.mark.slow
def test_json_to_a_file_and_to_standard_output_are_the_same(likewise, ratings, tmp_path):
    printed = likewise("audit", ratings, *OPTIONS, "--json", "-")
    written = likewise("audit", ratings, *OPTIONS, "--json", tmp_path / "report.json")
    assert (tmp_path / "report.json").read_text(encoding="utf-8") == printed.out
    assert written.out.startswith("Individual fairness of ")
    assert "Individual fairness of" not in printed.out


@pytest.mark.slow
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


def test_how_much_pairs_have_in_common_is_an_option(likewise, tmp_path):
    lines = "\n".join(f"u{i},f{j},{(i * j) % 5 + 1}" for i in range(30) for j in range(40) if (i + j) % 3)
    (tmp_path / "thin.csv").write_text(f"user,item,rating\n{lines}\n", encoding="utf-8")
    options = ("--estimator", "biases", "--model", "identity", "--value-range", "1,5", "--json", "-")
    ran = likewise("audit", tmp_path / "thin.csv", "--least-shared", "3", *options)
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["settings"]["least_shared"] == 3
    assert "share 3 or more of the features kept aside" in document["truth"]["pairs"]
    refused = likewise("audit", tmp_path / "thin.csv", "--least-shared", "15", *options)
    assert refused.code == 1
    assert "with --least-shared, or take d from the observations: --reference" in refused.err
    idle = likewise("audit", tmp_path / "thin.csv", "--least-shared", "3", "--reference", "observed")
    assert (idle.code, "--least-shared 3 beside --reference observed" in idle.err) == (1, True)
    assert "--least-shared" in likewise("audit", tmp_path / "thin.csv", "--least-shared", "0").err


def test_splits_are_refused_beside_what_has_none(likewise, ratings, tmp_path):
    refused = likewise("audit", ratings, "--splits", "2", "--reference", "observed")
    assert refused.code == 1
    assert "--splits 2 beside --reference observed" in refused.err
    scores = tmp_path / "scores.csv"
    scores.write_text("id,score\n1,0.5\n", encoding="utf-8")
    beside = likewise("audit", ratings, "--splits", "2", "--outputs", scores)
    assert beside.code == 1
    assert "--outputs with --splits" in beside.err


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


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_gives_the_same_bytes(likewise, ratings, seed):
    first, second = (
        likewise("audit", ratings, *OPTIONS, "--random-state", seed, "--json", "-").out for _ in range(2)
    )
    assert first == second


@pytest.mark.slow
def test_another_seed_hides_other_observations(likewise, ratings):
    errors = [
        json.loads(likewise("audit", ratings, *OPTIONS, "--random-state", seed, "--json", "-").out)["arms"][
            "with"
        ]["error"]
        for seed in (0, 1)
    ]
    assert not np.isclose(errors[0]["rmse"], errors[1]["rmse"])


APPLICANTS = "name,sex,age,score,city\nann,f,20,0.9,A\nbea,f,21,0.1,A\ncy,m,60,0.5,B\ndan,m,61,0.4,B\n"


@pytest.fixture
def applicants(tmp_path):
    (tmp_path / "applicants.csv").write_text(APPLICANTS)
    (tmp_path / "outputs.csv").write_text("name,row,decision\nann,0,1\nbea,1,0\ncy,2,1\ndan,3,0\n")
    return tmp_path


def test_categories_are_compared_by_gower(likewise, applicants):
    """Ann and Bea: age 1 of 41 years apart, same city; D = 1 over d = (1/41 + 0) / 2."""
    ran = likewise(
        "audit", applicants / "applicants.csv", "--id-columns", "name", "--columns", "age,city", "--reference", "gower",
        "--outputs", applicants / "outputs.csv", "--output-columns", "decision", "--json", "-",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    worst = document["arms"]["outputs"]["fairness"]["worst"][0]
    assert (worst["left"], worst["right"]) == ("ann", "bea")
    assert worst["ratio"] == pytest.approx(1 / (1 / 41 / 2))
    assert document["reference"]["kind"] == "given"
    people, outputs = document["data"]["columns"]
    assert (people["ids"], people["features"], people["left_out"]) == (
        ["name"],
        ["age", "city"],
        ["sex", "score"],
    )
    assert (outputs["ids"], outputs["outputs"], outputs["left_out"]) == (["name"], ["decision"], ["row"])


PLACES = "name,item1,item2\nann,5,5\nbea,4,3\ncy,1,2\ndan,2,1\n"


def test_whole_numbers_called_like_places_of_a_list_are_numbers_once_that_is_said(likewise, applicants):
    """Ann has item 5 twice, so these are no lists, nor safely numbers; with a fraction they are."""
    file = applicants / "places.csv"
    file.write_text(PLACES)
    audit = ("audit", applicants / "applicants.csv", "--id-columns", "name", "--columns", "age")
    ran = likewise(*audit, "--outputs", file)
    assert ran.code == 1
    assert "in which an item stands twice" in ran.err
    assert "--output-columns" in ran.err
    said = likewise(*audit, "--outputs", file, "--output-columns", "item1,item2", "--json", "-")
    assert said.code == 0, said.err
    assert json.loads(said.out)["arms"]["outputs"]["fairness"]["output"]["name"].startswith("l2")
    file.write_text(PLACES.replace("5,5", "5,5.5"))
    assert likewise(*audit, "--outputs", file).code == 0


def test_what_settles_a_doubtful_output_is_an_option_that_reaches_its_file(likewise, applicants):
    """--exclude is about the individuals, so no hint on outputs names it."""
    for text in (
        ",name,score\n0,ann,1\n1,bea,0\n2,cy,1\n3,dan,0\n",
        "name,age,score\nann,1,1\nbea,2,0\ncy,3,1\ndan,4,0\n",
    ):
        (applicants / "outputs.csv").write_text(text)
        audit = (
            "audit",
            applicants / "applicants.csv",
            "--id-columns",
            "name",
            "--columns",
            "age",
            "--outputs",
            applicants / "outputs.csv",
        )
        ran = likewise(*audit)
        assert ran.code == 1
        assert "--output-columns" in ran.err
        assert "--exclude" not in ran.err
        assert likewise(*audit, "--output-columns", "score").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--reference", "gower"), "error: --reference gower without --outputs"),
        (("--output-columns", "decision"), "error: --output-columns without --outputs"),
        (("--violations", "v.csv"), "error: --violations v.csv without a limit"),
    ],
)
def test_options_that_need_another_are_refused(likewise, applicants, options, message):
    ran = likewise("audit", applicants / "applicants.csv", "--id-columns", "name", *options)
    assert (ran.code, ran.err.startswith(message)) == (1, True)


def test_gower_takes_no_norm_and_no_estimator(likewise, applicants):
    common = (
        "audit", applicants / "applicants.csv", "--id-columns", "name", "--reference", "gower",
        "--outputs", applicants / "outputs.csv", "--output-columns", "decision",
    )  # fmt: skip
    assert "--norm beside a distance between the individuals" in likewise(*common, "--norm", "l2").err
    assert "--estimator beside" in likewise(*common, "--estimator", "svt").err


def test_gower_takes_how_many_features_two_must_share(likewise, applicants):
    """Cy has no city: of two features he shares one with everybody."""
    (applicants / "applicants.csv").write_text(APPLICANTS.replace("0.5,B", "0.5,"))
    common = (
        "audit", applicants / "applicants.csv", "--id-columns", "name", "--columns", "age,city", "--least-shared", "2",
        "--outputs", applicants / "outputs.csv", "--output-columns", "decision",
    )  # fmt: skip
    ran = likewise(*common, "--reference", "gower", "--json", "-")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["arms"]["outputs"]["fairness"]["n_undefined"] == 3
    assert "share fewer than 2" in document["reference"]["description"]
    refused = likewise(*common, "--reference", "observed")
    assert refused.code == 1
    assert "--reference co-observed or gower takes it beside outputs" in refused.err


def test_every_violating_pair_is_listed(likewise, ratings, tmp_path):
    scores = tmp_path / "scores.csv"
    scores.write_text("id,score\n" + "".join(f"user-{k},{k}\n" for k in range(12)))
    options = ("--outputs", scores, "--lipschitz", "0.3", "--value-range", "1,5")
    listed, report = tmp_path / "pairs.csv", tmp_path / "report.json"
    ran = likewise("audit", ratings, *options, "--violations", listed, "--json", report, "--quiet")
    assert (ran.code, ran.out) == (0, "")
    header, *lines = listed.read_text().splitlines()
    assert header == "arm,left,right,reference_distance,output_distance,ratio,excess"
    violations = json.loads(report.read_text())["arms"]["outputs"]["fairness"]["violations"]
    assert 0 < len(lines) == violations["n_violating"] < 66
    ratios = []
    for line in lines:
        arm, _, _, d, output, ratio, excess = line.split(",")
        assert arm == "outputs"
        assert all(len(text.replace(".", "").lstrip("0")) <= 7 for text in (d, output, ratio))
        assert float(ratio) == pytest.approx(float(output) / float(d), rel=1e-5)
        assert float(excess) == pytest.approx(float(output) - 0.3 * float(d), abs=1e-5)
        ratios.append(float(ratio))
    assert ratios == sorted(ratios, reverse=True)


@pytest.mark.slow
def test_constants_of_individuals_are_written_and_how_many_are_measured_is_told(likewise, ratings, tmp_path):
    listed, report = tmp_path / "constants.csv", tmp_path / "report.json"
    options = ("--estimator", "als", "--individual-constants", listed, "--sandwich-individuals", "5")
    ran = likewise("audit", ratings, *OPTIONS[2:], *options, "--json", report, "--quiet")
    assert (ran.code, ran.out) == (0, "")
    header, *lines = listed.read_text().splitlines()
    assert header == "individual,n_observed,constant_of_estimate,constant_of_outputs"
    assert {line.split(",")[0] for line in lines} == {f"user-{k}" for k in range(12)}
    sandwich = json.loads(report.read_text())["arms"]["with"]["sandwich"]
    assert (sandwich["n_individuals"], sandwich["drawn"]) == (5, True)
    refused = likewise("audit", ratings, *OPTIONS, "--individual-constants", ratings)
    assert (refused.code, refused.out) == (1, "")
    twice = likewise("audit", ratings, *OPTIONS, "--individual-constants", listed, "--json", listed)
    assert "two different names" in twice.err


@pytest.mark.slow
def test_standard_input_and_the_home_folder_are_read(ratings, tmp_path, monkeypatch, likewise):
    import subprocess
    import sys

    command = [sys.executable, "-m", "likewise", "audit", "-", *OPTIONS]
    ran = subprocess.run(command, input=ratings.read_bytes(), capture_output=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(
        b"Individual fairness of 3 nearest neighbours on standard input: 12 individuals"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "ratings.csv").write_bytes(ratings.read_bytes())
    ran = likewise("audit", "~/ratings.csv", *OPTIONS, "--json", "~/report.json", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "report.json").exists()


@pytest.mark.slow
def test_files_versions_and_the_command_are_recorded(likewise, ratings, tmp_path, monkeypatch):
    import hashlib

    monkeypatch.setattr("sys.argv", ["likewise", "audit", "ratings.csv"])
    out = tmp_path / "report"
    assert likewise("audit", ratings, *OPTIONS, "--out", out, "--quiet").code == 0
    run = json.loads((out / "run.json").read_text())
    (file,) = run["files"]
    content = ratings.read_bytes()
    assert file == {
        "role": "observations",
        "name": "ratings.csv",
        "n_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    assert run["date"].endswith("+00:00")
    assert run["command"] == "likewise audit ratings.csv"


def test_names_cannot_steer_the_terminal(likewise, tmp_path):
    """Escape characters in ids, groups and columns: on the terminal, in errors and in warnings."""
    red = "\x1b[31mann"
    (tmp_path / "r.csv").write_text(f"{red},1,5\nbea,1,3\n{red},2,1\nbea,2,2\ncy,1,4\ncy,2,2\n")
    (tmp_path / "s.csv").write_text(f"id,\x1b[2Jscore\n{red},1\nbea,0\ncy,3\n")
    (tmp_path / "g.csv").write_text(f"{red},\x1b]0;x\x07f\nbea,m\ncy,m\n")
    for more in ((), ("--details",), ("--group-column", "\x1b[7m")):
        ran = likewise(
            "audit",
            tmp_path / "r.csv",
            "--outputs",
            tmp_path / "s.csv",
            "--groups",
            tmp_path / "g.csv",
            *more,
        )
        assert "\x1b" not in ran.out + ran.err
        assert "\x07" not in ran.out + ran.err
    (tmp_path / "few.csv").write_text(f"id,score\n\x1b[31mzoe,1\n{red},2\n")
    ran = likewise("audit", tmp_path / "r.csv", "--outputs", tmp_path / "few.csv")
    assert ran.code == 1
    assert "\x1b" not in ran.err


def test_whatever_is_missing(likewise, tmp_path):
    """Two of three pairs depend on one mark of c; a and b are alike and get other scores."""
    marks, scores = tmp_path / "marks.csv", tmp_path / "scores.csv"
    marks.write_text("id,maths,music\na,10,20\nb,10,20\nc,10,\n")
    scores.write_text("id,score\na,0.9\nb,0.1\nc,0.5\n")
    options = (
        "audit",
        marks,
        "--outputs",
        scores,
        "--id-columns",
        "id",
        "--value-range",
        "0,40",
        "--missing-entries",
        "any",
    )
    ran = likewise(*options, "--lipschitz", "1")
    assert "fails for 1. For 2 (66.7%) it depends on what is missing" in " ".join(ran.out.split())
    refused = likewise(*options)
    assert refused.code == 1
    assert "--missing-entries without --lipschitz or --fail-above" in refused.err


@pytest.mark.parametrize(
    ("written", "options", "said"),
    [
        ("a,x,1,1\nb,x,2,2\na,y,3,3\nc,y,4,4\n", ("--split", "time"), "--time"),
        ("a,x,1,5\nb,x,2,5\na,y,3,5\nc,y,4,5\n", ("--split", "time", "--time", "when"), "all at one"),
        ("a,x,1,\nb,x,2,\na,y,3,\nc,y,4,\n", ("--split", "time", "--time", "when"), "no time"),
        ("a,x,1,1\nb,x,2,soon\na,y,3,3\nc,y,4,4\n", ("--split", "time", "--time", "when"), "'soon'"),
        ("a,x,1,1\nb,x,2,2\na,y,3,3\nc,y,4,4\n", ("--split", "time", "--time", "then"), "'then'"),
    ],
)
def test_times_that_cannot_be_split_by(likewise, tmp_path, written, options, said):
    file = tmp_path / "ratings.csv"
    file.write_text("user,item,rating,when\n" + written)
    ran = likewise(
        "audit", file, *options, "--hold-out", "0.5", "--estimator", "biases", "--model", "identity"
    )
    assert ran.code == 1
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_split_by_time(likewise, tmp_path):
    file = tmp_path / "ratings.csv"
    lines = [
        f"{user},{item},{1 + (user * item) % 5},{user + 10 * item}" for user in range(8) for item in range(9)
    ]
    file.write_text("user,item,rating,when\n" + "\n".join(lines) + "\n")
    options = ("--split", "time", "--time", "when", "--estimator", "biases", "--model", "identity")
    ran = likewise("audit", file, *options, "--json", tmp_path / "report.json")
    assert (ran.code, ran.err) == (0, "")
    assert "times from when" in ran.out
