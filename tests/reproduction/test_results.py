"""What simulations are summarised to."""

from likewise.reproduction import Summary


def test_a_summary_of_one_has_no_bar():
    alone = Summary.of([0.5])
    assert (alone.mean, alone.n) == (0.5, 1)
    assert alone.two_sd != alone.two_sd
    assert Summary.of(["inf", 1.0]).mean == float("inf")
