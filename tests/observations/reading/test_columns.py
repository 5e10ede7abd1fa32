"""What names of columns say, and what is refused until the caller says it."""

import pytest

from likewise.errors import FileFormatError
from likewise.observations import read_ratings
from likewise.observations.column_roles import is_count, is_id
from likewise.observations.reading import read_outputs_file
from likewise.observations.reading.columns import as_columns, find_ids, listing

SCORES = ",applicant,score\n0,3,0.8\n1,5,0.3\n2,7,0.5\n"
"""What pandas writes of a frame whose index nobody named."""

PEOPLE = "{},name,test,grade\n0,ann,5,3\n1,bea,4,2\n2,cy,1,1\n"


@pytest.fixture
def write(tmp_path):
    def written(text, name="f.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return written


@pytest.mark.parametrize(
    "name", ["", " ", "Unnamed: 0", "unnamed:0", "index", "level_0", "row", "Row_ID", "#"]
)
def test_names_of_an_index(name):
    assert is_count(name)


@pytest.mark.parametrize(
    "name", ["id", "ID", "userId", "user_id", "USER ID", "case-id", "applicant", "student", "name", "uuid"]
)
def test_names_of_ids(name):
    assert is_id(name)


@pytest.mark.parametrize("name", ["paid", "grid", "score", "age", "rows", "covid", "written", "names"])
def test_names_of_features(name):
    assert not is_id(name)
    assert not is_count(name)


def test_an_index_before_the_ids_of_outputs_is_refused_with_the_option_that_settles_it(write):
    file = write(SCORES)
    with pytest.raises(
        FileFormatError, match=r"a column without a name first in f.csv, .*id_columns='applicant'"
    ):
        read_outputs_file(file, [3, 5, 7])
    with pytest.raises(
        FileFormatError,
        match=r"which is how an index is written, as an output .*name those that are outputs: output_columns=",
    ):
        read_outputs_file(file, [3, 5, 7], id_columns="applicant")
    settling = [
        {"exclude": 0},
        {"id_columns": "applicant", "exclude": 0},
        {"id_columns": "applicant", "output_columns": "score"},
    ]
    for settled in settling:
        read = read_outputs_file(file, [7, 3, 5], **settled)
        assert read.values.tolist() == [0.5, 0.8, 0.3]
        assert (
            read.roles.sentence()
            == "Read f.csv: individuals from applicant, outputs from score; left out: ''."
        )


def test_an_index_alone_beside_the_outputs_is_the_ids(write):
    assert read_outputs_file(write(",score\nann,0.1\nbea,0.2\n"), ["bea", "ann"]).values.tolist() == [
        0.2,
        0.1,
    ]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index"])
def test_an_index_is_no_feature_of_a_person(write, name):
    file = write(PEOPLE.format(name))
    with pytest.raises(
        FileFormatError,
        match=r"which is how an index is written, as a feature .*id_columns=.*exclude=.*columns=",
    ):
        read_ratings(file, id_columns="name")
    Z = read_ratings(file, id_columns="name", exclude=0)
    assert Z.column_ids.tolist() == ["test", "grade"]
    assert Z.roles.left_out == (name,)
    assert read_ratings(file, id_columns="name", columns=["test", "grade"]).values.data.tolist() == [
        5,
        3,
        4,
        2,
        1,
        1,
    ]


def test_an_id_is_no_feature_of_a_person(write):
    file = write("userId,a,b\n7,5,3\n9,4,2\n")
    with pytest.raises(
        FileFormatError,
        match=r"column 'userId', which is called like an id, as a feature .*id_columns='userId'",
    ):
        read_ratings(file, format="wide")
    assert read_ratings(file, id_columns="userId").row_ids.tolist() == [7, 9]


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("layout", ["wide", "grid"])
def test_a_count_of_the_rows_is_no_feature(write, start, layout):
    marks = [(5, 3, 3, 4), (4, 2, 3, 1), (4, 2, 1, 1), (4, 1, 5, 5), (2, 2, 1, 1)]
    head = "k,a,b,c,d\n" if layout == "wide" else ""
    file = write(head + "".join(f"{k},{a},{b},{c},{d}\n" for k, (a, b, c, d) in enumerate(marks, start)))
    with pytest.raises(FileFormatError, match=r"column ('k'|0), which counts the rows, as a feature"):
        read_ratings(file, format=layout)
    Z = read_ratings(file, format=layout, exclude=0)
    assert Z.to_dense().tolist() == [list(row) for row in marks]
    assert read_ratings(file, format=layout, id_columns=0).row_ids.tolist() == list(range(start, start + 5))


def test_few_rows_in_order_are_no_count(write):
    assert read_ratings(write("a,b\n1,5\n2,4\n3,3\n3,1\n"), format="wide").shape == (4, 2)


def test_an_age_is_no_output(write):
    file = write("id,age,score\n3,20,0.8\n5,30,0.3\n7,40,0.5\n")
    with pytest.raises(
        FileFormatError,
        match=r"columns 'age', 'score' of f.csv, of which 'score' looks like an output; .*output_columns='score'",
    ):
        read_outputs_file(file, [3, 5, 7])
    for settled in ({"output_columns": "score"}, {"exclude": "age"}):
        read = read_outputs_file(file, [3, 5, 7], **settled)
        assert (read.values.tolist(), read.names, read.roles.left_out) == (
            [0.8, 0.3, 0.5],
            ("score",),
            ("age",),
        )
    both = read_outputs_file(file, [3, 5, 7], output_columns=["score", "age"])
    assert both.values.tolist() == [[0.8, 20], [0.3, 30], [0.5, 40]]


def test_the_column_called_like_an_id_is_the_id_wherever_it_stands(write):
    assert read_outputs_file(write("score,userId\n0.5,7\n0.1,9\n"), [9, 7]).values.tolist() == [0.1, 0.5]
    assert find_ids(["a", "b", "applicant"], None, 3, "f") == [2]
    assert find_ids(["a", "b"], None, 2, "f") == [0]
    assert find_ids(None, None, 3, "f") == [0]


def test_a_single_name_is_one_column_and_no_letters():
    assert as_columns("written", "columns") == ("written",)
    assert as_columns(None, "columns") is None
    for given in (5.0, [None], {"a": 1}.items()):
        with pytest.raises(FileFormatError, match="columns="):
            as_columns(given, "columns")


@pytest.mark.slow
def test_messages_list_a_dozen_names_at_most(write):
    assert listing(["x" * 100, *range(20)]).count(",") == 12
    assert "x" * 70 not in listing(["x" * 100])
    names = [f"c{k}" for k in range(3000)]
    file = write(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    for ask in (
        lambda: read_outputs_file(file, ["1"], id_columns="nobody"),
        lambda: read_ratings(file, columns=[*names, "nobody"]),
        lambda: read_ratings(file),
        lambda: read_ratings(file, columns=names, exclude=names),
        lambda: read_outputs_file(file, [f"person {k}" for k in range(3000)]),
    ):
        with pytest.raises(ValueError, match=r".") as raised:
            ask()
        assert len(str(raised.value)) < 700
