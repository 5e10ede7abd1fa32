"""What the first screen says of groups: the finding where there is one, and what was tested where there is none."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import likewise
from likewise.fairness import GroupEffect, GroupEffects, RowDistance
from likewise.fairness.distances.distance import SubsetDistance
from likewise.report import as_text
from likewise.report.checks import with_checks
from likewise.report.groups import group_alarms
from likewise.report.html import as_page
from likewise.report.table import MOST_LINES


def audited(penalty, names=("score",), n_features=1):
    rng = np.random.default_rng(0)
    skill = rng.normal(size=(400, n_features))
    group = rng.integers(3, size=400)
    score = skill[:, 0] + 0.1 * rng.normal(size=400) - penalty * (group == 0)
    columns = {name: score if k == 0 else rng.normal(size=400) for k, name in enumerate(names)}
    groups = np.array(["Black", "White", "<b>&"])[group]
    return likewise.audit(RowDistance(skill), outputs=pl.DataFrame(columns), groups=groups)


def test_the_smoking_gun_is_on_the_first_screen():
    report = audited(0.5)
    lines = str(report).splitlines()
    told = " ".join(str(report).split())
    assert (
        "A group is treated differently from similar people of other groups: Black (129 people) get score 0.498"
        in told
    )
    assert len(lines) <= MOST_LINES
    assert report.findings[1].startswith("A group is treated differently")
    page = report._repr_html_()
    assert page.count("A group is treated differently") >= 1
    assert report.to_dict()["answer"]["alarms"] == [
        line for line in report.to_dict()["findings"] if line.startswith("A group")
    ]


def test_what_follows_from_the_first_is_named_as_such():
    """The two other groups are above a mean that the first one lowers: by about half as much."""
    report = audited(0.5)
    told = " ".join(str(report).split())
    assert [one.group for one in report.main_arm.group_effects.clear if not one.mirrored] == ["Black"]
    assert "White (" not in told
    assert "differ too, perhaps only because Black is among the others" in told


def effects_of(*effects):
    report = audited(0.0)
    found = GroupEffects(effects, 400, 0.2, 0.95)
    arms = {name: replace(arm, group_effects=found) for name, arm in report.arms.items()}
    return replace(report, arms=arms)


def unclear(p_value, low=-0.1, at_most=0.4):
    return GroupEffect("B", 30, "score", -0.063, low, 0.02, 0.063, p_value, clear=False, at_most=at_most)


def test_a_difference_below_a_tenth_is_seen_but_too_small():
    told = " ".join(str(effects_of(unclear(0.043))).split())
    assert (
        "A difference is seen, too small to count: B (30 people) get score 0.063 [-0.02, 0.1] lower" in told
    )
    assert "No group is seen" not in told


@pytest.mark.parametrize(
    ("at_most", "said"),
    [
        (0.4, "left open: up to 0.4 times the mean difference between two people, for B"),
        (0.08, "by the intervals none is as large as 0.1 times the mean difference"),
        (np.inf, "how large a difference of B may be is not bounded"),
    ],
)
def test_none_seen_is_not_none_there(at_most, said):
    told = " ".join(str(effects_of(unclear(0.4, at_most=at_most))).split())
    assert "No group is seen to get other outputs" in told
    assert said in told


def test_every_group_is_in_the_details_with_its_interval():
    told = " ".join(effects_of(unclear(0.4)).details().split())
    assert "Against similar people of other groups, B (30 people) get score 0.063 [-0.02, 0.1] lower" in told


def test_details_and_page_say_of_which_arm_the_groups_are():
    rng = np.random.default_rng(0)
    skill, group = rng.normal(size=120), np.array(["a", "b"])[rng.integers(2, size=120)]
    noise = rng.normal(size=(2, 120))
    report = likewise.audit(
        RowDistance(skill), outputs={"old": skill + noise[0], "new": skill + noise[1]}, groups=group
    )
    for told in (" ".join(report.details().split()), as_page(report)):
        for arm in report.arms:
            assert f"{arm}: Outputs of similar pairs are" in told
            assert f"{arm}: Against similar people of other groups" in told


def test_findings_say_why_groups_were_not_tested():
    rng = np.random.default_rng(0)
    people, group = rng.normal(size=(120, 12)), np.array(["a", "b"])[rng.integers(2, size=120)]
    report = likewise.audit(RowDistance(people), outputs=rng.normal(size=120), groups=group)
    assert any("was not tested" in one for one in report.findings)


def effect(group, share):
    """Return an effect of so many times the mean difference between two people, which is 1."""
    return GroupEffect(group, 20, "score", share, share - 0.1, share + 0.1, abs(share), 0.001, True)


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((-0.9, 0.3), "; in turn, g1 gets higher outputs, by no more."),
        ((-0.9, 0.3, 0.2), "; in turn, g1 and g2 get higher outputs, by no more."),
        (
            (-0.9, 0.3, 0.2, -0.2),
            "; also, g1 and g2 get higher outputs and g3 gets lower outputs, by no more.",
        ),
        ((0.9, -0.3, -0.2, -0.2, -0.1), "; in turn, 4 more groups get lower outputs, by no more."),
        ((0.9, -0.8, -0.7), "(p = 0.001)."),
    ],
)
def test_others_are_said_to_get_more_or_less(shares, said):
    """Two more groups that differ are not two more that are wronged. Of two groups, a third was too small to test."""
    effects = GroupEffects(
        tuple(effect(f"g{k}", share) for k, share in enumerate(shares)), 200, 0.1, 0.95, len(shares) == 2
    )
    report = audited(0.5)
    arm = replace(report.main_arm, group_effects=effects)
    (told,) = group_alarms(replace(report, arms={arm.name: arm}))
    if len(shares) == 2:
        said = f"{said[:-1]}; 1 group of fewer than 10 people not tested."
    assert told.endswith(said)


def test_a_frame_has_the_effects_of_groups_and_the_interval_of_the_gap():
    """In Python they were nowhere but in the text."""
    report = audited(0.5)
    arm, frame = report.main_arm, report.to_frame()
    gap = frame.row(by_predicate=pl.col("metric") == "similar_relative_gap", named=True)
    interval = arm.fairness.similar.relative_gap_interval
    assert (gap["value"], gap["low"], gap["high"]) == (
        arm.fairness.similar.relative_gap.value,
        interval.low,
        interval.high,
    )
    rows = frame.filter(kind="group-effect").select("arm", "metric", "value", "low", "high", "n_pairs").rows()
    assert rows == [
        ("outputs", f"group_difference: {one.group}, score", one.difference, one.low, one.high, None)
        for one in arm.group_effects.effects
    ]


def test_the_output_is_named():
    report = audited(0.5, ("pay", "rank"))
    assert "Black (129 people) get pay 0." in " ".join(str(report).split())


def test_nothing_is_said_where_nothing_is_wrong():
    told = " ".join(str(audited(0.0)).split())
    assert "A group is treated differently" not in told
    assert "No group is seen to get other outputs than similar people of other groups (400 people" in told


@pytest.mark.slow
def test_that_groups_were_tested_is_on_the_first_screen_of_a_fair_audit():
    report = audited(0.0)
    (told,) = report.to_dict()["answer"]["tested"]
    assert told.startswith(
        "No group is seen to get other outputs than similar people of other groups (400 people"
    )
    page = as_page(report)
    first_screen = page[page.index('<section class="verdict"') : page.index('<div class="cards">')]
    assert "No group is seen to get other outputs" in first_screen
    assert " ".join(as_text(report, most_lines=1).split()).count("No group is seen to get other outputs") == 1
    assert report.details().count("No group is seen") == 1
    assert audited(0.5).to_dict()["answer"]["tested"] == []


def test_a_check_holds_where_the_interval_of_every_group_does():
    """A limit within what is not certain cannot be told; the answer names the unit, which is not that of the outputs."""
    fair, penalised = audited(0.0), audited(0.5)
    effects = fair.main_arm.group_effects.effects
    farthest = max(effect.at_most for effect in effects)
    for limit, status in ((farthest * 1.01, "holds"), (farthest * 0.99, "cannot be told")):
        (checked,) = with_checks(fair, [f"group-difference<={limit}"]).checks
        assert (checked.status, checked.value) == (status, max(effect.share for effect in effects))
        assert checked.detail.endswith("] times the mean difference between two people")
    (checked,) = with_checks(penalised, ["group-difference<=0.1"]).checks
    assert checked.status == "broken"
    (found, *_) = penalised.main_arm.group_effects.clear
    assert found.at_most >= found.share * max(abs(found.low), abs(found.high)) / abs(found.difference) - 1e-9


def decided(**options):
    """Decisions by a skill, of which one group is refused a third at random."""
    rng = np.random.default_rng(0)
    skill, groups = rng.normal(size=600), np.where(rng.integers(2, size=600), "b", "a")
    admit = (skill + rng.normal(size=600) > 0) & ((groups == "a") | (rng.random(600) > 0.4))
    return likewise.audit(
        RowDistance(skill), outputs=pl.DataFrame({"admit": 1.0 * admit}), groups=groups, **options
    )


def test_a_difference_of_decisions_is_told_in_percentage_points():
    report = decided()
    effect = report.main_arm.group_effects.clear[0]
    assert effect.decides
    points = f"{-100 * effect.difference:.3g} [{-100 * effect.high:.3g}, {-100 * effect.low:.3g}]"
    told = f"b ({effect.n_members} people) get admit = 1 less often, by {points} percentage points, "
    assert told in " ".join(str(report).split())
    assert told in as_page(report)
    (said,) = report.to_dict()["arms"]["outputs"]["group_effects"]["effects"][:1]
    assert said["difference"] == effect.difference
    assert abs(effect.difference) < 1


def test_a_confidence_that_the_test_of_groups_does_not_have_is_said():
    told = "with a confidence of 0.999, the most that this test has"
    for report in (decided(confidence=0.9999), audited(0.0)):
        checked = with_checks(report, ["group-difference<=0.1"])
        is_lowered = report.settings["confidence"] == 0.9999
        assert (told in " ".join(str(report).split())) == is_lowered
        assert (told in checked.checks[0].detail) == is_lowered


def test_two_groups_beside_small_ones_are_both_named():
    """What one gets less the other does not get more, where others are there too small to be tested."""
    rng = np.random.default_rng(0)
    skill = rng.normal(size=280)
    groups = np.array([*["a"] * 50, *["b"] * 50, *(f"small {k // 9}" for k in range(180))])
    score = skill + 0.1 * rng.normal(size=280) - 1.0 * np.isin(groups, ["a", "b"])
    order = rng.permutation(280)
    score = pl.DataFrame({"score": score[order]})
    told = " ".join(
        str(likewise.audit(RowDistance(skill[order]), outputs=score, groups=groups[order])).split()
    )
    assert "a (50 people) get score" in told
    assert "b (50 people) get score" in told
    assert "20 groups of fewer than 10 people not tested" in told


def test_of_two_arms_it_is_said_of_which_nothing_was_seen():
    rng = np.random.default_rng(0)
    skill, groups = rng.normal(size=400), np.where(rng.integers(2, size=400), "b", "a")
    fair = skill + 0.1 * rng.normal(size=400)
    arms = {"before": fair - 0.5 * (groups == "b"), "after": fair}
    report = likewise.audit(RowDistance(skill), outputs=arms, groups=groups)
    told = " ".join(str(report).split())
    labels = [arm.label for arm in report.arms.values()]
    assert f"{labels[0]}: A group is treated differently" in told
    assert f"{labels[1]}: No group is seen to get other outputs" in told


def test_many_groups_two_arms_and_checks_are_one_screen():
    rng = np.random.default_rng(0)
    skill, group = rng.normal(size=600), rng.integers(6, size=600)
    score = skill + 0.1 * rng.normal(size=600)
    arms = {"before": score - 0.8 * group, "after": score - 0.5 * group}
    groups = np.array([f"region {k}" for k in range(6)])[group]
    report = likewise.audit(RowDistance(skill), outputs=arms, groups=groups, lipschitz=2)
    checked = with_checks(report, ["gap<=2", "group-difference<=0.2", "spread<=0.1:warning", "violations>=0"])
    lines = str(checked).splitlines()
    assert len(lines) <= MOST_LINES
    told = " ".join(str(checked).split())
    assert "4 checks: 2 kept, 2 broken." in told
    assert "More (--details, print(report.details())): checks" in told
    assert "group-difference<=0.2: broken" in checked.details()


def test_why_it_was_not_tested():
    told = " ".join(str(audited(0.5, n_features=30)).split())
    assert "A group is treated differently" not in told
    assert "was not tested: too few people are alike: the farthest of a person's 5 nearest" in told


def of_blanks(share):
    """Three marks that say the same; of a share of the people only one is known, so that two people may have none in common."""
    rng = np.random.default_rng(0)
    skill, group = rng.normal(size=100), rng.integers(2, size=100)
    marks = np.column_stack([skill] * 3)
    few = np.arange(int(100 * share))
    marks[few, few % 3] = marks[few, (few + 1) % 3] = np.nan
    return likewise.audit(
        likewise.fairness.GowerDistance(pl.DataFrame(marks)), outputs=skill - 2.0 * group, groups=group
    )


def test_a_penalty_is_said_though_two_people_have_nothing_in_common():
    told = " ".join(str(of_blanks(0.02)).split())
    assert "A group is treated differently from similar people of other groups: 1 (" in told
    assert "1 person who lacks column_0, column_1 is left out of this test alone" in told


def test_which_blanks_keep_people_out_of_the_test_is_said():
    """Ten blanks in one mark, fewer than in the other: no pair of both has two marks in common."""
    rng = np.random.default_rng(0)
    skill, group = rng.normal(size=100), rng.integers(2, size=100)
    marks = pl.DataFrame({"test": skill, "grade": skill, "school": skill}).with_row_index("k")
    marks = marks.with_columns(
        test=pl.when(pl.col("k") >= 20).then("test"), grade=pl.when(pl.col("k") < 90).then("grade")
    ).drop("k")
    d = likewise.fairness.GowerDistance(marks, least_shared=2)
    report = likewise.audit(d, outputs=skill - 2.0 * group, groups=group)
    assert report.main_arm.group_effects.lacking == ("grade",)
    assert "; 10 people who lack grade are left out of this test alone." in " ".join(str(report).split())
    assert d.taken(np.arange(80, 100)).lacked_by(np.arange(10, 20)) == ("grade",)
    assert d.lacked_by(np.array([0, 95])) == d.lacked_by(np.array([], dtype=int)) == ()
    assert RowDistance(skill).lacked_by(np.array([0])) == ()
    seen = SubsetDistance(d, np.arange(80, 100))
    assert seen.lacked_by(np.arange(10, 20)) == ("grade",)


def test_groups_that_are_too_small_to_test_are_counted():
    people = np.arange(63.0)
    report = likewise.audit(RowDistance(people), outputs=people, groups=["a", "b"] * 30 + ["c"] * 3)
    assert "1 group of fewer than 10 people not tested" in " ".join(str(report).split())


def test_why_it_was_not_tested_stands_on_the_screen_in_the_details_and_in_a_check():
    """It once stood on the page alone."""
    report = of_blanks(1)
    why = "was not tested: only 34 of 100 people are left once those with most undefined distances are out"
    assert why in " ".join(str(report).split())
    assert why in " ".join(report.details().split())
    (checked,) = with_checks(report, ["group-difference<=0.1"]).checks
    assert str(checked).startswith(
        "group-difference<=0.1: not measured (error), only 34 of 100 people are left"
    )


def test_a_distance_between_outputs_does_not_say_who_gets_more():
    people = RowDistance(np.arange(60.0))
    report = likewise.audit(
        people, outputs=RowDistance(np.arange(60.0)).taken(np.arange(60)), groups=["a", "b"] * 30
    )
    assert report.arms["outputs"].group_effects is not None
    other = likewise.audit(people, outputs=people, groups=["a", "b"] * 30)
    assert other.arms["outputs"].group_effects is not None


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_saved_and_loaded(tmp_path, penalty):
    report = audited(penalty)
    report.save(tmp_path)
    assert str(likewise.load(tmp_path)) == str(report)
