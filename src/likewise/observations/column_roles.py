"""What the names of columns say, and which columns were read as what: told wherever a result is, for nobody can check what is not named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Names = tuple[str, ...] | None
"""Names of columns; None where a file of this kind has no column of this role."""

_NAMED = 8
"""How many columns a sentence names; the rest are counted."""

_FEW = 4
"""How many outputs: the places of a list, or a score for each item, say little by their names."""


@dataclass(frozen=True)
class ColumnRoles:
    """What each column of a file was read as; None of a role where a file of this kind has no such column.

    >>> roles = ColumnRoles("ratings.csv", ("userId",), ("movieId",), ("rating",), left_out=("timestamp",))
    >>> roles.sentence()
    'Read ratings.csv: individuals from userId, features from movieId, values from rating; left out: timestamp.'
    """

    source: str  # the file
    # name the individual; several are joined by "/"; None where rows are only counted, empty in a file of features alone
    ids: Names = None
    # where `values` is given, the column that names the feature; else one column for each
    features: Names = None
    values: Names = None  # the value of one observation a line; empty where each line counts as 1
    outputs: Names = None
    groups: Names = None
    left_out: tuple[str, ...] = ()  # not used
    target: Names = None  # what outputs should have told
    times: Names = None  # says when each observation was made
    # how cells were understood, where that could surprise: what counts as 1, what as missing, how large each group is
    remarks: tuple[str, ...] = ()
    categories: Names = None  # those of the features that are; all others are numbers

    def sentence(self) -> str:
        """Return one sentence that says which columns are what."""
        counted = [] if self.ids == () else ["individuals counted from 0"]
        parts = [f"individuals from {_listed(self.ids)}"] if self.ids else counted
        is_table = self.values is None and self.outputs is None and self.groups is None
        for role, names in list(self.by_role().items())[1:]:
            what = _counted(len(names), "feature") if names and role == "features" and is_table else role
            most = _FEW if role == "outputs" else _NAMED
            parts += [f"{what} from {_listed(names, most)}"] if names else []
        parts += ["each line counts as 1"] if self.values == () else []
        left_out = f"; left out: {_listed(self.left_out)}" if self.left_out else ""
        remarks = "".join(f"; {_printable(remark)}" for remark in self.remarks)
        return f"Read {_printable(self.source)}: {', '.join(parts)}{left_out}{remarks}."

    def by_role(self) -> dict[str, Names]:
        """Return the names of columns by what they are, ids first; features that may be categories are told apart from numbers."""
        words = self.categories
        features = {"features": self.features}
        if self.features is not None and words is not None:
            features = {
                "numbers": tuple(name for name in self.features if name not in words),
                "categories": words,
            }
        rest = {role: getattr(self, role) for role in ("values", "outputs", "groups", "target", "times")}
        return {"ids": self.ids, **features, **rest}

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain lists, for JSON; None where a file of this kind has no such column."""
        roles = (
            "ids",
            "features",
            "categories",
            "values",
            "outputs",
            "groups",
            "target",
            "times",
            "left_out",
        )
        named = {role: getattr(self, role) for role in roles}
        return {
            "source": self.source,
            **{role: None if names is None else list(names) for role, names in named.items()},
            "remarks": list(self.remarks),
        }


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _listed(names: Iterable[str], most: int = _NAMED) -> str:
    every = [_printable(name) for name in names]
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def _printable(name: str) -> str:
    """Write a name so that it cannot move the cursor, and an empty one so that it is seen."""
    return name if name.isprintable() and name.strip() else repr(name)


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


def is_group(name: str) -> bool:
    """Return whether a column is called like groups of people.

    >>> [is_group(name) for name in ("Gender", "age_group", "income")]
    [True, True, False]
    """
    return _GROUP.fullmatch(plain_name(name)) is not None
