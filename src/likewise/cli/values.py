"""How the text of each option is read: paths, numbers, columns; what exists is checked before anything heavy is imported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from glob import has_magic, iglob
from inspect import cleandoc
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from likewise.errors import FileFormatError, InputError

STANDARD_STREAM = Path("-")
"""Standard input where a file is read, standard output where one is written."""

_ALIKE = 0.8
"""How alike, from 0 to 1, a file name must be to be taken for what was meant: a shared ending alone comes to 0.6."""


_OF_COLUMNS = {
    "groups": "if that is a column, name the file that has it, which may be that of the individuals, and --group-column",
    "target": "if that is a column, name the file that has it, which may be that of the individuals, and --target-column",
}
"""What to do where no file is called like what was given, by what the file would hold."""


def flowing(docstring: str | None) -> str:
    r"""Return a docstring in which each description is one line, for the terminal to break where it ends.

    >>> flowing("Audit.\n\n    Parameters\n    ----------\n    out\n        Folder of\n        the report.\n    ")
    'Audit.\n\nParameters\n----------\nout\n    Folder of the report.'
    """
    lines: list[str] = []
    for line in cleandoc(docstring or "").splitlines():
        if line.startswith("    ") and lines[-1].startswith("    "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def refuse_to_overwrite(read: Iterable[Path | None], written: Iterable[Path]) -> None:
    """Raise an `InputError` before the work where a result would take the place of a file that it is made from."""
    inputs = {path.resolve() for path in read if path is not None}
    for target in written:
        if target.resolve() in inputs:
            raise InputError(f"{target}, which is read, as a file to write", "another name or folder")


def is_partitioned(source: str | PathLike[str]) -> bool:
    """Return whether a path is a folder, or a pattern that files have, so that parts are meant; asked before anything heavy is imported."""
    name = fspath(source)
    root = Path(name).expanduser()
    matches = has_magic(name) and not root.exists() and any(iglob(str(root), recursive=True))  # noqa: PTH207  the pattern may be absolute
    return root.is_dir() or matches


def existing(path: Path, holds: str = "observations") -> Path:
    """Return a path to read, or raise a `FileFormatError` at once where nothing is there: before anything heavy is imported."""
    if path == STANDARD_STREAM or path.exists():
        return path
    siblings = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    nearest = get_close_matches(path.name, siblings, n=1, cutoff=_ALIKE)
    hint = f"did you mean {path.parent / nearest[0]}?" if nearest else _OF_COLUMNS.get(holds, "")
    raise FileFormatError(f"no file {str(path)!r}", f"a path to a file of {holds}", hint)


def reference_file(reference: str | None) -> Path | None:
    """Return the file that a reference names; None where it is a name: what has no ending and is no file.

    What looks like a file, and is not there, raises a `FileFormatError`.

    >>> reference_file("held-out"), reference_file(None)
    (None, None)
    """
    if reference is None:
        return None
    path = Path(reference).expanduser()
    if path.is_file() or path.suffix or len(path.parts) > 1:
        return existing(path, "features, or of the truth A, or the name of a distance")
    return None


def _two_numbers(_: Any, tokens: Sequence[Token]) -> tuple[float, float] | str:
    """Read ``1,5``, or a word that the library knows."""
    text = tokens[0].value
    if "," not in text:
        return text
    numbers = tuple(float(part) for part in text.split(","))
    if len(numbers) != 2:
        raise ValueError(f"{text} is not LOW,HIGH")
    return numbers[0], numbers[1]


def _two_sizes(_: Any, tokens: Sequence[Token]) -> tuple[int, int]:
    """Read ``6040,3952``."""
    sizes = tuple(_whole_number(part) for part in tokens[0].value.split(","))
    if len(sizes) != 2:
        raise ValueError(f"{tokens[0].value} is not ROWS,COLUMNS")
    return sizes[0], sizes[1]


def _columns(_: Any, tokens: Sequence[Token]) -> tuple[str | int, ...]:
    """Read ``written,course`` or ``0,3``."""
    return tuple(_numeral_or_name(name) for name in tokens[0].value.split(","))


def _column(_: Any, tokens: Sequence[Token]) -> str | int:
    """Read ``student`` or ``0``."""
    return _numeral_or_name(tokens[0].value)


def _numeral_or_name(text: str) -> str | int:
    from likewise.observations.reading.columns import Numeral

    # Whether 2020 is a name or a position only the header tells, which is read later.
    return Numeral(text) if text.isdecimal() else text


def _path(_: Any, tokens: Sequence[Token]) -> Path:
    """Read a path, in which ``~`` is the home folder; nothing at all would mean the current folder."""
    if not (path := tokens[0].value):
        raise ValueError("an empty name")
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise ValueError(f"{path}: no such home folder") from None


def _whole(_: Any, tokens: Sequence[Token]) -> int:
    """Read ``10``; a fraction is refused, not rounded."""
    return _whole_number(tokens[0].value)


def _seed(_: Any, tokens: Sequence[Token]) -> int:
    if (seed := _whole_number(tokens[0].value)) < 0:
        raise ValueError(f"{seed} is below 0")
    return seed


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


Settings = Annotated[
    tuple[str, ...], Parameter(name="--set", negative=(), metavar="NAME=VALUE", allow_leading_hyphen=True)
]
Whole = Annotated[int | None, Parameter(converter=_whole, allow_leading_hyphen=True)]
Seed = Annotated[int, Parameter(converter=_seed, allow_leading_hyphen=True)]
NewPath = Annotated[Path, Parameter(converter=_path, allow_leading_hyphen=True)]
OldPath = Annotated[Path, Parameter(converter=_path, allow_leading_hyphen=True)]
Column = Annotated[str | int | None, Parameter(converter=_column)]
Columns = Annotated[Any, Parameter(converter=_columns, n_tokens=1, metavar="NAME,NAME")]
Shape = Annotated[Any, Parameter(converter=_two_sizes, n_tokens=1, metavar="ROWS,COLUMNS")]
Range = Annotated[
    Any, Parameter(converter=_two_numbers, n_tokens=1, metavar="LOW,HIGH", allow_leading_hyphen=True)
]
Number = Annotated[float | None, Parameter(allow_leading_hyphen=True)]
