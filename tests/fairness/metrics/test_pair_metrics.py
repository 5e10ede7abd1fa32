"""Metrics that others add are measured wherever pairs are, and stand with the others."""

from __future__ import annotations

import json

import numpy as np
import pytest

from likewise.errors import InputError, ModelError
from likewise.fairness import (
    CoObservedDistance,
    ExactValue,
    RowDistance,
    measure_fairness,
    measure_sampled,
    register_pair_metric,
)
from likewise.fairness.metrics.pair_metrics import PAIR_METRICS
from likewise.observations import ObservedMatrix


@pytest.fixture
def registered():
    names = []

    def register(name, function):
        names.append(name)
        return register_pair_metric(name, function)

    yield register
    for name in names:
        PAIR_METRICS.unregister(name)


@pytest.mark.parametrize("streaming", [False, True])
def test_by_hand(registered, streaming):
    registered("squared_excess", lambda d, D: np.maximum(D - d, 0.0) ** 2)
    # d of 0, 1 and 3: 1, 3, 2. D of 0, 2 and 7: 2, 7, 5. Excesses: 1, 4, 3.
    found = measure_fairness([0.0, 2.0, 7.0], RowDistance([0.0, 1.0, 3.0]), streaming=streaming)
    assert found.added == {"squared_excess": ExactValue(26 / 3, 3)}
    assert found.metrics()["squared_excess"] == ExactValue(26 / 3, 3)
    assert "squared excess" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["added"]["squared_excess"]["kind"] == "exact"


@pytest.mark.parametrize("streaming", [False, True])
def test_pairs_without_a_distance_count_nowhere(registered, streaming):
    registered("share", lambda d, _: np.ones_like(d))
    table = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0], [5.0, 5.0]])
    reference = CoObservedDistance(ObservedMatrix(table, value_range=(1, 5)))
    assert measure_fairness(np.arange(4.0), reference, streaming=streaming).added["share"] == ExactValue(
        1.0, 5
    )


def test_drawn_pairs_have_an_interval(registered):
    registered("close", lambda d, D: (d >= D).astype(float))
    rng = np.random.default_rng(0)
    people, outputs = rng.standard_normal((50, 2)), rng.standard_normal(50)
    exact = measure_fairness(outputs, RowDistance(people)).added["close"].value
    found = measure_sampled(outputs, RowDistance(people), n_pairs=1200, random_state=0).added["close"]
    assert found.low <= exact <= found.high
    assert found.value == pytest.approx(exact, abs=0.06)


def test_only_those_asked_for(registered):
    registered("one", lambda _, D: D)
    registered("other", lambda d, _: d)
    found = measure_fairness([0.0, 1.0], RowDistance([0.0, 1.0]), metrics=["other"])
    assert list(found.added) == ["other"]
    assert measure_fairness([0.0, 1.0], RowDistance([0.0, 1.0]), metrics=()).added == {}
    with pytest.raises(InputError, match=r"unknown metric over pairs 'othr'.*did you mean 'other'"):
        measure_fairness([0.0, 1.0], RowDistance([0.0, 1.0]), metrics=["othr"])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda _, D: D[:-1], "returned shape"),
        (lambda _, D: D * np.nan, "NaN or infinite"),
        (lambda _, D: -D, "negative"),
        (lambda d, _: ["a"] * len(d), "numbers"),
    ],
)
def test_what_is_no_metric_is_refused(registered, function, message):
    registered("broken", function)
    with pytest.raises(ModelError, match=message):
        measure_fairness([0.0, 1.0, 3.0], RowDistance([0.0, 1.0, 2.0]))
    with pytest.raises(InputError, match="a function of d and D"):
        register_pair_metric("text", "text")
