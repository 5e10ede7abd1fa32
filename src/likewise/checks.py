"""Numbers that callers give, checked: whole, positive, a share, a confidence; each error names the argument and what it had to be."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection
from numbers import Integral, Real
from os import PathLike, fspath
from types import UnionType
from typing import Any, TypeGuard

from likewise.errors import InputError, option, unknown_name


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer, of Python or NumPy, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number, of Python or NumPy, and not a truth value; NaN is one."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value: object) -> TypeGuard[float]:
    """Return whether a value is a number that a float can hold, neither NaN nor infinite; told without a warning whatever its type."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


def checked_whole(
    name: str,
    value: object,
    least: int = 1,
    most: int | None = None,
    *,
    or_else: str = "",
    error: type[InputError] = InputError,
) -> int:
    """Return a whole number from `least` to `most`, in Python's type; `or_else` tells in the error what would have done too.

    >>> checked_whole("rank", 9.5, most=7, or_else="None")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: rank=9.5; expected a whole number from 1 to 7, or None.
    """
    if is_whole(value) and value >= least and (most is None or value <= most):
        return operator.index(value)
    limits = f">= {least}" if most is None else f"from {least} to {most:,}"
    raise _error(error, name, value, f"a whole number {limits}", or_else)


def checked_positive(
    name: str, value: object, or_else: str = "", *, error: type[InputError] = InputError
) -> float:
    """Return a finite number above 0."""
    if is_finite(value) and value > 0:
        return float(value)
    raise _error(error, name, value, "a finite number above 0", or_else)


def checked_non_negative(
    name: str, value: object, or_else: str = "", *, error: type[InputError] = InputError
) -> float:
    """Return a finite number that is 0 or above."""
    if is_finite(value) and value >= 0:
        return float(value)
    raise _error(error, name, value, "a finite number >= 0", or_else)


def checked_share(
    name: str, value: object, *, zero: bool = False, one: bool = False, error: type[InputError] = InputError
) -> float:
    """Return a number between 0 and 1; the flags say which of the two ends are allowed."""
    # Comparisons with NaN are false, so that it is refused without a test of its own.
    if is_number(value) and (0 < value < 1 or (zero and value == 0) or (one and value == 1)):
        return float(value)
    raise _error(error, name, value, _SHARES[zero, one])


_SHARES = {
    (False, False): "a number between 0 and 1, both excluded",
    (False, True): "a number above 0 and at most 1",
    (True, False): "a number from 0 to below 1",
    (True, True): "a number from 0 to 1",
}


def checked_name(
    kind: str, name: object, known: Collection[str], error: type[InputError] = InputError
) -> str:
    """Return a name that is known; `kind` is what the error calls it.

    >>> checked_name("solver", "krilov", ("krylov", "gram"))
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: unknown solver 'krilov'; expected one of 'krylov', 'gram'. Hint: did you mean 'krylov'?
    """
    if isinstance(name, str) and name in known:
        return name
    raise error(*unknown_name(kind, name, known))


def checked_finite(name: str, value: object, *, error: type[InputError] = InputError) -> float:
    """Return a finite number of any sign."""
    if is_finite(value):
        return float(value)
    raise _error(error, name, value, "a finite number")


def checked_path(name: str, value: object, or_else: str = "") -> str:
    """Return the path of a file or folder as text."""
    if isinstance(value, str | PathLike) and isinstance(path := fspath(value), str):
        return path
    raise _error(InputError, name, value, "a path", or_else)


def checked_text(name: str, value: object, or_else: str = "") -> str:
    """Return text that is not empty."""
    if isinstance(value, str) and value:
        return value
    raise _error(InputError, name, value, "text", or_else)


def checked_instance(
    name: str,
    value: Any,
    kind: type[Any] | UnionType,
    expected: str,
    hint: str = "",
    error: type[InputError] = InputError,
) -> Any:
    """Return what is of a kind; `expected` says what that is called, `hint` how to make one.

    >>> checked_instance("reference", [[0.0, 1.0]], dict, "a dictionary", "dict(...) makes one")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: reference of type list; expected a dictionary. Hint: dict(...) makes one
    """
    if isinstance(value, kind):
        return value
    raise error(f"{option(name, '')} of type {type(value).__name__}", expected, hint)


def checked_names(name: str, given: object) -> tuple[str, ...]:
    """Return names: those of a list, or of a text that separates them by commas.

    >>> checked_names("arms", "h, f-literal"), checked_names("arms", ["h"])
    (('h', 'f-literal'), ('h',))
    >>> checked_names("arms", [1])
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: arms=[1]; expected names, in a list or separated by commas.
    """
    listed = given.split(",") if isinstance(given, str) else given
    if not isinstance(listed, tuple | list) or not all(isinstance(one, str) for one in listed):
        raise InputError(option(name, repr(given)), "names, in a list or separated by commas")
    return tuple(one.strip() for one in listed)


def checked_flag(name: str, value: object) -> bool:
    """Return True or False.

    >>> checked_flag("streaming", "no")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: streaming='no'; expected True or False.
    """
    if isinstance(value, bool) or type(value).__name__ == "bool":  # NumPy's bool is no bool of Python
        return bool(value)
    raise InputError(option(name, repr(value)), "True or False")


def checked_callable(name: str, value: Any, what: str = "a function") -> Any:
    """Return a function, or None."""
    if value is None or callable(value):
        return value
    raise InputError(option(name, repr(value)), f"{what}, or None")


def checked_confidence(value: object, *, certain: bool = False) -> float:
    """Return the confidence of an interval or a bound, in (0, 1); 1 only where what is said may be certain."""
    return checked_share("confidence", value, one=certain)


def _error(error: type[InputError], name: str, value: object, expected: str, or_else: str = "") -> InputError:
    return error(option(name, repr(value)), expected + (f", or {or_else}" if or_else else ""))
