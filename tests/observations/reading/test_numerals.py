"""Numbers as people write them, one at a time and by the column, against Python's own float."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import FileFormatError
from likewise.observations.reading.numerals import (
    Notation,
    could_be_number,
    could_be_numbers,
    find_notation,
    note_on_missing,
    rank_of_word,
)

WRITTEN = [
    ("3.5", ".", 3.5),
    (" 3.5\t", ".", 3.5),
    ("\u00a03.5\u00a0", ".", 3.5),
    ("+.5e1", ".", 5.0),
    ("1,234,567.25", ".", 1234567.25),
    ("1 234", ".", 1234.0),
    ("1'234.5", ".", 1234.5),
    ("-3,5", ",", -3.5),
    ("1.234,5", ",", 1234.5),
    ("1.234.567", ",", 1234567.0),
    ("1\u202f234,5", ",", 1234.5),
    (",5", ",", 0.5),
    ("7", ",", 7.0),
    ("?", ".", None),
    ("n/a", ",", None),
    ("#N/A", ".", None),
    ("<NA>", ".", None),
    ("", ".", None),
]
NO_NUMBERS = [
    ("1_000", "."),
    ("0x10", "."),
    ("1,23", "."),
    ("12,3456", "."),
    ("1.5", ","),
    ("1,2,3", ","),
    ("seven", "."),
    ("\u0661\u0662", "."),
    ("1e", "."),
]


@pytest.mark.parametrize(("text", "decimal", "value"), WRITTEN)
def test_a_number_in_its_notation(text, decimal, value):
    notation = Notation(decimal)
    assert notation.number(text) == value
    numbers, is_missing = notation.numbers(pl.Series([text]))
    assert (numbers.to_list(), is_missing.to_list()) == ([value], [value is None])


@pytest.mark.parametrize(("text", "decimal"), NO_NUMBERS)
def test_no_number_in_this_notation(text, decimal):
    notation = Notation(decimal)
    with pytest.raises(ValueError, match="is not a number"):
        notation.number(text)
    numbers, is_missing = notation.numbers(pl.Series([text]))
    assert (numbers.to_list(), is_missing.to_list()) == ([None], [False])


ALPHABET = st.text("0123456789.,-+eE '\u00a0?NAnainf_x", max_size=8)


@given(st.lists(ALPHABET, min_size=1, max_size=5), st.sampled_from(".,"))
def test_a_column_is_read_as_its_fields_are(texts, decimal):
    notation = Notation(decimal)
    expected = []
    for text in texts:
        try:
            expected.append((notation.number(text), notation.is_missing(text)))
        except ValueError:
            expected.append((None, False))
    numbers, is_missing = notation.numbers(pl.Series(texts))
    assert repr(list(zip(numbers.to_list(), is_missing.to_list(), strict=True))) == repr(expected)


@given(st.floats(allow_nan=False) | st.integers(-(10**18), 10**18))
def test_what_python_writes_is_read_back(number):
    assert could_be_number(repr(number))
    assert Notation().number(repr(number)) == float(number)


@given(st.integers(0, 10**12), st.integers(0, 99))
def test_grouped_numbers_are_read_back_in_both_notations(whole, hundredths):
    english = f"{whole:,}.{hundredths:02}"
    continental = english.replace(",", " ").replace(".", ",").replace(" ", ".")
    assert (
        Notation(".").number(english)
        == Notation(",").number(continental)
        == float(f"{whole}.{hundredths:02}")
    )


@pytest.mark.parametrize(
    ("columns", "decimal", "note"),
    [
        ([["3.5", "4"]], ".", []),
        ([["3,5", "4"]], ",", ["numbers such as '3,5' have a decimal comma"]),
        ([["1,234.5", "2,000"]], ".", ["numbers such as '1,234.5' have separators of thousands"]),
        ([["1,000,000"]], ".", ["numbers such as '1,000,000' have separators of thousands"]),
        ([["1,250"], ["0,5"]], ",", ["numbers such as '1,250' have a decimal comma"]),
        ([["1.234,5", "2.000"]], ",", ["numbers such as '1.234,5' have a decimal comma"]),
        ([["3,5", "NA", "?"]], ",", ["numbers such as '3,5' have a decimal comma"]),
        ([["3,5", "2.5"]], ".", []),
        ([["3,5", "four"]], ".", []),
    ],
)
def test_all_columns_of_a_file_decide_together(columns, decimal, note):
    notation, notes = find_notation([pl.Series(column) for column in columns], None, None, "f.csv")
    assert (notation.decimal, notes) == (decimal, note)


def test_what_nothing_decides_is_refused_with_both_readings():
    with pytest.raises(
        FileFormatError, match=r"'1,234' in f.csv, which are 1.234 or 1234; .*decimal=',' or decimal='\.'"
    ):
        find_notation([pl.Series(["1,234", "5"])], None, None, "f.csv")
    assert find_notation([pl.Series(["1,234", "5"])], ",", None, "f.csv")[0].number("1,234") == 1.234
    assert find_notation([pl.Series(["1,234", "5"])], ".", None, "f.csv")[0].number("1,234") == 1234


def test_own_words_for_missing_take_the_place_of_the_usual_ones():
    notation = Notation(missing=("refused", "99"))
    assert [notation.number(text) for text in ("refused", " 99 ", "", "9")] == [None, None, None, 9.0]
    with pytest.raises(ValueError, match="'NA' is not a number"):
        notation.number("NA")


def test_words_for_missing_are_counted_by_word_and_column():
    notation, texts = (
        Notation(),
        {"age": ["?", "1", "NA", "-"], "pay": ["-", "", None, " - "], "level": ["none", "1", "2", "none"]},
    )
    columns = [
        (name, cells, notation.numbers(cells)[1])
        for name, cells in ((name, pl.Series(t)) for name, t in texts.items())
    ]
    assert note_on_missing(columns) == [
        "3 cells in 2 columns that say '-' count as missing (1 of age, 2 of pay)",
        "1 cell of age that says '?' counts as missing",
        "1 cell of age that says 'NA' counts as missing",
        "2 cells of level that say 'none' count as missing",
    ]
    many = [(str(k), pl.Series(["?"]), pl.Series([True])) for k in range(4)]
    assert note_on_missing(many) == ["4 cells in 4 columns that say '?' count as missing"]


def test_words_that_stand_in_an_order():
    assert [rank_of_word(word) for word in ("no", "Waitlist", "YES", "level 3", "cook", "low 2")] == [
        0,
        1,
        2,
        3,
        None,
        None,
    ]


def test_whole_columns_of_numbers_are_told_from_words():
    assert could_be_numbers(pl.Series(["1", "2,5"]))
    assert could_be_numbers(pl.Series([1, 2]))
    assert not could_be_numbers(pl.Series(["1", "x"]))
