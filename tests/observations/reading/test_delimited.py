"""Every unusable file gets one typed error that names the file, the line and what was expected."""

import gzip
import io
import zipfile

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.errors import FileFormatError, InputError, ObservationError, ShapeError
from likewise.observations import read_ratings


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="r.dat"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def archive(*names, encrypt=False):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as opened:
        for name in names:
            opened.writestr(name, "1::2::3\n2::2::4\n")
    content = bytearray(buffer.getvalue())
    if encrypt:  # set the bit that says so, in both places where a zip has it
        content[6] |= 1
        content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


CSR = {"format": b"csr", "shape": (2, 2), "data": np.ones(2), "indices": [0, 1], "indptr": [0, 1, 2]}

GOOD = "1::10::5\n1::20::4\n"
TEXTS = {
    "empty": ("", FileFormatError, "r.dat is empty"),
    "blank": (" \n\n", FileFormatError, "r.dat is empty"),
    "header only": ("user,item,rating\n", FileFormatError, "a header and no rows"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0", FileFormatError, "r.dat is binary"),
    "not utf-8": (b"1::10::5\n1::\xe9::4\n", FileFormatError, r"line 2 of r.dat is not utf-8 \(byte 0xe9\)"),
    "utf-16": ("1::10::5".encode("utf-16"), FileFormatError, "encoding='utf-16'"),
    "too few fields": (
        GOOD + "2::10\n3::1::1\n",
        FileFormatError,
        "line 3 of r.dat, '2::10', has 2 fields; expected 3",
    ),
    "too many fields": (
        GOOD + "2::1::3::9\n",
        FileFormatError,
        "line 3 of r.dat, '2::1::3::9', has 4 fields; expected 3",
    ),
    "separator at the end": (GOOD + "2::1::3::\n", FileFormatError, "line 3 .* has 4 fields; expected 3"),
    "time missing": (
        "1::2::3::9\n1::3::3\n",
        FileFormatError,
        "line 2 of r.dat, '1::3::3', has 3 fields; expected 4",
    ),
    "empty line": (GOOD + "\n1::30::1\n", FileFormatError, "line 3 of r.dat, '', has 0 fields"),
    "too few among quotes": (
        'user,item,rating,x\n"a,b",c,1,\n"d",e,2\n',
        FileFormatError,
        "line 3 .* has 3 fields",
    ),
    "word for a rating": (
        GOOD + "2::10::good\n",
        FileFormatError,
        "line 3 .* has 'good' where a number should be",
    ),
    "word in the first line": (
        "1::10::good\n" + GOOD,
        FileFormatError,
        "line 1 .* has 'good' where a number",
    ),
    "no rating": (
        GOOD + "2::10::\n",
        FileFormatError,
        "line 3 of r.dat, '2::10::', has '' where a number should be",
    ),
    "two decimal commas": (
        "user;item;rating\n1;2;3,5,1\n",
        FileFormatError,
        "line 2 .* has '3,5,1' where a number",
    ),
    "decimal comma or thousands": (
        "user;item;rating\n1;2;3,125\n1;3;4\n",
        FileFormatError,
        r"numbers such as '3,125' in r.dat, which are 3.125 or 3125; .*give decimal=',' or decimal='\.'$",
    ),
    "nan rating": (
        GOOD + "2::10::nan\n",
        ObservationError,
        "line 3 of r.dat, '2::10::nan', has the value nan",
    ),
    "infinite rating": (
        GOOD + "2::10::-inf\n",
        ObservationError,
        "line 3 .* has the value -inf; expected a finite",
    ),
    "huge rating": (GOOD + "2::10::1e999\n", ObservationError, "line 3 .* has the value 1e999"),
    "no user": (GOOD + "::10::3\n", ObservationError, "line 3 of r.dat, '::10::3', has no id"),
    "no item": (GOOD + "ann::::3\n", ObservationError, "line 3 of r.dat, 'ann::::3', has no id"),
    "repeated pair": (
        GOOD + "1::10::4\n",
        ObservationError,
        r"1 pair occurs more than once, the first being \(1, 10\).*choose duplicates='first', duplicates='last' or duplicates='mean'$",
    ),
    "all equal": ("1::10::5\n1::20::5\n", ObservationError, "all equal 5"),
    "two fields": ("1::10\n1::20\n", FileFormatError, "2 fields; expected at least 3: user, item, rating"),
    "five numbers": (
        "1,2,3,4,5\n1,2,3,4,5\n",
        FileFormatError,
        "5 fields in its first line and no header.*format='grid'",
    ),
    "no separator": ("hello\nworld\n", FileFormatError, "has 1 field; expected at least 3"),
    "bare numbers, ragged": (
        "1 2 3 4 5\n1 2 3 4\n",
        FileFormatError,
        "line 2 of r.dat, '1 2 3 4', has 4 fields; expected 5",
    ),
    "bare numbers, a word": ("1 2 3 4 5\n1 2 x 4 5\n", FileFormatError, "line 2 .* has 'x' where a number"),
    "unknown names": (
        "a,b,c\n1,2,3\n",
        FileFormatError,
        "no column of r.dat looks like the user.*'a', 'b', 'c'",
    ),
    "a table of applicants": (
        "id,age,gpa\n1,20,3.1\n2,30,2.5\n",
        FileFormatError,
        "no column of r.dat looks like the user.* among 'id', 'age', 'gpa'.*one individual, such as an applicant, give id_columns='id': the features are "
        "then 'age', 'gpa'; or name the features, columns=",
    ),
    "long line": (
        GOOD + "2::" + "x" * 500 + "\n",
        FileFormatError,
        r"line 3 of r.dat, '2::x{57}\.\.\.', has 2 fields",
    ),
    "quote never closed": (
        'user,item,rating\n1,"2,3\n4,5,6\n',
        FileFormatError,
        "line [23] of r.dat.* has 2 fields",
    ),
    "quote never closed, elsewhere": (
        'user,item,rating\n1,a,2\n1,"b",3\n1,"c,3\n',
        FileFormatError,
        "line 4 of r.dat.* has 2 fields",
    ),
    "quote never closed, at the end": (
        'user,item,rating,note\n1,a,2,x\n1,"b",3,"y\n',
        FileFormatError,
        "a quote that is never closed, .*give quote='none'",
    ),
    "number that only Python reads": (
        GOOD + "2::10::1_0\n",
        FileFormatError,
        "line 3 .* has '1_0' where a number",
    ),
    "quoted nothing for an id": (
        'user,item,rating\n"",1,2\n3,1,4\n',
        ObservationError,
        "line 2 of r.dat, ',1,2', has no id",
    ),
    "json": ('[{"user": 1, "item": 2, "rating": 3}]', FileFormatError, "r.dat"),
}
CONTAINERS = {
    "cut gzip": (gzip.compress(GOOD.encode() * 99)[:-9], FileFormatError, "r.dat is damaged"),
    "altered gzip": (gzip.compress(GOOD.encode())[:-8] + b"12345678", FileFormatError, "r.dat is damaged"),
    "only the gzip mark": (b"\x1f\x8b", FileFormatError, "r.dat is damaged"),
    "nothing inside gzip": (gzip.compress(b""), FileFormatError, "is empty"),
    "cut zip": (archive("a")[:-9], FileFormatError, "r.dat is damaged or encrypted"),
    "encrypted zip": (archive("a", encrypt=True), FileFormatError, "r.dat is damaged or encrypted"),
    "zip of several": (
        archive("a", "b"),
        FileFormatError,
        r"r.dat holds 2 files \(a, b\); expected a zip of one",
    ),
    "zip of none": (archive(), FileFormatError, r"r.dat holds 0 files \(nothing\)"),
    "cut parquet": (b"PAR1" + b"x" * 50, FileFormatError, "r.dat is damaged"),
    "npz of objects": (
        npz(format=b"csr", data=np.array([{}, 1])),
        FileFormatError,
        "no sparse matrix .*[Oo]bject arrays",
    ),
    "npz of a dense array": (npz(a=np.eye(2)), FileFormatError, "r.dat holds no sparse matrix"),
    "npz without indices": (
        npz(format=b"csr", data=np.eye(1)),
        FileFormatError,
        "r.dat holds no sparse matrix",
    ),
    "npz of unknown format": (
        npz(**CSR | {"format": b"xyz"}),
        FileFormatError,
        "r.dat holds no sparse matrix",
    ),
    "npz outside its shape": (npz(**CSR | {"indices": [0, 9]}), ObservationError, "malformed"),
    "npz with decreasing indptr": (
        npz(**CSR | {"indptr": [0, 3, 2]}),
        InputError,
        "malformed|no sparse matrix",
    ),
    "npz of nan": (npz(**CSR | {"data": [np.nan, 1]}), ObservationError, "value nan"),
    "npz of text": (npz(**CSR | {"data": ["a", "b"]}), InputError, "r.dat|values"),
}


@pytest.mark.parametrize("case", [*TEXTS, *CONTAINERS])
def test_each_fault_has_its_message(write, case):
    content, error, message = (TEXTS | CONTAINERS)[case]
    with pytest.raises(error, match=message):
        read_ratings(write(content))


@pytest.mark.parametrize("case", [case for case in TEXTS if case not in ("utf-16", "binary")])
def test_the_message_is_the_same_inside_gzip(write, case):
    content, error, message = TEXTS[case]
    plain = content.encode() if isinstance(content, str) else content
    with pytest.raises(error, match=message):
        read_ratings(write(gzip.compress(plain), "r.dat.gz"))


def test_a_first_line_with_a_wrong_rating_is_not_taken_for_a_header(write):
    for content in ("1,10,bad,7,8\n1,20,4,7,8\n", "ann,10,bad,7,8\nann,20,4,7,8\n"):
        with pytest.raises(FileFormatError, match=r"line 1 .* has 'bad' where a number should be"):
            read_ratings(write(content), user=0, item=1, rating=2)


def test_a_missing_file_suggests_its_neighbour(write):
    path = write(GOOD, "ratings.dat")
    with pytest.raises(FileFormatError, match=r"no file .*rating\.dat'.*did you mean .*ratings\.dat\?"):
        read_ratings(path.with_name("rating.dat"))
    with pytest.raises(FileFormatError, match="no file") as raised:  # has but the ending in common
        read_ratings(write(GOOD, "scores.csv").with_name("nofile.csv"))
    assert "did you mean" not in str(raised.value)
    with pytest.raises(FileFormatError, match="no file"):
        read_ratings("/nowhere/at/all.csv")


def test_a_directory_says_what_it_holds(write):
    path = write(GOOD, "ratings.dat")
    with pytest.raises(FileFormatError, match=r"is a directory; expected a file.*it holds ratings\.dat"):
        read_ratings(path.parent)


@pytest.mark.parametrize("path", ["a\0b", ""])
def test_impossible_paths(path):
    with pytest.raises(FileFormatError):
        read_ratings(path)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"separator": ","}, FileFormatError, "the first line of r.dat has 1 field"),
        ({"value_range": (1, 4)}, ObservationError, r"1 values outside .* 5 at \(1, 10\)"),
        ({"shape": (1, 5)}, ShapeError, "column id 20 for 5 columns"),
        ({"encoding": "utf-9"}, FileFormatError, "unknown encoding 'utf-9'"),
        ({"user": "u"}, FileFormatError, "no column 'u' in r.dat"),
        ({"user": "u", "header": False}, FileFormatError, "column 'u' of r.dat, which has no header"),
        (
            {"user": 7, "item": 1, "rating": 2},
            FileFormatError,
            "column 7 of r.dat; expected a position from 0 to 2",
        ),
        ({"missing_value": "x"}, FileFormatError, "missing_value='x'; expected a finite number"),
        ({"missing_value": float("nan")}, FileFormatError, "missing_value=nan"),
        ({"header": True}, FileFormatError, "no column of r.dat looks like the user"),
        ({"separator": ""}, FileFormatError, "separator"),
    ],
)
def test_options_that_contradict_the_file(write, options, error, message):
    with pytest.raises(error, match=message):
        read_ratings(write("1::10::5\n1::20::4\n"), **options)


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (
            {"user": [1, 2], "item": [1, 2], "rating": ["a", "b"]},
            FileFormatError,
            "column 'rating' of r.dat, of type String",
        ),
        (
            {"user": [1, None], "item": [1, 2], "rating": [1, 2]},
            ObservationError,
            "column 'user' of r.dat .* row 1",
        ),
        (
            {"user": [1, 2], "item": [1, 2], "rating": [1, None]},
            ObservationError,
            "column 'rating' of r.dat .* row 1",
        ),
        ({"user": [1, 2], "item": [1, 2], "rating": [1, np.inf]}, ObservationError, r"value inf at \(2, 2\)"),
        ({"user": [], "item": [], "rating": []}, FileFormatError, "r.dat has no rows"),
        ({"user": [1, 2], "item": [1, 2]}, FileFormatError, "2 fields"),
    ],
)
def test_parquet_is_held_to_the_same(tmp_path, columns, error, message):
    path = tmp_path / "r.dat"
    pl.DataFrame(columns, strict=False).write_parquet(path)
    with pytest.raises(error, match=message):
        read_ratings(path)


def test_a_pickle_is_never_run(write):
    class Explosive:
        def __reduce__(self):
            return exec, ("raise SystemExit('this code ran')",)

    buffer = io.BytesIO()
    np.savez(buffer, format=np.array(Explosive(), dtype=object), data=np.array([Explosive()], dtype=object))
    with pytest.raises(FileFormatError, match="no sparse matrix"):
        read_ratings(write(buffer.getvalue()))


SEEDS = [
    content if isinstance(content, bytes) else content.encode()
    for content, _, _ in (TEXTS | CONTAINERS).values()
]


@given(data=st.data())
def test_no_bytes_lead_to_anything_but_a_matrix_or_a_typed_error(tmp_path_factory, data):
    content = bytearray(data.draw(st.sampled_from(SEEDS) | st.binary(max_size=200)))
    for _ in range(data.draw(st.integers(0, 4))):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    path.write_bytes(content)
    try:
        Z = read_ratings(path)
    except InputError:
        return
    assert Z.n_observed >= 1


def test_sparse_matrices_of_one_dimension_are_refused(write):
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.coo_array(np.array([1.0, 2.0])))
    with pytest.raises(InputError):
        read_ratings(write(buffer.getvalue()))
