"""Options from a file, checks with their exit codes, a dry run, two reports compared, completion."""

import json

import pytest

from likewise.cli.config import resolved
from likewise.cli.main import app

FEW = "threshold = 1.0\nvalue_range = [1, 5]\nn-neighbors = 3\n"


def written(tmp_path, text):
    path = tmp_path / "audit.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_file_is_what_is_typed(likewise, ratings, tmp_path):
    config = written(tmp_path, f'ratings = "{ratings}"\n{FEW}')
    typed = ("--threshold", "1.0", "--value-range", "1,5", "--n-neighbors", "3")
    expected = likewise("audit", ratings, *typed, "--json", "-")
    assert likewise("audit", "--config", config, "--json", "-").out == expected.out
    assert likewise("audit", ratings, f"--config={config}", "--json", "-").out == expected.out
    under = written(tmp_path, f"[audit]\n{FEW}[estimate]\nthreshold = 9.0\n")
    assert (
        likewise("audit", ratings, "--config", under, "--json", "-").code == 1
    )  # estimate is no option of audit


def test_what_is_typed_goes_before(likewise, ratings, tmp_path):
    config = written(tmp_path, FEW + 'nearest_share = 0.5\nset = {solver = "dense"}\n')
    ran = likewise("audit", ratings, "--config", config, "--nearest-share", "0.2", "--json", "-")
    assert json.loads(ran.out)["settings"]["nearest_share"] == 0.2


@pytest.mark.slow
def test_the_resolved_configuration_lies_beside_the_report_and_is_read_again(likewise, ratings, tmp_path):
    first = likewise("audit", ratings, "--config", written(tmp_path, FEW), "--out", tmp_path / "a")
    assert (first.code, first.err) == (0, "")
    kept = tmp_path / "a" / "config.toml"
    assert "estimator" not in kept.read_text(encoding="utf-8")
    assert "nearest_share = 0.1" in kept.read_text(encoding="utf-8")  # defaults, too
    again = likewise("audit", "--config", kept, "--out", tmp_path / "b")
    assert again.code == 0
    reports = [(tmp_path / name / "report.json").read_bytes() for name in "ab"]
    assert reports[0] == reports[1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("treshold = 1.0", "did you mean threshold?"),
        ("threshold = ", "audit.toml"),
        ("threshold = 1979-05-27", "--threshold"),
        ("zzz = 1", "likewise audit --help"),
        ('ratings = "nowhere.csv"', "no file 'nowhere.csv'"),
    ],
)
def test_one_line_says_what_is_wrong(likewise, ratings, tmp_path, text, told):
    arguments = ["audit", "--config", written(tmp_path, text)]
    ran = likewise(*arguments) if "ratings" in text else likewise("audit", ratings, *arguments[1:])
    assert ran.code == 1
    assert told in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_command_of_commands_has_no_options(likewise, tmp_path):
    ran = likewise("data", "list", "--config", written(tmp_path, FEW))
    assert (ran.code, len(ran.err.splitlines())) == (1, 1)


def test_no_such_file(likewise, ratings):
    assert "no file 'nowhere.toml'" in likewise("audit", ratings, "--config", "nowhere.toml").err


@pytest.mark.parametrize("value", ["plain", 'q"uo\\te', "two\nlines", "\x00\x7f\u202e", "😀"])
def test_any_text_comes_back(value):
    import tomllib

    assert tomllib.loads(resolved("audit", {"user": value}))["audit"]["user"] == value


@pytest.mark.slow
def test_checks_decide_the_exit_code(likewise, ratings):
    typed = (
        "audit",
        ratings,
        "--threshold",
        "1.0",
        "--n-neighbors",
        "3",
        "--reference",
        "observed",
        "--hold-out",
        "0.2",
    )
    broken = likewise(*typed, "--check", "rmse<=0.0001", "--check", "gap<=99")
    assert broken.code == 3
    assert "check rmse<=0.0001: " in broken.err
    assert "gap<=99" not in broken.err
    assert "gap<=99: holds" in broken.out
    assert likewise(*typed, "--check", "rmse<=0.0001:warning", "--quiet").code == 0
    assert likewise(*typed, "--check", "gap<=99", "--quiet").code == 0
    unread = likewise(*typed, "--check", "gab<=99")
    assert (unread.code, unread.out) == (1, "")
    assert "did you mean gap?" in unread.err


def test_a_dry_run_says_memory_and_time_and_writes_nothing(likewise, ratings, tmp_path):
    ran = likewise("audit", ratings, "--dry-run", "--out", tmp_path / "report")
    assert ran.code == 0
    assert "memory: about " in ran.out
    assert "time: about " in ran.out
    assert "Read ratings.csv: individuals from userId" in ran.out
    assert "[audit]" in ran.out
    assert "dry_run =" not in ran.out
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("command", ["estimate", "frontier", "repair"])
def test_every_command_that_computes_tells_its_plan_and_reads_it_again(likewise, ratings, tmp_path, command):
    people = sorted({line.split(",")[0] for line in ratings.read_text().splitlines()[1:]})
    scores = [f"{one},{k / 7}" for k, one in enumerate(people)]
    (tmp_path / "scores.csv").write_text("\n".join(["userId,score", *scores]) + "\n")
    options = {
        "estimate": ["--out", tmp_path / "out.npz", "--estimator", "biases"],
        "frontier": ["--out", tmp_path / "out", "--estimator", "svt"],
        "repair": ["--out", tmp_path / "out.csv", "--outputs", tmp_path / "scores.csv", "--lipschitz", "0.1"],
    }[command]
    ran = likewise(command, ratings, *options, "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    assert "memory: about " in ran.out
    assert "individuals from userId" in ran.out
    assert not list(tmp_path.glob("out*"))
    configuration = ran.out[ran.out.index(f"[{command}]") :]
    (tmp_path / "again.toml").write_text(configuration)
    again = likewise(command, "--config", tmp_path / "again.toml", "--dry-run")
    assert again.out.endswith(configuration)
    if command != "frontier":
        assert likewise(command, "--config", tmp_path / "again.toml").code == 0
        assert len(list(tmp_path.glob("out*"))) == 1


@pytest.mark.slow
def test_two_reports(likewise, ratings, tmp_path):
    for name, share in (("a", "0.1"), ("b", "0.3")):
        likewise(
            "audit",
            ratings,
            "--threshold",
            "1.0",
            "--nearest-share",
            share,
            "--out",
            tmp_path / name,
            "--quiet",
        )
    ran = likewise("diff", tmp_path / "a", tmp_path / "b" / "report.json")
    assert ran.code == 0
    assert "Setting nearest_share: 0.1 before, 0.3 after." in ran.out
    assert len(ran.out.splitlines()) <= 25
    missing = likewise("diff", tmp_path / "a", tmp_path / "none.json")
    assert (missing.code, len(missing.err.splitlines())) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command(likewise, shell):
    ran = likewise("completion", shell)
    assert ran.code == 0
    assert all(command in ran.out for command in app if not command.startswith("-"))
