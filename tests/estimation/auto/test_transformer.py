"""The estimator that chooses: what it is given to choose from, by which rule, within which time."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import likewise
from likewise import ObservedMatrix, make_estimator
from likewise.errors import InputError, SpectrumError
from likewise.estimation import SVT, AlternatingLeastSquares, Auto, Biases, Mixture
from likewise.estimation.auto import transformer as auto_module
from likewise.estimation.auto.candidates import (
    BIASES,
    FIRST,
    GRIDS,
    LADDERS,
    NOISES,
    Candidate,
    Plan,
    Settings,
    final_seconds,
    within,
)
from likewise.estimation.auto.stacking import held_out_folds
from likewise.estimation.auto.transformer import Search
from likewise.estimation.auto.trials import CandidateResult, HeldOut
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


def search_of(data, ladders=(), grids=(), seconds=1e9):
    """A search that is over, among these candidates only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auto_module, "FIRST", ())
        patch.setattr(auto_module, "LADDERS", ladders)
        patch.setattr(auto_module, "GRIDS", grids)
        folds = held_out_folds(data.observed.n_observed, np.random.default_rng(0))
        search = Search(HeldOut(data.observed, folds, Settings("symmetric", 0)), Plan(seconds))
        search.run()
        return search


def only(monkeypatch, *ladders):
    monkeypatch.setattr(auto_module, "FIRST", ())
    monkeypatch.setattr(auto_module, "LADDERS", ladders)
    monkeypatch.setattr(auto_module, "GRIDS", ())


def result(name, squares, **options):
    return CandidateResult(
        candidate(name), None if squares is None else np.asarray(squares, dtype=np.float64), 0.1, **options
    )


def names(search):
    return [found.candidate.name for found in search.results]


def svt(name, **options):
    return candidate(name, lambda _, settings: SVT(random_state=settings.seed, **options))


def shrunk(name, gain):
    """Of low rank, drawn towards the biases: the more, the worse."""
    return svt(name, threshold="noise-edge", centering="biases", shrinker=lambda values: gain * values)


# What is held out.


@given(st.integers(0, 60_000))
def test_folds_are_disjoint_and_enough(n_observed):
    folds = held_out_folds(n_observed, np.random.default_rng(0))
    if n_observed < 30:
        assert folds == ()
        return
    assert np.sum(folds, axis=0).max() == 1
    assert 1 <= len(folds) <= 5
    assert (
        sum(fold.sum() for fold in folds)
        >= min(n_observed if n_observed < 3000 else n_observed // 2, 5000) - 5
    )
    assert all(0 < fold.sum() <= -(-n_observed // 5) for fold in folds)


def test_of_many_observations_a_tenth_is_held_out_once():
    (fold,) = held_out_folds(50_000, np.random.default_rng(0))
    assert fold.sum() == 5000


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
    np.testing.assert_allclose(held_out.try_out(BIASES, lambda: False).squares, np.concatenate(expected))


# By which rule it chooses.


def test_biases_stay_unless_the_gain_is_above_a_standard_error():
    base = result("biases", [1.0, 1.0, 1.0, 1.0])
    # Differences .5, -.4, .1, .1: mean .075, standard error .18.
    assert not base.worse_than(result("a", [0.5, 1.4, 0.9, 0.9]))
    # Differences .2, .1, .1, .1: mean .125, standard error .025.
    assert base.worse_than(result("b", [0.8, 0.9, 0.9, 0.9]))


def test_a_gain_that_is_sure_but_does_not_matter_is_none():
    base = result("biases", [1.0, 1.0])
    assert not base.worse_than(result("a", [0.9975, 0.9975]))
    assert base.worse_than(result("b", [0.996, 0.996]))


def test_what_failed_or_was_left_is_not_better():
    base = result("biases", [1.0, 1.0])
    assert result("a", [0.9, 0.9]).better_than(base)
    assert not result("a", None, remark="failed: no luck").better_than(base)
    assert not result("a", [0.5], remark="left after 1 of 5 fits").better_than(base)


def test_one_that_was_left_is_compared_on_what_it_was_measured_on():
    base = result("biases", [1.0, 1.0, 9.0, 9.0])
    assert result("a", [2.0, 2.1]).worse_than(base)
    assert not result("a", [0.9, 1.1]).worse_than(base)


def test_the_smallest_error_is_taken_whatever_the_order(data):
    good, weak = shrunk("good", 1.0), shrunk("weak", 0.6)
    for ladders in (((good,), (weak,)), ((weak,), (good,))):
        search = search_of(data, ladders)
        losses = {found.candidate.name: found.loss for found in search.results}
        assert losses["good"] < losses["weak"] < losses["biases"]
        assert search.best.candidate is good


# What is tried.


def test_a_ladder_is_left_where_more_does_not_help(data):
    better = svt("better", centering="biases")
    assert names(search_of(data, ((better, candidate("worse"), candidate("never")),))) == [
        "biases",
        "better",
        "worse",
    ]
    # A fit that does not use its components needs no more of them.
    enough = candidate("enough", better.make, rank=50)
    assert names(search_of(data, ((enough, candidate("never")),))) == ["biases", "enough"]


def test_a_grid_is_climbed_to_where_no_neighbour_is_better(data):
    """The best is at rank 1 and strength 2; weaker regularisation is tried first, then more components, then stronger regularisation."""

    def at(rank, strength):
        return shrunk(f"{rank}{strength}", 1.0 - 0.15 * (abs(rank - 1) + abs(strength - 2)))

    grid = tuple(tuple(at(rank, strength) for strength in range(4)) for rank in range(3))
    search = search_of(data, grids=((grid, 1),))
    assert names(search) == ["biases", "01", "02", "03", "12", "13", "22", "11"]
    assert search.best.candidate.name == "12"


def test_hopeless_candidates_are_left_after_their_first_fit(data):
    search = search_of(data, ((shrunk("good", 1.0),), (shrunk("bad", 10.0),)))
    bad = search.results[-1]
    assert bad.remark == "left after 1 of 5 fits"
    assert bad.squares.size == search.held_out.folds[0].sum()


def test_ranks_that_a_matrix_cannot_have_are_left_out():
    def ranks(ladder, shape):
        return [found.rank for found in within(ladder, shape)]

    least_squares, (grid, begin) = LADDERS[-1], GRIDS[0]
    assert ranks(least_squares, (1000, 2)) == [10]
    assert ranks(least_squares, (11, 50)) == [10, 20]
    assert within(least_squares, (500, 500)) == least_squares
    assert [len(ranks(row, (11, 50))) for row in grid] == [len(NOISES), len(NOISES), 0, 0]
    assert grid[0][begin].name == "least squares, rank 10, noise 0.6"


def test_a_candidate_that_fails_is_said_and_left(data, monkeypatch):
    def fail(_, settings):
        raise SpectrumError("no luck")

    only(monkeypatch, (candidate("bad", fail),))
    found = Auto(random_state=0).fit(data.observed)
    assert found.choice_.name == "biases"
    assert "failed: no luck" in str(found.choice_)
    assert "bad: no error (failed: no luck)" in " ".join(found.notes_)


def test_an_estimate_without_a_component_is_no_candidate(data, monkeypatch):
    only(monkeypatch, (svt("empty", threshold=1e6, centering="biases"),))
    found = Auto(random_state=0).fit(data.observed)
    assert [candidate.remark for candidate in found.candidates_] == ["chosen", "keeps no component"]


# Mixtures.


@pytest.fixture(scope="module")
def sparse():
    return clustered(80, 200, 5, observed_fraction=0.1, random_state=1)


@pytest.fixture(scope="module")
def mixing(sparse):
    with pytest.MonkeyPatch.context() as patch:
        only(patch, (GRIDS[0][0][0][-1],))  # least squares that trust the observations too much
        return Auto(random_state=0).fit(sparse.observed)


@pytest.mark.slow
def test_a_mixture_is_taken_where_it_is_better_by_more_than_a_standard_error(sparse, mixing):
    """Its error is measured with weights that have not seen it; its parts are fitted on everything."""
    assert mixing.choice_.name.endswith("x least squares, rank 10, noise 0.1")
    assert "below that of least squares, rank 10, noise 0.1 alone" in mixing.choice_.reason
    assert isinstance(mixing.best_estimator_, Mixture)
    errors = {candidate.name: candidate.held_out_error for candidate in mixing.candidates_}
    assert errors[mixing.choice_.name] < min(
        error for name, error in errors.items() if name != mixing.choice_.name
    )
    parts = mixing.best_estimator_.estimators_
    assert parts[0].observed_.n_observed == sparse.observed.n_observed
    expected = sum(
        w * part.estimate_.unclipped().to_dense()
        for w, part in zip(mixing.best_estimator_.weights_, parts, strict=True)
    )
    np.testing.assert_allclose(mixing.estimate_.to_dense(), np.clip(expected, -1, 1), atol=1e-9)
    truth_errors = [np.mean((found.estimate_.to_dense() - sparse.truth) ** 2) for found in (mixing, *parts)]
    assert truth_errors[0] == min(truth_errors)


def test_a_mixture_folds_in_certifies_and_comes_back(sparse, mixing, tmp_path):
    assert mixing.certificate_.regression.certificate.value > 0
    likewise.save(mixing, tmp_path / "auto.npz")
    loaded = likewise.load(tmp_path / "auto.npz")
    new = clustered(5, 200, 5, observed_fraction=0.1, random_state=9).observed
    np.testing.assert_array_equal(loaded.transform(new), mixing.transform(new))
    assert str(loaded.choice_) == str(mixing.choice_)


@pytest.mark.slow
def test_a_mixture_keeps_to_a_limit(sparse, mixing, monkeypatch):
    limit = 0.5 * mixing.certificate_.regression.slopes.max()
    only(monkeypatch, (GRIDS[0][0][0][-1],))
    held = Auto(random_state=0, max_lipschitz=limit).fit(sparse.observed)
    assert held.choice_.name == mixing.choice_.name
    assert held.certificate_.regression.slopes.max() <= limit * (1 + 1e-9)


@pytest.mark.slow
def test_a_mixture_that_brings_too_little_is_shown_and_not_taken(data, monkeypatch):
    only(monkeypatch, (LADDERS[-1][0],))
    found = Auto(random_state=0).fit(data.observed)
    assert found.choice_.name == "least squares, rank 10"
    remark = found.candidates_[-1].remark
    assert remark == "less than a standard error better than least squares, rank 10"


@pytest.mark.slow
def test_without_time_or_room_for_the_last_fits_nothing_is_mixed(sparse, monkeypatch):
    only(monkeypatch, (GRIDS[0][0][0][-1],))
    monkeypatch.setattr(auto_module, "_KEPT_MEMORY", 0.0)
    assert not any(
        " x " in candidate.name for candidate in Auto(random_state=0).fit(sparse.observed).candidates_
    )
    monkeypatch.undo()
    only(monkeypatch, (GRIDS[0][0][0][-1],))
    ladder = GRIDS[0][0][0][-1]
    folds = held_out_folds(sparse.observed.n_observed, np.random.default_rng(0))
    held_out = HeldOut(sparse.observed, folds, Settings("symmetric", 0))
    seconds = held_out.seconds(BIASES) + held_out.seconds(ladder) + 0.4 * ladder.seconds(sparse.observed)
    search = Search(held_out, Plan(seconds + 1e-6, more=1e9))
    assert search.run().name == ladder.name
    assert search.skipped[-1].name == "a mixture of 2"
    assert "is left for the last fits of its parts" in search.skipped[-1].remark


# The small rung, which comes first.


def climb_of(grid, begin):
    """The first candidate of a climb, and its neighbours of the same rank."""
    return [grid[0][column] for column in (begin, begin + 1, begin - 1)]


@pytest.mark.parametrize(("shape", "n_observed"), [((40_000, 140_000), 620_000), ((7_996, 53_458), 128_000)])
def test_of_wide_sparse_observations_the_small_rung_is_planned_and_the_next_rank_is_not(shape, n_observed):
    """By sizes alone: power laws both ways, as of shops; there ranks from 10 on leave no time to try a given noise."""
    sizes = SimpleNamespace(shape=shape, n_observed=n_observed)
    plan = Plan(Auto()._seconds(n_observed))

    def refused(tried):
        cost = tried.seconds(sizes), final_seconds(tried, sizes), tried.bytes(sizes)
        if not (why := plan.refuses(*cost)):
            plan.spend(*cost[:2])
        return why

    before = (BIASES, *climb_of(*FIRST[0]), *(ladder[0] for ladder in LADDERS))
    assert [refused(tried) for tried in before] == [""] * len(before)
    assert re.search(r"needs .* s more than the .* s that are planned", refused(climb_of(*GRIDS[0])[0]))


def wide(m=300, n=1500, n_drawn=9000, rank=2, seed=0):
    """Few observations, most of them of a few rows and columns; a rank of 2 beside biases."""
    rng = np.random.default_rng(seed)
    rows, columns = (
        rng.choice(size, n_drawn, p=(weights := (np.arange(size) + 5) ** -0.8) / weights.sum())
        for size in (m, n)
    )
    rows, columns = np.divmod(np.unique(rows * n + columns), n)
    tastes, traits = rng.normal(size=(m, rank)), rng.normal(size=(n, rank))
    values = 0.4 * (tastes[rows] * traits[columns]).sum(axis=1) + 0.3 * rng.normal(size=rows.size)
    values += 0.2 * rng.normal(size=m)[rows]
    hidden = rng.random(rows.size) < 0.1
    seen = ObservedMatrix.from_triplets(
        rows[~hidden], columns[~hidden], values[~hidden], shape=(m, n), value_range=(-4, 4)
    )
    return seen, (rows[hidden], columns[hidden], values[hidden])


@pytest.mark.slow
def test_where_time_is_short_a_small_rank_is_found_that_is_better_than_biases(monkeypatch):
    """By a plan in which no other factors have room; the error is of observations that no fit saw."""
    monkeypatch.setattr(Plan, "over", lambda _: False)
    seen, (rows, columns, values) = wide()
    found = Auto(time_budget=1.0, random_state=0).fit(seen)
    assert found.choice_.name.startswith("least squares, rank 5, noise")
    tried = [each.name for each in found.candidates_ if each.was_tried]
    assert tried[:2] == ["biases", "least squares, rank 5, noise 0.6"]
    assert not any("rank 10" in name for name in tried)
    error, of_biases = (
        np.mean((fitted.estimate_.entries(rows, columns) - values) ** 2)
        for fitted in (found, Biases().fit(seen))
    )
    assert error < 0.95 * of_biases


def naive_walk(losses, place):
    """To the weaker neighbour where that is better, else to the stronger one where that is, until neither is."""
    while True:
        better = [p for p in (place + 1, place - 1) if p in range(len(losses)) and losses[p] < losses[place]]
        if not better:
            return place
        place = better[0]


@given(losses=st.permutations(range(1, len(NOISES) + 1)), of_biases=st.floats(0.5, 8.5))
def test_the_small_rung_is_climbed_as_by_hand_and_nothing_worse_than_biases_is_taken(losses, of_biases):
    """Errors are given, two of each candidate and nearly equal, so that every difference but of equal ones is sure."""
    ((row,), begin) = FIRST[0]
    known = {tried.name: loss for tried, loss in zip(row, losses, strict=True)} | {"biases": of_biases}

    def measured(self, tried, stop, rival=None):
        return CandidateResult(tried, known[tried.name] + np.array([-1e-6, 1e-6]), 0.1, exhausted=True)

    seen = ObservedMatrix(np.ones((5, 8)), value_range=(-1, 1))
    held_out = HeldOut(seen, held_out_folds(40, np.random.default_rng(0)), Settings("symmetric", 0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HeldOut, "try_out", measured)
        patch.setattr(Search, "_mix", lambda _: None)
        only(patch)
        patch.setattr(auto_module, "FIRST", FIRST)
        search = Search(held_out, Plan(1e9))
        search.run()
    reached = row[naive_walk(losses, begin)]
    assert reached.name in names(search)
    assert search.best.loss <= of_biases
    if known[reached.name] < 0.99 * of_biases:
        assert search.best.loss == min(found.loss for found in search.results)


# Time.


def test_costs_are_predicted_from_sizes_alone(data):
    half = data.observed.keep(np.arange(data.observed.n_observed) % 2 == 0)
    for ladder in (*LADDERS, *FIRST[0][0], *GRIDS[0][0], *GRIDS[1][0]):
        for rung in ladder:
            assert rung.seconds(half) < rung.seconds(data.observed)


def test_the_plan_refuses_what_does_not_fit_with_the_last_fit():
    plan = Plan(10.0)
    assert plan.refuses(4.0, 5.0) == ""
    plan.spend(4.0, 5.0)
    assert plan.refuses(1.0, 1.0) == ""  # 4 + 1 and 5 for the most expensive last fit
    assert "needs 6.5 s more than the 4 of 10 s that are planned" in plan.refuses(1.5, 1.0)
    plan.began -= 11
    assert "10 s of computing were over" in plan.refuses(0.0, 0.0)


def test_a_candidate_that_takes_too_much_memory_is_not_tried():
    assert "needs 2.0 GiB, more than 1.0 GiB" in Plan(10.0).refuses(1.0, 1.0, 2.0**31)
    wide = ObservedMatrix.from_triplets([0, 1], [0, 1], [1.0, 2.0], shape=(40_000, 140_000))
    sizes = [rung.bytes(wide) for rung in LADDERS[-1]]
    assert sizes == sorted(sizes)
    assert sizes[0] < 2**30 < sizes[2]


def test_the_time_is_by_the_size_of_the_data_unless_it_is_given():
    auto = Auto()
    assert [auto._seconds(n) for n in (0, 100_000, 10**7)] == pytest.approx([4, 14, 60])
    assert Auto(time_budget=600)._seconds(10) == 600


def test_iterations_end_when_the_time_is_over(data, monkeypatch):
    """A trial that runs when the budget ends keeps what it has; so does the fit on all observations."""
    monkeypatch.setattr(Plan, "over", lambda self: self.planned > 0.15)
    only(monkeypatch, (LADDERS[-1][0],), (candidate("late"),))
    found = Auto(random_state=0).fit(data.observed)
    first, late, mixture = found.candidates_[1:]
    assert first.was_tried
    assert "no time of" in mixture.remark
    assert "computing were over" in late.remark
    assert found.best_estimator_.n_iter_ == 1


def test_a_spectrum_above_the_edge_that_is_too_wide_is_left():
    """Few huge rows and columns: hundreds of singular values are above the edge of white noise."""
    rng = np.random.default_rng(0)
    m, n = 3000, 4000
    i, j = (np.minimum(rng.pareto(0.7, 60_000), size - 1).astype(int) for size in (m, n))
    kept = np.unique(i * n + j)
    spread = ObservedMatrix.from_triplets(
        kept // n, kept % n, rng.choice([1.0, 5.0], kept.size), shape=(m, n), value_range=(1, 5)
    )
    svt_candidate = LADDERS[0][0]
    assert svt_candidate.bytes(spread) < 2**28
    fitted = svt_candidate.make(spread, Settings("symmetric", 0))
    assert fitted._memory_limit == svt_candidate.bytes(spread)


# The fit on all observations.


def test_a_fit_on_everything_that_lands_elsewhere_is_not_kept(data, monkeypatch):
    """The first fits of this candidate are of biases and factors, its last one follows every observation."""
    n_fits = 0

    def make(observed, settings):
        nonlocal n_fits
        n_fits += 1
        options = {"threshold": 1e-3, "shrinker": "identity"} if n_fits > 5 else {}
        return SVT(centering="biases", random_state=0, **options)

    only(monkeypatch, (candidate("unsteady", make),))
    found = Auto(random_state=0).fit(data.observed)
    assert found.choice_.name == "unsteady"
    assert found.best_estimator_.observed_.n_observed == pytest.approx(0.8 * data.observed.n_observed, abs=1)
    assert any("the one on 80% of them whose error is known is kept" in note for note in found.notes_)


def test_a_fit_on_everything_that_fails_is_not_kept(data, monkeypatch):
    def make(observed, settings):
        if observed is data.observed:
            raise SpectrumError("no luck")
        return SVT(centering="biases", random_state=0)

    only(monkeypatch, (candidate("unsteady", make),))
    found = Auto(random_state=0).fit(data.observed)
    assert any("failed (no luck), so the one on 80%" in note for note in found.notes_)


@pytest.mark.slow
def test_the_fit_on_everything_is_as_it_would_be_alone(data, fitted):
    assert isinstance(fitted.best_estimator_, AlternatingLeastSquares)
    alone = clone(fitted.best_estimator_).fit(data.observed)
    np.testing.assert_array_equal(fitted.estimate_.to_dense(), alone.estimate_.to_dense())


def least_squares_after(data, monkeypatch, shares):
    """Fit all with the shares of noise in turn: the trials with the first, new factors and those that go on with the others."""
    noises = iter([shares[0]] * 5 + list(shares[1:]))

    def make(observed, settings):
        return AlternatingLeastSquares(3, noise=next(noises), random_state=0).continuing(settings.start)

    only(monkeypatch, (candidate("factors", make, rank=3),))
    return Auto(random_state=0).fit(data.observed)


def test_new_factors_that_land_elsewhere_give_way_to_those_that_go_on(data, monkeypatch):
    """Of two fits the one of the larger noise has the smaller energy here, and leaves the larger residuals."""
    found = least_squares_after(data, monkeypatch, (0.2, 0.001, 0.2))
    assert found.best_estimator_.noise == 0.2
    assert found.best_estimator_.observed_.n_observed == data.observed.n_observed
    assert not any("is kept" in note for note in found.notes_)


def test_where_both_land_elsewhere_the_trial_is_kept(data, monkeypatch):
    found = least_squares_after(data, monkeypatch, (0.8, 0.0005, 0.001))
    assert found.best_estimator_.observed_.n_observed < data.observed.n_observed
    assert any("the one on 80% of them whose error is known is kept" in note for note in found.notes_)


def test_a_budget_too_small_for_anything_leaves_biases_and_says_so(data):
    found = Auto(time_budget=1e-3, random_state=0).fit(data.observed)
    assert found.choice_.name == "biases"
    assert any("time budget of 0.001 s is too small" in note for note in found.notes_)
    np.testing.assert_array_equal(
        found.estimate_.to_dense(), Biases().fit(data.observed).estimate_.to_dense()
    )


@pytest.mark.slow
def test_a_smaller_budget_tries_less_and_says_what(data):
    found = Auto(time_budget=0.6, random_state=0).fit(data.observed)
    assert any("was not tried" in note for note in found.notes_)
    assert len([candidate for candidate in found.candidates_ if candidate.was_tried]) < 6


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_a_linear_winner_has_its_constant(data, monkeypatch):
    only(monkeypatch, (svt("svt", centering="biases"),))
    found = Auto(random_state=0).fit(data.observed)
    assert found.choice_.name == "svt"
    assert found.certificate_.filled is not None
    assert found.decomposed_matrix().nnz == data.observed.n_observed


def test_its_error_is_not_above_that_of_biases_in_the_table(fitted):
    errors = {candidate.name: candidate.held_out_error for candidate in fitted.candidates_}
    assert errors[fitted.choice_.name] <= errors["biases"]


@pytest.mark.slow
def test_the_same_seed_gives_the_same(data, fitted):
    again = Auto(random_state=0).fit(data.observed)
    assert again.notes_ == fitted.notes_
    np.testing.assert_array_equal(again.estimate_.to_dense(), fitted.estimate_.to_dense())


# Data of every kind.


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_warnings_of_candidates_that_are_not_taken_are_not_given(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Auto(random_state=0).fit(data.observed)


def test_what_is_planned_by_default_may_take_longer(monkeypatch):
    """On a busy computer the same is tried; a budget that was asked for is kept."""
    clock = iter([0.0, 35.0, 45.0, 0.0, 11.0])
    monkeypatch.setattr("likewise.estimation.auto.candidates.process_time", lambda: next(clock))
    default = Plan(10.0, more=30.0, began=next(clock))
    assert [default.over(), default.over()] == [False, True]
    asked = Plan(10.0, began=next(clock))
    assert asked.over()
