"""Options from a TOML file, and back: what ran is written beside the report, and read again."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from json import dumps
from pathlib import Path
from typing import Any, get_origin

from cyclopts import App
from cyclopts.argument import Argument

from likewise.cli.values import existing
from likewise.errors import FileFormatError, InputError

OPTION = "--config"
FILE = "config.toml"
"""What the resolved configuration is called beside a report."""

_RENAMED = {"settings": "set"}
"""Arguments whose options are called otherwise."""


_NOT_KEPT = ("dry_run",)
"""What says nothing of how a run is repeated."""


def with_config(arguments: Sequence[str], app: App) -> list[str]:
    """Return what was typed with the options of ``--config FILE.toml`` in place of it; what was typed goes before.

    A file that is missing or no TOML raises a `FileFormatError`; a key that is no option of the command, and a value that no option takes, an
    `InputError` with the nearest one.
    """
    typed, path = _taken_out(arguments)
    if path is None or not typed:
        return typed
    command = typed[0]
    if command not in app:
        return typed
    if app[command].default_command is None:
        raise InputError(
            f"{OPTION} behind likewise {command}", "a command with options of its own, such as audit"
        )
    known = {_key(argument): argument for argument in app[command].assemble_argument_collection()}
    options = _read(Path(path).expanduser(), command, known)
    return [command, *_positional(options, known, typed), *typed[1:], *_flags(options, known, typed)]


def _taken_out(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the arguments without the option, and its file."""
    typed, path = list(arguments), None
    for k, argument in enumerate(typed):
        if argument == OPTION and k + 1 < len(typed):
            return [*typed[:k], *typed[k + 2 :]], typed[k + 1]
        if argument.startswith(f"{OPTION}="):
            return [*typed[:k], *typed[k + 1 :]], argument.partition("=")[2]
    return typed, path


def _key(argument: Argument) -> str:
    return argument.names[0].lstrip("-").replace("-", "_").lower()


def _read(path: Path, command: str, known: Mapping[str, Argument]) -> dict[str, Any]:
    """Return the options of the file, which may stand under the name of the command."""
    existing(path, "options")
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileFormatError(f"{path}: {error}", "TOML, such as: estimator = 'svt'") from error
    if isinstance(found.get(command), dict):
        found = {**{key: value for key, value in found.items() if key != command}, **found[command]}
    options = {key.replace("-", "_"): value for key, value in found.items()}
    for key in options:
        if key not in known or key == "*":
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"likewise {command} --help lists them"
            raise InputError(f"key {key!r} in {path}", f"an option of likewise {command}", hint)
    return options


def _positional(
    options: Mapping[str, Any], known: Mapping[str, Argument], typed: Sequence[str]
) -> Iterator[str]:
    """Yield the values of arguments that have no flag, unless they were typed."""
    if len(typed) > 1 and (typed[1] == "-" or not typed[1].startswith("-")):
        return
    for key, argument in known.items():
        if not argument.names[0].startswith("-") and key in options:
            yield str(options[key])


def _flags(options: Mapping[str, Any], known: Mapping[str, Argument], typed: Sequence[str]) -> Iterator[str]:
    given = {argument.partition("=")[0] for argument in typed}
    for key, value in options.items():
        flag = known[key].names[0]
        if flag.startswith("--") and not given & {flag, flag.replace("--", "--no-", 1)}:
            yield from _spelled(flag, value, many=get_origin(known[key].hint) is tuple)


def _spelled(flag: str, value: Any, *, many: bool) -> Iterator[str]:
    """Yield an option as it is typed."""
    if isinstance(value, bool):
        # Only of --header does False say something else than leaving it out.
        if value or flag == "--header":
            yield flag if value else flag.replace("--", "--no-", 1)
    elif isinstance(value, dict) and many:
        yield from (f"{flag}={name}={_in_json(one)}" for name, one in value.items())
    elif isinstance(value, list):
        items = [str(item) for item in value]
        yield from (f"{flag}={item}" for item in items) if many else [f"{flag}={','.join(items)}"]
    elif isinstance(value, str | int | float):
        yield f"{flag}={value}"
    else:
        raise InputError(f"{flag} = {value!r}", "text, a number, true, false, or a list of them")


def _in_json(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def resolved(command: str, values: Mapping[str, Any]) -> str:
    """Return every option of a run as TOML, defaults and all, for `with_config` to read again; what is None is left out.

    >>> print(resolved("audit", {"ratings": Path("r.csv"), "norm": None, "value_range": (1, 5)}), end="")
    [audit]
    ratings = "r.csv"
    value_range = [1, 5]
    """
    lines = [f"[{command}]"]
    for name, value in values.items():
        owned = (
            [(field.name, getattr(value, field.name)) for field in fields(value)]
            if is_dataclass(value)
            else []
        )
        lines += [
            f"{_RENAMED.get(key, key)} = {_toml(one)}"
            for key, one in (owned or [(name, value)])
            if one is not None and one != () and key not in _NOT_KEPT
        ]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """Write a value; TOML's strings are those of JSON, but for two characters."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool | int | float):
        return str(value).lower()
    return dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
