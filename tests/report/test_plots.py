"""Figures show what was measured, go where they are told, and have the same bytes every time."""

import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from likewise.report.plots import (
    FIGURES,
    draw,
    histogram_caption,
    inline_svg,
    spectrum_caption,
)


def test_the_histogram_holds_the_counts_of_both_arms(make_report):
    report = make_report()
    axes = report.plot_histogram()
    for patch, arm in zip(axes.patches, report.arms.values(), strict=True):
        heights, edges, _ = patch.get_data()
        np.testing.assert_allclose(heights * arm.fairness.n_pairs, arm.fairness.histogram.counts)
        np.testing.assert_array_equal(edges, arm.fairness.histogram.edges)
    assert axes.get_xlabel() == "output distance / reference distance"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "without pre-processing",
        "with pre-processing",
    ]


def test_arms_keep_their_colour_whoever_is_shown(make_report):
    both = make_report().plot_histogram().patches
    alone = make_report(arms=("with",)).plot_histogram().patches
    assert both[1].get_facecolor() == alone[0].get_facecolor()
    assert both[0].get_facecolor() != both[1].get_facecolor()


def test_the_spectrum_parts_kept_from_cut_at_the_threshold(make_report):
    axes = make_report().plot_spectrum()
    kept, cut, threshold = axes.lines
    assert kept.get_xydata().tolist() == [[1, 1.5], [2, 1.0]]
    assert cut.get_xydata().tolist() == [[3, 0.25]]
    assert set(threshold.get_ydata()) == {0.5}


def test_the_curve_holds_delta_over_epsilon_of_both_arms(make_report):
    report = make_report()
    for line, arm in zip(report.plot_epsilon_delta().lines, report.arms.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), arm.fairness.epsilon_delta.epsilon)
        np.testing.assert_array_equal(line.get_ydata(), arm.fairness.epsilon_delta.delta)


def test_figures_are_drawn_on_the_axes_given(make_report):
    axes = Figure().subplots()
    assert make_report().plot_histogram(ax=axes) is axes
    assert make_report().plot_epsilon_delta(ax=axes) is axes
    assert make_report().plot_spectrum(ax=axes) is axes


def test_nothing_estimated_is_said(make_report):
    report = replace(make_report(), estimate=None)
    assert report.plot_spectrum().texts[0].get_text() == "nothing was estimated"
    assert spectrum_caption(report) == "Nothing was estimated."


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_bytes_are_the_same_whatever_the_users_style(make_report, name):
    first = draw(name, make_report())
    assert set(first) == {"svg", "png"}
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "svg.hashsalt": None}):
        assert draw(name, make_report()) == first


@pytest.mark.parametrize("name", FIGURES)
def test_drawing_leaves_the_users_style_alone(make_report, name):
    with mpl.rc_context({"font.size": 31.0}):
        draw(name, make_report(), ("svg",))
        assert mpl.rcParams["font.size"] == 31.0


def test_no_window_system_is_touched(make_report):
    backend = mpl.get_backend() if "matplotlib.pyplot" in sys.modules else None
    draw("ratios", make_report(), ("png",))
    assert backend is None or mpl.get_backend() == backend
    assert backend is not None or "matplotlib.pyplot" not in sys.modules


def test_what_is_drawn_in_two_formats_is_drawn_as_in_one(make_report):
    assert draw("ratios", make_report())["svg"] == draw("ratios", make_report(), ("svg",))["svg"]


def test_inline_drawings_are_xml_with_ids_of_their_own_and_the_ink_of_the_page(make_report):
    drawings = [inline_svg(name, draw(name, make_report(), ("svg",))["svg"]) for name in FIGURES]
    trees = [ET.fromstring(drawing) for drawing in drawings]
    ids = [{element.get("id") for element in tree.iter()} - {None} for tree in trees]
    assert len(set.union(*ids)) == sum(map(len, ids))
    for drawing, known in zip(drawings, ids, strict=True):
        assert "currentColor" in drawing
        assert all(part.split(")")[0] in known for part in drawing.split("url(#")[1:])


def test_captions_count_what_the_axes_leave_out(make_report):
    assert "1 of 6 pairs (without), 1 of 6 pairs (with)" in histogram_caption(make_report(duplicate=True))
    assert "3 above the threshold, those below were not computed" in spectrum_caption(make_report())


def test_a_short_spectrum_has_a_mark_for_each_value(make_report):
    report = make_report()
    axes = replace(
        report, estimate=replace(report.estimate, singular_values=np.array([1.5, 0.25]))
    ).plot_spectrum()
    assert [line.get_marker() for line in axes.lines[:2]] == ["o", "o"]
    assert axes.get_xscale() == "linear"
    assert axes.get_xticks().tolist() == [1, 2]
    low, high = axes.get_xlim()
    assert low < 1 < 2 < high


def test_a_long_spectrum_is_on_a_logarithmic_axis(make_report):
    report = make_report()
    values = np.linspace(3, 0.1, 40)
    axes = replace(report, estimate=replace(report.estimate, singular_values=values)).plot_spectrum()
    assert axes.get_xscale() == "log"


def test_a_component_of_size_0_is_not_called_kept(make_report):
    report = make_report()
    values = np.array([1.5, 0.25, 0.0])
    without_tau = replace(report.estimate, singular_values=values, threshold=None, rank=2)
    axes = replace(report, estimate=without_tau).plot_spectrum()
    assert [line.get_xydata().tolist() for line in axes.lines] == [[[1, 1.5], [2, 0.25]]]
    assert axes.get_legend().get_texts()[0].get_text() == "kept (2)"


def test_a_logarithmic_axis_is_labelled_with_numbers_not_formulas(make_report):
    drawing = draw("epsilon_delta", make_report(), ("svg",))["svg"].decode()
    assert "mathdefault" not in drawing
    texts = [element.text for element in ET.fromstring(drawing).iter() if element.tag.endswith("text")]
    numbers = [text for text in texts if text and text.replace(".", "").isdecimal()]
    assert len(numbers) > 2


def test_a_long_spectrum_is_drawn_with_few_marks_and_all_are_counted(make_report):
    report = make_report()
    values = np.geomspace(100, 1e-3, 20_000)
    axes = replace(report, estimate=replace(report.estimate, singular_values=values)).plot_spectrum()
    assert sum(len(line.get_xydata()) for line in axes.lines[:2]) <= 500
    assert axes.get_legend().get_texts()[0].get_text() == f"kept ({(values > 0.5).sum():,})"
