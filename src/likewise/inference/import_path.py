"""Find the object that ``"package.module:name"`` names, so that a model can be chosen on the command line."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

from likewise.errors import ModelError


def import_object(path: str) -> Any:
    """Import a module and return what it calls by a name; of a class, an instance made with its defaults.

    Modules in the current folder are found as well, after the installed ones.

    Parameters
    ----------
    path : str
        ``"package.module:name"``; the name may have dots.

    Returns
    -------
    object

    Raises
    ------
    ModelError
        If the path is malformed, the module cannot be imported or has no such name, or the class needs arguments.

    Examples
    --------
    >>> import_object("numpy:linalg.norm")([3.0, 4.0])
    np.float64(5.0)
    >>> import_object("numpy:nrm")
    Traceback (most recent call last):
    ...
    likewise.errors.ModelError: model 'numpy:nrm' (module 'numpy' has no attribute 'nrm'); expected package.module:name.
    """
    module_name, _, name = path.partition(":")
    try:
        with _current_folder_searched():
            module = importlib.import_module(module_name)
        found: Any = reduce(getattr, name.split("."), module)
        return found() if isinstance(found, type) else found
    except Exception as error:  # importing runs code of others, which can fail in any way
        raise ModelError(f"model {path!r} ({error})", "package.module:name") from error


@contextmanager
def _current_folder_searched() -> Iterator[None]:
    folder = str(Path.cwd())
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
