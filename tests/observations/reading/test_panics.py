"""Where polars panics, the error says all; whatever else is written to standard error meanwhile is kept."""

import os

import polars as pl
import pytest

from likewise.observations.reading.delimited import without_trace


def panic():
    os.write(2, b"stack backtrace")
    raise pl.exceptions.PanicException("no such page")


def test_the_trace_of_a_panic_is_dropped(capfd):
    with pytest.raises(pl.exceptions.PanicException), without_trace():
        panic()
    os.write(2, b"after")
    assert capfd.readouterr().err == "after"


@pytest.mark.parametrize("error", [None, ValueError])
def test_anything_else_is_shown(capfd, error):
    try:
        with without_trace():
            os.write(2, b"a warning")
            if error:
                raise error
    except ValueError:
        pass
    assert capfd.readouterr().err == "a warning"
