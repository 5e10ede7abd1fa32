"""Delimited text: quotes that swallow lines, first lines for Excel, separators beside decimal commas, blanks at the end."""

import numpy as np
import pytest

from likewise.errors import FileFormatError, InputError
from likewise.observations import read_ratings
from likewise.observations.reading import TextOptions
from likewise.observations.reading.text import are_plain

SWALLOWED = '1\t2\t5\t"great film\n2\t2\t1\tok\n2\t3\t4\tok\n3\t2\t3\tok"\n'
"""Four lines; where quotes enclose, one row with a review of four lines."""


@pytest.fixture
def read(tmp_path):
    def reading(text, **options):
        path = tmp_path / "f.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_ratings(path, **options)

    return reading


def test_quotes_that_swallow_lines_are_refused_with_both_readings(read):
    with pytest.raises(
        FileFormatError,
        match=r"a quote in line 1 encloses .* 1 of 4 lines are read, .*quote='none' or quote='\"'",
    ):
        read(SWALLOWED)
    Z = read(SWALLOWED, quote="none")
    assert (Z.row_ids.tolist(), Z.values.data.tolist()) == ([1, 2, 3], [5, 1, 4, 3])
    one = read(SWALLOWED, quote='"', value_range=(1, 5))
    assert one.n_observed == 1
    assert any("1 rows were read from 4 lines" in note for note in one.notes)


def test_the_line_that_is_named_counts_the_header_and_what_stands_before(read):
    head = "\n\nuser\titem\trating\treview\n"
    with pytest.raises(FileFormatError, match="a quote in line 5 encloses"):
        read(head + "1\t1\t5\tgood\n" + SWALLOWED)


def test_a_field_that_can_only_be_one_that_spans_lines_is_noted(read):
    Z = read('user,title,item,rating\n1,"a, b",10,5\n7,"f\ng",20,1\n')
    assert Z.n_observed == 2
    assert "fields in quotes span lines: 2 rows were read from 3 lines" in Z.notes


def test_a_first_record_that_spans_lines_is_one_record(read):
    assert read('"a\nb",1,5\nc,1,3\n').row_ids.tolist() == ["a\nb", "c"]
    assert read('user,"it\nem",rating\n1,2,5\n2,2,3\n', item=1).n_observed == 2


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ('u,i,rating\n1,"say ""hi""",5\n1,b,3\n', ["b", 'say "hi"']),
        ('u,i,rating\n1,"say \\"hi\\"",5\n1,b,3\n', ["b", 'say "hi"']),
        ('u,i,rating\n1,12" record,5\n1,"a,b",3\n1,3" x,1\n', ['12" record', '3" x', "a,b"]),
        ('u,i,rating\n1,"C:\\",5\n1,b,3\n', ["C:\\", "b"]),
        ("u,i,rating\n1,'a,b',5\n1,c,3\n", None),
    ],
)
def test_quotes_in_every_dialect(read, text, items):
    if items is None:
        with pytest.raises(FileFormatError, match="4 fields"):
            read(text)
        assert read(text, quote="'").column_ids.tolist() == ["a,b", "c"]
    else:
        assert read(text).column_ids.tolist() == items


@pytest.mark.parametrize("text", ['u,i,rating\n1,"a"b,5\n1,c,3\n', 'u,i,rating\n1,a,5\n1,"c,3\n'])
def test_quotes_in_no_dialect_are_refused_with_the_option_that_reads_them(read, text):
    with pytest.raises(InputError, match=r"quote='none'|2 fields"):
        read(text)
    assert read(text, quote="none").n_observed == 2


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('"a",b', True),
        ('a,"b,c"\nd,"e""f"', True),
        ('""', True),
        ('a,"""b"""', True),
        ('12" x,"b"', False),
        ('"a"b', False),
        ('"a', False),
        ('a,"b\\"c"', False),
    ],
)
def test_plain_quotes_are_told_from_others(body, expected):
    assert are_plain('"', body.encode(), ",") is expected


@pytest.mark.parametrize("first", ["sep=;\n", "SEP=;\r\n", '"sep=;"\n', "\ufeffsep=;\n"])
def test_the_line_that_tells_excel_the_separator_is_no_data(read, first):
    Z = read(first + "user;item;rating\n1;2;3,5\n2;2;1\n")
    assert Z.values.data.tolist() == [3.5, 1]
    with pytest.raises(FileFormatError, match=r"line 3 of f.csv, '1;2;x'"):
        read(first + "user;item;rating\n1;2;x\n")


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas_are_no_separators(read, separator):
    lines = [("1,5", "2,5", "3,5"), ("1,25", "2", "4")]
    text = "\n".join(separator.join(line) for line in lines)
    np.testing.assert_array_equal(read(text, format="grid").to_dense(), [[1.5, 2.5, 3.5], [1.25, 2, 4]])


def test_a_decimal_comma_is_noted_and_what_is_said_is_taken(read):
    Z = read("user;item;rating\n1;2;3,5\n1;3;1.000,25\n")
    assert Z.values.data.tolist() == [3.5, 1000.25]
    assert "numbers such as '3,5' have a decimal comma" in Z.notes
    assert read("user;item;rating\n1;2;3,125\n1;3;4\n", decimal=",").values.data.tolist() == [3.125, 4]
    assert read("user;item;rating\n1;2;3,125\n1;3;4\n", decimal=".").values.data.tolist() == [3125, 4]
    with pytest.raises(FileFormatError, match=r"'2\.5' where a number should be"):
        read("user;item;rating\n1;2;3,5\n1;3;2.5\n", decimal=",")


@pytest.mark.parametrize("blank", [" ", "  ", "\t", "\u00a0", "\u2003"])
def test_blanks_around_numbers_change_nothing(read, blank):
    text = f"user,item,rating\n{blank}1{blank},2{blank},{blank}3.5{blank}\n2,{blank}2,1\n"
    Z = read(text)
    assert (Z.row_ids.tolist(), Z.column_ids.tolist(), Z.values.data.tolist()) == ([1, 2], [2], [3.5, 1])


def test_blanks_do_not_make_seven_of_double_o_seven(read):
    assert read("user,item,rating\n 007,1,5\n7,1,3\n").row_ids.tolist() == [" 007", "7"]


@pytest.mark.parametrize("end", ["\n \n", "\n\n   \n\n", "\r\n  \r\n", "\r\r"])
def test_blank_lines_at_the_end_are_no_rows(read, end):
    assert read("1,1,5\n1,2,3" + end).n_observed == 2


def test_words_for_missing_are_those_that_people_use(read):
    Z = read("name,a,b,c\nNA,1,?,.\nbob,-,2,n/a\ncy,#N/A,<NA>,3\n", id_columns="name")
    assert Z.row_ids.tolist() == ["NA", "bob", "cy"]  # NA is nobody's missing name
    np.testing.assert_array_equal(
        Z.to_dense(np.nan), [[1, np.nan, np.nan], [np.nan, 2, np.nan], [np.nan, np.nan, 3]]
    )
    assert "1 cell of b that says '?' counts as missing" in Z.notes
    assert "1 cell of a that says '-' counts as missing" in Z.roles.remarks


def test_words_for_missing_may_be_named(read):
    text = "name,a,b\nann,1,refused\nbob,4,2\n"
    with pytest.raises(FileFormatError, match="'refused' where a number should be"):
        read(text, id_columns="name")
    assert read(text, id_columns="name", missing="refused").n_observed == 3
    triplets = "user,item,rating\nann,1,NA\nbob,4,2\nbob,1,3\n"
    with pytest.raises(FileFormatError, match=r"'NA' where a number should be, .*missing=\.\.\."):
        read(triplets)
    Z = read(triplets, missing=["NA"])
    assert Z.values.data.tolist() == [3, 2]
    assert "1 of 3 lines have no value and are left out" in Z.notes


@pytest.mark.parametrize(
    "options",
    [
        {"separator": 5},
        {"separator": ""},
        {"encoding": None},
        {"encoding": "utf\0"},
        {"header": "yes"},
        {"decimal": ";"},
        {"quote": "`"},
        {"missing": 5},
        {"missing": [None]},
    ],
)
def test_options_that_are_none_are_typed_errors(read, options):
    with pytest.raises(FileFormatError, match=next(iter(options))):
        read("1,1,5\n1,2,3\n", **options)


def test_what_was_said_of_text_is_refused_for_other_files(tmp_path):
    import polars as pl

    pl.DataFrame({"user": [1, 2], "item": [1, 1], "rating": [1, 2]}).write_parquet(tmp_path / "f")
    for options in ({"decimal": ","}, {"quote": "none"}, {"missing": ["?"]}):
        with pytest.raises(FileFormatError, match=rf"{next(iter(options))}=.* read as triplets"):
            read_ratings(tmp_path / "f", **options)


def test_nothing_said_is_the_default():
    assert TextOptions() == TextOptions(None, None, "utf-8", None, None, None)
