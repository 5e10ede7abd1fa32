"""Files of every kind, whole and damaged, against what they were made from and against a reader of plain Python.

    POLARS_MAX_THREADS=1 python benchmarks/fuzz_reading.py [--files 100000] [--seed 0] [--seconds 600]

Files are drawn by a generator of plain random numbers, many a second; the number of a file that fails is told, and `--seed` begins with it.

Three things are held. A whole file gives exactly the observations, outputs or groups that it was written from, or one of the refusals that name
the option which settles an ambiguity. A damaged one gives a typed error, or as many observations as it has lines. Nothing else ever comes out.

`tests/observations/reading/test_fuzz.py` runs the same for a few seconds.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from likewise.errors import InputError, LikewiseWarning
from likewise.observations import read_pairs, read_ratings
from likewise.observations.reading import TextOptions, read_groups_file, read_outputs_file, read_table

AMBIGUOUS = ("can be read in one way only", "expected one reading")
"""What refusals of whole files say: numbers such as 1,234, and quotes that may enclose lines."""

LETTERS = [
    chr(code)
    for code in (*range(0x21, 0x7F), *range(0xC0, 0x180), *range(0x391, 0x3A9), 0x4E2D, 0x6587, 0x1F600)
]
LETTERS = [letter for letter in LETTERS if letter not in "\"'\\"]
ODD_IDS = ["007", "1.0", "NA", "+7", "-0"]
NOTES = [
    "", "good", "a, b", "x;y", 'say "hi"', "two\nlines", '12" disk', "C:\\x", "it's", "NA", "1", "é", '"', "::", "a\tb",
]  # fmt: skip
SEPARATORS = [",", ";", "\t", "|", "::"]
HEADERS = [
    ("userId", "movieId", "rating"),
    ("user", "item", "score"),
    ("Reviewer_ID", "ASIN", "Overall"),
    ("User ID", "Book ID", "Book-Rating"),
]


@dataclass
class Made:
    """A file and what it was made from."""

    content: bytes
    expected: dict[tuple[str, str], float]
    options: dict[str, Any]
    kind: str


def as_number(value: float, decimal: str, grouped: bool) -> str:
    """Write a number in a notation."""
    text = f"{value:,.2f}" if grouped else repr(value)
    return text.translate(str.maketrans(",.", ".,")) if decimal == "," else text


def an_id(rng: Random) -> str:
    """A number, small or beyond 64 bits, a word, or one of those that are easily taken for something else."""
    kind = rng.randrange(4)
    if kind == 0:
        return str(rng.choice([rng.randint(0, 9), rng.randint(0, 10**6)]))
    if kind == 1:
        return str(rng.randint(-(10**20), 10**20))
    if kind == 2:
        return rng.choice(ODD_IDS)
    while True:
        word = "".join(rng.choices(LETTERS, k=rng.randint(1, 6)))
        if not word[0].isdigit():
            return word


def some_ids(rng: Random, most: int) -> list[str]:
    """Return ids, no two of them written alike."""
    return list(dict.fromkeys(an_id(rng) for _ in range(rng.randint(1, most))))


def a_value(rng: Random) -> float:
    """Among the values are some that need separators of thousands."""
    return rng.choice([float(rng.randint(-5, 5)), rng.randint(-400, 400) / 4, 1234.5, -20000.25, 1000.0])


def observations(rng: Random) -> dict[tuple[str, str], float]:
    """Some triplets, each pair once."""
    users, items = some_ids(rng, 5), some_ids(rng, 5)
    return {(rng.choice(users), rng.choice(items)): a_value(rng) for _ in range(rng.randint(1, 8))}


def lines_of(rows: list[list[str]], separator: str, enclose: str) -> str:
    """Write delimited text."""
    if separator == "::":
        return "\n".join("::".join(row) for row in rows) + "\n"
    buffer = io.StringIO()
    quoting = csv.QUOTE_MINIMAL if enclose == "some" else csv.QUOTE_ALL
    escape: dict[str, Any] = {"doublequote": False, "escapechar": "\\"} if enclose == "backslash" else {}
    csv.writer(buffer, delimiter=separator, quoting=quoting, lineterminator="\n", **escape).writerows(rows)
    return buffer.getvalue()


def a_text(rng: Random) -> Made:
    """Delimited text: separators, quotes, notations, line ends, header or none, blanks around numbers, a column that nobody reads."""
    expected = observations(rng)
    # Nothing is enclosed where "::" separates, so that no id may have a colon.
    has_colon = any(":" in name for pair in expected for name in pair)
    separator = rng.choice(SEPARATORS[:-1] if has_colon else SEPARATORS)
    decimal, grouped = rng.choice("..,"), rng.random() < 0.5
    header, has_note, blank = (
        rng.choice([None, *HEADERS]),
        rng.random() < 0.5,
        rng.choice(["", "", " ", "\u00a0"]),
    )
    rows = [
        [user, item, blank + as_number(value, decimal, grouped) + blank]
        + ([rng.choice(NOTES) if separator != "::" else "9"] if has_note else [])
        for (user, item), value in expected.items()
    ]
    head = [[*header, *(["note"] if has_note else [])]] if header else []
    text = lines_of(head + rows, separator, rng.choice(["all", "some", "backslash"]))
    if rng.random() < 0.5:
        text = text.rstrip("\n") + rng.choice(["", "\n\n", "\n  \n"])
    options: dict[str, Any] = {"value_range": (-1e5, 1e5)}
    if not header or rng.random() < 0.5:
        options |= {"header": header is not None, "separator": separator}
    if separator == ";" and rng.random() < 0.5:
        text = "sep=;\n" + text
    encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"])
    if encoding != "utf-8":
        options["encoding"] = "utf-8" if encoding == "utf-8-sig" else encoding
    if header is None or "user" not in " ".join(header).lower():
        options |= {"user": 0, "item": 1, "rating": 2}
    end = rng.choice(["\n", "\n", "\r\n", "\r"])
    return Made(text.replace("\n", end).encode(encoding), expected, options, "triplets")


def a_wide_table(rng: Random) -> Made:
    """A table of people and columns, some cells empty or a word for missing."""
    users, items = some_ids(rng, 5), [f"q{k}" for k in range(rng.randint(2, 5))]
    cells = {(user, item): a_value(rng) for user in users for item in items if rng.random() < 0.7}
    cells = {**{(users[0], item): a_value(rng) for item in items[:1]}, **cells}
    decimal, separator = rng.choice([(".", ","), (".", ";"), (".", "\t"), (",", ";"), (",", "\t")])
    missing = rng.choice(["", "", "NA", "n/a", "?"])
    rows = [
        [
            user,
            *(
                as_number(cells[user, item], decimal, False) if (user, item) in cells else missing
                for item in items
            ),
        ]
        for user in users
    ]
    text = lines_of([["person", *items], *rows], separator, rng.choice(["all", "some"]))
    options = {
        "value_range": (-1e5, 1e5), "format": "wide", "header": True, "separator": separator, "decimal": decimal,
        "id_columns": ["person"],
    }  # fmt: skip
    return Made(text.encode(), cells, options, "wide")


def a_parquet(rng: Random) -> Made:
    """The same as Parquet."""
    expected, buffer = observations(rng), io.BytesIO()
    rows = [(*pair, value) for pair, value in expected.items()]
    pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row").write_parquet(buffer)
    return Made(buffer.getvalue(), expected, {"value_range": (-1e5, 1e5)}, "Parquet")


def some_json(rng: Random) -> Made:
    """The same as JSON lines."""
    expected = observations(rng)
    keys = rng.choice([("user", "item", "rating"), ("reviewerID", "asin", "overall")])
    lines = [
        json.dumps(dict(zip(keys, (*pair, value), strict=True)), ensure_ascii=rng.random() < 0.5)
        for pair, value in expected.items()
    ]
    return Made("\n".join(lines).encode(), expected, {"value_range": (-1e5, 1e5)}, "JSON lines")


def some_blocks(rng: Random) -> Made:
    """The same as Netflix has them, a block for each item."""
    expected = {
        (str(rng.randint(0, 999)), str(rng.randint(0, 99))): float(rng.randint(1, 5))
        for _ in range(rng.randint(1, 8))
    }
    by_item: dict[str, list[str]] = {}
    for (user, item), value in expected.items():
        by_item.setdefault(item, []).append(f"{user},{value},2005-09-06")
    blocks = "\n".join("\n".join([f"{item}:", *lines]) for item, lines in by_item.items())
    return Made(blocks.encode(), expected, {"value_range": (-1e5, 1e5)}, "Netflix blocks")


MAKERS = [a_text, a_text, a_text, a_wide_table, a_parquet, some_json, some_blocks]


def wrapped(content: bytes, how: str) -> bytes:
    """Compress, or not."""
    if how == "gzip":
        return gzip.compress(content, 1)
    if how == "zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("inside", content)
        return buffer.getvalue()
    return content


def check_whole(path: Path, made: Made, how: str) -> str:
    """Read a whole file, and hold the result against what it was made from."""
    path.write_bytes(wrapped(made.content, how))
    try:
        Z = read_ratings(path, **made.options)
    except InputError as error:
        if not any(reason in str(error) for reason in AMBIGUOUS):
            raise
        return "refused"
    rows, columns = Z.positions()
    names = zip(map(str, Z.row_ids[rows].tolist()), map(str, Z.column_ids[columns].tolist()), strict=True)
    found = dict(zip(names, Z.values.data.tolist(), strict=True))
    assert found == made.expected, f"{found}\n{made}"
    return "read"


BYTES = b'",;\n\r\t\\ 0a-.:\xe9\x00{['


def damaged(rng: Random, content: bytes) -> bytes:
    """Overwrite some bytes, and cut the rest off."""
    changed = bytearray(content)
    for _ in range(rng.randint(0, 5)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.choice([rng.choice(BYTES), rng.randrange(256)])
    return bytes(changed[: rng.choice([len(changed), rng.randint(0, len(changed)) + 1])])


def n_lines(content: bytes) -> int | None:
    """Count the lines that hold anything, with nothing but Python; None where quotes may enclose line ends, or it is no text."""
    if (
        b'"' in content
        or b"\0" in content
        or content[:2] in (b"PK", b"\x1f\x8b", b"PA")
        or content[:1] == b"{"
    ):
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return sum(bool(line.strip(" ")) for line in lines)


def check_damaged(path: Path, content: bytes, options: dict[str, Any]) -> str:
    """Read a file that may be anything by every reader: typed errors or what the file can hold, and never another count."""
    path.write_bytes(content)
    outcome = "refused"
    try:
        Z = read_ratings(path, **options)
        lines = n_lines(content) if options.get("encoding", "utf-8") == "utf-8" else None
        is_special = (
            options.get("format") == "wide"  # as many observations as cells
            or content.lstrip(b"\xef\xbb\xbf\r\n").lower().startswith((b"sep=", b'"sep='))
            or b":\n" in content
            or b":\r" in content
        )
        n_headers = {True: (1,), False: (0,), None: (0, 1)}[options.get("header")]
        possible = None if lines is None or is_special else [lines - n for n in n_headers]
        assert possible is None or Z.n_observed in possible, f"{Z.n_observed} of {lines} lines: {content!r}"
        outcome = "read"
    except InputError:
        pass
    others: list[Callable[[], Any]] = [
        lambda: read_ratings(path),
        lambda: read_ratings(path, format="grid"),
        lambda: read_ratings(path, format="wide"),
        lambda: read_ratings(path, format="pairs"),
        lambda: read_pairs(path),
        lambda: read_table(path),
        lambda: read_outputs_file(path, ["1", "ann"]),
        lambda: read_groups_file(path, ["1", "ann"]),
        lambda: read_ratings(path, quote="none", decimal=",", missing=["x"]),
    ]
    for read in others:
        try:
            read()
        except InputError:
            continue
    return outcome


def people(rng: Random) -> tuple[list[str], dict[str, Any], str, bytes]:
    """A file of outputs, or of groups, with others among the lines, in any order."""
    names, kind = some_ids(rng, 6), rng.choice(["numbers", "words", "groups"])
    cells: dict[str, Any] = {
        "numbers": lambda: {name: rng.randint(-99, 99) / 8 for name in names},
        "words": lambda: {name: float(rng.random() < 0.5) for name in names},
        "groups": lambda: {name: rng.choice(["f", "m", "x y", None]) for name in names},
    }[kind]()
    shown = {
        "numbers": repr,
        "words": lambda cell: "admit" if cell else "reject",
        "groups": lambda cell: rng.choice(["", "NA", "null", "?"]) if cell is None else cell,
    }[kind]
    separator, end = rng.choice([",", ";", "\t"]), rng.choice(["\n", "\r\n"])
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator=end)
    writer.writerow(["applicant", "sex" if kind == "groups" else "score"])
    writer.writerows([name, shown(cells[name])] for name in rng.sample(names, len(names)))
    return names, cells, kind, buffer.getvalue().encode()


def check_people(path: Path, names: list[str], cells: dict[str, Any], kind: str, content: bytes) -> str:
    """Read outputs or groups, and hold them against what the file was made from."""
    path.write_bytes(content)
    text = TextOptions(header=True)
    read = read_groups_file if kind == "groups" else read_outputs_file
    assert read(path, names, text=text).values.tolist() == [cells[name] for name in names], content
    return "read"


def try_file(path: Path, number: int) -> str:
    """Make the file of a number, read it, and say what came of it; an assertion shows the file."""
    rng = Random(number)
    if rng.random() < 0.2:
        return "outputs and groups, " + check_people(path, *people(rng))
    made, how = rng.choice(MAKERS)(rng), rng.choice(["plain", "plain", "gzip", "zip"])
    if rng.random() < 0.6:
        return f"whole, {made.kind}, " + check_whole(path, made, how)
    return f"damaged, {made.kind}, " + check_damaged(
        path, damaged(rng, wrapped(made.content, how)), made.options
    )


def fuzz(n_files: int, first: int, seconds: float = float("inf")) -> Counter[str]:
    """Try the files numbered from `first` on until there are enough of them, or the time is over."""
    outcomes: Counter[str] = Counter()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        for number in range(first, first + n_files):
            if time.perf_counter() - began > seconds:
                break
            try:
                outcomes[try_file(Path(folder) / "file", number)] += 1
            except Exception as error:
                error.add_note(f"file number {number}")
                raise
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="number of the first file")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="to stop after")
    chosen = parser.parse_args()
    began = time.process_time()
    outcomes = fuzz(chosen.files, chosen.seed, chosen.seconds)
    for outcome, count in sorted(outcomes.items()):
        print(f"{outcome:40}{count:9,}")
    print(f"{'files':40}{outcomes.total():9,}   in {time.process_time() - began:.0f} CPU seconds")


if __name__ == "__main__":
    sys.exit(main())
