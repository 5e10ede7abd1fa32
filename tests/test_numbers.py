"""Numbers in the docs: those that seconds make are made anew; of the others the day, the machine and the command are known."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
_SPEC = importlib.util.spec_from_file_location("check_numbers", DOCS / "check_numbers.py")
check_numbers = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(check_numbers)

LABELS = (
    r"\b(?:Theorems?|Corollary|Proposition|Definition|Lemmas?|Sections?|Tables?|Figures?|version|Python|PyTorch|SciPy|scikit-learn|fancyimpute)"
    r"\s+\d[\d.]*(?:\s+and\s+(?:[A-Z]\.)?\d[\d.]*)?"
)
"""Numbers that only name something."""

FIGURE = re.compile(
    r"(?<![\w.])\d*\.\d+(?![\w.]*\.\d)"
    r"|\b\d[\d,.]*\s?(?:%|(?:CPU |processor )?seconds?\b|s\b|ms\b|ns\b|[MG]iB\b|[kMG]B\b|times\b|minutes\b|hours\b)"
)
"""A number with decimals, a share, a time or a size."""


def figures_by_section(text):
    """Return, for each heading, the figures below it that no example makes; as text, since formulas and code have numbers of their own."""
    shown = re.sub(r"^```(?!text|\n).*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    plain = re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)", " ", shown)
    parts = re.split(r"^#+ +(.*)$", plain, flags=re.MULTILINE)
    headings = [heading(line) for line in re.findall(r"^#+ +(.*)$", shown, flags=re.MULTILINE)]
    found = zip(headings, parts[2::2], strict=True)
    return {name: FIGURE.findall(re.sub(LABELS, " ", body)) for name, body in found}


def heading(line):
    """Return a heading without its formulas."""
    return re.sub(r"`|\$[^$]*\$", "", line).strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", check_numbers.CHECKS)
def test_numbers_that_seconds_make_are_in_the_page(name):
    assert check_numbers.missing(name) == []


def test_a_number_that_is_not_in_the_page_is_found(monkeypatch):
    monkeypatch.setitem(check_numbers.CHECKS, "wrong", ("method.md", lambda: iter(["it is 180.2, 127.0"])))
    assert check_numbers.missing("wrong") == ["docs/method.md: it is 180.2, 127.0"]


def rows(title):
    """Return the rows of a table of docs/measured.md, each with the name of its page."""
    text = (DOCS / "measured.md").read_text(encoding="utf-8").split(f"\n## {title}\n", 1)[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    page = ""
    for row in cells:
        page = next(iter(re.findall(r"\(([\w./]+\.md)\)", row[0])), page)
        row[0] = page
    return cells


def test_every_number_is_checked_measured_or_given():
    """A section with a figure that nobody accounts for, or an account of a section without one, is a mistake."""
    told = {
        (page, heading(section))
        for kind in ("Measured once", "Checked or given")
        for page, section, *_ in rows(kind)
    }
    pages = {"../README.md", *(page.name for page in DOCS.glob("*.md"))} - {"measured.md"}
    found = {
        (page, name)
        for page in pages
        for name, figures in figures_by_section((DOCS / page).read_text(encoding="utf-8")).items()
        if figures
    }
    assert found - told == set(), "say in docs/measured.md where these numbers come from, or check them"
    assert {place for place in told if place[1]} - found == set(), "no such section, or no number in it"


def test_figures_are_found_and_names_are_not():
    page = "# One\nTheorem 4.3 and Python 3.11.\n## Two\nIt takes 3 s.\n```python\n>>> 0.5\n0.5\n```\n## `Three` $x$\n$0.5$ `0.5` .75 or 5%\n"
    assert figures_by_section(page) == {"One": [], "Two": ["3 s"], "Three": [".75", "5%"]}


def test_every_measurement_has_a_day_a_machine_and_a_command_that_is_there():
    assert len(rows("Measured once")) > 30
    for _, _, command, day, machine in rows("Measured once"):
        assert re.fullmatch(r"(\d{1,2} )?\w+ 20\d\d", day)
        assert re.search(r"\d+ cores|GPU", machine)
        files = re.findall(r"(?:benchmarks|tests)/[\w/]+\.py", command)
        assert files or "likewise reproduce" in command or "on that page" in command
        assert all((ROOT / file).exists() for file in files)


def test_numbers_from_the_code_name_files_that_are_there():
    for _, _, _, source in rows("Checked or given"):
        assert source
        assert all((ROOT / file).exists() for file in re.findall(r"src/[\w/]+\.py", source))


def test_every_drawing_says_what_makes_it():
    text = (DOCS / "measured.md").read_text(encoding="utf-8").partition("## Figures")[2]
    listed = re.findall(r"`([\w/-]+\.(?:svg|png))`", text)
    drawings = {
        *DOCS.glob("*.svg"),
        *DOCS.glob("*.png"),
        *DOCS.glob("reproduction/*.svg"),
        *DOCS.glob("reproduction/*.png"),
    }
    assert sorted(listed) == sorted(str(drawing.relative_to(DOCS)) for drawing in drawings)
    assert all((ROOT / script).is_file() for script in re.findall(r"python (docs/\w+\.py)", text))
