"""Files of features: which column names the rows, and what the others are."""

from __future__ import annotations

from pathlib import Path

import pytest

from likewise.errors import FileFormatError
from likewise.observations.reading import read_features


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
