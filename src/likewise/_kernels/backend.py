"""Which kernels run: the compiled ones or their twins."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

from likewise._kernels.native import library as native
from likewise._kernels.threads import thread_count
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


_WITHOUT_AVX512 = frozenset({"Haswell", "Zen", "Sandybridge", "Nehalem", "Prescott", "Core2"})
"""Names that OpenBLAS has for processors."""


@dataclass(frozen=True)
class KernelInfo:
    """What runs the arithmetic in this process.

    Parameters
    ----------
    kernels : {"native", "scipy"}
        The compiled kernels or their twins on SciPy.
    instruction_set : str
        What the compiled kernels were chosen for at run time: ``"avx512"``, ``"avx2"`` or ``"baseline"``;
        ``"none"`` where SciPy runs.
    threads : int
        Threads that a call uses unless it says otherwise.
    blas : str
        The BLAS libraries loaded, with versions, threads and, where they say so, the processor they were made for.
    advice : str
        What would make them faster, or nothing.
    """

    kernels: str
    instruction_set: str
    threads: int
    blas: str
    advice: str = ""


def kernel_info() -> KernelInfo:
    """Return what runs the arithmetic in this process.

    Examples
    --------
    >>> kernel_info().threads >= 1
    True
    """
    from threadpoolctl import threadpool_info

    compiled = use_native()
    instructions = native.instruction_set_name() if compiled else "none"
    loaded = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return KernelInfo(
        kernels="native" if compiled else "scipy",
        instruction_set=instructions,
        threads=thread_count(),
        blas=", ".join(map(_described, loaded)),
        advice=_advice(loaded, instructions),
    )


def _described(library: dict[str, Any]) -> str:
    made_for = f"{library['architecture']}, " if library.get("architecture") else ""
    return f"{library['internal_api']} {library['version']} ({made_for}{library['num_threads']} threads)"


def _advice(libraries: list[dict[str, Any]], instructions: str) -> str:
    """OpenBLAS multiplies at little more than half the speed where it is told of, or sees, an older processor than there is."""
    narrow = {str(library.get("architecture")) for library in libraries} & _WITHOUT_AVX512
    if instructions != "avx512" or not narrow:
        return ""
    return (
        f"OpenBLAS uses its kernels for {', '.join(sorted(narrow))}, but this processor has AVX-512: "
        f"with OPENBLAS_CORETYPE=SkylakeX in the environment{_now_set()} products may run nearly twice as fast"
    )


def _now_set() -> str:
    named = os.environ.get("OPENBLAS_CORETYPE")
    return f" instead of {named}" if named else ""
