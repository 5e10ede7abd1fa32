"""Records as dictionaries, lists, text and numbers: what Python hands around, and what JSON can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from math import isfinite, isnan
from typing import Any

import numpy as np

IN_MEMORY = {"in_memory": True}
"""Metadata of a field that no file and no dictionary holds: it is large, and of use only while an audit runs."""


def kept_fields(record: Any) -> tuple[Field[Any], ...]:
    """Return the fields of a record, but for those that stay in memory."""
    return tuple(field for field in fields(record) if not field.metadata.get("in_memory"))


def plain(value: Any) -> Any:
    """Turn a record, or a tree of records, into dictionaries, lists, text and Python numbers; what is none of these stays as it is.

    Data classes become dictionaries of their fields; a class that has a ``kind`` says it first. Tuples and arrays become lists.

    >>> plain({"a": np.float64("inf"), "b": (1, np.int64(2))})
    {'a': inf, 'b': [1, 2]}
    """
    return _converted(value, _itself)


def json_tree(value: Any) -> Any:
    """Turn a record, or a tree of records, into what JSON has.

    JSON has no NaN and no infinities: they become the text ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``, which ``float`` reads.
    Ids of other types, such as dates, become their text.

    >>> import datetime
    >>> json_tree({"a": np.float64("-inf"), "b": (1, datetime.date(2024, 5, 1))})
    {'a': '-Infinity', 'b': [1, '2024-05-01']}
    """
    return _converted(value, _json_leaf)


def _converted(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _converted(item, leaf) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _converted(value.tolist(), leaf)
    if isinstance(value, list | tuple):
        return [_converted(item, leaf) for item in value]
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        kind = getattr(type(value), "kind", None)
        said = {"kind": kind} if isinstance(kind, str) else {}
        return said | {
            field.name: _converted(getattr(value, field.name), leaf) for field in kept_fields(value)
        }
    return leaf(value)


def _itself(value: Any) -> Any:
    return value


def _json_leaf(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
