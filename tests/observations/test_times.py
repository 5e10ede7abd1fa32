"""Times of observations: read, given, kept with their observations wherever these go, and split by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise
from likewise.errors import FileFormatError, InputError, ObservationError, ShapeError
from likewise.observations import ObservedMatrix, hold_out, read_ratings, with_times
from likewise.observations.times import as_times

LINES = [("ann", "tea", 1, 30), ("bob", "tea", 2, 10), ("ann", "milk", 3, 20), ("cas", "milk", 5, 40)]


def timed() -> ObservedMatrix:
    users, items, values, times = zip(*LINES, strict=True)
    return ObservedMatrix.from_triplets(users, items, values, times=times)


def by_name(observed: ObservedMatrix) -> dict[tuple[str, str], float]:
    rows, columns = observed.positions()
    assert observed.times is not None
    return {
        (str(observed.row_ids[i]), str(observed.column_ids[j])): time
        for i, j, time in zip(rows, columns, observed.times.tolist(), strict=True)
    }


def test_times_stay_with_their_observations() -> None:
    expected = {(user, item): float(time) for user, item, _, time in LINES}
    observed = timed()
    assert by_name(observed) == expected
    assert by_name(observed.scaled()) == expected
    assert by_name(observed.take_rows([2, 0])) == {
        pair: t for pair, t in expected.items() if pair[0] != "bob"
    }
    assert by_name(observed.keep(np.array([True, False, False, True]))).items() <= expected.items()
    assert not observed.times.flags.writeable  # type: ignore[union-attr]


def test_times_are_saved_and_loaded(tmp_path: Path) -> None:
    likewise.save(timed(), tmp_path / "observed.npz")
    assert by_name(likewise.load(tmp_path / "observed.npz")) == by_name(timed())


@pytest.mark.parametrize(("rule", "expected"), [("first", 7.0), ("last", 9.0), ("mean", 8.0)])
def test_times_of_repeated_pairs_are_merged_as_values_are(rule: str, expected: float) -> None:
    repeated = ObservedMatrix.from_triplets(
        [0, 0, 1],
        [0, 0, 1],
        [1, 3, 5],
        times=[7, 9, 1],
        duplicates=rule,  # type: ignore[arg-type]
    )
    assert repeated.times is not None
    assert repeated.times[0] == expected


@given(
    st.lists(st.integers(0, 5), min_size=20, max_size=20).filter(lambda times: len(set(times)) > 1),
    st.floats(0.05, 0.9),
)
def test_nothing_hidden_is_earlier_than_anything_left(times: list[int], share: float) -> None:
    observed = with_times(np.arange(20.0).reshape(4, 5), times)
    split = hold_out(observed, share, by="time")
    hidden_times = observed.values.copy()
    hidden_times.data = observed.times.copy()  # type: ignore[union-attr]
    hidden = np.asarray(hidden_times[split.rows, split.columns])
    assert split.later_than == split.training.times.max() < hidden.min()  # type: ignore[union-attr]
    # No more than the share, unless the latest time alone has more observations.
    assert hidden.size <= max(round(share * 20), sum(time == max(times) for time in times))


def test_who_has_only_late_observations_keeps_the_earliest() -> None:
    observed = with_times(np.arange(6.0).reshape(2, 3), [1, 2, 3, 9, 7, 8])
    split = hold_out(observed, 0.5, by="time", leave_one=True)
    assert split.later_than == 3
    assert split.training.times.tolist() == [1, 2, 3, 7]  # type: ignore[union-attr]


def test_who_has_no_time_stays() -> None:
    observed = with_times(np.arange(4.0).reshape(2, 2), [np.nan, 1, 2, 3])
    split = hold_out(observed, 0.5, by="time")
    assert split.values.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("times", "error"),
    [
        ([1, 2, 3], ShapeError),
        ([[1, 2], [3, 4]], ObservationError),
        ([np.inf, 1, 2, 3], ObservationError),
        ([np.nan] * 4, ObservationError),
        (["monday"] * 4, ObservationError),
        ([1j] * 4, ObservationError),
    ],
)
def test_times_that_are_none(times: list[object], error: type[InputError]) -> None:
    with pytest.raises(error):
        with_times(np.arange(4.0).reshape(2, 2), times)


@pytest.mark.parametrize("times", [None, [5, 5, 5, 5], [np.nan, np.nan, np.nan, 1]])
def test_times_that_tell_nothing_apart(times: list[float] | None) -> None:
    with pytest.raises(ObservationError, match="times"):
        hold_out(with_times(np.arange(4.0).reshape(2, 2), times), 0.5, by="time")


def test_dates_are_seconds() -> None:
    dates = np.array(["1970-01-01T00:00:01.5", "NaT"], "datetime64[ms]")
    np.testing.assert_array_equal(as_times(dates), [1.5, np.nan])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["30", "10", "20.5"], [30, 20.5, 10]),
        (["1970-01-02", "1970-01-01 00:01:00", "1970-01-01T00:00:00.25Z"], [86400, 0.25, 60]),
        (["30", "NA", ""], [30, np.nan, np.nan]),
    ],
)
def test_times_of_a_file(tmp_path: Path, written: list[str], expected: list[float]) -> None:
    lines = (
        f"{user},{item},{value},{time}" for (user, item, value, _), time in zip(LINES, written, strict=False)
    )
    (tmp_path / "ratings.csv").write_text("user,item,rating,when\n" + "\n".join(lines) + "\n")
    observed = read_ratings(tmp_path / "ratings.csv", time="when")
    # In the order of rows and columns, ann's milk comes before her tea.
    by_pair = dict(zip([("ann", "tea"), ("ann", "milk"), ("bob", "tea")], expected, strict=True))
    np.testing.assert_array_equal(
        list(by_name(observed).values()), [by_pair[pair] for pair in by_name(observed)]
    )
    assert observed.roles is not None
    assert observed.roles.times == ("when",)
    assert read_ratings(tmp_path / "ratings.csv").times is None


@pytest.mark.parametrize(
    ("column", "said"), [("when", "'soon'"), ("rating", "no user, item or rating"), ("then", "no column")]
)
def test_columns_that_are_no_times(tmp_path: Path, column: str, said: str) -> None:
    (tmp_path / "ratings.csv").write_text("user,item,rating,when\na,x,1,5\nb,x,2,soon\n")
    with pytest.raises(FileFormatError, match=said):
        read_ratings(tmp_path / "ratings.csv", time=column)


def test_times_of_parquet_dates(tmp_path: Path) -> None:
    import polars as pl

    frame = pl.DataFrame(
        {"user": ["a", "b"], "item": ["x", "x"], "rating": [1, 2], "when": ["1970-01-02", "1970-01-03"]}
    )
    frame.with_columns(pl.col("when").str.to_datetime()).write_parquet(tmp_path / "ratings.parquet")
    assert read_ratings(tmp_path / "ratings.parquet", time="when").times.tolist() == [86400, 172800]  # type: ignore[union-attr]
