"""Drifts over time: against a naive reference, on drifts that were planted, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise import ObservedMatrix, make_estimator
from likewise.certificates import Unavailable
from likewise.errors import InputError
from likewise.estimation import LowRankEstimate
from likewise.estimation.als.drift import Drift
from likewise.estimation.auto import transformer as auto_module
from likewise.observations import hold_out, with_times

M, N = 60, 12


def drifting(seed=0, jump=1.5):
    """Levels of columns that jump after half of the time, the odd ones up and the even ones down."""
    rng = np.random.default_rng(seed)
    times = rng.permutation(M * N).astype(float)
    later = (times >= M * N / 2).reshape(M, N)
    tastes = rng.normal(size=(M, 1)) * rng.normal(size=N)
    values = 3 + tastes + jump * later * np.where(np.arange(N) % 2, 1, -1)
    return with_times(ObservedMatrix(values + rng.normal(0, 0.1, (M, N)), value_range=(-15, 21)), times)


def test_two_periods_by_hand():
    residuals = sparse.csr_array(np.array([[1.0, -1.0], [3.0, -3.0]]))
    drift = Drift.of(residuals, np.array([0.0, 0.0, 1.0, 1.0]), noise=1e-9, n_periods=2)
    # With hardly any noise the levels of the columns are the residuals, and nothing is left for the rows.
    np.testing.assert_allclose(drift.columns, [[1, 3], [-1, -3]], rtol=1e-6)
    np.testing.assert_allclose(drift.rows, 0, atol=1e-6)
    present = drift.to_present(residuals, np.array([0.0, 0.0, 1.0, 1.0]))
    np.testing.assert_allclose(present.toarray(), [[3, -3], [3, -3]], rtol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_levels_against_a_naive_reference(seed):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(4, 3)) * (rng.random((4, 3)) < 0.8)
    dense[0, 0] = 1.0
    residuals, noise = sparse.csr_array(dense), 0.5
    times = rng.integers(0, 4, residuals.nnz).astype(float)
    drift = Drift.of(residuals, times, noise, n_periods=3)
    columns = residuals.indices
    periods = [sum(time > edge for edge in drift.edges) for time in times]
    sums, counts = np.zeros((3, drift.edges.size + 1)), np.zeros((3, drift.edges.size + 1))
    for j, period, value in zip(columns, periods, residuals.data, strict=True):
        sums[j, period] += value
        counts[j, period] += 1
    variance = noise
    for _ in range(20):
        moments = [
            (sums[cell] / (counts[cell] + noise / variance)) ** 2 + noise / (counts[cell] + noise / variance)
            for cell in zip(*np.nonzero(counts), strict=True)
        ]
        variance = max(np.mean(moments), 1e-12 * noise)
    np.testing.assert_allclose(drift.columns, sums / (counts + noise / variance), rtol=1e-9, atol=1e-12)


def test_the_estimate_is_of_the_present():
    split = hold_out(drifting(), 0.2, by="time")
    errors = {}
    for sources in ("none", "time"):
        fitted = make_estimator("als", rank=2, sources=sources, random_state=0).fit(split.training)
        errors[sources] = np.abs(fitted.estimate_.entries(split.rows, split.columns) - split.values).mean()
    assert errors["time"] < errors["none"] / 2


def test_auto_chooses_by_later_observations():
    fitted = make_estimator("auto", sources="time", random_state=0).fit(drifting())
    assert fitted.best_estimator_.sources_ == ("time",)


def test_rows_of_the_present_are_folded_in_and_no_constant_is_claimed(tmp_path):
    observed = drifting()
    fitted = make_estimator("als", rank=2, sources="time", random_state=0).fit(observed)
    assert isinstance(fitted.certificate_.regression, Unavailable)
    assert "present" in fitted.certificate_.regression.reason
    fitted.estimate_.save(tmp_path / "estimate.npz")
    loaded = LowRankEstimate.load(tmp_path / "estimate.npz")
    rows = observed.take_rows([0, 1])
    np.testing.assert_allclose(loaded.fold_in(rows), fitted.estimate_.fold_in(rows))
    assert loaded.folding.is_dated


def test_observations_without_a_time_do_not_move():
    observed = drifting()
    times = observed.times.copy()
    times[::3] = np.nan
    fitted = make_estimator("als", rank=2, sources="time", random_state=0).fit(with_times(observed, times))
    residuals = observed.scaled().values
    moved = fitted.drift_.to_present(residuals, times)
    np.testing.assert_array_equal(moved.data[::3], residuals.data[::3])


@pytest.mark.parametrize(
    ("times", "options", "said"),
    [
        (None, {}, "without times"),
        (np.zeros(M * N), {}, "all at one"),
        (np.arange(M * N), {"max_lipschitz": 1.0}, "max_lipschitz"),
        (np.arange(M * N), {"regularization": 1.0}, "estimated"),
    ],
)
def test_what_time_contradicts(times, options, said):
    with pytest.raises(InputError, match=said):
        make_estimator("als", rank=2, sources="time", **options).fit(with_times(drifting(), times))


def test_times_that_do_not_differ_are_no_source_where_all_are_asked_for():
    one = with_times(drifting(), np.zeros(M * N))
    assert make_estimator("als", rank=2, sources="all", random_state=0).fit(one).sources_ == (
        "row-pattern",
        "column-pattern",
    )
    for times in (None, np.zeros(M * N)):
        with pytest.raises(InputError) as refused:
            make_estimator("als", rank=2, sources="time").fit(with_times(drifting(), times))
        assert "split" not in str(refused.value)


@pytest.mark.parametrize("known", [2, 3])
def test_auto_leaves_time_out_where_the_latest_observations_are_no_part_to_compare_on(known, monkeypatch):
    """One that is known to be the latest tells nothing; where all but one are at the latest time nothing is left to learn from."""
    monkeypatch.setattr(auto_module, "LADDERS", ())
    monkeypatch.setattr(auto_module, "GRIDS", ())
    times = np.full(M * N, np.nan)
    times[:known] = np.arange(known)
    if known == 3:
        times[:] = 1.0
        times[0] = 0.0
    fitted = make_estimator("auto", sources="time", random_state=0).fit(with_times(drifting(), times))
    assert any(note.startswith("time is left out") for note in fitted.notes_)
    assert fitted.choice_.name == "biases"


def test_names_of_sources_may_have_spaces_between_them():
    fitted = make_estimator("als", rank=2, sources="time, row-pattern", random_state=0).fit(drifting())
    assert fitted.sources_ == ("row-pattern", "time")
