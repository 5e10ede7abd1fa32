"""Numbers to and from JSON, which has no NaN and no infinities."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Turn a record into what JSON has; NaN and infinities become their names, which ``float`` reads.

    Examples
    --------
    >>> plain({"a": np.float64("inf"), "b": (1, np.int64(2))})
    {'a': 'inf', 'b': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return repr(value) if isinstance(value, float) and not isfinite(value) else value
