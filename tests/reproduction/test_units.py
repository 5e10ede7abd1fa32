"""Units of work: seeds and names."""

from likewise.reproduction import Settings
from likewise.reproduction.units import Unit, units_of


def test_seeds_depend_on_the_cell_and_the_simulation_alone():
    few, many = units_of(Settings(("1",), 2, quick=True)), units_of(Settings(("1", "3", "4"), 5))
    assert set(few) <= set(many)
    drawn = [unit.seeds(0)[0].random() for unit in many]
    assert len(set(drawn)) == len(drawn)
    assert Unit("1", 0.1, 2).seeds(0)[1] == Unit("1", 0.1, 2).seeds(0)[1]
    assert Unit("1", 0.1, 2).seeds(0)[1] != Unit("1", 0.1, 2).seeds(1)[1]


def test_units_have_names_of_their_own():
    units = units_of(Settings())
    assert len({unit.name for unit in units}) == len(units)
