"""What a file of outputs may hold besides numbers: two words, lists of items, or a line for each individual and item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError
from likewise.memory import ensure_fits
from likewise.observations.column_roles import ColumnRoles
from likewise.observations.ids import factorize
from likewise.observations.index_alignment import places_in_file
from likewise.observations.outputs import checked_outputs
from likewise.observations.reading.columns import KNOWN, TIME, plain
from likewise.observations.reading.delimited import Wanted
from likewise.observations.reading.formats import Tabular
from likewise.observations.reading.layouts import id_array

OutputKind = Literal["numbers", "top-n"]
"""Numbers, which distances between vectors are for; or ids of recommended items, the first the most recommended."""

_YES = re.compile("true|yes|y|t|admit(ted)?|accept(ed)?|approved?|grant(ed)?|hired?|pass(ed)?|positive")
_NO = re.compile("false|no|n|f|reject(ed)?|deny|denied|declined?|fail(ed)?|negative")
"""Words of which one counts as 1, or as 0, where the outputs are one of two words."""

_LISTED = re.compile(
    r"(rec|recommendation|recommended|item|movie|product|song|book|article|top|rank|place|position|choice|slot)[\W_]*\d+"
)
"""How columns of recommended items are called."""


_OUTPUT = re.compile(
    r"(y|yhat|ypred|out|output|score|scores|value|pred|predicted|prediction|decision|label|class|outcome|target|result|risk|prob|probability|"
    r"proba|p|logit|rating|grade|rank|admit|admitted|approved|accepted|hired|granted|response|estimate)\d*"
)
_PART = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=\d)")


def is_output(name: str) -> bool:
    """Return whether a column is called what outputs are called.

    Examples
    --------
    >>> [is_output(name) for name in ("score", "P(admit)", "prob_2", "age", "zip")]
    [True, True, True, False, False]
    """
    parts = [part for part in _PART.split(name.strip().lower()) if part]
    return any(_OUTPUT.fullmatch(part) for part in parts)


def long_columns(names: Sequence[str]) -> dict[str, int] | None:
    """Return where the user, the item and perhaps the score stand in a table with a line for each individual and item; None if it is none."""
    found = {}
    for role, known in KNOWN.items():
        places = [
            i
            for i, name in enumerate(names)
            if known.fullmatch(plain(name)) or (role == "rating" and is_output(name))
        ]
        if len(places) == 1:
            found[role] = places[0]
        elif role != "rating" or places:
            return None
    is_whole = len(set(found.values())) == len(found) and all(
        i in found.values() or TIME.fullmatch(plain(name)) for i, name in enumerate(names)
    )
    return found if is_whole else None


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
    yes, no = ([word for word in by_case if known.fullmatch(word)] for known in (_YES, _NO))
    if len(by_case) > 2 or (len(by_case) == 1 and not yes and not no):
        return None
    # Which of two words is 1 is the same to every distance.
    one = yes[0] if len(yes) == 1 else None if no and len(by_case) == 1 else max(by_case)
    meanings = [
        f"{by_case[word]!r} counts as {int(word == one)}" for word in sorted(by_case, key=lambda w: w != one)
    ]
    return [float(word.lower() == one) for word in words], f"outputs: {', '.join(meanings)}"


def are_lists(columns: Any, labels: Sequence[str], kind: OutputKind | None, file: str) -> bool:
    """Return whether columns hold the items recommended to each individual.

    Raises
    ------
    FileFormatError
        An item twice in a list, where the caller says that these are lists.
    """
    if (
        kind == "numbers"
        or columns.width < 2
        or (kind is None and not all(_is_listed(label) for label in labels))
    ):
        return False
    rows = columns.to_numpy()
    is_whole = all(
        not dtype.is_float() or (column % 1 == 0).all()
        for dtype, column in zip(columns.dtypes, columns, strict=True)
    )
    ordered = np.sort(rows.astype(str) if rows.dtype == object else rows, axis=1)
    repeats = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if kind == "top-n" and (repeats.any() or not is_whole):
        raise FileFormatError(f"{file} with an item twice in a list, or no items", "lists of different items")
    return bool(is_whole and not repeats.any())


def _is_listed(label: str) -> bool:
    return _LISTED.fullmatch(label.strip().lower()) is not None


def note_on_lists(n: int) -> str:
    """Say what the outputs are."""
    return f"the outputs are lists of {n} items each, compared by what they have in common"


def of_lines(file: Tabular, places: dict[str, int], wanted: Sequence[Any]) -> OutputsFile:
    """Read one line for each individual and item: numbers where all have a score for every item, lists where all have as many items.

    Raises
    ------
    FileFormatError
        Neither; or an individual and an item twice.
    ModelError
        An individual without a line.
    """
    ids, score = [places["user"], places["item"]], [places["rating"]] if "rating" in places else []
    taken = file.take(Wanted(ids=ids, numbers=score))
    users, items = (id_array(taken.frame[str(position)]) for position in ids)
    # Without a score the first line of an individual is the most recommended.
    scores = taken.frame[str(score[0])].to_numpy() if score else -np.arange(len(users), dtype=np.float64)
    people, codes = factorize(users, "row")
    order = np.full(people.size, -1)
    order[places_in_file(people, wanted, file.name)] = np.arange(len(wanted))
    row = order[codes]
    row, items, scores = row[row >= 0], items[row >= 0], scores[row >= 0]  # the file may speak of others too
    things, column = factorize(items, "column")
    if np.unique(row * things.size + column).size < row.size:
        raise FileFormatError(
            f"{file.name} with the same individual and item twice", "one line for each pair"
        )
    roles = file.roles(ids=ids[:1], features=ids[1:], outputs=score)
    count = np.bincount(row, minlength=len(wanted))
    if score and (count == things.size).all():
        ensure_fits(8 * len(wanted) * things.size, "a score for each individual and item", "keep fewer items")
        matrix = np.empty((len(wanted), things.size))
        matrix[row, column] = scores
        values = checked_outputs(matrix, len(wanted), file.name)
        return OutputsFile(values, roles, tuple(map(str, things.tolist())), "numbers", tuple(taken.notes))
    n = int(count[0])
    if (count != n).any():
        raise FileFormatError(
            f"{file.name} with {count.min():,} to {count.max():,} of {things.size:,} items for an individual",
            "a score for every item, or as many items for each individual",
            "keep the same number of best items for each, or fill in the scores that are not there",
        )
    lists = items[np.lexsort((-scores, row))].reshape(len(wanted), n)
    by = f"by {file.names(score)[0]}" if score else "in the order of the lines"
    names = tuple(f"item {place}" for place in range(1, n + 1))
    return OutputsFile(lists, roles, names, "top-n", (f"{note_on_lists(n)}, {by}", *taken.notes))
