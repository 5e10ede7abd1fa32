"""The estimate A_hat, kept as factors: entries are clipped and mapped to the user's units when they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats
from likewise.arrays import as_array
from likewise.errors import ShapeError
from likewise.estimation.base.folding import Folding, LinearFolding
from likewise.estimation.base.persistence import load_parts, save_parts
from likewise.memory import ensure_fits
from likewise.observations import AffineScale, ObservedMatrix, PartitionedMatrix
from likewise.observations.convert import to_table
from likewise.observations.index_alignment import checked_positions, positions_of
from likewise.observations.table import Values, with_data
from likewise.observations.value_range import WorkingRange

if TYPE_CHECKING:
    from likewise.estimation.base.preparation import Centre
    from likewise.writing import PathLike


_BLOCK_BYTES = 32 << 20


@dataclass(frozen=True, eq=False)
class LowRankEstimate:
    """``A_hat = clip(U diag(d) V^T + row offsets + column offsets)``, mapped from the method's working range to the user's units.

    Parameters
    ----------
    left : ndarray, shape (m, r)
        ``U``: vectors ``u_l`` of the individuals, in columns; left singular vectors where the estimator decomposes a matrix.
    singular_values : ndarray, shape (r,)
        ``sigma_l`` of the matrix that was decomposed, decreasing; of an estimator that decomposes none, `shrunk_values`.
    shrunk_values : ndarray, shape (r,)
        ``d``: the strength of each component; ``psi(sigma_l)`` of singular value thresholding.
    right : ndarray, shape (n, r)
        ``V``: vectors ``v_l`` of the features, in columns.
    scale : AffineScale
        From the user's units to the method's working range; its bounds are the clip bounds.
    row_ids, column_ids : ndarray
        Names of the individuals and features.
    row_offsets : ndarray, shape (m,), or None, default None
        Added to each row, on the method's working range.
    column_offsets : ndarray, shape (n,), or None, default None
        Added to each column; a centre that is common to all columns is among them.
    folding : Folding, optional
        How the observations of a new row become its coefficients, in terms of V, and its offset; `LinearFolding` by default.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise import ObservedMatrix, svt
    >>> Z = ObservedMatrix(np.array([[1.0, 1.0], [1.0, np.nan]]), value_range=(-1, 1))
    >>> estimate = svt(Z, threshold=1.0, shrinker="identity")
    >>> estimate.rank, estimate.entries([1], [1]).round(3)
    (1, array([0.447]))
    """

    left: Floats
    singular_values: Floats
    shrunk_values: Floats
    right: Floats
    scale: AffineScale
    row_ids: NDArray[Any]
    column_ids: NDArray[Any]
    row_offsets: Floats | None = None
    column_offsets: Floats | None = None
    folding: Folding = field(default_factory=LinearFolding)

    @classmethod
    def from_factors(
        cls,
        observed: ObservedMatrix | PartitionedMatrix,
        working_range: WorkingRange,
        factors: tuple[ArrayLike, ArrayLike, ArrayLike],
        folding: Folding,
        centre: Centre | None = None,
        singular_values: ArrayLike | None = None,
    ) -> LowRankEstimate:
        """Make an estimate of observations: ids and scale are theirs, offsets those of the centre.

        Parameters
        ----------
        observed : ObservedMatrix or PartitionedMatrix, shape (m, n)
            In the user's units.
        working_range : {"symmetric", "unit"}
            What the factors are on.
        factors : tuple of ndarray, shapes (m, r), (r,), (n, r)
            U, d and V.
        folding : Folding
        centre : Centre, optional
            What was subtracted before; nothing by default.
        singular_values : ndarray, shape (r,), optional
            By default d.
        """
        left, shrunk, right = (np.asarray(factor, dtype=np.float64) for factor in factors)
        return cls(
            left=left,
            singular_values=shrunk if singular_values is None else np.asarray(singular_values, np.float64),
            shrunk_values=shrunk,
            right=right,
            scale=observed.value_range.scale_to(working_range),
            row_ids=observed.row_ids,
            column_ids=observed.column_ids,
            row_offsets=None if centre is None else centre.row_offsets,
            column_offsets=None if centre is None else centre.column_offsets,
            folding=folding,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n): individuals and features."""
        return self.left.shape[0], self.right.shape[0]

    @property
    def rank(self) -> int:
        """How many singular values were kept."""
        return self.singular_values.size

    @property
    def gains(self) -> Floats:
        """``psi(sigma_l) / sigma_l``: of linear folding, the eigenvalues of the map from a row to its estimate before clipping."""
        return self.shrunk_values / self.singular_values

    def on_working_range(self) -> LowRankEstimate:
        """Return the same estimate read on the method's working range, not in the user's units."""
        identity = AffineScale(np.asarray(0.0), np.asarray(1.0), self.scale.bounds)
        return replace(self, scale=identity)

    def unclipped(self) -> LowRankEstimate:
        """Return the same estimate read on the method's working range, not clipped to it."""
        return replace(self, scale=AffineScale(np.asarray(0.0), np.asarray(1.0), (-np.inf, np.inf)))

    def without_rows(self) -> LowRankEstimate:
        """Return what rows are folded into, without those of the fit, of which there may be many."""
        return replace(self, left=np.zeros((0, self.rank)), row_ids=np.zeros(0), row_offsets=None)

    def rows(self, positions: slice | ArrayLike) -> Floats:
        """Return whole rows, in the user's units.

        Parameters
        ----------
        positions : slice or array-like of int, shape (k,)
            Row positions (not ids).

        Returns
        -------
        ndarray, shape (k, n)

        Raises
        ------
        ShapeError
            A position that is not an integer from 0 to m - 1.
        MemoryLimitError
            If that many whole rows would not fit.
        """
        chosen = (
            positions if isinstance(positions, slice) else checked_positions(positions, self.shape[0], "row")
        )
        offsets = None if self.row_offsets is None else self.row_offsets[chosen]
        return self._complete(self.left[chosen] * self.shrunk_values, offsets)

    def entries(self, rows: ArrayLike, columns: ArrayLike) -> Floats:
        """Return single entries, in the user's units, without forming rows.

        Parameters
        ----------
        rows, columns : array-like of int, shape (k,)
            Positions (not ids).

        Returns
        -------
        ndarray, shape (k,)

        Raises
        ------
        ShapeError
            If the two differ in length, or a position is not an integer on its axis.
        """
        i = checked_positions(rows, self.shape[0], "row")
        j = checked_positions(columns, self.shape[1], "column")
        if i.shape != j.shape or i.ndim != 1:
            raise ShapeError(
                f"row positions of shape {i.shape} and column positions of {j.shape}", "two equal lengths"
            )
        values = np.empty(i.size)
        step = max(1, _BLOCK_BYTES // (16 * max(self.rank, 1)))
        for start in range(0, i.size, step):
            part = slice(start, start + step)
            values[part] = np.einsum(
                "kr,r,kr->k", self.left[i[part]], self.shrunk_values, self.right[j[part]]
            )
        for offsets, positions in ((self.row_offsets, i), (self.column_offsets, j)):
            if offsets is not None:
                values += offsets[positions]
        return self._read(values, j)

    def entries_of(self, row_ids: ArrayLike, column_ids: ArrayLike) -> Floats:
        """Return single entries by the ids of their individuals and features, in the user's units.

        Parameters
        ----------
        row_ids, column_ids : array-like, shape (k,)

        Returns
        -------
        ndarray, shape (k,)

        Raises
        ------
        ObservationError
            Naming ids that the observations did not have.

        Examples
        --------
        >>> from likewise import ObservedMatrix
        >>> from likewise.estimation import Biases
        >>> ratings = [[5.0, 3.0], [4.0, 2.0]]
        >>> Z = ObservedMatrix(ratings, row_ids=["ann", "bob"], column_ids=["green", "black"], value_range=(1, 5))
        >>> Biases(regularization=0).fit(Z).estimate_.entries_of(["bob", "ann"], ["green", "black"]).round(6)
        array([4., 3.])
        """
        rows = positions_of(row_ids, self.row_ids, "row")
        return self.entries(rows, positions_of(column_ids, self.column_ids, "column"))

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield (row slice, rows in the user's units) so that no more than some 32 MiB exist at a time."""
        m, n = self.shape
        step = max(1, _BLOCK_BYTES // (8 * n))
        for start in range(0, m, step):
            part = slice(start, min(start + step, m))
            yield part, self.rows(part)

    def to_dense(self) -> Floats:
        """Return all m x n entries, in the user's units.

        Raises
        ------
        MemoryLimitError
            If the array would not fit; `rows`, `entries` and `blocks` then serve.
        """
        m, n = self.shape
        ensure_fits(8 * m * n, f"the dense {m:,} x {n:,} estimate", "use rows(), entries() or blocks()")
        dense = np.empty((m, n))
        for part, block in self.blocks():
            dense[part] = block
        return dense

    def fold_in(self, new_rows: ObservedMatrix | Any) -> Floats:
        """Estimate rows that were never seen, as `folding` says: ``clip(c V^T + offsets)`` with their own coefficients c.

        For a row that was in the fit, linear folding gives its row of the estimate, if its weights follow from its own observations.

        Parameters
        ----------
        new_rows : ObservedMatrix, array-like with NaN, or SciPy sparse; shape (k, n)
            In the user's units; what is not observed is missing.

        Returns
        -------
        ndarray, shape (k, n)
            In the user's units.

        Raises
        ------
        ShapeError
            If the number of features differs from the estimate's.
        MemoryLimitError
            If that many whole rows would not fit.
        ObservationError
            Values that are infinite, or outside the range of the fit: clipped in silence, a 50 would count as a 5.
        """
        n, shape = self.shape[1], getattr(new_rows, "shape", None) or as_array(new_rows, "new rows").shape
        if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] != n:
            raise ShapeError(f"new rows of shape {shape}", f"(any, {n}): the {n} features of the estimate")
        if isinstance(new_rows, ObservedMatrix) and _reordered(new_rows.column_ids, self.column_ids):
            raise ShapeError(
                "new rows whose features stand in another order", "the order of the estimate's column_ids"
            )
        self._ensure_fit(shape[0])
        folding = self.folding.knowing(new_rows.side.rows if isinstance(new_rows, ObservedMatrix) else None)
        return self._complete(*folding.fold(self._on_interval(new_rows), self))

    def of_rows(self, observed: ObservedMatrix) -> LowRankEstimate:
        """Return the estimate of other individuals, folded in as in `fold_in`, as factors.

        Parameters
        ----------
        observed : ObservedMatrix, shape (k, n)
            With the features of the fit, in its order.

        Returns
        -------
        LowRankEstimate, shape (k, n)

        Raises
        ------
        ObservationError
            Values outside the range of the fit.
        """
        folding = self.folding.knowing(observed.side.rows)
        coefficients, offsets = folding.fold(self._on_interval(observed), self)
        left = left_of(coefficients, self.shrunk_values)
        return replace(self, left=left, row_ids=observed.row_ids, row_offsets=offsets)

    def save(self, path: PathLike) -> None:
        """Write factors, scale and ids to one ``.npz`` file; see `load`.

        Raises
        ------
        OutputError
            The file cannot be written, or ids are neither numbers nor text.
        """
        save_parts({part.name: getattr(self, part.name) for part in fields(self)}, path)

    @staticmethod
    def load(path: PathLike) -> LowRankEstimate:
        """Read an estimate that `save` wrote; no code in the file is run.

        Raises
        ------
        FileFormatError
            Missing, damaged, or something else.
        """
        return LowRankEstimate(**load_parts(path))

    def clipped_fraction(self) -> float:
        """Return the share of all m n entries that clipping changes, in [0, 1]."""
        low, high = self.scale.bounds
        outside = sum(int(((block < low) | (block > high)).sum()) for _, block in self.unclipped().blocks())
        return outside / (self.shape[0] * self.shape[1])

    def _on_interval(self, new_rows: Any) -> Values:
        table = new_rows.to_table() if isinstance(new_rows, ObservedMatrix) else to_table(new_rows)
        return with_data(table.values, self.scale.forward_checked(table))

    def _complete(self, coefficients: Floats, row_offsets: Floats | None) -> Floats:
        self._ensure_fit(coefficients.shape[0])
        values: Floats = coefficients @ self.right.T
        if self.column_offsets is not None:
            values += self.column_offsets
        if row_offsets is not None:
            values += row_offsets[:, None]
        return self._read(values)

    def _ensure_fit(self, n_rows: int) -> None:
        """Ask for the memory of whole rows before it is allocated: one array, all that follows is done in place."""
        n = self.shape[1]
        ensure_fits(
            8 * n_rows * n,
            f"{n_rows:,} whole rows of {n:,} features",
            "take fewer rows at a time, or single entries by entries()",
        )

    def _read(self, values: Floats, columns: NDArray[np.integer] | None = None) -> Floats:
        """Clip, and map to the user's units, in place."""
        np.clip(values, *self.scale.bounds, out=values)
        factor, shift = (
            part if part.ndim == 0 or columns is None else part[columns]
            for part in (self.scale.factor, self.scale.shift)
        )
        values *= factor
        values += shift
        return values

    def __repr__(self) -> str:
        m, n = self.shape
        low, high = self.scale.bounds
        return f"LowRankEstimate({m:,} x {n:,}, rank {self.rank}, clipped to [{low:g}, {high:g}] on the method's working range)"


def left_of(coefficients: Floats, strengths: Floats) -> Floats:
    """Return U of rows with these coefficients, ``U diag(d)``; a component of strength 0 adds nothing, whatever they are."""
    return np.divide(coefficients, strengths, out=np.zeros_like(coefficients), where=strengths > 0)


def _reordered(ids: NDArray[Any], expected: NDArray[Any]) -> bool:
    """Whether the same names stand in another order."""
    given, wanted = ids.tolist(), expected.tolist()
    return given != wanted and set(given) == set(wanted)
