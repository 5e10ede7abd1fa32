"""What a file of outputs may hold besides numbers: two words, lists of items, or a line for each individual and item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError, InputError
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.frames import are_listed
from likewise.observations.outputs import OutputLines
from likewise.observations.reading.columns import listing
from likewise.observations.reading.delimited import Taken, Wanted
from likewise.observations.reading.doubtful_columns import has_unit, in_order
from likewise.observations.reading.formats import Tabular
from likewise.observations.reading.layouts import id_array
from likewise.observations.reading.numerals import could_be_number, could_be_numbers

if TYPE_CHECKING:
    import polars as pl

OutputKind = Literal["numbers", "top-n"]
"""Numbers, which distances between vectors are for; or ids of recommended items, the first the most recommended."""

REPAIR_CHANGED = "change"
"""What a file of repaired outputs calls its last column: by how much they were changed, which is not an output."""

_CLASSES = 12
"""Up to so many different words are classes of outputs."""

_YES = re.compile("true|yes|y|t|admit(ted)?|accept(ed)?|approved?|grant(ed)?|hired?|pass(ed)?|positive")
_NO = re.compile("false|no|n|f|reject(ed)?|deny|denied|declined?|fail(ed)?|negative")
"""Words of which one counts as 1, or as 0, where the outputs are one of two words."""


@dataclass(frozen=True, eq=False)
class OutputsFile:
    """Outputs from a file, and how they were read."""

    # (m,), (m, k), or of lists the ids of N items, (m, N); in the order of the individuals
    values: NDArray[Any]
    roles: ColumnRoles
    names: tuple[str, ...]  # of each column of outputs
    # lists of items are compared by ``likewise.fairness.top_n_distance(values)``; between ids no other distance means anything
    kind: OutputKind = "numbers"
    notes: tuple[str, ...] = ()  # what the reader of a result should know, such as which word counts as 1


def two_valued(words: Sequence[str]) -> tuple[list[float], str] | None:
    """Return outputs that are one of two words as 1 and 0, and which is which; None where they are not.

    >>> two_valued(["admit", "reject", "Admit"])
    ([1.0, 0.0, 1.0], "outputs: 'Admit' counts as 1, 'reject' counts as 0")
    """
    by_case = {word.lower(): word for word in words}
    if any(could_be_number(word) for word in by_case):
        return None  # a number beside NaN, inf or n/a is a score with something missing, and no label
    yes, no = ([word for word in by_case if known.fullmatch(word)] for known in (_YES, _NO))
    if len(by_case) > 2 or (len(by_case) == 1 and not yes and not no):
        return None
    # Which of two words is 1 is the same to every distance.
    one = yes[0] if len(yes) == 1 else None if no and len(by_case) == 1 else max(by_case)
    meanings = [
        f"{by_case[word]!r} counts as {int(word == one)}" for word in sorted(by_case, key=lambda w: w != one)
    ]
    return [float(word.lower() == one) for word in words], f"outputs: {', '.join(meanings)}"


def take_lists(
    file: Tabular, ids: Sequence[int], outputs: Sequence[int], kind: OutputKind | None
) -> Taken | None:
    """Take the items recommended to each individual; None where the columns hold something else.

    An item twice in a list, where the caller says that these are lists, raises a `FileFormatError`.
    """
    if kind == "numbers" or not (kind == "top-n" or are_listed(file.names(outputs))):
        return None
    try:
        taken = file.take(Wanted(ids=[*ids, *outputs]))
    except InputError:
        if kind == "top-n":
            raise
        return None  # read as numbers, the fault is told in their words
    columns = [taken.frame[str(position)] for position in outputs]
    rows = np.stack([column.cast(str).to_numpy() for column in columns], axis=1)
    # Sorted, items that a list has twice are neighbours.
    ordered = np.sort(rows.astype(object), axis=1)
    repeats = (ordered[:, 1:] == ordered[:, :-1]).any()
    if kind == "top-n" and repeats:
        raise FileFormatError(f"{file.name} with an item twice in a list", "lists of different items")
    are_fractions = [not column.dtype.is_integer() and could_be_numbers(column) for column in columns]
    return None if repeats or (kind is None and any(are_fractions)) else taken


def note_on_lists(n: int) -> str:
    """Say what the outputs are."""
    return f"the outputs are lists of {n} items each, compared by what they have in common"


def of_lines(
    file: Tabular, places: dict[str, int], wanted: Sequence[Any], holds: str = "outputs"
) -> OutputsFile:
    """Read one line for each individual and item; the rest as `OutputLines.arranged`."""
    ids, score = [places["user"], places["item"]], [places["rating"]] if "rating" in places else []
    taken = file.take(Wanted(ids=ids, numbers=score))
    roles = file.roles(ids=ids[:1], features=ids[1:], outputs=score)
    users, items = (id_array(taken.frame[str(position)]) for position in ids)
    scores = taken.frame[str(score[0])].to_numpy() if score else None
    found = OutputLines(users, items, scores, file.name, holds).arranged(wanted)
    roles = replace(roles, remarks=found.remarks)
    if not found.are_lists:
        return OutputsFile(found.values, roles, found.names, "numbers", tuple(taken.notes))
    n = len(found.names)
    by = f"by {file.names(score)[0]}" if score else "in the order of the lines"
    roles = replace(roles, outputs=(f"lists of {n} items {by}",))
    return OutputsFile(found.values, roles, found.names, "top-n", (f"{note_on_lists(n)}, {by}", *taken.notes))


def on_words(file: Tabular, outputs: Sequence[int], columns: Sequence[pl.Series]) -> InputError | None:
    """Say what to do with outputs that are one of several words, or numbers with a unit; None where they are neither."""
    named = zip(file.names(outputs), columns, strict=True)
    name, cells = next((pair for pair in named if not could_be_numbers(pair[1])), ("", columns[0]))
    words = sorted(cells.filter(cells != "").unique().to_list())
    if any(map(could_be_number, words)) or not words:
        return None
    if has_unit(cells.filter(cells != "")):
        hint = f"write the bare number in place of {words[0]!r}"
    elif 1 < len(words) <= _CLASSES:
        numbered = ", ".join(f"{word} = {place}" for place, word in enumerate(in_order(words) or words))
        hint = f"if they have an order, write numbers for them, such as {numbered}; if not, a column of 0 and 1 for each"
    else:
        return None
    return FileFormatError(
        f"words in {name!r} of {file.name}: {listing(words)}", "numbers, or one of two words", hint
    )
