"""Matrices with singular values that are known, one entry a structure that solvers have stumbled over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Structure:
    """A matrix, a threshold, and what is known of its spectrum from how it was made.

    `values` are the singular values above the threshold, largest first; `at_threshold` of them equal it.
    """

    matrix: csr_array
    threshold: float
    values: np.ndarray
    at_threshold: int = 0


def planted(values: np.ndarray, m: int, n: int, seed: int = 0) -> np.ndarray:
    """Dense m x n matrix with these singular values and random singular vectors."""
    rng = np.random.default_rng(seed)
    left = np.linalg.qr(rng.standard_normal((m, len(values))))[0]
    right = np.linalg.qr(rng.standard_normal((n, len(values))))[0]
    return left * values @ right.T


def _known(matrix: np.ndarray, values: np.ndarray, threshold: float, at_threshold: int = 0) -> Structure:
    values = np.sort(np.asarray(values, dtype=float))[::-1]
    return Structure(csr_array(matrix), threshold, values[values > threshold], at_threshold)


def _decaying(m: int, n: int, scale: float = 1.0) -> Structure:
    values = scale * 10.0 * 0.9 ** np.arange(min(m, n))
    return _known(planted(values, m, n), values, scale * 2.0)


def _flat() -> Structure:
    values = np.linspace(1.0, 1.2, 60)
    return _known(planted(values, 90, 60), values, 1.1)


def _cluster_at_threshold() -> Structure:
    values = np.concatenate(
        [
            [30.0, 20.0],
            3 * (1 + 1e-5 * np.arange(1, 9)),
            3 * (1 - 1e-5 * np.arange(1, 9)),
            np.linspace(0.1, 1, 40),
        ]
    )
    return _known(planted(values, 120, 80), values, 3.0)


def _twins() -> Structure:
    """Every singular value but one has a twin; a block of one column would see only half of them."""
    values = np.concatenate([np.repeat([9.0, 7.0, 5.0], 2), [4.0], np.linspace(0.1, 1, 50)])
    return _known(planted(values, 100, 70), values, 3.5)


def _all_equal() -> Structure:
    return _known(planted(np.full(50, 2.0), 70, 50), np.full(50, 2.0), 1.0)


def _exactly_at_threshold() -> Structure:
    values = np.concatenate([[7.0, 5.0, 4.0], np.full(5, 3.0), np.linspace(0.5, 2, 52)])
    rng = np.random.default_rng(5)
    matrix = np.zeros((90, 60))
    matrix[rng.permutation(90)[:60], rng.permutation(60)] = values
    return _known(matrix, values, 3.0, at_threshold=5)


def _zeros() -> Structure:
    return _known(np.zeros((50, 40)), np.zeros(40), 1.0)


def _zero_rows_and_columns() -> Structure:
    values = np.linspace(1.0, 5.0, 30)
    matrix = np.zeros((90, 70))
    matrix[np.ix_(np.arange(0, 90, 2), np.arange(0, 70, 2)[:30])] = planted(values, 45, 30)
    return _known(matrix, values, 3.05)


def _duplicates() -> Structure:
    """Rows and columns that all occur twice: singular values double, rank halves."""
    values = np.linspace(1.0, 5.0, 30)
    return _known(np.kron(planted(values, 40, 30), np.ones((2, 2))), 2 * values, 7.05)


def _one_sign() -> Structure:
    """Counts of one sign, as ratings are: one singular value dwarfs the others."""
    rng = np.random.default_rng(7)
    matrix = rng.integers(1, 6, (150, 90)) * (rng.random((150, 90)) < 0.3)
    return _known(matrix.astype(float), np.linalg.svd(matrix, compute_uv=False), 20.0)


STRUCTURES = {
    "decaying, tall": lambda: _decaying(120, 60),
    "decaying, wide": lambda: _decaying(60, 120),
    "decaying, square": lambda: _decaying(70, 70),
    "scale 1e-8": lambda: _decaying(120, 60, 1e-8),
    "scale 1e8": lambda: _decaying(120, 60, 1e8),
    "flat": _flat,
    "cluster at the threshold": _cluster_at_threshold,
    "twins": _twins,
    "all equal": _all_equal,
    "exactly at the threshold": _exactly_at_threshold,
    "rank 0": _zeros,
    "zero rows and columns": _zero_rows_and_columns,
    "duplicates": _duplicates,
    "one sign": _one_sign,
    "one row": lambda: _known(np.arange(5.0)[None, :], np.array([np.sqrt(30.0)]), 2.0),
    "one column": lambda: _known(np.arange(5.0)[:, None], np.array([np.sqrt(30.0)]), 2.0),
    "one entry": lambda: _known(np.array([[3.0]]), np.array([3.0]), 2.0),
    "nothing above": lambda: _known(planted(np.ones(30), 50, 40), np.ones(30), 1.5),
}


@cache
def structure(name: str) -> Structure:
    return STRUCTURES[name]()
