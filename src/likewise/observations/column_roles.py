"""Which columns of a file were read as what: said on the terminal, on the page and in JSON, for nobody can check what is not named."""

from __future__ import annotations

from collections.abc import Iterable
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
    """What each column of a file was read as; None of a role means that the file cannot have it.

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
