"""Names for the arrays that the package hands around, so that a signature reads as one line."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
AnyFloats = NDArray[np.floating[Any]]
"""Of float32 or float64: what works in either precision."""
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]
Singles = NDArray[np.float32]
