"""Codes for "missing" among the values, and a column that counts something else: said, and settled by an option."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import SVT, audit
from likewise.errors import ObservationError, ValueRangeWarning
from likewise.observations import ObservedMatrix, read_ratings
from likewise.observations.doubtful_values import warn_of_unlike_columns


@pytest.fixture
def write(tmp_path):
    def written(rows, head="", separator=" "):
        lines = [separator.join(f"{value:g}" for value in row) for row in rows]
        (tmp_path / "file.csv").write_text(head + "\n".join(lines) + "\n")
        return tmp_path / "file.csv"

    return written


@pytest.fixture
def jokes():
    """A grid as it is published: a count of the ratings, then 100 ratings from -10 to 10, 99 where nobody rated."""
    rng = np.random.default_rng(3)
    ratings = np.round(rng.uniform(-10, 10, (60, 100)), 2)
    ratings[rng.random(ratings.shape) < 0.29] = 99
    return np.column_stack([(ratings != 99).sum(axis=1), ratings])


def told(file, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Z = read_ratings(file, **options)
    assert {one.filename for one in caught} <= {__file__}  # whose call it was
    return Z, [str(one.message) for one in caught if issubclass(one.category, ValueRangeWarning)]


def test_a_published_grid_with_a_code_and_a_count(write, jokes):
    file = write(jokes)
    Z, doubts = told(file)
    share = np.mean(jokes == 99)
    assert doubts == [
        f"{share:.0%} of the values are 99, far from all others: if it stands for missing, give missing_value=99; if it is a value, give "
        "value_range=(low, high)",
        "column 0 has a scale of its own, far outside that of the other 100 columns: if it is not a feature, give exclude=0; if it is one, "
        "value_range='per-column'",
    ]
    assert set(doubts) <= set(Z.notes)
    settled, doubts = told(file, missing_value=99, exclude=0, value_range=(-10, 10))
    assert doubts == []
    assert settled.n_observed == np.count_nonzero(jokes[:, 1:] != 99)
    assert settled.values.data.max() <= 10


def test_each_doubt_is_settled_by_itself(write, jokes):
    file = write(jokes)
    assert [doubt[:8] for doubt in told(file, exclude=0)[1]] == ["29% of t"]
    assert [doubt[:8] for doubt in told(file, missing_value=99)[1]] == ["column 0"]
    assert told(file, value_range=(-10, 100))[1] == []
    assert told(file, missing_value=99, columns=list(range(101)))[1] == []


@pytest.mark.parametrize("code", [-999, 99])
def test_a_code_in_a_wide_table_and_in_triplets(write, code):
    rng = np.random.default_rng(1)
    table = rng.integers(1, 6, (40, 6)).astype(float)
    table[:8, :3] = code
    head = ",".join("abcdef") + "\n"
    assert [doubt.partition(",")[0] for doubt in told(write(table, head, ","), format="wide")[1]] == [
        f"10% of the values are {code}"
    ]
    rows, columns = np.indices(table.shape)
    triplets = np.column_stack([rows.ravel(), columns.ravel(), table.ravel()])
    assert [doubt.partition(",")[0] for doubt in told(write(triplets, "user,item,rating\n", ","))[1]] == [
        f"10% of the values are {code}"
    ]


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([1, 2, 3, 4, 5], id="stars"),
        pytest.param([0, 1, 2, 3, 4, 5], id="stars from nothing"),
        pytest.param([0, 1], id="yes and no"),
        pytest.param([1, 100], id="two values"),
        pytest.param([-10, -3, 0, 4, 9, 10], id="both signs"),
        pytest.param([*[0] * 300, *range(114, 99999, 1000)], id="gains, mostly none"),
    ],
)
def test_nothing_is_said_of_ordinary_values(write, values):
    grid = np.random.default_rng(0).choice(values, (30, 8))
    assert told(write(grid))[1] == []


def test_four_codes_are_too_few_and_five_are_enough(write):
    grid = np.random.default_rng(0).integers(1, 6, (30, 8))
    grid[:4, 0] = 99
    assert told(write(grid))[1] == []
    grid[4, 0] = 99
    assert len(told(write(grid))[1]) == 1


@pytest.mark.parametrize("lowest", [0, -1])
def test_zero_or_minus_one_beside_ratings_is_noted_and_settled(write, lowest):
    triplets = [(1, 1, lowest), (1, 2, 5), (2, 1, 3), (2, 2, 9)]
    file = write(triplets, "user,item,rating\n", ",")
    Z, doubts = told(file)
    assert doubts == []
    note = (
        f"25% of the ratings are {lowest} and the others 3 to 9: if {lowest} stands for not rated, give missing_value={lowest}; if it is a "
        f"rating, give value_range=({lowest}, 9)"
    )
    assert note in Z.notes
    for settled in ({"missing_value": lowest}, {"value_range": (lowest, 9)}):
        assert not any("not rated" in note for note in told(file, **settled)[0].notes)
    assert told(file, missing_value=lowest)[0].n_observed == 3


@pytest.mark.parametrize(
    "values", [(0, 1, 1, 0), (-1, 1, 1, -1), (1, 2, 3, 4), (0, 0.5, 1, 2), (-1, -0.5, 1, 2)]
)
def test_where_the_lowest_value_is_one_like_the_others_nothing_is_noted(write, values):
    file = write([(k // 2, k % 2, value) for k, value in enumerate(values)], "user,item,rating\n", ",")
    assert not any("not rated" in note for note in read_ratings(file).notes)


@pytest.mark.parametrize(("lone", "ends"), [(99, "(1, 99)"), (10, "(1, 10)"), (-4, "(-4, 5)")])
def test_a_lone_rating_far_beyond_the_others_is_warned_of_and_settled(write, lone, ends):
    """One slip of the finger among 1 to 5 changes the range, and with it every distance."""
    triplets = [(k // 5, k % 5, k % 5 + 1) for k in range(60)] + [(20, 0, lone)]
    file = write(triplets, "user,item,rating\n", ",")
    Z, doubts = told(file)
    (doubt,) = doubts
    assert doubt.startswith(
        f"1 of the ratings is {lone} and the others 1 to 5: if that is a slip, leave such lines out"
    )
    assert doubt.endswith(f"give missing_value={lone}; if it is a rating, give value_range={ends}")
    assert doubt in Z.notes
    assert told(file, missing_value=lone)[1] == told(file, value_range=(-4, 99))[1] == []


@pytest.mark.parametrize("lone", [9, -3])
def test_a_lone_rating_no_farther_than_the_others_are_wide_is_none_to_doubt(write, lone):
    """4 beyond 1 to 5, which are 4 apart; and counts, of which the largest often is far beyond."""
    triplets = [(k // 5, k % 5, k % 5 + 1) for k in range(60)] + [(20, 0, lone)]
    assert told(write(triplets, "user,item,rating\n", ","))[1] == []
    counts = [(k // 5, k % 5, k + 1) for k in range(60)] + [(20, 0, 1000)]
    assert told(write(counts, "user,item,rating\n", ","))[1] == []


pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "applicants.csv"
    path.write_text("name,test,gpa,years,age\nann,98,3.5,0,40\nbea,40,1.5,5,18\ncy,50,2,8,30\n")
    return path


def test_each_column_of_a_table_has_its_own_range(table):
    """A missing grade was 49, the middle of 0 to 98, before: now it is 2.5, the middle of 1.5 to 3.5."""
    Z = read_ratings(table, columns=["test", "gpa", "years", "age"], id_columns="name")
    assert Z.value_range.low.tolist() == [40, 1.5, 0, 18]
    assert Z.value_range.high.tolist() == [98, 3.5, 8, 40]
    assert "value range inferred from the data, for each column its own" in Z.notes
    assert Z.value_range.scale_to("symmetric").backward(0.0).tolist() == [69, 2.5, 4, 29]


LSAT_AND_GPA = {"lsat": [48.0, 11, 30, 25], "gpa": [3.9, 1.2, float("nan"), 2.2]}
MIDDLE = [29.5, 2.55]
"""Of 11 to 48 and of 1.2 to 3.9."""


@pytest.mark.parametrize(
    "as_given",
    [
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_what_is_missing_counts_as_a_value_of_its_own_column(as_given):
    """LSAT 11 to 48 beside GPA 1.2 to 3.9, 14:1; a missing GPA was a 24.6."""
    Z = ObservedMatrix(as_given(LSAT_AND_GPA))
    np.testing.assert_allclose(Z.value_range.scale_to("symmetric").backward(0.0), MIDDLE)


@given(st.integers(0, 2**32 - 1))
def test_what_is_missing_from_a_table_counts_as_a_value_within_the_range_of_its_column(seed):
    generator = np.random.default_rng(seed)
    values = generator.normal(generator.normal(0, 50, 4), 10.0 ** generator.integers(-2, 3, 4), (12, 4))
    values[generator.random(values.shape) < 0.3] = np.nan
    Z = ObservedMatrix(pd.DataFrame(values, columns=list("abcd")))
    if Z.observed_fraction > 0.5:
        filled = np.broadcast_to(Z.value_range.scale_to("symmetric").backward(0.0), 4)
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        assert ((low <= filled) & (filled <= high)).all()


def test_an_array_keeps_one_range_and_an_estimator_warns():
    table = np.column_stack(list(LSAT_AND_GPA.values()))
    assert ObservedMatrix(table).value_range.low.ndim == 0
    with pytest.warns(ValueRangeWarning, match="hardly count: 1 "):
        SVT(0.1).fit(table)
    fitted = SVT(0.1).fit(pd.DataFrame(LSAT_AND_GPA))
    np.testing.assert_allclose(fitted.estimate_.scale.backward(0.0), MIDDLE)


def test_ratings_keep_one_scale():
    """Few rated a film: that its ratings were 4 and 5 does not make 4.5 the middle; nor do numbered columns of a full array."""
    films = pd.DataFrame({"alien": [4, 5, None, None, None], "brazil": [None, None, 1, None, 3]})
    ratings = np.array([[4, 1, 2.0], [5, 5, 3], [4, 3, np.nan], [5, 1, 1]])
    for held in (films, ratings, pd.DataFrame(ratings)):
        assert ObservedMatrix(held).value_range.low.ndim == 0


def test_a_column_of_one_value_is_in_the_middle_of_its_range():
    Z = ObservedMatrix(pd.DataFrame({"mark": [0.0, 10, 4], "year": [2024.0, None, 2024]}))
    assert Z.scaled().values.toarray()[:, 1].tolist() == [0, 0, 0]
    assert Z.scaled().values.toarray()[:, 0].tolist() == pytest.approx([-1, 1, -0.2])
    with pytest.raises(ObservationError, match="observations that all equal 2"):
        ObservedMatrix(pd.DataFrame({"mark": [2.0, 2], "year": [2.0, 2]}))


@pytest.mark.parametrize(
    "options",
    [
        {"columns": ["test", "years", "age"]},
        {"columns": ["test", "gpa"], "value_range": "per-column"},
        {"columns": ["test", "gpa"], "value_range": (0, 100)},
        {"columns": ["test", "gpa"]},
    ],
)
def test_nothing_is_said_where_ranges_are_alike_or_declared_or_each_columns_own(table, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_ratings(table, id_columns="name", **options)


def test_sparse_ratings_and_constant_columns_are_not_compared():
    films = np.full((4, 3), np.nan)
    films[[0, 1, 2, 3], [0, 0, 1, 1]] = [1, 100, 4, 5]
    constant = np.array([[1.0, 7.0], [100.0, 7.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in (films, constant, np.array([[1.0, 2.0]])):
            warn_of_unlike_columns(ObservedMatrix(values), stacklevel=1)


def test_of_many_narrow_columns_five_are_named():
    values = np.vstack([np.zeros(8), [100, *range(1, 8)]])
    with pytest.warns(ValueRangeWarning, match=r"5 \(0 to 5\) and 2 more, beside 0 \(0 to 100\)"):
        warn_of_unlike_columns(ObservedMatrix(values), stacklevel=1)


def test_triplets_are_ratings_on_one_scale(tmp_path):
    (tmp_path / "ratings.csv").write_text("1,1,0\n1,2,1\n2,1,50\n2,2,2\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_ratings(tmp_path / "ratings.csv")


def test_columns_seven_times_as_wide_are_told():
    """A complete array of LSAT and GPA says nothing of names, so that one range is kept, with a warning."""
    with pytest.warns(ValueRangeWarning, match=r"hardly count: 1 \(0 to 4\), beside 0 \(20 to 48\)"):
        warn_of_unlike_columns(ObservedMatrix(np.array([[20.0, 0], [48, 4], [30, 3]])), stacklevel=1)


def test_an_audit_of_a_plain_array_warns_as_an_estimator_does():
    marks = np.random.default_rng(0).uniform(0, [48.0, 4.0], (60, 2))
    with pytest.warns(ValueRangeWarning, match=r"hardly count: 1 \(0"):
        audit(marks, outputs=marks[:, 1], progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ValueRangeWarning)
        audit(marks * [1.0, 4.0], outputs=marks[:, 1], progress=False)
        audit(ObservedMatrix(marks, value_range="per-column"), outputs=marks[:, 1], progress=False)
