"""How many published cells are met, and what is said of each that is not."""

import pytest

from likewise.reproduction import EXPERIMENTS, PublishedCell, Reproduction, Settings
from likewise.reproduction.agreement import CONVENTIONS, Comparison, agreement_table, compare_cells
from likewise.reproduction.units import units_of


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


def test_a_miss_says_what_the_run_tells():
    found = planted({"mse": 0.35, "if1_observed": 0.0, "if1_input": 0.036, "if2_truth": 0.0, "rank": 0})
    known = {row.label: row.cells[2] for row in agreement_table(found).sections[3].rows}
    assert known["1, p = 0.1: MSE of f"] == "rank 0: nothing is kept"
    found = planted({"mse": 0.35, "if1_observed": 0.036, "if1_input": 0.036, "if2_truth": 0.0, "rank": 3})
    known = {row.label: row.cells[2] for row in agreement_table(found).sections[1].rows}
    assert known["1, p = 0.4: IF_1 of f on Z"] == "+20%, one unit of the last digit"
