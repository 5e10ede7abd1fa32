"""What of a table of numbers and categories could surprise: words that count as missing, codes, and columns that lose by being categories."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from likewise._typing import Floats
from likewise.errors import CategoryWarning, option
from likewise.observations.reading.numerals import note_on_missing, rank_of_word

if TYPE_CHECKING:
    import polars as pl

_FEWEST_CODES, _MOST_CODES, _REPEATED, _SCATTERED = 3, 20, 5, 10
"""So many different whole numbers, each there so often on average, over a range so many times as long as if they were counted through, are codes."""

_ZERO_FIRST = r"^0[0-9]+$"

_AMOUNT = r"[0-9][0-9.,' ]*"
_WITH_UNIT = (
    rf"^[+-]?(?:[$€£¥] ?{_AMOUNT}|{_AMOUNT} ?(?:[%$€£¥]|(?i:usd|eur|gbp|kg|cm|km|mi|lbs?|h|min|years?)))$"
)
_DATE = r"^(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4})(?:[ T][0-9:.]+Z?)?$"

_NEARLY_ALL = 0.9
"""Share of the cells from which on they are of one kind, or nearly all different."""

_FEWEST = 10
"""Cells from which on that is said."""

_NAMED = 6
"""How many columns a remark names."""

_FEWEST_IN_ORDER, _MOST_IN_ORDER = 3, 12


def remarks_on(texts: pl.DataFrame, read: pl.DataFrame, said: Collection[str] = ()) -> tuple[str, ...]:
    """Return remarks on the columns of a table, and warn of categories of which nearly everybody has another.

    `texts` has the cells as they stand in the file, `read` the same columns as numbers and categories, null where missing. Nothing is doubtful of
    the columns `said`, which the caller called categories.
    """
    columns = list(zip(texts, read, strict=True))
    remarks = note_on_missing((column.name, text, column.is_null()) for text, column in columns)
    like_numbers: list[str] = []
    for text, column in columns:
        if column.name in said:
            continue
        if column.dtype.is_(text.dtype):
            like_numbers += _like_numbers(column)
        else:
            remarks += _on_codes(text, column)
    if like_numbers:
        more = f" and {len(like_numbers) - _NAMED} more" if len(like_numbers) > _NAMED else ""
        named = ", ".join(like_numbers[:_NAMED])
        remarks.append(f"only equal or not, unless written as numbers: {named}{more}")
    return tuple(remarks)


def _on_codes(text: pl.Series, numbers: pl.Series) -> Iterator[str]:
    """Say of a few whole numbers, scattered over a range, or of some with zeros first, that they are taken as numbers: codes of schools are no farther apart the larger they are."""
    has_zero_first = bool(text.str.strip_chars().str.contains(_ZERO_FIRST).any())
    if has_zero_first or _look_like_codes(numbers.drop_nulls().to_numpy()):
        yield f"if {numbers.name} is a code, put a letter before its numbers"


def _look_like_codes(known: Floats) -> bool:
    codes = np.unique(known)
    n = codes.size
    if not (_FEWEST_CODES <= n <= _MOST_CODES) or known.size < _REPEATED * n or not _are_counts(codes):
        return False
    steps = np.diff(codes)
    # In steps of their common divisor: 10, 20, 30 are counted through, and no codes.
    return bool((codes[-1] - codes[0]) / np.gcd.reduce(steps.astype(np.int64)) >= _SCATTERED * n)


def _are_counts(codes: Floats) -> bool:
    return bool((codes % 1 == 0).all() and codes[0] >= 0 and codes[-1] < 2**53)


def _like_numbers(column: pl.Series) -> Iterator[str]:
    """Name a category that loses by being one, with what it holds; warn of one of which nearly everybody has another."""
    known = column.drop_nulls()
    words, name = known.unique().sort().to_list(), column.name
    if not words:
        return
    if _mostly(known, _DATE):
        yield f"{name} (dates)"
    elif has_unit(known):
        yield f"{name} ({known[0]!r})"
    elif len(known) >= _FEWEST and len(words) >= _NEARLY_ALL * len(known):
        warnings.warn(
            f"category {name!r} has {len(words):,} different words for {len(known):,} individuals, so that nobody is like anybody in it: leave it out, "
            f"{option('exclude', repr(name))}, or write what matters of it in fewer words",
            CategoryWarning,
            stacklevel=5,
        )
    elif (ordered := in_order(words)) is not None:
        yield f"{name} ({', '.join(ordered)})"


def _mostly(cells: pl.Series, pattern: str) -> bool:
    return bool(cells.str.contains(pattern).mean() >= _NEARLY_ALL)  # type: ignore[operator]  # of booleans a number


def has_unit(cells: pl.Series) -> bool:
    """Return whether nearly all cells are a number with a unit, such as 90% or $4,208."""
    return _mostly(cells.str.strip_chars(), _WITH_UNIT)


def in_order(words: list[str]) -> list[str] | None:
    """Return three words or more in the order that they suggest; None where they suggest none.

    >>> in_order(["high", "low", "mid"]), in_order(["cook", "high", "low"])
    (['low', 'mid', 'high'], None)
    """
    if not _FEWEST_IN_ORDER <= len(words) <= _MOST_IN_ORDER:
        return None
    ranks = {word: rank_of_word(word) for word in words}
    known = [rank for rank in ranks.values() if rank is not None]
    if len(set(known)) < len(words):
        return None
    return sorted(words, key=lambda word: ranks[word] or 0.0)
