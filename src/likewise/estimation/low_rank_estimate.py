"""The estimate A_hat, kept as factors: entries are clipped and mapped to the user's units when they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from likewise.errors import ShapeError
from likewise.estimation.lookup import positions_of
from likewise.memory import ensure_fits
from likewise.observations import AffineScale, ObservedMatrix
from likewise.observations.convert import to_table

if TYPE_CHECKING:
    from likewise.spectrum import SingularTriplets
    from likewise.writing import PathLike

Floats = NDArray[np.float64]

_BLOCK_BYTES = 32 << 20


@dataclass(frozen=True, eq=False)
class LowRankEstimate:
    """``A_hat = clip(sum_l psi(sigma_l) u_l v_l^T)``, mapped from the method's interval to the user's units.

    Parameters
    ----------
    left : ndarray, shape (m, r)
        Left singular vectors ``u_l`` of the individuals, in columns.
    singular_values : ndarray, shape (r,)
        ``sigma_l`` of the zero-filled observations, decreasing.
    shrunk_values : ndarray, shape (r,)
        ``psi(sigma_l)``.
    right : ndarray, shape (n, r)
        Right singular vectors ``v_l`` of the features, in columns.
    scale : AffineScale
        From the user's units to the method's interval; its bounds are the clip bounds.
    row_ids, column_ids : ndarray
        Names of the individuals and features.

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

    @classmethod
    def from_triplets(
        cls, triplets: SingularTriplets, shrunk_values: Floats, scale: AffineScale, observed: ObservedMatrix
    ) -> LowRankEstimate:
        """Combine singular triplets with their shrunk values; ids come from the observations."""
        return cls(
            left=np.asarray(triplets.left, dtype=np.float64),
            singular_values=np.asarray(triplets.values, dtype=np.float64),
            shrunk_values=shrunk_values,
            right=np.asarray(triplets.right, dtype=np.float64),
            scale=scale,
            row_ids=observed.row_ids,
            column_ids=observed.column_ids,
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
        """``psi(sigma_l) / sigma_l``: the eigenvalues of the map from a row of Z to its estimate before clipping."""
        return self.shrunk_values / self.singular_values

    def on_interval(self) -> LowRankEstimate:
        """Return the same estimate read on the method's interval, not in the user's units."""
        identity = AffineScale(np.asarray(0.0), np.asarray(1.0), self.scale.bounds)
        return replace(self, scale=identity)

    def rows(self, positions: slice | ArrayLike) -> Floats:
        """Return whole rows, in the user's units.

        Parameters
        ----------
        positions : slice or array-like of int, shape (k,)
            Row positions (not ids).

        Returns
        -------
        ndarray, shape (k, n)
        """
        left = self.left[positions if isinstance(positions, slice) else np.asarray(positions)]
        return self._read((left * self.shrunk_values) @ self.right.T)

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
            If the two differ in length.
        """
        i, j = np.asarray(rows, dtype=np.intp), np.asarray(columns, dtype=np.intp)
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
        """Estimate rows that were never seen: ``clip(z P)`` with ``P = sum_l psi(sigma_l)/sigma_l v_l v_l^T``.

        For a row that was in the fit this is its row of the estimate, because ``u_l = Z v_l / sigma_l``.

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
        """
        n = self.shape[1]
        if len(np.shape(new_rows)) != 2 or np.shape(new_rows)[1] != n:
            raise ShapeError(
                f"new rows of shape {np.shape(new_rows)}", f"(any, {n}): the {n} features of the estimate"
            )
        if isinstance(new_rows, ObservedMatrix) and _reordered(new_rows.column_ids, self.column_ids):
            raise ShapeError(
                "new rows whose features stand in another order", "the order of the estimate's column_ids"
            )
        zero_filled = self._zero_filled(new_rows)
        return self._read(((zero_filled @ self.right) * self.gains) @ self.right.T)

    def save(self, path: PathLike) -> None:
        """Write factors, scale and ids to one ``.npz`` file; see `load`.

        Raises
        ------
        OutputError
            The file cannot be written, or ids are neither numbers nor text.
        """
        from likewise.estimation.persistence import save_estimate

        save_estimate(self, path)

    @staticmethod
    def load(path: PathLike) -> LowRankEstimate:
        """Read an estimate that `save` wrote; no code in the file is run.

        Raises
        ------
        FileFormatError
            Missing, damaged, or something else.
        """
        from likewise.estimation.persistence import load_estimate

        return load_estimate(path)

    def clipped_fraction(self) -> float:
        """Return the share of all m n entries that clipping changes, in [0, 1]."""
        low, high = self.scale.bounds
        unclipped = replace(self.on_interval(), scale=_unbounded())
        outside = sum(int(((block < low) | (block > high)).sum()) for _, block in unclipped.blocks())
        return outside / (self.shape[0] * self.shape[1])

    def _zero_filled(self, new_rows: Any) -> sparse.csr_array:
        # No range is asked of new rows: the map is linear, and what comes out is clipped.
        values = new_rows.values if isinstance(new_rows, ObservedMatrix) else to_table(new_rows).values
        data = self.scale.forward(values.data, values.indices)
        return sparse.csr_array((data, values.indices, values.indptr), shape=values.shape)

    def _read(self, values: Floats, columns: NDArray[np.integer] | None = None) -> Floats:
        low, high = self.scale.bounds
        return self.scale.backward(np.clip(values, low, high, out=values), columns)

    def __repr__(self) -> str:
        m, n = self.shape
        low, high = self.scale.bounds
        return f"LowRankEstimate({m:,} x {n:,}, rank {self.rank}, clipped to [{low:g}, {high:g}] on the method's interval)"


def _reordered(ids: NDArray[Any], expected: NDArray[Any]) -> bool:
    """Whether the same names stand in another order."""
    given, wanted = ids.tolist(), expected.tolist()
    return given != wanted and set(given) == set(wanted)


def _unbounded() -> AffineScale:
    return AffineScale(np.asarray(0.0), np.asarray(1.0), (-np.inf, np.inf))
