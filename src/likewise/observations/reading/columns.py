"""What the names of columns say: which is the user, the item and the rating, which names individuals, which is a mere count of the rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import TYPE_CHECKING, Self

from likewise.errors import FileFormatError, option, some_of
from likewise.observations.column_roles import KNOWN, TIME, is_count, is_id, plain_name
from likewise.observations.reading.text import as_tuple, shortened

if TYPE_CHECKING:
    import polars as pl

_ALIKE = 0.7
"""How alike, from 0 to 1, a column must be called to be what was meant: "name" and "income" come to 0.6."""

Column = str | int
"""A column by name, or by position counted from 0."""


class Numeral(int):
    """A column given in digits where names and positions cannot be told apart: the name if there is such a one, else the position.

    >>> position_of(Numeral("2020"), ["id", "2020"], 2, "marks.csv"), position_of(Numeral("0"), ["id", "2020"], 2, "marks.csv")
    (1, 0)
    """

    text: str

    def __new__(cls, text: str) -> Self:
        """Keep the digits beside the number."""
        numeral = super().__new__(cls, text)
        numeral.text = text
        return numeral


_EXAMPLES = {
    "user": "userId, user or reviewer_id",
    "item": "movieId, item or product_id",
    "rating": "rating, score or stars",
}

_FEWEST_COUNTED = 5
"""From how many rows on a column 0, 1, 2... is taken for a count of the rows: of three people, three values may happen to be in order."""

WITHOUT_VALUES = (
    "a file with users and items and no values (implicit feedback) leaves nothing to estimate: errors, estimates and thresholds have no "
    f"meaning, but outputs can be audited against what each individual chose: {option('format', repr('pairs'))} counts each line as 1"
)
"""What can and cannot be audited where lines have no value."""


def find_roles(
    names: Sequence[str] | None, width: int, wanted: dict[str, Column | None], file: str
) -> dict[str, int]:
    """Return the position of the user, the item and the rating: as the caller named or numbered them, else found by name.

    Without a header, which is None as `names`, the first three of `width` fields are meant. A role without a column, or two that share one, raise a
    `FileFormatError`.
    """
    if width < len(wanted):
        raise FileFormatError(
            f"the first line of {file} has {width} field" + "s" * (width > 1),
            f"at least {len(wanted)}: {', '.join(wanted)}",
            f"give {option('separator')}, or {option('format', repr('grid'))} for bare numbers"
            + f"; {WITHOUT_VALUES}" * (width == 2),
        )
    if names is None and width not in (len(wanted), len(wanted) + 1) and None in wanted.values():
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
    """Return the position of a column that the caller named, in any case of letters, or numbered; a `FileFormatError` if there is none."""
    if not isinstance(column, str | int) or isinstance(column, bool):
        raise FileFormatError(
            f"column {shortened(repr(column))} of {file}", "a name, or a position counted from 0"
        )
    if isinstance(column, Numeral) and names is not None and column.text in names:
        column = column.text
    if isinstance(column, int):
        if 0 <= column < width:
            return int(column)
        raise FileFormatError(f"column {column} of {file}", f"a position from 0 to {width - 1}")
    if names is None:
        raise FileFormatError(
            f"column {column!r} of {file}, which has no header", "a position", "count from 0"
        )
    matches = [i for i, name in enumerate(names) if name == column]
    # As it is written first: ID and id may be two columns.
    matches = matches or [i for i, name in enumerate(names) if name.lower() == column.lower()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise FileFormatError(
            f"{len(matches)} columns named {column!r} in {file}", "one", "give its position"
        )
    nearest = get_close_matches(column, names, n=1, cutoff=_ALIKE)
    hint = f"did you mean {nearest[0]!r}?" if nearest else ""
    raise FileFormatError(f"no column {column!r} in {file}", f"one of {listing(names)}", hint)


def as_columns(given: Column | Iterable[Column] | None, name: str) -> tuple[Column, ...] | None:
    """Return columns as a tuple, also where a single one was given; None for None; a `FileFormatError` if they are not columns."""
    if given is None:
        return None
    columns = (given,) if isinstance(given, str | Integral) else as_tuple(given)
    if columns is not None and all(isinstance(column, str | Integral) for column in columns):
        # A position that NumPy counted is an int as any other; a numeral stays one.
        return tuple(column if isinstance(column, str | int) else int(column) for column in columns)
    raise FileFormatError(
        option(name, shortened(repr(given))), "names of columns, or positions counted from 0"
    )


def _default(role: str, names: Sequence[str] | None, file: str) -> int:
    if names is None:
        return list(KNOWN).index(role)
    known = [i for i, name in enumerate(names) if KNOWN[role].fullmatch(plain_name(name))]
    if len(known) > 1:
        alike = " and ".join(repr(names[i]) for i in known[:3])
        raise FileFormatError(
            f"columns {alike} of {file}, which all look like the {role}", "one", f"give {option(role)}"
        )
    if not known:
        hint = f"name it, {option(role)}, or {_as_table(role, names)}"
        raise FileFormatError(
            f"no column of {file} looks like the {role}",
            f"a name such as {_EXAMPLES[role]} among {listing(names)}",
            hint + f"; {WITHOUT_VALUES}" * (role == "rating" and _has_no_values(names)),
        )
    return known[0]


def _as_table(role: str, names: Sequence[str]) -> str:
    """Say what reads a table with a row for each individual, and what would be taken for what."""
    called = [name for name in names if is_id(name)]
    if not called or role == "rating":
        return f"give {option('columns', '[...]')} if each individual is one row"
    features = listing([name for name in names if name != called[0]])
    return (
        f"if each line is one individual, such as an applicant, give {option('id_columns', repr(called[0]))}: "
        f"the features are then {features}; or name the features, {option('columns', '[...]')}"
    )


def _has_no_values(names: Sequence[str]) -> bool:
    """Return whether besides the user and the item there are times at most."""
    known = (KNOWN["user"], KNOWN["item"], TIME)
    return all(any(names_of.fullmatch(plain_name(name)) for names_of in known) for name in names)


def listing(names: Sequence[object]) -> str:
    """Write names for a message: the first twelve, none of them long."""
    return some_of(names, 12, lambda name: shortened(repr(name)))


def find_ids(
    names: Sequence[str] | None,
    columns: Sequence[Column] | None,
    width: int,
    file: str,
    left_out: Collection[int] = (),
    usual: Sequence[Column] = (),
) -> list[int]:
    """Return the positions of what names the individuals in a table of outputs or groups.

    By default it is the one column that is called like an id, or else the first, without the positions `left_out`. `usual` are the columns that name
    the individuals in another file: they are taken where this one has columns of all these names. A first column that is an index without a
    name, beside which another may be meant, raises a `FileFormatError`.
    """
    if not columns and usual and names is not None and all(str(name) in names for name in usual):
        columns = usual
    if columns:
        ids = [position_of(column, names, width, file) for column in columns]
        if len(set(ids)) < len(ids):
            raise FileFormatError(f"{option('id_columns', f'[{listing(columns)}]')}", "each column once")
        return ids
    places = [place for place in range(width) if place not in left_out] or [0]
    if names is None:
        return places[:1]
    called = [place for place in places if is_id(names[place])]
    first = called[0] if called and places[0] not in called else places[0]
    if is_count(names[places[0]]) and len(places) > 2:
        meant = names[called[0] if called else places[1]]
        raise FileFormatError(
            f"{_named(names[places[0]])} first in {file}, beside {listing([names[place] for place in places[1:]])}",
            "a column that names the individuals",
            f"give {option('id_columns', repr(meant))}, or {option('id_columns', '0')} for the first, or write the file without an index",
        )
    return [first]


def refuse_counts(
    names: Sequence[str] | None,
    positions: Iterable[int],
    frame: pl.DataFrame,
    file: str,
    role: str,
    settle: str,
) -> None:
    """Raise where a column that nobody named would count as a feature or an output, but names or counts the rows.

    The columns of the frame are named by position. The `FileFormatError` calls them by their `role`, and says which option settles it.
    """
    for position in positions:
        name = None if names is None else names[position]
        if name is not None and is_count(name):
            reason = f"{_named(name)}, which is how an index is written,"
        elif name is not None and is_id(name):
            reason = f"column {name!r}, which is called like an id,"
        # Whatever it is called: 1, 2, 3 ... in order says nothing of anybody.
        elif _counts_rows(frame[str(position)]):
            reason = f"column {position if name is None else repr(name)}, which counts the rows,"
        else:
            continue
        raise FileFormatError(
            f"{reason} as {role} of {file}", "to be told what it is", _settling(position, name, settle)
        )


def _settling(position: int, name: str | None, settle: str) -> str:
    """Name the options that settle what a column is; the other two are about the file of individuals."""
    if settle == "output_columns":
        return f"name those that are outputs: {option(settle)}"
    column = repr(name) if name else str(position)
    return (
        f"{option('id_columns', column)} if it names the individuals, {option('exclude', column)} to leave it out, or name "
        f"all that count: {option(settle)}"
    )


def _named(name: str) -> str:
    return f"column {name!r}" if name.strip() else "a column without a name"


def _counts_rows(values: pl.Series) -> bool:
    """Return whether a column is 0, 1, 2... or 1, 2, 3... in order."""
    if len(values) < _FEWEST_COUNTED or not values.dtype.is_numeric() or values.null_count():
        return False
    first = values[0]
    return first in (0, 1) and bool((values.diff().drop_nulls() == 1).all())
