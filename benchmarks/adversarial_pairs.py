"""Pairs of inputs that try to exceed a Lipschitz constant: every pair of a table, one feature apart, and ascent on the ratio."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from math import inf

import numpy as np
from scipy.spatial.distance import cdist

Rows = np.ndarray
Function = Callable[[Rows], Rows]
Norms = tuple[str, str]
Distances = Callable[[str, str], tuple[np.ndarray, np.ndarray]]
"""From the norms of a certificate to d and D of the same pairs."""

METRICS = {"l1": "cityblock", "l2": "euclidean", "linf": "chebyshev"}
ORDERS = {"l1": 1, "l2": 2, "linf": inf}
BLOCK = 1000


def every_pair(function: Function, rows: Rows) -> Iterator[tuple[int, Distances]]:
    """Yield all pairs of rows, by blocks, with how many there are."""
    outputs = function(rows)
    starts = range(0, len(rows), BLOCK)
    for first, second in combinations_with_replacement(starts, 2):
        a, b = slice(first, first + BLOCK), slice(second, second + BLOCK)
        grid = _Grid(rows[a], rows[b], outputs[a], outputs[b], first == second)
        yield grid.size, grid


class _Grid:
    """Every pair of two blocks; each distance is computed once."""

    def __init__(self, left: Rows, right: Rows, left_out: Rows, right_out: Rows, same: bool) -> None:
        self._inputs, self._outputs = (left, right), (left_out, right_out)
        self._kept = (
            np.triu(np.ones((len(left), len(right)), bool), 1)
            if same
            else np.ones((len(left), len(right)), bool)
        )
        self._known: dict[tuple[bool, str], np.ndarray] = {}
        self.size = int(self._kept.sum())

    def __call__(self, p: str, q: str) -> tuple[np.ndarray, np.ndarray]:
        return self._distances(False, p), self._distances(True, q)

    def _distances(self, of_outputs: bool, norm: str) -> np.ndarray:
        key = of_outputs, norm
        if key not in self._known:
            pair = self._outputs if of_outputs else self._inputs
            self._known[key] = cdist(*pair, METRICS[norm])[self._kept]
        return self._known[key]


def given_pairs(function: Function, left: Rows, right: Rows) -> tuple[int, Distances]:
    """Compare left[k] with right[k]."""
    moved_in, moved_out = left - right, function(left) - function(right)
    return len(left), lambda p, q: (_norms(moved_in, p), _norms(moved_out, q))


def one_feature_apart(
    function: Function, centres: Rows, steps: tuple[float, ...]
) -> Iterator[tuple[int, Distances]]:
    """Yield pairs that differ in one feature, each feature of each centre: where a bound from l1 is attained."""
    n = centres.shape[1]
    for centre in centres:
        for step in steps:
            yield given_pairs(function, np.tile(centre, (n, 1)), centre + step * np.eye(n))


def ascent(
    function: Function, centres: Rows, norms: Norms, rng: np.random.Generator, n_steps: int
) -> Iterator[tuple[int, Distances]]:
    """Climb on the ratio of each pair (c + h, c - h): changes of c and h that raise it are kept, their size adapts.

    Changes of h are dense, or move it towards one feature, towards a corner of the cube, or towards the response of the function to h,
    which is a step of power iteration where inputs and outputs are of the same size.
    """
    p, q = norms
    size = rng.choice([1e-3, 1e-1, 1.0], len(centres))[:, None]
    half = _on_sphere(rng.normal(size=centres.shape), p) * size
    best, reach = _ratios(function, centres, half, p, q), np.full((len(centres), 1), 0.5)
    for _ in range(n_steps):
        moved_centres = centres + reach * size * rng.normal(size=centres.shape) * (
            rng.random((len(centres), 1)) < 0.7
        )
        moved_half = _on_sphere(_changed(function, centres, half / size, reach, rng), p) * size
        count, distances = given_pairs(function, moved_centres + moved_half, moved_centres - moved_half)
        yield count, distances
        d, D = distances(p, q)
        better = (best * d < D)[:, None]
        centres, half = np.where(better, moved_centres, centres), np.where(better, moved_half, half)
        best = np.maximum(best, np.divide(D, d, out=np.zeros_like(D), where=d > 0))
        reach = np.clip(np.where(better, reach * 1.5, reach * 0.93), 1e-4, 2.0)


def _changed(
    function: Function, centres: Rows, half: Rows, reach: np.ndarray, rng: np.random.Generator
) -> Rows:
    kind = rng.integers(0, 5, (len(half), 1))
    dense = half + reach * rng.normal(size=half.shape) / np.sqrt(half.shape[1])
    feature = np.eye(half.shape[1])[rng.integers(0, half.shape[1], len(half))] * rng.choice(
        [-1, 1], (len(half), 1)
    )
    sparse = half * (1 - np.minimum(reach, 1)) + reach * feature
    changed = np.select([kind < 2, kind == 2], [dense, np.sign(dense)], sparse)
    response = function(centres + 1e-3 * half) - function(centres - 1e-3 * half)
    if response.shape == half.shape:
        changed = np.where(kind == 4, response + 1e-12 * dense, changed)
    return changed


def _ratios(function: Function, centres: Rows, half: Rows, p: str, q: str) -> np.ndarray:
    d, D = given_pairs(function, centres + half, centres - half)[1](p, q)
    return D / d


def _on_sphere(rows: Rows, norm: str) -> Rows:
    return rows / _norms(rows, norm)[:, None]


def _norms(rows: Rows, norm: str) -> np.ndarray:
    return np.linalg.norm(rows, ORDERS[norm], axis=1)
