"""Distances are found by name: those of the package, those that were registered, and errors for all others."""

from __future__ import annotations

import numpy as np
import pytest

from likewise import ObservedMatrix, audit
from likewise.errors import DistanceError
from likewise.fairness import (
    DISTANCES,
    CoObservedDistance,
    ObservedDistance,
    PairwiseDistance,
    RowDistance,
    distance_by_name,
    register_distance,
)
from likewise.fairness.distances.registry import OF_THE_PACKAGE

TABLE = np.array([[1.0, np.nan, 5.0], [2.0, 2.0, np.nan], [1.0, 4.0, 5.0], [3.0, 3.0, 1.0]])
Z = ObservedMatrix(TABLE, value_range=(1, 5))


@pytest.fixture
def by_count():
    @register_distance("count")
    def make(observed):
        return RowDistance(np.diff(observed.values.indptr))

    yield make
    DISTANCES.unregister("count")


def test_those_of_the_package_are_the_classes_themselves():
    named = distance_by_name("observed", Z, norm="l2", working_range="unit")
    itself = ObservedDistance(Z, "l2", working_range="unit")
    np.testing.assert_array_equal(named.block(0, 4), itself.block(0, 4))
    assert isinstance(distance_by_name("co-observed", Z), CoObservedDistance)
    assert all(callable(maker) for maker in OF_THE_PACKAGE.values())


@pytest.mark.usefixtures("by_count")
def test_registered_ones_serve_audits():
    np.testing.assert_array_equal(distance_by_name("count", Z).block(0, 1), [[0, 0, 1, 1]])
    report = audit(Z, outputs=[0.0, 1.0, 2.0, 3.0], reference="count")
    (arm,) = report.arms.values()
    # Two individuals have two observations and two have three: d is 1 in four of the six pairs.
    assert arm.fairness.mean_reference_distance.value == 4 / 6


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("gowr", {}, "unknown distance 'gowr'.*did you mean 'gower'"),
        ("observed", {"colour": 1}, "distance 'observed' with colour.*unexpected keyword"),
        ("text", {}, "unknown distance"),
    ],
)
def test_others_are_refused(name, options, message):
    with pytest.raises(DistanceError, match=message):
        distance_by_name(name, Z, **options)


@pytest.mark.usefixtures("by_count")
def test_what_is_no_distance_is_refused():
    register_distance("count")(lambda observed: observed.shape[0])
    with pytest.raises(DistanceError, match="'count' returned int; expected a PairwiseDistance"):
        distance_by_name("count", Z)
    with pytest.raises(DistanceError, match="likewise's own"):
        register_distance("gower")(RowDistance)
    with pytest.raises(DistanceError, match="a class or function"):
        register_distance("text")("text")
    assert issubclass(OF_THE_PACKAGE["rows"], PairwiseDistance)
