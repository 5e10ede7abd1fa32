"""Files in every format that is read without being told which it is, and what the caller can say about others."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise import ObservedMatrix, read_ratings
from likewise.errors import FileFormatError, InputError, ObservationError
from likewise.observations import write_ratings

TRIPLETS = [(1, 10, 5.0), (1, 30, 0.0), (7, 10, 3.5), (7, 20, 1.0)]
"""User, item, rating; users and items have gaps, one rating is zero."""
DENSE = np.array([[5, np.nan, 0], [3.5, 1, np.nan]])


def lines(separator, header=None, time=False, triplets=TRIPLETS, end="\n"):
    rows = [[*map(str, triplet), *(["978300760"] if time else [])] for triplet in triplets]
    return end.join(map(separator.join, [*([header] if header else []), *rows])) + end


def parquet(triplets=TRIPLETS, names=("userId", "movieId", "rating")):
    buffer = io.BytesIO()
    pl.DataFrame(triplets, schema=list(names), orient="row").write_parquet(buffer)
    return buffer.getvalue()


TEXTS = {
    "movielens 1m": lines("::", time=True),
    "movielens 1m without time": lines("::"),
    "movielens 100k": lines("\t", time=True),
    "csv": lines(",", ["userId", "movieId", "rating", "timestamp"], time=True),
    "other names": lines(",", ["Reviewer_ID", "ASIN", "Overall"]),
    "tsv": lines("\t", ["user", "item", "stars"]),
    "semicolons": lines(";", ["User-ID", "ISBN", "Book-Rating"]),
    "names with blanks": lines(",", ["User ID", "Movie ID", "Star Rating"]),
    "bars": lines("|", ["user_id", "business_id", "score"]),
    "no header": lines(","),
    "spaces": lines(" "),
    "columns aligned with spaces": " 1  10  5.0\n 1  30  0.0 \n 7  10  3.5\n 7  20    1\n",
    "windows line ends": lines(",", ["user", "item", "rating"], end="\r\n"),
    "old line ends": lines(",", ["user", "item", "rating"], end="\r"),
    "no newline at the end": lines("::").rstrip("\n"),
    "blank lines around": "\n\n" + lines("::") + "\n\n",
    "byte order mark": "\ufeff" + lines(",", ["user", "item", "rating"]),
    "quoted": '"userId","movieId","rating"\n"1","10","5"\n"1","30","0"\n"7","10","3.5"\n"7","20","1"\n',
    "quoted text beside": 'user,title,item,rating\n1,"a, b",10,5\n1,"c ""d""",30,0\n7,e,10,3.5\n7,"f\ng",20,1\n',
    "more columns than needed": "time,rating,user,note,item\n1,5,1,,10\n2,0,1,x,30\n3,3.5,7,,10\n4,1,7,,20\n",
}
FILES = {
    **{name: text.encode() for name, text in TEXTS.items()},
    "parquet": parquet(),
    "parquet with other columns": parquet(
        [(9, *t[::-1]) for t in TRIPLETS], ("time", "rating", "item", "user")
    ),
}


def assert_is_the_example(Z):
    np.testing.assert_array_equal(Z.to_dense(np.nan), DENSE)
    assert Z.row_ids.tolist() == [1, 7]
    assert Z.column_ids.tolist() == [10, 20, 30]


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="ratings"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def zipped(content, name="folder/ratings.dat"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/", "")
        archive.writestr("__MACOSX/folder/._ratings.dat", "clutter")
        archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("wrap", [bytes, gzip.compress, zipped], ids=["plain", "gz", "zip"])
def test_formats_are_found_by_looking_into_the_file(write, kind, wrap):
    assert_is_the_example(read_ratings(write(wrap(FILES[kind])), value_range=(0, 5)))


@pytest.mark.parametrize("saved", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("wrap", [bytes, gzip.compress, zipped], ids=["plain", "gz", "zip"])
def test_sparse_matrices_that_scipy_saved(write, saved, wrap):
    matrix = sparse.coo_array(([5, 0, 3.5, 1], ([0, 0, 1, 1], [0, 2, 0, 1])), shape=(2, 3))
    buffer = io.BytesIO()
    sparse.save_npz(buffer, matrix.asformat(saved))
    Z = read_ratings(write(wrap(buffer.getvalue())), value_range=(0, 5))
    np.testing.assert_array_equal(Z.to_dense(np.nan), DENSE)
    assert Z.row_ids.tolist() == [0, 1]


@given(
    triplets=st.lists(
        st.tuples(
            st.integers(-(2**63), 2**63 - 1),
            st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1),
            st.floats(-10, 10),
        ),
        min_size=1,
        unique_by=lambda triplet: triplet[:2],
    ),
    kind=st.sampled_from(["csv", "parquet"]),
)
def test_any_ids_and_values_survive_writing_and_reading(tmp_path_factory, triplets, kind):
    frame = pl.DataFrame(
        triplets, schema={"user": pl.Int64, "item": pl.String, "rating": pl.Float64}, orient="row"
    )
    path = tmp_path_factory.getbasetemp() / "roundtrip"
    frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    Z = read_ratings(path, value_range=(-10, 10))
    rows, columns = Z.positions()
    back = zip(Z.row_ids[rows].tolist(), map(str, Z.column_ids[columns]), Z.values.data.tolist(), strict=True)
    assert sorted(back) == sorted(triplets)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_ids_are_integers_only_where_all_are_written_so(write, kind):
    odd = [("007", "x", 1.0), ("7", "1.0", 2.0), ("12", "y", 3.0)]
    file = write(lines(",", ["user", "item", "rating"], triplets=odd) if kind == "csv" else parquet(odd))
    Z = read_ratings(file)
    assert Z.row_ids.tolist() == ["007", "12", "7"]
    assert Z.column_ids.tolist() == ["1.0", "x", "y"]


@pytest.mark.parametrize(
    "text",
    [
        "007,1,1\n7,1,2\n",
        "7,1,1\n7,01,2\n",
        "-7,1,1\n-07,1,2\n",
        "0,1,1\n-0,1,2\n",
        '"7","1",1\n"7","01",2\n',
    ],
)
def test_ids_that_differ_by_a_leading_zero_stay_two(write, text):
    assert read_ratings(write(text)).n_observed == 2


def test_one_kind_of_id_may_be_text_and_the_other_integer(write):
    Z = read_ratings(write("ann,3,5\nbob,4,1\n"))
    assert Z.row_ids.tolist() == ["ann", "bob"]
    assert Z.column_ids.tolist() == [3, 4]


def test_columns_are_named_by_the_caller_in_any_case_or_numbered(write):
    file = write(lines(",", ["S", "D", "y"]))
    assert_is_the_example(read_ratings(file, user="s", item="d", rating="Y", value_range=(0, 5)))
    swapped = write("x,10,5,1\nx,30,0,1\nx,10,3.5,7\nx,20,1,7\n")
    assert_is_the_example(read_ratings(swapped, user=3, item=1, rating=2, value_range=(0, 5)))


def test_which_columns_were_taken_is_noted(write):
    Z = read_ratings(write(lines(",", ["userId", "movieId", "rating"])))
    assert (
        "read user from column 'userId', item from column 'movieId', rating from column 'rating'" in Z.notes
    )


def test_other_encodings_and_separators_can_be_named(write):
    text = "user|$|item|$|rating\nJosé|$|é|$|3\nAnn|$|b|$|1\n"
    for encoding in ("latin-1", "utf-16", "utf-8"):
        Z = read_ratings(write(text.encode(encoding)), separator="|$|", encoding=encoding)
        assert Z.row_ids.tolist() == ["Ann", "José"]


def test_a_separator_of_several_characters_may_stand_beside_any_text(write):
    Z = read_ratings(write('a:b::tab\there::5\n"quote::x::1\n'))
    assert Z.row_ids.tolist() == ['"quote', "a:b"]
    assert Z.column_ids.tolist() == ["tab\there", "x"]


def test_a_quote_inside_a_field_encloses_nothing(write):
    assert read_ratings(write('user,item,rating\n1,12" record,5\n1,b,1\n')).column_ids.tolist() == [
        '12" record',
        "b",
    ]


def naive_triplets(body):
    """Split and convert with nothing but Python; None where any line is wrong."""
    triplets = {}
    for record in csv.reader(io.StringIO(body, newline="")):
        if len(record) != 3 or not (record[0] and record[1] and record[2].replace(".", "", 1).isdecimal()):
            return None
        triplets[record[0], record[1]] = float(record[2])
    return triplets or None


FIELDS = st.sampled_from(
    ["0", "7", "07", "12", "1.5", '"3"', '"a,b"', '"c""d"', '"e\nf"', "g h", "é", "", "x"]
)


@given(
    records=st.lists(
        st.lists(FIELDS, min_size=2, max_size=4) | st.tuples(FIELDS, FIELDS, st.just("4")), min_size=1
    ),
    end=st.sampled_from(["", "\n", "\r\n", "\n\n"]),
)
def test_any_table_reads_as_plain_python_reads_it_or_is_refused_alike(tmp_path_factory, records, end):
    body = "\n".join(",".join(record) for record in records) + end
    path = tmp_path_factory.getbasetemp() / "table.csv"
    path.write_text("user,item,rating\n" + body)
    expected = naive_triplets(body.rstrip("\r\n"))
    try:
        Z = read_ratings(path, value_range=(0, 12), duplicates="last")
    except InputError:
        assert expected is None
        return
    rows, columns = Z.positions()
    pairs = zip(Z.row_ids[rows].astype(str), Z.column_ids[columns].astype(str), strict=True)
    assert dict(zip(pairs, Z.values.data.tolist(), strict=True)) == expected


def test_fixed_shape_and_duplicates_reach_the_matrix(write):
    Z = read_ratings(
        write("1::1::5\n3::2::1\n1::1::2\n"), shape=(4, 3), duplicates="last", value_range=(0, 5)
    )
    assert Z.shape == (4, 3)
    assert Z.row_ids.tolist() == [1, 2, 3, 4]
    np.testing.assert_array_equal(Z.values.data, [2, 1])


def test_a_value_that_stands_for_missing_can_be_declared_for_any_layout(write):
    for file in (write("1::10::5\n1::20::-1\n2::10::3\n", "triplets"), write("5 -1\n3 -1\n4 2\n", "grid")):
        options = {} if file.name == "triplets" else {"format": "grid"}
        Z = read_ratings(file, missing_value=-1, **options)
        assert -1 not in Z.values.data
        assert any("entries equal to -1 count as missing" in note for note in Z.notes)


GRID = "5 0 0 1 2\r\n0 0 3 0 0\r\n"


def test_a_grid_counts_as_complete_unless_a_missing_value_is_declared(write):
    complete = read_ratings(write(GRID))
    assert (complete.shape, complete.n_observed) == ((2, 5), 10)
    assert any("every cell counts as observed" in note for note in complete.notes)
    sparse_one = read_ratings(write(GRID), missing_value=0)
    assert sparse_one.n_observed == 4
    assert not any("every cell" in note for note in sparse_one.notes)
    assert sparse_one.column_ids.tolist() == [0, 1, 2, 3, 4]


def test_grids_may_have_gaps_and_any_separator(write):
    Z = read_ratings(write("1,,NA,4,nan\n0,2,3,,5\n"), format="grid")
    np.testing.assert_array_equal(Z.to_dense(np.nan), [[1, np.nan, np.nan, 4, np.nan], [0, 2, 3, np.nan, 5]])


def test_a_grid_as_narrow_as_triplets_must_be_named(write):
    file = write("1 2 3\n4 5 0\n")
    np.testing.assert_array_equal(read_ratings(file, format="grid").to_dense(), [[1, 2, 3], [4, 5, 0]])


def test_a_grid_has_a_header_only_if_that_is_said(write):
    assert read_ratings(write("a b\n1 2\n"), format="grid", header=True).column_ids.tolist() == ["a", "b"]
    with pytest.raises(FileFormatError, match=r"line 1 of ratings, 'a b', has 'a' where a number should be"):
        read_ratings(write("a b\n1 2\n"), format="grid")


WIDE = "school,pupil,sex,written,course\n1,16,M,23.0,\n1,25,F,,71.2\n2,16,F,0,NA\n2,17,F,,\n"


def test_a_wide_table_has_a_row_for_each_individual(write):
    Z = read_ratings(
        write(WIDE),
        columns=["course", "written"],
        id_columns=["school", "pupil"],
        value_range=([0, 0], [100, 50]),
    )
    np.testing.assert_array_equal(
        Z.to_dense(np.nan), [[np.nan, 23], [71.2, np.nan], [np.nan, 0], [np.nan, np.nan]]
    )
    assert Z.row_ids.tolist() == ["1/16", "1/25", "2/16", "2/17"]
    assert Z.column_ids.tolist() == ["course", "written"]
    assert "1 of 4 rows have no observation" in Z.notes


def test_a_wide_table_in_parquet_with_one_id_column_and_all_others_as_features(tmp_path):
    path = tmp_path / "wide.parquet"
    pl.DataFrame({"name": ["ann", "bob"], "a": [1, None], "b": [0.0, 2.5]}).write_parquet(path)
    Z = read_ratings(path, id_columns="name")
    np.testing.assert_array_equal(Z.to_dense(np.nan), [[1, 0], [np.nan, 2.5]])
    assert Z.row_ids.tolist() == ["ann", "bob"]
    assert Z.column_ids.tolist() == ["a", "b"]


def test_a_wide_table_without_id_column_numbers_its_rows(write):
    Z = read_ratings(write(WIDE), columns=[3])
    assert Z.row_ids.tolist() == [0, 1, 2, 3]
    assert Z.column_ids.tolist() == ["written"]


def test_wide_ids_keep_their_type(write):
    assert read_ratings(write("id,a,b\n7,1,2\n5,,0\n"), id_columns="id").row_ids.tolist() == [7, 5]
    assert read_ratings(write("id,a,b\n07,1,2\n5,,0\n"), id_columns="id").row_ids.tolist() == ["07", "5"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["written"], "user": "pupil"}, "user='pupil' for wide.csv, read as wide"),
        ({"columns": ["written"], "shape": (4, 1)}, "shape=.* read as wide"),
        ({"columns": ["written"], "duplicates": "mean"}, "duplicates='mean'"),
        ({"columns": ["writen"]}, "no column 'writen'.*did you mean 'written'"),
        ({"columns": [9]}, "column 9 of wide.csv; expected a position from 0 to 4"),
        ({"columns": []}, "features, each once"),
        ({"columns": ["written", "written"]}, "features, each once"),
        ({"columns": ["school"], "id_columns": "school"}, "that are not ids"),
        ({"format": "long"}, "unknown format 'long'"),
        (
            {"columns": ["sex"]},
            r"'1,16,M,23.0,', has 'M' where a number should be, in column 'sex'; .*if it is not a feature, give exclude=.sex., .*columns=\.\.\.; categories are compared by reference='gower' beside outputs=\.\.\.$",
        ),
        ({"user": "school", "item": "school", "rating": "written"}, "three different columns"),
    ],
)
def test_what_was_said_about_a_file_must_fit_it(write, options, message):
    with pytest.raises(FileFormatError, match=message):
        read_ratings(write(WIDE, "wide.csv"), **options)


def test_individuals_that_share_an_id_are_refused(write):
    with pytest.raises(ObservationError, match="row id 1 occurs more than once"):
        read_ratings(write(WIDE), columns=["written"], id_columns="school")


def test_options_of_text_are_refused_for_files_that_are_not_text(write):
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.csr_array(np.eye(2)))
    for content, option in [(parquet(), {"separator": ","}), (buffer.getvalue(), {"user": "u"})]:
        with pytest.raises(FileFormatError, match=f"{next(iter(option))}="):
            read_ratings(write(content), **option)


def test_a_table_has_a_range_for_each_column_and_a_grid_one_for_all(write):
    """Marks have scales of their own; the columns of bare numbers are items on one scale."""
    rows = "40,3.5\n20,1.5\n30,2\n"
    table = read_ratings(write("lsat,gpa\n" + rows), format="wide").value_range
    assert (table.low.tolist(), table.high.tolist()) == ([20, 1.5], [40, 3.5])
    grid = read_ratings(write(rows), format="grid").value_range
    assert (grid.low.tolist(), grid.high.tolist()) == (1.5, 40)


def test_far_more_features_than_individuals_without_a_header_are_looked_at_twice(write):
    """Three films by twelve people, films first: the note names both fields and the options that turn them round."""
    films = write(
        "".join(f"{film},{person},{(film + person) % 5 + 1}\n" for film in range(3) for person in range(12))
    )
    Z = read_ratings(films)
    assert (
        "no header: column 0 (3 different ids) is read as the individual and column 1 (12) as the feature; if that is the wrong way round, "
        "give user=1 and item=0"
    ) in Z.notes
    turned = read_ratings(films, user=1, item=0)
    assert turned.shape == (12, 3)
    assert not any("wrong way round" in note for note in turned.notes)
    header = write("user,item,rating\n" + films.read_text())
    assert not any("wrong way round" in note for note in read_ratings(header).notes)


@pytest.mark.parametrize(
    "text", ["1,10\n2,10\n", "user,item\n1,10\n2,10\n", "userId,movieId,timestamp\n1,10,99\n2,10,99\n"]
)
def test_lines_without_a_value_say_what_can_and_cannot_be_audited(write, text):
    with pytest.raises(
        FileFormatError,
        match=r"implicit feedback.*errors, estimates and thresholds have no .*outputs can be audited .*format='pairs'",
    ):
        read_ratings(write(text))
    Z = read_ratings(write(text), format="pairs")
    assert (Z.values.data.tolist(), Z.shape) == ([1, 1], (2, 1))
    assert (float(Z.value_range.low), float(Z.value_range.high)) == (0, 1)
    assert Z.roles.values == ()
    assert any("no values: each line counts as 1" in note for note in Z.notes)


def test_a_pair_twice_is_one_choice_where_the_caller_says_so(write):
    file = write("ann,tea\nann,tea\nbob,milk\n")
    with pytest.raises(ObservationError, match="1 pair occurs more than once"):
        read_ratings(file, format="pairs")
    assert read_ratings(file, format="pairs", duplicates="first").n_observed == 2
    with pytest.raises(FileFormatError, match="rating='x' for ratings, read as pairs"):
        read_ratings(write("user,item,x\n1,1,1\n"), format="pairs", rating="x")


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12, unique=True), st.booleans())
def test_observations_come_back(tmp_path_factory, numbers, named):
    file = tmp_path_factory.mktemp("w") / "ratings.csv"
    rows, columns = np.divmod(np.arange(len(numbers)), 3)
    ids = [f'row "{k}", {k}' for k in rows] if named else rows
    observed = ObservedMatrix.from_triplets(ids, columns, numbers)
    write_ratings(file, observed)
    found = read_ratings(file)
    assert found.row_ids.tolist() == observed.row_ids.tolist()
    assert (found.values != observed.values).nnz == 0


def test_no_id_is_run_by_a_spreadsheet(tmp_path):
    ids = ["=1+1", "@sum", "-3", "+7 sins", "ann"]
    write_ratings(tmp_path / "r.csv", ObservedMatrix([[5.0], [4.0], [3.0], [2.0], [1.0]], row_ids=ids))
    lines = (tmp_path / "r.csv").read_text().splitlines()[1:]
    assert [line.partition(",")[0] for line in lines] == ["'=1+1", "'@sum", "-3", "'+7 sins", "ann"]
