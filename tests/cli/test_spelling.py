"""Errors and warnings speak as a shell does; wishes that mean nothing are refused; names of columns win over positions."""

import ast
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from likewise import errors, read_ratings
from likewise.cli.exits import exit_code_of
from likewise.cli.main import _options
from likewise.errors import FileFormatError, InputError, LikewiseWarning, MemoryLimitError, option
from likewise.inference import read_groups
from likewise.observations.reading.columns import Numeral

MARKS = "id,2020,2021\nann,1,2\nbea,3,4\ncy,5,7\n"


def message(ran, code=1):
    assert ran.code == code
    assert ran.out == ""
    return ran.err


@pytest.fixture
def write(tmp_path):
    def written(content, name="file.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


@pytest.mark.parametrize(
    ("content", "options", "shell", "python"),
    [
        ("Zo\xeb,1,3\n".encode("latin-1"), (), "--encoding latin-1", "encoding='latin-1'"),
        (b"1,1,3\n1,2,3\n", (), "--value-range low,high", "value_range=(low, high)"),
        (
            b"1,2,3,4,5\n",
            (),
            "the positions --user, --item and --rating",
            "user=..., item=... and rating=...",
        ),
        (
            b"u,item,x\n1,1,3\n",
            (),
            "name it, --rating, or give --columns",
            "rating=..., or give columns=[...]",
        ),
        (
            b"1,1,3\n1,1,4\n",
            (),
            "--duplicates first, --duplicates last or",
            "duplicates='first', duplicates='last' or",
        ),
    ],
)
def test_hints_name_options_as_they_are_typed(likewise, write, content, options, shell, python):
    file = write(content)
    assert shell in message(likewise("audit", file, *options))
    with pytest.raises(InputError) as error:
        read_ratings(file)
    assert python in str(error.value)
    assert python in error.value.hint


def test_options_with_values_that_mean_nothing(likewise, ratings):
    for given in (("--tolerance", "2.0"), ("--pairs", "0"), ("--lipschitz", "-1.0")):
        limit = ("--lipschitz", "1") if given[0] == "--tolerance" else ()
        assert "error: " + " ".join(given) in message(likewise("audit", ratings, *given, *limit))
    assert "expected only --columns, --decimal" in message(
        likewise("audit", ratings, "--format", "wide", "--shape", "1,1")
    )


def test_what_is_no_option_keeps_its_python_name(capsys):
    def command():
        raise InputError(
            option("ax", "3"), "axes", f"leave {option('ax', '')} out, or {option('norm', repr('l1'))}"
        )

    assert exit_code_of(command, lambda: {"--norm"}) == 1
    assert capsys.readouterr().err == "error: ax=3; expected axes. Hint: leave ax out, or --norm l1\n"


def test_names_are_quoted_as_a_shell_needs_it(capsys):
    """A blank in the name of a column was lost, or made two arguments of one."""

    def command():
        exclude, columns = (
            option("exclude", repr("Unnamed: 0")),
            option("columns", repr(["test score", "age"])),
        )
        raise InputError("a column", "a feature", f"give {exclude} or {columns}")

    assert exit_code_of(command, lambda: {"--exclude", "--columns"}) == 1
    hint = "give --exclude 'Unnamed: 0' or --columns 'test score,age'"
    assert capsys.readouterr().err == f"error: a column; expected a feature. Hint: {hint}\n"


def test_warnings_are_spelled_as_well(capsys):
    def command():
        warnings.warn(LikewiseWarning(f"give {option('value_range', '(1, 5)')}"), stacklevel=1)

    assert str(LikewiseWarning(option("a", "1"))) == "a=1"
    assert exit_code_of(command, lambda: {"--value-range"}) == 0
    assert capsys.readouterr().err == "warning: give --value-range 1,5\n"


def test_errors_of_every_kind_are_spelled_as_well(capsys):
    """A limit of memory is no argument that cannot be used, and its marks would have reached the terminal."""

    def command():
        raise MemoryLimitError(f"allow more with {option('memory_limit')}")

    assert exit_code_of(command, lambda: {"--memory-limit"}) == 1
    assert capsys.readouterr().err == "error: allow more with --memory-limit\n"
    assert str(pickle.loads(pickle.dumps(MemoryLimitError(option("a", "1"))))) == "a=1"
    assert isinstance(
        MemoryLimitError.__new__(MemoryLimitError, "a"), MemoryError
    )  # as tblib makes it, which Dask uses


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::likewise.errors.ValueRangeWarning")
@pytest.mark.parametrize(
    ("content", "options", "shell", "python"),
    [
        (
            "user,item,rating\n" + "".join(f"u{k % 9},i{k},{k % 6}\n" for k in range(90)),
            {},
            "give --missing-value 0; if it is a rating, give --value-range 0,5",
            "give missing_value=0; if it is a rating, give value_range=(0, 5)",
        ),
        (
            "".join(f"{k % 2}\t{k}\t{k % 5 + 1}\n" for k in range(90)),
            {},
            "give --user 1 and --item 0",
            "give user=1 and item=0",
        ),
        ("1 2 3\n3 1 2\n2 3 1\n", {"format": "grid"}, "give --missing-value", "give missing_value"),
        (
            "".join(f"{k % 5} {k % 3 - 4} 99 {k % 7}\n" for k in range(12)),
            {"format": "grid"},
            "if it stands for missing, give --missing-value 99; if it is a value, give --value-range low,high",
            "if it stands for missing, give missing_value=99; if it is a value, give value_range=(low, high)",
        ),
    ],
)
def test_notes_name_options_as_they_are_typed(likewise, write, tmp_path, content, options, shell, python):
    """On the terminal and on the page, which keeps what the command was told; in Python as Python does."""
    file = write(content)
    given = [word for name, value in options.items() for word in (f"--{name}", value)]
    assert python in " ".join(read_ratings(file, **options).notes)
    ran = likewise(
        "audit",
        file,
        *given,
        "--estimator",
        "biases",
        "--model",
        "identity",
        "--hold-out",
        "0",
        "--out",
        tmp_path / "page",
        "--details",
    )
    page = (tmp_path / "page" / "report.html").read_text()
    told = " ".join(ran.out.split())
    assert ran.code == 0
    assert shell in told
    assert shell in page
    assert python not in page + told


@pytest.mark.slow
def test_no_sentence_spells_an_option_as_python_does():
    """What a command may print mentions arguments by `option`; the files named here speak to Python alone, or of both."""
    python_alone = {"frames.py", "unpack.py", "outputs.py", "references.py", "products.py", "pytorch.py"}
    names = "|".join(
        name.removeprefix("--").replace("-", "_") for name in _options() if name.startswith("--")
    )
    spelled_out = re.compile(rf"(?<![\w.(\[])({names})=(?!=)")
    package = Path(errors.__file__).parent
    found = [
        (file.name, text)
        for file in sorted(package.rglob("*.py"))
        if file.name not in python_alone and "reproduction" not in file.parts
        for text in sentences(ast.parse(file.read_text()))
        if " " in text and spelled_out.search(text)
    ]
    assert found == []
    assert "give a=1" in sentences(ast.parse("f'{x} give'; y = 'give a=1'"))


def sentences(tree):
    """Return the texts of a module, but for docstrings and what `option` is given."""
    silent = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        or (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "option")
        for inner in (ast.walk(node) if isinstance(node, ast.Call) else [node.value])
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in silent)
    return [node.value for node in constants if isinstance(node.value, str)]


def test_errors_travel_between_processes():
    error = FileFormatError("a file", "another", f"give {option('encoding', repr('utf-8'))}")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.hint) == (FileFormatError, str(error), "give encoding='utf-8'")


@pytest.mark.slow
@pytest.mark.parametrize(
    "idle", [("--model", "knn"), ("--hold-out", "0.1"), ("--n-neighbors", "3"), ("--threshold", "1")]
)
@pytest.mark.parametrize("source", ["--outputs", "--outputs-with"])
def test_options_of_a_model_beside_given_outputs_are_refused(likewise, ratings, write, source, idle):
    scores = write("id,score\n" + "".join(f"user-{k},{k % 3}\n" for k in range(12)), "scores.csv")
    assert f"error: {source} with {idle[0]}; " in message(likewise("audit", ratings, source, scores, *idle))
    assert likewise("audit", ratings, source, scores, "--random-state", "3").code == 0


@pytest.mark.parametrize("target", ["--out", "--json"])
def test_an_empty_name_is_no_place_to_write_to(likewise, ratings, target):
    assert f"{target}: an empty name" in message(likewise("audit", ratings, target, ""), code=2)


def test_columns_named_in_digits(likewise, write):
    file = write(MARKS)
    options = ("--id-columns", "id", "--model", "identity", "--hold-out", "0")
    assert likewise("audit", file, "--columns", "2020,2021", *options).code == 0
    assert likewise("audit", file, "--columns", "1,2", *options).code == 0
    assert "column 7 of file.csv" in message(likewise("audit", file, "--columns", "7", *options))


def test_a_name_wins_over_a_position():
    file_names = ["2", "1", "0"]
    from likewise.observations.reading.columns import position_of

    assert [position_of(Numeral(text), file_names, 3, "f") for text in "012"] == [2, 1, 0]
    assert [position_of(position, file_names, 3, "f") for position in range(3)] == [0, 1, 2]


def test_groups_of_a_column_named_in_digits(write):
    file = write("id,2020\nann,f\nbea,m\n")
    assert read_groups(file, ["bea", "ann"], group_column=Numeral("2020")).tolist() == ["m", "f"]
    assert read_groups(file, ["bea", "ann"], group_column=Numeral("1")).tolist() == ["m", "f"]
    np.testing.assert_array_equal(read_groups(write("1,1\n2,0\n"), [2, 1], group_column=Numeral("1")), [0, 1])


@pytest.mark.slow
def test_people_can_be_compared_on_what_both_observed(likewise, ratings):
    ran = likewise("audit", ratings, "--reference", "co-observed", "--model", "identity", "--details")
    assert ran.code == 0
    assert "on co-observed" in ran.out
