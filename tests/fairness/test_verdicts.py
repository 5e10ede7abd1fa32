"""Three answers: what each kind of evidence can show, and what it cannot."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import InputError
from likewise.fairness import (
    AffineCertificate,
    Certificate,
    ExactValue,
    RowDistance,
    SampledValue,
    Unavailable,
    measure_fairness,
    measure_sampled,
)
from likewise.fairness.verdicts import judge_certificate, judge_rate, strongest_verdict, verdict


def sampled(value, low, high):
    return SampledValue(value, low, high, 0.95, "all pairs of this data set", "Clopper-Pearson", 100)


def certificate(value, assumptions=()):
    return Certificate(name="K*", value=value, from_norm="l1", to_norm="l2", assumptions=assumptions)


@pytest.mark.parametrize(
    ("rate", "tolerance", "status", "confidence"),
    [
        (ExactValue(0.0, 10), 0.0, "holds", None),
        (ExactValue(0.1, 10), 0.0, "violated", None),
        (ExactValue(0.1, 10), 0.1, "holds", None),
        (ExactValue(math.nan, 0), 0.1, "inconclusive", None),
        (sampled(0.0, 0.0, 0.03), 0.0, "inconclusive", None),
        (sampled(0.01, 0.001, 0.05), 0.0, "violated", None),
        (sampled(0.01, 0.0, 1.0), 0.0, "violated", None),
        (sampled(0.0, 0.0, 0.03), 0.05, "holds", 0.95),
        (sampled(0.01, 0.001, 0.05), 0.05, "holds", 0.95),
        (sampled(0.01, 0.001, 0.05), 0.02, "inconclusive", None),
        (sampled(0.01, 0.001, 0.05), 0.0005, "violated", 0.95),
        (sampled(0.2, 0.13, 1.0), 0.1, "violated", 0.95),
        (sampled(math.nan, 0.0, 1.0), 0.1, "inconclusive", None),
    ],
)
def test_what_a_rate_shows(rate, tolerance, status, confidence):
    found = judge_rate(rate, 1.5, tolerance=tolerance)
    assert (found.status, found.confidence, found.tolerance) == (status, confidence, tolerance)


def audited(**options):
    # d: 1, 4, 3; D: 0.5, 2, 1.5: the largest ratio is 0.5.
    return measure_fairness([0.0, 0.5, 2.0], RowDistance([0.0, 1.0, 4.0]), **options)


def test_what_is_proved_is_asked_before_what_was_measured():
    assert verdict(audited(), 0.5).reason == "the largest ratio is 0.5"
    assert verdict(audited(), 0.49).status == "violated"
    by_proof = verdict(audited(), 0.6, certificate=certificate(0.6))
    assert by_proof.reason.startswith("proved: K* = 0.6")
    assert by_proof.population == str(certificate(0.6).domain)
    loose = verdict(audited(), 0.6, certificate=certificate(0.7))
    assert (loose.status, loose.reason) == ("holds", "the largest ratio is 0.5")
    nothing = verdict(audited(), 0.6, certificate=Unavailable("K1", "trees jump"))
    assert nothing.reason == "the largest ratio is 0.5"


def test_a_violation_that_was_seen_is_not_overruled():
    found = verdict(audited(), 0.4, certificate=certificate(0.1))
    assert found.status == "violated"
    assert "against proved: K* = 0.1" in found.reason


def test_a_share_that_may_violate_is_judged_by_the_rate():
    found = audited(lipschitz=0.4)  # all three pairs violate
    assert verdict(found, 0.4, 0.9).status == "violated"
    assert verdict(found, 0.4, 0.9, certificate(0.4)).status == "holds"
    with pytest.raises(InputError, match="not compared with it"):
        verdict(found, 0.3, 0.5)


def test_drawn_pairs_keep_their_own_verdict():
    rng = np.random.default_rng(0)
    people = rng.standard_normal((200, 2))
    drawn = measure_sampled(
        people @ [0.5, 0.1], RowDistance(people), lipschitz=0.6, tolerance=0.05, n_pairs=500, random_state=0
    )
    assert verdict(drawn, 0.6, 0.05) is drawn.verdict
    with pytest.raises(InputError, match="measure them with the same lipschitz"):
        verdict(drawn, 0.7)


def test_a_certificate_proves_and_never_refutes():
    assert judge_certificate(certificate(1.5), 1.5).status == "holds"
    assert judge_certificate(certificate(1.6), 1.5).status == "inconclusive"
    assert judge_certificate(Unavailable("K1", "trees jump"), 1.5).status == "inconclusive"
    found = judge_certificate(certificate(1.0, ("the vendor's word",)), 1.5)
    assert found.confidence is None
    assert "given the vendor's word" in found.reason
    assert found.population == str(certificate(1.0).domain)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.99))
def test_a_sampled_verdict_never_contradicts_its_interval(low, value, high, tolerance):
    low, value, high = sorted((low, value, high))
    status = judge_rate(sampled(value, low, high), 1.0, tolerance=tolerance).status
    assert status != "holds" or high <= tolerance
    assert status != "violated" or low > tolerance or (tolerance == 0 and value > 0)


@pytest.mark.parametrize(
    ("slope", "offset", "confidence", "slack", "status"),
    [
        (1.0, 0.1, 1.0, 0.1, "holds"),
        (1.0, 0.1, 0.9, 0.2, "holds"),
        (1.0, 0.1, 1.0, 0.0, "inconclusive"),
        (2.0, 0.1, 1.0, 0.1, "inconclusive"),
    ],
)
def test_a_proved_line_needs_slack(slope, offset, confidence, slack, status):
    line = AffineCertificate(
        name="A", slope=slope, offset=offset, confidence=confidence, from_norm="l2", to_norm="l2"
    )
    found = judge_certificate(line, 1.5, slack=slack)
    assert (found.status, found.slack) == (status, slack)
    assert found.confidence == (0.9 if confidence == 0.9 else None)


def test_the_strongest_of_several():
    unsure, sure = judge_rate(sampled(0.0, 0.0, 0.03), 1.5), judge_certificate(certificate(1.0), 1.5)
    assert strongest_verdict(unsure, sure) is sure
    assert strongest_verdict(unsure, judge_certificate(certificate(9.0), 1.5)) is unsure
    with pytest.raises(InputError, match=r"K\* = 1 .*, yet 0.01 of 100 pairs drawn violate"):
        strongest_verdict(judge_rate(sampled(0.01, 0.001, 0.05), 1.5), sure)
    with pytest.raises(InputError, match="different limits"):
        strongest_verdict(unsure, judge_rate(sampled(0.0, 0.0, 0.03), 1.6))
    with pytest.raises(InputError, match="no verdict"):
        strongest_verdict()


def test_it_reads_as_a_sentence():
    found = judge_rate(sampled(0.01, 0.001, 0.05), 1.5, tolerance=0.05, slack=0.1)
    assert str(found) == (
        "D <= 1.5 d + 0.1 for all pairs of this data set but a share of 0.05: holds "
        "(a share of at most 0.05 violates by Clopper-Pearson on 100 pairs; confidence 0.95)"
    )
    assert found.to_dict()["status"] == "holds"


@pytest.mark.parametrize("limit", [0, -1.0, math.inf, math.nan])
def test_a_limit_that_is_none_is_refused(limit):
    for judge, evidence in (
        (judge_rate, ExactValue(0.0, 1)),
        (judge_certificate, certificate(1.0)),
    ):
        with pytest.raises(InputError, match="L="):
            judge(evidence, limit)


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, math.nan])
def test_a_tolerance_that_is_none_is_refused(tolerance):
    with pytest.raises(InputError, match="tolerance="):
        judge_rate(ExactValue(0.0, 1), 1.0, tolerance=tolerance)
