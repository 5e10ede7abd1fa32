"""Groups from files, put in the order of the individuals."""

import numpy as np
import pytest

from likewise.errors import FileFormatError, ModelError
from likewise.inference import read_groups


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,gender,age\n3,m,40\n1,f,30\n2,f,20\n9,m,50\n")
    return path


def test_lines_in_any_order_and_of_others(file):
    assert read_groups(file, [1, 2, 3]).tolist() == ["f", "f", "m"]


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
        read_groups(file, [1, 7, 2])


def test_one_column_cannot_be_both(file):
    with pytest.raises(FileFormatError, match="different columns"):
        read_groups(file, [1], group_column=0)


def test_unknown_column_suggests_the_nearest(file):
    with pytest.raises(FileFormatError, match="gender"):
        read_groups(file, [1], group_column="gendr")


@pytest.mark.data
def test_genders_of_movielens(data_folder):
    groups = read_groups(data_folder / "ml-1m" / "users.dat", np.arange(1, 6041))
    assert dict(zip(*np.unique(groups.astype(str), return_counts=True), strict=True)) == {
        "F": 1709,
        "M": 4331,
    }
