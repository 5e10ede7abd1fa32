"""Groups and targets of individuals, read from a file and put in the order of the individuals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import FileFormatError, option
from likewise.observations.column_roles import ColumnRoles, is_group, long_columns
from likewise.observations.ids import as_id_array, objects
from likewise.observations.index_alignment import on_others, places_in_file
from likewise.observations.reading.columns import Column, Numeral, as_columns, find_ids, listing
from likewise.observations.reading.delimited import Wanted
from likewise.observations.reading.formats import ArrayFile, Tabular, open_columns, open_file
from likewise.observations.reading.layouts import joined_ids
from likewise.observations.reading.numerals import Notation, could_be_number, note_on_missing
from likewise.observations.reading.text import PLAIN_TEXT, TextOptions, checked_text
from likewise.observations.reading.unpack import unpack

_NAMED = 4
"""How many groups a sentence names, with their sizes."""

_OPTION = {"groups": "group_column", "target": "target_column"}


@dataclass(frozen=True, eq=False)
class GroupsFile:
    """Groups from a file, and how they were read."""

    values: NDArray[Any]  # (m,), in the order of the individuals; None for who belongs to an unknown group
    roles: ColumnRoles
    n_unknown: int = 0  # of how many individuals the group is unknown

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of a result should know: of how many individuals the group is unknown."""
        if not self.n_unknown:
            return ()
        return (f"the group of {self.n_unknown:,} of {self.values.size:,} individuals is unknown",)


def read_groups(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    *,
    id_columns: Column | Sequence[Column] | None = None,
    group_column: Column | None = None,
    text: TextOptions = PLAIN_TEXT,
) -> NDArray[Any]:
    r"""Read a group for each individual: the `values` of `read_groups_file`, which has the parameters and errors.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "users.dat"
    >>> _ = file.write_text("2::M::56\n1::F::18\n")
    >>> read_groups(file, [1, 2]).tolist()
    ['F', 'M']
    """
    return read_groups_file(path, row_ids, id_columns=id_columns, group_column=group_column, text=text).values


def read_groups_file(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    *,
    id_columns: Column | Sequence[Column] | None = None,
    group_column: Column | None = None,
    text: TextOptions = PLAIN_TEXT,
) -> GroupsFile:
    r"""Read a group for each individual, such as gender or an age band, in the order of `row_ids`.

    The file is delimited text, JSON lines or Parquet; lines can be in any order and may speak of others too. A field that is empty or says one of the
    words of ``text.missing``, such as NA, is not a group: the individual's is unknown. Columns are given by name, or by position counted from 0.
    By default the id is the column that is called like one, or else the first; the parts of several are joined by ``/``, as `read_ratings` joins them.
    The group is by default in the only column beside the ids, or in the second of a file without names.

    A `FileFormatError` says that the file is missing, empty, damaged, or without such a column; a `ModelError`, how many ids match where an individual
    has no line, or several.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "users.csv"
    >>> _ = file.write_text("id,sex\nbea,f\nann,NA\n")
    >>> groups = read_groups_file(file, ["ann", "bea"])
    >>> groups.values.tolist(), groups.n_unknown, groups.roles.sentence()
    ([None, 'f'], 1, "Read users.csv: individuals from id, groups from sex; f: 1, without a group: 1; 1 cell of sex that says 'NA' counts as missing.")
    """
    groups, roles = read_labels(path, row_ids, id_columns, group_column, text, "groups")
    n_unknown = sum(group is None for group in groups.tolist())
    roles = replace(roles, remarks=(*_sizes(groups.tolist(), n_unknown), *roles.remarks))
    return GroupsFile(groups, roles, n_unknown)


def _sizes(groups: list[Any], n_unknown: int) -> tuple[str, ...]:
    """Say how large each group is, the largest first, so that a word that is meant as no group is seen to be one."""
    sizes = Counter(str(group) for group in groups if group is not None).most_common()
    told = [f"{group}: {size:,}" for group, size in sizes[:_NAMED]]
    told += [f"{len(sizes) - _NAMED:,} more groups"] if len(sizes) > _NAMED else []
    told += [f"without a group: {n_unknown:,}"] if n_unknown else []
    return (", ".join(told),)


def read_labels(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    id_columns: Column | Sequence[Column] | None,
    label_column: Column | None,
    text: TextOptions,
    role: Literal["groups", "target"],
) -> tuple[NDArray[Any], ColumnRoles]:
    """Return one label for each individual, None where unknown, and which columns were read; see `read_groups_file`."""
    import polars as pl

    given = as_columns(id_columns, "id_columns")
    wanted = as_id_array(row_ids, "row_ids").tolist()
    known = {str(one) for one in wanted}

    def is_header(fields: list[str]) -> bool:
        """Take names where a column is named, or is called by digits that are no position; else a first word that nobody has for an id."""
        columns = (*(given or ()), *(() if label_column is None else (label_column,)))
        if any(isinstance(column, str) for column in columns):
            return True
        if any(isinstance(column, Numeral) and column >= len(fields) for column in columns):
            return True
        return fields[0].strip() not in known and not could_be_number(fields[0])

    file = open_columns(unpack(path, role), checked_text(text), is_header)
    ids = find_ids(file.header, given, file.width, file.name)
    chosen = _only_column(file, ids, role) if label_column is None else label_column
    place = file.position(chosen)
    if place in ids or len(set(ids)) < len(ids):
        raise FileFormatError(
            f"columns {listing(file.names([*ids, place]))} of {file.name}",
            f"different columns for ids and {role}",
        )
    frame = file.take(Wanted(ids=ids, texts=[place])).frame
    held = np.asarray(joined_ids(frame, ids))
    rows = places_in_file(held, wanted, file.name, role)
    labels = _groups(frame[str(place)].to_list(), Notation(missing=text.missing))
    is_unknown = pl.Series([label is None for label in labels.tolist()], dtype=pl.Boolean)
    remarks = (
        *note_on_missing([(file.names([place])[0], frame[str(place)], is_unknown)]),
        *on_others(held, wanted),
    )
    return labels[rows], replace(file.roles(ids=ids, **{role: [place]}), remarks=remarks)


def _only_column(file: Tabular, ids: Sequence[int], role: str) -> Column:
    """Return the column that holds the labels where there is no choice; where there is, somebody has to make it."""
    others = [position for position in range(file.width) if position not in ids]
    if file.header is None:
        return 1
    if len(others) != 1:
        raise FileFormatError(
            f"{file.name} with {len(others)} columns beside the ids: {listing(file.names(others))}",
            f"one column of {role}",
            f"name it with {option(_OPTION[role], repr(_likeliest(file, others, role)))}",
        )
    return others[0]


def _likeliest(file: Tabular, others: Sequence[int], role: str) -> str:
    """Return the name of the column that a hint should give: of groups, one that is called so, or that of the fewest values, as an age or an income names no group."""
    if not others:
        return "..."
    names = file.names(others)
    called = [name for name in names if is_group(name)]
    if role != "groups" or called:
        return (called or names)[0]
    frame = file.take(Wanted(ids=[], texts=others)).frame
    counts = [frame[str(position)].drop_nulls().n_unique() for position in others]
    # A column of one value tells no groups apart, and comes last.
    several = [count if count > 1 else frame.height + 1 for count in counts]
    return names[several.index(min(several))]


def _groups(texts: list[str | None], notation: Notation) -> NDArray[Any]:
    """Return groups without blanks around, integers where all of them are, None where unknown."""
    labels = [None if text is None or notation.is_missing(text) else text.strip() for text in texts]
    known = [label for label in labels if label is not None]
    if not known or not all(re.fullmatch("-?[1-9][0-9]{0,17}|0", label) for label in known):
        return objects(labels)
    numbers = objects([None if label is None else int(label) for label in labels])
    return numbers if len(known) < len(labels) else numbers.astype(np.int64)


@dataclass(frozen=True, eq=False)
class TargetFile:
    """A target from a file, and how it was read."""

    values: NDArray[Any]  # (m,), in the order of the individuals; None where it is unknown
    roles: ColumnRoles


def read_target_file(
    path: str | PathLike[str],
    row_ids: ArrayLike,
    *,
    id_columns: Column | Sequence[Column] | None = None,
    target_column: Column | None = None,
    text: TextOptions = PLAIN_TEXT,
) -> TargetFile:
    r"""Read what outputs should have told of each individual, as `read_groups_file` reads groups; what is empty or says NA is unknown.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "later.csv"
    >>> _ = file.write_text("id,hired\nbea,no\nann,yes\ncy,\n")
    >>> read_target_file(file, ["ann", "bea", "cy"]).values.tolist()
    ['yes', 'no', None]
    """
    values, roles = read_labels(path, row_ids, id_columns, target_column, text, "target")
    return TargetFile(values, roles)


def is_long(path: str | PathLike[str], text: TextOptions = PLAIN_TEXT) -> bool:
    r"""Return whether a file has a line with a value for each individual and item, under names that say so.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "later.csv"
    >>> _ = file.write_text("user,item,rating\nann,7,5\n")
    >>> is_long(file)
    True
    """
    file = open_file(unpack(path, "target"), text, lambda _: True)
    if isinstance(file, ArrayFile) or file.header is None:
        return False
    return "rating" in (long_columns(file.header) or {})
