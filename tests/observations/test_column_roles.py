"""Which columns were read as what: in a sentence, in JSON, and kept on the way from the file to the matrix."""

import json
import pickle

import pytest

from likewise.observations import ObservedMatrix, read_ratings
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.reading.groups import read_groups_file
from likewise.observations.reading.outputs import read_outputs_file


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        (
            ColumnRoles("r.csv", ("userId",), ("movieId",), ("rating",), left_out=("timestamp",)),
            "Read r.csv: individuals from userId, features from movieId, values from rating; left out: timestamp.",
        ),
        (
            ColumnRoles("marks.csv", ("school", "pupil"), ("written", "course"), left_out=("sex",)),
            "Read marks.csv: individuals from school, pupil, 2 features from written, course; left out: sex.",
        ),
        (
            ColumnRoles("people.csv", ("name",), ("age", "job", "town"), categories=("job", "town")),
            "Read people.csv: individuals from name, numbers from age, categories from job, town.",
        ),
        (ColumnRoles("g.csv", ("id",), groups=("sex",)), "Read g.csv: individuals from id, groups from sex."),
        (
            ColumnRoles("g.csv", ("id",), groups=("sex",), left_out=("age",), remarks=("\x07: 2", "no more")),
            r"Read g.csv: individuals from id, groups from sex; left out: age; '\x07: 2'; no more.",
        ),
        (
            ColumnRoles("grid", features=tuple("abcdefghij")),
            "Read grid: individuals counted from 0, 10 features from a, b, c, d, e, f, g, h and 2 more.",
        ),
        (
            ColumnRoles("\x1b[31m", ("",), outputs=("\x1b]0;title\x07",)),
            r"Read '\x1b[31m': individuals from '', outputs from '\x1b]0;title\x07'.",
        ),
    ],
)
def test_the_sentence_names_every_role_and_moves_no_cursor(roles, sentence):
    assert roles.sentence() == sentence


def test_json_has_every_role():
    roles = ColumnRoles("r.csv", ("user",), ("item",), ("rating",), left_out=("time",))
    assert json.loads(json.dumps(roles.to_dict())) == {
        "source": "r.csv",
        "ids": ["user"],
        "features": ["item"],
        "categories": None,
        "values": ["rating"],
        "outputs": None,
        "groups": None,
        "target": None,
        "times": None,
        "left_out": ["time"],
        "remarks": [],
    }


def test_roles_stay_with_the_observations_whatever_is_made_of_them(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("userId,movieId,rating,timestamp\n1,10,5,9\n1,20,3,9\n2,10,1,9\n")
    Z = read_ratings(file)
    expected = ColumnRoles("ratings.csv", ("userId",), ("movieId",), ("rating",), left_out=("timestamp",))
    assert Z.roles == expected
    for derived in (Z.scaled(), Z.take_rows([0]), Z.keep(Z.values.data > 1), pickle.loads(pickle.dumps(Z))):
        assert derived.roles == expected
    assert ObservedMatrix([[1.0, 2.0]]).roles is None


def test_outputs_and_groups_carry_theirs(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("id,score,sex\nbea,0.2,f\nann,0.9,m\n")
    groups = read_groups_file(file, ["ann", "bea"], group_column="sex")
    assert groups.values.tolist() == ["m", "f"]
    expected = ColumnRoles(
        "people.csv", ("id",), groups=("sex",), left_out=("score",), remarks=("m: 1, f: 1",)
    )
    assert groups.roles == expected
    file.write_text("id,score,rank\nbea,0.2,1\nann,0.9,2\n")
    outputs = read_outputs_file(file, ["ann", "bea"])
    assert outputs.values.tolist() == [[0.9, 2], [0.2, 1]]
    assert outputs.names == ("score", "rank")
    assert outputs.roles == ColumnRoles("people.csv", ("id",), outputs=("score", "rank"))
