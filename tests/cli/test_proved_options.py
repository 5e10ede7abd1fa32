"""Options of what is kept aside, of constants, completions and repair: each that makes no sense is one line that names it, tells what would do, and leaves no file."""

import pytest

HELD_OUT = ("audit", "ratings.csv", "--reference", "held-out")
SCORED = ("audit", "ratings.csv", "--outputs", "scores.csv")
ALS = ("audit", "ratings.csv", "--estimator", "als")
REPAIR = ("repair", "ratings.csv", "--outputs", "scores.csv", "--lipschitz", "1", "--out")

REFUSED = (
    ((*HELD_OUT, "--hold-out", "1"), "--hold-out 1.0; expected a number between 0 and 1"),
    ((*HELD_OUT, "--hold-out", "-0.1"), "--hold-out -0.1; expected a number between 0 and 1"),
    ((*HELD_OUT, "--hold-out", "half"), "Invalid value for --hold-out"),
    ((*HELD_OUT, "--least-shared", "0"), "--least-shared 0; expected a whole number >= 1"),
    ((*HELD_OUT, "--least-shared", "11"), "0 pairs of 12 individuals that share 11 or more"),
    ((*HELD_OUT, "--splits", "0"), "--splits 0; expected a whole number >= 1"),
    ((*HELD_OUT, "--splits", "2.5"), "'2.5' is not a whole number"),
    ((*HELD_OUT, "--nearest-share", "0"), "--nearest-share 0.0; expected a number above 0"),
    ((*HELD_OUT, "--confidence", "1"), "--confidence 1.0; expected a number between 0 and 1"),
    (("audit", "ratings.csv", "--reference", "heldout"), "did you mean 'held-out'"),
    (("audit", "ratings.csv", "--reference", "observed", "--splits", "3"), "--splits 3 beside"),
    (("audit", "ratings.csv", "--reference", "observed", "--least-shared", "5"), "--least-shared 5 beside"),
    ((*SCORED, "--splits", "2"), "--outputs with --splits"),
    ((*SCORED, "--missing-entries", "any"), "--missing-entries without --lipschitz"),
    ((*SCORED, "--missing-entries", "some", "--lipschitz", "1"), 'Choose from: "any", "intervals"'),
    ((*ALS, "--max-lipschitz", "inf"), "--max-lipschitz inf; expected a finite number above 0"),
    ((*ALS, "--max-lipschitz", "1e-300"), "expected a limit of at least 1e-60"),
    ((*ALS, "--individual-constants", "folder"), "a folder has this name"),
    ((*ALS, "--individual-constants", "nowhere/own.csv"), "cannot write nowhere/own.csv"),
    ((*ALS, "--sandwich-individuals", "0"), "--sandwich-individuals 0; expected a whole number >= 2"),
    ((*REPAIR, "fair.txt"), "--out fair.txt; expected a name that ends in .csv or .parquet"),
    ((*REPAIR, "nowhere/fair.csv"), "cannot write nowhere/fair.csv"),
    ((*REPAIR, "ratings.csv"), "ratings.csv, which is read, as a file to write"),
    ((*REPAIR, "scores.csv"), "scores.csv, which is read, as a file to write"),
    ((*REPAIR, "fair.csv", "--norm", "l0.5"), "norm 'l0.5'; expected 'l1', 'l2', 'linf'"),
    ((*REPAIR, "fair.csv", "--objective", "least"), 'Choose from: "largest-change", "least-squares"'),
    ((*REPAIR, "fair.csv", "--output-columns", "none"), "no column 'none' in scores.csv"),
)


@pytest.mark.parametrize(("command", "said"), REFUSED, ids=[" ".join(command) for command, _ in REFUSED])
def test_options_that_make_no_sense_are_refused_by_name(
    likewise, ratings, tmp_path, monkeypatch, command, said
):
    monkeypatch.chdir(tmp_path)
    given = {
        "ratings.csv": ratings.read_text(),
        "scores.csv": "id,score\n" + "".join(f"user-{i},{i}\n" for i in range(12)),
    }
    for name, text in given.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder").mkdir()
    ran = likewise(*command)
    assert (ran.code in (1, 2), ran.out) == (True, "")
    (line,) = [line for line in ran.err.splitlines() if line and not line.startswith("warning: ")]
    assert line.startswith("error: ")
    assert said in line
    assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()} == given
    assert not list((tmp_path / "folder").iterdir())
