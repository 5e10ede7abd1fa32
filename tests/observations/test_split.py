import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from likewise.errors import ObservationError
from likewise.observations import ObservedMatrix, hold_out, with_times

MARKS = arrays(
    float, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.sampled_from([np.nan, 0, 1, 2])
)


@given(marks=MARKS, share=st.floats(0.05, 0.95), seed=st.integers(0, 2**32))
def test_hidden_and_visible_observations_are_a_partition(marks, share, seed):
    n_observed = np.count_nonzero(~np.isnan(marks))
    n_hidden = round(share * n_observed)
    if not 0 < n_hidden < n_observed:
        return
    split = hold_out(ObservedMatrix(marks, value_range=(0, 2)), share, random_state=seed)
    together = split.training.to_dense(np.nan)
    assert np.isnan(together[split.rows, split.columns]).all()
    together[split.rows, split.columns] = split.values
    np.testing.assert_array_equal(together, marks)
    assert split.values.size == n_hidden
    assert split.training.n_observed == n_observed - n_hidden


@given(marks=MARKS, share=st.floats(0.05, 0.95), seed=st.integers(0, 2**32))
def test_one_is_left_of_each(marks, share, seed):
    """Whoever has lost all gets one back, and nothing else changes."""
    if np.isnan(marks).all():
        return
    Z = ObservedMatrix(marks, value_range=(0, 2))
    counts = np.diff(Z.values.indptr)
    if not 0 < round(share * Z.n_observed) < Z.n_observed or (counts <= 1).all():
        return
    free = hold_out(Z, share, random_state=seed)
    lost = (np.diff(free.training.values.indptr) == 0) & (counts > 0)
    if lost.sum() == free.values.size:
        return
    split = hold_out(Z, share, random_state=seed, leave_one=True)
    left = np.diff(split.training.values.indptr)
    np.testing.assert_array_equal(left, np.diff(free.training.values.indptr) + lost)
    kept = free.training.to_dense(np.nan)
    np.testing.assert_array_equal(split.training.to_dense(np.nan)[~lost], kept[~lost])


def test_which_one_is_left_is_drawn():
    Z = ObservedMatrix(np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]]), value_range=(0, 2))
    left = [hold_out(Z, 5 / 6, seed, leave_one=True).training.values[[0]].data for seed in range(60)]
    assert {value for values in left for value in values.tolist()} == {0.0, 1.0, 2.0}


def test_of_one_observation_each_none_can_be_hidden():
    with pytest.raises(ObservationError, match="individuals with one observation each"):
        hold_out(
            ObservedMatrix(np.diag([1.0, 2.0]) + np.diag([np.nan] * 1, 1) + np.diag([np.nan], -1)),
            0.5,
            0,
            leave_one=True,
        )


def test_ids_shape_range_and_notes_stay():
    Z = ObservedMatrix([[0, 1, 2], [2, 1, 0.5]], row_ids=["a", "b"], column_ids=["x", "y", "z"])
    split = hold_out(Z, 0.5, random_state=0)
    assert split.training.shape == Z.shape
    assert split.training.row_ids.tolist() == ["a", "b"]
    assert split.training.column_ids.tolist() == ["x", "y", "z"]
    assert split.training.value_range is Z.value_range
    assert Z.notes[0] in split.training.notes
    assert repr(split) == "HoldOut(3 hidden, 3 for training)"


def test_the_same_seed_hides_the_same_observations():
    Z = ObservedMatrix(np.arange(100.0).reshape(10, 10))
    first, second = (hold_out(Z, 0.2, random_state=3).values for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, hold_out(Z, 0.2, random_state=np.random.default_rng(3)).values)
    assert not np.array_equal(first, hold_out(Z, 0.2, random_state=4).values)


@pytest.mark.slow
def test_each_observation_is_hidden_equally_often():
    Z = ObservedMatrix(np.arange(20.0).reshape(4, 5))
    draws, share = 4000, 0.25
    times = np.zeros(20)
    for seed in range(draws):
        times[hold_out(Z, share, random_state=seed).values.astype(int)] += 1
    # Sum of squared deviations over variances: chi-square with 19 degrees of freedom, its 99.99% quantile is 51.
    statistic = ((times - draws * share) ** 2 / (draws * share * (1 - share))).sum() * 19 / 20
    assert statistic < 51


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan"), "x", None])
def test_shares_outside_the_open_interval_are_refused(share):
    with pytest.raises(ObservationError, match="between 0 and 1, both excluded"):
        hold_out(ObservedMatrix([[1, 2]]), share)


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_a_share_that_leaves_one_side_empty_is_refused(share):
    with pytest.raises(ObservationError, match="at least one observation hidden and one left"):
        hold_out(ObservedMatrix([[1, 2]]), share)


def test_by_time_more_than_the_share_is_hidden_where_more_than_that_is_at_the_latest_time():
    marks = np.arange(20.0).reshape(4, 5)
    late = with_times(ObservedMatrix(marks, value_range=(0, 19)), [1] * 5 + [2] * 15)
    assert hold_out(late, 0.1, by="time").values.tolist() == list(range(5, 20))
    spread = with_times(ObservedMatrix(marks, value_range=(0, 19)), [1] * 10 + [2] * 8 + [3, 4])
    assert hold_out(spread, 0.4, by="time").values.tolist() == [18, 19]  # with time 2 it would be half


def test_both_parts_together_are_the_whole():
    """A stored zero is an observation, on either side."""
    values = np.random.default_rng(0).integers(0, 3, (12, 5)).astype(float)
    values[0, :3] = np.nan
    Z = ObservedMatrix(values, value_range=(-1, 4), row_ids=[f"r{i}" for i in range(12)])
    whole = hold_out(Z, 0.4, random_state=0).whole()
    np.testing.assert_array_equal(whole.values.toarray(), Z.values.toarray())
    np.testing.assert_array_equal(whole.values.indices, Z.values.indices)
    assert whole.row_ids.tolist() == Z.row_ids.tolist()
    assert whole.column_ids.tolist() == Z.column_ids.tolist()
    assert whole.value_range == Z.value_range
