"""What could be read in two ways is refused, naming both, or read as the documentation says."""

import numpy as np
import polars as pl
import pytest

from likewise import ObservedMatrix, read_ratings
from likewise.errors import FileFormatError, ObservationError
from likewise.inference import read_groups, read_outputs
from likewise.observations.index_alignment import positions_of


@pytest.fixture
def write(tmp_path):
    def written(text):
        (tmp_path / "file.csv").write_text(text)
        return tmp_path / "file.csv"

    return written


def test_a_repeated_missing_value_is_no_duplicate(write):
    file = write("user,item,rating\n1,10,-1\n1,10,-1\n1,20,5\n2,10,3\n")
    Z = read_ratings(file, missing_value=-1, value_range=(0, 5))
    assert Z.n_observed == 2
    assert any("2 entries equal to -1 count as missing" in note for note in Z.notes)


@pytest.mark.parametrize("rule", ["error", "first", "last", "mean"])
@pytest.mark.parametrize("lines", ["1,10,4\n1,10,-1\n", "1,10,-1\n1,10,4\n"])
def test_an_observation_beside_a_missing_value_is_kept_whichever_comes_last(write, rule, lines):
    file = write(f"user,item,rating\n{lines}2,10,3\n")
    Z = read_ratings(file, missing_value=-1, value_range=(0, 5), duplicates=rule)
    assert Z.values.data.tolist() == [4.0, 3.0]


def test_who_has_only_missing_values_stays(write):
    file = write("user,item,rating\n1,10,-1\n2,20,3\n2,30,5\n")
    Z = read_ratings(file, missing_value=-1)
    assert Z.row_ids.tolist() == [1, 2]
    assert Z.column_ids.tolist() == [10, 20, 30]


def test_two_columns_that_look_like_the_rating_are_both_named(write):
    file = write("user,item,rating,score\n1,1,5,0.1\n1,2,3,0.2\n")
    with pytest.raises(
        FileFormatError, match=r"'rating' and 'score' of file.csv, which all look like the rating.*rating="
    ) as error:
        read_ratings(file)
    assert error.value.hint == "give rating=..."
    assert read_ratings(file, rating="score").values.data.tolist() == [0.1, 0.2]


def test_ids_that_are_written_alike_do_not_share_a_row(write):
    file = write("id,score\n7,0.1\n8,0.2\n")
    for read in (read_outputs, read_groups):
        with pytest.raises(ObservationError, match="ids 7 and '7', which are written alike"):
            read(file, [7, "7", 8])
    both = np.array([7, "7"], dtype=object)
    assert positions_of(["7", 7], both, "row").tolist() == [1, 0]
    with pytest.raises(ObservationError, match="written alike"):
        positions_of(["8"], both, "row")


@pytest.mark.parametrize("largest", [2, 2**100])
def test_very_long_integers_are_ids(tmp_path, largest):
    ids = pl.Series("user", [1, largest], dtype=pl.Int128)
    frame = pl.DataFrame({"user": ids, "item": [1, 1], "rating": [3.0, 5.0]})
    try:
        frame.write_parquet(tmp_path / "f.parquet")
    except pl.exceptions.ComputeError:
        pytest.skip(f"polars {pl.__version__} writes no integers of 128 bits")
    assert read_ratings(tmp_path / "f.parquet").row_ids.tolist() == [1, largest]


def test_columns_of_a_frame_that_share_a_name_are_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["mark", "mark"])
    with pytest.raises(ObservationError, match=r"columns share a name.*mark"):
        ObservedMatrix(frame)


@pytest.mark.parametrize("choice", [None, "per-column"])
def test_a_range_too_wide_to_infer_says_so(choice):
    with pytest.raises(ObservationError, match=r"observations from -1e\+308 to 1e\+308"):
        ObservedMatrix(np.array([[-1e308, 1.0], [1e308, 0.0]]), value_range=choice)
