"""Which kernels run, the compiled ones or their twins; how many threads, and which rows each of them gets."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from threading import Thread, local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._kernels.native import library as native
from likewise.checks import checked_whole
from likewise.errors import InputError, KernelWarning, MissingDependencyError, unknown_name

_KERNELS = "LIKEWISE_KERNELS"


def use_native() -> bool:
    """Whether the compiled kernels run, by LIKEWISE_KERNELS and by what was built.

    Raises `InputError` if LIKEWISE_KERNELS is neither ``native`` nor ``scipy``, `MissingDependencyError` if it is ``native`` and the kernels
    were not built.
    """
    wanted = os.environ.get(_KERNELS, "").strip().lower()
    if wanted not in {"", "native", "scipy"}:
        raise InputError(*unknown_name(f"value of {_KERNELS}", wanted, ["native", "scipy"]))
    if wanted == "native" and not native.is_built():
        raise MissingDependencyError(
            f"{_KERNELS} is 'native', but the compiled kernels are not installed. "
            f"Install a C compiler and reinstall likewise, or unset {_KERNELS}."
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
    """What runs the arithmetic in this process."""

    kernels: str  # "native", the compiled ones, or "scipy", their twins
    instruction_set: (
        str  # they were chosen for at run time: "avx512", "avx2", "baseline"; "none" where SciPy runs
    )
    threads: int  # that a call uses unless it says otherwise
    blas: (
        str  # the libraries loaded: version, threads and, where they say so, the processor they were made for
    )
    advice: str = ""  # what would make them faster, or nothing


def kernel_info() -> KernelInfo:
    """Return what runs the arithmetic in this process."""
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


_THREADS = "LIKEWISE_NUM_THREADS"
_MAX_THREADS = 4096
_here = local()


def thread_count(asked: int | None = None) -> int:
    """Return how many threads to use: `asked`, else one if `single_threaded`, else LIKEWISE_NUM_THREADS, else the processors we may use."""
    if asked is None:
        return 1 if getattr(_here, "single", False) else _from_environment() or usable_processors()
    return checked_whole("n_threads", asked, or_else="None for all processors")


@contextmanager
def single_threaded() -> Iterator[None]:
    """Run the kernels that this thread calls on itself alone: the other processors are busy with its fellows."""
    _here.single = True
    try:
        yield
    finally:
        _here.single = False


@contextmanager
def one_blas_thread(of_all_libraries: bool = False) -> Iterator[None]:
    """Hold BLAS, or all that runs on OpenMP, to one thread, so that its threads do not compete with ours, or add up in another order.

    Threads of BLAS wait for each other by spinning: where other work wants the processors too, a product of a tall array
    with a few columns, or an eigenvalue problem of a few hundred rows, can take ten to a hundred times as long.
    """
    with _controller().limit(limits=1, user_api=None if of_all_libraries else "blas"):
        yield


@cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401  its BLAS is a library of its own, which must be loaded to be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@cache
def usable_processors() -> int:
    """Return the number of processors this process may use, by affinity and by its container's share."""
    import joblib

    return int(joblib.cpu_count())


def equal_shares(cumulative: NDArray[np.int64], n_shares: int) -> list[tuple[int, int]]:
    """Split rows into at most `n_shares` consecutive ranges of nearly equal work; empty ones are left out, but there is always one.

    `cumulative`, (m + 1,), is the work of all rows before row i, starting with 0: for products the row pointer itself.

    >>> equal_shares(np.array([0, 5, 6, 7, 10]), 2)
    [(0, 1), (1, 4)]
    """
    targets = cumulative[0] + (cumulative[-1] - cumulative[0]) * np.arange(1, n_shares) // n_shares
    inner = np.searchsorted(cumulative, targets).tolist()
    shares = [(start, stop) for start, stop in pairwise([0, *inner, cumulative.size - 1]) if start < stop]
    return shares or [(0, 0)]


def run_together(task: Callable[[int, int, int], None], shares: Sequence[tuple[int, int]]) -> None:
    """Run ``task(number, start, stop)`` for each share, the first on the calling thread.

    Threads live for one call: a new thread costs some 50 microseconds where a product takes milliseconds, and a
    process that forks between two calls has no thread to lose.
    """
    helpers = [Thread(target=task, args=(k, *share)) for k, share in enumerate(shares) if k]
    for helper in helpers:
        helper.start()
    task(0, *shares[0])
    for helper in helpers:
        helper.join()


def _from_environment() -> int | None:
    text = os.environ.get(_THREADS, "").strip()
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= _MAX_THREADS:
        raise InputError(
            f"{_THREADS} is {text!r}",
            f"a whole number >= 1, at most {_MAX_THREADS}",
            f"unset {_THREADS} for all processors",
        )
    return int(text)
