"""The published numbers, whole and where they belong."""

import json
from importlib import resources

import pytest

from likewise.reproduction import EXPERIMENTS, published_cell
from likewise.reproduction.published import ROWS


def test_published_numbers_are_whole():
    tables = json.loads(
        resources.files("likewise.reproduction").joinpath("published_tables.json").read_text()
    )
    for key in ("1", "3", "4"):
        experiment, table = EXPERIMENTS[key], tables[f"experiment_{key}"]
        assert tuple(table["levels"]) == experiment.levels
        assert table["axis"].startswith(experiment.axis)
        assert {name for name in table if name not in ("axis", "levels")} == set(ROWS)
        for row in ROWS:
            for level, (value, bar) in zip(experiment.levels, table[row], strict=True):
                cell = published_cell(key, row, level)
                assert (cell.value, cell.bar) == (value, bar)


@pytest.mark.parametrize(("experiment", "row", "level"), [("2", "k2", 0.1), ("1", "k3", 0.1), ("1", "k2", 3)])
def test_what_is_not_printed_is_none(experiment, row, level):
    assert published_cell(experiment, row, level) is None
