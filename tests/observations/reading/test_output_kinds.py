"""Outputs that are no table of numbers: two words, lists of items, a line for each individual and item."""

import numpy as np
import pytest

from likewise.errors import FileFormatError, ModelError
from likewise.fairness import top_n_distance
from likewise.inference import read_outputs
from likewise.observations.column_roles import is_output, long_columns
from likewise.observations.reading import read_outputs_file
from likewise.observations.reading.output_kinds import two_valued


@pytest.fixture
def write(tmp_path):
    def written(text):
        (tmp_path / "f.csv").write_text(text)
        return tmp_path / "f.csv"

    return written


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("True", "False"),
        ("yes", "no"),
        ("admit", "reject"),
        ("approved", "denied"),
        ("Y", "N"),
        ("pass", "fail"),
        ("spades", "hearts"),
    ],
)
def test_two_words_are_one_and_zero(write, yes, no):
    read = read_outputs_file(write(f"id,decision\n1,{yes}\n2,{no}\n3,{yes.upper()}\n"), [3, 2, 1])
    assert read.values.tolist() == [1, 0, 1]
    assert read.notes == (f"outputs: {yes.upper()!r} counts as 1, {no!r} counts as 0",)
    assert read.roles.outputs == ("decision",)


def test_one_word_for_everybody_and_words_beyond_two():
    assert two_valued(["admit", "admit"]) == ([1.0, 1.0], "outputs: 'admit' counts as 1")
    assert two_valued(["reject"]) == ([0.0], "outputs: 'reject' counts as 0")
    assert two_valued(["good"]) is None
    assert two_valued(["low", "middle", "high"]) is None


def test_two_words_with_a_gap_or_a_third_are_refused_with_the_line(write):
    lacking = "f.csv, where 1 of 2 lines have no output: those of 2; .*leave who has none out of this file"
    for text, fault in (
        ("1,yes\n2,\n", lacking),
        ("1,0.5\n2, NA\n", lacking),
        ("1,yes\n2,no\n3,maybe\n", "words in 'decision' of f.csv: 'maybe', 'no', 'yes'"),
    ):
        with pytest.raises(ValueError, match=fault):
            read_outputs(write("id,decision\n" + text), [1, 2])


def test_words_beside_numbers_are_left_out_by_name(write):
    file = write("id,name,y\n1,ann,0.5\n2,bea,0.2\n3,cy,0.1\n")
    with pytest.raises(
        FileFormatError,
        match=r"columns 'name' of f.csv, which are not numbers, beside others that are; .*output_columns='y'",
    ):
        read_outputs(file, [1, 2, 3])
    assert read_outputs(file, [1, 2, 3], exclude="name").tolist() == [0.5, 0.2, 0.1]


TOP = "user," + ",".join(f"rec{k}" for k in range(1, 11)) + "\n"


def lists(shift, text=False):
    return [f"m{k}" if text else k for k in range(100 + shift, 110 + shift)]


@pytest.mark.parametrize("text", [False, True])
def test_ten_recommendations_each_are_lists_of_items_not_numbers(write, text):
    rows = {"ann": lists(0, text), "bob": lists(4, text), "cy": lists(20, text)}
    file = write(TOP + "".join(f"{who},{','.join(map(str, items))}\n" for who, items in rows.items()))
    read = read_outputs_file(file, ["cy", "ann", "bob"])
    assert read.kind == "top-n"
    assert read.values.tolist() == [rows["cy"], rows["ann"], rows["bob"]]
    distance = top_n_distance(read.values)
    # ann and bob share 6 of 10; cy shares none with either.
    np.testing.assert_allclose(distance.block(0, 3), [[0, 1, 1], [1, 0, 0.4], [1, 0.4, 0]], atol=1e-12)
    with pytest.raises(
        ModelError,
        match=r"with lists of items in 'rec1', .*likewise\.fairness\.top_n_distance\(read_outputs_file",
    ):
        read_outputs(file, ["cy", "ann", "bob"])


def test_the_caller_says_which_it_is(write):
    file = write("id,f1,f2\n1,10,20\n2,20,30\n")
    assert read_outputs_file(file, [1, 2]).kind == "numbers"
    assert read_outputs_file(file, [1, 2], kind="top-n").values.tolist() == [[10, 20], [20, 30]]
    listed = write("id,item1,item2\n1,10,20\n2,20,30\n")
    assert read_outputs_file(listed, [1, 2]).kind == "top-n"
    assert read_outputs_file(listed, [1, 2], kind="numbers").values.dtype == np.float64
    with pytest.raises(FileFormatError, match="an item twice in a list"):
        read_outputs_file(write("id,a,b\n1,10,10\n2,20,30\n"), [1, 2], kind="top-n")
    with pytest.raises(FileFormatError, match="unknown kind 'list'"):
        read_outputs_file(listed, [1, 2], kind="list")


@pytest.mark.parametrize("rows", ["1,0.5,0.25\n2,0.1,0.9\n", "1,3,3\n2,4,5\n"])
def test_scores_of_places_are_numbers(write, rows):
    assert read_outputs_file(write("id,rank1,rank2\n" + rows), [1, 2]).kind == "numbers"


LONG = "user,item,score\nann,x,1\nann,y,2\nbob,y,3\nbob,x,4\ncy,z,3\n"


def test_a_line_for_each_individual_and_item_with_every_score_is_a_matrix(write):
    read = read_outputs_file(write(LONG), ["bob", "ann"])
    assert (read.kind, read.names) == ("numbers", ("x", "y"))
    assert read.values.tolist() == [[4, 3], [1, 2]]
    told = "Read f.csv: individuals from user, features from item, outputs from score; "
    assert read.roles.sentence() == told + "1 of 3 ids is not in the data and is left out."


def test_as_many_items_for_each_are_lists_the_best_first(write):
    read = read_outputs_file(
        write("timestamp,userId,movieId,prediction\n9,1,10,2\n9,1,20,5\n9,2,30,4\n9,2,20,1\n"), [2, 1]
    )
    assert (read.kind, read.values.tolist()) == ("top-n", [[30, 20], [20, 10]])
    assert read.notes[0].endswith("by prediction")
    bare = read_outputs_file(write("user,item\n1,10\n2,30\n1,20\n2,20\n"), [2, 1])
    assert (bare.kind, bare.values.tolist()) == ("top-n", [[30, 20], [10, 20]])


def test_lines_that_are_neither_are_refused(write):
    with pytest.raises(
        ModelError, match=r"with 1 to 2 of 3 items for an individual; .*as many items for each"
    ):
        read_outputs_file(write(LONG), ["bob", "ann", "cy"])
    with pytest.raises(ModelError, match="the same individual and item twice"):
        read_outputs_file(write(LONG + "bob,x,5\n"), ["bob", "ann"])
    with pytest.raises(ModelError, match="none for 'dan'"):
        read_outputs_file(write(LONG), ["bob", "dan"])


def test_what_makes_a_long_table():
    assert long_columns(["userId", "movieId", "rating"]) == {"user": 0, "item": 1, "rating": 2}
    assert long_columns(["score", "item", "user", "timestamp"]) == {"user": 2, "item": 1, "rating": 0}
    assert long_columns(["id", "score"]) is None
    assert long_columns(["user", "item", "score", "p_admit"]) is None
    assert long_columns(["user", "item", "age"]) is None


@pytest.mark.parametrize("name", ["score", "P(admit)", "prob_2", "y_pred", "risk score", "p1", "decision"])
def test_names_of_outputs(name):
    assert is_output(name)


@pytest.mark.parametrize("name", ["age", "zip", "income", "written", "name"])
def test_names_of_no_outputs(name):
    assert not is_output(name)
