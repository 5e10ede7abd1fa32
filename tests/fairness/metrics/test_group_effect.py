"""The test of a group effect, against its definition, by hand, and by how often it finds what is not there."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import InputError
from likewise.fairness import (
    GowerDistance,
    GroupEffects,
    PrecomputedDistance,
    RowDistance,
    Unavailable,
    group_effects,
)
from likewise.fairness.metrics.group_effect import (
    NEAR,
    _Outputs,
    _tested,
)
from likewise.fairness.metrics.remainder import Remainder, mean_differences, neighbor_means


def test_by_hand_two_outputs():
    """Two pairs of twins, one of each pair in the group: the nearest other is the twin, so e and g are differences of twins."""
    weights, _ = neighbor_means(RowDistance([0.0, 0.0, 5.0, 5.0]).block(0, 4), 1)
    members = np.array([[1.0], [0.0], [1.0], [0.0]])
    outputs = np.array([[1.0, 4.0], [3.0, 4.0], [2.0, 7.0], [6.0, 5.0]])
    # e = (-2, 2, -4, 4) and (0, 0, 2, -2); g = (1, -1, 1, -1): <e, g> = -12 and 4, <g, g> = 4; c = 2 g.
    # z = -12 / sqrt(4 (4 + 4 + 16 + 16)) = -0.949 and 4 / sqrt(4 (4 + 4)) = 0.707: the first output is the clearer one.
    twins = Remainder(weights, np.empty((4, 0)))
    asked = _Outputs(outputs, ["pay", "rank"], np.array([1.0, 1.0]), [False, False])
    [effect] = _tested(asked, [("b", 2)], members, twins, 0.95, np.random.default_rng(0))
    assert (effect.group, effect.n_members, effect.output, effect.difference) == ("b", 2, "pay", -3.0)
    assert effect.share == pytest.approx(3 / ((2 + 1 + 5 + 1 + 3 + 4) / 6))
    assert effect.low < effect.difference < effect.high
    assert (
        effect.at_most >= max(abs(effect.low), abs(effect.high)) * effect.share / 3
    )  # the other output's may be larger
    assert 0.05 < effect.p_value <= 1
    assert not effect.clear


def farthest_first(d, n):
    """Return people far from one another, in loops."""
    m = len(d)
    chosen = [max(range(m), key=lambda i: (sum(d[i]), -i))]
    while len(chosen) < n:
        chosen.append(max(range(m), key=lambda i: (min(d[i][j] for j in chosen), -i)))
    return chosen


def naive(outputs, members, d, k):
    """Return difference and z of one group and one output: what the distances to landmarks fit is taken away, then the mean over the nearest."""
    m = len(outputs)
    near = np.zeros((m, m))
    for i in range(m):
        others = sorted(d[i][j] for j in range(m) if j != i)
        nearest = [j for j in range(m) if j != i and d[i][j] <= others[k - 1]]
        near[i, nearest] = 1 / len(nearest)
    fitted_by = np.column_stack([np.ones(m), np.array(d)[:, farthest_first(d, m // 10)]])
    left = (np.eye(m) - near) @ (np.eye(m) - fitted_by @ np.linalg.pinv(fitted_by))
    e, g = left @ outputs, left @ members
    c = left.T @ g
    return e @ g / (g @ g), e @ g / sum((c * e) ** 2) ** 0.5


@given(seed=st.integers(0, 2**32 - 1), n_outputs=st.integers(1, 3), ties=st.booleans())
def test_as_defined(seed, n_outputs, ties):
    rng = np.random.default_rng(seed)
    people = rng.integers(12, size=80).astype(float) if ties else rng.normal(size=80)
    group = rng.permutation(np.repeat([0.0, 1.0], [50, 30]))
    outputs = rng.normal(size=(80, n_outputs)) + people[:, None]
    found = group_effects(outputs, RowDistance(people), np.where(group == 1, "b", "a"))
    d = np.abs(people[:, None] - people)
    by_output = [naive(outputs[:, k], group, d.tolist(), 5) for k in range(n_outputs)]
    best = int(np.argmax([abs(z) for _, z in by_output]))
    member = next(effect for effect in found.effects if effect.group == "b")
    assert member.output == (f"output {best}" if n_outputs > 1 else "outputs")
    assert member.difference == pytest.approx(by_output[best][0], rel=1e-9, abs=1e-12)
    assert (member.p_value <= 0.05) == (member.low > 0 or member.high < 0)  # the interval is the test
    farthest = max(abs(member.low), abs(member.high)) / mean_differences(outputs)[best]
    assert member.at_most >= farthest * (1 - 1e-9)
    if n_outputs == 1:
        assert member.at_most == pytest.approx(farthest, rel=1e-9)


@given(
    seed=st.integers(0, 2**32 - 1), scale=st.floats(0.01, 100), shift=st.floats(-10, 10), flip=st.booleans()
)
def test_units_and_what_d_explains_do_not_matter(seed, scale, shift, flip):
    """Outputs in other units give the same test; so does what is the same for all who are equal on paper, where all neighbours are."""
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(10.0), 8)
    group, outputs = rng.permutation(np.repeat(["a", "b"], 40)), rng.normal(size=80)
    sign = -1 if flip else 1
    before = group_effects(outputs, RowDistance(people), group).effects
    other = sign * scale * outputs + shift + rng.normal(size=10)[people.astype(int)]
    after = {effect.group: effect for effect in group_effects(other, RowDistance(people), group).effects}
    for effect in before:
        assert after[effect.group].difference == pytest.approx(
            sign * scale * effect.difference, rel=1e-6, abs=1e-6
        )
        assert after[effect.group].p_value == pytest.approx(effect.p_value, abs=2e-3)


def applicants(rng, m=300, penalty=0.0):
    """Skill explains both group and pay; the penalty is what the group gets less."""
    skill = rng.normal(size=m)
    group = rng.random(m) < 1 / (1 + np.exp(-1.5 * skill))
    pay = np.tanh(2 * skill) + 0.3 * rng.normal(size=m) - penalty * group
    return pay, RowDistance(skill), np.where(group, "b", "a")


def test_a_planted_penalty_is_found_with_its_size():
    found = group_effects(*applicants(np.random.default_rng(0), penalty=0.4))
    lowest = found.clear[0]
    assert lowest.group == "b"
    assert lowest.low < -0.4 < lowest.high < 0
    assert lowest.share > 0.2


@pytest.mark.slow
def test_groups_that_differ_but_are_treated_alike_raise_no_alarm():
    """At most 5% of the time: of 60 worlds, more than 8 have a chance of 1 in 500 even at 5%."""
    rng = np.random.default_rng(1)
    worlds = [group_effects(*applicants(rng)) for _ in range(60)]
    assert sum(bool(found.clear) for found in worlds) <= 8


def unlike_groups(rng, less, penalty=0.0):
    """Applicants whose group b has less of an income that, with two further features, decides a score; d knows all three."""
    group = rng.integers(2, size=400)
    income = np.exp(rng.normal(10, 0.5, 400)) * np.where(group, 1 - less, 1)
    age, degree = rng.integers(18, 70, 400), rng.integers(4, size=400)
    points = 0.8 * (np.log(income) - 10) + 0.02 * (age - 40) + 0.5 * (degree - 1.5)
    score = 1 / (1 + np.exp(-points - 0.1 * rng.normal(size=400) + penalty * group))
    people = pl.DataFrame({"income": income, "age": age, "degree": degree.astype(str)})
    return score, people, np.where(group, "b", "a")


@pytest.mark.slow
def test_groups_that_differ_in_a_feature_of_many_raise_no_alarm():
    """A quarter and half less income: without the smooth part, 3 and 12 of 12 such worlds raised a false alarm. At most 5%: of 40, more than 6 have 1 in 300."""
    rng = np.random.default_rng(3)
    alarms = 0
    for less in (0.26, 0.5):
        for _ in range(20):
            score, people, group = unlike_groups(rng, less)
            alarms += bool(group_effects(score, GowerDistance(people), group).clear)
    assert alarms <= 6


def test_a_penalty_is_found_beside_what_sets_the_groups_apart():
    score, people, group = unlike_groups(np.random.default_rng(0), 0.26, penalty=0.3)
    without, _, _ = unlike_groups(np.random.default_rng(0), 0.26)
    true = (score - without)[group == "b"].mean()
    found = group_effects(score, GowerDistance(people), group).clear[0]
    assert found.group == "b"
    assert found.low < true < found.high < 0


def test_where_d_is_made_of_the_group_nothing_is_said():
    """All nearest others are of the same group, so a penalty of any size is compared with nobody."""
    score, people, group = unlike_groups(np.random.default_rng(0), 0.26, penalty=2.0)
    found = group_effects(score, GowerDistance(people.with_columns(pl.Series("sex", group))), group)
    assert isinstance(found, Unavailable)
    assert "at most 0% of a group" in found.reason
    assert "d keeps the groups apart" in found.reason


def test_a_group_that_d_keeps_apart_is_counted_and_the_others_are_tested():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.random(200), rng.random(50) + 100])
    groups = np.array([*rng.permutation(["a", "b"] * 100), *["c"] * 50])
    found = group_effects(rng.normal(size=250), RowDistance(values), groups)
    assert {effect.group for effect in found.effects} == {"a", "b"}
    assert (found.n_apart, found.n_small) == (1, 0)


def blanked(rng, penalty):
    """Applicants of whom group b leaves out more: of some, nothing is known in common with others."""
    people, group = rng.normal(size=(400, 2)), rng.integers(2, size=400)
    people[:, 1] += people[:, 0]
    pay = people.sum(axis=1) + 0.3 * rng.normal(size=400) - penalty * group
    people[rng.random((400, 2)) < np.where(group, 0.08, 0.02)[:, None]] = np.nan
    return pay, GowerDistance(pl.DataFrame(people)), np.where(group, "b", "a")


def test_people_of_whom_too_little_is_known_are_left_out_and_the_others_are_tested():
    found = group_effects(*blanked(np.random.default_rng(0), 1.0))
    assert 0 < found.n_left_out < 60
    assert found.n_individuals == 400 - found.n_left_out
    assert found.clear[0].group == "b"
    assert found.clear[0].low < -1.0 < found.clear[0].high


@pytest.mark.slow
def test_who_is_left_out_raises_no_alarm_though_groups_leave_out_unlike_shares():
    """At most 5% of the time: of 60 worlds, more than 8 have a chance of 1 in 500 even at 5%."""
    rng = np.random.default_rng(2)
    worlds = [group_effects(*blanked(rng, 0.0)) for _ in range(60)]
    assert all(found.n_left_out for found in worlds)
    assert sum(bool(found.clear) for found in worlds) <= 8


def test_where_most_would_be_left_out_nothing_is_tested():
    distances = np.abs(np.arange(120.0)[:, None] - np.arange(120.0))
    distances[:, :70] = distances[:70] = np.nan
    np.fill_diagonal(distances, 0.0)
    found = group_effects(np.arange(120.0), PrecomputedDistance(distances), ["a", "b"] * 60)
    assert isinstance(found, Unavailable)
    assert "only 50 of 120 people are left" in found.reason


def test_no_test_where_nobody_is_near():
    rng = np.random.default_rng(0)
    found = group_effects(
        rng.normal(size=200), RowDistance(rng.normal(size=(200, 20))), rng.integers(2, size=200)
    )
    assert isinstance(found, Unavailable)
    assert f"{NEAR:.0%}" in found.reason


@pytest.mark.parametrize(
    ("people", "groups", "reason"),
    [
        (np.arange(30.0), ["a", "b"] * 15, "only 30 people"),
        (np.arange(60.0), ["a"] * 55 + ["b"] * 5, "no group has 10"),
        (np.zeros(60), ["a", "b"] * 30, "is 0"),
    ],
)
def test_too_little_to_go_by(people, groups, reason):
    found = group_effects(np.arange(len(people), dtype=float), RowDistance(people), groups)
    assert isinstance(found, Unavailable)
    assert reason in found.reason


def test_equal_outputs_have_no_effect():
    found = group_effects(np.ones(60), RowDistance(np.arange(60.0)), ["a", "b"] * 30)
    assert isinstance(found, GroupEffects)
    assert not found.clear
    assert all(effect.p_value == 1 and abs(effect.difference) < 1e-12 for effect in found.effects)


def test_people_of_unknown_group_and_small_groups_are_left_out():
    rng = np.random.default_rng(0)
    groups = np.array(["a", "b", None] * 30 + ["c"] * 3, dtype=object)
    found = group_effects(rng.normal(size=93), RowDistance(rng.normal(size=93)), groups)
    assert {effect.group for effect in found.effects} == {"a", "b"}
    assert (found.n_individuals, found.n_small) == (63, 1)


@pytest.mark.slow
def test_many_people_are_drawn():
    rng = np.random.default_rng(0)
    found = group_effects(
        rng.normal(size=4000), RowDistance(rng.normal(size=4000)), rng.integers(2, size=4000)
    )
    assert found.n_individuals == 3000


@pytest.mark.parametrize("options", [{"n_neighbors": 0}, {"n_neighbors": 60}, {"confidence": 1.0}])
def test_options_out_of_range(options):
    with pytest.raises(InputError):
        group_effects(np.arange(60.0), RowDistance(np.arange(60.0)), ["a", "b"] * 30, **options)


@pytest.mark.parametrize(
    ("outputs", "arguments", "error"),
    [
        (np.arange(80.0), {}, "outputs for 80 individuals; expected 40"),
        (np.arange(20.0), {}, "outputs for 20 individuals; expected 40"),
        (np.ones((40, 2)), {"output_ids": ["pay"]}, "one for each output"),
        (np.arange(40.0), {"output_ids": "pay"}, "one for each output"),
        (np.arange(40.0), {"confidence": 0.9999}, "at most 0.999"),
    ],
)
def test_what_does_not_fit_is_refused(outputs, arguments, error):
    groups = np.repeat(["a", "b"], 20)
    with pytest.raises(InputError, match=error):
        group_effects(outputs, RowDistance(np.arange(40.0)), groups, **arguments)


def test_the_reason_names_as_many_neighbours_as_were_asked_for():
    values = np.random.default_rng(0).normal(size=60)
    found = group_effects(values, RowDistance(values), np.repeat(["a", "b"], 30), n_neighbors=40)
    assert "a person's 40 nearest others" in found.reason


@pytest.mark.parametrize("value", [0.7, -0.395863785507999, 1e12 + 0.1, 0.0])
def test_a_constant_has_no_effect_whatever_it_is(value):
    found = group_effects(np.full(60, value), RowDistance(np.arange(60.0)), ["a", "b"] * 30)
    assert all((effect.share, effect.at_most, effect.p_value) == (0, 0, 1) for effect in found.effects)


@pytest.mark.parametrize(
    ("offset", "unit", "within"),
    [(1e12, 1.0, 1e-3), (0.0, 1e-300, 1e-9), (0.0, 1e155, 1e-9), (0.0, 1e307, 1e-9)],
)
def test_neither_an_offset_nor_a_unit_hides_a_penalty(offset, unit, within):
    """Beside an offset of 1e12 outputs themselves are only known to 1.2e-4; a unit loses nothing."""
    pay, distance, groups = applicants(np.random.default_rng(0), penalty=0.4)
    before = group_effects(pay, distance, groups).clear[0]
    after = group_effects(offset + unit * pay, distance, groups).clear[0]
    assert after.difference / unit == pytest.approx(before.difference, rel=within)
    assert after.low / unit == pytest.approx(before.low, rel=within)


def test_outputs_that_are_the_group_have_one_difference_on_both_sides():
    """e is g: the interval is a point but for rounding, for one group as for the other."""
    group = np.random.default_rng(0).integers(2, size=120)
    found = group_effects(group, RowDistance(np.arange(120.0)), np.where(group, "b", "a"))
    for effect in found.clear:
        sign = 1 if effect.group == "b" else -1
        assert (effect.low, effect.high) == pytest.approx((sign, sign), abs=1e-6)
    assert len(found.clear) == 2


def test_one_bias_is_one_finding_and_the_rest_its_mirrors():
    """Group b gets less, which two columns say; the others are above a mean that it lowers."""
    rng = np.random.default_rng(0)
    skill, group = rng.normal(size=400), rng.choice(4, size=400, p=[0.5, 0.25, 0.15, 0.1])
    pay = skill + 0.1 * rng.normal(size=400) - 0.5 * (group == 1)
    found = group_effects(np.column_stack([pay, 3 - pay]), RowDistance(skill), np.array(list("abcd"))[group])
    assert len(found.clear) > 1
    assert [effect.group for effect in found.clear if not effect.mirrored] == ["b"]


def test_two_biases_are_two_findings():
    rng = np.random.default_rng(0)
    skill, group = rng.normal(size=400), rng.choice(4, size=400, p=[0.5, 0.25, 0.15, 0.1])
    pay = skill + 0.1 * rng.normal(size=400) - 0.5 * (group == 1) + 0.5 * (group == 0)
    found = group_effects(pay, RowDistance(skill), np.array(list("abcd"))[group])
    assert {effect.group for effect in found.clear if not effect.mirrored} == {"a", "b"}
