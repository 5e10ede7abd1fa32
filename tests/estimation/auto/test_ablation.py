"""What sources bring: which are tried, what is said of them, and where they are left out."""

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.estimation import Auto
from likewise.estimation.auto.ablation import ablation, sources_within, told
from likewise.observations import ObservedMatrix, with_features

pytestmark = pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")


def two_groups(seed=0, m=60, n=40, share=0.12):
    """People of two groups who like opposite halves of the columns; a feature of people says which group, one of columns says nothing."""
    rng = np.random.default_rng(seed)
    people, halves = rng.integers(2, size=m), np.arange(n) % 2
    truth = np.where(people[:, None] == halves, 4.0, 2.0) + 0.2 * rng.normal(size=(m, n))
    rows, columns = np.nonzero(rng.random((m, n)) < share)
    values = np.clip(truth[rows, columns], 1, 5)
    observed = ObservedMatrix.from_triplets(rows, columns, values, shape=(m, n), value_range=(1, 5))
    return with_features(observed, rows=people.astype(float), columns=rng.normal(size=n))


def test_features_that_say_what_people_like_are_taken_and_what_each_brought_is_said():
    observed = two_groups()
    auto = Auto(time_budget=1.5, random_state=0).fit(observed)
    plain = Auto(sources="none", time_budget=1.5, random_state=0).fit(observed)
    chosen, without = (
        next(found.held_out_error for found in fitted.candidates_ if found.remark == "chosen")
        for fitted in (auto, plain)
    )
    assert chosen < 0.9 * without
    assert "row-features" in auto.choice_.name
    (said,) = [note for note in auto.choice_.notes if note.startswith("what each source brought")]
    assert "row-features -" in said
    names = [found.name for found in auto.candidates_]
    assert names[1:5] == [
        candidate.name for candidate in ablation(("row-features", "column-features")).values()
    ]
    assert not any("with" in found.name for found in plain.candidates_)
    np.testing.assert_allclose(auto.transform(observed), auto.estimate_.to_dense(), atol=1e-6)


def test_all_sources_are_tried_where_they_are_asked_for():
    auto = Auto(sources="all", time_budget=1.5, random_state=0).fit(two_groups())
    tried = " ".join(found.name for found in auto.candidates_)
    assert all(name in tried for name in ("row-pattern", "column-pattern", "row-features", "column-features"))


def test_under_a_limit_rows_depend_on_their_values_alone():
    observed = two_groups()
    assert sources_within(None, observed, 1.0) == ("column-features",)
    assert sources_within("column-pattern", observed, 1.0) == ("column-pattern",)
    with pytest.raises(InputError, match="max_lipschitz"):
        sources_within("all", observed, 1.0)
    auto = Auto(max_lipschitz=1.0, time_budget=1.5, random_state=0).fit(observed)
    assert not any("row-features" in found.name for found in auto.candidates_)


def test_nothing_is_said_where_nothing_was_compared():
    assert told({}) == []
    assert told({"nothing": 1.0}) == []
    assert told({"row-features": 1.0, "column-features": 1.0}) == []
