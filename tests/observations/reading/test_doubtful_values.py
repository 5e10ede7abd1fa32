"""Codes for "missing" among the values, and a column that counts something else: said, and settled by an option."""

import warnings

import numpy as np
import pytest

from likewise.errors import ValueRangeWarning
from likewise.observations import read_ratings


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
