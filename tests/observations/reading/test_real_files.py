"""Real files give exactly the counts that their sources state."""

import numpy as np
import pytest

from likewise.errors import FileFormatError
from likewise.observations import read_ratings

pytestmark = pytest.mark.data


def histogram(Z):
    values, counts = np.unique(Z.values.data, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


ML_1M = {1: 56174, 2: 107557, 3: 261197, 4: 348971, 5: 226310}


def test_movielens_1m_by_the_ids_that_occur(data_folder):
    Z = read_ratings(data_folder / "ml-1m/ratings.dat")
    assert Z.shape == (6040, 3706)
    assert Z.n_observed == 1_000_209
    assert histogram(Z) == ML_1M
    assert (Z.column_ids[0], Z.column_ids[-1]) == (1, 3952)
    assert Z.notes == ("value range inferred from the data: 1 to 5",)


def test_movielens_1m_at_the_papers_size(data_folder):
    Z = read_ratings(data_folder / "ml-1m/ratings.dat", shape=(6040, 3952), value_range=(1, 5))
    assert Z.shape == (6040, 3952)
    assert histogram(Z) == ML_1M
    assert round(Z.observed_fraction, 6) == 0.041902
    assert Z.row_ids[[0, -1]].tolist() == [1, 6040]
    assert Z.values[0, 1192] == 5  # the first line: user 1, movie 1193, rating 5
    assert "246 of 3,952 columns have no observation" in Z.notes


def test_movielens_100k_and_its_official_splits(data_folder):
    whole = read_ratings(data_folder / "ml-100k/u.data", shape=(943, 1682))
    assert (whole.shape, whole.n_observed) == ((943, 1682), 100_000)
    for k in range(1, 6):
        base, test = (
            read_ratings(data_folder / f"ml-100k/u{k}.{part}", shape=(943, 1682)) for part in ("base", "test")
        )
        assert (base.n_observed, test.n_observed) == (80_000, 20_000)
        np.testing.assert_array_equal((base.values + test.values).toarray(), whole.values.toarray())


@pytest.mark.parametrize(("part", "n_observed"), [("train", 6_960), ("test", 4_640)])
def test_coat_is_a_grid_in_which_zero_is_missing_once_said(data_folder, part, n_observed):
    file = data_folder / f"coat/{part}.ascii"
    Z = read_ratings(file, missing_value=0)
    assert (Z.shape, Z.n_observed) == ((290, 300), n_observed)
    assert set(histogram(Z)) == {1, 2, 3, 4, 5}
    assert read_ratings(file).n_observed == 290 * 300


def test_coats_two_parts_share_366_cells(data_folder):
    train, test = (
        read_ratings(data_folder / f"coat/{part}.ascii", missing_value=0) for part in ("train", "test")
    )
    both = ~np.isnan(train.to_dense(np.nan)) & ~np.isnan(test.to_dense(np.nan))
    assert np.count_nonzero(both) == 366


def test_insteval_by_the_names_of_its_columns(data_folder):
    file = data_folder / "insteval/InstEval.csv"
    Z = read_ratings(file, user="s", item="d", rating="y")
    assert (Z.shape, Z.n_observed) == ((2972, 1128), 73_421)
    with pytest.raises(FileFormatError, match=r"no column of InstEval\.csv looks like the user"):
        read_ratings(file)


def test_exam_marks_are_a_wide_table_with_marks_missing(data_folder):
    Z = read_ratings(
        data_folder / "exam/Gcsemv.csv",
        columns=["written", "course"],
        id_columns=["school", "student"],
        value_range="per-column",
    )
    assert Z.shape == (1905, 2)
    assert (1905 - np.bincount(Z.values.indices)).tolist() == [202, 180]
    assert Z.row_ids[0] == "20920/16"
    assert len({name.split("/")[0] for name in Z.row_ids}) == 73


def test_law_school_applicants(data_folder):
    Z = read_ratings(
        data_folder / "law/law_data.csv", columns=["LSAT", "UGPA"], id_columns=0, value_range="per-column"
    )
    assert (Z.shape, Z.observed_fraction) == ((21791, 2), 1)


def test_movie_titles_are_not_utf_8(data_folder):
    with pytest.raises(FileFormatError, match=r"line 73 of movies\.dat is not utf-8.*encoding=.latin-1"):
        read_ratings(data_folder / "ml-1m/movies.dat")
