"""Groups from files, put in the order of the individuals."""

import numpy as np
import polars as pl
import pytest

from likewise.errors import FileFormatError, ModelError
from likewise.inference import read_groups
from likewise.observations.reading import TextOptions, read_groups_file, read_target_file


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,gender,age\n3,m,40\n1,f,30\n2,f,20\n9,m,50\n")
    return path


def test_lines_in_any_order_and_of_others(file):
    assert read_groups(file, [1, 2, 3], group_column="gender").tolist() == ["f", "f", "m"]


def test_columns_by_name_and_position(file):
    assert read_groups(file, ["3", "1"], group_column="age").tolist() == [40, 30]
    assert read_groups(file, [40, 20], id_columns="age", group_column=0).tolist() == [3, 2]


def test_ids_of_two_columns_are_joined_as_they_were_when_read(tmp_path):
    path = tmp_path / "pupils.csv"
    path.write_text("school,student,gender\n7,1,F\n7,2,M\n8,1,M\n")
    groups = read_groups(path, ["8/1", "7/1"], id_columns=["school", "student"], group_column="gender")
    assert groups.tolist() == ["M", "F"]


def test_who_has_no_group_is_named_with_how_many_match(file):
    with pytest.raises(ModelError, match="groups for 2 of 3 individuals, none for 7"):
        read_groups(file, [1, 7, 2], group_column="gender")


def test_one_column_cannot_be_both(file):
    with pytest.raises(FileFormatError, match="different columns"):
        read_groups(file, [1], group_column=0)


def test_unknown_column_suggests_the_nearest(file):
    with pytest.raises(FileFormatError, match="gender"):
        read_groups(file, [1], group_column="gendr")


UNKNOWN = "id,sex\nann,f\nbea,NA\ncy,\ndan,null\neve, m \nfay,<NA>\n"


def test_who_has_no_group_in_the_file_is_in_none_and_counted(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(UNKNOWN)
    groups = read_groups_file(path, ["bea", "ann", "cy", "dan", "eve", "fay"])
    assert groups.values.tolist() == [None, "f", None, None, "m", None]
    assert groups.n_unknown == 4
    assert groups.notes == ("the group of 4 of 6 individuals is unknown",)
    said = "Read people.csv: individuals from id, groups from sex; f: 1, m: 1, without a group: 4; 1 cell of sex that says '<NA>' counts as missing; "
    said += (
        "1 cell of sex that says 'NA' counts as missing; 1 cell of sex that says 'null' counts as missing."
    )
    assert groups.roles.sentence() == said
    assert read_groups_file(path, ["ann", "eve"]).notes == ()


def test_sizes_are_said_of_those_asked_for_and_of_few_groups(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,town\n" + "".join(f"{k},t{min(k, 5)}\n" for k in range(9)))
    assert read_groups_file(path, range(8)).roles.remarks == (
        "t5: 3, t0: 1, t1: 1, t2: 1, 2 more groups",
        "1 of 9 ids is not in the data and is left out",
    )


def test_the_hint_names_the_column_that_is_called_like_a_group(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,income,sex,age\n1,5,f,30\n")
    with pytest.raises(FileFormatError, match="name it with group_column='sex'"):
        read_groups(path, [1])


def test_a_word_for_unknown_is_a_group_where_that_is_asked_for(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(UNKNOWN)
    groups = read_groups_file(path, ["ann", "bea", "cy"], text=TextOptions(missing=()))
    assert groups.values.tolist() == ["f", "NA", None]
    path.write_text("id,region\nann,NA\nbea,EU\n")
    assert read_groups(path, ["ann", "bea"], text=TextOptions(missing=["-"])).tolist() == ["NA", "EU"]


def test_numbers_with_a_gap_stay_whole(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,age\n1,40\n2,\n")
    assert read_groups(path, [1, 2]).tolist() == [40, None]
    path.write_text("id,age\n1,40\n3,07\n")
    assert read_groups(path, [1, 3]).tolist() == ["40", "07"]


def test_an_index_before_the_ids_is_refused(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(",applicant,sex\n0,3,f\n1,5,m\n")
    with pytest.raises(FileFormatError, match=r"a column without a name first .*id_columns='applicant'"):
        read_groups(path, [3, 5], group_column="sex")
    assert read_groups(path, [5, 3], id_columns="applicant", group_column="sex").tolist() == ["m", "f"]


@pytest.mark.data
def test_genders_of_movielens(data_folder):
    groups = read_groups(data_folder / "ml-1m" / "users.dat", np.arange(1, 6041))
    assert dict(zip(*np.unique(groups.astype(str), return_counts=True), strict=True)) == {
        "F": 1709,
        "M": 4331,
    }


def test_a_file_of_many_columns_needs_the_name_of_one(tmp_path):
    """The first column beside the id may be an age: groups of an age each would hide what the real ones show."""
    file = tmp_path / "people.csv"
    file.write_text("id,age,sex\nann,31,f\nbob,32,m\n")
    with pytest.raises(FileFormatError, match=r"2 columns beside the ids: .*age.*sex.*group_column"):
        read_groups(file, ["ann", "bob"])
    assert read_groups(file, ["ann", "bob"], group_column="sex").tolist() == ["f", "m"]


def test_the_hint_names_the_column_with_the_fewest_values(tmp_path):
    """An age names no group; a column with one value tells nobody apart."""
    file = tmp_path / "people.csv"
    file.write_text("id,age,land,mark\na,31,x,f\nb,42,x,m\nc,53,x,f\n")
    with pytest.raises(FileFormatError) as raised:
        read_groups(file, ["a", "b", "c"])
    assert "'mark'" in raised.value.hint
    pl.read_csv(file).write_parquet(tmp_path / "people.parquet")
    with pytest.raises(FileFormatError) as raised:
        read_groups(tmp_path / "people.parquet", ["a", "b", "c"])
    assert "'mark'" in raised.value.hint


@pytest.fixture
def later(tmp_path):
    path = tmp_path / "later.csv"
    path.write_text("id,age,repaid\nbea,30,0\nann,40,1\ncy,50,NA\n")
    return path


def test_it_is_in_the_order_of_the_individuals_and_its_column_is_named(later):
    found = read_target_file(later, ["ann", "cy", "bea"], target_column="repaid")
    assert found.values.tolist() == [1, None, 0]
    assert (
        found.roles.sentence()
        == "Read later.csv: individuals from id, target from repaid; left out: age; 1 cell of repaid that says 'NA' counts as missing."
    )


def test_a_column_must_be_named_where_there_are_several(later):
    with pytest.raises(FileFormatError, match="target_column"):
        read_target_file(later, ["ann"])


def test_everybody_needs_a_line(later):
    with pytest.raises(ModelError, match="has target for 1 of 2 individuals, none for 'dan'"):
        read_target_file(later, ["ann", "dan"], target_column="repaid")
