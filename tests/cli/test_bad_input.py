"""Whatever is wrong: one line, the right exit code, and nothing written."""

import errno

import numpy as np
import pytest

from likewise import writing

ROWS = "1,1,5\n1,2,3\n2,1,4\n2,2,1\n3,1,2\n3,2,2\n"


def failed(ran, code=1):
    """Return the message after checking that it is all there is."""
    assert ran.code == code
    assert ran.out == ""
    (line,) = [line for line in ran.err.splitlines() if not line.startswith("warning: ")]
    assert line.startswith("error: ")
    assert "Traceback" not in ran.err
    return line


def contents(folder):
    return sorted(path.name for path in folder.iterdir())


FILES = {
    "empty": (b"", "is empty"),
    "header only": (b"user,item,rating\n", "no rows"),
    "binary": (bytes(range(256)) * 4, "is binary"),
    "not UTF-8": ("user,item,rating\nZo\xeb,1,3\nann,1,4\n".encode("latin-1"), "is not utf-8"),
    "no separator": (b"1;2\n3;4\n", "at least"),
    "too few fields": (b"1,1,5\n1,2\n", "line 2"),
    "too many fields": (b"1,1,5\n1,2,3,4\n", "line 2"),
    "not a number": (b"1,1,5\n1,2,good\n", "'good'"),
    "NaN": (b"1,1,5\n1,2,nan\n", "nan"),
    "infinite": (b"1,1,5\n1,2,inf\n", "inf"),
    "all equal": (b"1,1,3\n1,2,3\n2,1,3\n", "3"),
    "no id": (b"1,1,5\n,2,3\n", "no id"),
    "twice": (b"1,1,5\n1,1,3\n", "more than once"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_files_that_cannot_be_used(likewise, tmp_path, name):
    content, message = FILES[name]
    (tmp_path / "file").write_bytes(content)
    ran = likewise("audit", tmp_path / "file", "--out", tmp_path / "report")
    assert message in failed(ran)
    assert contents(tmp_path) == ["file"]


def test_a_missing_file_and_a_directory(likewise, tmp_path):
    assert "no file" in failed(likewise("audit", tmp_path / "missing"))
    assert "no parts in" in failed(likewise("audit", tmp_path))  # a folder holds the parts of a matrix


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--value-range", "2,4"), "range"),
        (("--value-range", "5,1"), "low < high"),
        (("--value-range", "wide"), "wide"),
        (("--threshold", "-1", "--n-neighbors", "2"), "threshold"),
        (("--threshold", "nan", "--n-neighbors", "2"), "threshold"),
        (("--threshold", "unversal", "--n-neighbors", "2"), "did you mean 'universal'"),
        (("--shrinker", "sft", "--n-neighbors", "2"), "did you mean 'soft'"),
        (("--model", "kmn"), "did you mean 'knn'"),
        (("--reference", "observd"), "did you mean 'observed'"),
        (("--model", "no_such_package:model"), "no_such_package"),
        (("--n-neighbors", "3", "--hold-out", "0"), "n_neighbors is 3 with"),
        (("--n-neighbors", "3", "--model", "identity"), "knn or knn-co-raters"),
        (
            ("--hold-out", "1.5", "--n-neighbors", "2"),
            "error: --hold-out 1.5; expected a number from 0 to below 1",
        ),
        (("--fail-above", "-1"), "error: --fail-above -1; expected a finite number above 0"),
        (("--fail-above", "nan"), "error: --fail-above nan; "),
        (("--nearest-share", "0", "--n-neighbors", "2", "--hold-out", "0"), "--nearest-share 0"),
        (("--shape", "1,1"), "id"),
        (("--user", "name", "--item", "1", "--rating", "2"), "name"),
        (("--outputs-with", "/no/such/file"), "no file"),
        (("--outputs-with", __file__, "--reference", "estimate"), ""),
    ],
)
def test_options_that_cannot_be_used(likewise, tmp_path, options, message):
    (tmp_path / "file").write_text(ROWS)
    assert message in failed(likewise("audit", tmp_path / "file", *options))


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate",),
        ("audit",),
        ("audit", "file", "--frobnicate"),
        ("audit", "file", "--n-neighbors", "many"),
        ("audit", "file", "--hold-out", "much"),
        ("audit", "file", "--n-neighbors", "2.7"),
        ("audit", "file", "--pairs", "100.6"),
        ("audit", "file", "--random-state", "-1"),
        ("demo", "--random-state", "-1"),
        ("audit", "file", "--shape", "6040"),
        ("audit", "file", "--shape", "a,b"),
        ("audit", "file", "--value-range", "low,high"),
        ("audit", "file", "another"),
        ("estimate", "file"),
    ],
)
def test_wrong_usage(likewise, arguments):
    failed(likewise(*arguments), code=2)


def test_one_user_one_item_are_explained(likewise, tmp_path):
    (tmp_path / "one user").write_text("1,1,5\n1,2,3\n")
    failed(likewise("audit", tmp_path / "one user", "--hold-out", "0"))
    (tmp_path / "one item").write_text("1,1,5\n2,1,3\n3,1,1\n")
    ran = likewise(
        "audit", tmp_path / "one item", "--hold-out", "0", "--n-neighbors", "1", "--threshold", "0.1"
    )
    assert ran.code in (0, 1)
    assert "Traceback" not in ran.err


def test_objects_in_an_npz_are_refused(likewise, tmp_path):
    np.savez(tmp_path / "objects.npz", data=np.array([{}], dtype=object), allow_pickle=True)
    failed(likewise("audit", tmp_path / "objects.npz"))


TARGETS = {
    "a file in the way": lambda folder: folder / "file" / "report",
    "a file of that name": lambda folder: folder / "file",
    "a folder that takes no files": lambda _: "/proc/likewise",
}


@pytest.mark.parametrize("name", TARGETS)
def test_targets_are_checked_before_the_work(likewise, tmp_path, monkeypatch, name):
    (tmp_path / "file").write_text(ROWS)
    monkeypatch.setattr("likewise.observations.read_ratings", lambda *_, **__: pytest.fail("began to work"))
    assert "cannot write" in failed(likewise("audit", tmp_path / "file", "--out", TARGETS[name](tmp_path)))
    assert "cannot write" in failed(likewise("demo", "--out", TARGETS[name](tmp_path)))


@pytest.mark.parametrize(("option", "target"), [("--json", "missing/report.json"), ("--json", ".")])
def test_json_targets_are_checked_before_the_work(likewise, tmp_path, monkeypatch, option, target):
    (tmp_path / "file").write_text(ROWS)
    monkeypatch.setattr("likewise.observations.read_ratings", lambda *_, **__: pytest.fail("began to work"))
    assert "cannot write" in failed(likewise("audit", tmp_path / "file", option, tmp_path / target))


def test_a_report_and_its_json_need_two_names(likewise, tmp_path):
    (tmp_path / "file").write_text(ROWS)
    target = tmp_path / "same"
    assert "two different names" in failed(
        likewise("audit", tmp_path / "file", "--out", target, "--json", target)
    )
    assert contents(tmp_path) == ["file"]


@pytest.mark.slow
def test_a_full_disk(likewise, ratings, tmp_path, monkeypatch, quick):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writing, "_write_through", full)
    ran = likewise(
        "audit", ratings, "--n-neighbors", "3", "--out", tmp_path / "report", "--value-range", "1,5"
    )
    assert "No space left on device" in failed(ran)
    assert contents(tmp_path) == []


@pytest.mark.slow
def test_a_full_device(likewise, ratings):
    ran = likewise("audit", ratings, "--n-neighbors", "3", "--json", "/dev/full", "--value-range", "1,5")
    assert "No space left on device" in failed(ran)


@pytest.mark.slow
def test_an_interruption_while_writing(likewise, ratings, tmp_path, monkeypatch, quick):
    def interrupted(path, _):
        path.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(writing, "_write_through", interrupted)
    ran = likewise(
        "audit", ratings, "--n-neighbors", "3", "--out", tmp_path / "report", "--value-range", "1,5"
    )
    assert failed(ran, code=130) == "error: interrupted"
    assert contents(tmp_path) == []


@pytest.mark.parametrize("error", [RuntimeError("first\nsecond"), MemoryError()])
def test_an_unexpected_error_says_how_to_see_more(likewise, ratings, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("likewise.observations.read_ratings", fail)
    assert "LIKEWISE_DEBUG=1" in failed(likewise("audit", ratings), code=70)
    monkeypatch.setenv("LIKEWISE_DEBUG", "1")
    ran = likewise("audit", ratings)
    assert ran.code == 70
    assert "Traceback" in ran.err


@pytest.mark.slow
def test_nothing_that_is_read_is_written_over(likewise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ("ratings.csv", "pairs.csv", "scores.csv", "groups.csv", "frontier.csv", "report.json")
    for name in names:
        (tmp_path / name).write_text("1,1,3\n1,2,4\n2,1,5\n")
    (tmp_path / "link.csv").symlink_to("ratings.csv")
    for arguments in (
        ("estimate", "ratings.csv", "--pairs", "pairs.csv", "--out", "ratings.csv"),
        ("estimate", "ratings.csv", "--pairs", "pairs.csv", "--out", "./pairs.csv"),
        ("estimate", "link.csv", "--pairs", "pairs.csv", "--out", "ratings.csv"),
        ("audit", "ratings.csv", "--json", "ratings.csv"),
        ("audit", "ratings.csv", "--outputs", "scores.csv", "--json", "scores.csv"),
        ("audit", "ratings.csv", "--outputs-with", "scores.csv", "--json", "scores.csv"),
        ("audit", "ratings.csv", "--groups", "groups.csv", "--json", "groups.csv"),
        ("audit", "report.json", "--out", "."),
        ("frontier", "frontier.csv", "--out", "."),
    ):
        ran = likewise(*arguments)
        assert ran.code == 1
        assert ", which is read, as a file to write; expected another name or folder." in ran.err, arguments
    assert {(tmp_path / name).read_text() for name in names} == {"1,1,3\n1,2,4\n2,1,5\n"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--tolerance", "0.1"),
            "error: --tolerance without --lipschitz or --fail-above; expected both, or neither.",
        ),
        (("--group-column", "g"), "error: --group-column without --groups; expected both, or neither."),
    ],
)
def test_an_option_that_means_nothing_alone_is_refused(likewise, ratings, options, message):
    ran = likewise("audit", ratings, *options)
    assert (ran.code, ran.err.strip()) == (1, message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--value-range", "1,2,3"), "Invalid value for --value-range: 1,2,3 is not LOW,HIGH"),
        (("--shape", "12"), "Invalid value for --shape: 12 is not ROWS,COLUMNS"),
        (("--shape", "12,x"), "Invalid value for --shape: 'x' is not a whole number"),
        (("--n-neighbors", "1.5"), "Invalid value for --n-neighbors: '1.5' is not a whole number"),
        (("--random-state", "x"), "Invalid value for --random-state: 'x' is not a whole number"),
    ],
)
def test_a_value_that_cannot_be_read_is_told_in_words(likewise, ratings, options, message):
    ran = likewise("audit", ratings, *options)
    assert ran.code == 2
    assert message in ran.err


def test_a_shrinker_that_is_none_is_told_before_the_work(likewise, ratings):
    ran = likewise("audit", ratings, "--shrinker", "sof", "--threshold", "1e9")
    assert (ran.code, ran.err.startswith("error: unknown shrinker 'sof'")) == (1, True)


@pytest.mark.parametrize("command", [("audit",), ("frontier", "--out", "out")])
def test_few_observations_need_not_be_hidden(likewise, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.csv").write_text("1,1,3\n1,2,4\n2,1,5\n2,2,1\n")
    ran = likewise(command[0], "few.csv", *command[1:], "--model", "identity")
    assert ran.code == 1
    assert ran.err.strip().endswith("Hint: --hold-out 0 hides nothing, and measures no error")


def test_outputs_too_large_to_square_are_told_alone(likewise, tmp_path):
    (tmp_path / "ratings.csv").write_text("1,1,3\n1,2,4\n2,1,5\n2,2,1\n")
    (tmp_path / "scores.csv").write_text("id,score\n1,1e300\n2,0\n")
    ran = likewise("audit", tmp_path / "ratings.csv", "--outputs", tmp_path / "scores.csv")
    assert ran.code == 1
    assert ran.err.startswith("error: ")
    assert "sizes up to 1e+300; expected sizes from 1e-145 to 1e+145" in ran.err


def test_outputs_without_a_header_are_told(likewise, tmp_path):
    (tmp_path / "ratings.csv").write_text("1,1,3\n1,2,4\n2,1,5\n2,2,1\n")
    (tmp_path / "scores.csv").write_text("1,0.5\n2,0\n")
    ran = likewise("audit", tmp_path / "ratings.csv", "--outputs", tmp_path / "scores.csv")
    assert (
        ran.err
        == "error: scores.csv begins with the outputs of '1'; expected a header first, such as id,score.\n"
    )
