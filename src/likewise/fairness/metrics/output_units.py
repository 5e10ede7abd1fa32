"""Outputs in units that no offset and no power of ten drowns, and how far two people are apart in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise._typing import Floats

_CONSTANT = 64 * np.finfo(float).eps


def in_their_units(rows: Floats) -> tuple[Floats, Floats]:
    """Return each output between 0 and 1, and how long its range is: neither an offset nor a unit may drown what differs.

    A range that is no longer than rounding of its values is that of a constant: 0, and no length.

    Parameters
    ----------
    rows : ndarray, shape (m, k)

    Returns
    -------
    scaled : ndarray, shape (m, k)
    lengths : ndarray, shape (k,)
    """
    half = rows / 2  # a range of the largest numbers is itself no number
    centred = half - half.min(axis=0)
    lengths = centred.max(axis=0)
    constant = lengths <= _CONSTANT * np.abs(half).max(axis=0)
    lengths = np.where(constant, 0.0, lengths)
    scaled = np.where(constant, 0.0, centred / np.where(constant, 1.0, lengths))
    with np.errstate(over="ignore"):
        return scaled, 2 * lengths


def are_decisions(rows: Floats) -> NDArray[np.bool_]:
    """Return of each output whether it is 0 for some and 1 for all others, such as a yes or a no.

    Examples
    --------
    >>> are_decisions(np.array([[0.0, 0.0, 1.0], [1.0, 0.5, 1.0]])).tolist()
    [True, False, False]
    """
    found: NDArray[np.bool_] = ((rows == 0) | (rows == 1)).all(axis=0) & (np.ptp(rows, axis=0) > 0)
    return found


def mean_differences(outputs: Floats) -> Floats:
    """Return the mean size of the difference between two people, of each output."""
    m = len(outputs)
    ranks = 2 * np.arange(m) - m + 1.0
    means: Floats = ranks @ np.sort(outputs, axis=0) * 2 / (m * (m - 1))
    return means
