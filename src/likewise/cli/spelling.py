"""Arguments that errors and warnings mention, spelled as one types them in a shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

_OTHER_NAMES = {"n_pairs": "--pairs"}
"""Arguments of the library whose options are called otherwise."""


def in_shell(options: Collection[str]) -> Callable[[str, str], str]:
    """Return how to spell an argument: as one of the options, or as Python does where there is no such option.

    Parameters
    ----------
    options : collection of str
        Such as ``--value-range``.

    Examples
    --------
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
        return flag if bare in ("", "...", "True") else f"{flag} {bare}"

    return spell


def _bare(value: str) -> str:
    """Write text without quotes, and the items of a tuple or list with nothing but commas between them."""
    if value[:1] in "([":
        return re.sub(r"[\s()\[\]'\"]", "", value).rstrip(",")
    return value.strip("'\"")
