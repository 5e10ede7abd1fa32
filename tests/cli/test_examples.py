"""The examples in the help of each command: of that command, and such that they run."""

import shlex

import pytest

from likewise.cli.main import COMMANDS, EXAMPLES

PLANNED = ("audit", "estimate", "frontier", "repair")
"""Commands with --dry-run."""


def test_every_command_has_some():
    assert set(EXAMPLES) == {command.__name__ for command in COMMANDS} | {"data"}


@pytest.mark.parametrize("command", EXAMPLES)
def test_help_ends_with_those_of_its_own_command(likewise, command):
    shown = likewise(command, "--help").out
    text = " ".join(shown.rpartition("Examples:")[2].partition("--config")[0].split())
    assert text == " ".join(EXAMPLES[command])
    assert text.count("likewise ") == text.count(f"likewise {command}") + text.count("out likewise ")


@pytest.mark.parametrize("example", [each for name in PLANNED for each in EXAMPLES[name]])
def test_examples_can_be_planned(likewise, ratings, tmp_path, monkeypatch, example):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings.csv").write_bytes(ratings.read_bytes())
    (tmp_path / "pairs.csv").write_text("user-0,10\n")
    (tmp_path / "people.csv").write_text("name,test,grade\nann,60,3.5\nbob,61,3.5\ncy,90,2.0\n")
    (tmp_path / "scores.csv").write_text("name,score\nann,0.1\nbob,0.9\ncy,0.3\n")
    (tmp_path / "groups.csv").write_text("name,town\nann,york\nbob,york\ncy,leeds\n")
    options = ("--value-range", "1,5") if "ratings.csv" in example else ()
    ran = likewise(*shlex.split(example)[1:], *options, "--dry-run")
    assert ran.code == 0, ran.err
