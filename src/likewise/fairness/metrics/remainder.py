"""What is left of outputs once d has explained what it can: a smooth part of all people, then the mean of those nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.arrays import as_array
from likewise.errors import ShapeError
from likewise.fairness.metrics.similar import reach

_CONSTANT = 64 * np.finfo(float).eps


def in_their_units(rows: Floats) -> tuple[Floats, Floats]:
    """Return each output of (m, k) between 0 and 1, and how long its range is, (k,): neither an offset nor a unit may drown what differs.

    A range that is no longer than rounding of its values is that of a constant: 0, and no length.
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

    >>> are_decisions(np.array([[0.0, 0.0, 1.0], [1.0, 0.5, 1.0]])).tolist()
    [True, False, False]
    """
    found: NDArray[np.bool_] = ((rows == 0) | (rows == 1)).all(axis=0) & (np.ptp(rows, axis=0) > 0)
    return found


def output_names(n_outputs: int, output_ids: ArrayLike | None) -> list[str]:
    """Return what each output is called; raise ShapeError where there is not one name for each."""
    if output_ids is None:
        return ["outputs"] if n_outputs == 1 else [f"output {k}" for k in range(n_outputs)]
    names = as_array(output_ids, "names of outputs")
    if names.shape != (n_outputs,):
        raise ShapeError(f"names of outputs of shape {names.shape}", f"({n_outputs},), one for each output")
    return [str(name) for name in names.tolist()]


def mean_differences(outputs: Floats) -> Floats:
    """Return the mean size of the difference between two people, of each output."""
    m = len(outputs)
    # Of sorted values, sum_{i<j} (x_j - x_i) = sum_k (2k - m + 1) x_k, k from 0.
    ranks = 2 * np.arange(m) - m + 1.0
    means: Floats = ranks @ np.sort(outputs, axis=0) * 2 / (m * (m - 1))
    return means


N_LANDMARKS = 30
"""People far from one another, the distances to whom stand for what sets people apart."""

_PEOPLE_A_LANDMARK = 10
"""At least so many people for each landmark: a fit with more of them would explain chance."""

_NOBODY = 1e-9
"""A mean of members among nearest others up to this is rounding; one person among all others gives more."""

_SPANNED = 1e-9
"""Singular values below this share of the largest are rounding."""

_AS_ROUNDING = 1e-12
"""Of a square: ends of an interval that are closer by its root differ by rounding alone."""


@dataclass(frozen=True)
class Remainder:
    """The linear map that takes from values what d explains of them: W means over the nearest others, Q what is smooth in d.

    The nearest others of a group with lower incomes have, on average, higher ones: a mean over them alone leaves a share of what incomes explain in the
    remainder. The regression on distances takes the trend away first (bias-corrected matching: Abadie and Imbens, JBES 2011).
    """

    means: sparse.csr_array  # W, (m, m)
    smooth: Floats  # Q, (m, r), orthonormal columns; what they span is taken away first

    def of(self, values: Floats) -> Floats:
        """Return (I - W)(I - Q Q') values; one column for each kind of value."""
        rest = values - self.smooth @ (self.smooth.T @ values)
        left: Floats = rest - self.means @ rest
        return left

    def transposed(self, values: Floats) -> Floats:
        """Return (I - Q Q')(I - W)' values."""
        rest = values - self.means.T @ values
        left: Floats = rest - self.smooth @ (self.smooth.T @ rest)
        return left


def remainder(distances: Floats, n_neighbors: int) -> tuple[Remainder, float]:
    """Return what d leaves of values, and how near the nearest others are, as `neighbor_means` says it.

    `distances`, (m, m), are between any two people; the diagonal is not read, and overwritten.
    """
    np.fill_diagonal(distances, 0.0)
    smooth = _spanned(
        distances[:, landmarks(distances, min(N_LANDMARKS, len(distances) // _PEOPLE_A_LANDMARK))]
    )
    means, nearness = neighbor_means(distances, n_neighbors)
    return Remainder(means, smooth), nearness


def landmarks(distances: Floats, n_landmarks: int) -> list[int]:
    """Return people far from one another: who is farthest from all on average, then always who is farthest from the nearest of those chosen.

    `distances` are (m, m), 0 on the diagonal. Fewer than `n_landmarks` are returned where everybody else is at distance 0 from one of them.
    """
    chosen: list[int] = []
    farthest = distances.mean(axis=1)
    for _ in range(n_landmarks):
        person = int(farthest.argmax())
        if not farthest[person] > 0:
            break
        farthest = distances[person] if not chosen else np.minimum(farthest, distances[person])
        chosen.append(person)
    return chosen


def _spanned(columns: Floats) -> Floats:
    """Return orthonormal columns that span a constant and the given columns."""
    m = len(columns)
    centred = columns - columns.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    kept = left[:, sizes > _SPANNED * sizes.max(initial=0.0)]
    return np.column_stack([np.full(m, m**-0.5), kept])


def mutually_defined(distances: Floats) -> Any:
    """Return whom to keep, positions, so that every distance among them is defined: who has most that are not (NaN) goes first."""
    undefined = np.isnan(distances)
    np.fill_diagonal(undefined, False)
    counts = undefined.sum(axis=1)
    kept = np.ones(len(distances), bool)
    while counts.any():
        worst = int(counts.argmax())
        kept[worst] = False
        # Whoever goes takes their undefined distances along.
        counts -= undefined[worst]
        counts[~kept] = 0
    return np.flatnonzero(kept)


def neighbor_means(distances: Floats, n_neighbors: int) -> tuple[sparse.csr_array, float]:
    """Return W, (m, m), that takes means over everybody's nearest others, all at the same distance included, and how near they are.

    Nearness is the mean distance of the farthest of them, by the mean distance of all pairs; NaN where all distances are 0. The diagonal of
    `distances`, (m, m), is not read, and overwritten.
    """
    m = len(distances)
    np.fill_diagonal(distances, 0.0)
    mean = distances.sum() / (m * (m - 1))
    np.fill_diagonal(distances, np.inf)
    farthest = np.partition(distances, n_neighbors - 1, axis=1)[:, n_neighbors - 1]
    near = distances <= reach(farthest)[:, None]
    weights = sparse.csr_array(near / np.maximum(near.sum(axis=1, keepdims=True), 1))
    return weights, float(farthest.mean() / mean) if mean > 0 else np.nan


def beside_others(members: Floats, means: sparse.csr_array) -> Floats:
    """Return of each group the share of it that has others among the nearest, or the share of all others that has its people there: the larger of both.

    A few members among many have others about them though most others have no member; so has a large group the other way round. `members`,
    (m, n_groups), are 1 or 0.
    """
    share = means @ members
    of_members = ((share < 1 - _NOBODY) * members).sum(axis=0) / members.sum(axis=0)
    of_others = ((share > _NOBODY) * (1 - members)).sum(axis=0) / (1 - members).sum(axis=0)
    larger: Floats = np.maximum(of_members, of_others)
    return larger


def differences_kept(
    total: float, square: float, c2: Floats, e: Floats, g: Floats, critical: float
) -> tuple[float, float]:
    """Return the ends of the differences that a test of what is left does not refuse: 0 is among them exactly where its p-value says so.

    g is what is left of membership, e of the outputs, each (m,); `total` and `square` are <e, g> and <g, g>; `c2`, (m,), squares of the weights
    of single outputs in `total`; `critical` the z from which on the test refuses.
    """
    # The test of a difference t is that of outputs less t g: |<e, g> - t <g, g>| <= z sqrt(sum c^2 (e - t
    # g)^2), a quadratic inequality a t^2 - 2 b t + rest <= 0.
    z2 = critical**2
    a = square**2 - z2 * float(c2 @ g**2)
    b = total * square - z2 * float(c2 @ (e * g))
    rest = total**2 - z2 * float(c2 @ e**2)
    inside = b**2 - a * rest
    inside = 0.0 if abs(inside) <= _AS_ROUNDING * b**2 else inside  # as where outputs are the group itself
    # Membership is known too vaguely: the test refuses no difference, however large.
    if a <= 0 or inside < 0:
        return -np.inf, np.inf
    return float((b - np.sqrt(inside)) / a), float((b + np.sqrt(inside)) / a)


def mirrors(
    clearest_first: list[int], e: Floats, g: Floats, left: Remainder, critical: float, least: Floats
) -> list[int]:
    """Return which groups differ no longer once the differences of clearer ones are taken off, whose members are among those they are held against.

    Parameters
    ----------
    clearest_first : list of int
        The groups that differ: columns of `g`.
    e, g : ndarray, shapes (m, k) and (m, n_groups)
        What d leaves of outputs and of membership.
    left : Remainder
        How it was taken away.
    critical : float
        A difference is clear beyond this many standard errors.
    least : ndarray, shape (k,)
        The smallest difference of each output that counts.

    Notes
    -----
    Each next group is judged by the partial regression of the outputs on its membership, beside that in all groups before it that stood.
    """
    stood: list[int] = []
    for k in clearest_first:
        if not stood or _stands(e, g[:, stood], g[:, k], left, critical, least):
            stood.append(k)
    return [k for k in clearest_first if k not in stood]


def _stands(
    e: Floats, before: Floats, member: Floats, left: Remainder, critical: float, least: Floats
) -> bool:
    """Return whether an output differs by membership in a group beside that in others, clearly and by enough to count."""
    own = member - before @ np.linalg.lstsq(before, member, rcond=None)[0]
    square = float(own @ own)
    if square <= _SPANNED * float(member @ member):  # everybody else is in a group that stood
        return False
    both = np.column_stack([before, member])
    rest = e - both @ np.linalg.lstsq(both, e, rcond=None)[0]
    spread = np.sqrt(left.transposed(own[:, None])[:, 0] ** 2 @ rest**2)
    sums = np.abs(own @ e)
    return bool(((sums > critical * spread) & (sums >= least * square)).any())
