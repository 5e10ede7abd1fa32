"""A target from a file is read as groups are: by id, what says nothing unknown."""

import pytest

from likewise.errors import FileFormatError, ModelError
from likewise.observations.reading import read_target_file


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "later.csv"
    path.write_text("id,age,repaid\nbea,30,0\nann,40,1\ncy,50,NA\n")
    return path


def test_it_is_in_the_order_of_the_individuals_and_its_column_is_named(file):
    found = read_target_file(file, ["ann", "cy", "bea"], target_column="repaid")
    assert found.values.tolist() == [1, None, 0]
    assert (
        found.roles.sentence()
        == "Read later.csv: individuals from id, target from repaid; left out: age; 1 cell of repaid that says 'NA' counts as missing."
    )


def test_a_column_must_be_named_where_there_are_several(file):
    with pytest.raises(FileFormatError, match="target_column"):
        read_target_file(file, ["ann"])


def test_everybody_needs_a_line(file):
    with pytest.raises(ModelError, match="has target for 1 of 2 individuals, none for 'dan'"):
        read_target_file(file, ["ann", "dan"], target_column="repaid")
