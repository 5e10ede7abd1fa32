"""Tables of people with numbers and categories."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from likewise.errors import FileFormatError, ObservationError
from likewise.observations.reading import TextOptions, read_features, read_table

PEOPLE = "id,age,job,zip,note\nann,20,cook,101,x\nbea,?,nurse,102,y\ncy,40,,101,z\n"


@pytest.fixture
def write(tmp_path):
    def written(text):
        (tmp_path / "people.csv").write_text(text)
        return tmp_path / "people.csv"

    return written


def test_numbers_are_numbers_and_words_are_categories(write):
    people = read_table(write(PEOPLE), id_columns="id", exclude="note", categories="zip")
    assert people.frame.rows() == [(20.0, "cook", "101"), (None, "nurse", "102"), (40.0, None, "101")]
    assert people.frame.dtypes == [pl.Float64, pl.String, pl.String]
    assert people.row_ids.tolist() == ["ann", "bea", "cy"]
    assert (
        people.roles.sentence()
        == "Read people.csv: individuals from id, numbers from age, categories from job, zip; left out: note; 1 cell of age that says '?' counts as missing."
    )
    assert "categories: job, zip" in people.notes


@pytest.mark.parametrize(
    ("values", "noted"),
    [
        ([101, 205, 930], True),
        ([0, 100, 500, 1000], False),
        ([1, 2, 3, 4, 5], False),
        ([2019, 2021, 2022], False),
        ([101, 930], False),
        ([101.5, 205, 930], False),
        ([-101, 205, 930], False),
        (range(100, 121**2, 121), False),
    ],
)
def test_numbers_that_look_like_codes_are_noted(write, values, noted):
    """Few, whole, each repeated, and scattered: not counts, steps, years, nor scores of all sizes."""
    lines = [f"p{k},{value}" for k, value in enumerate([*values, ""] * 5)]
    people = read_table(write("\n".join(["id,school", *lines])), id_columns="id")
    told = "if school is a code, put a letter before its numbers"
    assert people.roles.remarks == ((told,) if noted else ())
    assert people.roles.by_role() == {
        "ids": ("id",),
        "numbers": ("school",),
        "categories": (),
        **dict.fromkeys(("values", "outputs", "groups", "target", "times")),
    }


def test_columns_in_the_order_given_and_rows_counted(write):
    people = read_table(write(PEOPLE), columns=["job", "age"])
    assert people.frame.columns == ["job", "age"]
    assert people.row_ids.tolist() == [0, 1, 2]


def test_a_word_that_may_be_a_category_is_said_to_be_missing(write):
    text = "id,school,age\nann,none,20\nbea,none,NA\ncy, NA,40\ndan,college,\n"
    people = read_table(write(text), id_columns="id")
    assert people.frame["school"].to_list() == [None, None, None, "college"]
    assert people.roles.remarks == (
        "2 cells in 2 columns that say 'NA' count as missing (1 of school, 1 of age)",
        "2 cells of school that say 'none' count as missing",
    )
    as_said = read_table(write(text), id_columns="id", text=TextOptions(missing=["NA"]))
    assert as_said.frame["school"].to_list() == ["none", "none", None, "college"]
    assert len(as_said.roles.remarks) == 1


def test_none_in_a_column_of_numbers_is_said_to_be_missing(write):
    people = read_table(write("id,level\nann,none\nbea,1\ncy,none\ndan,3\n"), id_columns="id")
    assert people.frame["level"].to_list() == [None, 1.0, None, 3.0]
    assert people.roles.remarks == ("2 cells of level that say 'none' count as missing",)


def test_gower_takes_what_was_read(write):
    """(20/20 + 1) / 2 between ann and cy would count a job that cy does not have: of age alone it is 1."""
    from likewise.fairness import GowerDistance

    people = read_table(write(PEOPLE), id_columns="id", exclude=["note", "zip"])
    distances = GowerDistance(people.frame, row_ids=people.row_ids).block(0, 3)
    assert distances[0, 1] == 1  # another job, and bea's age is not known
    assert distances[0, 2] == 1


def test_a_damaged_number_makes_no_category(write):
    file = write("id,age\nann,20\nbea,2o\ncy,40\n")
    with pytest.raises(
        FileFormatError,
        match=r"column 'age' of people.csv, of whose 3 cells 1 are not numbers, such as '2o'.*categories='age'",
    ):
        read_table(file, id_columns="id")
    assert read_table(file, id_columns="id", categories="age").frame["age"].to_list() == ["20", "2o", "40"]
    assert read_table(file, id_columns="id", text=TextOptions(missing=["2o"])).frame["age"].to_list() == [
        20,
        None,
        40,
    ]


def test_ids_and_counts_are_no_features(write):
    file = write(PEOPLE)
    with pytest.raises(FileFormatError, match="column 'id', which is called like an id"):
        read_table(file)
    with pytest.raises(FileFormatError, match="a column without a name, which is how an index is written"):
        read_table(write(PEOPLE.replace("zip", "")), id_columns="id")
    with pytest.raises(ObservationError, match="'ann' occurs more than once"):
        read_table(write(PEOPLE + "ann,1,cook,1,x\n"), id_columns="id")


def test_decimal_commas_and_parquet(write, tmp_path):
    assert read_table(write("id;gpa\nann;3,5\nbea;2\n"), id_columns="id").frame["gpa"].to_list() == [3.5, 2]
    frame = pl.DataFrame(
        {"id": [1, 2], "age": [20, None], "admitted": [True, False], "job": ["cook", "nurse"]}
    )
    frame.write_parquet(tmp_path / "p.parquet")
    read = read_table(tmp_path / "p.parquet", id_columns="id").frame
    assert read.rows() == [(20.0, "true", "cook"), (None, "false", "nurse")]


def test_columns_that_share_a_name_are_refused(write):
    with pytest.raises(FileFormatError, match="columns that share a name: 'age'"):
        read_table(write("id,age,age\nann,20,1\nbea,30,2\n"), columns=[1, 2])


def _file(folder: Path, text: str) -> Path:
    path = folder / "films.csv"
    path.write_text(text)
    return path


def test_the_column_that_is_called_like_an_id_names_the_rows(tmp_path: Path) -> None:
    frame = read_features(_file(tmp_path, "year,movieId,genre\n1990,b,War|Love\n?,a,War\n"))
    assert frame.columns == ["id", "year", "genre"]
    assert frame.rows() == [("b", 1990.0, "War|Love"), ("a", None, "War")]
    first = read_features(_file(tmp_path, "film,year\nx,1\ny,2\n"))
    assert first.rows() == [("x", 1.0), ("y", 2.0)]
    named = read_features(_file(tmp_path, "film,code\nx,1\ny,2\n"), id_columns="code")
    assert named.rows() == [(1, "x"), (2, "y")]


def test_ids_alone_are_no_features(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="ids alone"):
        read_features(_file(tmp_path, "id\n1\n2\n"))
    with pytest.raises(FileFormatError, match="called like an id"):
        read_features(_file(tmp_path, "code,id\n1,a\n2,a\n"), id_columns="code")
