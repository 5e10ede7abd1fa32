"""Numbers as people write them: decimal commas, separators of thousands, blanks around, words for "missing"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from likewise.errors import FileFormatError, option

if TYPE_CHECKING:
    import polars as pl

USUAL_MISSING = ("NA", "N/A", "NULL", "NONE", "NAN", "?", ".", "-", "--", "#N/A", "<NA>", "#NA", "NIL")
"""What stands for a missing cell, besides an empty one, where cells may be missing; in any case of letters."""

_NAMED = 3
"""Up to so many columns with a word for "missing" are named."""

_GROUP = "' \u00a0\u202f"
"""What separates thousands in some country, besides the comma or the point that is not the decimal sign."""

Decimal = Literal[".", ","]

_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
_PLAIN = rf"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+){_EXPONENT}|[+-]?(?i:inf|infinity|nan)"
_GROUPED = {
    ".": rf"[+-]?[0-9]{{1,3}}(?:[,{_GROUP}][0-9]{{3}})+(?:\.[0-9]*)?",
    ",": rf"[+-]?(?:(?:[0-9]+|[0-9]{{1,3}}(?:[.{_GROUP}][0-9]{{3}})+)(?:,[0-9]*)?|,[0-9]+){_EXPONENT}",
}
_WRITTEN: dict[Decimal, str] = {
    ".": f"^(?:{_PLAIN}|{_GROUPED['.']})$",
    ",": f"^(?:{_GROUPED[',']}|[+-]?(?i:inf|infinity|nan))$",
}
_IS_PLAIN = f"^(?:{_PLAIN})$"


def could_be_number(text: str) -> bool:
    """Return whether a field holds a number in any of these notations.

    >>> [could_be_number(text) for text in ("3.5", " 3,5", "1.234,5", "1_000", "seven")]
    [True, True, True, False, False]
    """
    return any(re.fullmatch(written, text.strip()) for written in _WRITTEN.values())


def could_be_numbers(column: pl.Series) -> bool:
    """Return whether every cell of a column does."""
    import polars as pl

    if column.dtype != pl.String:
        return column.dtype.is_numeric()
    written = "|".join(_WRITTEN.values())
    return bool(column.str.strip_chars().str.contains(written).fill_null(False).all())


def is_usually_missing(text: str) -> bool:
    """Return whether a cell is empty or holds a usual word for that."""
    return not text.strip() or text.strip().upper() in USUAL_MISSING


@dataclass(frozen=True)
class Notation:
    """How numbers are written in a file.

    >>> Notation(",").number("1.234,5"), Notation().number("?")
    (1234.5, None)
    """

    decimal: Decimal = "."  # the other one may separate thousands, as may blanks and apostrophes
    missing: tuple[str, ...] | None = None  # words for a missing cell; None for the usual ones

    def is_missing(self, text: str) -> bool:
        """Return whether a cell is empty or holds a word for that."""
        bare = text.strip()
        return not bare or (is_usually_missing(bare) if self.missing is None else bare in self.missing)

    def number(self, text: str) -> float | None:
        """Return the number that a field holds, or None where it is missing; a ValueError where it is neither."""
        if self.is_missing(text):
            return None
        bare = text.strip()
        if not re.fullmatch(_WRITTEN[self.decimal], bare):
            raise ValueError(f"{text!r} is not a number")
        # What remains besides digits is the decimal sign, and float wants a point.
        return float(re.sub(f"[{self._thousands}]", "", bare).replace(",", "."))

    def numbers(self, texts: pl.Series) -> tuple[pl.Series, pl.Series]:
        """Do the same for a column: the numbers, null where there is none, and a mask of the cells that are missing."""
        import polars as pl

        bare = texts.str.strip_chars().fill_null("")
        words = USUAL_MISSING if self.missing is None else self.missing
        said = bare.str.to_uppercase() if self.missing is None else bare
        is_missing = (bare == "") | said.is_in(list(words))
        is_number = bare.str.contains(_WRITTEN[self.decimal]) & ~is_missing
        plain = bare.str.replace_all(f"[{self._thousands}]", "").str.replace_all(",", ".", literal=True)
        return plain.set(~is_number, None).cast(pl.Float64).alias(texts.name), is_missing

    @property
    def _thousands(self) -> str:
        return (".," if self.decimal == "," else ",.").replace(self.decimal, "") + _GROUP


def find_notation(
    columns: Sequence[pl.Series], decimal: Decimal | None, missing: tuple[str, ...] | None, file: str
) -> tuple[Notation, list[str]]:
    """Find out how the numbers of a file are written, from all its columns of numbers together, and what to note of it.

    `decimal` and `missing` are what the caller said. A file that is written in neither notation gets the plain one, in which the first fault is
    then found. Where numbers such as 1,234 can be read in two ways and nothing else in the file decides, a `FileFormatError` says so.
    """
    if decimal is not None:
        return Notation(decimal, missing), []
    # Only what is not a plain number, such as 3,5 or 1,234, can tell of another notation.
    odd = [text for column in columns for text in _odd_numbers(column, Notation(missing=missing))]
    if not odd:
        return Notation(missing=missing), []
    fits = {
        sign: all(_all_written(column, Notation(sign, missing)) for column in columns) for sign in _WRITTEN
    }
    with_comma = next((text for text in odd if "," in text), None)
    if fits["."] and fits[","] and with_comma is not None:
        point = Notation(",").number(with_comma)
        raise FileFormatError(
            f"numbers such as {with_comma!r} in {file}, which are {point:g} or {Notation().number(with_comma):g}",
            "numbers that can be read in one way only",
            f"give {option('decimal', repr(','))} or {option('decimal', repr('.'))}",
        )
    if fits["."]:
        return Notation(".", missing), [f"numbers such as {odd[0]!r} have separators of thousands"]
    if fits[","]:
        return Notation(",", missing), [f"numbers such as {with_comma or odd[0]!r} have a decimal comma"]
    return Notation(missing=missing), []


def _odd_numbers(texts: pl.Series, notation: Notation) -> list[str]:
    """Return what is not written as a plain number; a few of them tell."""
    bare = texts.drop_nulls().str.strip_chars()
    odd = bare.filter(~bare.str.contains(_IS_PLAIN)).unique(maintain_order=True)
    return [text for text in odd.to_list() if not notation.is_missing(text)]


def _all_written(texts: pl.Series, notation: Notation) -> bool:
    numbers, is_missing = notation.numbers(texts)
    return bool((numbers.is_not_null() | is_missing).all())


def note_on_missing(columns: Iterable[tuple[str, pl.Series, pl.Series]]) -> list[str]:
    """Say how many cells of which columns count as missing because of a word: "none" may be a word like any other.

    Each column has its name, its cells as they stand in the file, and which of them count as missing.
    """
    count: dict[str, dict[str, int]] = {}
    for name, texts, is_missing in columns:
        words = texts.fill_null("").str.strip_chars().filter(is_missing)
        for word, number in words.filter(words != "").value_counts().rows():
            count.setdefault(word, {})[name] = number
    return [_as_missing(word, of_columns) for word, of_columns in sorted(count.items())]


def _as_missing(word: str, count: Mapping[str, int]) -> str:
    number = sum(count.values())
    where = f"of {next(iter(count))}" if len(count) == 1 else f"in {len(count):,} columns"
    one = number == 1
    told = (
        f"{number:,} cell{'s' * (not one)} {where} that say{'s' * one} {word!r} count{'s' * one} as missing"
    )
    few = 1 < len(count) <= _NAMED
    return told + (f" ({', '.join(f'{n:,} of {name}' for name, n in count.items())})" if few else "")


_WORDS = {
    **dict.fromkeys(("no", "never", "reject", "rejected", "declined", "denied", "low", "poor", "small"), 0.0),
    **dict.fromkeys(
        (
            "medium",
            "mid",
            "middle",
            "moderate",
            "maybe",
            "waitlist",
            "waitlisted",
            "sometimes",
            "average",
            "fair",
        ),
        1.0,
    ),
    **dict.fromkeys(
        ("yes", "always", "admit", "admitted", "accepted", "approved", "high", "good", "large"), 2.0
    ),
}


def rank_of_word(name: str) -> float | None:
    """Return where a word stands in an order: by the only number in it, or as a word for low, middle, high; None where it does not tell.

    >>> [rank_of_word(name) for name in ("grade 3", "low", "P(high)", "cook")]
    [3.0, 0.0, 2.0, None]
    """
    numbers = re.findall(r"\d+(?:\.\d+)?", name)
    words = [word for word in re.split(r"[^a-z]+", name.lower()) if word in _WORDS]
    if len(numbers) + len(words) != 1:
        return None
    return float(numbers[0]) if numbers else _WORDS[words[0]]
