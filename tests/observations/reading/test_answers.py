"""Files of answers: of pairs, of triplets, with and without judges."""

import pytest

from likewise.errors import FileFormatError
from likewise.observations.reading import read_answers


def test_pairs_with_judges_in_any_order_of_the_columns(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("judge;Similar;left;right;note\n1;yes;ann;bea;x\n2;No;ann;cy;\n")
    found = read_answers(path)
    assert found.pairs == [("ann", "bea", True), ("ann", "cy", False)]
    assert found.triplets is None
    assert found.judges.tolist() == [1, 2]
    assert found.roles.left_out == ("note",)


def test_triplets(tmp_path):
    path = tmp_path / "answers.tsv"
    path.write_text("anchor\tcloser\tfarther\n1\t2\t3\n3\t1\t2\n")
    found = read_answers(path)
    assert found.triplets == [(1, 2, 3), (3, 1, 2)]
    assert found.pairs is None
    assert found.judges is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "left,right\n1,2\n",
            "columns 'left', 'right'; expected left, right, similar or anchor, closer, farther",
        ),
        ("left,right,similar\n1,2,yes\n1,3,perhaps\n", "answer 2 of answers.csv, 'perhaps'"),
        ("left,right,similar\n1,2,\n1,3,yes\n", "answer 1"),
        ("", "empty"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, content, message):
    (tmp_path / "answers.csv").write_text(content)
    with pytest.raises(FileFormatError, match=message):
        read_answers(tmp_path / "answers.csv")
