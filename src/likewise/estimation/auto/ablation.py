"""What each source of information brings beside the values: least squares without any, with each alone, and with all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from likewise.errors import InputError, option
from likewise.estimation.als.sources import checked_sources, sources_of_rows
from likewise.estimation.auto.candidates import Candidate, Grid, informed
from likewise.observations import ObservedMatrix

ALL = "all together"
"""What the fit with every source is called where there are several."""


def sources_within(sources: Any, observed: ObservedMatrix, max_lipschitz: float | None) -> tuple[str, ...]:
    """Return the names of the sources that may be tried; those of the columns alone where a constant of the rows is to be kept to.

    Parameters
    ----------
    sources : None, "none", "all", a name, or a sequence of names
        As in `AlternatingLeastSquares`.
    observed : ObservedMatrix
    max_lipschitz : float or None

    Raises
    ------
    InputError
        An unknown name; features that the observations do not have; rows that were asked to be regressed beside a limit.
    """
    names = checked_sources(sources, observed)
    if max_lipschitz is None:
        return names
    of_rows = sources_of_rows(names)
    if of_rows and sources is not None:
        raise InputError(
            f"{option('max_lipschitz', str(max_lipschitz))} for rows that are regressed on {' and '.join(of_rows)}",
            "rows that depend on their values alone",
            f"{option('sources', repr('none'))}, or sources of the columns",
        )
    return tuple(name for name in names if name not in of_rows)


def without_rows(sources: Any, observed: ObservedMatrix, max_lipschitz: float | None) -> tuple[str, ...]:
    """Say which sources a limit leaves out; nothing where there are none such."""
    kept = sources_within(sources, observed, max_lipschitz)
    left = [name for name in checked_sources(sources, observed) if name not in kept]
    why = "no constant holds for rows that are regressed on them"
    return (f"{' and '.join(left)} left out, as {why}",) if left else ()


def ablation(sources: tuple[str, ...]) -> dict[str, Candidate]:
    """Return least squares of the lowest rank without sources, with each alone, and with all, under the names of what they use.

    Examples
    --------
    >>> list(ablation(("row-features", "column-pattern")))
    ['nothing', 'row-features', 'column-pattern', 'all together']
    """
    used = {"nothing": (), **{name: (name,) for name in sources}}
    if len(sources) > 1:
        used[ALL] = sources
    return {name: _first(*informed(names)) for name, names in used.items()}


def _first(grid: Grid, begin: int) -> Candidate:
    return grid[0][begin]


def told(base: float, changes: Mapping[str, float]) -> Sequence[str]:
    """Say what each source brought, in one sentence; nothing where there is nothing to compare.

    Parameters
    ----------
    base : float
        Held-out error without sources, in the unit of the data.
    changes : mapping of str to float
        By how much the error is larger with each source, on the observations that both were measured on.

    Examples
    --------
    >>> told(0.9, {"row-features": -0.05})
    ['what each source brought to a held-out error of 0.9000 without any: row-features -0.0500']
    """
    parts = [f"{name} {change:+.4f}" for name, change in changes.items()]
    said = f"what each source brought to a held-out error of {base:.4f} without any: {', '.join(parts)}"
    return [said] if parts else []
