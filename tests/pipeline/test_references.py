"""Individuals at distance 0 with different outputs: why, counted and said where it happens."""

import re
from importlib.metadata import EntryPoint
from itertools import combinations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from likewise import SVT, ObservedMatrix, audit
from likewise.errors import InputError
from likewise.fairness import ObservedDistance, RowDistance
from likewise.fairness.distances.registry import DISTANCES
from likewise.fairness.exact.blocks import all_pairs
from likewise.inference import KNNRecommender
from likewise.pipeline.references import ReferenceKind, check_reference, equal_pairs, takes_norm

NAN = np.nan
RATINGS = np.array(
    [[5, 3, NAN, 1], [5, NAN, 3, 1], [5, 3, NAN, 1], [1, NAN, NAN, 2], [NAN, 4, 2, NAN], [2, 2, 1, NAN]]
)


@pytest.fixture
def observed():
    return ObservedMatrix(RATINGS, value_range=(1, 5))


def test_by_hand(observed):
    # Rows 0 and 2 are the same; row 1 is so once its missing value and its 3 are both the middle.
    assert equal_pairs(observed, "symmetric") == (1, 2)
    # Missing is 1 there, and no two rows are the same but those that are.
    assert equal_pairs(observed, "unit") == (1, 0)
    lowest = ObservedMatrix(np.array([[1.0, 5.0], [NAN, 5.0]]), value_range=(1, 5))
    assert (equal_pairs(lowest, "unit"), equal_pairs(lowest, "symmetric")) == ((0, 1), (0, 0))


@given(arrays(float, (7, 3), elements=st.sampled_from([1.0, 3.0, 5.0, NAN])))
def test_it_counts_what_every_pair_held_against_every_other_shows(table):
    table[0, 0] = 1.0  # something is observed
    observed = ObservedMatrix(table, value_range=(1, 5))
    filled = np.where(np.isnan(table), 3.0, table)
    equal = [(i, j) for i, j in combinations(range(7), 2) if (filled[i] == filled[j]).all()]
    alike = sum(np.array_equal(table[i], table[j], equal_nan=True) for i, j in equal)
    assert equal_pairs(observed, "symmetric") == (alike, len(equal) - alike)
    assert np.count_nonzero(all_pairs(ObservedDistance(observed, "l1")) == 0) == len(equal)


OUTPUTS = np.arange(6.0)


@pytest.mark.parametrize("pairs", ["all", 15])
def test_an_audit_says_why(observed, pairs):
    _, why, *_ = audit(observed, outputs=OUTPUTS, pairs=pairs).findings
    assert why.startswith(
        "Distance 0 means for 1 pair that both observed the same values of the same features, and for 2 pairs that they observed different"
    )
    assert "a value in the middle of the value range counts as a missing one does" in why
    assert "--value-range LOW,HIGH" in why
    assert "Nearest neighbours" not in why


def test_the_advice_helps(observed):
    declared = ObservedMatrix(RATINGS, value_range=(0.5, 5))
    report = audit(declared, outputs=OUTPUTS)
    assert report.arms["outputs"].fairness.n_infinite == 1
    assert report.findings[1].endswith("the same values of the same features.")
    assert audit(observed, outputs=OUTPUTS).arms["outputs"].fairness.n_infinite == 3


def test_nearest_neighbours_are_named_as_a_reason():
    # All are on one line, so the first and the third are equally similar to the second: it comes first for the first, not for the third.
    twins = ObservedMatrix(np.array([[1.0, 1], [2, 2], [1, 1], [5, 5], [4, 4]]), value_range=(1, 5))
    report = audit(twins, model=KNNRecommender(1), hold_out=0, estimator="biases")
    assert report.arms["without"].fairness.n_infinite == 1
    assert report.findings[1].endswith(
        "Distance 0 means for 1 pair that both observed the same values of the same features. Nearest neighbours can treat even equal "
        "individuals differently, because nobody is their own neighbour, and of others that are equally similar the first ones are taken."
    )


def test_nothing_is_said_where_no_ratio_is_infinite_or_nothing_is_known(observed):
    fair = audit(observed, outputs=np.array([1.0, 1, 1, 2, 3, 4]))
    assert not any("Distance 0" in finding for finding in fair.findings)
    given_distance = audit(RowDistance(np.array([0.0, 0, 1])), outputs=[1.0, 2, 3])
    assert not any("Distance 0" in finding for finding in given_distance.findings)


def test_on_what_both_observed_the_reason_is_another(observed):
    report = audit(observed, outputs=OUTPUTS, reference="co-observed")
    assert report.findings[1].startswith("Here d is 0 where two individuals agree on everything that both")


def test_only_reasons_that_there_are_are_named():
    filled = ObservedMatrix(np.array([[5, 3, NAN], [5, NAN, 3], [1, 2, 2]]), value_range=(1, 5))
    why = audit(filled, outputs=[1.0, 2, 3]).findings[1]
    assert why.startswith("Distance 0 means for 1 pair that they observed different features, where")


@pytest.mark.slow
def test_distances_of_the_package_are_references_by_name_too():
    from likewise import audit
    from likewise.errors import DistanceError
    from likewise.observations import clustered

    Z = clustered(40, 30, 3, observed_fraction=0.5, random_state=0).observed
    found = audit(Z, estimator="als", model="identity", reference="pattern")
    assert found.reference.description.startswith("l1 with the empty entry as a point")
    with pytest.raises(DistanceError, match="expected a data frame"):
        audit(Z, estimator="als", reference="gower")


def test_a_norm_beside_a_named_distance_that_has_its_own_is_refused(observed):
    """Settings named a norm that d did not have."""
    with pytest.raises(InputError, match="norm beside a reference distance that is given"):
        audit(observed, estimator="biases", reference="rows", norm="l2")
    assert takes_norm(None)
    assert all(map(takes_norm, get_args(ReferenceKind)))
    assert not any(map(takes_norm, ["rows", "pattern", RowDistance([0.0, 1.0])]))
    assert takes_norm("no such name")  # which is refused as that


def test_an_unknown_reference_lists_every_name_there_is(monkeypatch):
    """Also of a distance that somebody registered, and of a plug-in that nobody has asked for yet."""
    plugin = EntryPoint("of-a-plug-in", "nowhere:Distance", DISTANCES.group)
    monkeypatch.setattr("likewise.registry.entry_points", lambda **asked: [] if "name" in asked else [plugin])
    monkeypatch.setitem(DISTANCES._known, "registered", ObservedDistance)
    with pytest.raises(InputError) as raised:
        check_reference("gowr")
    listed = set(re.findall(r"'([\w-]+)'", raised.value.expected))
    assert listed == {*get_args(ReferenceKind), *DISTANCES, "of-a-plug-in"}
    assert "gower" in raised.value.hint


@pytest.mark.parametrize("outputs", [None, [1.0, 2, 4, 8, 16, 32]])
def test_least_shared_leaves_out_pairs_that_share_fewer(observed, outputs):
    """Of the 15 pairs, those that share fewer than two features have no distance."""
    told = (
        {} if outputs is not None else {"hold_out": 0, "estimator": SVT(threshold=0.5), "model": "identity"}
    )
    report = audit(observed, outputs=outputs, reference="co-observed", least_shared=2, **told)
    known = ~np.isnan(RATINGS)
    shared = [np.count_nonzero(known[i] & known[j]) for i, j in combinations(range(6), 2)]
    assert 0 < sum(count < 2 for count in shared) < len(shared)
    for arm in report.arms.values():
        assert arm.fairness.n_undefined == sum(count < 2 for count in shared)
    assert "fewer than 2 features are shared" in report.reference.description
    assert report.settings["least_shared"] == 2


def test_least_shared_is_refused_where_nothing_is_shared(observed):
    with pytest.raises(InputError, match="'held-out', 'co-observed' or 'gower'"):
        audit(observed, reference="observed", least_shared=2)
