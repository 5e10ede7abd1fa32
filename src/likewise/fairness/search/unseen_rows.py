"""The worst pair of rows that a search finds, seen or not: from below what a certificate bounds from above.

Between two rows lies a way of length d. Some row on it parts the way in two, and by the triangle inequality one of both parts has a ratio D / d that is no smaller than that
of the whole, whatever the outputs are. So a search that goes on with the worse part never loses, and where outputs jump the ratio doubles with every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likewise._typing import Floats, Mask
from likewise.arrays import as_floats
from likewise.checks import checked_callable, checked_positive, checked_whole
from likewise.errors import InputError, ShapeError
from likewise.norms import Norm, norm_order
from likewise.randomness import generator_of

Function = Callable[[Floats], Floats]
"""From rows, NaN where nothing was observed, to their outputs."""

_ROUNDING = 1e-7
"""Of the size of two outputs: so much of D may be rounding, and is left out, so that what is found is attained for certain."""
_ROUNDING_OF_ROWS = 1e-11
_LARGEST = 1e145
_CLOSEST = 1e-3
"""Rows nearer than that are not parted further."""
_MOST_STEPS = 1000
_WAYS = 3
"""Rows that are tried between two: the middle, and some that take each feature from one of both."""


@dataclass(frozen=True, eq=False)
class UnseenRows:
    """Two rows and how far apart their outputs are.

    Parameters
    ----------
    ratio : float
        D / d of the two, rounded down: no constant below it holds. 0 where no pair was found.
    start_ratio : float
        The largest D / d among the pairs that the search began with.
    distance : float
        d of the two.
    rows : ndarray, shape (2, n)
        NaN where nothing is observed.
    n_rows : int
        How many rows the function was asked for.
    """

    ratio: float
    start_ratio: float
    distance: float
    rows: Floats = field(repr=False)
    n_rows: int

    def __str__(self) -> str:
        return f"D / d of {self.ratio:.4g} is attained by two rows at distance {self.distance:.4g}; {self.n_rows:,} rows were tried"


def search_unseen_rows(
    function: Function,
    starts: Sequence[tuple[Floats, Floats]] | Floats,
    *,
    norm: Norm = "l1",
    empty: float | None = None,
    admissible: Callable[[Floats], Mask] | None = None,
    n_steps: int = 14,
    random_state: int | np.random.Generator | None = 0,
) -> UnseenRows:
    """Search for two rows with a large ratio of D, l2 between their outputs, to d, among rows that nobody has seen.

    Each starting pair is parted at a row between the two, and the part with the larger ratio is kept, again and again. A row between is the
    middle; with l1 also one that takes each feature from either. The result is never below the largest ratio of the start, and never above a
    proved constant.

    Parameters
    ----------
    function : callable
        Takes rows, shape (k, n), and returns outputs, shape (k,) or (k, t). Values of rows stay between those of the start.
    starts : array-like, shape (p, 2, n)
        Pairs to begin with, such as the worst of the data. NaN where nothing is observed.
    norm : {"l1", "l2", "linf"} or float, default "l1"
        Of d between rows in which NaN counts as 0.
    empty : float, optional
        If given, d is l1 where an empty entry lies this far from every value (`PatternDistance`), and `norm` has no effect.
    admissible : callable, optional
        Takes rows, and says which the search may use: the domain of a certificate.
    n_steps : int, default 14
        How often pairs are parted.
    random_state : int, Generator or None, default 0
        For the choice of features.

    Returns
    -------
    UnseenRows

    Raises
    ------
    ShapeError
        Starts that are not pairs of rows; not one output for each row.
    InputError
        `empty` or `n_steps` is not above 0; outputs that are not finite.

    Examples
    --------
    A step: as far as the search goes, its ratio doubles.

    >>> found = search_unseen_rows(lambda x: np.sign(x - 0.3), [([-1.0], [1.0])])
    >>> round(found.start_ratio, 6), found.ratio > 1000
    (1.0, True)
    """
    if function is None:
        raise InputError("function=None", "a function of rows")
    checked_callable("function", function)
    checked_callable("admissible", admissible, "a function of rows")
    pairs = _checked_pairs(starts)
    way = _Way(norm_order(norm), None if empty is None else checked_positive("empty", empty))
    search = _Search(function, way, admissible, generator_of(random_state))
    return search.run(pairs, checked_whole("n_steps", n_steps, most=_MOST_STEPS))


def _checked_pairs(starts: Any) -> Floats:
    pairs = as_floats(starts, "pairs of rows")
    if pairs.ndim != 3 or pairs.shape[1] != 2 or 0 in pairs.shape:
        raise ShapeError(f"pairs of rows of shape {pairs.shape}", "(pairs, 2, features)")
    if np.isinf(pairs).any():
        raise InputError("rows with infinite values", "numbers, NaN where nothing is observed")
    return pairs


@dataclass(frozen=True)
class _Way:
    """d between rows, and what lies between two."""

    order: float
    empty: float | None

    def distances(self, left: Floats, right: Floats) -> Floats:
        """Measure d of each pair, shape (p,)."""
        if self.empty is None:
            differences = np.abs(np.nan_to_num(left) - np.nan_to_num(right))
            return np.asarray(np.linalg.norm(differences, self.order, axis=-1))
        differences = np.abs(left - right)
        alone = np.isnan(left) != np.isnan(right)
        return np.asarray(np.nansum(differences, axis=-1) + self.empty * alone.sum(axis=-1))

    def between(self, left: Floats, right: Floats, rng: np.random.Generator) -> Floats:
        """Return rows on ways from one to the other, shape (ways, p, n): d to both sums to d between them."""
        if self.empty is None:
            left, right = np.nan_to_num(left), np.nan_to_num(right)
        # Half the way is added: of two equal values the middle is that value to the bit.
        middle = left + (right - left) / 2
        lacking = np.isnan(middle)
        # Where one of both is empty there is no middle: the row between has the entry of either, at d =
        # `empty` or 0 from each.
        ways = [np.where(lacking, np.where(rng.random(left.shape) < 0.5, left, right), middle)]
        if self.order == 1 or self.empty is not None:
            # Under l1 each feature adds up by itself, so a row that takes some features from one and the
            # rest from the other lies on a way as well.
            ways += [np.where(rng.random(left.shape) < 0.5, left, right) for _ in range(_WAYS - 1)]
        return np.stack(ways)


class _Search:
    """Pairs that are parted; the outputs of each row are asked for once."""

    def __init__(
        self,
        function: Function,
        way: _Way,
        admissible: Callable[[Floats], Mask] | None,
        rng: np.random.Generator,
    ) -> None:
        self.function, self.way, self.rng, self.n_rows = function, way, rng, 0
        self.admissible = admissible

    def run(self, pairs: Floats, n_steps: int) -> UnseenRows:
        """Part the pairs so many times; returns the best that there ever was."""
        # Outputs travel with the rows, so that each row is asked for once.
        rows = pairs.copy()
        outputs = np.stack([self._outputs(rows[:, side]) for side in (0, 1)], axis=1)
        usable = self._usable(rows[:, 0]) & self._usable(rows[:, 1])
        ratios = np.where(usable, self._ratios(rows, outputs), 0.0)
        first = int(ratios.argmax())
        start, best, found = float(ratios[first]), float(ratios[first]), rows[first].copy()
        for _ in range(n_steps):
            # Rows that are all but equal differ by rounding alone.
            open_ = np.flatnonzero(usable & (self.way.distances(rows[:, 0], rows[:, 1]) > _CLOSEST))
            if not open_.size:
                break
            rows[open_], outputs[open_], ratios = self._parted(rows[open_], outputs[open_])
            place = int(ratios.argmax())
            if ratios[place] > best:
                best, found = float(ratios[place]), rows[open_[place]].copy()
        distance = float(self.way.distances(found[:1], found[1:])[0])
        return UnseenRows(best, start, distance, found, self.n_rows)

    def _parted(self, rows: Floats, outputs: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the worst part of each pair, of all ways to part it; the pair itself where there is no worse one."""
        between = self.way.between(rows[:, 0], rows[:, 1], self.rng)
        flat = between.reshape(-1, rows.shape[2])
        middle = self._outputs(flat).reshape(*between.shape[:2], -1)
        may = self._usable(flat).reshape(between.shape[:2])
        # First the pair as it was, then both parts of each way, in this order: the largest ratio says which
        # to go on with.
        parts, values = [rows], [outputs]
        for way, of_way in zip(between, middle, strict=True):
            for side in (0, 1):
                ends = (rows[:, 0], way) if side == 0 else (way, rows[:, 1])
                parts.append(np.stack(ends, axis=1))
                ends = (outputs[:, 0], of_way) if side == 0 else (of_way, outputs[:, 1])
                values.append(np.stack(ends, axis=1))
        ratios = np.stack([self._ratios(part, value) for part, value in zip(parts, values, strict=True)])
        # A part that ends at an inadmissible row is none: below any ratio, so it is never chosen.
        ratios[1:] = np.where(np.repeat(may, 2, axis=0), ratios[1:], -1.0)
        ratios[0] *= 1 - 1e-12  # a part that is as bad is shorter, and can be parted otherwise
        worst, k = ratios.argmax(axis=0), np.arange(len(rows))
        return np.stack(parts)[worst, k], np.stack(values)[worst, k], ratios[worst, k]

    def _ratios(self, rows: Floats, outputs: Floats) -> Floats:
        """Return D / d of each pair; 0 where d is 0: rows that no distance tells apart have no way between them."""
        d = self.way.distances(rows[:, 0], rows[:, 1])
        rounding = sum(rounding_of(rows[:, side], outputs[:, side]) for side in (0, 1))
        D = np.linalg.norm(outputs[:, 0] - outputs[:, 1], axis=1)
        found = attained_ratios(D, d, np.asarray(rounding))
        return np.where(d > 0, found, 0.0)

    def _outputs(self, rows: Floats) -> Floats:
        found = as_floats(self.function(rows), "outputs of rows")
        if found.ndim not in (1, 2) or len(found) != len(rows):
            raise ShapeError(f"outputs of shape {found.shape} for {len(rows)} rows", "an output for each row")
        if not np.isfinite(found).all():
            raise InputError("outputs that are NaN or infinite", "finite outputs for every row")
        if (largest := float(np.abs(found).max(initial=0.0))) > _LARGEST:
            raise InputError(
                f"outputs up to {largest:.3g}, whose squares exceed the largest number", "smaller units"
            )
        self.n_rows += len(rows)
        return found.reshape(len(rows), -1)

    def _usable(self, rows: Floats) -> Mask:
        if self.admissible is None:
            return np.ones(len(rows), dtype=bool)
        try:
            found = np.asarray(self.admissible(rows))
        except (TypeError, ValueError) as error:
            raise InputError(f"admissible, which fails on rows ({error})", "a function of rows") from error
        if found.shape != (len(rows),) or found.dtype != bool:
            raise InputError(
                f"admissible of {len(rows)} rows with shape {found.shape}, {found.dtype}",
                "True or False for each",
            )
        return found


def rounding_of(rows: Floats, outputs: Floats) -> Floats:
    """Return how much of each output may be rounding: a share of its size, and of that of the row, which outputs near 0 are left of."""
    sizes = np.linalg.norm(np.nan_to_num(rows), axis=1)
    return np.asarray(_ROUNDING * np.linalg.norm(outputs, axis=1) + _ROUNDING_OF_ROWS * sizes)


def attained_ratios(outputs: Floats, distances: Floats, rounding: Floats) -> Floats:
    """Return D / d of pairs, D less what may be `rounding` of both outputs together, so that they are attained for certain.

    Infinite where d is 0 and D is not; 0 where D is, to rounding.
    """
    D = np.maximum(outputs - rounding, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(D > 0, D / distances, 0.0))
