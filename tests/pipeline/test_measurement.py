"""What an audit says of the memory that it will need, by hand."""

import pytest

from likewise.errors import InputError, MemoryLimitError
from likewise.pipeline.measurement import Measurement

MIB = 2**20


def test_complete_matrices_that_do_not_fit_are_refused_with_the_size():
    """Four matrices of 1,000 x 1,000 numbers of 8 bytes are 32,000,000 bytes, 30.5 MiB."""
    Measurement(memory_limit="31M").check_memory((1000, 1000))
    with pytest.raises(MemoryLimitError, match=r"30\.5 MiB, 30\.0 MiB may be used"):
        Measurement(memory_limit="30M").check_memory((1000, 1000))


def test_pairs_are_streamed_exactly_where_holding_them_exceeds_the_limit():
    """1,000 people: 499,500 pairs, d and two D of 8 bytes each, beside 64 MiB to work in."""
    needed = 64 * MIB + 3 * 8 * 499_500
    assert not Measurement(memory_limit=needed).streams(1000, 2)
    assert Measurement(memory_limit=needed - 1).streams(1000, 2)
    assert not Measurement(memory_limit=needed - 1).streams(1000, 1)


def test_what_is_needed_is_said_for_held_streamed_and_drawn_pairs():
    held = Measurement().needed_memory((1000, 0), runs_model=False)
    assert held == "about 71.6 MiB: 0.0 B for complete matrices, and 71.6 MiB for 499,500 pairs"
    streamed = Measurement(memory_limit="65M").needed_memory((1000, 0), runs_model=False)
    assert "499,500 pairs measured block by block, as holding them would take 71.6 MiB" in streamed
    assert "drawn pairs (500)" in Measurement(pairs=500).needed_memory((1000, 0), runs_model=False)


def test_a_tolerance_without_a_limit_is_refused():
    with pytest.raises(InputError, match=r"tolerance=0\.1 without lipschitz"):
        Measurement(tolerance=0.1)
