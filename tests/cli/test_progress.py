"""Bars come after two seconds, on a terminal, and go again."""

import io
import time

import pytest
from rich.console import Console

from likewise.cli import progress
from likewise.cli.progress import StepBars


def shown(monkeypatch, *, patience, terminal=True, quiet=False):
    monkeypatch.setattr(progress, "PATIENCE", patience)
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=80)
    with StepBars(quiet=quiet, console=console) as report:
        report("estimate the matrix", 0, 1)
        time.sleep(0.3)
        report("estimate the matrix", 1, 1)
        report("compare all pairs", 0, 1)
        report("compare all pairs", 50, 100)
        time.sleep(0.3)
        report("compare all pairs", 100, 100)
    return stream.getvalue()


def test_slow_steps_show_a_bar(monkeypatch):
    text = shown(monkeypatch, patience=0.05)
    assert "estimate the matrix" in text
    assert "compare all pairs" in text


def test_a_bar_goes_when_the_next_step_begins(monkeypatch):
    *_, last = shown(monkeypatch, patience=0.05).split("compare all pairs")[1:]
    assert "estimate the matrix" not in last


def test_quick_steps_show_none(monkeypatch):
    assert "estimate" not in shown(monkeypatch, patience=60)


@pytest.mark.parametrize("options", [{"quiet": True}, {"terminal": False}])
def test_nothing_is_shown_where_nobody_looks(monkeypatch, options):
    assert shown(monkeypatch, patience=0.05, **options) == ""


def test_the_default_is_two_seconds():
    assert progress.PATIENCE == 2.0
