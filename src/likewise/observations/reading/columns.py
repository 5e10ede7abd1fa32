"""Find the columns that hold the user, the item and the rating."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Self

from likewise.errors import FileFormatError, option

Column = str | int
"""A column by name, or by position counted from 0."""


class Numeral(int):
    """A column given in digits where names and positions cannot be told apart: the name if there is such a one, else the position.

    Examples
    --------
    >>> position_of(Numeral("2020"), ["id", "2020"], 2, "marks.csv"), position_of(Numeral("0"), ["id", "2020"], 2, "marks.csv")
    (1, 0)
    """

    text: str

    def __new__(cls, text: str) -> Self:
        """Keep the digits beside the number."""
        numeral = super().__new__(cls, text)
        numeral.text = text
        return numeral


_KNOWN = {
    "user": re.compile("(user|customer|reviewer|rater|person|individual|student|u)(id|index)?"),
    "item": re.compile(
        "(item|movie|product|book|song|artist|business|anime|joke|feature|i)(id|index)?|asin|isbn"
    ),
    "rating": re.compile("(book|movie|star)?ratings?|score|stars?|overall|value|grade"),
}
"""Common names of each role, in lower case and without anything but letters and digits."""

_EXAMPLES = {
    "user": "userId, user or reviewer_id",
    "item": "movieId, item or product_id",
    "rating": "rating, score or stars",
}


def find_roles(
    names: Sequence[str] | None, width: int, wanted: dict[str, Column | None], file: str
) -> dict[str, int]:
    """Return the position of the user, the item and the rating.

    Parameters
    ----------
    names : sequence of str or None
        The header; None where there is none, and then the first three fields are meant.
    width : int
        How many fields there are.
    wanted : dict
        For each role a column that the caller named or numbered, or None to look.
    file : str
        For the message.

    Raises
    ------
    FileFormatError
        If a role has no column, or two roles share one.
    """
    if width < len(wanted):
        raise FileFormatError(
            f"the first line of {file} has {width} field" + "s" * (width > 1),
            f"at least {len(wanted)}: {', '.join(wanted)}",
            f"give {option('separator')}, or {option('format', repr('grid'))} for bare numbers",
        )
    if names is None and width not in (3, 4) and None in wanted.values():
        raise FileFormatError(
            f"{file} has {width} fields in its first line and no header",
            "three or four: user, item, rating, and perhaps a time",
            f"give {option('separator')}, {option('format', repr('grid'))}, or the positions "
            f"{option('user')}, {option('item')} and {option('rating')}",
        )
    roles = {
        role: _default(role, names, file) if column is None else position_of(column, names, width, file)
        for role, column in wanted.items()
    }
    if len(set(roles.values())) < len(roles):
        raise FileFormatError(
            f"columns {roles} of {file}", "three different columns for user, item and rating"
        )
    return roles


def position_of(column: Column, names: Sequence[str] | None, width: int, file: str) -> int:
    """Return the position of a column that the caller named, in any case of letters, or numbered.

    Raises
    ------
    FileFormatError
        If there is no such column.
    """
    if isinstance(column, Numeral) and names is not None and column.text in names:
        column = column.text
    if isinstance(column, int):
        if 0 <= column < width:
            return column
        raise FileFormatError(f"column {column} of {file}", f"a position from 0 to {width - 1}")
    if names is None:
        raise FileFormatError(
            f"column {column!r} of {file}, which has no header", "a position", "count from 0"
        )
    matches = [i for i, name in enumerate(names) if name == column]
    matches = matches or [i for i, name in enumerate(names) if name.lower() == column.lower()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise FileFormatError(
            f"{len(matches)} columns named {column!r} in {file}", "one", "give its position"
        )
    nearest = get_close_matches(column, names, n=1)
    hint = f"did you mean {nearest[0]!r}?" if nearest else ""
    raise FileFormatError(f"no column {column!r} in {file}", f"one of {_listing(names)}", hint)


def _default(role: str, names: Sequence[str] | None, file: str) -> int:
    if names is None:
        return list(_KNOWN).index(role)
    plain = ["".join(filter(str.isalnum, name.lower())) for name in names]
    known = [i for i, name in enumerate(plain) if _KNOWN[role].fullmatch(name)]
    if len(known) > 1:
        alike = " and ".join(repr(names[i]) for i in known)
        raise FileFormatError(
            f"columns {alike} of {file}, which all look like the {role}", "one", f"give {option(role)}"
        )
    if not known:
        raise FileFormatError(
            f"no column of {file} looks like the {role}",
            f"a name such as {_EXAMPLES[role]} among {_listing(names)}",
            f"name it, {option(role)}, or give {option('columns', '[...]')} if each individual is one row",
        )
    return known[0]


def _listing(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
