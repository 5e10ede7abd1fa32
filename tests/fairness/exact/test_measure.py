"""Figures over all pairs: by hand, against the naive double loop, and what must hold for any data."""

import json
import math
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fairness import naive

from likewise import ObservedMatrix
from likewise.errors import (
    ConstantOutputWarning,
    DistanceError,
    InputError,
    MemoryLimitError,
    ModelError,
    ShapeError,
)
from likewise.fairness import (
    DistanceDescription,
    ExactValue,
    ObservedDistance,
    PairwiseDistance,
    RowDistance,
    measure_arms,
    measure_fairness,
)
from likewise.fairness.exact.blocks import all_pairs, pair_positions, row_blocks

# Four people, two features (l1); two outputs each (l2). Pairs in order: 01, 02, 03, 12, 13, 23.
PEOPLE = RowDistance([[0.0, 0.0], [1.0, 1.0], [0.0, 4.0], [3.0, 0.0]], "l1")  # d: 2, 4, 3, 4, 3, 7
OUTPUTS = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 4.0], [0.0, 0.0]])  # D: 1, 5, 0, sqrt(18), 1, 5
RATIOS = [1 / 2, 5 / 4, 0, 18**0.5 / 4, 1 / 3, 5 / 7]


def values_of(figures):
    return {name: figure.value for name, figure in figures.metrics().items()}


def random_case(seed, m=12, order=1):
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 3, (m, 4)).astype(float)
    return RowDistance(people, order), rng.random((m, 3))


def measure_quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantOutputWarning)
        return measure_fairness(*arguments, **options)


def test_by_hand():
    figures = measure_fairness(
        OUTPUTS, PEOPLE, nearest_share=0.5, quantiles=(0.5, 1.0), bins=[0, 0.5, 1, 1.2], worst=2
    )
    assert figures.n_pairs == 6
    assert figures.mean_ratio.value == pytest.approx(2 * sum(RATIOS) / 16)
    assert figures.pair_mean_ratio.value == pytest.approx(sum(RATIOS) / 6)
    assert figures.max_ratio == ExactValue(1.25, 6)
    assert figures.quantiles[0.5].value == 0.5
    assert figures.quantiles[1.0].value == 1.25
    mean_d, mean_D = 23 / 6, (12 + 18**0.5) / 6
    assert figures.mean_reference_distance.value == pytest.approx(mean_d)
    assert figures.mean_output_distance.value == pytest.approx(mean_D)
    assert figures.scale_free_ratio.value == pytest.approx(sum(RATIOS) / 6 * mean_d / mean_D)
    # Half of 6 pairs is 3; the third smallest distance is 3, and exactly three pairs are at most 3 apart: 01, 03, 13.
    similar = figures.similar
    assert (similar.n_pairs, similar.radius) == (3, 3)
    assert similar.mean_ratio.value == pytest.approx((1 / 2 + 0 + 1 / 3) / 3)
    assert similar.output_gap.value == pytest.approx(2 / 3)
    assert similar.scale_free_ratio.value == pytest.approx((1 / 2 + 0 + 1 / 3) / 3 * mean_d / mean_D)
    # Ratios 0 and 1/3 lie below 1/2; 1/2 and 5/7 below 1; 1.06 below 1.2; 1.25 above.
    assert figures.histogram.counts.tolist() == [2, 2, 1]
    assert (figures.histogram.above, figures.histogram.infinite) == (1, 0)
    assert [(pair.left, pair.right) for pair in figures.worst] == [(0, 2), (1, 2)]
    assert figures.worst[0].output_distance == 5
    # The mean output is (0.75, 1.25).
    spread = np.sqrt(np.mean(((OUTPUTS - [0.75, 1.25]) ** 2).sum(axis=1)))
    assert figures.output_spread.value == pytest.approx(spread)
    assert figures.notes == ()


def test_ties_at_the_radius_are_all_counted_and_said():
    # A third of 6 pairs is 2, but two pairs are 3 apart.
    figures = measure_fairness(OUTPUTS, PEOPLE, nearest_share=1 / 3)
    assert figures.similar.n_pairs == 3
    assert any("1 pairs tie" in note for note in figures.notes)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.floats(0.01, 1), st.sampled_from([1, 2]))
def test_against_the_naive_double_loop(seed, m, share, order):
    people, outputs = random_case(seed, m, order)
    figures = measure_quietly(outputs, people, nearest_share=share, quantiles=(0, 0.3, 0.9))
    d, D = naive.pair_table(people.rows, order), naive.pair_table(outputs, 2)
    found = values_of(figures)
    for name, expected in naive.figures(d, D, m, share).items():
        assert found[name] == pytest.approx(expected, rel=1e-9, nan_ok=True), name
    ratios = [naive.ratio(D[pair], d[pair]) for pair in d]
    for q in (0, 0.3, 0.9):
        assert figures.quantiles[q].value == pytest.approx(naive.quantile(ratios, q), rel=1e-9)
    histogram = figures.histogram
    assert histogram.counts.sum() + histogram.above + histogram.infinite == len(ratios)


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_scaling_outputs_scales_ratios_but_not_the_scale_free_ones(seed, factor):
    people, outputs = random_case(seed)
    before, after = measure_quietly(outputs, people), measure_quietly(outputs * factor, people)
    for name, value in values_of(before).items():
        unscaled = name == "mean_reference_distance" or "scale_free" in name or "relative" in name
        assert values_of(after)[name] == pytest.approx(
            value if unscaled else value * factor, rel=1e-9, nan_ok=True
        )


@given(st.integers(0, 2**32 - 1))
def test_order_of_individuals_does_not_matter(seed):
    people, outputs = random_case(seed)
    order = np.random.default_rng(seed).permutation(len(outputs))
    names = np.array([f"p{i}" for i in range(len(outputs))])
    straight = measure_quietly(outputs, people, row_ids=names)
    shuffled = measure_quietly(outputs[order], RowDistance(people.rows[order], "l1"), row_ids=names[order])
    for name, value in values_of(straight).items():
        assert values_of(shuffled)[name] == pytest.approx(value, rel=1e-9, nan_ok=True)
    assert straight.histogram.counts.tolist() == shuffled.histogram.counts.tolist()
    assert straight.n_zero_distance == shuffled.n_zero_distance


@given(st.integers(0, 2**32 - 1))
def test_identical_people_with_identical_outputs_never_raise_a_ratio(seed):
    people, outputs = random_case(seed, 8)
    doubled = RowDistance(np.vstack([people.rows, people.rows]), "l1")
    before, after = measure_quietly(outputs, people), measure_quietly(np.vstack([outputs, outputs]), doubled)
    # Each pair occurs four times, and a person's twin adds ratio 0: the ordered mean is the same.
    assert after.mean_ratio.value == pytest.approx(before.mean_ratio.value, rel=1e-9)
    assert after.max_ratio.value == pytest.approx(before.max_ratio.value, rel=1e-9)
    assert after.n_zero_distance == 4 * before.n_zero_distance + 8


def test_equal_people_with_different_outputs_are_infinite_and_listed():
    people = RowDistance([[1.0], [1.0], [1.0], [3.0]], "l1")
    figures = measure_fairness([0.0, 0.0, 2.0, 1.0], people, row_ids=["a", "b", "c", "d"], worst=3)
    assert (figures.n_zero_distance, figures.n_infinite) == (3, 2)
    assert [(pair.left, pair.right, pair.ratio) for pair in figures.worst[:2]] == [
        ("a", "c", math.inf),
        ("b", "c", math.inf),
    ]
    assert figures.mean_ratio.value == figures.max_ratio.value == math.inf
    # Pairs ad, bd, cd have ratio 1/2 each, ab has 0; two infinite pairs are left out of the 16 ordered ones.
    assert figures.finite_mean_ratio.value == pytest.approx(2 * 1.5 / (16 - 4))
    assert figures.histogram.infinite == 2
    assert any("2 pairs have reference distance 0" in note for note in figures.notes)


def test_infinite_ratios_tie_broken_by_output_distance():
    people = RowDistance([[0.0]] * 3 + [[1.0]], "l1")
    figures = measure_fairness([0.0, 1.0, 5.0, 9.0], people, worst=3)
    assert [pair.output_distance for pair in figures.worst] == [5, 4, 1]


@pytest.mark.parametrize("outputs", [np.full((5, 20), 0.1), np.zeros(5), 0.99 + 1e-4 * np.arange(5)])
def test_constant_outputs_warn(outputs):
    people = RowDistance(np.arange(5.0), "l1")
    with pytest.warns(ConstantOutputWarning, match="nearly constant"):
        figures = measure_fairness(outputs, people)
    assert any("nearly constant" in note for note in figures.notes)


def test_outputs_are_called_constant_each_by_itself():
    """A year beside a probability: two by hand vary by 1/2 and by 1/2000 of their root mean square."""
    people = RowDistance(np.arange(4.0), "l1")
    chance, year = np.array([0.0, 0.0, 1.0, 1.0]), np.array([2000.0, 2002.0, 2000.0, 2002.0])
    both = np.column_stack([chance, year])
    assert RowDistance(chance).relative_spread() == pytest.approx(0.5**0.5)
    assert RowDistance(year).relative_spread() == pytest.approx(1 / (2001**2 + 1) ** 0.5)
    assert RowDistance(both).relative_spread() == pytest.approx(0.5**0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConstantOutputWarning)
        figures = measure_fairness(both, people)
    assert not any("constant" in note for note in figures.notes)
    with pytest.warns(ConstantOutputWarning, match="nearly constant"):
        measure_fairness(np.column_stack([year, year]), people)


@pytest.mark.parametrize(("unit", "noted"), [(1.0, False), (3.0, True)])
def test_the_one_output_that_decides_d_is_named(unit, noted):
    """Variances of 1/4 and of 1/4 and 9/4: half, and nine tenths, are of the second."""
    outputs = np.column_stack([[0.0, 0.0, 1.0, 1.0], [0.0, unit, 0.0, unit]])
    frame = pl.DataFrame(outputs, schema=["chance", "year"])
    notes = RowDistance.of_outputs(frame).notes
    assert [note.split(":")[0] for note in notes] == (
        ["D is mostly that of year, which has 90.0% of the variance of the 2 outputs"] if noted else []
    )


def test_scale_free_ratio_of_constant_outputs_is_not_defined():
    figures = measure_quietly(np.zeros(4), RowDistance(np.arange(4.0)))
    assert figures.mean_ratio.value == figures.max_ratio.value == 0
    assert math.isnan(figures.scale_free_ratio.value)


class WithGaps(PairwiseDistance):
    """|i - j|, not defined between individuals 0 and 1."""

    n_individuals = 4
    description = DistanceDescription("with gaps", "absolute", axioms="unknown")

    def between(self, left, right):
        distances = np.abs(left - right).astype(float)
        distances[left + right == 1] = np.nan
        return distances

    def block(self, start, stop, first=0, last=4):
        grid = np.meshgrid(np.arange(start, stop), np.arange(first, last or 4), indexing="ij")
        return self.between(*grid)


def test_undefined_distances_count_nowhere_and_are_said():
    figures = measure_fairness([0.0, 5.0, 1.0, 1.0], WithGaps())
    # Left: 02: 1/2, 03: 1/3, 12: 4/1, 13: 4/2, 23: 0.
    assert (figures.n_undefined, figures.n_pairs) == (1, 5)
    assert figures.mean_ratio.value == pytest.approx(2 * (1 / 2 + 1 / 3 + 4 + 2) / (16 - 2))
    assert (figures.worst[0].left, figures.worst[0].right) == (1, 2)
    assert any("1 pairs have no defined reference distance" in note for note in figures.notes)


def test_two_individuals_who_share_nothing_cannot_be_measured():
    class Nowhere(WithGaps):
        n_individuals = 2

        def block(self, start, stop, first=0, last=2):
            return np.full((stop - start, (last or 2) - first), np.nan)

    with pytest.raises(DistanceError, match="no pair has a defined distance"):
        measure_fairness([1.0, 2.0], Nowhere())


def test_arms_share_the_reference_and_the_bins():
    people, outputs = random_case(5, 30)
    arms = measure_arms({"without": outputs, "with": 3 * outputs}, people)
    alone = measure_fairness(3 * outputs, people)
    assert values_of(arms["with"]) == values_of(alone)
    assert arms["without"].histogram.edges.tolist() == arms["with"].histogram.edges.tolist()


def test_an_output_distance_can_be_given():
    people, outputs = random_case(6)
    by_l1 = measure_fairness(RowDistance(outputs, "l1"), people)
    assert by_l1.output.norm == "l1"
    expected = naive.figures(naive.pair_table(people.rows, 1), naive.pair_table(outputs, 1), 12, 0.1)
    assert by_l1.mean_output_distance.value == pytest.approx(expected["mean_output_distance"])


@pytest.mark.parametrize("m", [2, 3, 50])
@pytest.mark.parametrize("entries", [1, 7, 10**6])
def test_pairs_are_visited_once_in_order(m, entries):
    blocks = row_blocks(m, entries)
    assert [i for start, stop in blocks for i in range(start, stop)] == list(range(m - 1))
    left, right = pair_positions(np.arange(m * (m - 1) // 2), m)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [
        (i, j) for i in range(m) for j in range(i + 1, m)
    ]


def test_all_pairs_across_many_blocks():
    people, _ = random_case(7, 40)
    advanced = []
    vector = all_pairs(people, advanced.append, block_entries=40)
    left, right = pair_positions(np.arange(vector.size), 40)
    np.testing.assert_array_equal(vector, people.between(left, right))
    assert sum(advanced) == vector.size
    assert len(advanced) > 10


def test_progress_reaches_its_total():
    people, outputs = random_case(8)
    seen = []
    measure_arms(
        {"a": outputs, "b": outputs}, people, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (3 * 66, 3 * 66)


def test_results_print_and_export():
    Z = ObservedMatrix(
        np.array([[1.0, 2.0], [np.nan, 4.0], [3.0, 5.0]]), value_range=(1, 5), row_ids=["x", "y", "z"]
    )
    figures = measure_fairness([[0.0, 1.0], [2.0, 2.0], [5.0, 1.0]], ObservedDistance(Z))
    assert "3 pairs of 3 individuals" in str(figures)
    assert "zero-filled" in str(figures)
    record = json.loads(json.dumps(figures.to_dict()))
    assert record["max_ratio"]["kind"] == "exact"
    assert record["similar"]["mean_ratio"]["n_pairs"] == figures.similar.n_pairs
    assert record["reference"]["is_metric"] is True
    assert record["worst"][0]["left"] in {"x", "y"}
    frame = figures.to_frame()
    assert frame["metric"].to_list() == list(figures.metrics())
    assert frame["kind"].unique().to_list() == ["exact"]


def test_histogram_draws_on_given_axes():
    from matplotlib.figure import Figure

    people, outputs = random_case(9)
    arms = measure_arms({"without": outputs, "with": 2 * outputs}, people)
    ax = Figure().subplots()
    for name, figures in arms.items():
        assert figures.plot_histogram(ax, label=name) is ax
    assert len(ax.patches) == 2
    assert [text.get_text().split(",")[0] for text in ax.get_legend().get_texts()] == ["without", "with"]
    assert measure_fairness(outputs, people).plot_histogram().get_xlabel()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nearest_share": 0}, "nearest_share"),
        ({"nearest_share": 1.5}, "nearest_share"),
        ({"nearest_share": math.nan}, "nearest_share"),
        ({"quantiles": (0.5, 1.5)}, "quantiles"),
        ({"worst": -1}, "worst"),
        ({"bins": 0}, "bins"),
        ({"bins": [1, 0]}, "bins"),
        ({"row_ids": ["a"]}, "row_ids"),
        ({"lipschitz": 0}, "lipschitz"),
        ({"lipschitz": math.inf}, "lipschitz"),
        ({"lipschitz": 1, "slack": -1}, "slack"),
        ({"n_neighbors": 4}, "from 1 to 3"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"groups": ["a", "a", "a", "a"]}, "1 groups"),
        ({"groups": ["a", None, "a", "a"]}, "1 groups, and 1 individuals whose group is unknown"),
        ({"groups": ["a", "b"]}, "one group for each of 4"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        measure_fairness(OUTPUTS, PEOPLE, **options)


def test_no_arms_and_other_people():
    with pytest.raises(InputError, match="no arms"):
        measure_arms({}, PEOPLE)
    with pytest.raises(ShapeError, match=r"'with' has 3 individuals, the reference distance 4"):
        measure_arms({"without": OUTPUTS, "with": OUTPUTS[:3]}, PEOPLE)


def test_unusable_outputs_name_the_arm_and_the_rows():
    with pytest.raises(ModelError, match=r"outputs of 'with': NaN or infinite values in 1 rows: 2"):
        measure_arms({"without": OUTPUTS, "with": [0.0, 1.0, math.nan, 2.0]}, PEOPLE)
    with pytest.raises(ModelError, match="one-hot"):
        measure_fairness(["yes", "no", "no", "yes"], PEOPLE)


@pytest.mark.slow
def test_what_cannot_fit_is_refused_before_it_is_allocated():
    class Everybody(WithGaps):
        n_individuals = 50_000_000

    with pytest.raises(MemoryLimitError, match="leave streaming out"):
        measure_fairness(Everybody(), Everybody(), streaming=False)
