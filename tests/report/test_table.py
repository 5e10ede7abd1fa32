"""The answer in 25 lines; the details name every metric and keep proved and measured apart; both stay within 80 plain columns."""

from dataclasses import replace

import numpy as np
import pytest

from likewise import audit
from likewise.fairness import LipschitzCertificates, RowDistance, SampledValue, Unavailable
from likewise.observations.column_roles import ColumnRoles
from likewise.report import as_text
from likewise.report.answer import Answer
from likewise.report.numbers import value_text
from likewise.report.rows import comparison
from likewise.report.table import MOST_LINES


def section(text, title):
    """Return the lines below a heading that stands at the margin, up to the next one."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(title))
    rest = lines[start + 1 :]
    stop = next((k for k, line in enumerate(rest) if line and not line.startswith(" ")), len(rest))
    return "\n".join(rest[:stop])


def test_both_are_plain_text_of_80_columns(make_report):
    for text in (str(make_report()), make_report().details()):
        assert max(map(len, text.splitlines())) <= 80
        assert set(text) - {"\n"} == {c for c in text if c.isprintable()}


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("details", [False, True])
def test_it_fits_other_widths(make_report, width, details):
    assert max(map(len, as_text(make_report(), width, details=details).splitlines())) <= width


@pytest.mark.parametrize("arms", [("with",), ("without", "with")])
@pytest.mark.parametrize("duplicate", [False, True])
def test_the_answer_is_short_and_begins_with_a_sentence(make_report, arms, duplicate):
    report = make_report(arms=arms, duplicate=duplicate)
    lines = str(report).splitlines()
    assert len(lines) <= MOST_LINES == 25
    title = " ".join(" ".join(lines).split())
    sizes = "4 individuals, 3 features, 9 observations"
    assert title.startswith(f"Individual fairness of knn on [b]ratings.csv: {sizes} ")
    assert (
        " ".join(str(report).split())
        .split("observations ", 1)[1]
        .startswith(" ".join(report.findings[0].split()))
    )


def test_the_answer_can_be_shorter(make_report):
    """Pairs are dropped, from the end, and it says so; which columns are what goes into one line; the sentence and the rows stay."""
    report = make_report()
    whole, short = str(report).splitlines(), as_text(report, most_lines=1).splitlines()
    assert len(short) < len(whole)
    assert [line for line in short if line not in whole] == [
        "Read: ids from <user>; features from item; values from rating\\x1b[31m.",
        "More (--details, print(report.details())): columns, worst pairs.",
    ]
    assert short[0] == whole[0]
    assert any(line.startswith("gap of") for line in short)


@pytest.mark.parametrize("most_lines", [1, 12])
def test_outputs_come_first_and_are_never_cut_off(make_report, most_lines):
    """A year beside a chance was an output, and stood behind the dots."""
    long = tuple(f"something with a long name {k}" for k in range(3))
    columns = (
        ColumnRoles("people.csv", ("name",), (*long, "school"), categories=("school",)),
        ColumnRoles("outputs.csv", ("name",), outputs=("chance", "grade", "wage", "year")),
    )
    report = make_report()
    report = replace(report, data=replace(report.data, columns=columns))
    lines = as_text(report, most_lines=most_lines).splitlines()
    read = next(k for k, line in enumerate(lines) if line.startswith("Read: "))
    assert lines[read].startswith("Read: outputs from chance, grade, wage, year; ids from name; numbers from")
    assert lines[read + 1].endswith(" ...")
    assert len(lines) <= MOST_LINES
    assert report.to_dict()["data"]["columns"][0]["categories"] == ["school"]


@pytest.mark.parametrize("most_lines", range(8, 40, 2))
def test_nothing_is_left_out_in_silence(most_lines):
    """Three kinds of lines compete for room; what is not all there is named, and only that."""
    rng = np.random.default_rng(0)
    people = RowDistance(rng.standard_normal((80, 2)))
    report = audit(people, outputs=rng.standard_normal(80), groups=rng.integers(0, 2, 80))
    answer = Answer.of(report)
    text = as_text(report, most_lines=most_lines)
    told = " ".join(text.split())
    named = told.split("More (--details, print(report.details())): ")[1:]
    missing = [
        name
        for name, lines in (("notes", answer.remarks), ("groups", answer.groups))
        if any(line not in told for line in lines)
    ]
    if text.count("\n- ") < 3:
        missing.append("worst pairs")
    assert named == ([f"{', '.join(missing)}."] if missing else [])


def test_the_answer_stays_short_with_groups_limits_and_many_columns():
    """Three hundred people with names, eight groups, a limit for two arms."""
    rng = np.random.default_rng(0)
    people = RowDistance(
        rng.standard_normal((300, 4)), row_ids=[f"person with a long name {k}" for k in range(300)]
    )
    outputs = {"without": rng.standard_normal((300, 9)), "with": rng.standard_normal((300, 9))}
    report = audit(people, outputs=outputs, groups=rng.integers(0, 8, 300), lipschitz=1.0)
    assert len(str(report).splitlines()) <= MOST_LINES
    assert "violated" in str(report)
    assert "Whether a group is treated differently" in str(report)


def test_three_rows_stand_in_the_answer(make_report):
    rows = [line.split("  ")[0] for line in str(make_report()).splitlines()]
    assert [row for row in rows if row in ("gap of similar pairs", "error (RMSE)", "largest ratio D/d")] == [
        "gap of similar pairs",
        "error (RMSE)",
        "largest ratio D/d",
    ]


def test_an_infinite_ratio_never_stands_alone(make_report):
    report = make_report(duplicate=True)
    row = next(line for line in str(report).splitlines() if line.startswith("d = 0, outputs differ"))
    assert row.split() == [
        "d",
        "=",
        "0,",
        "outputs",
        "differ",
        "1",
        "of",
        "1",
        "pair",
        "1",
        "of",
        "1",
        "pair",
        "0%",
    ]
    finite = [f"{arm.fairness.finite_mean_ratio.value:.4g}" for arm in report.arms.values()]
    row = next(line for line in report.details().splitlines() if "mean ratio IF, finite pairs" in line)
    assert all(text in row for text in finite)


def test_columns_are_named(make_report):
    for text in (str(make_report()), make_report().details()):
        told = " ".join(text.split())
        assert (
            "Read ratings.csv: individuals from <user>, features from item, values from 'rating\\x1b[31m'; left out: time."
            in told
        )


def test_the_details_say_where_it_all_comes_from(make_report):
    told = " ".join(make_report().details().split())
    assert f"observations: ratings.csv, 99 bytes, SHA-256 {'ab' * 32}" in told.replace("- ", "")
    assert "likewise 0.1.0, Python 3.12.1" in told
    assert "to repeat: likewise audit ratings.csv" in told
    assert "busier machine" not in told


def test_a_time_budget_need_not_choose_the_same_again(make_report):
    report = make_report()
    command = "likewise audit ratings.csv --set time_budget=5"
    repeated = replace(report, provenance=replace(report.provenance, command=command))
    told = " ".join(repeated.details().split())
    assert f"to repeat: {command} (a time budget lets a slower or busier machine try less" in told


def test_every_figure_of_both_arms_is_in_it(make_report):
    report = make_report()
    measured = section(report.details(), "Measured")
    for arm in report.arms.values():
        for figure in arm.fairness.metrics().values():
            assert value_text(figure) in measured
        for error in (arm.error.rmse, arm.error.mae, arm.error.mse, arm.error.mse_scaled):
            assert f"{error:.4g}" in measured


def test_figures_stand_beside_each_other_with_the_change(make_report):
    row = next(line for line in make_report().details().splitlines() if line.strip().startswith("RMSE"))
    assert row.split() == ["RMSE", "1", "0.8", "-20%"]


def test_proved_is_apart_from_measured(make_report):
    report = make_report()
    text = report.details()
    proved, measured = section(text, "Proved"), section(text, "Measured")
    for certificate in report.certificates:
        assert certificate.name.split(",")[0] in proved
        assert "Corollary" not in measured
    assert "K*" in proved
    assert "l1 to l2" in proved
    assert "every pair of rows, seen in the fit or not" in proved
    assert "strong incoherence" in proved


def test_data_and_estimate_are_described(make_report):
    text = " ".join(make_report().details().split())
    assert (
        "4 individuals x 3 features, 9 observed (p_hat, the share of entries that is observed, = 0.75)"
        in text
    )
    assert "tau, the threshold for singular values, = 0.5 (given); 3 kept" in text
    assert "12.5% of the estimate clipped" in text
    assert "n = 3 against r m / p_hat = 11" in text


def test_a_valid_comparison_is_called_one(make_report):
    text = " ".join(make_report().details().split())
    assert "Both arms are measured with this one distance" in text
    assert "NOT A VALID" not in text


def test_an_invalid_comparison_is_called_one_and_shows_no_change(make_report):
    report = make_report(valid=False)
    text = report.details()
    assert "NOT A VALID BEFORE/AFTER COMPARISON" in text
    assert "change" not in section(text, "Measured")
    fairness = [row for group in comparison(report)[1:] for row in group.rows]
    assert {row.change for row in fairness} == {""}


def test_infinite_ratios_are_counted_and_named(make_report):
    text = make_report(duplicate=True).details()
    row = next(line for line in text.splitlines() if line.strip().startswith("at distance zero, D > 0"))
    assert row.split()[-2:] == ["1", "1"]
    assert "not told apart by d (D 0.5, d 0)" in " ".join(text.split())
    assert "their ratio is infinite" in " ".join(section(text, "Notes").split())


def test_similar_pairs_of_finite_ratio_have_a_mean_of_their_own_where_the_other_is_infinite(make_report):
    label = "mean ratio D/d, finite pairs"
    arms = make_report(duplicate=True).arms.values()
    row = next(
        line for line in make_report(duplicate=True).details().splitlines() if line.strip().startswith(label)
    )
    assert row.split()[-3:-1] == [value_text(arm.fairness.similar.finite_mean_ratio) for arm in arms]
    assert label not in make_report().details()


def test_drawn_pairs_of_finite_ratio_too_have_a_mean_of_their_own():
    people, outputs = np.repeat(np.arange(20.0), 2), np.arange(40.0)
    report = audit(RowDistance(people), outputs=outputs, pairs=700, nearest_share=0.5)
    finite = report.arms["outputs"].fairness.similar.finite_mean_ratio
    assert 0 < finite.n_pairs < report.arms["outputs"].fairness.similar.n_pairs
    label = "mean ratio D/d, finite pairs"
    row = next(line for line in report.details().splitlines() if line.strip().startswith(label))
    assert row.removeprefix(f"   {label}").strip() == value_text(finite)


def test_outputs_are_described_once_where_only_rounding_differs(make_report):
    report = make_report()
    assert len({str(arm.fairness.output) for arm in report.arms.values()}) == 2
    largest = 64 * np.finfo(float).eps * 1.0  # WITHOUT holds the row (0, 1)
    assert " ".join(report.details().split()).count("l2 between rows") == 1
    assert f"up to {largest:.2g}, as rounding leaves" in " ".join(report.details().split())


def test_constants_that_lack_one_for_the_same_reason_are_named_in_one_sentence(make_report):
    missing = LipschitzCertificates(
        *(Unavailable(name, "rows are regressions") for name in "abcdefg"), incoherence=None
    )
    report = replace(make_report(), certificates=missing)
    proved = " ".join(section(report.details(), "Proved").split())
    assert "No constant is proved for: a; b; c; d; e; f; g" in proved
    assert proved.count("rows are regressions") == 1


def test_a_note_of_one_arm_says_which(make_report):
    notes = " ".join(section(make_report(constant=True).details(), "Notes").split())
    assert "with pre-processing: outputs are nearly constant" in notes
    assert "without pre-processing: outputs" not in notes


def test_one_arm_alone(make_report):
    text = make_report(arms=("with",)).details()
    row = next(line for line in text.splitlines() if line.strip().startswith("RMSE"))
    assert row.split() == ["RMSE", "0.8"]


def test_ids_and_names_are_shown_as_they_are_and_cannot_steer_the_terminal(make_report):
    text = str(make_report()) + make_report().details()
    assert "[b]ratings.csv" in text
    assert "[red]bob" in text
    assert "\x1b" not in text
    assert r"eve\x1b[31m" in text


def test_a_sampled_figure_shows_its_interval_and_an_exact_one_none(make_report):
    report = make_report(arms=("with",))
    arm = report.arms["with"]
    sampled = SampledValue(0.5, 0.4, 0.625, 0.95, "all pairs of this data set", "Hoeffding", 1000)
    drawn = replace(arm, fairness=replace(arm.fairness, mean_ratio=sampled))
    rows = [line.split() for line in replace(report, arms={"with": drawn}).details().splitlines()]
    assert ["mean", "ratio", "IF", "0.5", "[0.4,", "0.625]"] in rows
    assert ["mean", "ratio", "over", "pairs", value_text(arm.fairness.pair_mean_ratio)] in rows


def test_distances_and_ratios_are_explained_before_the_figures(make_report):
    report = make_report()
    measured = " ".join(section(report.details(), "Measured").split())
    assert "output distance D: l2 between rows" in measured
    assert "as rounding leaves, counts as 0" in measured
    assert measured.index("A ratio is D/d of two individuals") < measured.index("mean ratio IF")


def test_a_row_that_is_told_in_a_line_ends_with_its_last_number(make_report):
    """Narrow, the rows stand one below the other; a change that is not said is left out."""
    report = make_report(duplicate=True)
    said = " ".join(as_text(report, 50).split())
    assert report.comparable
    assert "d = 0, outputs differ: without 1 of 1 pair" in said
    assert ", change " in said
    assert ", change Treated" not in said
    assert not [line for line in as_text(report, 50).splitlines() if line.rstrip().endswith("change")]
