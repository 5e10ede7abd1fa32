"""Audits of ratings: people are compared on what no algorithm saw."""

from __future__ import annotations

import json

import numpy as np
import pytest

from likewise import ObservedMatrix, audit
from likewise.errors import DistanceError, InputError


def ratings(seed=0, m=120, n=400, share=0.42):
    """People of five tastes rate films from 1 to 5, each his own share of them."""
    rng = np.random.default_rng(seed)
    tastes = rng.normal(size=(5, n))
    truth = 3 + tastes[rng.integers(5, size=m)]
    stars = np.clip(np.rint(truth + 0.5 * rng.normal(size=(m, n))), 1, 5)
    stars[rng.random((m, n)) > share * rng.uniform(0.6, 1.4, size=(m, 1))] = np.nan
    return ObservedMatrix(stars, value_range=(1, 5))


@pytest.fixture(scope="module")
def report():
    return audit(ratings(), estimator="als", random_state=0)


def test_is_the_default_for_ratings(report):
    assert report.reference.kind == "held-out"
    assert report.settings["hold_out"] == 0.5
    assert set(report.truth.arms) == {"without", "with"}
    assert report.arms["with"].on_truth is report.truth.arms["with"]


def test_the_first_sentence_answers_with_the_gap_on_the_truth_and_the_error(report):
    first = report.findings[0]
    gaps = [arm.on_truth.relative_gap.value for arm in report.arms.values()]
    assert first.startswith(
        "Better: with pre-processing the 10% of pairs that are most similar on observations kept aside are treated more alike"
    )
    assert f"gap {gaps[0]:.3g} before, {gaps[1]:.3g} after" in first
    assert "the error falls" in first


def test_the_papers_distance_stands_beside_it(report):
    assert any("By the paper's d on zero-filled observations" in finding for finding in report.findings)
    assert np.isfinite(report.arms["with"].fairness.similar.relative_gap.value)


def test_table_and_json_show_it(report):
    tree = json.loads(report.to_json())
    value = report.arms["with"].on_truth.relative_gap.value
    assert tree["truth"]["arms"]["with"]["relative_gap"]["value"] == pytest.approx(value)
    assert "rank correlation" in report.details()


def test_the_algorithm_sees_nothing_of_what_is_kept_aside(report):
    """The estimate is that of the other half: the same as when a model runs on them alone."""
    from likewise import hold_out, make_estimator

    Z = ratings()
    kept = hold_out(Z, 0.5, 0)
    alone = make_estimator("als", random_state=0).fit(kept.training)
    assert report.estimate.rank == alone.rank_
    np.testing.assert_allclose(report.estimate.singular_values, alone.singular_values_)


def test_without_similar_people_treated_alike_it_says_so():
    """Outputs that have nothing to do with the people: neither better nor worse can be told."""
    noise = np.random.default_rng(1).normal(size=(120, 4))
    found = audit(ratings(), estimator="biases", model=lambda _: noise, random_state=0)
    assert found.findings[0].startswith("Cannot be told")
    gap = found.arms["with"].on_truth.relative_gap
    assert gap.low < 1 < gap.high


def test_tables_keep_the_papers_distance():
    full = audit(ratings(share=0.9), estimator="biases")
    assert full.reference.kind == "observed"
    assert full.truth is None


def test_too_little_in_common_is_told_before_the_fit():
    small = ratings(m=20, n=30)
    assert audit(small, estimator="biases").reference.kind == "observed"
    with pytest.raises(DistanceError, match="at least 100 pairs"):
        audit(small, estimator="biases", reference="held-out")


def test_nothing_kept_aside_is_refused():
    with pytest.raises(InputError, match="a share to hide above 0"):
        audit(ratings(), reference="held-out", hold_out=0)
    with pytest.raises(InputError, match="outputs computed elsewhere have seen all"):
        audit(ratings(), outputs=np.zeros(120), reference="held-out")


def test_a_generator_with_the_same_seed_gives_the_same_report():
    first, second = (
        audit(ratings(), estimator="als", random_state=np.random.default_rng(3)) for _ in range(2)
    )
    assert first.truth.arms == second.truth.arms
