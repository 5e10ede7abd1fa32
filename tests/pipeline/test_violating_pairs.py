"""Every pair that breaks the limit, the worst first, however many there are."""

import csv
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.fairness import RowDistance
from likewise.pipeline import violating_pairs
from likewise.pipeline.violating_pairs import write_violating_pairs


def test_the_largest_ratio_stands_first(tmp_path):
    """By hand: d are 1, 2, 1 and D are 3, 4, 7; beyond 2 d are the first and the last pair, by 1 and by 5. Two equal people come first."""
    people, outputs = [[0.0], [1.0], [2.0], [2.0]], [[0.0], [3.0], [-4.0], [-4.5]]
    d = RowDistance(people, row_ids=["=a", "b", "c", "e"])
    write_violating_pairs(tmp_path / "v.csv", {"x": RowDistance(outputs)}, {"x": d}, 2.0)
    assert (tmp_path / "v.csv").read_text().splitlines() == [
        "arm,left,right,reference_distance,output_distance,ratio,excess",
        "x,c,e,0,0.5,inf,0.5",
        "x,b,e,1,7.5,7.5,5.5",
        "x,b,c,1,7,7,5",
        "x,'=a,b,1,3,3,1",
        "x,'=a,e,2,4.5,2.25,0.5",
    ]


def test_ids_that_differ_by_an_apostrophe_stay_two_people(tmp_path):
    d = RowDistance([[0.0], [1.0], [3.0]], row_ids=["=a", "'=a", "b"])
    write_violating_pairs(tmp_path / "v.csv", {"x": d}, {"x": d}, 0.5)
    with (tmp_path / "v.csv").open() as stream:
        pairs = {(row["left"], row["right"]) for row in csv.DictReader(stream)}
    assert pairs == {("'=a", "''=a"), ("'=a", "b"), ("''=a", "b")}


@pytest.mark.parametrize("run", [1, 7, 10**6])
@given(seed=st.integers(0, 2**32 - 1), ties=st.booleans())
def test_parts_that_are_sorted_apart_are_merged_in_order(tmp_path, monkeypatch, run, seed, ties):
    """Against all pairs, one by one; the parts are read five pairs at a time."""
    rng = np.random.default_rng(seed)
    people, outputs = (
        (rng.integers(0, 3, 12) if ties else rng.standard_normal(12)).astype(float) for _ in "dD"
    )
    with monkeypatch.context() as patched:
        patched.setattr(violating_pairs, "_TAKEN", 5)
        patched.setattr(violating_pairs, "_RUN", run)
        arm = {"x": RowDistance(outputs[:, None])}
        write_violating_pairs(tmp_path / "v.csv", arm, {"x": RowDistance(people[:, None])}, 0.5)
    expected = []
    for i, j in combinations(range(12), 2):
        d, D = abs(people[i] - people[j]), abs(outputs[i] - outputs[j])
        if 0.5 * d * (1 + 1e-9) < D:
            expected.append((-np.inf if d == 0 else -D / d, -D, i, j))
    with (tmp_path / "v.csv").open() as stream:
        found = [(int(row["left"]), int(row["right"])) for row in csv.DictReader(stream)]
    assert found == [(i, j) for _, _, i, j in sorted(expected)]
