"""Read pairs (individual, feature) that someone wants to know about, and what people answered about pairs of individuals."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError
from likewise.observations.column_roles import ColumnRoles, plain_name
from likewise.observations.reading.columns import Column, listing
from likewise.observations.reading.delimited import Wanted
from likewise.observations.reading.formats import open_columns
from likewise.observations.reading.layouts import Choices, id_array, roles_of_pairs
from likewise.observations.reading.text import PLAIN_TEXT, TextOptions, checked_text
from likewise.observations.reading.unpack import unpack


def read_pairs(
    path: str | PathLike[str],
    *,
    user: Column | None = None,
    item: Column | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
) -> tuple[NDArray[Any], NDArray[Any]]:
    r"""Read a list of (individual, feature) pairs, one a line.

    Parameters
    ----------
    path : path-like
        Delimited text, JSON lines or Parquet, also inside gzip or zip; ``~`` is the home folder, ``-`` standard input.
    user, item : str or int, optional
        Columns by name, or by position counted from 0. By default found by their usual names; where the first line has no
        such names, it is a pair like the others and the first two fields are meant.
    separator : str, optional
        By default found in the first line.
    encoding : str

    Returns
    -------
    rows, columns : ndarray, shape (n_pairs,)
        Ids: integers where all are written as integers are, else text.

    Raises
    ------
    FileFormatError, ObservationError
        As `read_ratings`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "pairs.csv"
    >>> _ = file.write_text("userId,movieId\n1,10\n2,20\n")
    >>> read_pairs(file)
    (array([1, 2]), array([10, 20]))
    """
    choices = Choices(
        format="pairs", user=user, item=item, text=TextOptions(separator=separator, encoding=encoding)
    )
    file = open_columns(unpack(path, "pairs"), choices.text, choices.is_header)
    positions = list(roles_of_pairs(file, choices).values())
    frame = file.take(Wanted(ids=positions)).frame
    rows, columns = (id_array(frame[str(position)]) for position in positions)
    return rows, columns


PAIRS, TRIPLETS = ("left", "right", "similar"), ("anchor", "closer", "farther")
_JUDGE = "judge"
_YES, _NO = (
    ("1", "yes", "y", "true", "t", "similar"),
    ("0", "no", "n", "false", "f", "different", "not similar"),
)


@dataclass(frozen=True, eq=False)
class AnswersFile:
    """Answers from a file, and how they were read; either pairs or triplets are None."""

    pairs: list[Any] | None  # (left, right, similar)
    triplets: list[Any] | None  # (anchor, closer, farther)
    judges: NDArray[Any] | None  # (k,), who answered; None where no column says it
    roles: ColumnRoles


def read_answers(path: str | PathLike[str], *, text: TextOptions = PLAIN_TEXT) -> AnswersFile:
    r"""Read answers as `likewise.fairness.learn_distance` takes them, one a line, under a header that says of which kind they are.

    Delimited text, JSON lines or Parquet has the columns ``left,right,similar`` (yes or no) or ``anchor,closer,farther``, and perhaps ``judge``. A
    `FileFormatError` says that the file is missing, empty, damaged, or without such columns, or that an answer is no yes or no.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "answers.csv"
    >>> _ = file.write_text("left,right,similar,judge\nann,bea,yes,1\nann,cy,no,2\n")
    >>> answers = read_answers(file)
    >>> answers.pairs, answers.judges.tolist()
    ([('ann', 'bea', True), ('ann', 'cy', False)], [1, 2])
    """
    file = open_columns(unpack(path, "answers"), checked_text(text), lambda _: True)
    names = [plain_name(name) for name in file.header or ()]
    kind = next((kind for kind in (PAIRS, TRIPLETS) if set(kind) <= set(names)), None)
    if kind is None:
        shown = listing(file.header or ["none"])
        raise FileFormatError(
            f"{file.name} with the columns {shown}", f"{', '.join(PAIRS)} or {', '.join(TRIPLETS)}"
        )
    places = [names.index(name) for name in kind]
    judge = [names.index(_JUDGE)] if _JUDGE in names else []
    n_ids = 2 if kind == PAIRS else 3
    frame = file.take(Wanted(ids=[*places[:n_ids], *judge], texts=places[n_ids:])).frame
    columns = [id_array(frame[str(place)]).tolist() for place in places[:n_ids]]
    judges = np.asarray(id_array(frame[str(judge[0])])) if judge else None
    roles = file.roles(ids=[*places, *judge])
    if kind == TRIPLETS:
        return AnswersFile(None, list(zip(*columns, strict=True)), judges, roles)
    said = [_yes(answer, k, file.name) for k, answer in enumerate(frame[str(places[2])].to_list())]
    return AnswersFile(list(zip(*columns, said, strict=True)), None, judges, roles)


def _yes(answer: str | None, position: int, file: str) -> bool:
    word = (answer or "").strip().lower()
    if word not in (*_YES, *_NO):
        raise FileFormatError(
            f"answer {position + 1} of {file}, {answer!r}", "yes or no, true or false, 1 or 0"
        )
    return word in _YES
