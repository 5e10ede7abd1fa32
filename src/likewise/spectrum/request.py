"""What was asked for, checked once and handed to every solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise._typing import AnyFloats
from likewise.checks import checked_whole
from likewise.errors import InputError, ShapeError, ThresholdError, unknown_name
from likewise.memory import available_memory
from likewise.randomness import generator_of

Progress = Callable[[str, float | None], None]

CERTIFICATES = ("auto", "inertia", "random")
_SHARE_OF_MEMORY = 0.8  # of what is free; BLAS and LAPACK want some room too


@dataclass(frozen=True)
class Request:
    """A checked request.

    Parameters
    ----------
    above : float or None
        tau: singular values strictly above it are wanted; None stands for 0.
    at_most : int or None
        Only so many of the largest.
    dtype : dtype
        Of the iteration and of the singular vectors.
    rng : Generator
    start : ndarray, shape (n, b), or None
        Right singular vectors to start from.
    memory_limit : float
        Bytes that the solver may use.
    max_passes : int
        How often the matrix may be read before the solver stops without a proof.
    certificate : {"auto", "inertia", "random"}
        How completeness is to be proved.
    report : callable
        Told what is going on, with the fraction done or None.
    """

    above: float | None
    at_most: int | None
    dtype: np.dtype[Any]
    rng: np.random.Generator
    start: AnyFloats | None
    memory_limit: float
    max_passes: int
    certificate: str
    report: Progress

    @property
    def threshold(self) -> float:
        """Tau."""
        return self.above or 0.0

    @property
    def square(self) -> float:
        """``tau^2``, the threshold for eigenvalues of ``A^T A``."""
        return self.threshold**2

    @property
    def tolerance(self) -> float:
        """Largest relative residual of a triplet: 1e-6 in float32, 1e-10 in float64."""
        return 1e-6 if self.dtype == np.float32 else 1e-10

    def count_wanted(self, squares: NDArray[np.float64]) -> int:
        """How many of these eigenvalues of ``A^T A`` are asked for."""
        above = int(np.count_nonzero(squares > self.square))
        return above if self.at_most is None else min(above, self.at_most)


def checked_request(
    *,
    above: float | None,
    at_most: int | None,
    dtype: np.dtype[Any],
    random_state: int | np.random.Generator | None,
    start: Any,
    n: int,
    memory_limit: float | None,
    max_passes: int,
    certificate: str,
    progress: Progress | None,
) -> Request:
    """Check every argument of `singular_triplets` that is not the matrix."""
    return Request(
        above=_checked_threshold(above, at_most),
        at_most=None if at_most is None else checked_whole("at_most", at_most, or_else="None"),
        dtype=dtype,
        rng=generator_of(random_state),
        start=_checked_start(start, n),
        memory_limit=_SHARE_OF_MEMORY * available_memory() if memory_limit is None else float(memory_limit),
        max_passes=checked_whole("max_passes", max_passes),
        certificate=_known("certificate", certificate, CERTIFICATES),
        report=progress or _silent,
    )


def _silent(message: str, fraction: float | None) -> None:
    """Report nothing."""


def _checked_threshold(above: float | None, at_most: int | None) -> float | None:
    if above is None and at_most is not None:
        return None
    if above is None:
        raise ThresholdError(
            "neither above nor at_most is given", "a threshold above= >= 0, or a number of triplets at_most="
        )
    try:
        threshold = float(above)
    except (TypeError, ValueError) as error:
        raise ThresholdError(f"threshold is {above!r}", "a finite number >= 0") from error
    if not 0 <= threshold < np.inf:
        raise ThresholdError(f"threshold is {above}", "a finite number >= 0")
    return threshold


def _known(kind: str, name: str, known: tuple[str, ...]) -> str:
    if name not in known:
        raise InputError(*unknown_name(kind, name, known))
    return name


def _checked_start(start: Any, n: int) -> AnyFloats | None:
    if start is None:
        return None
    basis = np.asarray(start, dtype=np.float64)
    if basis.ndim != 2 or basis.shape[0] != n:
        raise ShapeError(f"start has shape {basis.shape}", f"({n}, b): one row for each column of the matrix")
    if not np.isfinite(basis).all():
        raise InputError("start holds NaN or infinite values", "finite values")
    return basis
