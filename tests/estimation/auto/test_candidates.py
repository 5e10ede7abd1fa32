"""What sources bring: which are tried, what is said of them, and where they are left out."""

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.estimation import Auto
from likewise.estimation.auto import transformer as auto_module
from likewise.estimation.auto.candidates import GRIDS, LADDERS, ablation, sources_within, told, without_rows
from likewise.observations import ObservedMatrix, with_features

pytestmark = pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")


@pytest.fixture(autouse=True)
def few_others(monkeypatch):
    """Of candidates without sources, least squares alone."""
    monkeypatch.setattr(auto_module, "FIRST", ())
    monkeypatch.setattr(auto_module, "LADDERS", LADDERS[-1:])
    monkeypatch.setattr(auto_module, "GRIDS", ((GRIDS[0][0][:1], GRIDS[0][1]),))


def two_groups(seed=0, m=40, n=30, share=0.2):
    """People of two groups who like opposite halves of the columns; a feature of people says which group, one of columns says nothing."""
    rng = np.random.default_rng(seed)
    people, halves = rng.integers(2, size=m), np.arange(n) % 2
    truth = np.where(people[:, None] == halves, 4.0, 2.0) + 0.2 * rng.normal(size=(m, n))
    rows, columns = np.nonzero(rng.random((m, n)) < share)
    values = np.clip(truth[rows, columns], 1, 5)
    observed = ObservedMatrix.from_triplets(rows, columns, values, shape=(m, n), value_range=(1, 5))
    return with_features(observed, rows=people.astype(float), columns=rng.normal(size=n))


@pytest.mark.slow
def test_features_that_say_what_people_like_are_taken_and_what_each_brought_is_said():
    observed = two_groups()
    auto = Auto(random_state=0).fit(observed)
    plain = Auto(sources="none", random_state=0).fit(observed)
    tried = ablation(("row-features", "column-features"))
    errors = {found.name: found.held_out_error for found in auto.candidates_}
    assert errors[tried["row-features"].name] < 0.8 * errors[tried["nothing"].name]
    assert "row-features" in auto.choice_.name
    (said,) = [note for note in auto.choice_.notes if note.startswith("what each source brought")]
    assert "row-features -" in said
    assert "column-features " in said
    names = [found.name for found in auto.candidates_]
    assert names[1:5] == [candidate.name for candidate in tried.values()]
    assert not any("with" in found.name for found in plain.candidates_)
    np.testing.assert_allclose(auto.transform(observed), auto.estimate_.to_dense(), atol=1e-6)


@pytest.mark.slow
def test_all_sources_are_tried_where_they_are_asked_for():
    auto = Auto(sources="all", random_state=0).fit(two_groups())
    tried = " ".join(found.name for found in auto.candidates_)
    assert all(name in tried for name in ("row-pattern", "column-pattern", "row-features", "column-features"))


def test_under_a_limit_rows_depend_on_their_values_alone():
    observed = two_groups()
    assert sources_within(None, observed, 1.0) == ("column-features",)
    assert sources_within("column-pattern", observed, 1.0) == ("column-pattern",)
    with pytest.raises(InputError, match="max_lipschitz"):
        sources_within("all", observed, 1.0)
    assert without_rows(None, observed, None) == ()
    assert without_rows("column-pattern", observed, 1.0) == ()
    left_out = "row-features left out, as no constant holds for rows that are regressed on them"
    assert without_rows(None, observed, 1.0) == (left_out,)
    quick = Auto(time_budget=0.1, max_lipschitz=1.0, random_state=0).fit(observed)
    assert left_out in quick.notes_


def test_nothing_is_said_where_nothing_was_compared():
    assert told(1.0, {}) == []
    assert told(1.0, {"a": -0.5, "b": 0.25}) == [
        "what each source brought to a held-out error of 1.0000 without any: a -0.5000, b +0.2500"
    ]
