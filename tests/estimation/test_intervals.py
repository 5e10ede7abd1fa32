"""Split-conformal intervals: the radius against a sorted list, coverage against simulation, and who is covered."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import likewise
from likewise import ObservedMatrix, hold_out
from likewise.errors import InputError, ObservationError, ShapeError
from likewise.estimation import LowRankEstimate, RidgeFolding, SoftImpute, entry_intervals
from likewise.estimation.intervals import SCALINGS, Spread, conformal_radius
from likewise.observations.synthetic import clustered


def estimate_of_zero(m, n, observed):
    nothing = (np.zeros((m, 0)), np.zeros(0), np.zeros((n, 0)))
    return LowRankEstimate.from_factors(observed, "symmetric", nothing, RidgeFolding(penalties=np.zeros(0)))


def ratings(m=30, n=20, share=0.6, seed=0):
    rng = np.random.default_rng(seed)
    stars = np.clip(3 + rng.normal(0, 0.5, (m, 1)) + rng.normal(0, 0.5, n) + rng.normal(0, 0.6, (m, n)), 1, 5)
    return ObservedMatrix(np.where(rng.random((m, n)) < share, stars, np.nan), value_range=(1, 5))


def test_radius_by_hand():
    scores = np.array([0.4, 0.1, 0.3, 0.2])
    # ceil(5 * 0.8) = 4th, ceil(5 * 0.5) = 3rd, ceil(5 * 0.4) = 2nd smallest.
    assert [conformal_radius(scores, share) for share in (0.8, 0.5, 0.4)] == [0.4, 0.3, 0.2]
    assert conformal_radius(scores, 0.81) == inf


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=40),
    st.integers(1, 99).map(lambda percent: percent / 100),
)
def test_radius_is_the_smallest_that_covers_enough(scores, confidence):
    needed, ordered = (len(scores) + 1) * confidence, sorted(scores)
    enough = [k for k in range(1, len(scores) + 1) if k >= needed - 1e-9]
    expected = ordered[enough[0] - 1] if enough else inf
    assert conformal_radius(np.array(scores), confidence) == expected


def test_spread_by_hand():
    observed = ObservedMatrix(np.array([[0.2, -0.4], [0.6, np.nan]]), value_range=(-1, 1))
    # Residuals of an estimate of 0 are .2, .4 and .6, .4 on average; a row is credited with ten average ones:
    # 1 + (-.2 + 0) / 12 / .4 and 1 + .2 / 11 / .4.
    found = Spread.of(observed.values, estimate_of_zero(2, 2, observed), "row")
    np.testing.assert_allclose(found.rows, [1 - 0.2 / 12 / 0.4, 1 + 0.2 / 11 / 0.4])
    np.testing.assert_array_equal(found.columns, 1)
    found = Spread.of(observed.values, estimate_of_zero(2, 2, observed), "column")
    np.testing.assert_allclose(found.columns, [1.0, 1.0])
    np.testing.assert_allclose(found.at(np.array([0]), np.array([1])), [1.0])


def test_a_spread_of_both_sides_divides_by_the_first_before_it_measures_the_second():
    values = np.array([[0.8, 0.4], [0.2, 0.1]])
    observed = ObservedMatrix(values, value_range=(-1, 1))
    found = Spread.of(observed.values, estimate_of_zero(2, 2, observed), "both")
    rows = 1 + np.array([0.45, -0.45]) / 12 / 0.375
    rest = values / rows[:, None]
    np.testing.assert_allclose(found.rows, rows)
    np.testing.assert_allclose(found.columns, 1 + (rest - rest.mean()).sum(axis=0) / 12 / rest.mean())


@given(st.integers(0, 2**32 - 1))
def test_spreads_are_above_zero(seed):
    rng = np.random.default_rng(seed)
    values = sparse.random_array((8, 6), density=0.5, rng=rng, format="csr")
    values.data = rng.uniform(-1, 1, values.nnz) * (rng.random(values.nnz) < 0.5)
    observed = ObservedMatrix(values, value_range=(-1, 1))
    found = Spread.of(observed.values, estimate_of_zero(8, 6, observed), "both")
    assert (found.rows > 0).all()
    assert (found.columns > 0).all()


def test_intervals_are_the_estimate_and_the_radius_around_it_in_the_range():
    Z = ratings()
    found = entry_intervals(Z, "biases", confidence=0.8, scaling="none", random_state=3)
    rows, columns = np.array([0, 3, 29]), np.array([5, 0, 19])
    middle = found.estimate.entries(rows, columns)
    half = 2 * found.radius  # stars are twice as wide as the interval
    expected = np.column_stack([np.clip(middle - half, 1, 5), np.clip(middle + half, 1, 5)])
    np.testing.assert_allclose(found.entries(rows, columns), expected)
    np.testing.assert_array_equal(
        found.entries_of(Z.row_ids[rows], Z.column_ids[columns]), found.entries(rows, columns)
    )


def test_the_radius_is_that_of_observations_that_the_fit_has_not_seen():
    """Found again step by step."""
    Z = ratings()
    found = entry_intervals(
        Z,
        SoftImpute(0.5, random_state=1),
        confidence=0.9,
        calibration_share=0.25,
        scaling="none",
        random_state=4,
    )
    hidden = hold_out(Z, 0.25, np.random.default_rng(4))
    estimate = SoftImpute(0.5, random_state=1).fit(hidden.training).estimate_
    errors = np.sort(np.abs(estimate.entries(hidden.rows, hidden.columns) - hidden.values)) / 2
    assert found.n_calibration == errors.size
    assert found.radius == pytest.approx(errors[int(np.ceil((errors.size + 1) * 0.9)) - 1])


@pytest.mark.parametrize("scaling", SCALINGS)
def test_coverage_is_what_is_promised(scaling):
    """Of 40 data sets with 384 test entries and 154 to calibrate on each: the mean is off by 0.005 or so, and by 0.02 with a chance of 1 in 10,000."""
    covered = []
    for seed in range(40):
        observed = clustered(40, 60, 3, observed_fraction=0.8, random_state=seed).observed
        held = hold_out(observed, 0.2, seed)
        found = entry_intervals(held.training, "biases", confidence=0.9, scaling=scaling, random_state=seed)
        ends = found.entries(held.rows, held.columns)
        covered.append(np.mean((ends[:, 0] <= held.values) & (held.values <= ends[:, 1])))
    assert 0.88 < np.mean(covered) < 0.92


def test_columns_with_ranges_of_their_own():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.uniform(0, 1, 200), rng.uniform(0, 160, 200)])
    found = entry_intervals(ObservedMatrix(table, value_range="per-column"), "biases", random_state=0)
    widths = np.ptp(found.entries(np.zeros(2, int), np.arange(2)), axis=1)
    assert 100 < widths[1] / widths[0] < 250


def test_too_few_to_calibrate_on_give_the_whole_range():
    found = entry_intervals(ratings(5, 4, 0.9), "biases", confidence=0.95, random_state=0)
    assert found.radius == inf
    np.testing.assert_array_equal(found.entries([0], [0]), [[1, 5]])
    assert "the whole range" in str(found)


def test_it_says_whom_it_speaks_of():
    found = entry_intervals(ratings(), "biases", random_state=0)
    assert "observed in the same way" in str(found)
    assert "95% intervals" in str(found)


def test_the_same_seed_gives_the_same():
    first, second = (entry_intervals(ratings(), "als", random_state=7).radius for _ in range(2))
    assert first == second


def test_it_is_at_the_top_of_the_package():
    assert likewise.entry_intervals is entry_intervals


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"confidence": 1}, InputError, "confidence=1; expected a number between 0 and 1"),
        ({"confidence": True}, InputError, "confidence=True"),
        ({"scaling": "rows"}, InputError, "unknown scaling 'rows'.*did you mean 'row'"),
        ({"calibration_share": 0}, InputError, "^calibration_share=0; expected a number between 0 and 1"),
        ({"calibration_share": "half"}, InputError, "^calibration_share='half'"),
        ({"calibration_share": 1e-9}, ObservationError, "a share of 1e-09 of .* observations, which is 0"),
        ({"estimator": "svd"}, InputError, "unknown estimator 'svd'"),
    ],
)
def test_bad_options_are_named(options, error, message):
    with pytest.raises(error, match=message):
        entry_intervals(ratings(), **{"estimator": "biases", **options})


def test_a_position_that_is_not_there_is_named():
    with pytest.raises(ShapeError):
        entry_intervals(ratings(), "biases").entries([0], [20])


def test_an_inferred_range_is_inferred_without_the_hidden_observations_and_cuts_nothing_off():
    everywhere = np.repeat(np.arange(8), 5), np.tile(np.arange(5), 8)
    values, lowest, beyond = np.random.default_rng(7).normal(size=(8, 5)), [], []
    for seed in range(5):
        options = {"confidence": 0.9, "calibration_share": 0.4, "random_state": seed}
        found = entry_intervals(ObservedMatrix(values), "biases", **options)
        low, high = found.estimate.scale.backward(np.array([-1.0, 1.0]))
        lowest.append(low)
        ends = found.entries(*everywhere)
        beyond.append(ends.min() < low or ends.max() > high)
        declared = ObservedMatrix(values, value_range=(values.min(), values.max()))
        ends = entry_intervals(declared, "biases", **options).entries(*everywhere)
        assert values.min() - 1e-12 <= ends.min() <= ends.max() <= values.max() + 1e-12
    assert any(beyond)
    assert max(lowest) > values.min()  # where the smallest was hidden, the range begins above it


def test_one_inferred_range_of_many_observations_cuts_ends_off_and_coverage_holds():
    """The truth is continuous, so that values do lie beyond the range that was seen: more are missed than without the cut, yet not too many."""
    covered = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values, seen = rng.normal(size=(40, 30)), rng.random((40, 30)) < 0.5
        observed = ObservedMatrix(np.where(seen, values, np.nan))
        found = entry_intervals(observed, "biases", confidence=0.9, calibration_share=0.2, random_state=seed)
        i, j = np.nonzero(~seen)
        ends = found.entries(i, j)
        low, high = found.estimate.scale.backward(np.array([-1.0, 1.0]))
        assert found.bounded
        assert low - 1e-12 <= ends.min() <= ends.max() <= high + 1e-12
        covered.append(np.mean((ends[:, 0] <= values[i, j]) & (values[i, j] <= ends[:, 1])))
    assert np.mean(covered) > 0.9 - 3 * np.std(covered) / np.sqrt(len(covered))


def test_a_hidden_value_beyond_the_inferred_range_is_counted_as_missed():
    """Found again step by step: where the largest is hidden, it is beyond the range of the others, whatever the radius."""
    rng = np.random.default_rng(1)
    values = rng.uniform(0, 1, (30, 30))
    hidden = hold_out(ObservedMatrix(values), 0.1, np.random.default_rng(3))
    beyond = (hidden.rows[:4], hidden.columns[:4])
    values[beyond] = [2.0, 3.0, -1.0, 4.0]
    options = {"scaling": "none", "calibration_share": 0.1, "random_state": 3}
    found = entry_intervals(
        ObservedMatrix(values), SoftImpute(0.5, random_state=1), confidence=0.9, **options
    )
    training = values.copy()
    training[hidden.rows, hidden.columns] = np.nan
    estimate = SoftImpute(0.5, random_state=1).fit(ObservedMatrix(training)).estimate_
    errors = np.abs(estimate.entries(hidden.rows, hidden.columns) - values[hidden.rows, hidden.columns])
    errors[:4] = inf
    half = np.sort(errors)[int(np.ceil((errors.size + 1) * 0.9)) - 1]
    assert found.half_widths() == pytest.approx((half, half))
    few = entry_intervals(ObservedMatrix(values), "biases", confidence=0.97, **options)
    assert (few.radius, few.bounded) == (inf, False)  # four of 90 are missed by any radius: more than 3%
    assert "all numbers" in str(few)


def test_half_widths_are_in_the_unit_of_the_data_and_those_of_the_narrowest_and_widest():
    declared = ObservedMatrix(
        np.random.default_rng(2).uniform(0, 1, (30, 2)) * [1, 160], value_range=([-9, -900], [9, 900])
    )
    found = entry_intervals(declared, "biases", confidence=0.8, random_state=0)
    ends = found.entries(*(index.ravel() for index in np.indices((30, 2))))
    halves = np.ptp(ends, axis=1) / 2
    assert found.half_widths() == pytest.approx((halves.min(), halves.max()))
    assert (
        f"plus or minus {halves.min():.3g} to {halves.max():.3g}, which differs from entry to entry, cut at"
        in str(found)
    )
    alike = entry_intervals(ratings(), "biases", scaling="none", random_state=0)
    assert f"plus or minus {2 * alike.radius:.3g}, cut at the value range, calibrated" in str(alike)


def test_coverage_holds_where_every_column_has_an_inferred_range_of_its_own():
    covered = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        values, seen = rng.normal(size=(60, 8)), rng.random((60, 8)) < 0.3
        observed = ObservedMatrix(np.where(seen, values, np.nan), value_range="per-column")
        found = entry_intervals(observed, "biases", confidence=0.8, calibration_share=0.3, random_state=seed)
        i, j = np.nonzero(~seen)
        ends = found.entries(i, j)
        covered.append(np.mean((ends[:, 0] <= values[i, j]) & (values[i, j] <= ends[:, 1])))
    # The standard error of the mean is 0.006: before, 0.75 was covered.
    assert np.mean(covered) > 0.8 - 3 * np.std(covered) / np.sqrt(len(covered))
