"""The shared library of C kernels: finding and loading it, and the signatures of its functions."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.util import find_spec


def is_built() -> bool:
    """Whether the compiled kernels are installed and load here."""
    return False


@cache
def library() -> ctypes.CDLL:
    """Load the library and declare its functions."""
    spec = find_spec("likewise._kernels._native")
    assert spec is not None
    assert spec.origin is not None
    return ctypes.CDLL(spec.origin)
