"""What a run leaves behind: the same numbers in every format, with seeds, versions, settings and named references."""

import csv
import html
import json
import re

import pytest

from likewise.report.plots import to_bytes
from likewise.reproduction import EXPERIMENTS, PublishedCell, Settings, Summary
from likewise.reproduction.agreement import CONVENTIONS, Comparison, agreement_table, compare_cells
from likewise.reproduction.figures import all_figures
from likewise.reproduction.formats import COLUMNS, as_latex, as_markdown, escaped
from likewise.reproduction.reproduction import Reproduction, as_page
from likewise.reproduction.results import ON_INPUT, ON_OBSERVED
from likewise.reproduction.tables import cell_table
from likewise.reproduction.units import units_of

ODD = r"<b>a_&b|c$\foo$"

TEXTS = ("tables.txt", "tables.md", "tables.tex", "cells.csv", "results.json", "reproduction.html")


def words(text):
    return " ".join(text.split())


def test_every_output_says_how_it_came_about_and_against_what(saved):
    _, folder = saved
    for name in TEXTS:
        text = words(html.unescape((folder / name).read_text(encoding="utf-8"))).replace(r"\_", "_")
        for part in ("SeedSequence(random", "standin:shrunk", "likewise 0.", "numpy ", "simulations"):
            assert part in text, (name, part)
        if name != "results.json":
            assert words(ON_OBSERVED) in text, name
            assert words(ON_INPUT) in text, name
    for drawing in ("ratios-tiny", "cells-tiny", "rate"):
        assert (folder / f"{drawing}.svg").read_text().startswith("<?xml")
        assert (folder / f"{drawing}.png").read_bytes().startswith(b"\x89PNG")


def test_the_csv_has_the_means_of_all_simulations(saved):
    _, folder = saved
    lines = [line for line in (folder / "cells.csv").read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    assert tuple(rows[0]) == COLUMNS
    document = json.loads((folder / "results.json").read_text())
    row = next(
        row for row in rows if (row["arm"], row["metric"], row["level"]) == ("f-released", "mse", "0.6")
    )
    values = [
        record["arms"]["f-released"]["metrics"]["mse"]
        for record in document["simulations"]
        if record["experiment"] == "tiny" and record["level"] == 0.6
    ]
    assert len(values) == 2
    assert float(row["mean"]) == pytest.approx(sum(values) / 2)
    assert float(row["two_sd"]) == pytest.approx(2 * abs(values[0] - values[1]) / 2**0.5)


def test_the_same_run_leaves_the_same_bytes(saved):
    found, folder = saved
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    found.save(folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()} == before


def test_names_are_escaped(run_tiny):
    found = run_tiny(arms=f"h,{ODD}=1.5", simulations=1)
    drawn = {drawing.name: b"<svg></svg>" for drawing in all_figures(found)}
    assert "<b>" not in as_page(found, drawn).split("<body>")[1]
    assert r"a\_\&b$|$c" in as_latex(found)
    assert r"a_&b\|c" in as_markdown(found)


def test_an_odd_name_is_drawn_as_it_is(run_tiny):
    found = run_tiny(arms=f"h,{ODD}=1.5", simulations=1)
    svg = to_bytes(all_figures(found)[0].paint, "x", "svg").decode()
    assert "&lt;b&gt;a_&amp;b|c$" in svg


def test_every_line_of_a_markdown_table_is_as_wide_as_its_heading(saved):
    found, _ = saved
    tables = re.findall(r"(?:^\|.*\|\n)+", as_markdown(found), re.MULTILINE)
    assert tables
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1


def test_latex_is_balanced(saved):
    text = (saved[1] / "tables.tex").read_text()
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") > 0
    body = re.sub(r"^%.*$", "", text, flags=re.MULTILINE)
    assert len(re.findall(r"(?<!\\)\{", body)) == len(re.findall(r"(?<!\\)\}", body))
    assert not re.search(r"(?<!\\)[_#%]", re.sub(r"\\label\{[^}]*\}", "", body))


def test_escaping():
    assert escaped(r"50% of a_b & {c} \ ^ ~") == (
        r"50\% of a\_b \& \{c\} \textbackslash{} \textasciicircum{} \textasciitilde{}"
    )


@pytest.mark.parametrize(
    ("published", "bar", "ours", "met"),
    [
        (0.20, 0.001, 0.2199, True),
        (0.20, 0.001, 0.2201, False),
        (0.03, 0.001, 0.0349, True),
        (0.03, 0.001, 0.0351, False),
        (0.03, 0.020, 0.0499, True),
        (0.84, 0.001, 0.75, False),
        (0.84, 0.001, float("inf"), False),
        (0.84, 0.001, float("nan"), False),
    ],
)
def test_a_cell_is_met_within_bar_tenth_or_half_a_digit(published, bar, ours, met):
    cell = Comparison(EXPERIMENTS["1"], 0.1, "mse_h", PublishedCell(published, bar), ours)
    assert cell.is_met is met


def planted(metrics):
    """A run of Experiment 1 in which every cell is the same."""
    settings = Settings(("1",), 1, ("h", "f-released", "f-literal"))
    arms = {arm: {"metrics": metrics, "checks": [], "corollary": None} for arm in settings.arms}
    return Reproduction(
        settings,
        {unit: {"arms": arms, "truth": metrics} for unit in units_of(settings)},
        {"libraries": {}, "likewise": "", "python": ""},
    )


def test_cells_are_held_against_the_rows_of_their_convention():
    found = planted({"mse": 0.33, "if1_observed": 0.23, "if1_input": 0.02, "if2_truth": 0.45, "rank": 5})
    met = {
        convention.name: {(c.row, c.level) for c in compare_cells(found, convention) if c.is_met}
        for convention in CONVENTIONS
    }
    first = {("mse_h", 0.05), ("mse_f", 0.05), ("if1_h_Z", 0.05), ("if2_h_A", 0.05), ("if2_f_A", 0.05)}
    assert met["fixed d"] == met["as printed"] == first
    assert met["released code"] == first | {("if1_f_Z", 0.05), ("if1_f_Z", 0.1)}
    (counts, *lists) = agreement_table(found).sections
    assert [row.cells[0] for row in counts.rows] == ["7 of 24", "5 of 24", "5 of 24"]
    assert [len(section.rows) for section in lists] == [17, 19, 19]
    known = {row.label: row.cells[2] for row in lists[1].rows}
    assert known["1, p = 0.05: IF_1 of f on Z"] == "met under: released code"
    assert known["1, p = 0.1: MSE of h"] == "+57%"


def test_a_summary_of_one_has_no_bar():
    alone = Summary.of([0.5])
    assert (alone.mean, alone.n) == (0.5, 1)
    assert alone.two_sd != alone.two_sd
    assert Summary.of(["inf", 1.0]).mean == float("inf")


def test_the_metrics_of_the_truth_itself_stand_in_the_table(saved):
    """A itself has error 0, and a mean ratio that the reader should know."""
    found, _ = saved
    for record in found.simulations("tiny", 0.3):
        assert record["truth"]["mse"] == 0
        assert float(record["truth"]["if2_truth"]) == pytest.approx(1 - 1 / 24)
    table = cell_table(found, found.experiments[0])
    assert [row.label for section in table.sections for row in section.rows].count("A itself") == 6


def test_a_miss_says_what_the_run_tells():
    found = planted({"mse": 0.35, "if1_observed": 0.0, "if1_input": 0.036, "if2_truth": 0.0, "rank": 0})
    known = {row.label: row.cells[2] for row in agreement_table(found).sections[3].rows}
    assert known["1, p = 0.1: MSE of f"] == "rank 0: nothing is kept"
    found = planted({"mse": 0.35, "if1_observed": 0.036, "if1_input": 0.036, "if2_truth": 0.0, "rank": 3})
    known = {row.label: row.cells[2] for row in agreement_table(found).sections[1].rows}
    assert known["1, p = 0.4: IF_1 of f on Z"] == "+20%, one unit of the last digit"
