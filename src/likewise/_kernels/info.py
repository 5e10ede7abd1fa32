"""What runs the arithmetic here: kernels, instruction set, threads, BLAS."""

from __future__ import annotations

from dataclasses import dataclass

from likewise._kernels import choice, native
from likewise._kernels.threads import thread_count


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
        The BLAS libraries loaded, with versions and threads.
    """

    kernels: str
    instruction_set: str
    threads: int
    blas: str


def kernel_info() -> KernelInfo:
    """Return what runs the arithmetic in this process.

    Examples
    --------
    >>> kernel_info().threads >= 1
    True
    """
    compiled = choice.use_native()
    return KernelInfo(
        kernels="native" if compiled else "scipy",
        instruction_set=native.instruction_set_name() if compiled else "none",
        threads=thread_count(),
        blas=_blas(),
    )


def _blas() -> str:
    from threadpoolctl import threadpool_info

    loaded = (lib for lib in threadpool_info() if lib["user_api"] == "blas")
    return ", ".join(
        f"{lib['internal_api']} {lib['version']} ({lib['num_threads']} threads)" for lib in loaded
    )
