"""``likewise data``: what there is, the licence first, and what a file would be read as."""

import pytest

from likewise.cli.main import run


def test_the_list_names_licences(capsys):
    assert run(["data", "list"]) == 0
    out = capsys.readouterr().out
    assert "ml-100k: MovieLens 100K. 100,000 ratings" in out
    assert out.count("Licence:") == 7
    assert "no checksum is known, so it is not fetched" in out


def test_without_the_licence_nothing_is_fetched(tmp_path, capsys):
    assert run(["data", "fetch", "ml-100k", "--out", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "whose licence was not accepted; expected --accept-licence" in error
    assert "No redistribution" in error
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_fetched_again(tmp_path, capsys):
    (tmp_path / "ml-100k").mkdir()
    assert run(["data", "fetch", "ml-100k", "--out", str(tmp_path)]) == 0
    assert "u.data" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["ratings.csv", "folder"])
def test_a_file_is_described(tmp_path, capsys, name):
    folder = tmp_path / "folder"
    folder.mkdir()
    for file in (folder / "ratings.csv", tmp_path / "ratings.csv"):
        file.write_text("userId,movieId,rating,timestamp\n1,10,4.5,9\n2,20,1,9\n")
    assert run(["data", "describe", str(tmp_path / name)]) == 0
    out = capsys.readouterr().out
    assert "2 individuals x 2 features, 2 observed" in out
    assert "individuals from userId, features from movieId, values from rating; left out: timestamp" in out
    assert "individuals such as 1, 2; features such as 10, 20" in out


def test_a_folder_without_ratings_is_told(tmp_path, capsys):
    assert run(["data", "describe", str(tmp_path)]) == 1
    assert "a folder that was fetched" in capsys.readouterr().err
