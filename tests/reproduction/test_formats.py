"""What a run leaves behind: the same numbers in every format, with seeds, versions, settings and named references."""

import csv
import html
import json
import re

import pytest

from likewise.report.plots import to_files
from likewise.reproduction.figures import all_figures
from likewise.reproduction.formats import COLUMNS, as_latex, as_markdown, escaped
from likewise.reproduction.reproduction import as_page
from likewise.reproduction.results import ON_INPUT, ON_OBSERVED
from likewise.reproduction.tables import cell_table

ODD = r"<b>a_&b|c$\foo$"

TEXTS = ("tables.txt", "tables.md", "tables.tex", "cells.csv", "results.json", "reproduction.html")


def words(text):
    return " ".join(text.split())


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_same_run_leaves_the_same_bytes(saved):
    found, folder = saved
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    found.save(folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()} == before


@pytest.mark.slow
def test_names_are_escaped(run_tiny):
    found = run_tiny(arms=f"h,{ODD}=1.5", simulations=1)
    drawn = {drawing.name: b"<svg></svg>" for drawing in all_figures(found)}
    assert "<b>" not in as_page(found, drawn).split("<body>")[1]
    assert r"a\_\&b$|$c" in as_latex(found)
    assert r"a_&b\|c" in as_markdown(found)


@pytest.mark.slow
def test_an_odd_name_is_drawn_as_it_is(run_tiny):
    found = run_tiny(arms=f"h,{ODD}=1.5", simulations=1)
    svg = to_files(all_figures(found)[0].paint, "x", forms=("svg",))["svg"].decode()
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


@pytest.mark.slow
def test_the_metrics_of_the_truth_itself_stand_in_the_table(saved):
    """A itself has error 0, and a mean ratio that the reader should know."""
    found, _ = saved
    for record in found.simulations("tiny", 0.3):
        assert record["truth"]["mse"] == 0
        assert float(record["truth"]["if2_truth"]) == pytest.approx(1 - 1 / 24)
    table = cell_table(found, found.experiments[0])
    assert [row.label for section in table.sections for row in section.rows].count("A itself") == 6
