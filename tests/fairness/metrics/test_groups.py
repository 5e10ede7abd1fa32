"""Metrics by group: an unknown group is not a group, in whatever holds it, and leaves everything else as it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from likewise.errors import ShapeError
from likewise.fairness import RowDistance, measure_fairness, measure_sampled

NAN = float("nan")
PEOPLE = RowDistance([0.0, 1.0, 3.0, 7.0, 2.0])
OUTPUTS = [0.0, 2.0, 3.0, 9.0, 100.0]  # the last individual, whose group is unknown, is far from everybody

CONTAINERS = {
    "list": ["f", "m", "f", "m", None],
    "list with NaN": ["f", "m", "f", "m", NAN],
    "objects": np.array(["f", "m", "f", "m", NAN], dtype=object),
    "masked": np.ma.array(["f", "m", "f", "m", "f"], mask=[0, 0, 0, 0, 1]),
    "pandas": pd.Series(["f", "m", "f", "m", None]),
    "pandas strings": pd.Series(["f", "m", "f", "m", None], dtype="string"),
    "pandas categories": pd.Series(["f", "m", "f", "m", None], dtype="category"),
    "polars": pl.Series(["f", "m", "f", "m", None]),
    "arrow": pa.array(["f", "m", "f", "m", None]),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("streaming", [False, True])
def test_who_has_no_known_group_is_in_no_group(container, streaming):
    found = measure_fairness(OUTPUTS, PEOPLE, groups=CONTAINERS[container], streaming=streaming)
    groups = found.groups
    assert [kind.name for kind in groups.by_groups] == ["f and f", "f and m", "m and m"]
    assert groups.n_unknown == 1
    assert "1 individual has no known group: their pairs count, but in no metric of groups" in found.notes
    assert (groups.within.n_pairs, groups.across.n_pairs, found.n_pairs) == (2, 4, 10)
    # Within: (0, 2) and (1, 3), D = 3 and 7. Across: (0, 1), (0, 3), (1, 2), (2, 3), D = 2, 9, 1, 6.
    assert groups.within.output_gap.value == 5
    assert groups.across.output_gap.value == 18 / 4
    # All ten pairs: the six above, and 100, 98, 97 and 91 to the last individual.
    assert found.mean_output_distance.value == pytest.approx(41.4)


def test_numbers_with_gaps():
    groups = measure_fairness(OUTPUTS, PEOPLE, groups=[1.0, 2.0, 1.0, 2.0, NAN]).groups
    assert [kind.name for kind in groups.by_groups] == ["1 and 1", "1 and 2", "2 and 2"]


def test_the_word_unknown_is_a_group():
    groups = measure_fairness(OUTPUTS, PEOPLE, groups=["f", "m", "f", "m", "unknown"]).groups
    assert groups.n_unknown == 0
    assert len(groups.by_groups) == 6


def test_drawn_pairs():
    rng = np.random.default_rng(0)
    people, outputs = rng.standard_normal((60, 2)), rng.standard_normal(60)
    known = rng.choice(["f", "m"], 60).astype(object)
    some = np.where(rng.random(60) < 0.3, None, known)
    found = measure_sampled(outputs, RowDistance(people), groups=some, n_pairs=1500, random_state=1)
    assert found.groups.n_unknown == sum(group is None for group in some)
    assert [kind.name for kind in found.groups.by_groups] == ["f and f", "f and m", "m and m"]
    assert any("no known group" in note for note in found.notes)
    kinds = found.groups.by_groups
    assert sum(kind.n_pairs for kind in kinds) == found.groups.within.n_pairs + found.groups.across.n_pairs
    assert sum(kind.n_pairs for kind in kinds) < found.n_pairs


def test_relative_gaps_of_groups_are_parts_of_the_whole():
    rng = np.random.default_rng(3)
    people, outputs = rng.standard_normal((80, 2)), rng.standard_normal(80)
    found = measure_fairness(outputs, RowDistance(people), groups=rng.choice(list("abc"), 80))
    kinds = found.groups.by_groups
    weighted = sum(kind.relative_gap.value * kind.n_similar for kind in kinds if kind.n_similar)
    assert weighted / found.similar.n_pairs == pytest.approx(found.similar.relative_gap.value, rel=1e-12)


def test_the_finite_metrics_stand_first_where_a_ratio_is_infinite():
    twins = RowDistance([0.0, 0.0, 1.0, 4.0])
    within = measure_fairness([0.0, 1.0, 2.0, 3.0], twins, groups=["a", "a", "b", "b"]).groups.within
    assert within.mean_ratio.value == np.inf
    assert within.n_infinite == 1
    assert within.finite_mean_ratio.value == 1 / 3  # (2, 3): D = 1, d = 3
    names = list(vars(within))
    assert names.index("relative_gap") < names.index("finite_mean_ratio") < names.index("mean_ratio")


def test_the_name_of_a_column_is_not_a_group_for_each():
    with pytest.raises(ShapeError, match=r"groups='town', one word; .* Hint: give the column itself"):
        measure_fairness([1, 2, 3], RowDistance(np.eye(3)), groups="town")
