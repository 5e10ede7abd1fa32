"""Which kernels run: the compiled ones or their twins."""

from __future__ import annotations

import os
import warnings
from functools import cache

from likewise._kernels import native
from likewise.errors import InputError, KernelWarning, MissingDependencyError, unknown_name

_VARIABLE = "LIKEWISE_KERNELS"


def use_native() -> bool:
    """Whether the compiled kernels run, by LIKEWISE_KERNELS and by what was built.

    Raises
    ------
    InputError
        If LIKEWISE_KERNELS is neither ``native`` nor ``scipy``.
    MissingDependencyError
        If it is ``native`` and the kernels were not built.
    """
    wanted = os.environ.get(_VARIABLE, "").strip().lower()
    if wanted not in {"", "native", "scipy"}:
        raise InputError(*unknown_name(f"value of {_VARIABLE}", wanted, ["native", "scipy"]))
    if wanted == "native" and not native.is_built():
        raise MissingDependencyError(
            f"{_VARIABLE} is 'native', but the compiled kernels are not installed. "
            f"Install a C compiler and reinstall likewise, or unset {_VARIABLE}."
        )
    if not wanted and not native.is_built():
        _warn_once()
    return wanted != "scipy" and native.is_built()


@cache
def _warn_once() -> None:
    warnings.warn(
        "the compiled kernels of likewise are not installed or not of this version, so it runs on SciPy's "
        "products, several times slower; to have them, install a C compiler and reinstall likewise",
        KernelWarning,
        stacklevel=2,
    )
