"""Audits of ratings: people are compared on what no algorithm saw."""

from __future__ import annotations

import json

import numpy as np
import pytest

from likewise import ObservedMatrix, audit
from likewise.errors import DistanceError, InputError, ObservationError
from likewise.report.numbers import brief


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


@pytest.mark.slow
def test_is_the_default_for_ratings(report):
    assert report.reference.kind == "held-out"
    assert report.settings["hold_out"] == 0.5
    assert set(report.truth.arms) == {"without", "with", "estimate"}
    assert report.arms["with"].on_truth is report.truth.arms["with"]


@pytest.mark.slow
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
    """Outputs that have nothing to do with the people, and do not change: neither better nor worse."""
    noise = np.random.default_rng(1).normal(size=(120, 4))
    found = audit(ratings(), estimator="biases", model=lambda _: noise, random_state=0)
    assert found.findings[0].startswith("No difference")
    gap = found.arms["with"].on_truth.relative_gap
    assert gap.low < 1 < gap.high


@pytest.mark.slow
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
    with pytest.raises(InputError, match="and hold_out above 0"):
        audit(ratings(), reference="held-out", hold_out=0)
    with pytest.raises(InputError, match="outputs computed elsewhere used all"):
        audit(ratings(), outputs=np.zeros(120), reference="held-out")


@pytest.mark.parametrize("share", [1.0, -1, float("nan"), "half", True, [], np.array([0.5, 0.2])])
@pytest.mark.parametrize("reference", [None, "held-out"])
def test_a_share_that_is_none_is_named(reference, share):
    with pytest.raises(ObservationError, match=r"^hold_out=(?s:.*); expected a number "):
        audit(ratings(m=20, n=30), estimator="biases", reference=reference, hold_out=share)


@pytest.mark.slow
def test_a_generator_with_the_same_seed_gives_the_same_report():
    first, second = (
        audit(ratings(), estimator="als", random_state=np.random.default_rng(3)) for _ in range(2)
    )
    assert first.truth.arms == second.truth.arms


@pytest.fixture(scope="module")
def over_splits():
    return audit(ratings(), estimator="biases", model="identity", splits=3, random_state=0)


@pytest.mark.slow
def test_splits_are_combined(over_splits):
    alone = audit(ratings(), estimator="biases", model="identity", reference="held-out", random_state=0)
    truth, error = over_splits.truth, over_splits.arms["with"].error
    assert (truth.n_splits, over_splits.settings["splits"]) == (3, 3)
    assert error.n == 3 * alone.arms["with"].error.n
    assert alone.settings["splits"] == 1
    gaps = [report.truth.arms["with"].relative_gap for report in (over_splits, alone)]
    assert gaps[0].high - gaps[0].low < 1.5 * (gaps[1].high - gaps[1].low)
    assert "3 splits" in gaps[0].method
    np.testing.assert_array_equal(over_splits.estimate.singular_values, alone.estimate.singular_values)


def test_how_much_of_d_is_noise_is_told(over_splits):
    (told,) = [finding for finding in over_splits.findings if "Two halves of the features" in finding]
    assert f"rank correlation of {brief(over_splits.truth.reliability)}" in told


@pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")
def test_where_no_pair_is_measured_twice_the_noise_of_d_is_called_unknown():
    """Two marks each, of which at most one is kept aside."""
    marks = ObservedMatrix(np.random.default_rng(0).uniform(-1, 1, (60, 2)), value_range=(-1, 1))
    found = audit(marks, estimator="biases", model="identity", reference="held-out", least_shared=1)
    assert np.isnan(found.truth.reliability)
    assert any("How much of d is noise is not known" in finding for finding in found.findings)
    assert json.loads(found.to_json())["truth"]["reliability"] == "NaN"


def test_splits_are_told(over_splits):
    assert any("in 3 random splits" in finding for finding in over_splits.findings)
    tree = json.loads(over_splits.to_json())
    assert tree["truth"]["n_splits"] == 3
    assert tree["settings"]["splits"] == 3


@pytest.mark.slow
def test_splits_by_hand():
    """Each split anew, as a loop would: the errors are those of all of them together, the gap is their mean."""
    from likewise import hold_out, make_estimator

    Z = ratings()
    report = audit(Z, estimator="als", model="identity", splits=2, random_state=5)
    squares, further = [], np.random.default_rng([5, 1])
    further.integers(2**31)  # the model's seed is drawn before
    for seed in (5, further):
        hidden = hold_out(Z, 0.5, seed, leave_one=True)
        estimate = make_estimator("als", random_state=5).fit(hidden.training).estimate_
        squares.append((estimate.entries(hidden.rows, hidden.columns) - hidden.values) ** 2)
    assert report.arms["with"].error.rmse == pytest.approx(np.sqrt(np.mean(np.concatenate(squares))))


@pytest.mark.parametrize("splits", [0, -1, 1.5, "two", True])
def test_splits_that_are_none_are_refused(splits):
    with pytest.raises(InputError, match="splits"):
        audit(ratings(), splits=splits)


def test_splits_beside_what_has_none_are_refused():
    with pytest.raises(InputError, match=r"splits=2 beside reference='observed'.*kept aside anew"):
        audit(ratings(), splits=2, reference="observed")
    with pytest.raises(InputError, match="splits beside outputs computed elsewhere"):
        audit(ratings(), splits=2, outputs=np.zeros(120))
    with pytest.raises(DistanceError, match="at least 100 pairs"):
        audit(ratings(m=20, n=30), splits=2)


@pytest.mark.slow
def test_fewer_features_in_common_make_more_pairs_eligible(report, tmp_path):
    """Thin data are compared where fewer will do, and by default on as many as enough pairs share; the report says how many."""
    thin = ratings(share=0.2)
    with pytest.raises(DistanceError, match=r"share 15 or more.*fewer features in common with least_shared"):
        audit(thin, estimator="als", model="identity", least_shared=15)
    found = audit(thin, estimator="als", model="identity")
    assert (found.reference.kind, found.settings["least_shared"]) == ("held-out", 5)
    found.save(tmp_path)
    assert "share 5 or more of the features kept aside" in (tmp_path / "report.html").read_text("utf-8")
    tree = json.loads(found.to_json())
    assert tree["settings"]["least_shared"] == 5
    assert "share 5 or more" in tree["truth"]["pairs"]
    assert report.settings["least_shared"] == 15


@pytest.mark.slow
@pytest.mark.parametrize("least", [1, 4, 15])
def test_eligible_pairs_are_those_of_the_definition(least):
    """Pairs counted one by one on what was hidden."""
    from likewise import hold_out

    Z = ratings()
    hidden = hold_out(Z, 0.5, 3, leave_one=True)
    seen = np.zeros(Z.shape, dtype=int)
    seen[hidden.rows, hidden.columns] = 1
    expected = sum(int(seen[i] @ seen[k] >= least) for i in range(120) for k in range(i))
    found = audit(Z, estimator="als", model="identity", least_shared=least, random_state=3)
    assert found.truth.pairs.startswith(f"{expected:,} pairs ")


@pytest.mark.parametrize("least", [0, -1, 1.5, "two", True])
def test_a_least_that_is_no_count_is_refused(least):
    with pytest.raises(InputError, match=r"least_shared=.*expected a whole number >= 1"):
        audit(ratings(), least_shared=least)


def test_a_least_beside_what_has_nothing_kept_aside_is_refused():
    with pytest.raises(InputError, match=r"least_shared=3 beside reference='observed'.*in common"):
        audit(ratings(), least_shared=3, reference="observed")
    with pytest.raises(InputError, match="least_shared beside outputs computed elsewhere"):
        audit(ratings(), least_shared=3, outputs=np.zeros(120))
    with pytest.raises(InputError, match="reference 'held-out' without observations kept aside"):
        audit(ratings(), least_shared=3, hold_out=0)


def test_a_least_that_no_pair_reaches_is_refused():
    with pytest.raises(
        DistanceError, match=r"^0 pairs of 120 individuals that share 500 or more.*ask for fewer"
    ):
        audit(ratings(), least_shared=500)


def test_a_share_that_leaves_somebody_nothing_is_refused():
    with pytest.raises(
        ObservationError,
        match=r"hold_out=0.995, which leaves 80 of 120 individuals less than one.* up to 0\.9892",
    ):
        audit(ratings(), reference="held-out", hold_out=0.995)
