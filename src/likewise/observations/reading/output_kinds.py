"""What a file of outputs may hold besides numbers: two words, lists of items, or a line for each individual and item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Counts, Floats
from likewise.errors import FileFormatError, InputError, option
from likewise.memory import ensure_fits
from likewise.observations.column_names import LISTED
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.ids import factorize
from likewise.observations.index_alignment import places_in_file
from likewise.observations.outputs import checked_outputs
from likewise.observations.reading.delimited import Taken, Wanted
from likewise.observations.reading.formats import Tabular
from likewise.observations.reading.layouts import id_array
from likewise.observations.reading.numerals import could_be_number, could_be_numbers

OutputKind = Literal["numbers", "top-n"]
"""Numbers, which distances between vectors are for; or ids of recommended items, the first the most recommended."""

_YES = re.compile("true|yes|y|t|admit(ted)?|accept(ed)?|approved?|grant(ed)?|hired?|pass(ed)?|positive")
_NO = re.compile("false|no|n|f|reject(ed)?|deny|denied|declined?|fail(ed)?|negative")
"""Words of which one counts as 1, or as 0, where the outputs are one of two words."""


@dataclass(frozen=True, eq=False)
class OutputsFile:
    """Outputs from a file, and how they were read.

    Parameters
    ----------
    values : ndarray, shape (m,), (m, k) or (m, N)
        In the order of the individuals. Numbers: one column of outputs gives (m,). Top-N: the ids of the N items recommended to each.
    roles : ColumnRoles
        Which columns were read as what.
    names : tuple of str
        What each output is called; as many as there are columns of outputs.
    kind : {"numbers", "top-n"}
        ``likewise.fairness.top_n_distance(values)`` compares lists; between ids no other distance means anything.
    notes : tuple of str
        What the reader of a result should know, such as which word counts as 1.
    """

    values: NDArray[Any]
    roles: ColumnRoles
    names: tuple[str, ...]
    kind: OutputKind = "numbers"
    notes: tuple[str, ...] = ()


def two_valued(words: Sequence[str]) -> tuple[list[float], str] | None:
    """Return outputs that are one of two words as 1 and 0, and which is which; None where they are not.

    Examples
    --------
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

    Raises
    ------
    FileFormatError
        An item twice in a list, where the caller says that these are lists.
    """
    is_likely = len(outputs) > 1 and all(_is_listed(name) for name in file.names(outputs))
    if kind == "numbers" or not (is_likely or kind == "top-n"):
        return None
    try:
        taken = file.take(Wanted(ids=[*ids, *outputs]))
    except InputError:
        if kind == "top-n":
            raise
        return None  # read as numbers, the fault is told in their words
    columns = [taken.frame[str(position)] for position in outputs]
    rows = np.stack([column.cast(str).to_numpy() for column in columns], axis=1)
    ordered = np.sort(rows.astype(object), axis=1)
    repeats = (ordered[:, 1:] == ordered[:, :-1]).any()
    if kind == "top-n" and repeats:
        raise FileFormatError(f"{file.name} with an item twice in a list", "lists of different items")
    are_fractions = [not column.dtype.is_integer() and could_be_numbers(column) for column in columns]
    return None if repeats or (kind is None and any(are_fractions)) else taken


def _is_listed(label: str) -> bool:
    return LISTED.fullmatch(label.strip().lower()) is not None


def note_on_lists(n: int) -> str:
    """Say what the outputs are."""
    return f"the outputs are lists of {n} items each, compared by what they have in common"


def of_lines(
    file: Tabular, places: dict[str, int], wanted: Sequence[Any], holds: str = "outputs"
) -> OutputsFile:
    """Read one line for each individual and item: numbers where all have a score for every item, lists where all have as many items.

    What holds features holds no lists.

    Raises
    ------
    FileFormatError
        Neither; or an individual and an item twice.
    ModelError
        An individual without a line.
    """
    ids, score = [places["user"], places["item"]], [places["rating"]] if "rating" in places else []
    taken = file.take(Wanted(ids=ids, numbers=score))
    roles = file.roles(ids=ids[:1], features=ids[1:], outputs=score)
    users, items = (id_array(taken.frame[str(position)]) for position in ids)
    # Without a score the first line of an individual is the most recommended.
    scores = taken.frame[str(score[0])].to_numpy() if score else -np.arange(len(users), dtype=np.float64)
    people, codes = factorize(users, "row")
    order = np.full(people.size, -1)
    order[places_in_file(people, wanted, file.name, holds)] = np.arange(len(wanted))
    row = order[codes]
    row, items, scores = row[row >= 0], items[row >= 0], scores[row >= 0]  # the file may speak of others too
    things, column = factorize(items, "column")
    if np.unique(row * things.size + column).size < row.size:
        raise FileFormatError(
            f"{file.name} with the same individual and item twice", "one line for each pair"
        )
    counts = np.bincount(row, minlength=len(wanted))
    if score and (counts == things.size).all():
        values = _score_matrix((row, column), scores, (len(wanted), things.size), file.name)
        return OutputsFile(values, roles, tuple(map(str, things.tolist())), "numbers", tuple(taken.notes))
    if holds == "features":
        raise FileFormatError(
            f"{file.name} with {_fewest_to_most(counts)} of {things.size:,} items for an individual",
            "a number for every item, for everybody",
            f"observations with gaps are compared by {option('reference', 'observed')} or {option('reference', 'co-observed')}",
        )
    n = _length_of_lists(counts, things.size, file.name)
    lists = items[np.lexsort((-scores, row))].reshape(len(wanted), n)
    by = f"by {file.names(score)[0]}" if score else "in the order of the lines"
    roles = replace(roles, outputs=(f"lists of {n} items {by}",))
    names = tuple(f"item {place}" for place in range(1, n + 1))
    return OutputsFile(lists, roles, names, "top-n", (f"{note_on_lists(n)}, {by}", *taken.notes))


def _score_matrix(
    places: tuple[NDArray[Any], NDArray[Any]], scores: Floats, shape: tuple[int, int], file: str
) -> Floats:
    """Return the scores of all items for all individuals, checked."""
    ensure_fits(8 * shape[0] * shape[1], "a score for each individual and item", "keep fewer items")
    matrix = np.empty(shape)
    matrix[places] = scores
    return checked_outputs(matrix, shape[0], file)


def _length_of_lists(counts: Counts, n_items: int, file: str) -> int:
    """Return how many items each individual has; an error where not all have as many."""
    if (counts != counts[0]).any():
        raise FileFormatError(
            f"{file} with {_fewest_to_most(counts)} of {n_items:,} items for an individual",
            "a score for every item, or as many items for each individual",
            "keep the same number of best items for each, or fill in the scores that are not there",
        )
    return int(counts[0])


def _fewest_to_most(counts: Counts) -> str:
    least, most = counts.min(), counts.max()
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
