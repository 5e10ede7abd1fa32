"""The headers of the pages of a Parquet file, held against its footer: a decoder that believes a damaged one stops the whole process."""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap
from typing import Any

_MAGIC = b"PAR1"
_FOOTER = 8
"""Bytes at the end: the length of the footer, and the magic number."""

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 7, 8, 12
_WHOLE, _LISTS = (4, 5, 6), (9, 10)
"""Types of Thrift's compact protocol."""

_FIRST_PAGES = (9, 11)
"""Where the first page of a column is told to stand, as fields of the footer: that of its values, and its dictionary if it has one."""

_DATA, _DICTIONARY = (5, 8), 7
"""Kinds of pages, as fields of their headers."""


def impossible_page(data: bytes | mmap) -> str:
    """Say which page of a Parquet file claims more values than its column has, or fewer than none; nothing where none does.

    Polars asks for the memory of as many values as a page claims. Where that is refused, no error comes of it: the process ends. What else may be
    damaged polars finds itself.
    """
    try:
        for start, stop, n_values in _chunks(data):
            for claimed, most in _claims(data, start, stop, n_values):
                if not 0 <= claimed <= most:
                    return f"a page claims {claimed:,} values, of {most:,}"
    except (
        IndexError,
        KeyError,
        TypeError,
        ValueError,
        RecursionError,
    ):  # no footer or header as it should be
        return ""
    return ""


def _chunks(data: bytes | mmap) -> Iterator[tuple[int, int, int]]:
    """Yield where the pages of each column of each group of rows begin and end, and how many values they have."""
    length = int.from_bytes(data[-_FOOTER : -len(_MAGIC)], "little")
    footer, _ = _Thrift(data, len(data) - _FOOTER - length).struct()
    for group in footer[4]:
        for column in group[1]:
            about = column[3]
            start = min((about[place] for place in _FIRST_PAGES if about.get(place)), default=0)
            yield start, start + about[7], about[5]


def _claims(data: bytes | mmap, start: int, stop: int, n_values: int) -> Iterator[tuple[int, int]]:
    """Yield how many values each page says that it has, and how many it can have: a word of a dictionary takes a byte or more."""
    while 0 < start < stop <= len(data):
        header, start = _Thrift(data, start).struct()
        yield from ((header[kind][1], n_values) for kind in _DATA if kind in header)
        if _DICTIONARY in header:  # may hold words that no row has
            yield header[_DICTIONARY][1], max(n_values, header[2])
        if header[3] < 0:
            return
        start += header[3]


class _Thrift:
    """Reads structures in Thrift's compact protocol, from a place on; text, and numbers with fractions, are passed over."""

    def __init__(self, data: bytes | mmap, place: int) -> None:
        if place < 0:
            raise ValueError("before the beginning")
        self._data, self._place = data, place

    def struct(self) -> tuple[dict[int, Any], int]:
        """Return the fields of a structure by their numbers, and where it ends."""
        fields, number = dict[int, Any](), 0
        while head := self._byte():
            # Fields are numbered by their distance to the one before; 0 says that the number itself follows.
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = self._value(head & 15)
        return fields, self._place

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE):  # the type says which
            return kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind in _WHOLE:
            return self._signed()
        if kind in (_BINARY, _DOUBLE):
            size = self._unsigned() if kind == _BINARY else 8
            self._place += size
            return None
        if kind in _LISTS:
            return self._list()
        if kind == _STRUCT:
            return self.struct()[0]
        raise ValueError(f"type {kind}")

    def _list(self) -> list[Any]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        each = self._byte if kind in (_TRUE, _FALSE) else lambda: self._value(kind)
        return [each() for _ in range(self._unsigned() if size == 15 else size)]

    def _byte(self) -> int:
        self._place += 1
        return self._data[self._place - 1]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            # Seven bits a byte, the lowest first; the eighth says that more follow.
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _signed(self) -> int:
        value = self._unsigned()
        # Zigzag: 0, -1, 1, -2 ... are written as 0, 1, 2, 3.
        return (value >> 1) ^ -(value & 1)
