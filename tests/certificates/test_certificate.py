"""The type itself: what it says, what it refuses, and how it is held against measured pairs."""

import json

import numpy as np
import pytest

from likewise.certificates import AffineCertificate, Certificate, Domain, Unavailable
from likewise.errors import InputError, ShapeError


def certificate(value=2.0, **changes):
    return Certificate(**{"name": "K", "value": value, "from_norm": "l1", "to_norm": "l2", **changes})


def affine(slope=2.0, offset=0.5, **changes):
    return AffineCertificate(
        **{"name": "T", "slope": slope, "offset": offset, "from_norm": "l2", "to_norm": "l2", **changes}
    )


def test_pairs_are_held_against_the_constant_by_hand():
    check = certificate().holds_for([1.0, 2.0, 0.0, 0.0], [2.0, 5.0, 0.0, 0.1])
    assert (check.n_pairs, check.n_violated, check.holds) == (4, 2, False)
    assert check.largest_excess == pytest.approx(1.0)
    assert check.largest_share == np.inf  # equal inputs, different outputs


def test_pairs_are_held_against_an_affine_bound_by_hand():
    check = affine().holds_for([1.0, 0.0, 2.0], [2.5, 0.25, 3.0])
    assert check.holds
    assert check.largest_excess == 0.0
    assert check.largest_share == pytest.approx(1.0)
    assert "0 of 3 pairs exceed" in str(check)


def test_slack_is_added_to_the_bound():
    assert not certificate().holds_for([1.0], [2.5]).holds
    assert certificate().holds_for([1.0], [2.5], slack=0.5).holds


def test_no_pairs_violate_nothing():
    check = certificate().holds_for([], [])
    assert check.holds
    assert check.largest_share == 0.0


@pytest.mark.parametrize("wrong", [[-1.0], [np.nan], [np.inf]])
def test_distances_that_are_none_are_refused(wrong):
    with pytest.raises(InputError, match="negative, infinite or NaN"):
        certificate().holds_for(wrong, [1.0])
    with pytest.raises(InputError, match="negative, infinite or NaN"):
        certificate().holds_for([1.0], wrong)


def test_distances_of_other_pairs_are_refused():
    with pytest.raises(ShapeError, match="one of each for every pair"):
        certificate().holds_for([1.0, 2.0], [1.0])


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_what_is_no_constant_is_refused(value):
    with pytest.raises(InputError, match="finite number >= 0"):
        certificate(value)
    with pytest.raises(InputError, match="finite number >= 0"):
        affine(offset=value)


@pytest.mark.parametrize("confidence", [0.0, 1.1, np.nan])
def test_confidence_is_a_probability(confidence):
    with pytest.raises(InputError, match="confidence"):
        affine(confidence=confidence)


def test_in_sample_and_out_of_sample_look_different_in_print():
    assert "seen in the fit or not" in str(certificate())
    assert "in sample: rows of the fit" in str(certificate(domain=Domain.SEEN))
    assert "seen in the fit or not" not in str(certificate(domain=Domain.SEEN))


def test_everything_it_rests_on_is_explained():
    text = certificate(
        function="f", assumptions=("a trusted weight",), proof=("step one", "step two")
    ).explain()
    assert text.splitlines()[1:] == [
        "  of: f",
        "  if: a trusted weight",
        "  because: step one",
        "  because: step two",
    ]
    assert Unavailable("K", "it jumps").explain() == "K: none (it jumps)"


@pytest.mark.parametrize(
    ("statement", "kind"),
    [(certificate(), "proved"), (affine(), "proved"), (Unavailable("K", "why"), "unavailable")],
)
def test_plain_values_survive_json(statement, kind):
    record = json.loads(json.dumps(statement.to_dict()))
    assert record["kind"] == kind
    assert record["name"] == statement.name
    if kind == "proved":
        assert record["domain"] == str(statement.domain)


@pytest.mark.parametrize("value", ["every pair", None, 3, []])
def test_a_domain_that_is_none_is_an_error_of_ours(value):
    with pytest.raises(InputError, match="expected 'in sample: rows of the fit' or 'every pair of rows"):
        Domain(value)
