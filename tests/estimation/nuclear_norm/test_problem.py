"""What has come to rest: how it is told, and what is said of it."""

from likewise.estimation.nuclear_norm.problem import Stall, note_on_rounding


def test_it_rests_after_so_many_values_that_are_no_lower():
    stall = Stall(patience=3)
    assert not any(stall.after(value) for value in (2.0, 1.0, 1.0, 1.0 + 1e-15))
    assert stall.after(1.0 - 1e-15)
    assert stall.over


def test_whatever_falls_does_not_rest():
    stall = Stall(patience=2)
    assert not any(stall.after(0.99**step) for step in range(500))


def test_what_rises_and_falls_again_is_held_against_the_least():
    stall = Stall(patience=2)
    assert [stall.after(value) for value in (1.0, 3.0, 0.5, 2.0, 0.5)] == [False, False, False, False, True]


def test_a_tolerance_that_was_reached_needs_no_note():
    assert note_on_rounding(1e-3, 1e-3, 10) == ()
    assert "1e-20, is below rounding" in note_on_rounding(1e-20, 3e-15, 40)[0]
