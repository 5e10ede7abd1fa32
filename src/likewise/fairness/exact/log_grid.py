"""Order statistics from how many numbers lie in each bin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise._kernels import bin_ends
from likewise.fairness.figure import BracketedFigure, ExactFigure


def bin_of_rank(counts: NDArray[np.int64], rank: int) -> int:
    """Return the bin of the number with a 0-based rank."""
    return int(np.searchsorted(np.cumsum(counts), rank, side="right"))


def bracket(counts: NDArray[np.int64], rank: int, n_pairs: int) -> ExactFigure | BracketedFigure:
    """Return the number with a 0-based rank as closely as counts tell.

    Parameters
    ----------
    counts : ndarray of int, shape (N_BINS,)
        How many finite numbers lie in each bin.
    rank : int
        Among all numbers; beyond the finite ones stand infinite ones.
    n_pairs : int
        How many numbers there are.
    """
    if rank >= counts.sum():
        return ExactFigure(np.inf, n_pairs)
    smallest, largest = bin_ends()
    place = bin_of_rank(counts, rank)
    if smallest[place] == largest[place]:
        return ExactFigure(float(smallest[place]), n_pairs)
    return BracketedFigure(float(largest[place]), float(smallest[place]), float(largest[place]), n_pairs)
