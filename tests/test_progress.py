"""Bars come after two seconds, on a terminal, and go again."""

import io
import time

import pytest
from rich.console import Console

from likewise import progress
from likewise.errors import InputError
from likewise.progress import StepBars, shown


def drawn(monkeypatch, *, patience, terminal=True, quiet=False):
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
    text = drawn(monkeypatch, patience=0.05)
    assert "estimate the matrix" in text
    assert "compare all pairs" in text


def test_a_bar_goes_when_the_next_step_begins(monkeypatch):
    *_, last = drawn(monkeypatch, patience=0.05).split("compare all pairs")[1:]
    assert "estimate the matrix" not in last


def test_quick_steps_show_none(monkeypatch):
    assert "estimate" not in drawn(monkeypatch, patience=60)


@pytest.mark.parametrize("options", [{"quiet": True}, {"terminal": False}])
def test_nothing_is_shown_where_nobody_looks(monkeypatch, options):
    assert drawn(monkeypatch, patience=0.05, **options) == ""


def test_the_default_is_two_seconds():
    assert progress.PATIENCE == 2.0


class Stream(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "progress", "shows"),
    [
        (True, None, True),
        (True, True, True),
        (True, False, False),
        (False, None, False),
        (False, True, False),
    ],
)
def test_bars_are_shown_by_default_where_there_is_a_terminal(monkeypatch, terminal, progress, shows):
    monkeypatch.setattr("sys.stderr", Stream(terminal))
    with shown(progress) as found:
        assert (found is not None) == shows


def test_a_function_is_called_wherever_it_runs():
    with shown(print) as found:
        assert found is print


def test_progress_that_nothing_can_be_told():
    with pytest.raises(InputError, match="progress='yes'"), shown("yes"):
        pass
