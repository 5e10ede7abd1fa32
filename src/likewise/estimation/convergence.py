"""What iterations have in common: limits that are checked, and a warning where they end at one."""

from __future__ import annotations

import warnings
from numbers import Integral, Real

from likewise.errors import ConvergenceWarning, InputError


def checked_count(name: str, value: object) -> int:
    """Return a whole number >= 1.

    Raises
    ------
    InputError
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name} is {value!r}", "a whole number >= 1")
    return int(value)


def checked_positive(name: str, value: object, or_else: str = "") -> float:
    """Return a finite number above 0.

    Raises
    ------
    InputError
        Naming `or_else`, what would have done too.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < float("inf"):
        raise InputError(
            f"{name} is {value!r}", "a finite number above 0" + (f", or {or_else}" if or_else else "")
        )
    return float(value)


def warn_unless_converged(converged: bool, n_iter: int, unit: str, state: str) -> tuple[str, ...]:
    """Warn where iterations were stopped by their limit; return what the reader of the result should know.

    Parameters
    ----------
    converged : bool
    n_iter : int
    unit : str
        What an iteration is called.
    state : str
        How far it is from the end.

    Returns
    -------
    tuple of str
        Empty where it converged.
    """
    if converged:
        return ()
    note = f"not converged after {n_iter} {unit}{'s' * (n_iter != 1)}: {state}"
    warnings.warn(
        f"{note}. The result is kept; raise max_iter or tol to be rid of this.",
        ConvergenceWarning,
        stacklevel=5,
    )
    return (note,)
