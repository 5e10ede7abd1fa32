"""The table names every figure, keeps proved and measured apart, and stays within 80 plain columns."""

from dataclasses import replace

import numpy as np
import pytest

from likewise import audit
from likewise.fairness import LipschitzCertificates, RowDistance, SampledValue, Unavailable
from likewise.report import as_text
from likewise.report.comparison import comparison
from likewise.report.numbers import number, percent_change, value_text


def section(text, title):
    """Return the lines below a heading that stands at the margin, up to the next one."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(title))
    rest = lines[start + 1 :]
    stop = next((k for k, line in enumerate(rest) if line and not line.startswith(" ")), len(rest))
    return "\n".join(rest[:stop])


def test_it_is_plain_text_of_80_columns(make_report):
    text = str(make_report())
    assert max(map(len, text.splitlines())) <= 80
    assert text.isprintable() or set(text) - {"\n"} == {c for c in text if c.isprintable()}


@pytest.mark.parametrize("width", [60, 120])
def test_it_fits_other_widths(make_report, width):
    assert max(map(len, as_text(make_report(), width).splitlines())) <= width


def test_every_figure_of_both_arms_is_in_it(make_report):
    report = make_report()
    measured = section(str(report), "Measured")
    for arm in report.arms.values():
        for figure in arm.fairness.figures().values():
            assert value_text(figure) in measured
        for error in (arm.error.rmse, arm.error.mae, arm.error.mse, arm.error.mse_scaled):
            assert f"{error:.4g}" in measured


def test_figures_stand_beside_each_other_with_the_change(make_report):
    row = next(line for line in str(make_report()).splitlines() if line.strip().startswith("RMSE"))
    assert row.split() == ["RMSE", "1", "0.8", "-20%"]


def test_proved_is_apart_from_measured(make_report):
    report = make_report()
    text = str(report)
    proved, measured = section(text, "Proved"), section(text, "Measured")
    for certificate in report.certificates:
        assert certificate.name.split(",")[0] in proved
        assert "Corollary" not in measured
    assert "K*" in proved
    assert "l1 to l2" in proved
    assert "every pair of rows, seen in the fit or not" in proved
    assert "strong incoherence" in proved


def test_data_and_estimate_are_described(make_report):
    text = " ".join(str(make_report()).split())
    assert (
        "4 individuals x 3 features, 9 observed (p_hat, the share of entries that is observed, = 0.75)"
        in text
    )
    assert "tau, the threshold for singular values, = 0.5 (given); 3 kept" in text
    assert "12.5% of the estimate clipped" in text
    assert "n = 3 against r m / p_hat = 11" in text


def test_a_valid_comparison_is_called_one(make_report):
    text = " ".join(str(make_report()).split())
    assert "Both arms are held against this one distance" in text
    assert "NOT A VALID" not in text


def test_an_invalid_comparison_is_called_one_and_shows_no_change(make_report):
    report = make_report(valid=False)
    text = str(report)
    assert "NOT A VALID BEFORE/AFTER COMPARISON" in text
    assert "change" not in section(text, "Measured")
    fairness = [row for group in comparison(report)[1:] for row in group.rows]
    assert {row.change for row in fairness} == {""}


def test_infinite_ratios_are_counted_and_named(make_report):
    text = str(make_report(duplicate=True))
    row = next(line for line in text.splitlines() if line.strip().startswith("infinite ratios"))
    assert row.split() == ["infinite", "ratios", "1", "1"]
    assert "ratio infinite (D 0.5, d 0)" in text
    assert "their ratio is infinite" in " ".join(section(text, "Notes").split())


def test_similar_pairs_of_finite_ratio_have_a_mean_of_their_own_where_the_other_is_infinite(make_report):
    label = "mean ratio D/d, finite pairs"
    arms = make_report(duplicate=True).arms.values()
    row = next(
        line for line in str(make_report(duplicate=True)).splitlines() if line.strip().startswith(label)
    )
    assert row.split()[-3:-1] == [value_text(arm.fairness.similar.finite_mean_ratio) for arm in arms]
    assert label not in str(make_report())


def row_of(report, label):
    return next(row for group in comparison(report) for row in group.rows if row.label == label)


def test_the_scale_free_ratio_that_the_headline_names_is_a_row(make_report):
    """Of 4 people two are at distance 0; among the 3 nearest pairs those of finite ratio have D/d 1/1 and 2/1."""
    outputs = np.array([0.0, 1.0, 2.0, 2.0])
    report = audit(RowDistance(np.array([0.0, 0.0, 1.0, 4.0])), outputs=outputs, nearest_share=0.5)
    mean_ratio, d, output = (2 / 1 + 1 / 1) / 2, (0 + 1 + 1 + 4 + 4 + 3) / 6, (1 + 2 + 1 + 2 + 1 + 0) / 6
    label = "scale-free ratio, finite pairs"
    assert row_of(report, label).values == (number(mean_ratio * d / output),)
    assert label in str(report)
    assert label not in str(make_report())
    both = make_report(duplicate=True)
    before, after = map(float, row_of(both, label).values)
    assert f"goes from {before:.3g} to {after:.3g}" in both.findings[0]
    assert row_of(both, label).change == percent_change(before, after)


def test_without_a_finite_pair_that_row_is_undefined_and_of_drawn_pairs_it_is_about_a_number():
    label = "scale-free ratio, finite pairs"
    equal = audit(RowDistance(np.array([0.0, 0.0, 5.0])), outputs=[0.0, 1.0, 3.0], nearest_share=0.2)
    assert row_of(equal, label).values == ("undefined",)
    people, outputs = np.repeat(np.arange(20.0), 2), np.arange(40.0)
    drawn = audit(RowDistance(people), outputs=outputs, pairs=700, nearest_share=0.5)
    (text,) = row_of(drawn, label).values
    assert f"outputs differ {float(text.removeprefix('about ')):.3g} times" in drawn.findings[0]


def test_drawn_pairs_of_finite_ratio_too_have_a_mean_of_their_own():
    people, outputs = np.repeat(np.arange(20.0), 2), np.arange(40.0)
    report = audit(RowDistance(people), outputs=outputs, pairs=700, nearest_share=0.5)
    finite = report.arms["outputs"].fairness.similar.finite_mean_ratio
    assert 0 < finite.n_pairs < report.arms["outputs"].fairness.similar.n_pairs
    label = "mean ratio D/d, finite pairs"
    row = next(line for line in str(report).splitlines() if line.strip().startswith(label))
    assert row.removeprefix(f"   {label}").strip() == value_text(finite)
    assert "outputs differ" in report.findings[0]


def test_outputs_are_described_once_where_only_rounding_differs(make_report):
    report = make_report()
    assert len({str(arm.fairness.output) for arm in report.arms.values()}) == 2
    largest = 64 * np.finfo(float).eps * 1.0  # WITHOUT holds the row (0, 1)
    assert " ".join(str(report).split()).count("l2 between rows") == 1
    assert f"up to {largest:.2g}, as rounding leaves" in " ".join(str(report).split())


def test_constants_that_lack_one_for_the_same_reason_are_named_in_one_sentence(make_report):
    missing = LipschitzCertificates(
        *(Unavailable(name, "rows are regressions") for name in "abcdefg"), incoherence=None
    )
    report = replace(make_report(), certificates=missing)
    proved = " ".join(section(str(report), "Proved").split())
    assert "No constant is proved for: a; b; c; d; e; f; g" in proved
    assert proved.count("rows are regressions") == 1


def test_a_note_of_one_arm_says_which(make_report):
    notes = " ".join(section(str(make_report(constant=True)), "Notes").split())
    assert "with pre-processing: outputs are nearly constant" in notes
    assert "without pre-processing: outputs" not in notes


def test_one_arm_alone(make_report):
    text = str(make_report(arms=("with",)))
    row = next(line for line in text.splitlines() if line.strip().startswith("RMSE"))
    assert row.split() == ["RMSE", "0.8"]


def test_ids_and_names_are_shown_as_they_are_and_cannot_steer_the_terminal(make_report):
    text = str(make_report())
    assert "[b]ratings.csv" in text
    assert "[red]bob" in text
    assert "\x1b" not in text
    assert r"eve\x1b[31m" in text


def test_a_sampled_figure_shows_its_interval_and_an_exact_one_none(make_report):
    report = make_report(arms=("with",))
    arm = report.arms["with"]
    sampled = SampledValue(0.5, 0.4, 0.625, 0.95, "all pairs of this data set", "Hoeffding", 1000)
    drawn = replace(arm, fairness=replace(arm.fairness, mean_ratio=sampled))
    rows = [line.split() for line in str(replace(report, arms={"with": drawn})).splitlines()]
    assert ["mean", "ratio", "IF", "0.5", "[0.4,", "0.625]"] in rows
    assert ["mean", "ratio", "over", "pairs", value_text(arm.fairness.pair_mean_ratio)] in rows


def test_distances_and_ratios_are_explained_before_the_figures(make_report):
    report = make_report()
    measured = " ".join(section(str(report), "Measured").split())
    assert "output distance D: l2 between rows" in measured
    assert "as rounding leaves, counts as 0" in measured
    assert measured.index("A ratio is D/d of two individuals") < measured.index("mean ratio IF")
