"""Recognise delimited text: its encoding, what separates its fields, what encloses them, and whether its first line names them."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from likewise.errors import FileFormatError, option, unknown_name
from likewise.observations.reading.numerals import Decimal, could_be_number
from likewise.observations.reading.unpack import Source, compression_of

_SEPARATORS = ("\t", ",", ";", "|")
_UNUSED_BYTES = b"\t\x1f\x1e\x1d\x1c\x1b\x01\x02\x03\x04"
"""Stand-ins for a separator of several bytes, which no fast parser splits at; the first that does not occur is used."""

_EXCEL = re.compile(rb'"?sep=(.)"?[ \t]*\n', re.IGNORECASE)
"""A first line that tells Excel the separator, and says nothing else."""

_MOST_LINES = 100
"""How many lines a first record may have."""

_SHOWN = 60
"""How many characters of an offending line are shown."""

Quote = Literal['"', "'", "none"]
"""What encloses fields; with "none", a quote is a character like any other."""

IsHeader = Callable[[list[str]], bool]
"""Whether the fields of the first line name the columns."""


@dataclass(frozen=True)
class TextOptions:
    """What a caller can say about delimited text; None is found by looking into the file. What is no such option raises a `FileFormatError`."""

    # one character or more; None: the one that splits the first line into the most fields
    separator: str | None = None
    header: bool | None = None  # whether the first line names the columns
    encoding: str = "utf-8"
    decimal: Decimal | None = None  # the other one may then separate thousands
    quote: Quote | None = None  # what encloses fields; None: ``"`` if any field starts with it
    # words for a missing cell, in place of NA, null, ?, - and the like; an empty cell is missing in any case
    missing: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, kind in (("separator", str), ("header", bool), ("encoding", str)):
            given = getattr(self, name)
            if not isinstance(given, kind) and (given is not None or name == "encoding"):
                raise FileFormatError(option(name, repr(given)), f"a {kind.__name__}")
        if self.separator is not None and not self.separator.strip("\r\n"):
            raise FileFormatError(f"separator {self.separator!r}", "one character or more, no line end")
        check_choice("decimal", self.decimal, get_args(Decimal))
        check_choice("quote", self.quote, get_args(Quote))
        if self.missing is not None:
            object.__setattr__(self, "missing", _words(self.missing))


def check_choice(name: str, given: object, known: Sequence[str]) -> None:
    """Raise unless an argument is None or one of some words; whatever else it is, it may not even compare."""
    if given is not None and not (isinstance(given, str) and given in known):
        raise FileFormatError(*unknown_name(name, given, known))


def checked_text(given: object) -> TextOptions:
    """Return options of text, or raise where they are something else."""
    if isinstance(given, TextOptions):
        return given
    raise FileFormatError(option("text", shortened(repr(given))), "TextOptions(...)")


def _words(given: object) -> tuple[str, ...]:
    words = (given,) if isinstance(given, str) else as_tuple(given)
    if words is not None and all(isinstance(word, str) for word in words):
        return words
    raise FileFormatError(option("missing", shortened(repr(given))), "words, such as ('?', 'NA')")


def as_tuple(given: object) -> tuple[Any, ...] | None:
    """Return the items of what holds items or yields them, or None; a sparse matrix only looks like it."""
    try:
        return tuple(given) if isinstance(given, Collection | Iterator) else None
    except TypeError:  # an array of no dimension looks like it, too
        return None


PLAIN_TEXT = TextOptions()
"""Nothing said: everything is found by looking."""


@dataclass(frozen=True, eq=False)
class DelimitedText:
    r"""The lines of a file below its header, ready to be parsed."""

    name: str  # what to call the file in messages
    body: bytes  # UTF-8, lines ended by a line feed, without header and without blank lines at its end
    separator: str  # one character
    shown_separator: str  # what the file itself has there
    quote: str | None  # what encloses fields, if any field is enclosed
    has_plain_quotes: bool  # whether every parser would read the quotes alike; see `are_plain`
    header: tuple[str, ...] | None
    width: int  # how many fields the first line has
    first_line: int  # which line of the file the body starts with, counted from 1
    options: TextOptions  # what the caller said

    def records(self, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the fields of each record: slow, for odd quotes and for finding out what is wrong."""
        lines = io.TextIOWrapper(io.BytesIO(self.body), "utf-8", newline="\n")
        escape = None if self.has_plain_quotes else _escape(self.body)
        for line, record in _records(self.name, lines, self.separator, self.quote, escape, strict):
            yield self.first_line + line - 1, record

    def as_in_file(self, record: list[str]) -> str:
        """Write a record as the file has it, cut short."""
        return repr(shortened(self.shown_separator.join(record)))

    @property
    def n_lines(self) -> int:
        """How many lines the body has."""
        return self.body.count(b"\n") + 1


def shortened(text: str) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def recognise(source: Source, options: TextOptions, is_header: IsHeader) -> DelimitedText:
    """Find out how a text file is laid out; `is_header` is asked about the fields of the first line, unless the caller said whether there is one.

    A `FileFormatError` says that it is binary, not in this encoding, not split by this separator, or a header without rows.
    """
    data = _with_one_line_end(_as_utf8(source, options.encoding))
    body = data.lstrip(b"\n")
    first_line = data[: len(data) - len(body)].count(b"\n") + 1
    separator = options.separator
    if excel := _EXCEL.match(body):
        body, first_line = body[excel.end() :], first_line + 1
        separator = separator or excel[1].decode("latin-1")
    body = _without_blank_end(body)
    if not body:
        raise FileFormatError(f"{source.name} has no rows", "at least one observation")
    shown = separator or _likeliest_separator(_first_record(body).decode())
    # The fast parser splits at one byte only; messages show what the file itself has.
    body, single = _with_one_byte_separator(body, shown)
    quote = _quote(body, single, options.quote, can_enclose=len(shown) == 1)
    is_plain = quote is None or are_plain(quote, body, single)
    lines = io.TextIOWrapper(io.BytesIO(body), "utf-8", newline="\n")
    n_taken, fields = next(_records(source.name, lines, single, quote, None if is_plain else _escape(body)))
    has_header = is_header(fields) if options.header is None else options.header
    header = None
    if has_header:
        header = tuple(field.strip() for field in fields)
        body = _after_lines(body, n_taken)
        first_line += n_taken
        if not body:
            raise FileFormatError(f"{source.name} has a header and no rows", "at least one observation")
    return DelimitedText(
        source.name, body, single, shown, quote, is_plain, header, len(fields), first_line, options
    )


def _records(
    name: str,
    lines: Iterable[str],
    separator: str,
    quote: str | None,
    escape: str | None,
    strict: bool = False,
) -> Iterator[tuple[int, list[str]]]:
    if quote is None:
        reader = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(lines, delimiter=separator, quotechar=quote, escapechar=escape, strict=strict)
    try:
        for record in reader:
            yield reader.line_num, record
    except csv.Error as error:
        raise FileFormatError(
            f"{name} cannot be split into fields at line {reader.line_num} ({error})",
            "delimited text",
            f"where quotes enclose nothing, give {option('quote', repr('none'))}",
        ) from error


def _quote(body: bytes, separator: str, given: Quote | None, can_enclose: bool) -> str | None:
    """Return the quoting character if any field starts with it: a quote inside a field, as of inches, encloses nothing."""
    quote = given or ('"' if can_enclose else "none")
    if quote == "none" or quote.encode() not in body:
        return None
    starts = (b"\n", separator.encode())
    mark = quote.encode()
    return quote if body.startswith(mark) or any(start + mark in body for start in starts) else None


def _escape(body: bytes) -> str | None:
    """Return what stands before a quote within a field, if it is not another quote."""
    return "\\" if b'\\"' in body else None


def are_plain(quote: str, body: bytes, separator: str) -> bool:
    """Return whether quotes open at the start of a field, close at its end, and are doubled within: what every parser reads alike.

    Counted through the file, every other quote closes; a doubled one closes and opens again at once.
    """
    import numpy as np

    content = np.frombuffer(body, dtype=np.uint8)
    places = np.flatnonzero(content == ord(quote))
    # An odd number: some quote is never closed, or encloses nothing.
    if places.size % 2:
        return False
    opening, closing = places[::2], places[1::2]
    ends = np.frombuffer((separator + "\n" + quote).encode(), dtype=np.uint8)
    before = content[np.maximum(opening, 1) - 1]
    after = content[np.minimum(closing + 1, content.size - 1)]
    opens = np.isin(before, ends) | (opening == 0)
    closes = np.isin(after, ends) | (closing == content.size - 1)
    return bool(opens.all() and closes.all())


def _after_lines(body: bytes, n_lines: int) -> bytes:
    start = 0
    for _ in range(n_lines):
        end = body.find(b"\n", start)
        if end < 0:
            return b""
        start = end + 1
    return body[start:]


def _with_one_line_end(body: bytes) -> bytes:
    if b"\r" not in body:
        return body
    return body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _without_blank_end(body: bytes) -> bytes:
    """Cut off lines at the end that are empty or hold nothing but spaces."""
    end = len(body.rstrip(b"\n"))
    while end and not body[(start := body.rfind(b"\n", 0, end) + 1) : end].strip(b" "):
        end = max(start - 1, 0)
    return body[:end]


def _as_utf8(source: Source, encoding: str) -> bytes:
    data, extends_ascii = source.data, _extends_ascii(encoding)
    if encoding == "utf-8" and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FileFormatError(
            f"{source.name} starts like UTF-16", "UTF-8 text", f"give {option('encoding', repr('utf-16'))}"
        )
    if extends_ascii and b"\0" in data:
        packed = compression_of(data)
        what = (
            "is binary" if packed is None else f"is compressed ({packed}), in a way that is not unpacked here"
        )
        hint = "" if packed is None else "unpack it first; gzip and zip are read as they are"
        raise FileFormatError(f"{source.name} {what}", "text, Parquet, or .npz", hint)
    if extends_ascii and data.isascii():
        return data
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = data.count(b"\n", 0, start) + 1
        raise FileFormatError(
            f"line {line} of {source.name} is not {encoding} (byte 0x{data[start]:02x})",
            f"text in {encoding}",
            f"name another, for example {option('encoding', repr('latin-1'))}",
        ) from error


def _extends_ascii(encoding: str) -> bool:
    """Return whether ASCII is read the same in this encoding, so that most files need no decoding."""
    ascii_bytes = bytes(range(128))
    try:
        return ascii_bytes.decode(encoding) == ascii_bytes.decode("ascii")
    except UnicodeError:
        return False
    except (LookupError, ValueError) as error:  # ValueError: a name that holds a null
        raise FileFormatError(f"unknown encoding {encoding!r}", "for example utf-8 or latin-1") from error


def _first_record(body: bytes) -> bytes:
    """Return the first line, and those below it that a quote in it encloses."""
    end = body.find(b"\n")
    for _ in range(_MOST_LINES):
        if end < 0 or body.count(b'"', 0, end) % 2 == 0:
            break
        end = body.find(b"\n", end + 1)
    return body if end < 0 else body[:end]


def _likeliest_separator(line: str) -> str:
    """Prefer MovieLens's own; blanks, which names may contain, come last. What quotes enclose does not count."""
    bare = re.sub('"[^"]*"', "", line)
    if "::" in bare:
        return "::"
    most = max(_SEPARATORS, key=bare.count)
    if most == ",":
        # 1,5;2;3,5 has as many commas, but those are decimal ones.
        for other in ("\t", ";"):
            if other in bare and all(could_be_number(field) for field in bare.split(other)):
                return other
    return most if most in bare else " "


def _with_one_byte_separator(body: bytes, shown: str) -> tuple[bytes, str]:
    if shown == " ":
        return _single_spaced(body), shown
    if len(encoded := shown.encode()) == 1:
        return body, shown
    unused = next((bytes([byte]) for byte in _UNUSED_BYTES if bytes([byte]) not in body), None)
    if unused is None:
        raise FileFormatError(f"text with control characters, separated by {shown!r}", "plain text")
    return body.replace(encoded, unused), unused.decode()


def _single_spaced(body: bytes) -> bytes:
    """Make runs of blanks, as in columns aligned for the eye, one space each."""
    if b"  " in body or b"\t" in body:
        body = re.sub(rb"[ \t]+", b" ", body)
    return re.sub(rb" ?\n ?", b"\n", body).strip(b" ")
