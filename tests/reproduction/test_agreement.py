"""How many published cells are met, and what is said of each that is not."""

import pytest

from likewise.reproduction import EXPERIMENTS, PublishedCell, Reproduction, Settings, published_cell
from likewise.reproduction.agreement import CONVENTIONS, Comparison, agreement_tables, compare_cells
from likewise.reproduction.formats import as_markdown
from likewise.reproduction.results import METRICS
from likewise.reproduction.units import units_of

SHOWN_OF_TRUTH = [key for key, metric in METRICS.items() if metric.of_truth]


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


def planted(metrics, arms=("h", "f-released", "f-literal"), model="dnn"):
    """A run of Experiment 1 in which every cell is the same."""
    settings = Settings(("1",), 1, arms, model=model)
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
    assert met["released threshold and d"] == first | {("if1_f_Z", 0.05), ("if1_f_Z", 0.1)}
    (counts,), lists = (table.sections for table in agreement_tables(found))
    assert [row.cells[0] for row in counts.rows] == ["7 of 24", "5 of 24", "5 of 24"]
    assert [len(section.rows) for section in lists] == [17, 19, 19]
    known = {row.label: row.cells[2] for row in lists[1].rows}
    assert known["1, p = 0.05: IF_1 of f on Z"] == "met under: released threshold and d"
    assert known["1, p = 0.1: MSE of h"] == "+57%"


def test_a_miss_says_what_the_run_tells():
    found = planted({"mse": 0.35, "if1_observed": 0.0, "if1_input": 0.036, "if2_truth": 0.0, "rank": 0})
    known = {row.label: row.cells[2] for row in agreement_tables(found)[1].sections[2].rows}
    assert known["1, p = 0.1: MSE of f"] == "rank 0: nothing is kept"
    found = planted({"mse": 0.35, "if1_observed": 0.036, "if1_input": 0.036, "if2_truth": 0.0, "rank": 3})
    known = {row.label: row.cells[2] for row in agreement_tables(found)[1].sections[0].rows}
    assert known["1, p = 0.4: IF_1 of f on Z"] == "+20%, one unit of the last digit"


def test_beside_the_tolerance_stand_the_printed_bar_and_the_printed_digits():
    near = Comparison(EXPERIMENTS["1"], 0.05, "mse_h", PublishedCell(0.33, 0.003), 0.3334)
    assert (near.is_met, near.is_within_bar, near.is_the_same_printed) == (True, False, True)
    far = Comparison(EXPERIMENTS["1"], 0.2, "mse_h", PublishedCell(0.10, 0.003), 0.1051)
    assert (far.is_met, far.is_within_bar, far.is_the_same_printed) == (True, False, False)


def test_our_bars_are_set_beside_the_printed_ones():
    settings = Settings(("1",), 2, ("h", "f-released"))
    records = {}
    for unit in units_of(settings):
        metrics = dict.fromkeys(("mse", "if1_observed", "if1_input", "if2_truth"), float(unit.simulation))
        arms = {arm: {"metrics": metrics} for arm in settings.arms}
        records[unit] = {"arms": arms, "truth": metrics}
    found = Reproduction(settings, records, {})
    rows = ("mse_h", "mse_f", "if1_h_Z", "if1_f_Z", "if2_h_A", "if2_f_A")
    bars = sorted(published_cell("1", row, level).bar for row in rows for level in (0.05, 0.1, 0.2, 0.4))
    ours = 2 * 0.5**0.5  # two standard deviations of 1 and 2
    middle = (ours / bars[11] + ours / bars[12]) / 2
    assert (
        f"Our bars, two standard deviations of the simulations, are {middle:.1f} times"
        in agreement_tables(found)[0].caption
    )


def test_only_what_was_run_with_the_published_model_is_counted():
    metrics = {"mse": 0.33, "if1_observed": 0.23, "if1_input": 0.02, "if2_truth": 0.45, "rank": 5}
    (counts,) = agreement_tables(planted(metrics, ("h", "f-released")))[0].sections
    assert [row.label for row in counts.rows] == ["released threshold and d", "fixed d"]
    assert agreement_tables(planted(metrics, ("f-released",))) == []
    assert agreement_tables(planted(metrics, model="identity")) == []
    assert (
        agreement_tables(
            planted(metrics | {"mse_printed": 0.3}, ("h", "released-net-h", "released-net"), "identity")
        )
        != []
    )


def test_no_published_number_stands_beside_another_model():
    metrics = {"mse": 0.33, "if1_observed": 0.23, "if1_input": 0.02, "if2_truth": 0.45, "rank": 5}
    shown = {
        model: as_markdown(planted(metrics | {"k2": 1.0} | dict.fromkeys(SHOWN_OF_TRUTH, 0.1), model=model))
        for model in ("dnn", "identity")
    }
    assert "published h" in shown["dnn"]
    assert "published f" in shown["dnn"]
    assert "published h" not in shown["identity"]
    assert "published f" not in shown["identity"]
