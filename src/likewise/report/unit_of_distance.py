"""What one unit of d is in the columns of a table, so that a limit L can be chosen in its own units."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.fairness import GowerDistance
from likewise.observations import ObservedMatrix
from likewise.report.numbers import number

_NAMED = 5
"""How many columns are named."""


def unit_lines(individuals: Any, lipschitz: float | None = None) -> list[str]:
    """Say what d = 1 is in the units of each column, and L for 1 of a single one; nothing of a distance that has no columns.

    Parameters
    ----------
    individuals : ObservedMatrix or PairwiseDistance
        Of a matrix d is a norm between rows whose columns are scaled to [-1, 1]: one column alone makes d = 1 by half of its range. Of Gower's distance d is
        a mean over columns, each of which counts 1 at most.
    lipschitz : float, optional
        L.

    Returns
    -------
    list of str

    Examples
    --------
    >>> scores = ObservedMatrix([[246.0], [705.0]], column_ids=["score"])
    >>> print(*unit_lines(scores, 0.5))
    One unit of d: 229.5 of score. L = 0.5 is 0.002179 for 1 of score; 0.5 for 1 of score is L = 114.8.
    """
    if isinstance(individuals, GowerDistance):
        return [_of_gower(individuals)]
    return [_of_matrix(individuals, lipschitz)] if isinstance(individuals, ObservedMatrix) else []


def _of_matrix(observed: ObservedMatrix, lipschitz: float | None) -> str:
    names = [str(name) for name in observed.column_ids]
    units = observed.value_range.scale_to("symmetric").factor
    if len(names) == 1:
        unit = float(units.item())
        return f"One unit of d: {number(unit)} of {names[0]}.{_for_one(names[0], unit, lipschitz)}"
    if not units.ndim:
        one = number(float(units))
        return f"One unit of d: {one} in one column, where two people differ in that alone (half of the value range, which all columns share)."
    return f"One unit of d, where two people differ in that column alone: {_listed(names, units)} (half of its value range)."


def _for_one(name: str, unit: float, lipschitz: float | None) -> str:
    """Translate L into the unit of the only column, and back."""
    if lipschitz is None:
        return ""
    return f" L = {lipschitz:g} is {number(lipschitz / unit)} for 1 of {name}; {lipschitz:g} for 1 of {name} is L = {number(lipschitz * unit)}."


def _listed(names: list[str], units: Any) -> str:
    each = [f"{number(float(unit))} of {name}" for name, unit in zip(names[:_NAMED], units, strict=False)]
    more = f" and {len(names) - _NAMED:,} more columns" if len(names) > _NAMED else ""
    return ", ".join(each) + more


def _of_gower(distance: GowerDistance) -> str:
    ranges = {name: spread for name, spread in distance.ranges.items() if spread > 0}
    parts = [_listed(list(ranges), np.array(list(ranges.values())))] if ranges else []
    words = [name for name in distance.names if name not in ranges]
    parts += [f"another {' or '.join(words[:_NAMED])}{' ...' * (len(words) > _NAMED)}"] if words else []
    k = len(distance.names)
    return f"d is from 0 to 1, the mean over {k} column{'s' * (k != 1)}: each alone adds up to {number(1 / k)}, by {' or by '.join(parts)}."
