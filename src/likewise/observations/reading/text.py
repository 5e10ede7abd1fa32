"""Recognise delimited text: its encoding, what separates its fields, and whether its first line names them."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from likewise.errors import FileFormatError, option
from likewise.observations.reading.unpack import Source

_SEPARATORS = ("\t", ",", ";", "|")
_UNUSED_BYTES = b"\t\x1f\x1e\x1d\x1c\x1b\x01\x02\x03\x04"
"""Stand-ins for a separator of several bytes, which no fast parser splits at; the first that does not occur is used."""
MISSING_WORDS = ("NA", "N/A", "na", "null", "NULL", "None", "nan", "NaN", "NAN")
"""What stands for a missing cell, besides an empty one, where cells may be missing."""

_SHOWN = 60
"""How many characters of an offending line are shown."""


@dataclass(frozen=True, eq=False)
class DelimitedText:
    """The lines of a file below its header, ready to be parsed.

    Parameters
    ----------
    name : str
        What to call the file in messages.
    body : bytes
        UTF-8, without header and without blank lines at its end.
    separator : str
        One character.
    shown_separator : str
        What the file itself has there.
    quote : str or None
        What encloses fields, if any field is enclosed.
    header : tuple of str or None
    width : int
        How many fields the first line has.
    first_line : int
        Which line of the file the body starts with, counted from 1.
    """

    name: str
    body: bytes
    separator: str
    shown_separator: str
    quote: str | None
    header: tuple[str, ...] | None
    width: int
    first_line: int

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the fields of each record: slow, for finding out what is wrong."""
        lines = io.StringIO(self.body.decode(), newline="")
        for line, record in _records(self.name, lines, self.separator, self.quote):
            yield self.first_line + line - 1, record

    def as_in_file(self, record: list[str]) -> str:
        """Write a record as the file has it, cut short."""
        line = self.shown_separator.join(record)
        return repr(line if len(line) <= _SHOWN else line[:_SHOWN] + "...")


def recognise(
    source: Source, separator: str | None, has_header: bool | None, encoding: str, of_triplets: bool = False
) -> DelimitedText:
    """Find out how a text file is laid out.

    Parameters
    ----------
    source : Source
    separator : str or None
        None to take the one that splits the first line into the most fields.
    has_header : bool or None
        None to look for numbers in the first line.
    encoding : str
    of_triplets : bool
        Whether the caller says that each line holds a triplet, however many fields it has.

    Raises
    ------
    FileFormatError
        Binary; not in this encoding; not split by this separator; a header without rows.
    """
    data = _as_utf8(source, encoding)
    body = data.lstrip(b"\r\n")
    first_line = data[: len(data) - len(body)].count(b"\n") + 1
    body = body.rstrip(b"\r\n")
    if b"\r" in body and b"\n" not in body:
        body = body.replace(b"\r", b"\n")
    shown = separator or _likeliest_separator(_line(body))
    body, single = _with_one_byte_separator(body, shown)
    quote = None if len(shown) > 1 else _quote(body, single)
    _, fields = next(_records(source.name, [_line(body)], single, quote))
    if has_header or (has_header is None and _looks_like_header(fields, of_triplets)):
        body = body.partition(b"\n")[2]
        if not body:
            raise FileFormatError(f"{source.name} has a header and no rows", "at least one observation")
        header = tuple(field.strip() for field in fields)
        return DelimitedText(source.name, body, single, shown, quote, header, len(fields), first_line + 1)
    return DelimitedText(source.name, body, single, shown, quote, None, len(fields), first_line)


def _records(
    name: str, lines: Iterable[str], separator: str, quote: str | None
) -> Iterator[tuple[int, list[str]]]:
    if quote is None:
        reader = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(lines, delimiter=separator, quotechar=quote)
    try:
        for record in reader:
            yield reader.line_num, record
    except csv.Error as error:
        raise FileFormatError(f"{name} cannot be split into fields ({error})", "delimited text") from error


def _quote(body: bytes, separator: str) -> str | None:
    """Return the quoting character if any field starts with it: a quote inside a field, as of inches, encloses nothing."""
    if b'"' not in body:
        return None
    starts = (b"\n", separator.encode())
    return '"' if body[:1] == b'"' or any(start + b'"' in body for start in starts) else None


def _line(body: bytes) -> str:
    end = body.find(b"\n")
    return (body if end < 0 else body[:end]).decode().rstrip("\r")


def _as_utf8(source: Source, encoding: str) -> bytes:
    data, extends_ascii = source.data, _extends_ascii(encoding)
    if encoding == "utf-8" and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FileFormatError(
            f"{source.name} starts like UTF-16", "UTF-8 text", f"give {option('encoding', repr('utf-16'))}"
        )
    if extends_ascii and b"\0" in data:
        raise FileFormatError(f"{source.name} is binary", "text, Parquet, or .npz")
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
    except LookupError as error:
        raise FileFormatError(f"unknown encoding {encoding!r}", "for example utf-8 or latin-1") from error


def _likeliest_separator(line: str) -> str:
    """Prefer MovieLens's own; blanks, which names may contain, come last."""
    if "::" in line:
        return "::"
    most = max(_SEPARATORS, key=line.count)
    return most if most in line else " "


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
    return re.sub(rb" ?(\r?\n) ?", rb"\1", body).lstrip(b" ")


def _looks_like_header(fields: list[str], of_triplets: bool) -> bool:
    """Tell names from data: a triplet with text for ids still has a number for its rating, bare numbers nothing else."""
    if of_triplets or len(fields) in (3, 4):
        return not any(is_number(field) for field in fields)
    return not all(is_number(field) or is_missing(field) for field in fields)


def is_number(text: str) -> bool:
    """Return whether text is a number in the notation that parsers of tables accept (so not ``1_000``)."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def is_missing(text: str) -> bool:
    """Return whether a cell is empty or holds a word for that."""
    return not text.strip() or text in MISSING_WORDS
