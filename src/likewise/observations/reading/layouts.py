"""What the caller of `read_ratings` says about a file, and how each layout becomes a table of observations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats
from likewise.checks import is_finite
from likewise.errors import FileFormatError, Note, ObservationError, option
from likewise.observations.convert import to_table
from likewise.observations.ids import objects
from likewise.observations.reading.columns import Column, as_columns, find_roles, listing, refuse_counts
from likewise.observations.reading.delimited import Taken, Wanted
from likewise.observations.reading.formats import Tabular
from likewise.observations.reading.numerals import could_be_number, is_usually_missing
from likewise.observations.reading.text import PLAIN_TEXT, TextOptions, check_choice
from likewise.observations.table import DuplicateRule, Table, assemble, without_value

if TYPE_CHECKING:
    import polars as pl


def times_position(file: Tabular, column: Column | None, taken: Sequence[int]) -> list[int]:
    """Return the position of the column of times; nothing where none was named.

    A column that is not there, or is something else already, raises a `FileFormatError`.
    """
    if column is None:
        return []
    position = file.position(column)
    if position in taken:
        raise FileFormatError(
            f"{option('time', repr(column))} of {file.name}", "a column that is no user, item or rating"
        )
    return [position]


def times_of(column: pl.Series, file: str) -> Floats:
    """Return times as numbers: as they are, or of dates such as 2024-05-31 or 2024-05-31T12:00:00 the seconds since 1970; NaN where one is missing.

    A `FileFormatError` shows the first that is neither a number nor a date; no time at all raises an `ObservationError`.
    """
    import polars as pl

    text = column.cast(pl.String)
    words = {word for word in text.drop_nulls().unique().to_list() if is_usually_missing(word)}
    text = text.set(text.is_in(sorted(words)), None) if words else text
    numbers = text.cast(pl.Float64, strict=False)
    if text.null_count() == len(text):
        raise ObservationError(f"no time that is known in {file}", "at least one")
    if numbers.null_count() > text.null_count():
        # Whichever reads more of them: numbers or dates; what it leaves null is odd, and told below.
        numbers = min(_seconds(text), numbers, key=pl.Series.null_count)
    odd = text.filter(numbers.is_null() & text.is_not_null())
    if len(odd):
        raise FileFormatError(
            f"a time {odd[0]!r} in {file}",
            "numbers, such as seconds, or dates such as 2024-05-31 or 2024-05-31T12:00:00",
        )
    return np.asarray(numbers.to_numpy(), np.float64)


def _seconds(text: pl.Series) -> pl.Series:
    """Read dates with or without the time of the day; null where there is none."""
    import polars as pl

    plain = text.str.strip_chars().str.replace(" ", "T", literal=True).str.strip_suffix("Z")
    whole = pl.when(plain.str.contains("T", literal=True)).then(plain).otherwise(plain + "T00:00:00")
    stamps = pl.select(
        whole.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us")
    ).to_series()
    return stamps.cast(pl.Int64).cast(pl.Float64) / 1e6


Layout = Literal["triplets", "pairs", "wide", "grid"]
"""One line an observation; the same without a value; one row an individual, under a header; bare numbers, one row an individual."""

_MEANINGFUL = {
    "triplets": ("user", "item", "rating", "time", "duplicates", "shape"),
    "pairs": ("user", "item", "time", "duplicates", "shape"),
    "wide": ("columns", "id_columns", "exclude"),
    "grid": ("columns", "id_columns", "exclude"),
    "matrix": (),
    "text": ("separator", "header", "encoding", "decimal", "quote", "missing"),
}

_LOPSIDED = 3
"""From how many times as many features as individuals on a file without header is looked at twice: most have more people than items."""


_ON_MISSING = f"words for missing values are named by {option('missing')}"


@dataclass(frozen=True)
class Choices:
    """Arguments of `read_ratings` that say how a file is laid out, with their defaults."""

    format: Layout | None = None
    user: Column | None = None
    item: Column | None = None
    rating: Column | None = None
    time: Column | None = None
    columns: tuple[Column, ...] | None = None
    id_columns: tuple[Column, ...] | None = None
    exclude: tuple[Column, ...] | None = None
    missing_value: float | None = None
    shape: tuple[int, int] | None = None
    duplicates: DuplicateRule = "error"
    text: TextOptions = PLAIN_TEXT

    def __post_init__(self) -> None:
        check_choice("format", self.format, get_args(Layout))
        check_choice("duplicates", self.duplicates, get_args(DuplicateRule))
        if self.missing_value is not None and not is_finite(self.missing_value):
            raise FileFormatError(
                option("missing_value", repr(self.missing_value)), "a finite number; NaN is missing anyway"
            )
        for name in ("columns", "id_columns", "exclude"):
            object.__setattr__(self, name, as_columns(getattr(self, name), name))

    @property
    def roles(self) -> dict[str, Column | None]:
        """The columns of triplets, or of pairs."""
        roles = {"user": self.user, "item": self.item, "rating": self.rating}
        return {role: roles[role] for role in ("user", "item")} if self.format == "pairs" else roles

    def is_header(self, fields: list[str]) -> bool:
        """Return whether the first line names columns: as the caller implies, or as it looks.

        A triplet with text for ids still has a number for its rating, bare numbers nothing else.
        """
        named = (
            *self.roles.values(),
            self.time,
            *(self.columns or ()),
            *(self.id_columns or ()),
            *(self.exclude or ()),
        )
        if self.format == "wide" or any(isinstance(name, str) for name in named):
            return True
        if self.format == "grid":
            return False
        if self.format == "pairs":
            return _names_pairs(fields)
        if any(column is not None for column in self.roles.values()) or len(fields) in (3, 4):
            return not any(could_be_number(field) for field in fields)
        return not all(could_be_number(field) or is_usually_missing(field) for field in fields)

    def layout(self, file: Tabular) -> Layout:
        """Return the layout named, or the one that the other arguments and the first line suggest."""
        if self.format is not None:
            return self.format
        if any(given is not None for given in (self.columns, self.id_columns, self.exclude)):
            return "wide" if file.header else "grid"
        return "grid" if file.is_bare and set(self.roles.values()) == {None} else "triplets"

    def refuse_without_effect(self, file: str, *kinds: str) -> None:
        """Raise if something was given that means nothing for a file of these kinds: no option is ignored."""
        meaningful = {"format", "missing_value", *(name for kind in kinds for name in _MEANINGFUL[kind])}
        for owner in (self, self.text):
            for field in fields(owner):
                given = getattr(owner, field.name)
                if field.name not in {*meaningful, "text"} and given != field.default:
                    accepted = ", ".join(option(name, "") for name in sorted(meaningful))
                    raise FileFormatError(
                        f"{option(field.name, repr(given))} for {file}, read as {kinds[0]}",
                        f"only {accepted}",
                    )


def _names_pairs(fields: list[str]) -> bool:
    try:
        find_roles(fields, len(fields), {"user": None, "item": None}, "")
    except FileFormatError:
        return False
    return True


def read_triplets(file: Tabular, choices: Choices) -> Table:
    """Read one (user, item, rating) triplet from each line, or a pair, which counts as 1."""
    wanted = choices.roles
    has_value = "rating" in wanted
    roles = (
        roles_of_pairs(file, choices)
        if not has_value
        else find_roles(file.header, file.width, wanted, file.name)
    )
    user, item, *value = roles.values()
    # Where the caller says which words stand for missing, a line may have none but such a word.
    time = times_position(file, choices.time, (user, item, *value))
    gaps = choices.text.missing is not None
    taken = file.take(Wanted([user, item], value, time, gaps=gaps, hint=_ON_MISSING))
    frame, dropped = _with_values(taken, value)
    users, items = (id_array(frame[str(position)]) for position in (user, item))
    table = assemble(
        users,
        items,
        frame[str(value[0])].to_numpy() if has_value else np.ones(frame.height),
        shape=choices.shape,
        duplicates=choices.duplicates,
        missing_value=choices.missing_value,
        times=times_of(frame[str(time[0])], file.name) if time else None,
    )
    table = replace(table, roles=file.roles(ids=[user], features=[item], values=value, times=time or None))
    return _with_notes(table, [*taken.notes, *dropped, *_notes_on_roles(file, choices, roles, table)])


def _notes_on_roles(file: Tabular, choices: Choices, roles: Mapping[str, int], table: Table) -> Iterator[str]:
    """Say which columns were taken for what, where nobody said so."""
    wanted = choices.roles
    if file.header is None and choices.user is None and choices.item is None:
        yield from _note_on_sides(table, roles["user"], roles["item"])
    if file.header is not None and None in wanted.values():
        found = ", ".join(f"{role} from column {file.header[position]!r}" for role, position in roles.items())
        yield f"read {found}"
    if "rating" not in wanted:
        yield "no values: each line counts as 1, so that distances say what was chosen, and errors say nothing"


def roles_of_pairs(file: Tabular, choices: Choices) -> dict[str, int]:
    """Return the positions of the user and the item; where there is no header, the first two fields."""
    wanted = choices.roles
    if file.header is None:
        wanted = {role: k if given is None else given for k, (role, given) in enumerate(wanted.items())}
    return find_roles(file.header, file.width, wanted, file.name)


def _with_values(taken: Taken, value: Sequence[int]) -> tuple[pl.DataFrame, list[str]]:
    """Leave out the lines that hold a word for "missing" where the value should be."""
    frame = taken.frame
    if not value or not (n_missing := frame[str(value[0])].null_count()):
        return frame, []
    if n_missing == frame.height:
        raise ObservationError("no line with a value", "at least one")
    kept = frame.filter(frame[str(value[0])].is_not_null())
    return kept, [f"{n_missing:,} of {frame.height:,} lines have no value and are left out"]


def _note_on_sides(table: Table, user: int, item: int) -> list[str]:
    """Say which field is the individual where there are far fewer individuals than features."""
    n_rows, n_columns = table.values.shape
    if n_columns < _LOPSIDED * n_rows:
        return []
    told = (
        f"no header: column {user} ({n_rows:,} different ids) is read as the individual and column {item} ({n_columns:,}) as the feature; "
        f"if that is the wrong way round, give {option('user', str(item))} and {option('item', str(user))}"
    )
    return [Note(told)]


def read_wide(file: Tabular, choices: Choices, layout: Layout) -> Table:
    """Read one individual from each row, under a header or of bare numbers; empty cells are missing."""
    ids, features = feature_columns(file, choices.columns, choices.id_columns, choices.exclude)
    taken = file.take(Wanted(ids=ids, numbers=features, gaps=True))
    if choices.columns is None:
        refuse_counts(file.header, features, taken.frame, file.name, "a feature", "columns")
    row_ids = joined_ids(taken.frame, ids)
    names = [file.label(position) for position in features]
    table = to_table(taken.frame.select(map(str, features)), row_ids, names)
    roles = file.roles(ids=ids or None, features=features)
    table = replace(table, roles=replace(roles, remarks=tuple(taken.words)))
    notes = [*taken.notes, *taken.words]
    if layout == "grid":
        n_rows, n_columns = table.values.shape
        notes.append(f"read as a grid of {n_rows:,} x {n_columns:,} numbers, each row an individual")
        if choices.missing_value is None and table.values.nnz == n_rows * n_columns:
            told = f"every cell counts as observed; if a value stands for missing, give {option('missing_value', '')}"
            notes.append(Note(told))
    return without_value(_with_notes(table, notes), choices.missing_value)


def feature_columns(
    file: Tabular,
    columns: Sequence[Column] | None,
    id_columns: Sequence[Column] | None,
    exclude: Sequence[Column] | None,
) -> tuple[list[int], list[int]]:
    """Return the positions of the ids and of the features of a table, as far as the caller said.

    A column that is not there, or is two things, raises a `FileFormatError`.
    """
    ids, features, left_out = (
        [file.position(name) for name in given or ()] for given in (id_columns, columns, exclude)
    )
    if columns is None:
        features = [position for position in range(file.width) if position not in (*ids, *left_out)]
    if not features or len({*features, *ids, *left_out}) < len(features) + len(ids) + len(set(left_out)):
        given = {"columns": columns, "id_columns": id_columns, "exclude": exclude}
        said = [option(name, f"[{listing(named)}]") for name, named in given.items() if named is not None]
        raise FileFormatError(
            " with ".join(said) or f"{file.name} without columns",
            "features, each once, that are not ids and not excluded",
        )
    return ids, features


def _with_notes(table: Table, notes: Sequence[str]) -> Table:
    return replace(table, notes=(*table.notes, *notes))


def id_array(ids: pl.Series) -> NDArray[Any]:
    """Return a column of ids as integers, or as the Python objects that they are: text, or integers too large for NumPy."""
    if ids.dtype.is_integer():
        import polars as pl

        # NumPy has no such integers; those that fit become ordinary ones, else all stay Python's.
        numbers = ids.cast(pl.Int64, strict=False) if "128" in str(ids.dtype) else ids
        if not numbers.null_count():
            return numbers.to_numpy()
    return objects(ids.to_list())


def joined_ids(frame: pl.DataFrame, positions: Sequence[int]) -> NDArray[Any] | None:
    """Return the ids of individuals, the parts of several columns joined by ``/``; None where there is no column of ids."""
    parts = [id_array(frame[str(position)]) for position in positions]
    if len(parts) < 2:
        return parts[0] if parts else None
    return objects(["/".join(map(str, names)) for names in zip(*parts, strict=True)])
