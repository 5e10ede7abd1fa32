"""The estimator that chooses: what it is given to choose from, by which rule, within which time."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import ObservedMatrix, make_estimator
from likewise.certificates import Unavailable
from likewise.errors import InputError, SpectrumError
from likewise.estimation import SVT, Auto, Biases
from likewise.estimation.auto import transformer as auto_module
from likewise.estimation.auto.candidates import BIASES, LADDERS, Candidate, Settings, ladders_for
from likewise.estimation.auto.transformer import _Plan
from likewise.estimation.auto.trials import CandidateResult, HeldOut, chosen_of, held_out_folds
from likewise.observations.synthetic import clustered

pytestmark = pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")


@pytest.fixture(scope="module")
def data():
    return clustered(60, 100, 3, observed_fraction=0.5, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    return Auto(random_state=0).fit(data.observed)


def candidate(
    name, make=lambda _, settings: Biases(working_range=settings.working_range), operations=0.0, **options
):
    return Candidate(name, make, lambda *_: operations, **options)


def tried(name, squares):
    return CandidateResult(
        candidate(name), None if squares is None else np.asarray(squares, dtype=np.float64), 0.1
    )


# What is held out.


@given(st.integers(0, 3000))
def test_folds_are_disjoint_and_enough(n_observed):
    folds = held_out_folds(n_observed, np.random.default_rng(0))
    if n_observed < 30:
        assert folds == ()
        return
    assert np.sum(folds, axis=0).max() == 1
    assert 1 <= len(folds) <= 5
    assert sum(fold.sum() for fold in folds) >= min(n_observed, 1500) * 0.9
    assert all(0 < fold.sum() <= -(-n_observed // 5) for fold in folds)


def test_of_many_observations_a_tenth_is_held_out_once():
    (fold,) = held_out_folds(20_000, np.random.default_rng(0))
    assert fold.sum() == 2000


def test_errors_are_of_entries_that_the_fit_did_not_see(data):
    """Against a fit by hand."""
    held_out = HeldOut(
        data.observed,
        held_out_folds(data.observed.n_observed, np.random.default_rng(1)),
        Settings("symmetric", 0),
    )
    rows, columns = data.observed.positions()
    expected = []
    for fold in held_out.folds:
        dense = Biases().fit(data.observed.keep(~fold)).estimate_.to_dense()
        expected.append((dense[rows[fold], columns[fold]] - data.observed.values.data[fold]) ** 2)
    assert len(expected) == 5
    np.testing.assert_allclose(held_out.try_out(BIASES).squares, np.concatenate(expected))


# By which rule it chooses.


def test_the_smallest_error_is_taken():
    base, good, better = (
        tried("biases", [4.0, 4.2, 3.8]),
        tried("a", [2.0, 2.1, 1.9]),
        tried("b", [1.0, 1.1, 0.9]),
    )
    assert chosen_of(base, [[good], [better]]) is better


def test_biases_stay_unless_the_gain_is_above_a_standard_error():
    base = tried("biases", [1.0, 1.0, 1.0, 1.0])
    # Differences .5, -.4, .1, .1: mean .075, standard error .18.
    assert chosen_of(base, [[tried("a", [0.5, 1.4, 0.9, 0.9])]]) is base
    # Differences .2, .1, .1, .1: mean .125, standard error .025.
    clear = tried("b", [0.8, 0.9, 0.9, 0.9])
    assert chosen_of(base, [[clear]]) is clear


def test_a_gain_that_is_sure_but_does_not_matter_is_none():
    base = tried("biases", [1.0, 1.0])
    assert chosen_of(base, [[tried("a", [0.9975, 0.9975])]]) is base
    matters = tried("b", [0.996, 0.996])
    assert chosen_of(base, [[matters]]) is matters


def test_the_simplest_of_its_kind_is_taken_where_it_is_as_good():
    base, simple = tried("biases", [4.0, 4.0, 4.0]), tried("rank 10", [1.0, 1.2, 0.9])
    complex_ = tried("rank 20", [0.9, 1.3, 0.8])
    assert chosen_of(base, [[simple, complex_]]) is simple
    # Of another kind it has no advantage.
    assert chosen_of(base, [[simple], [complex_]]) is complex_


def test_what_failed_is_not_taken():
    base = tried("biases", [1.0, 1.0])
    assert chosen_of(base, [[tried("a", None)], []]) is base


squares = st.lists(st.floats(0, 4), min_size=5, max_size=5)


@given(squares, st.lists(st.lists(squares, max_size=3), max_size=4))
def test_never_worse_on_what_was_held_out_than_biases(base, ladders):
    baseline = tried("biases", base)
    kinds = [[tried("x", rung) for rung in ladder] for ladder in ladders]
    taken = chosen_of(baseline, kinds)
    assert taken.loss <= baseline.loss


# What is tried.


def test_a_ladder_is_left_where_more_does_not_help(data):
    def search_of(*ladders):
        folds = held_out_folds(data.observed.n_observed, np.random.default_rng(0))
        search = auto_module._Search(HeldOut(data.observed, folds, Settings("symmetric", 0)), _Plan(1e9))
        for ladder in ((BIASES,), *ladders):
            search.ladders.append([])
            search._climb(ladder, search.ladders[-1])
        return [found.candidate.name for found in search.tried]

    svt = candidate("svt", lambda _, settings: SVT(centering="biases", random_state=settings.seed))
    assert search_of((svt, candidate("worse"), candidate("never"))) == ["biases", "svt", "worse"]
    # Two rungs that are better than each other, but not than what leads.
    weak = candidate("weak", lambda _, settings: SVT(threshold=1e-3, random_state=settings.seed))
    assert search_of((svt,), (weak, candidate("better"), candidate("never"))) == [
        "biases",
        "svt",
        "weak",
        "better",
    ]
    # A fit that switches components off does not need more of them.
    enough = candidate("enough", svt.make, rank=50, switches_off=True)
    assert search_of((enough, candidate("never"))) == ["biases", "enough"]


def test_ranks_that_a_matrix_cannot_have_are_left_out():
    def ranks(shape):
        return [[found.rank for found in ladder] for ladder in ladders_for(shape)]

    assert ranks((1000, 2)) == [[0], [0], [0], [10], [10] * 5, [], [10] * 4, []]
    assert ranks((11, 50)) == [[0], [0], [0], [10, 20], [10] * 5, [20] * 5, [10] * 4, [20] * 4]
    assert ladders_for((500, 500)) == LADDERS


def test_a_candidate_that_fails_is_said_and_left(data, monkeypatch):
    def fail(_, settings):
        raise SpectrumError("no luck")

    monkeypatch.setattr(auto_module, "ladders_for", lambda _: ((candidate("bad", fail),),))
    found = Auto(random_state=0).fit(data.observed)
    assert found.choice_.name == "biases"
    assert "failed: no luck" in str(found.choice_)
    assert "bad: no error (failed: no luck)" in " ".join(found.notes_)


def test_an_estimate_without_a_component_is_no_candidate(data, monkeypatch):
    empty = candidate("empty", lambda _, settings: SVT(threshold=1e6, random_state=settings.seed))
    monkeypatch.setattr(auto_module, "ladders_for", lambda _: ((empty,),))
    found = Auto(random_state=0).fit(data.observed)
    assert [candidate.remark for candidate in found.candidates_] == ["chosen", "keeps no component"]


# Time.


def test_costs_are_predicted_from_sizes_alone(data):
    half = data.observed.keep(np.arange(data.observed.n_observed) % 2 == 0)
    for ladder in LADDERS:
        for rung in ladder:
            assert rung.seconds(half) < rung.seconds(data.observed)


def test_the_plan_refuses_what_does_not_fit_with_the_last_fit():
    plan = _Plan(10.0)
    assert plan.refuses(4.0, 5.0) == ""
    plan.spend(4.0, 5.0)
    assert plan.refuses(1.0, 1.0) == ""  # 4 + 1 and 5 for the most expensive last fit
    assert "needs 6.5 s more than the 4 of 10 s that are planned" in plan.refuses(1.5, 1.0)
    plan.began -= 11
    assert "10 s of computing were over" in plan.refuses(0.0, 0.0)


def test_a_budget_too_small_for_anything_leaves_biases_and_says_so(data):
    found = Auto(time_budget=1e-3, random_state=0).fit(data.observed)
    assert found.choice_.name == "biases"
    assert any("time budget of 0.001 s is too small" in note for note in found.notes_)
    np.testing.assert_array_equal(
        found.estimate_.to_dense(), Biases().fit(data.observed).estimate_.to_dense()
    )


def test_a_smaller_budget_tries_less_and_says_what(data):
    found = Auto(time_budget=0.2, random_state=0).fit(data.observed)
    assert any("was not tried" in note for note in found.notes_)
    assert len([candidate for candidate in found.candidates_ if candidate.was_tried]) < 6


def test_the_clock_does_not_change_what_the_plan_allows(data, fitted, monkeypatch):
    """The same choice, and the same words, where everything takes a hundred times as long as it did."""
    ticks = iter(np.arange(0, 50, 0.1))
    monkeypatch.setattr("likewise.estimation.auto.trials.perf_counter", lambda: next(ticks))
    again = Auto(random_state=0).fit(data.observed)
    assert again.notes_ == fitted.notes_


@pytest.mark.parametrize("budget", [0, -1, float("nan"), "60", True])
def test_a_budget_that_is_none_is_named(data, budget):
    with pytest.raises(InputError, match="time_budget="):
        Auto(time_budget=budget).fit(data.observed)


# What it leaves.


def test_it_finds_the_clusters_and_says_why(data, fitted):
    hidden = np.ones(data.truth.shape, dtype=bool)
    hidden[data.observed.positions()] = False
    errors = {
        name: np.mean((found.estimate_.to_dense() - data.truth)[hidden] ** 2)
        for name, found in {
            "auto": fitted,
            "svt": SVT().fit(data.observed),
            "biases": Biases().fit(data.observed),
        }.items()
    }
    assert errors["auto"] < errors["svt"] < errors["biases"]
    assert fitted.notes_[0].startswith(
        f"chosen automatically: {fitted.choice_.name}, whose held-out error is"
    )
    assert "candidate" in str(fitted.choice_)
    assert sum(candidate.remark == "chosen" for candidate in fitted.candidates_) == 1
    assert all(candidate.seconds > 0 for candidate in fitted.candidates_ if candidate.was_tried)


def test_everything_is_the_winners(data, fitted):
    best = fitted.best_estimator_
    assert fitted.estimate_ is best.estimate_
    assert (fitted.threshold_, fitted.converged_, fitted.n_iter_) == (
        best.threshold_,
        best.converged_,
        best.n_iter_,
    )
    new = clustered(5, 100, 3, observed_fraction=0.5, random_state=9).observed
    np.testing.assert_array_equal(fitted.transform(new), best.transform(new))
    assert str(fitted.certificate_) == str(best.certificate_)
    assert any("no constant K* can be proved" in note for note in fitted.notes_)


def test_a_linear_winner_has_its_constant(data, monkeypatch):
    svt = candidate("svt", lambda _, settings: SVT(centering="biases", random_state=settings.seed))
    monkeypatch.setattr(auto_module, "ladders_for", lambda _: ((svt,),))
    found = Auto(random_state=0).fit(data.observed)
    assert found.choice_.name == "svt"
    assert found.certificate_.filled is not None
    assert found.decomposed_matrix().nnz == data.observed.n_observed
    assert not any("no constant" in note for note in found.notes_)


def test_a_winner_with_offsets_and_weights_of_rows_says_that_it_has_no_constant(data, monkeypatch):
    monkeypatch.setattr(
        auto_module,
        "ladders_for",
        lambda _: (
            (candidate("svt", lambda *_: SVT(centering="biases", propensities="degrees", random_state=0)),),
        ),
    )
    found = Auto(random_state=0).fit(data.observed)
    assert found.choice_.name == "svt"
    assert isinstance(found.certificate_.filled, Unavailable)
    assert (
        sum(
            "no constant K* can be proved" in note and "weights of their own" in note for note in found.notes_
        )
        == 1
    )


def test_its_error_is_not_above_that_of_biases_in_the_table(fitted):
    errors = {candidate.name: candidate.held_out_error for candidate in fitted.candidates_}
    assert errors[fitted.choice_.name] <= errors["biases"]


def test_the_same_seed_gives_the_same(data, fitted):
    again = Auto(random_state=0).fit(data.observed)
    assert again.notes_ == fitted.notes_
    np.testing.assert_array_equal(again.estimate_.to_dense(), fitted.estimate_.to_dense())


# Data of every kind.


def test_of_noise_alone_hardly_anything_is_learnt():
    """Values have a variance of 1/3 about 0, which is their best prediction."""
    noise = np.random.default_rng(0).uniform(-1, 1, (40, 60))
    assert (Auto(random_state=0).fit(noise).estimate_.to_dense() ** 2).mean() < 0.01


@pytest.mark.parametrize("X", [np.array([[5, 5, 1], [5, np.nan, 1], [1, 1, 5.0]]), np.array([[1.0, 2.0]])])
def test_few_observations_leave_biases(X):
    found = make_estimator("auto", random_state=0).fit(X)
    assert found.choice_.name == "biases"
    assert "are too few" in found.notes_[0]
    assert np.isfinite(found.estimate_.to_dense()).all()


def test_two_columns_with_ranges_of_their_own():
    """Exam marks: the second follows from the first."""
    rng = np.random.default_rng(0)
    skill = rng.normal(0, 1, 300)
    marks = np.column_stack(
        [80 + 20 * skill + rng.normal(0, 3, 300), 0.5 + 0.1 * skill + rng.normal(0, 0.01, 300)]
    )
    hidden = marks.copy()
    hidden[::3, 1] = np.nan
    found = Auto(random_state=0, value_range="per-column").fit(hidden)
    error = np.abs(found.estimate_.to_dense()[::3, 1] - marks[::3, 1]).mean()
    assert error < np.abs(np.nanmean(hidden[:, 1]) - marks[::3, 1]).mean() / 2
    assert "that each column is mapped to" in str(found.choice_)


def test_binary_values_and_empty_rows_and_columns():
    rng = np.random.default_rng(0)
    likes = (
        rng.random((40, 30)) < np.where(rng.random((2, 30)) < 0.5, 0.9, 0.1)[rng.integers(0, 2, 40)]
    ).astype(float)
    likes[rng.random((40, 30)) < 0.5] = np.nan
    likes[7], likes[:, 11] = np.nan, np.nan
    dense = Auto(random_state=0).fit(ObservedMatrix(likes, value_range=(0, 1))).estimate_.to_dense()
    assert ((dense >= 0) & (dense <= 1)).all()
    assert np.ptp(dense[7]) > 0


def test_warnings_of_candidates_that_are_not_taken_are_not_given(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Auto(random_state=0).fit(data.observed)
