"""What the tests of all rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # a busy machine is no failure
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of real data that LIKEWISE_DATA names."""
    named = os.environ.get("LIKEWISE_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip(f"real data needed: LIKEWISE_DATA names no folder ({named!r})")
    return Path(named)
