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

MEASURED = re.compile(r"^\|.*[ *(|]-?\d*\.\d+.*\|$", re.MULTILINE)
"""A row of a table with a number that has decimals."""


@pytest.mark.slow
@pytest.mark.parametrize("name", check_numbers.CHECKS)
def test_numbers_that_seconds_make_are_in_the_page(name):
    assert check_numbers.missing(name) == []


def test_a_number_that_is_not_in_the_page_is_found(monkeypatch):
    monkeypatch.setitem(check_numbers.CHECKS, "wrong", ("method.md", lambda: iter(["it is 180.2, 127.0"])))
    assert check_numbers.missing("wrong") == ["docs/method.md: it is 180.2, 127.0"]


def rows():
    text = (DOCS / "measured.md").read_text(encoding="utf-8").partition("## Figures")[0]
    found = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return found[2:]


def test_every_page_with_a_table_of_measurements_says_where_they_come_from():
    listed = {match for row in rows() for match in re.findall(r"\((\w+\.md)\)", row[0])}
    told = {
        "measured.md",
        "report_schema.md",
        "architecture.md",
        "method.md",
        "fidelity.md",
    }  # no measurements in their tables
    pages = {
        page.name for page in DOCS.glob("*.md") if len(MEASURED.findall(page.read_text(encoding="utf-8"))) > 2
    }
    assert pages - told <= listed
    assert all((DOCS / name).exists() for name in listed)


def test_every_row_has_a_day_a_machine_and_a_command_that_is_there():
    assert len(rows()) > 15
    for _, what, command, day, machine in rows():
        assert what
        assert re.fullmatch(r"(\d{1,2} )?\w+ 20\d\d", day)
        assert re.search(r"\d+ cores|GPU", machine)
        scripts = re.findall(r"benchmarks/\w+\.py", command)
        assert scripts or "likewise reproduce" in command or "on that page" in command
        assert all((ROOT / script).exists() for script in scripts)


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
