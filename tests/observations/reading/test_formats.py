"""Formats that say by their content what they are, and one more that a stranger registers."""

import importlib.metadata
import json
import sys

import numpy as np
import polars as pl
import pytest

from likewise.errors import FileFormatError, LikewiseError, MissingDependencyError
from likewise.observations import read_pairs, read_ratings
from likewise.observations.reading import Format, read_groups, read_outputs, read_table, register_format
from likewise.observations.reading import formats as module

EXPECTED = [[5, np.nan, 0], [3.5, 1, np.nan]]
TRIPLETS = [(1, 10, 5.0), (1, 30, 0.0), (7, 10, 3.5), (7, 20, 1.0)]


@pytest.fixture
def write(tmp_path):
    def written(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def assert_is_the_example(Z):
    np.testing.assert_array_equal(Z.to_dense(np.nan), EXPECTED)
    assert (Z.row_ids.tolist(), Z.column_ids.tolist()) == ([1, 7], [10, 20, 30])


BLOCKS = "10:\n1,5,2005-09-06\n7,3.5,2005-05-13\n20:\n7,1,2005-05-13\n30:\n1,0,2005-05-13\n"


@pytest.mark.parametrize("content", [BLOCKS, BLOCKS.replace("\n", "\r\n"), "\n" + BLOCKS.strip()])
def test_netflix_blocks(write, content):
    Z = read_ratings(write(content), value_range=(0, 5))
    assert_is_the_example(Z)
    assert (
        Z.roles.sentence()
        == "Read file: individuals from customer, features from movie, values from rating; left out: date."
    )


@pytest.mark.parametrize("line", ["7,x,2005-05-13", "7", "ann,3,2005-05-13"])
def test_a_wrong_line_of_a_block_is_named(write, line):
    with pytest.raises(FileFormatError, match=f"file: line 3, '{line}'; expected CUSTOMER,RATING,DATE"):
        read_ratings(write(f"10:\n1,5,2005-09-06\n{line}\n"))


def test_json_lines_by_the_names_that_reviews_have(write):
    lines = [
        json.dumps({"reviewerID": user, "asin": item, "overall": value, "helpful": [0, 1]})
        for user, item, value in TRIPLETS
    ]
    Z = read_ratings(write("\n".join(lines)), value_range=(0, 5))
    assert_is_the_example(Z)
    assert Z.roles.values == ("overall",)
    assert Z.roles.left_out == ("helpful",)


def test_numbers_in_quotes_and_keys_that_are_missing_in_json(write):
    assert read_ratings(
        write('{"user":1,"item":2,"rating":"3,5"}\n{"user":2,"item":2,"rating":"1"}\n')
    ).values.data.tolist() == [3.5, 1]
    with pytest.raises(ValueError, match="column 'rating' of file has nothing in row 1"):
        read_ratings(write('{"user":1,"item":2,"rating":3}\n{"user":2,"item":2}\n'))
    with pytest.raises(FileFormatError, match="column 'rating' of file, of type String; expected numbers"):
        read_ratings(write('{"user":1,"item":2,"rating":"3"}\n{"user":2,"item":2,"rating":"x"}\n'))
    with pytest.raises(FileFormatError, match="file is damaged"):
        read_ratings(write('{"user":1,"item":2,"rating":3}\n{"user":\n'))


def test_one_array_of_json_is_refused_with_what_to_do(write):
    with pytest.raises(
        FileFormatError, match="file: one array of JSON; expected JSON lines: one object a line"
    ):
        read_ratings(write(' [ {"user":1,"item":2,"rating":3} ]'))


def test_old_workbooks_are_refused_with_what_to_do(write):
    with pytest.raises(FileFormatError, match=r"file: a workbook of Excel before 2007.*save it as CSV"):
        read_ratings(write(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100)))


def workbook(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "file.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr("xl/workbook.xml", "")
    return tmp_path / "file.xlsx"


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write_workbook(path, rows):
    import zipfile

    cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet1.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>',
        "_rels/.rels": _links("officeDocument", "xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": _links("worksheet", "sheet1.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>'
        '<sheet name="ratings" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')


def _links(kind, target):
    return (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_LINKS}/{kind}" Target="{target}"/></Relationships>'
    )


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def test_a_workbook_without_the_library_for_it_says_which(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(
        MissingDependencyError, match=r"pip install 'likewise\[excel\]', or save the sheet as CSV"
    ):
        read_ratings(workbook(tmp_path))


def test_a_workbook_is_read(tmp_path):
    """By fastexcel itself, from the least that is a workbook."""
    pytest.importorskip("fastexcel")
    write_workbook(tmp_path / "ratings.xlsx", [["userId", "movieId", "rating"], *TRIPLETS])
    assert_is_the_example(read_ratings(tmp_path / "ratings.xlsx", value_range=(0, 5)))


def test_a_workbook_is_read_as_the_frame_that_polars_makes_of_it(tmp_path, monkeypatch):
    frame = pl.DataFrame(TRIPLETS, schema=["userId", "movieId", "rating"], orient="row")
    monkeypatch.setattr(pl, "read_excel", lambda _, **__: frame)
    assert_is_the_example(read_ratings(workbook(tmp_path), value_range=(0, 5)))


def test_all_rows_of_a_workbook_decide_what_a_column_holds(tmp_path):
    """Beyond the first thousand, text in a column of numbers was missing without a word."""
    pytest.importorskip("fastexcel")
    people = [f"a{k}" for k in range(1200)]
    late = [[who, k % 7, 1 if k < 1100 else "b"] for k, who in enumerate(people)]
    write_workbook(tmp_path / "groups.xlsx", [["applicant", "test", "room"], *late])
    assert read_groups(tmp_path / "groups.xlsx", people, group_column="room").tolist() == [
        str(row[2]) for row in late
    ]
    marks = [[who, k % 7 + 0.5, 2.5 if k < 1100 else "3.5"] for k, who in enumerate(people)]
    write_workbook(tmp_path / "marks.xlsx", [["applicant", "test", "grade"], *marks])
    Z = read_ratings(tmp_path / "marks.xlsx", format="wide", id_columns=["applicant"])
    assert Z.values[:, [1]].toarray().ravel().tolist() == [2.5] * 1100 + [3.5] * 100


def test_an_unnamed_column_of_a_workbook_is_asked_about(tmp_path):
    pytest.importorskip("fastexcel")
    rows = [[k, f"a{k}", k * k / 8] for k in range(9)]
    write_workbook(tmp_path / "scores.xlsx", [[None, "applicant", "score"], *rows])
    with pytest.raises(FileFormatError, match="a column that names the individuals"):
        read_outputs(tmp_path / "scores.xlsx", [row[1] for row in rows])


def test_a_workbook_without_a_cell_has_no_rows(tmp_path):
    pytest.importorskip("fastexcel")
    write_workbook(tmp_path / "empty.xlsx", [])
    with pytest.raises(FileFormatError, match=r"empty.xlsx has no rows"):
        read_ratings(tmp_path / "empty.xlsx")


def test_arrays_have_no_columns(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(2))
    for read in (read_pairs, read_table, lambda path: read_groups(path, [1])):
        with pytest.raises(FileFormatError, match=r"a.npy, a file of arrays; expected a table with columns"):
            read(tmp_path / "a.npy")


@pytest.fixture
def registered():
    yield
    module._REGISTERED.clear()
    module._installed.cache_clear()


def read_dots(data):
    rows = [line.split("...") for line in data.decode().split("\n")[1:]]
    return pl.DataFrame(rows[1:], schema=rows[0], orient="row")


def test_a_format_of_a_stranger_serves_every_reader(write, registered):
    register_format("dots", lambda data: data.startswith(b"#dots"), read_dots)
    file = write("#dots\nuser...item...rating\nann...tea...5\nbob...tea...1")
    Z = read_ratings(file)
    assert (Z.row_ids.tolist(), Z.values.data.tolist()) == (["ann", "bob"], [5, 1])
    assert [ids.tolist() for ids in read_pairs(file)] == [["ann", "bob"], ["tea", "tea"]]
    assert read_groups(file, ["bob", "ann"], group_column="item").tolist() == ["tea", "tea"]
    assert read_outputs(file, ["bob", "ann"], output_columns="rating").tolist() == [1, 5]
    assert read_table(file, id_columns="user").frame.rows() == [("tea", 5.0), ("tea", 1.0)]


def test_a_format_may_give_a_frame_of_any_library(write, registered):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TRIPLETS, columns=["userId", "movieId", "rating"])
    register_format("constant", lambda data: data == b"constant", lambda _: frame)
    assert_is_the_example(read_ratings(write("constant"), value_range=(0, 5)))


def test_the_format_that_is_registered_last_is_asked_first_and_a_name_stands_for_one(write, registered):
    for value in (1.0, 2.0):
        rows = [("ann", "tea", value), ("ann", "milk", 9.0)]
        frame = pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row")
        register_format(f"constant {value}", lambda data: data == b"constant", lambda _, frame=frame: frame)
    assert 2.0 in read_ratings(write("constant")).values.data
    register_format("constant 2.0", lambda _: False, lambda _: None)
    assert 1.0 in read_ratings(write("constant")).values.data


def test_an_installed_package_needs_no_call(write, registered, monkeypatch):
    class Point:
        def load(self):
            return Format("dots", lambda data: data.startswith(b"#dots"), read_dots)

    monkeypatch.setattr(
        module, "entry_points", lambda group: [Point()] if group == "likewise.formats" else []
    )
    module._installed.cache_clear()
    assert read_ratings(write("#dots\nuser...item...rating\nann...tea...5\nbob...tea...1")).shape == (2, 1)
    assert importlib.metadata.entry_points is not module.entry_points


@pytest.mark.parametrize("fault", [ValueError("no such page"), KeyError("x"), LikewiseError("of its own")])
def test_what_a_format_of_a_stranger_raises_is_typed(write, registered, fault):
    def read(_):
        raise fault

    register_format("broken", lambda data: data == b"broken", read)
    with pytest.raises(LikewiseError, match=r"no such page|x|of its own"):
        read_ratings(write("broken"))
