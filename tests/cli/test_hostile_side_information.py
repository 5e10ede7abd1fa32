"""Features, times and levels that cannot be used, or should not: the same answer from a file and from Python, never a traceback."""

from __future__ import annotations

import io
import re
import warnings
from datetime import date

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import likewise as package
from likewise.errors import LikewiseError
from likewise.estimation import level_probabilities
from likewise.observations import hold_out, with_features, with_times

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
TASTES = RNG.integers(1, 6, (2, 8))
SEEN = RNG.random((12, 8)) < 0.7
STARS = np.where(SEEN, TASTES[np.arange(12) % 2], np.nan)
USERS = [f"u{i}" for i in range(12)]
MEANS = np.nanmean(STARS, axis=1)
TIMES = RNG.permutation(SEEN.sum())

OURS = "WARNED: "
"""Before what a warning says of input that is used all the same."""


def table(*columns: list[object], ids: list[str] = USERS, names: str = "user,x,y") -> str:
    """Return a file of comma-separated values, ids first."""
    lines = [",".join(map(str, line)) for line in zip(ids, *columns, strict=True)]
    return "\n".join([",".join(names.split(",")[: 1 + len(columns)]), *lines]) + "\n"


AGES = [20 + i % 5 for i in range(12)]
FILES = {
    "of others": (table(AGES, ids=[f"x{i}" for i in range(12)]), "none of them among the observations"),
    "an id twice": (table(AGES, ids=[*USERS[:11], "u0"]), "an id twice|more than once"),
    "ids alone": (table(), "none says anything|ids alone"),
    "no rows": ("user,x\n", "no rows|none says anything"),
    "empty": ("", "empty"),
    "all missing": (table([""] * 12), "none says anything"),
    "all missing words": (table(["NA"] * 12), "none says anything"),
    "one known": (table([5.0] + [""] * 11), "none says anything"),
    "constant": (table([1.5] * 12), "none says anything"),
    "constant word": (table(["a"] * 12), "none says anything"),
    "each another word": (table([f"name {i}" for i in range(12)]), "none says anything"),
    "constant beside another": (table([1] * 12, AGES), OURS + "say nothing are left out: 'x'"),
    "infinite": (table(["inf", *AGES[1:]]), "infinite"),
    "nearly infinite": (table(["1e308", *AGES[1:]]), "largest value"),
    "nearly zero": (table([f"{i}e-320" for i in range(12)]), "largest value"),
    "the mean": (table(MEANS.tolist()), OURS + "nearly the mean .*: 'x'"),
    "the mean beside another": (table(AGES, MEANS.tolist()), OURS + "nearly the mean .*: 'y'"),
    "the mean in another unit": (table((3 - 20 * MEANS).tolist()), OURS + "nearly the mean .*: 'x'"),
    "the mean, rounded": (table(MEANS.round(2).tolist()), OURS + "nearly the mean .*: 'x'"),
    "the mean, as ranks": (
        table(np.unique(MEANS, return_inverse=True)[1].tolist()),
        OURS + "nearly the mean .*: 'x'",
    ),
    "the mean of eleven": (table([*MEANS[:11].tolist(), ""]), OURS + "nearly the mean .*: 'x'"),
}
"""Files of features of the people, and what is said of each; read by the command, and as a frame in Python."""


@pytest.fixture
def rated(tmp_path):
    """A file of ratings with times."""
    rows, columns = np.nonzero(SEEN)
    lines = [f"u{i},{j},{STARS[i, j]:.0f},{t}" for i, j, t in zip(rows, columns, TIMES, strict=True)]
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,rating,when\n" + "\n".join(lines) + "\n")
    return path


def observed():
    return package.ObservedMatrix(STARS, value_range=(1, 5), row_ids=USERS, column_ids=np.arange(8))


def said_in_python(call) -> str:
    """Return the message of the one typed error, or of the warnings; anything else fails the test."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            call()
        except LikewiseError as error:
            return str(error)
    assert all(issubclass(each.category, UserWarning) for each in warned), [str(w.message) for w in warned]
    return OURS + " ".join(str(each.message) for each in warned)


def said_by_command(ran, out) -> str:
    """Return the one line of an error, after which no file is there, or the warnings."""
    assert "Traceback" not in ran.err
    if ran.code == 0:
        assert out.exists()
        return OURS + ran.err
    assert ran.code in (1, 2)
    assert not out.exists()
    (line,) = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    return line


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_features(likewise, rated, tmp_path, name):
    text, expected = FILES[name]
    (tmp_path / "users.csv").write_text(text)
    out = tmp_path / "estimate.npz"
    options = ("--estimator", "als", "--set", "rank=2", "--row-features", tmp_path / "users.csv")
    said = said_by_command(likewise("estimate", rated, "--out", out, *options), out)
    assert_says(said, expected)


@pytest.mark.parametrize("name", [name for name in FILES if name != "empty"])
def test_the_same_as_a_frame(name):
    text, expected = FILES[name]
    people = pl.read_csv(io.StringIO(text), null_values="NA")
    assert_says(said_in_python(lambda: fit(with_features(observed(), people))), expected)


def assert_says(said: str, expected: str) -> None:
    assert said.startswith(OURS) == expected.startswith(OURS), said
    assert re.search(expected.removeprefix(OURS), " ".join(said.split())), said


def fit(known):
    """Complete what can be used: whatever was taken, the estimate is finite."""
    estimate = package.make_estimator("als", rank=2, random_state=0).fit(known).estimate_
    assert np.isfinite(estimate.to_dense()).all()


GIVEN = {
    "too few rows": (np.arange(11.0), "11 rows"),
    "transposed": (np.ones((2, 12)) * np.arange(12), "2 rows"),
    "three dimensions": (np.zeros((12, 2, 2)), "shape"),
    "a number": (3.0, "shape"),
    "the name of a file": ("users.csv", "read the file first"),
    "columns of different lengths": ({"a": [1, 2, 3], "b": AGES}, "with 12 and 3 rows"),
    "a column that is none": ({"a": 3}, "a list of cells"),
    "complex numbers": (np.arange(12) + 1j, "complex numbers"),
    "records": (np.zeros(12, dtype=[("a", float), ("b", int)]), "records"),
    "a sparse one of zeros": (sparse.csr_array((12, 3)), "none says anything"),
    "a sparse one of constants": (sparse.csr_array(np.ones((12, 1))), "none says anything"),
    "a sparse one whose squares overflow": (sparse.csr_array(np.eye(12, 1) * 1e200), "largest value"),
    "a sparse one that is the mean": (sparse.csr_array(MEANS[:, None]), OURS + "nearly the mean"),
    "no column": (np.zeros((12, 0)), "none says anything"),
    "a whole number that no float holds": ({"a": [10**400, *AGES[1:]]}, "infinite"),
    "an index of others": (pd.DataFrame({"age": AGES}, index=range(100, 112)), "none of them among"),
    "an index with an id twice": (
        pd.DataFrame({"age": AGES}, index=[*USERS[:11], "u0"]),
        "an id twice|more than once",
    ),
    "a lazy frame": (pl.LazyFrame({"user": USERS, "age": AGES}), "collect"),
    "ragged rows": ([[1, 2], [3]] * 6, "rectangular"),
    "dates": ({"born": [date(1990, 1, 1 + i % 7) for i in range(12)]}, OURS),
    "a missing date": ({"born": [pd.NaT, *pd.date_range("1990", periods=11, tz="UTC")]}, OURS),
    "words and numbers": ({"a": [1, "x"] * 6}, OURS),
    "more columns than people": (RNG.normal(size=(12, 200)), OURS),
    "one column twice": (np.column_stack([AGES, AGES]), OURS),
}
"""What a file cannot hold, or not so easily."""


@pytest.mark.parametrize("name", GIVEN)
def test_features_in_python(name):
    given, expected = GIVEN[name]
    assert_says(said_in_python(lambda: fit(with_features(observed(), given))), expected)


GAP = np.where(TIMES == 3, 10**18, TIMES)
WHEN = {
    "text": (["2020-01-01"] * TIMES.size, "numpy.datetime64"),
    "infinite": (np.where(TIMES == 3, np.inf, TIMES), "infinite"),
    "none known": (np.full(TIMES.size, np.nan), "no time that is known"),
    "all at one": (np.ones(TIMES.size), "times that differ"),
    "one known": (np.where(TIMES == 3, 3.0, np.nan), "times that differ"),
    "too few": (TIMES[:-1], "one for each"),
    "complex": (TIMES + 1j, "real numbers"),
    "objects": ([object()] * TIMES.size, "real numbers"),
    "dates with a zone": (pd.date_range("2020", periods=TIMES.size, tz="Europe/Paris"), OURS),
    "one far in the future": (GAP, OURS),
    "half unknown": (np.where(TIMES % 2, TIMES, np.nan), OURS),
}


@pytest.mark.parametrize("name", WHEN)
def test_times_in_python(name):
    times, expected = WHEN[name]

    def estimated():
        split = hold_out(with_times(observed(), times), 0.2, by="time")
        known = split.training.times
        assert not (known > split.later_than).any(), (
            "nothing that is learnt from lies in the future of the split"
        )
        found = package.make_estimator("als", rank=1, sources="time", random_state=0).fit(split.training)
        assert np.isfinite(found.estimate_.to_dense()).all()

    assert_says(said_in_python(estimated), expected)


@pytest.mark.parametrize(
    ("column", "options", "expected"),
    [
        (None, ("--split", "time"), "times"),
        ("nothing", ("--split", "time"), "nothing"),
        ("user", ("--split", "time"), "user"),
        ("when", ("--split", "sometimes"), "sometimes"),
        ("item", ("--split", "time"), "item"),
    ],
)
def test_times_on_the_command_line(likewise, rated, tmp_path, column, options, expected):
    named = () if column is None else ("--time", column)
    out = tmp_path / "report"
    ran = likewise(
        "audit", rated, "--estimator", "biases", "--model", "identity", "--out", out, *named, *options
    )
    assert_says(said_by_command(ran, out), expected)


LEVELS = {
    "from high to low": ([5, 4, 3, 2, 1], "from the lowest to the highest"),
    "in no order": ([1, 3, 2, 4, 5], "from the lowest to the highest"),
    "one twice": ([1, 2, 2, 3, 4, 5], "each once"),
    "words": (["bad", "good"], "labels have none"),
    "some lacking": ([1, 2], "none of the levels"),
    "none": ([], "none of the levels"),
    "one that is unknown": ([1, 2, 3, 4, 5, np.nan], "from the lowest"),
    "an infinite one": ([1, 2, 3, 4, 5, np.inf], "from the lowest"),
    "a mapping": ({1: "bad"}, "not numbers"),
    "a number": (5, "from the lowest"),
    "too many": (np.arange(1, 30), "2 to 20"),
}


@pytest.mark.parametrize("name", LEVELS)
def test_levels(name):
    levels, expected = LEVELS[name]
    assert_says(said_in_python(lambda: level_probabilities(observed(), "biases", levels=levels)), expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [(["low", "mid", "high"], "low"), ([0.1 * k for k in range(30)], "2 to 20"), (["1.0"], "1")],
)
def test_levels_without_an_order_on_the_command_line(likewise, tmp_path, values, expected):
    ratings = [f"u{i},{j},{values[(3 * i + j) % len(values)]}" for i in range(12) for j in range(8)]
    (tmp_path / "ratings.csv").write_text("user,item,rating\n" + "\n".join(ratings) + "\n")
    (tmp_path / "pairs.csv").write_text("user,item\nu1,2\n")
    out = tmp_path / "out.csv"
    options = ("--pairs", tmp_path / "pairs.csv", "--distribution", "--estimator", "biases", "--out", out)
    assert_says(said_by_command(likewise("estimate", tmp_path / "ratings.csv", *options), out), expected)
