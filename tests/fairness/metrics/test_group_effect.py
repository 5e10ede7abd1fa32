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
    _mean_differences,
    _tested,
    mutually_defined,
    neighbor_means,
)


def test_by_hand_two_outputs():
    """Two pairs of twins, one of each pair in the group: the nearest other is the twin, so e and g are differences of twins."""
    weights, _ = neighbor_means(RowDistance([0.0, 0.0, 5.0, 5.0]).block(0, 4), 1)
    members = np.array([[1.0], [0.0], [1.0], [0.0]])
    outputs = np.array([[1.0, 4.0], [3.0, 4.0], [2.0, 7.0], [6.0, 5.0]])
    # e = (-2, 2, -4, 4) and (0, 0, 2, -2); g = (1, -1, 1, -1): <e, g> = -12 and 4, <g, g> = 4; c = 2 g.
    # z = -12 / sqrt(4 (4 + 4 + 16 + 16)) = -0.949 and 4 / sqrt(4 (4 + 4)) = 0.707: the first output is the clearer one.
    [(best, difference, low, high, share, p_value, clear)] = _tested(
        outputs, members, weights, 0.95, np.random.default_rng(0)
    )
    assert (best, difference) == (0, -3.0)
    assert share == pytest.approx(3 / ((2 + 1 + 5 + 1 + 3 + 4) / 6))
    assert low < difference < high
    assert 0.05 < p_value <= 1
    assert not clear


def naive(outputs, members, d, k):
    """Return difference and z of one group and one output, in loops."""
    m = len(outputs)
    near = []
    for i in range(m):
        others = sorted(d[i][j] for j in range(m) if j != i)
        near.append([j for j in range(m) if j != i and d[i][j] <= others[k - 1]])
    e = [outputs[i] - sum(outputs[j] for j in near[i]) / len(near[i]) for i in range(m)]
    g = [members[i] - sum(members[j] for j in near[i]) / len(near[i]) for i in range(m)]
    c = [g[j] - sum(g[i] / len(near[i]) for i in range(m) if j in near[i]) for j in range(m)]
    total = sum(a * b for a, b in zip(e, g, strict=True))
    spread = sum((a * b) ** 2 for a, b in zip(c, e, strict=True)) ** 0.5
    return total / sum(a * a for a in g), total / spread


@given(seed=st.integers(0, 2**32 - 1), n_outputs=st.integers(1, 3), ties=st.booleans())
def test_as_defined(seed, n_outputs, ties):
    rng = np.random.default_rng(seed)
    people = rng.integers(12, size=80).astype(float) if ties else rng.normal(size=80)
    group = rng.permutation(np.repeat([0.0, 1.0], [50, 30]))
    outputs = rng.normal(size=(80, n_outputs)) + people[:, None]
    found = group_effects(outputs, RowDistance(people), np.where(group == 1, "b", "a"))
    d = np.abs(people[:, None] - people)
    by_output = [naive(outputs[:, k].tolist(), group.tolist(), d.tolist(), 5) for k in range(n_outputs)]
    best = int(np.argmax([abs(z) for _, z in by_output]))
    member = next(effect for effect in found.effects if effect.group == "b")
    assert member.output == (f"output {best}" if n_outputs > 1 else "outputs")
    assert member.difference == pytest.approx(by_output[best][0], rel=1e-9, abs=1e-12)
    assert (member.p_value <= 0.05) == (member.low > 0 or member.high < 0)  # the interval is the test


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


@given(values=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20))
def test_mean_difference_as_defined(values):
    n = len(values)
    pairs = [abs(values[i] - values[j]) for i in range(n) for j in range(i)]
    assert _mean_differences(np.array(values)[:, None])[0] == pytest.approx(np.mean(pairs), abs=1e-9)


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


def test_leaving_out_by_hand():
    """Of 0 nothing is defined but to 1; 3 and 4 are not defined to each other; 0 goes first, then the first of two that tie."""
    undefined = [(0, 2), (0, 3), (0, 4), (3, 4)]
    distances = np.ones((5, 5))
    for i, j in undefined:
        distances[i, j] = distances[j, i] = np.nan
    assert mutually_defined(distances).tolist() == [1, 2, 4]


@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 0.5))
def test_all_distances_among_those_kept_are_defined_and_nobody_is_left_out_for_nothing(seed, share):
    rng = np.random.default_rng(seed)
    undefined = np.triu(rng.random((12, 12)) < share, 1)
    distances = np.where(undefined | undefined.T, np.nan, 1.0)
    kept = mutually_defined(distances)
    assert not np.isnan(distances[np.ix_(kept, kept)]).any()
    assert set(np.flatnonzero(~np.isnan(distances).any(axis=1))) <= set(kept)


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
    assert "the 40 nearest others" in found.reason
