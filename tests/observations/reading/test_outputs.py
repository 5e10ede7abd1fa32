"""Outputs from files: aligned by id, whatever the format, or refused with what does and does not match."""

import gzip
import zipfile

import numpy as np
import pytest

from likewise import LowRankEstimate
from likewise.errors import FileFormatError, ModelError
from likewise.inference import read_outputs
from likewise.observations.reading import read_outputs_file

IDS = np.array([3, 1, 2])
EXPECTED = np.array([[0.3, 30.0], [0.1, 10.0], [0.2, 20.0]])


@pytest.fixture
def write(tmp_path):
    def write(content, name="outputs.csv"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


TABLE = "id,score,value\n1,0.1,10\n2,0.2,20\n3,0.3,30\n"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(TABLE, id="commas"),
        pytest.param(TABLE.replace(",", "\t"), id="tabs"),
        pytest.param(TABLE.replace("\n", "\r\n"), id="lines of Windows"),
        pytest.param(TABLE.replace(",", ";"), id="semicolons"),
        pytest.param(TABLE + "9,0.9,90\n", id="somebody that nobody asked about"),
        pytest.param(gzip.compress(TABLE.encode()), id="gzip"),
    ],
)
def test_text_is_aligned_by_id(write, content):
    np.testing.assert_array_equal(read_outputs(write(content), IDS), EXPECTED)


def test_parquet_is_aligned_by_id(tmp_path):
    polars = pytest.importorskip("polars")
    file = tmp_path / "outputs.parquet"
    polars.DataFrame({"id": [1, 2, 3], "score": [0.1, 0.2, 0.3], "value": [10, 20, 30]}).write_parquet(file)
    np.testing.assert_array_equal(read_outputs(file, IDS), EXPECTED)


def test_arrays_with_and_without_ids(tmp_path):
    np.save(tmp_path / "a.npy", EXPECTED)
    np.savez(tmp_path / "b.npz", EXPECTED)
    np.savez(tmp_path / "c.npz", outputs=EXPECTED[::-1], row_ids=IDS[::-1])
    np.savez(tmp_path / "d.npz", outputs=EXPECTED[::-1], row_ids=IDS[::-1].astype(str))
    for name in ("a.npy", "b.npz", "c.npz", "d.npz"):
        np.testing.assert_array_equal(read_outputs(tmp_path / name, IDS), EXPECTED)


def test_one_column_is_one_number_each(write):
    file = write("who,score\nann,0.5\nbea,0\n")
    np.testing.assert_array_equal(read_outputs(file, ["bea", "ann"]), [0.0, 0.5])


def test_the_id_column_can_be_named(write):
    file = write("score,applicant\n0.5,ann\n0,bea\n")
    np.testing.assert_array_equal(read_outputs(file, ["bea", "ann"], id_columns="applicant"), [0.0, 0.5])


def test_numbers_match_the_same_numbers_as_text(write):
    np.testing.assert_array_equal(read_outputs(write(TABLE), ["3", "1", "2"]), EXPECTED)


class TestRefusals:
    @pytest.mark.parametrize(
        ("ids", "reason"),
        [
            ([3, 1, 7, 8], r"for 2 of 4 individuals, none for 7, 8; .*its ids begin 1, 2, 3"),
            (["ann"], "for 0 of 1 individuals, none for 'ann'"),
            (range(10, 20), r"for 0 of 10 individuals, none for 10, 11, 12, 13, 14, \.\.\.;"),
        ],
    )
    def test_individuals_without_outputs(self, write, ids, reason):
        with pytest.raises(ModelError, match=reason):
            read_outputs(write(TABLE), ids)

    def test_individuals_that_are_only_numbered_are_told_how_to_be_named(self, write):
        named = write("id,score\na0,1\na1,2\n")
        with pytest.raises(
            ModelError, match=r"its ids begin 'a0', 'a1'; .* only numbered: .* id_columns=\.\.\.$"
        ):
            read_outputs(named, range(2))
        for ids in (range(1, 3), ["ann", "bea"]):
            with pytest.raises(ModelError, match=r"its ids begin 'a0', 'a1'$"):
                read_outputs(named, ids)

    def test_repeated_ids(self, write):
        with pytest.raises(ModelError, match="several rows for '2'"):
            read_outputs(write(TABLE + "2,0.5,50\n"), IDS)

    def test_arrays_without_ids_need_as_many_rows(self, tmp_path):
        np.save(tmp_path / "a.npy", EXPECTED)
        with pytest.raises(ModelError, match=r"a.npy gave outputs of shape \(3, 2\); expected \(4,\)"):
            read_outputs(tmp_path / "a.npy", range(4))

    def test_arrays_that_are_not_finite(self, tmp_path):
        np.save(tmp_path / "a.npy", [1.0, np.nan, 2.0])
        with pytest.raises(ModelError, match="1 of 3 rows: 1"):
            read_outputs(tmp_path / "a.npy", IDS)

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            ("", "is empty"),
            ("id,score\n", "no rows"),
            ("id\n1\n2\n3\n", "one column 'id'"),
            ("id,score\n1,good\n", "'good' where a number should be"),
            ("id,score\n1,\n", "''|no"),
            ("id,score\n1,inf\n", "inf"),
            ("id,score\n1,2,3\n", "3 fields"),
            (b"id,score\n\x00\x01,2\n", "binary"),
            (b"\x93NUMPY\x01", "cannot be read"),
        ],
    )
    def test_unusable_files(self, write, content, reason):
        with pytest.raises(ValueError, match=reason) as caught:
            read_outputs(write(content), [1])
        assert type(caught.value).__module__ == "likewise.errors"

    def test_missing_file_and_folder(self, tmp_path):
        with pytest.raises(FileFormatError, match=r"no file .* expected a path to a file of outputs"):
            read_outputs(tmp_path / "none.csv", IDS)
        with pytest.raises(FileFormatError, match="is a directory"):
            read_outputs(tmp_path, IDS)

    def test_unknown_id_column(self, write):
        with pytest.raises(
            FileFormatError, match=r"no column 'user' in outputs.csv; expected one of 'id', 'score', 'value'"
        ):
            read_outputs(write(TABLE), IDS, id_columns="user")

    def test_objects_are_never_unpickled(self, tmp_path):
        np.save(tmp_path / "a.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
        with pytest.raises(FileFormatError, match="Object arrays cannot be loaded"):
            read_outputs(tmp_path / "a.npy", IDS)
        np.savez(tmp_path / "b.npz", np.array([{}, {}], dtype=object))
        with pytest.raises(FileFormatError, match="Object arrays cannot be loaded"):
            read_outputs(tmp_path / "b.npz", IDS)

    def test_ambiguous_arrays(self, tmp_path):
        np.savez(tmp_path / "a.npz", first=EXPECTED, second=EXPECTED)
        with pytest.raises(FileFormatError, match="with arrays first, second; expected outputs"):
            read_outputs(tmp_path / "a.npz", IDS)


@pytest.mark.parametrize("outputs", [np.arange(2.0), np.arange(4.0), np.float64(1)])
def test_arrays_with_more_or_fewer_ids_than_rows_are_refused(tmp_path, outputs):
    file = tmp_path / "outputs.npz"
    np.savez(file, outputs=outputs, row_ids=IDS)
    with pytest.raises(FileFormatError, match="one id for each row"):
        read_outputs(file, IDS)


HEADERS = {
    "unclosed": "{'descr': '<f8', 'fortran_order': False, 'shape': (2,",
    "no dictionary": "__import__('os')",
    "negative": "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }",
    "larger than any memory": "{'descr': '<f8', 'fortran_order': False, 'shape': (1" + "0" * 17 + ",), }",
    "no such type": "{'descr': '<q9', 'fortran_order': False, 'shape': (2,), }",
    "nested": "{'descr': " + "[" * 100 + "]" * 100 + ", 'fortran_order': False, 'shape': (2,), }",
    "objects": "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
}


def crafted(header):
    text = header.encode().ljust(246) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(16)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_say_what_cannot_be(tmp_path, name, inside):
    file = tmp_path / "outputs.npy"
    if inside:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("outputs.npy", crafted(HEADERS[name]))
    else:
        file.write_bytes(crafted(HEADERS[name]))
    with pytest.raises(FileFormatError, match=r"outputs\.npy"):
        read_outputs(file, [1, 2])
    with pytest.raises(FileFormatError, match=r"outputs\.npy"):
        LowRankEstimate.load(file)


def test_ids_of_the_observations_are_found_in_the_file_of_outputs_where_it_has_them(write):
    """By name alone: a position says nothing of another file."""
    file = write(",pupil,score\n0,ann,0.5\n1,bea,0.25\n")
    with pytest.raises(FileFormatError, match="a column without a name first"):
        read_outputs_file(file, ["bea", "ann"], exclude=[])
    read = read_outputs_file(file, ["bea", "ann"], usual_ids=["pupil"], output_columns="score")
    assert read.values.tolist() == [0.25, 0.5]
    other = write("applicant,score\nann,0.5\nbea,0.25\n")
    assert read_outputs_file(other, ["bea", "ann"], usual_ids=["pupil"]).values.tolist() == [0.25, 0.5]
    assert read_outputs_file(other, ["bea", "ann"], usual_ids=[1]).values.tolist() == [0.25, 0.5]


def test_a_hint_names_the_numbers_though_one_of_them_is_blank(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("id,s1,note\na,1,x\nb,2,y z\nc,,w\n")
    with pytest.raises(FileFormatError, match=r"'note' of scores\.csv, which are not numbers") as raised:
        read_outputs(file, ["a", "b", "c"])
    assert raised.value.hint == "give output_columns='s1'"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (
            ["yes", "waitlist", "no"],
            "such as no = 0, waitlist = 1, yes = 2; if not, a column of 0 and 1 for each",
        ),
        (["red", "blue", "green"], "such as blue = 0, green = 1, red = 2;"),
        (["50%", "0%", "100%"], "write the bare number in place of '0%'"),
        (["$4,208", "$1", "$2"], "write the bare number in place of '$1'"),
    ],
)
def test_several_words_and_units_are_refused_with_a_way_forward(tmp_path, words, hint):
    lines = [f'{name},"{word}"' for name, word in zip("abc", words, strict=True)]
    (tmp_path / "decisions.csv").write_text("\n".join(["id,decision", *lines]) + "\n")
    with pytest.raises(
        FileFormatError,
        match=r"words in 'decision' of decisions.csv: .*; expected numbers, or one of two words",
    ) as found:
        read_outputs(tmp_path / "decisions.csv", list("abc"))
    assert hint in str(found.value)


@pytest.mark.parametrize(("held", "wanted"), [(["1", "2"], ["001", "002"]), (["001", "002"], [1, 2])])
def test_ids_that_lost_their_zeros_are_recognised(tmp_path, held, wanted):
    (tmp_path / "scores.csv").write_text(f"id,score\n{held[0]},1\n{held[1]},2\n")
    with pytest.raises(
        ModelError,
        match=f"{str(wanted[0])!r} is {held[0]!r} there: programs that take ids for numbers drop the zeros",
    ):
        read_outputs(tmp_path / "scores.csv", wanted)
