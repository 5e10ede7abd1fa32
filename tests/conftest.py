"""What the tests of all rooms share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# A busy machine is not a failure, so nothing has a deadline; fixtures here only choose a kernel, and are the same for every example.
# People wait for a few new examples of each property at every run. CI tries many, the same ones each time, so that a change is
# judged by what it changed. To look for faults in what stands: HYPOTHESIS_PROFILE=hunt.
ANY_MACHINE = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("people", max_examples=25, **ANY_MACHINE)
settings.register_profile("ci", max_examples=200, derandomize=True, **ANY_MACHINE)
settings.register_profile("hunt", max_examples=2000, **ANY_MACHINE)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "people"))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of real data that LIKEWISE_DATA names."""
    named = os.environ.get("LIKEWISE_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip(f"real data needed: LIKEWISE_DATA names no folder ({named!r})")
    return Path(named)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, here and in processes that are started: a background job begins with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def in_blocks() -> Callable[..., Any]:
    """Return what cuts observations in memory into blocks of rows, in files of a folder."""
    return _in_blocks


def _in_blocks(observed: Any, folder: Any, n_blocks: Any = 3, engine: Any = None, **options: Any) -> Any:
    """Cut rows into so many blocks, or at given rows."""
    from likewise.engines.local import Serial
    from likewise.observations import PartitionedMatrix
    from likewise.observations.partitioned.blocks import BlockReader, write_block

    values, blocks, cuts = observed.values, [], n_blocks
    if isinstance(n_blocks, int):
        cuts = np.linspace(0, values.shape[0], n_blocks + 1).astype(int).tolist()
    for start, stop in pairwise(cuts):
        rows = values[start:stop]
        written = np.diff(rows.indptr), rows.indices.astype(np.uint16), rows.data
        blocks.append(write_block(Path(folder) / f"{start}-{stop}.rows", start, *written))
    reader, ids = BlockReader(values.shape[1], None), (observed.row_ids, observed.column_ids)
    return PartitionedMatrix(tuple(blocks), reader, observed.value_range, *ids, engine or Serial(), **options)
