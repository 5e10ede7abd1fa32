"""The main job against the same steps done naively, one by one."""

from dataclasses import fields
from inspect import signature

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from likewise import SVT, ObservedMatrix, audit, make_estimator, read_ratings
from likewise.errors import InputError, LikewiseError, ShapeError
from likewise.estimation import ObservationStatistics
from likewise.estimation.thresholding import svt
from likewise.fairness import (
    BracketedValue,
    CoObservedDistance,
    ExactValue,
    RowDistance,
    SampledFairness,
    measure_arms,
)
from likewise.observations import clustered, hold_out, with_times
from likewise.pipeline.measurement import Measurement
from likewise.pipeline.request import AuditRequest


def identity(matrix, observed):
    """The complete matrix itself as outputs."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


@pytest.fixture
def observed():
    rng = np.random.default_rng(0)
    tastes = rng.uniform(-1, 1, (3, 25))[rng.integers(0, 3, 20)]
    stars = np.clip(np.round(3 + 2 * tastes + rng.normal(0, 0.3, tastes.shape)), 1, 5)
    stars[rng.random(stars.shape) < 0.4] = np.nan
    return ObservedMatrix(stars, value_range=(1, 5), row_ids=[f"person {i}" for i in range(20)])


def naive_mean_ratio(outputs, individuals):
    """(1/m^2) sum over ordered pairs of ||outputs_i - outputs_j||_2 / ||individuals_i - individuals_j||_1 (Section 6)."""
    m, total = len(outputs), 0.0
    for i in range(m):
        for j in range(m):
            if i != j:
                total += (
                    np.linalg.norm(outputs[i] - outputs[j]) / np.abs(individuals[i] - individuals[j]).sum()
                )
    return total / m**2


def test_both_arms_equal_the_naive_steps(observed):
    report = audit(observed, estimator=SVT(threshold=2.0), model=identity, hold_out=0.2, random_state=7)
    hidden = hold_out(observed, 0.2, 7)
    zero_filled = (hidden.training.to_dense(missing=3.0) - 3) / 2
    estimate = SVT(threshold=2.0).fit(hidden.training).estimate_.on_working_range().to_dense()
    for name, outputs in (("without", zero_filled), ("with", estimate)):
        arm = report.arms[name]
        assert arm.fairness.mean_ratio.value == pytest.approx(naive_mean_ratio(outputs, zero_filled))
        stars = 3 + 2 * outputs[hidden.rows, hidden.columns]
        assert arm.error.rmse == pytest.approx(np.sqrt(np.mean((stars - hidden.values) ** 2)))
        assert arm.error.n == hidden.values.size
        assert str(arm.fairness.worst[0].left).startswith("person ")
    assert report.reference.valid_comparison
    assert report.estimate.rank == SVT(threshold=2.0).fit(hidden.training).rank_


def test_reference_of_the_estimate_changes_only_the_arm_with_preprocessing_and_is_not_valid(observed):
    fixed = audit(observed, estimator="svt", model=identity, random_state=7)
    moved = audit(observed, estimator="svt", model=identity, random_state=7, reference="estimate")
    estimate = SVT().fit(hold_out(observed, 0.1, 7).training).estimate_.on_working_range().to_dense()
    assert moved.arms["without"].fairness.mean_ratio == fixed.arms["without"].fairness.mean_ratio
    assert moved.arms["with"].fairness.mean_ratio.value == pytest.approx(naive_mean_ratio(estimate, estimate))
    assert not moved.reference.valid_comparison
    assert "not a valid before/after comparison" in moved.findings[0]
    assert "released code" in moved.reference.caveats[0]


@pytest.mark.slow
def test_by_default_the_estimator_is_chosen_and_the_report_says_why(observed):
    report = audit(observed, model=identity, random_state=7)
    assert report.estimate.estimator.startswith("Auto(random_state=7), which chose ")
    assert any(note.startswith("chosen automatically: ") for note in report.estimate.notes)
    assert "held-out" in report.details()


@pytest.mark.filterwarnings(
    "ignore::likewise.errors.ConstantOutputWarning"
)  # biases alone tell nobody apart here
@pytest.mark.parametrize(
    ("estimator", "rises", "advised"),
    [(SVT(threshold=3.0, shrinker=np.square), True, True), (SVT(), False, False), ("biases", True, False)],
)
def test_where_svt_raised_the_error_another_estimator_is_named(observed, estimator, rises, advised):
    sentence = next(text for text in audit(observed, estimator=estimator).findings if "The error" in text)
    assert ("rises" in sentence) == rises
    assert ("The estimator 'auto' chooses by held-out error." in sentence) == advised


def test_unit_interval_reads_missing_as_the_low_end(observed):
    report = audit(
        observed, estimator=SVT(working_range="unit"), model=identity, hold_out=0.2, random_state=7
    )
    hidden = hold_out(observed, 0.2, 7)
    zero_filled = (hidden.training.to_dense(missing=1.0) - 1) / 4
    expected = naive_mean_ratio(zero_filled, zero_filled)
    assert report.arms["without"].fairness.mean_ratio.value == pytest.approx(expected)


def test_outputs_from_elsewhere_have_no_error_and_the_reason_is_said(observed):
    scores = observed.zero_filled().sum(axis=1)
    report = audit(observed, outputs={"without": scores, "with": scores / 2})
    assert "because the outputs were computed elsewhere" in " ".join(report.findings)


def test_nothing_hidden_measures_no_error(observed):
    report = audit(observed, model=identity, estimator="svt", hold_out=0)
    assert report.arms["with"].error is None
    assert "Accuracy was not measured because no observations were hidden:" in " ".join(report.findings)


def test_scores_are_audited_but_are_no_predictions_of_entries(observed):
    report = audit(observed, estimator="svt", model=lambda matrix: matrix.sum(axis=1))
    assert report.arms["with"].error is None
    why = "Accuracy was not measured because the model's outputs are not values of the same features"
    assert why in " ".join(report.findings)
    assert why in " ".join(str(report).split())
    assert report.arms["with"].fairness.n_pairs == 190


def test_new_features_of_a_transformer_are_no_predictions_though_as_many(observed):
    report = audit(observed, estimator="svt", model=StandardScaler())
    assert report.arms["with"].error is None


def test_outputs_computed_elsewhere(observed):
    scores = np.arange(20.0)
    report = audit(observed, outputs={"with": scores})
    assert list(report.arms) == ["with"]
    assert report.estimate is None
    assert report.certificates is None
    individuals = (observed.to_dense(missing=3.0) - 3) / 2
    assert report.arms["with"].fairness.mean_ratio.value == pytest.approx(
        naive_mean_ratio(scores[:, None], individuals)
    )


@pytest.mark.slow
def test_same_seed_same_report(observed):
    first, second = (audit(observed, estimator="svt", random_state=3) for _ in range(2))
    assert first.arms["with"].fairness.to_dict() == second.arms["with"].fairness.to_dict()
    assert first.arms["with"].error == second.arms["with"].error


def test_every_step_is_announced_and_timed(observed):
    calls = []
    report = audit(observed, estimator="svt", progress=lambda *call: calls.append(call))
    assert set(report.seconds) == {step for step, _, _ in calls}
    assert all((step, 0, 1) in calls for step in report.seconds)


def test_the_estimator_that_was_passed_is_left_alone(observed):
    estimator = SVT()
    audit(observed, estimator=estimator)
    assert not hasattr(estimator, "estimate_")


def test_a_distance_between_individuals_and_outputs_are_enough():
    """Ratios 1, 1.5 and 2/3 by hand; L = 1.2 is broken by one pair of three."""
    people = RowDistance([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0]], "l1")
    report = audit(people, outputs=[0.0, 1.0, 3.0], lipschitz=1.2, groups=["a", "a", "b"])
    arm = report.arms["outputs"]
    assert arm.fairness.mean_ratio.value == pytest.approx(2 * (1 + 1.5 + 2 / 3) / 9)
    assert arm.verdict.status == "violated"
    assert arm.fairness.violations.rate.value == pytest.approx(1 / 3)
    assert arm.fairness.groups is not None
    assert report.reference.kind == "given"
    assert (
        audit(people, outputs=[0.0, 1.0, 3.0], lipschitz=1.2, tolerance=0.4).arms["outputs"].verdict.status
        == "holds"
    )


def test_drawn_pairs_have_intervals_that_hold_the_exact_figure(observed):
    scores = np.random.default_rng(1).standard_normal(20)
    exact = audit(observed, outputs=scores).arms["outputs"].fairness
    drawn = audit(observed, outputs=scores, pairs=150).arms["outputs"].fairness
    assert isinstance(drawn, SampledFairness)
    assert drawn.mean_ratio.low <= exact.mean_ratio.value <= drawn.mean_ratio.high


def test_a_distance_of_ones_own_serves_both_arms(observed):
    own = RowDistance(np.arange(20.0))
    report = audit(observed, estimator="svt", reference=own)
    assert report.reference.valid_comparison
    assert report.arms["with"].fairness.reference is own.description


def test_a_distance_without_outputs_is_refused():
    with pytest.raises(InputError, match="outputs to compare with it"):
        audit(RowDistance([[0.0], [1.0]]))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"reference": "mine"}, InputError),
        ({"outputs": {"before": np.zeros(20)}}, InputError),
        ({"outputs": {}}, InputError),
        ({"outputs": {"with": np.zeros(19)}}, ShapeError),
        ({"outputs": {"with": np.zeros(20)}, "reference": "estimate"}, InputError),
        ({"nearest_share": 0.0}, InputError),
        ({"lipschitz": -1.0}, InputError),
        ({"tolerance": 1.0}, InputError),
        ({"confidence": 1.0}, InputError),
        ({"pairs": 0}, InputError),
        ({"groups": ["a"] * 19}, InputError),
        ({"hold_out": 1.0}, InputError),
        ({"hold_out": -0.1}, InputError),
    ],
)
def test_bad_input_is_refused(observed, arguments, error):
    with pytest.raises(error):
        audit(observed, **arguments)


def test_outputs_that_come_from_no_estimate_are_not_held_against_one(observed):
    outputs = np.zeros(observed.shape[0])
    for given in (outputs, {"without": outputs}):
        with pytest.raises(InputError, match="reference 'estimate'"):
            audit(observed, outputs=given, estimator=SVT(), reference="estimate")


def test_people_can_be_compared_on_what_both_observed(observed):
    report = audit(observed, estimator="svt", model=identity, reference="co-observed", random_state=7)
    training = hold_out(observed, 0.1, 7).training
    outputs = training.scaled().zero_filled().toarray()
    by_hand = measure_arms({"h": outputs}, CoObservedDistance(training))["h"]
    assert report.arms["without"].fairness.mean_ratio == by_hand.mean_ratio
    assert report.reference.kind == "co-observed"
    assert report.reference.valid_comparison


def test_where_the_reference_measures_activity_the_report_says_what_to_do():
    rng = np.random.default_rng(0)
    values = rng.integers(1, 6, (40, 60)).astype(float)
    values[rng.random(values.shape) > np.linspace(0.05, 0.9, 40)[:, None]] = np.nan
    busy = ObservedMatrix(values, value_range=(1, 5))
    caveats = " ".join(audit(busy, estimator=SVT("noise-edge"), model=identity, hold_out=0).reference.caveats)
    assert "mostly measures activity" in caveats
    assert 'reference="co-observed"' in caveats
    assert "--reference co-observed" in caveats
    instead = " ".join(
        audit(
            busy, estimator=SVT("noise-edge"), model=identity, hold_out=0, reference="co-observed"
        ).reference.caveats
    )
    assert "give the reference co-observed" not in instead


@pytest.mark.parametrize("pairs", [True, False, 0, 2.0, "some", None])
def test_pairs_that_are_no_number_of_pairs(observed, pairs):
    with pytest.raises(InputError, match="pairs="):
        audit(observed, model=identity, pairs=pairs)


def test_progress_is_silenced_or_refused(observed, capsys):
    audit(observed, estimator="svt", model=identity, progress=False)
    assert capsys.readouterr().err == ""
    with pytest.raises(InputError, match="progress="):
        audit(observed, model=identity, progress="bar")


PEOPLE = np.random.default_rng(5).standard_normal((30, 3))
SCORES = PEOPLE @ [1.0, -1.0, 0.5]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"norm": "l1"}, "norm"),
        ({"reference": "co-observed"}, "reference"),
        ({"estimator": "svt"}, "estimator"),
        ({"model": "nosuch"}, "model"),
        ({"hold_out": 7}, "hold_out"),
        ({"tolerance": 0.1}, "tolerance"),
        ({"violations": "pairs.csv"}, "violations"),
    ],
)
def test_an_argument_without_effect_on_a_distance_and_outputs_is_refused(arguments, named):
    with pytest.raises(InputError, match=named):
        audit(RowDistance(PEOPLE), outputs=SCORES, **arguments)
    assert audit(RowDistance(PEOPLE), outputs=SCORES).arms.keys() == {"outputs"}


@pytest.mark.parametrize("arguments", [{"model": "knn"}, {"hold_out": 0.1}, {"splits": 2}])
def test_an_argument_of_a_model_beside_outputs_is_refused(observed, arguments):
    with pytest.raises(InputError, match="beside outputs computed elsewhere"):
        audit(observed, outputs=np.arange(20.0), **arguments)


def test_a_norm_beside_a_reference_that_is_given_is_refused(observed):
    with pytest.raises(InputError, match="norm"):
        audit(observed, reference=RowDistance(np.arange(20.0)), norm="l2")


def test_an_estimator_with_a_seed_of_its_own_keeps_it(observed):
    report = audit(observed, estimator=SVT(random_state=8), model=identity, random_state=3)
    assert "random_state=8" in report.estimate.estimator
    assert (
        "random_state=3"
        in audit(observed, estimator=SVT(), model=identity, random_state=3).estimate.estimator
    )


@pytest.mark.filterwarnings("ignore::likewise.errors.ConstantOutputWarning")
def test_where_all_observations_are_equal_no_error_is_shown():
    """Only ones: an RMSE of .29 that falls to 0 would be a gain that means nothing."""
    pattern = np.random.default_rng(0).random((30, 20)) < 0.4
    ones = ObservedMatrix(np.where(pattern, 1.0, np.nan), value_range=(0, 1))
    report = audit(ones, estimator="biases", hold_out=0.2)
    assert {arm.error for arm in report.arms.values()} == {None}
    assert "because all observations have the same value, so there is nothing to predict" in " ".join(
        report.findings
    )
    assert "RMSE falls" not in report.details()
    row = next(line for line in str(report).splitlines() if line.startswith("error (RMSE)"))
    assert row.split()[2:] == ["not", "measured", "not", "measured"]


def test_the_error_has_an_interval_over_individuals(observed):
    """By hand: the linearised ratio of squared errors to counts, each individual's."""
    report = audit(observed, estimator=SVT(threshold=2.0), model=identity, hold_out=0.3, random_state=7)
    hidden = hold_out(observed, 0.3, 7)
    zero_filled = (hidden.training.to_dense(missing=3.0) - 3) / 2
    squares = (3 + 2 * zero_filled[hidden.rows, hidden.columns] - hidden.values) ** 2
    who = np.unique(hidden.rows)
    per_person = np.array([(squares[hidden.rows == k].sum(), np.sum(hidden.rows == k)) for k in who])
    mean = squares.mean()
    spread = (
        np.sqrt(who.size / (who.size - 1) * np.sum((per_person[:, 0] - mean * per_person[:, 1]) ** 2))
        / squares.size
    )
    interval = report.arms["without"].error.rmse_interval
    assert interval.low == pytest.approx(np.sqrt(mean - 1.959963984540054 * spread))
    assert interval.high == pytest.approx(np.sqrt(mean + 1.959963984540054 * spread))
    assert interval.low < report.arms["without"].error.rmse < interval.high


def test_the_worst_pairs_are_explained_by_name(observed):
    report = audit(observed, estimator=SVT(threshold=2.0), model=identity, hold_out=0, groups=["a", "b"] * 10)
    for arm in report.arms.values():
        assert len(arm.explained) == 10
        for pair, told in zip(arm.fairness.worst[:10], arm.explained, strict=True):
            assert (told.left, told.right, told.ratio) == (pair.left, pair.right, pytest.approx(pair.ratio))
            assert told.reference.distance == pytest.approx(pair.reference_distance)
            assert told.output.distance == pytest.approx(pair.output_distance)
            assert {told.left_group, told.right_group} <= {"a", "b"}
            assert {part.feature for part in told.output.apart} <= set(observed.column_ids.tolist())


@pytest.mark.slow
def test_pairs_of_two_groups_are_explained_where_few_of_the_worst_ones_are():
    """Two towns far apart: the largest ratios are within them, and those across are looked for among the hundred largest."""
    town = np.repeat(["a", "b"], 9)
    people = np.where(town == "a", 0.0, 3.0) + np.linspace(0, 1, 18)
    report = audit(RowDistance(people), outputs=np.arange(18.0) ** 2 % 7, groups=town)
    arm = report.arms["outputs"]
    kept = arm.fairness.worst
    assert 10 < len(kept) <= 100
    towns = [{town[pair.left], town[pair.right]} for pair in kept]
    first = [place for place, both in enumerate(towns) if len(both) == 2][:5]
    expected = [*range(10), *(place for place in first if place >= 10)]
    assert len(expected) > 10
    assert [(one.left, one.right) for one in arm.explained] == [
        (kept[place].left, kept[place].right) for place in expected
    ]
    assert all(one.left_group != one.right_group for one in arm.explained[10:])
    page = report._repr_html_()
    assert "Pairs of two groups" in page
    assert page.count("side by side") >= len(expected)
    alone = audit(RowDistance(people), outputs=np.arange(18.0) ** 2 % 7)
    assert len(alone.arms["outputs"].explained) == 10
    assert "Pairs of two groups" not in alone._repr_html_()


def test_differences_of_the_same_pairs_have_intervals(observed):
    """The arm with pre-processing is half of the arm without: every pair is closer together."""
    halved = np.random.default_rng(0).standard_normal((20, 2))
    report = audit(observed, outputs={"without": halved, "with": halved / 2})
    assert report.paired.population == "all pairs of this data set"
    assert report.paired.overall.share_lower.value == 1
    assert report.paired.overall.share_lower.low > 0.97
    assert report.to_dict()["paired"]["overall"]["share_lower"]["kind"] == "sampled"
    assert audit(observed, outputs=halved).paired is None
    assert audit(observed, estimator="svt", model=identity, reference="estimate").paired is None


def test_what_is_proved_is_asked_before_what_was_measured(observed):
    """The identity has K1 = 1 from l1 to l2, so D <= 1 d for everybody, seen or not; at L = 1 nothing else is needed."""
    report = audit(observed, estimator="svt", model="identity", hold_out=0, lipschitz=1.0)
    verdict = report.arms["without"].verdict
    assert verdict.status == "holds"
    assert verdict.reason.startswith("proved: ")
    assert "seen in the fit or not" in verdict.population or "every pair" in verdict.population
    k_star = report.certificates.k_star.value
    by_proof = audit(observed, estimator="svt", model="identity", hold_out=0, lipschitz=k_star * 1.001)
    assert by_proof.arms["with"].verdict.reason.startswith("proved: ")
    tighter = audit(observed, estimator="svt", model="identity", hold_out=0, lipschitz=k_star / 1e6)
    assert tighter.arms["with"].verdict.status == "violated"
    assert "share" in tighter.arms["with"].verdict.reason


def test_what_is_proved_of_another_distance_is_not_asked(observed):
    other = audit(
        observed, estimator="svt", model="identity", hold_out=0, lipschitz=1.0, reference="co-observed"
    )
    assert not other.arms["without"].verdict.reason.startswith("proved")
    centred = SVT(threshold=1.0, centering="biases")
    report = audit(observed, estimator=centred, model="identity", hold_out=0, lipschitz=100.0)
    assert report.arms["with"].certificate is not None
    assert not report.arms["with"].verdict.reason.startswith("proved")


@pytest.mark.parametrize("limit", [1, "2K", -1, "much", True, 0])
def test_memory_that_is_too_little_or_none_is_told_before_the_work(observed, limit, monkeypatch):
    monkeypatch.setattr(SVT, "fit", lambda *_: pytest.fail("too late"))
    with pytest.raises(LikewiseError, match="memory_limit"):
        audit(observed, estimator="svt", memory_limit=limit)


def test_pairs_that_do_not_fit_are_measured_block_by_block():
    """500 people: 124,750 pairs; a limit of 65 MiB leaves less than 16 bytes for each. All but order statistics is as exact."""
    rng = np.random.default_rng(0)
    people, scores = RowDistance(rng.standard_normal((500, 3))), rng.standard_normal(500)
    held = audit(people, outputs=scores).arms["outputs"].fairness
    streamed = audit(people, outputs=scores, memory_limit="65M").arms["outputs"].fairness
    assert isinstance(held.quantiles[0.5], ExactValue)
    assert isinstance(streamed.quantiles[0.5], BracketedValue)
    assert streamed.max_ratio == held.max_ratio
    assert streamed.mean_ratio.value == pytest.approx(held.mean_ratio.value)


def test_columns_that_were_read_are_in_the_report(tmp_path):
    (tmp_path / "r.csv").write_text(
        "userId,movieId,rating,when\n"
        + "".join(f"{u},{i},{(u * i) % 5 + 1},9\n" for u in range(12) for i in range(6))
    )
    report = audit(read_ratings(tmp_path / "r.csv", value_range=(1, 5)), estimator="biases", model=identity)
    (roles,) = report.data.columns
    assert (roles.ids, roles.features, roles.values, roles.left_out) == (
        ("userId",),
        ("movieId",),
        ("rating",),
        ("when",),
    )
    assert "Read r.csv: individuals from userId" in " ".join(str(report).split())


def test_an_audit_makes_statistics_and_decomposes_once(observed, monkeypatch):
    made = []

    def counted(name, function):
        return lambda *arguments, **options: made.append(name) or function(*arguments, **options)

    monkeypatch.setattr(ObservationStatistics, "of", counted("statistics", ObservationStatistics.of))
    monkeypatch.setattr(svt, "singular_triplets", counted("triplets", svt.singular_triplets))
    audit(observed, estimator=SVT(threshold="noise-edge"), random_state=0)
    assert sorted(made) == ["statistics", "triplets"]


def test_a_split_by_time_hides_the_latest():
    observed = clustered(40, 60, 2, observed_fraction=0.5, random_state=0).observed
    timed = with_times(observed, np.arange(observed.n_observed)[::-1])
    report = audit(timed, estimator="biases", model="identity", hold_out=0.1, split="time")
    expected = hold_out(timed, 0.1, by="time")
    assert report.arms["with"].error.n == expected.values.size
    estimate = make_estimator("biases", random_state=0).fit(expected.training).estimate_
    gaps = estimate.entries(expected.rows, expected.columns) - expected.values
    assert report.arms["with"].error.rmse == pytest.approx(np.sqrt(np.mean(gaps**2)))
    assert report.settings["split"] == "time"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"split": "time", "reference": "held-out"}, "held-out"),
        ({"split": "time", "splits": 2}, "held-out"),
        ({"split": "time"}, "without times"),
        ({"split": "late"}, "unknown split"),
        ({"split": "time", "outputs": np.arange(40.0)}, "split"),
    ],
)
def test_splits_that_cannot_be(arguments, said):
    observed = clustered(40, 60, 2, observed_fraction=0.5, random_state=0).observed
    with pytest.raises(InputError, match=said):
        audit(observed, estimator=None if "outputs" in arguments else "biases", **arguments)


def test_every_argument_of_an_audit_is_taken_up():
    """Arguments are handed on by name: one that no record had a place for would be ignored in silence."""
    taken = {field.name for record in (AuditRequest, Measurement) for field in fields(record)}
    assert set(signature(audit).parameters) - taken == {"source", "progress"}
