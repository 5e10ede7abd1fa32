"""How a command ends: its exit code, errors and warnings in one line each, options spelled as one types them in a shell."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from shlex import quote
from typing import TextIO

from cyclopts import CycloptsError

from likewise.errors import FairnessError, LikewiseError, LikewiseWarning, printable, spelled

_OTHER_NAMES = {"n_pairs": "--pairs"}
"""Arguments of the library whose options are called otherwise."""


def in_shell(options: Collection[str]) -> Callable[[str, str], str]:
    """Return how to spell an argument: as one of the options, such as ``--value-range``, or as Python does where there is no such option.

    >>> spell = in_shell(["--value-range", "--header"])
    >>> spell("value_range", "(1, 5)"), spell("header", "False"), spell("header", "..."), spell("ax", "None")
    ('--value-range 1,5', '--no-header', '--header', 'ax=None')
    """

    def spell(name: str, value: str) -> str:
        flag = _OTHER_NAMES.get(name, "--" + name.replace("_", "-"))
        if flag not in options:
            return f"{name}={value}" if value else name
        bare = _bare(value)
        if bare == "False":
            return flag.replace("--", "--no-", 1)
        return flag if bare in ("", "...", "True") else f"{flag} {quote(bare)}"

    return spell


def _bare(value: str) -> str:
    """Write text without quotes, and the items of a tuple or list with nothing but commas between them."""
    if value[:1] in "([":
        return ",".join(item.strip().strip("'\"") for item in value.strip("()[]").rstrip(",").split(","))
    return value.strip("'\"")


_HOW_TO_SEE_MORE = "set LIKEWISE_DEBUG=1 to see where"
_ENDINGS: tuple[tuple[type[BaseException], str, int], ...] = (
    (KeyboardInterrupt, "interrupted", 130),
    (BrokenPipeError, "", 141),
    (CycloptsError, "{error} (see likewise --help)", 2),
    (FairnessError, "{error}", 3),
    (LikewiseError, "{error}", 1),
    (OSError, f"{{error}}; {_HOW_TO_SEE_MORE}", 1),
    (MemoryError, f"out of memory; {_HOW_TO_SEE_MORE}", 70),
    (Exception, f"unexpected {{kind}}: {{first_line}}; {_HOW_TO_SEE_MORE}", 70),
)
"""What is said about each kind of error, and the exit code; the first kind that fits is meant."""


def exit_code_of(command: Callable[[], object], options: Callable[[], Collection[str]] = tuple) -> int:
    """Run a command to its end, whatever that is, and return its exit code; see `likewise.cli.main.run`.

    `options` returns the options that there are, for spelling the arguments that a message mentions.
    """
    for stream in (sys.stdout, sys.stderr):
        _never_fail_on_text(stream)
    with _warnings_in_one_line(options), _stopped_like_interrupted():
        try:
            command()
            # Here, and not when Python ends, so that a full disk or a closed pipe still has an exit code.
            sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:
            if os.environ.get("LIKEWISE_DEBUG"):
                traceback.print_exc()
            message, code = _outcome(error, options)
            if isinstance(error, OSError) and not isinstance(error, LikewiseError):
                _drop_output()
            if message:
                print(f"error: {_lines(message)}", file=sys.stderr)
            return code
    return 0


def _outcome(error: BaseException, options: Callable[[], Collection[str]]) -> tuple[str, int]:
    """Return what to say about an error, and the exit code."""
    sentence, code = next((sentence, code) for kind, sentence, code in _ENDINGS if isinstance(error, kind))
    text = spelled(error, in_shell(options()))
    first_line = text.partition("\n")[0]
    return sentence.format(error=text, kind=type(error).__name__, first_line=first_line), code


def _lines(message: str) -> str:
    """Write a message so that no id or name in it can steer the terminal; its own line ends stay."""
    return "\n".join(map(printable, message.split("\n")))


@contextmanager
def _warnings_in_one_line(options: Callable[[], Collection[str]]) -> Iterator[None]:
    """Print warnings as a sentence: where in the package they were raised tells a user of the command line nothing."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        print(f"warning: {_lines(spelled(message, in_shell(options())))}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("default", LikewiseWarning)
        warnings.showwarning = show
        yield


@contextmanager
def _stopped_like_interrupted() -> Iterator[None]:
    """Let a request to end, too, remove what was half written; only the main thread may say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # As an interruption does: the blocks that clean up run, and nothing is left half written.
    earlier = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, earlier)


def _never_fail_on_text(stream: TextIO) -> None:
    """Let ids that the terminal's encoding lacks be spelled out rather than end the command."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Point standard output at nothing, or Python complains when it closes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
