"""Refuse an array that would not fit, before it is allocated."""

from __future__ import annotations

import math
import os
import re
import sys
from contextlib import suppress
from numbers import Real
from pathlib import Path

from likewise.errors import InputError, MemoryLimitError, option

_MEMORY_INFO = Path("/proc/meminfo")
_CONTROL_GROUP = Path("/sys/fs/cgroup")


def available_memory() -> float:
    """Return how many bytes can still be had without swapping, or infinity where the system does not say.

    It is the smaller of what the machine and, in a container, its control group leave free.
    """
    return min(_free_on_machine(), _free_in_control_group())


def ensure_fits(n_bytes: float, what: str, instead: str, limit: float | None = None) -> None:
    """Raise a `MemoryLimitError` if `n_bytes` cannot be had, which says for what, how much may be used, and what to do instead.

    The limit in bytes is by default what the system has available.

    >>> ensure_fits(1e15, "all pairs of 11 million people", "sample pairs", limit=2**30)
    Traceback (most recent call last):
    ...
    likewise.errors.MemoryLimitError: all pairs of 11 million people would need 909.5 TiB, 1.0 GiB may be used; sample pairs
    """
    allowed = available_memory() if limit is None else limit
    if n_bytes > allowed:
        raise MemoryLimitError(
            f"{what} would need {format_bytes(n_bytes)}, {format_bytes(allowed)} may be used; {instead}"
        )


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def bytes_of(size: float | str) -> float:
    """Read a size above 0: bytes, or text with a unit, such as ``"4 GiB"`` or ``"4Gi"``; K, M, G and T count in steps of 1,024.

    >>> bytes_of("1.5 GiB") == 1.5 * 2**30, bytes_of(1000)
    (True, 1000.0)
    """
    number, given = 0.0, str(size) if isinstance(size, str | Real) else ""
    if found := re.fullmatch(r"\s*([0-9.]+(?:e\+?[0-9]+)?)\s*(?:([KMGT])i?)?B?\s*", given, re.IGNORECASE):
        with suppress(ValueError):
            number = float(found[1]) * _UNITS[(found[2] or "").upper()]
    if not 0 < number < math.inf:
        expected = "a number of bytes above 0, or a size such as '4 GiB'"
        raise InputError(option("memory_limit", repr(size)), expected)
    return number


def format_bytes(n_bytes: float) -> str:
    """Write a number of bytes for people, such as ``145.0 MiB``."""
    # A size computed in floats may have overflowed to infinity.
    if n_bytes >= sys.float_info.max:
        return "more than any machine has"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.1f} TiB"


def _free_on_machine() -> float:
    try:
        fields = dict(line.split(":", 1) for line in _MEMORY_INFO.read_text(encoding="ascii").splitlines())
        return 1024.0 * int(fields["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return _physical_memory()


def _physical_memory() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def _free_in_control_group() -> float:
    try:
        limit, used = (float((_CONTROL_GROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
    except (OSError, ValueError):  # no control group, or no limit in it
        return math.inf
    return max(limit - used, 0.0)
