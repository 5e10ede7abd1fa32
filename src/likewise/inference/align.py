"""Put rows of a file in the order of the individuals, by their ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from likewise.errors import ModelError, option
from likewise.observations.ids import places_by_text

_NAMED = 5


def positions_of(ids: NDArray[Any], wanted: Sequence[Any], name: str, what: str = "outputs") -> list[int]:
    """Return where each wanted id is; ids that are written alike are the same, so that 7 finds "7".

    Parameters
    ----------
    ids : ndarray
        Of the rows of a file; there may be others than those wanted.
    wanted : sequence
    name : str
        What to call the file.
    what : str
        What a row holds.

    Raises
    ------
    ModelError
        If an individual has no row, or several; the message says how many match.
    ObservationError
        If two wanted ids are written alike.
    """
    places_by_text(wanted)  # where two of them are written alike, one would get the other's row
    found = [str(other) for other in ids.tolist()]
    position = {other: place for place, other in enumerate(found)}
    absent = [other for other in wanted if str(other) not in position]
    if absent:
        raise ModelError(
            f"{name} has {what} for {len(wanted) - len(absent)} of {len(wanted)} individuals, none for {_listed(absent)}",
            "a row for each",
            f"its ids begin {_listed(ids.tolist(), more=False)}{_if_nobody_was_named(wanted, absent)}",
        )
    if len(position) < len(found):
        repeated = [other for other, count in Counter(found).items() if count > 1]
        raise ModelError(f"{name} has several rows for {_listed(repeated)}", "one row for each individual")
    return [position[str(other)] for other in wanted]


def _if_nobody_was_named(wanted: Sequence[Any], absent: Sequence[Any]) -> str:
    """Say how to name the individuals where they are only counted and no count is an id of the file."""
    if len(absent) < len(wanted) or list(wanted) != list(range(len(wanted))):
        return ""
    return f"; the individuals are only numbered: name the column of the observations that holds their ids, {option('id_columns')}"


def _listed(names: Sequence[Any], *, more: bool = True) -> str:
    listing = ", ".join(repr(name) for name in names[:_NAMED])
    return listing + (", ..." if more and len(names) > _NAMED else "")
