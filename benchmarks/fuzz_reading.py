"""Files of every kind, whole and damaged, against what they were made from and against a reader of plain Python.

    python benchmarks/fuzz_reading.py [--files 100000] [--seed 0]

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
from typing import Any

import polars as pl
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from likewise.errors import InputError, LikewiseWarning
from likewise.observations import read_pairs, read_ratings
from likewise.observations.reading import TextOptions, read_groups_file, read_outputs_file, read_table

AMBIGUOUS = ("can be read in one way only", "expected one reading")
"""What refusals of whole files say: numbers such as 1,234, and quotes that may enclose lines."""

LETTERS = st.characters(exclude_categories=["C", "Zl", "Zp", "Zs"], exclude_characters="\"'\\")
WORDS = st.text(LETTERS, min_size=1, max_size=6).filter(
    lambda word: word.strip() == word and not word[0].isdigit()
)
IDS = (
    st.integers(0, 10**6).map(str)
    | st.integers(-(10**20), 10**20).map(str)
    | st.sampled_from(["007", "1.0", "NA", "+7", "-0"])
    | WORDS
)
NOTES = st.sampled_from(
    [
        "",
        "good",
        "a, b",
        "x;y",
        'say "hi"',
        "two\nlines",
        '12" disk',
        "C:\\x",
        "it's",
        "NA",
        "1",
        "é",
        '"',
        "::",
        "a\tb",
    ]
)
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


def as_number(value: float, decimal: str, grouped: bool) -> str:
    """Write a number in a notation."""
    text = f"{value:,.2f}" if grouped else repr(value)
    return text.translate(str.maketrans(",.", ".,")) if decimal == "," else text


@st.composite
def observations(draw) -> dict[tuple[str, str], float]:
    """Some triplets, each pair once; among the values are some that need separators of thousands."""
    pairs = draw(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=8, unique=True))
    values = (
        st.integers(-5, 5).map(float)
        | st.integers(-400, 400).map(lambda n: n / 4)
        | st.sampled_from([1234.5, -20000.25, 1000.0])
    )
    return {pair: draw(values) for pair in pairs}


@st.composite
def texts(draw) -> Made:
    """Delimited text: separators, quotes, notations, line ends, header or none, blanks around numbers, a column that nobody reads."""
    expected = draw(observations())
    # Nothing is enclosed where "::" separates, so that no id may have a colon.
    has_colon = any(":" in name for pair in expected for name in pair)
    separator = draw(st.sampled_from(SEPARATORS[:-1] if has_colon else SEPARATORS))
    decimal, grouped = draw(st.sampled_from([".", ".", ","])), draw(st.booleans())
    enclose = draw(st.sampled_from(["all", "some", "backslash"])) if separator != "::" else "none"
    note = NOTES if separator != "::" else st.just("9")
    header = draw(st.sampled_from([None, *HEADERS]))
    has_note = draw(st.booleans())
    rows = [[user, item, as_number(value, decimal, grouped)] for (user, item), value in expected.items()]
    blank = draw(st.sampled_from(["", "", " ", "\u00a0"]))
    rows = [
        [user, item, blank + number + blank, *([draw(note)] if has_note else [])]
        for user, item, number in rows
    ]
    lines = ([[*header, *(["note"] if has_note else [])]] if header else []) + rows
    buffer = io.StringIO()
    if separator == "::":
        buffer.write("\n".join("::".join(line) for line in lines) + "\n")
    else:
        quoting = csv.QUOTE_MINIMAL if enclose == "some" else csv.QUOTE_ALL
        escape = {"doublequote": False, "escapechar": "\\"} if enclose == "backslash" else {}
        csv.writer(buffer, delimiter=separator, quoting=quoting, lineterminator="\n", **escape).writerows(
            lines
        )
    text = buffer.getvalue()
    if draw(st.booleans()):
        text = text.rstrip("\n") + draw(st.sampled_from(["", "\n\n", "\n  \n"]))
    options: dict[str, Any] = {
        "value_range": (-1e5, 1e5),
        "header": header is not None,
        "separator": separator,
    }
    if draw(st.booleans()) and header:
        del options["header"], options["separator"]
    if separator == ";" and draw(st.booleans()):
        text = "sep=;\n" + text
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16"]))
    if encoding != "utf-8":
        options["encoding"] = "utf-8" if encoding == "utf-8-sig" else encoding
    if header is None or "user" not in " ".join(header).lower():
        options |= {"user": 0, "item": 1, "rating": 2}
    return Made(text.replace("\n", end).encode(encoding), expected, options)


@st.composite
def frames(draw) -> Made:
    """The same as Parquet, JSON lines, and Netflix blocks."""
    expected = draw(observations())
    options: dict[str, Any] = {"value_range": (-1e5, 1e5)}
    kind = draw(st.sampled_from(["parquet", "json", "blocks"]))
    rows = [(user, item, value) for (user, item), value in expected.items()]
    if kind == "parquet":
        buffer = io.BytesIO()
        pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row").write_parquet(buffer)
        return Made(buffer.getvalue(), expected, options)
    if kind == "json":
        keys = draw(st.sampled_from([("user", "item", "rating"), ("reviewerID", "asin", "overall")]))
        lines = [
            json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=draw(st.booleans())) for row in rows
        ]
        return Made("\n".join(lines).encode(), expected, options)
    numbered = {(str(abs(hash(user)) % 999), str(abs(hash(item)) % 999)): value for user, item, value in rows}
    by_item: dict[str, list[str]] = {}
    for (user, item), value in numbered.items():
        by_item.setdefault(item, []).append(f"{user},{value},2005-09-06")
    blocks = "\n".join("\n".join([f"{item}:", *lines]) for item, lines in by_item.items())
    return Made(blocks.encode(), numbered, options)


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


WHOLE = st.tuples(texts() | frames(), st.sampled_from(["plain", "plain", "gzip", "zip"]))


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


DAMAGE = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(b'",;\n\r\t\\ 0a-.:\xe9\x00{[') | st.integers(0, 255),
    ),
    max_size=5,
)


def damaged(content: bytes, places: list[tuple[float, int]], cut: float) -> bytes:
    """Overwrite some bytes, and cut the rest off."""
    changed = bytearray(content)
    for place, byte in places:
        if changed:
            changed[int(place * len(changed))] = byte
    return bytes(changed[: int(cut * len(changed)) + 1])


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
            content.lstrip(b"\xef\xbb\xbf\r\n").lower().startswith((b"sep=", b'"sep='))
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


@st.composite
def people(draw) -> tuple[list[str], dict[str, Any], str, bytes]:
    """A file of outputs, or of groups, with others among the lines, in any order."""
    names = draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    kind = draw(st.sampled_from(["numbers", "words", "groups"]))
    if kind == "numbers":
        cells = {name: draw(st.integers(-99, 99).map(lambda n: n / 8)) for name in names}
        shown = {name: repr(cell) for name, cell in cells.items()}
    elif kind == "words":
        cells = {name: float(draw(st.booleans())) for name in names}
        shown = {name: "admit" if cell else "reject" for name, cell in cells.items()}
    else:
        cells = {name: draw(st.sampled_from(["f", "m", "x y", None])) for name in names}
        shown = {
            name: draw(st.sampled_from(["", "NA", "null", "?"])) if cell is None else cell
            for name, cell in cells.items()
        }
    separator = draw(st.sampled_from([",", ";", "\t"]))
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator=draw(st.sampled_from(["\n", "\r\n"])))
    writer.writerow(["applicant", "sex" if kind == "groups" else "score"])
    writer.writerows([name, shown[name]] for name in draw(st.permutations(names)))
    return names, cells, kind, buffer.getvalue().encode()


def check_people(path: Path, names: list[str], cells: dict[str, Any], kind: str, content: bytes) -> str:
    """Read outputs or groups, and hold them against what the file was made from."""
    path.write_bytes(content)
    text = TextOptions(header=True)
    read = read_groups_file if kind == "groups" else read_outputs_file
    assert read(path, names, text=text).values.tolist() == [cells[name] for name in names], content
    return "read"


def fuzz(n_files: int, first_seed: int, seconds: float = float("inf"), at_once: int = 2000) -> Counter[str]:
    """Try files until there are enough of them, or the time is over; an assertion fails with the smallest file that shows it."""
    outcomes: Counter[str] = Counter()
    began = time.perf_counter()
    warnings.simplefilter("ignore", LikewiseWarning)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"

        def whole(case: tuple[Made, str]) -> None:
            outcomes["whole, " + check_whole(path, *case)] += 1

        def broken(case: tuple[Made, str], places: list[tuple[float, int]], cut: float) -> None:
            made, how = case
            outcomes[
                "damaged, "
                + check_damaged(path, damaged(wrapped(made.content, how), places, cut), made.options)
            ] += 1

        def listed(case: tuple[list[str], dict[str, Any], str, bytes]) -> None:
            outcomes["outputs and groups, " + check_people(path, *case)] += 1

        cut = st.just(1.0) | st.floats(0, 1)
        checks = [(whole, (WHOLE,), 0.5), (broken, (WHOLE, DAMAGE, cut), 0.3), (listed, (people(),), 0.2)]
        number = first_seed
        while outcomes.total() < n_files and time.perf_counter() - began < seconds:
            for check, drawn, share in checks:
                batch = max(1, round(share * min(at_once, n_files - outcomes.total())))
                limits = settings(
                    max_examples=batch,
                    deadline=None,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                    phases=[Phase.generate, Phase.shrink],
                )
                seed(number)(limits(given(*drawn)(check)))()
            number += 1
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    began = time.process_time()
    outcomes = fuzz(chosen.files, chosen.seed)
    for outcome, count in sorted(outcomes.items()):
        print(f"{outcome:30}{count:9,}")
    print(f"{'files':30}{outcomes.total():9,}   in {time.process_time() - began:.0f} CPU seconds")


if __name__ == "__main__":
    sys.exit(main())
