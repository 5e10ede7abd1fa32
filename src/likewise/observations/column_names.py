"""What the names of columns say: which is the user, the item and the rating, which names individuals, which merely counts the rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from likewise.observations.ids import is_unknown

KNOWN = {
    "user": re.compile("(user|customer|reviewer|rater|person|individual|student|u)(id|index)?"),
    "item": re.compile(
        "(item|movie|product|book|song|artist|business|anime|joke|feature|i)(id|index)?|asin|isbn"
    ),
    "rating": re.compile("(book|movie|star)?ratings?|score|stars?|overall|value|grade"),
}
"""Common names of each role, in lower case and without anything but letters and digits."""


_PEOPLE = re.compile(
    "(applicant|candidate|pupil|patient|employee|member|client|subject|respondent|borrower|defendant|who|name)(id|index|no|number)?"
    "|id|uid|pid|uuid|guid|key|rownames?"
)
"""Further names of what names an individual of a table."""


_COUNTS = re.compile(
    r"|_*unnamed(: |:|_*) ?\d+(_level_\d+)?|index|(__index_)?level_\d+_*|row(_?(id|nr|no|number|index))?|nr|no|#",
    re.IGNORECASE,
)
"""What programs call the index that they write before the columns, or nothing at all."""


TIME = re.compile("(unix|review|rating)?(time|timestamp|date|datetime|day)(stamp)?|ts|t")

_OUTPUT = re.compile(
    r"(y|yhat|ypred|out|output|score|scores|value|pred|predicted|prediction|decision|label|class|outcome|target|result|risk|prob|probability|"
    r"proba|p|logit|rating|grade|rank|admit|admitted|approved|accepted|hired|granted|response|estimate)\d*"
)
_GROUP = re.compile("(age)?groups?|agebands?|gender|sex|race|ethnicity|nationality|religion")

_PART = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=\d)")

LISTED = re.compile(
    r"(rec|recommendation|recommended|item|movie|product|song|book|article|top|rank|place|position|choice|slot)[\W_]*\d+"
)
"""How columns of recommended items are called."""


def plain_name(name: str) -> str:
    """Write a name in lower case, without anything but letters and digits."""
    return "".join(filter(str.isalnum, name.lower()))


def is_count(name: str) -> bool:
    """Return whether a column is called what programs call the index that they write, or nothing at all.

    >>> [is_count(name) for name in ("", "Unnamed: 0", "__UNNAMED__0", "index", "applicant")]
    [True, True, True, True, False]
    """
    return _COUNTS.fullmatch(name.strip()) is not None


def is_id(name: str) -> bool:
    """Return whether a column is called what names individuals are called.

    >>> [is_id(name) for name in ("userId", "case_id", "ID", "applicant", "paid", "score")]
    [True, True, True, True, False, False]
    """
    joined = re.search(r"([_\-. ]id|[a-z]I[dD])$", name.strip()) is not None
    return joined or any(known.fullmatch(plain_name(name)) for known in (KNOWN["user"], _PEOPLE))


def is_output(name: str) -> bool:
    """Return whether a column is called what outputs are called.

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
            if known.fullmatch(plain_name(name)) or (role == "rating" and is_output(name))
        ]
        if len(places) == 1:
            found[role] = places[0]
        elif role != "rating" or places:
            return None
    is_whole = len(set(found.values())) == len(found) and all(
        i in found.values() or TIME.fullmatch(plain_name(name)) for i, name in enumerate(names)
    )
    return found if is_whole else None


_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
_NAMED = 4


def note_on_numbers_as_text(columns: Sequence[tuple[str, NDArray[Any]]], axis: str) -> tuple[str, ...]:
    """Say which features are categories although every word in them is a number: codes, or measurements read as text."""
    found = [name for name, cells in columns if _is_text_of_numbers(cells)]
    shown = ", ".join(found[:_NAMED]) + (", ..." if len(found) > _NAMED else "")
    told = f"{axis} features with numbers written as text are taken as categories: {shown}; convert measurements to numbers first"
    return (told,) if found else ()


def _is_text_of_numbers(cells: NDArray[Any]) -> bool:
    listed = [cell for cell in cells.tolist() if not is_unknown(cell) and str(cell).strip()]
    return bool(listed) and all(isinstance(cell, str) and _NUMBER.fullmatch(cell) for cell in listed)


def is_group(name: str) -> bool:
    """Return whether a column is called like groups of people.

    >>> [is_group(name) for name in ("Gender", "age_group", "income")]
    [True, True, False]
    """
    return _GROUP.fullmatch(plain_name(name)) is not None
