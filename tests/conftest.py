"""What the tests of all rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of real data that LIKEWISE_DATA names."""
    named = os.environ.get("LIKEWISE_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip(f"real data needed: LIKEWISE_DATA names no folder ({named!r})")
    return Path(named)
