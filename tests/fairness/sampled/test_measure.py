"""Audits by drawn pairs: figures by hand, against those over all pairs, what each interval rests on, and refusals."""

import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import ConstantOutputWarning, InputError, MemoryLimitError, ShapeError
from likewise.fairness import (
    CallableDistance,
    PrecomputedDistance,
    RowDistance,
    SampledValue,
    measure_fairness,
)
from likewise.fairness.exact.blocks import all_pairs, pair_positions
from likewise.fairness.sampled.intervals import betting, clopper_pearson, quantile_interval
from likewise.fairness.sampled.measure import measure_sampled
from likewise.fairness.sampled.sampled_metrics import PairSample
from likewise.fairness.sampled.sampling import (
    DATA_SET,
    POPULATION,
    Bounds,
    Claims,
    DrawnPairs,
    Plan,
    distance_bound,
    draw,
)

NAN, INF = math.nan, math.inf

# Six draws of pairs among ten people; the fourth has no reference distance, the fifth is infinitely unfair.
DRAWN = DrawnPairs(
    places=np.array([0, 1, 2, 3, 4, 5]),
    reference=np.array([1.0, 2.0, 4.0, NAN, 0.0, 5.0]),
    output=np.array([1.0, 1.0, 3.0, 9.0, 1.0, 0.0]),
    radius=2.0,
    claims=Claims(DATA_SET, 0.9, "betting"),
)
FAIR = replace(DRAWN, output=np.array([1.0, 1.0, 3.0, 9.0, 0.0, 0.0]))  # the same without the infinite ratio


def sample(drawn=FAIR, bounds=None, m=10):
    return PairSample.of(drawn, bounds or Bounds(), m)


def ends(figure):
    return figure.low, figure.high


def random_audit(seed, m=40, **options):
    rng = np.random.default_rng(seed)
    people, outputs = rng.random((m, 2)), rng.random(m)
    return measure_sampled(outputs, RowDistance(people), random_state=seed, **options)


class TestByHand:
    def test_means_over_all_pairs(self):
        # Ratios 1, 1/2, 3/4, 0, 0 of five defined pairs among six. Ten people: nine others.
        figures = sample().overall()
        assert figures["pair_mean_ratio"].value == pytest.approx(0.45)
        share = 9 * (5 / 6)
        assert figures["mean_ratio"].value == pytest.approx(0.45 * share / (share + 1))
        assert figures["max_ratio"].value == 1
        assert figures["mean_reference_distance"].value == pytest.approx(12 / 5)
        assert figures["mean_output_distance"].value == 1
        assert figures["scale_free_ratio"].value == pytest.approx(0.45 * 2.4 / 1)
        # Squares 1 + 1 + 9 over six pairs drawn, of 45: (1/100) * 45 * 11 / 6.
        assert figures["output_spread"].value == pytest.approx(math.sqrt(0.45 * 11 / 6))

    def test_intervals_over_all_pairs(self):
        bounds, ratios = Bounds(2.0, 10.0, 6.0), np.array([1, 0.5, 0.75, 0, 0])
        figures = sample(bounds=bounds).overall()
        assert ends(figures["pair_mean_ratio"]) == ends(betting(ratios, 2.0, 0.9))
        assert ends(figures["mean_output_distance"]) == ends(betting([1, 1, 3, 0, 0], 10.0, 0.9))
        assert ends(figures["max_ratio"]) == (1, 2)
        # A hundredth of the error for the share of pairs that count.
        mean, counted = betting(ratios, 2.0, 1 - 0.099), clopper_pearson(5, 6, 1 - 0.001)
        low, high = (9 * share / (9 * share + 1) for share in (counted.low, counted.high))
        assert ends(figures["mean_ratio"]) == pytest.approx((mean.low * low, mean.high * high))
        # A third of the error for each of three means.
        ratio, reference, output = (
            betting(values, bound, 1 - 0.1 / 3)
            for values, bound in ((ratios, 2.0), ([1, 2, 4, 0, 5], 6.0), ([1, 1, 3, 0, 0], 10.0))
        )
        low, high = ratio.low * reference.low / output.high, ratio.high * reference.high / output.low
        assert ends(figures["scale_free_ratio"]) == pytest.approx((low, high))
        squares = betting(np.array([1, 1, 9, 0, 0, 0]), 100.0, 0.9)
        assert ends(figures["output_spread"]) == pytest.approx(
            tuple(math.sqrt(0.45 * end) for end in (squares.low, squares.high))
        )

    def test_an_infinite_pair(self):
        figures = sample(DRAWN).overall()
        for name in ("mean_ratio", "pair_mean_ratio", "scale_free_ratio"):
            assert figures[name].value == INF
        assert ends(figures["pair_mean_ratio"]) == (INF, INF)
        assert ends(figures["max_ratio"]) == (INF, INF)
        # Finite ratios 1, 1/2, 3/4, 0 of four pairs among six.
        share = 9 * (4 / 6)
        assert figures["finite_mean_ratio"].value == pytest.approx(2.25 / 4 * share / (share + 1))
        assert figures["finite_mean_ratio"].n_pairs == 4

    def test_an_infinite_pair_among_the_most_similar(self):
        # At most 2 apart: ratios 1, 1/2 and an infinite one.
        figures = sample(DRAWN).similar(0.1, 2.0)
        assert figures.mean_ratio.value == INF
        assert (figures.finite_mean_ratio.value, figures.finite_mean_ratio.n_pairs) == (0.75, 2)
        assert ends(figures.finite_mean_ratio) == ends(betting([1, 0.5], None, 0.9))

    def test_infinite_pairs_of_groups(self):
        # Groups of the five defined pairs: aa, ab, ba, bb, aa; the fourth is infinite.
        split = sample(DRAWN).split(
            np.array(["a", "b"]), np.array([0, 0, 1, 1, 0]), np.array([0, 1, 0, 1, 0])
        )
        assert (split.within.n_infinite, split.across.n_infinite) == (1, 0)
        assert (split.within.mean_ratio.value, split.within.finite_mean_ratio.value) == (INF, 0.5)
        assert ends(split.within.finite_mean_ratio) == ends(betting([1, 0], None, 0.9))
        assert split.across.finite_mean_ratio == split.across.mean_ratio
        assert [kind.n_infinite for kind in split.by_groups] == [0, 0, 1]
        assert math.isnan(split.by_groups[2].finite_mean_ratio.value)

    def test_most_similar_pairs(self):
        # At most 2 apart: ratios 1, 1/2, 0, gaps 1, 1, 0.
        figures = sample(bounds=Bounds(2.0, 10.0, 6.0)).similar(0.1, 2.0)
        assert figures.n_pairs == 3
        assert figures.mean_ratio.value == pytest.approx(0.5)
        assert ends(figures.mean_ratio) == ends(betting([1, 0.5, 0], 2.0, 0.9))
        assert figures.max_ratio.value == 1
        assert figures.output_gap.value == pytest.approx(2 / 3)
        assert figures.scale_free_ratio.value == pytest.approx(0.5 * 2.4 / 1)

    def test_violations(self):
        # D - d / 2: 1/2, 0, 1, 0 and -5/2; above 1/4: 1/4 and 3/4 over.
        found = sample(bounds=Bounds(output=10.0)).violations(0.5, 0.25)
        assert found.n_violating == 2
        assert found.rate.value == pytest.approx(2 / 5)
        assert ends(found.rate) == ends(clopper_pearson(2, 5, 0.9))
        assert found.mean_excess.value == pytest.approx(1 / 5)
        assert ends(found.mean_excess) == ends(betting([0.25, 0, 0.75, 0, 0], 10.0, 0.9))
        assert ends(found.max_excess) == (0.75, 10)
        assert found.needed_slack[0.1].value == 1
        assert ends(found.needed_slack[0.1]) == ends(quantile_interval([0.5, 0, 1, 0, 0], 0.9, 0.9))

    def test_groups(self):
        # Groups of the five defined pairs: aa, ab, ba, bb, aa.
        split = sample().split(np.array(["a", "b"]), np.array([0, 0, 1, 1, 0]), np.array([0, 1, 0, 1, 0]))
        assert (split.within.n_pairs, split.across.n_pairs) == (3, 2)
        assert split.within.mean_ratio.value == pytest.approx((1 + 0 + 0) / 3)
        assert split.across.mean_ratio.value == pytest.approx((1 / 2 + 3 / 4) / 2)
        assert split.across.output_gap.value == 2
        assert [kind.name for kind in split.by_groups] == ["a and a", "a and b", "b and b"]
        assert [kind.n_pairs for kind in split.by_groups] == [2, 2, 1]
        assert split.by_groups[0].mean_reference_distance.value == pytest.approx((1 + 5) / 2)
        assert split.by_groups[2].max_ratio.value == 0
        assert (split.within.n_similar, split.across.n_similar) == (2, 1)


@st.composite
def everybody(draw_case):
    """Both distances of all pairs, some undefined or zero, and a group of everybody."""
    m = draw_case(st.integers(4, 9))
    rng = np.random.default_rng(draw_case(st.integers(0, 2**31)))
    square = rng.integers(0, 4, (m, m)).astype(float)
    square = np.triu(square, 1) + np.triu(square, 1).T
    groups = np.array(["a", "b"])[rng.permutation(np.arange(m) % 2)]
    return PrecomputedDistance(square), rng.random((m, 2)) * rng.integers(0, 2, (m, 1)), groups


@pytest.mark.slow
@given(everybody(), st.sampled_from([0.1, 0.5, 1.0]))
def test_every_pair_drawn_once_gives_the_exact_figures(case, share):
    reference, outputs, groups = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantOutputWarning)
        exact = measure_fairness(
            outputs, reference, nearest_share=share, lipschitz=0.3, slack=0.05, groups=groups
        )
    m = reference.n_individuals
    places = np.arange(m * (m - 1) // 2)
    d, D = all_pairs(reference), all_pairs(RowDistance(outputs))
    drawn = DrawnPairs(places, d, D, exact.similar.radius, Claims(DATA_SET, 0.95, "betting"))
    pairs = PairSample.of(drawn, Bounds(), m)
    found = pairs.overall()
    for name, figure in found.items():
        expected = getattr(exact, name).value
        if name == "finite_mean_ratio" and figure.n_pairs == 0:
            continue  # NaN for no pair
        assert figure.value == pytest.approx(expected, nan_ok=True), name
    left, right = pair_positions(places, m)
    numbers = (groups == "b").astype(int)
    parts = [
        (pairs.similar(share, exact.similar.radius), exact.similar),
        (pairs.violations(0.3, 0.05), exact.violations),
        (pairs.split(np.array(["a", "b"]), numbers[left], numbers[right]).within, exact.groups.within),
        (pairs.split(np.array(["a", "b"]), numbers[left], numbers[right]).across, exact.groups.across),
    ]
    for part, known in parts:
        for name, figure in vars(part).items():
            if isinstance(figure, SampledValue):
                assert figure.value == pytest.approx(getattr(known, name).value, nan_ok=True), name
                assert figure.n_pairs == getattr(known, name).n_pairs, name
                assert not figure.low > figure.value
                assert not figure.high < figure.value


class TestDesigns:
    def plan(self, population="data set", n_pairs=None, radius=None):
        return Plan(n_pairs, population, 0.95, None, 0.1, radius)

    def draw(self, plan, m=101, seed=0):
        rng = np.random.default_rng(seed)
        people, outputs = RowDistance(rng.random((m, 2))), RowDistance(rng.random(m))
        return people, outputs, draw(outputs, people, plan, np.random.default_rng(seed))

    @pytest.mark.parametrize("plan", [("data set", 500), ("population", None)])
    def test_distances_are_those_of_the_places(self, plan):
        people, outputs, drawn = self.draw(self.plan(*plan))
        left, right = pair_positions(drawn.places, 101)
        np.testing.assert_allclose(drawn.reference, people.between(left, right), rtol=1e-9)
        np.testing.assert_allclose(drawn.output, outputs.between(left, right), rtol=1e-9)

    def test_disjoint_pairs_and_pilots_share_nobody(self):
        # 50 disjoint pairs: 45 to measure, 5 pilots.
        _, _, drawn = self.draw(self.plan("population"))
        assert drawn.places.size == 45
        people = np.concatenate(pair_positions(drawn.places, 101))
        assert np.unique(people).size == 90
        _, _, drawn = self.draw(self.plan("population", radius=0.2))
        assert (drawn.places.size, drawn.radius) == (50, 0.2)

    def test_the_radius_is_about_that_of_the_share_asked_for(self):
        people, _, drawn = self.draw(self.plan(n_pairs=5000), m=200)
        assert np.mean(all_pairs(people) <= drawn.radius) == pytest.approx(0.1, abs=5 * math.sqrt(0.09 / 500))

    def test_undefined_pairs_are_counted(self):
        square = np.ones((10, 10)) - np.eye(10)
        square[0, 1:] = square[1:, 0] = np.nan

        class Patchy(RowDistance):
            def block(self, start, stop, first=0, last=None):
                return square[start:stop, first:last]

            def between(self, left, right):
                return square[left, right]

        found = measure_sampled(np.arange(10.0), Patchy(np.arange(10.0)), n_pairs=45, random_state=0)
        assert 0 < found.n_undefined < 45
        assert found.n_pairs + found.n_undefined == 45
        assert any("no defined reference distance" in note for note in found.notes)


class TestResult:
    def test_every_figure_is_sampled_and_names_its_population(self):
        for options, population in (
            ({}, DATA_SET),
            ({"population": "population"}, POPULATION),
        ):
            found = random_audit(0, lipschitz=1.0, groups=np.arange(40) % 2, **options)
            figures = found.metrics()
            assert len(figures) > 35
            for name, figure in figures.items():
                assert isinstance(figure, SampledValue), name
                assert (figure.population, figure.confidence) == (population, 0.95), name
                assert not figure.low > figure.value, name
                assert not figure.high < figure.value, name

    def test_the_same_seed_gives_the_same_audit(self):
        first, again, other = (
            random_audit(0, n_pairs=100, lipschitz=1.0).to_dict(),
            random_audit(0, n_pairs=100, lipschitz=1.0).to_dict(),
            random_audit(1, n_pairs=100, lipschitz=1.0).to_dict(),
        )
        assert repr(first) == repr(again) != repr(other)

    def test_it_prints_and_exports(self):
        found = random_audit(0, lipschitz=1.0)
        text = str(found)
        assert text.startswith(
            "Individual fairness of all pairs of this data set, from 780 pairs of 40 individuals"
        )
        assert text.endswith(f"  {found.verdict}")
        assert json.loads(json.dumps(found.to_dict()))["verdict"]["status"] == found.verdict.status
        frame = found.to_frame()
        assert set(frame["kind"]) == {"sampled"}
        assert frame.height == len(found.metrics())

    def test_worst_pairs_are_named_once_and_are_the_largest_drawn(self):
        rng = np.random.default_rng(0)
        people, outputs = RowDistance(rng.random((8, 2))), rng.random(8)
        found = measure_sampled(
            outputs, people, n_pairs=28, random_state=0, worst=100, row_ids=list("abcdefgh")
        )
        named = [(pair.left, pair.right) for pair in found.worst]
        assert len(named) == len(set(named)) < 28
        ratios = [pair.ratio for pair in found.worst]
        assert ratios == sorted(ratios, reverse=True)
        assert ratios[0] == found.max_ratio.value
        for pair in found.worst:
            i, j = "abcdefgh".index(pair.left), "abcdefgh".index(pair.right)
            assert pair.output_distance == abs(outputs[i] - outputs[j])

    def test_progress_adds_up(self):
        for options in ({}, {"population": "population"}):
            calls = []
            random_audit(0, progress=lambda done, total, calls=calls: calls.append((done, total)), **options)
            assert len({total for _, total in calls}) == 1
            assert [done for done, _ in calls] == sorted(done for done, _ in calls)
            assert calls[-1][0] == calls[-1][1]

    def test_constant_outputs_are_named(self):
        people = RowDistance(np.random.default_rng(0).random((20, 2)))
        with pytest.warns(ConstantOutputWarning):
            found = measure_sampled(np.ones(20), people, random_state=0)
        assert found.mean_output_distance.high == 0
        assert math.isnan(found.scale_free_ratio.value)
        assert ends(found.scale_free_ratio) == (0, INF)

    def test_two_people_have_one_pair(self):
        found = measure_sampled([0.0, 1.0], RowDistance([[0.0], [2.0]]), random_state=0)
        assert (found.n_pairs, found.max_ratio.value) == (1, 0.5)


class TestVerdict:
    @pytest.mark.parametrize(
        ("outputs", "tolerance", "status"),
        [
            ("fair", 0.0, "inconclusive"),
            ("fair", 0.01, "holds"),
            ("unfair", 0.0, "violated"),
            ("unfair", 0.1, "violated"),
        ],
    )
    def test_status(self, outputs, tolerance, status):
        rng = np.random.default_rng(0)
        people = rng.random((100, 2))
        scores = people[:, 0] if outputs == "fair" else rng.random(100)
        found = measure_sampled(
            scores, RowDistance(people), lipschitz=1.0, tolerance=tolerance, n_pairs=400, random_state=0
        )
        assert found.verdict.status == status
        assert (found.verdict.limit, found.verdict.tolerance) == (1.0, tolerance)

    def test_one_end_alone_may_use_the_whole_error(self):
        # 299 pairs without a violation show at most 1% at 95%; both ends together would need 368.
        people = np.random.default_rng(0).random((50, 2))
        options = {"lipschitz": 1.0, "tolerance": 0.01, "random_state": 0}
        assert (
            measure_sampled(people[:, 0], RowDistance(people), n_pairs=299, **options).verdict.status
            == "holds"
        )
        assert (
            measure_sampled(people[:, 0], RowDistance(people), n_pairs=298, **options).verdict.status
            == "inconclusive"
        )

    def test_the_capped_mean_has_both_ends_where_a_ratio_is_infinite(self):
        people = RowDistance(np.repeat([[0.0], [1.0], [2.0]], 10, axis=0))
        found = measure_sampled(np.arange(30.0), people, lipschitz=2.0, n_pairs=200, random_state=0)
        assert found.mean_ratio.value == INF
        assert 0 < found.capped_mean_ratio.low < found.capped_mean_ratio.high < 2
        assert random_audit(0).capped_mean_ratio is None


class TestBounds:
    @given(st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 20)), min_size=2, max_size=12))
    def test_the_triangle_inequality_bounds_every_pair(self, outputs):
        distance = RowDistance(outputs)
        assert all_pairs(distance).max() <= distance_bound(distance)

    def test_only_where_it_is_guaranteed(self):
        square = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 9.0], [1.0, 9.0, 0.0]])
        function = CallableDistance(lambda x, y: abs(x - y) ** 2, [0.0, 1.0, 3.0])
        assert distance_bound(function) is None
        assert distance_bound(PrecomputedDistance(square)) == pytest.approx(9)  # all of it was seen

    def test_a_bound_that_a_pair_exceeds_is_refused(self):
        for name in ("ratio", "output", "reference"):
            with pytest.raises(InputError, match=f"{name}_bound=1e-06, yet a pair drawn has"):
                random_audit(0, **{f"{name}_bound": 1e-6})

    def test_bounds_give_means_a_high_end(self):
        found = random_audit(0, ratio_bound=1e4)
        assert found.pair_mean_ratio.high < 1e4
        assert random_audit(0).pair_mean_ratio.high == INF
        assert random_audit(0).mean_output_distance.high < 1
        loose = random_audit(0, population="population")
        assert (
            loose.mean_output_distance.high == INF
        )  # what bounds this data set need not bound the population
        assert any("ratio_bound and output_bound and reference_bound" in note for note in loose.notes)

    @pytest.mark.parametrize("means", ["betting", "empirical bernstein", "hoeffding", "asymptotic"])
    def test_ways_to_bound_means(self, means):
        found = random_audit(0, means=means, ratio_bound=1e4, n_pairs=300)
        method = found.pair_mean_ratio.method.lower()
        assert means in method
        assert found.pair_mean_ratio.low <= found.pair_mean_ratio.value <= found.pair_mean_ratio.high


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 0}, "confidence=0"),
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"confidence": 95}, "confidence=95"),
        ({"n_pairs": 0}, "n_pairs=0"),
        ({"n_pairs": 1.5}, "n_pairs=1.5"),
        ({"n_pairs": "many"}, "n_pairs='many'"),
        ({"n_pairs": 781}, "n_pairs=781; expected a whole number from 1 to 780"),
        ({"n_pairs": 21, "population": "population"}, "21 disjoint pairs and 3 pilots of 40"),
        ({"n_pairs": 19, "population": "population"}, "19 disjoint pairs and 2 pilots of 40"),
        ({"population": "people"}, "unknown population 'people'"),
        ({"means": "normal"}, "unknown interval for means 'normal'"),
        ({"lipschitz": 0}, "lipschitz=0"),
        ({"lipschitz": -1.0}, "lipschitz=-1.0"),
        ({"lipschitz": 1.0, "slack": -1.0}, "slack=-1.0"),
        ({"lipschitz": 1.0, "tolerance": 1.0}, "tolerance=1.0"),
        ({"ratio_bound": -1.0}, "ratio_bound=-1.0"),
        ({"output_bound": INF}, "output_bound=inf"),
        ({"nearest_share": 0}, "nearest_share=0"),
        ({"nearest_radius": -1.0}, "nearest_radius=-1.0"),
        ({"quantiles": [1.1]}, "quantiles="),
        ({"worst": -1}, "worst=-1"),
        ({"bins": 0}, "bins=0"),
        ({"groups": np.zeros(40)}, "1 groups"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        random_audit(0, **options)


def test_pairs_that_would_not_fit_are_refused_before_they_are_drawn(monkeypatch):
    monkeypatch.setattr("likewise.memory.available_memory", lambda: 10_000.0)
    with pytest.raises(MemoryLimitError, match="pairs would need"):
        random_audit(0, n_pairs=700)
    assert random_audit(0, n_pairs=70).n_pairs == 70


def test_individuals_that_do_not_fit():
    people = RowDistance(np.arange(5.0))
    with pytest.raises(ShapeError, match="4 individuals, the reference distance 5"):
        measure_sampled(np.arange(4.0), people)
    with pytest.raises(ShapeError):
        measure_sampled([1.0], people)
    with pytest.raises(InputError, match="n_pairs=0"):
        measure_sampled(np.arange(3.0), RowDistance(np.arange(3.0)), population="population")


@pytest.mark.slow
@pytest.mark.parametrize(("n_groups", "n_kinds"), [(30, 465), (31, 0)])
def test_more_than_thirty_groups_have_no_figures_for_every_two(n_groups, n_kinds):
    people = RowDistance(np.random.default_rng(0).random((62, 2)))
    found = measure_sampled(
        np.arange(62.0), people, groups=np.arange(62) % n_groups, n_pairs=200, random_state=0
    )
    assert len(found.groups.by_groups) == n_kinds
    assert any("31 groups" in note for note in found.notes) == (n_groups == 31)
