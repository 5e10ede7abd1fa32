"""Categories that lose by being categories are said to, and what is no category at all is warned of."""

import warnings

import pytest

from likewise.errors import CategoryWarning
from likewise.observations.reading import read_table

N = 20


@pytest.fixture
def read(tmp_path):
    def reading(*cells):
        lines = [f"p{k},{cells[k % len(cells)]}" for k in range(N)]
        (tmp_path / "people.csv").write_text("\n".join(["id,x", *lines]) + "\n")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return read_table(tmp_path / "people.csv", id_columns="id").roles

    return reading


@pytest.mark.parametrize(
    ("cells", "named"),
    [
        (["90%", "76 %", "100%"], "x ('90%')"),
        ([f"{k}%" for k in range(N)], "x ('0%')"),
        (['"$4,208"', '"$1,159.50"'], "x ('$4,208')"),
        (["12 kg", "7.5 kg"], "x ('12 kg')"),
        (["2024-05-31", "2023-01-02"], "x (dates)"),
        (["01/05/2024", "13/06/2024"], "x (dates)"),
        (["2024-05-31T12:00:00", "2023-01-02 13:00"], "x (dates)"),
        (["high", "low", "mid"], "x (low, mid, high)"),
        (["yes", "waitlist", "no"], "x (no, waitlist, yes)"),
        (["grade 10", "grade 9", "grade 8"], "x (grade 8, grade 9, grade 10)"),
    ],
)
def test_what_could_be_a_number_is_named(read, cells, named):
    assert read(*cells).categories == ("x",)
    assert read(*cells).remarks == (f"only equal or not, unless written as numbers: {named}",)


@pytest.mark.parametrize(
    "cells",
    [
        ["cook", "nurse"],
        ["yes", "no"],
        ["low", "high"],
        ["cook", "low", "high"],
        ["A-1", "B-2"],
        ["east", "2nd street"],
    ],
)
def test_a_category_that_is_one_is_not(read, cells):
    assert read(*cells).remarks == ()


def test_numbers_with_zeros_first_may_be_codes(read):
    assert read("03547", "05646", "15000").remarks == ("if x is a code, put a letter before its numbers",)
    assert read("0", "0.5", "10").remarks == ()


def test_a_category_of_which_everybody_has_another_is_warned_of(read, tmp_path):
    words = [f"an essay on {chr(97 + k)}" for k in range(N)]
    with pytest.raises(
        CategoryWarning, match=r"category 'x' has 20 different words for 20 individuals.*exclude='x'"
    ):
        read(*words)
    read(*words[: N // 2])
