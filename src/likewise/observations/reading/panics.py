"""What polars does where a file is damaged in a way that it did not foresee: it panics, and prints a trace of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_STANDARD_ERROR = 2


def polars_failures() -> tuple[type[BaseException], ...]:
    """Return what polars raises about a file that it cannot read."""
    import polars as pl

    return pl.exceptions.PolarsError, pl.exceptions.PanicException


@contextmanager
def without_trace() -> Iterator[None]:
    """Hold back what is written to standard error within, and drop it if polars panics: the error says it all.

    The trace is written by compiled code, past `sys.stderr`, so the file descriptor itself is pointed elsewhere for the time.
    """
    import polars as pl

    with tempfile.TemporaryFile() as held:
        kept = os.dup(_STANDARD_ERROR)
        os.dup2(held.fileno(), _STANDARD_ERROR)
        is_trace = False
        try:
            yield
        except pl.exceptions.PanicException:
            is_trace = True
            raise
        finally:
            os.dup2(kept, _STANDARD_ERROR)
            os.close(kept)
            if not is_trace:
                held.seek(0)
                os.write(_STANDARD_ERROR, held.read())
