"""Single entries to predict, named by pairs of ids; what nobody observed anything of is predicted by a mean, and counted.

A file of its own, as it loads NumPy, which the help of a command does not wait for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.observations import ObservedMatrix, read_pairs
from likewise.observations.index_alignment import positions_of
from likewise.writing import by_memory, spreadsheet_safe, write_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from likewise._typing import Floats
    from likewise.estimation import LowRankEstimate


@dataclass(frozen=True, eq=False)
class Predictions:
    """Pairs to predict, with their positions, found before the matrix is estimated; -1 for an id without an observation."""

    ids: tuple[NDArray[Any], NDArray[Any]]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]

    @classmethod
    def read(cls, path: Path, observed: ObservedMatrix, unknown: str) -> Predictions:
        """Read the pairs, and find them among the observations; an unknown id is an error where `unknown` says so."""
        rows, columns = read_pairs(path)
        find = positions_of if unknown == "error" else _positions_or_not
        row_positions = find(rows, observed.row_ids, "row")
        return cls((rows, columns), row_positions, find(columns, observed.column_ids, "column"))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which pairs name an individual and a feature of which something was observed."""
        return np.asarray((self.rows >= 0) & (self.columns >= 0))

    def write(
        self, completed: LowRankEstimate, more: Mapping[str, Floats], observed: ObservedMatrix, out: Path
    ) -> None:
        """Write a line for each pair: its ids, the estimate, and `more` of those that are known."""
        import polars as pl

        known = self.known
        predicted = {"estimate": _means(observed, self.rows, self.columns)}
        predicted["estimate"][known] = completed.entries(self.rows[known], self.columns[known])
        for name, values in more.items():  # nothing is known of those without an observation
            predicted[name] = np.full(known.size, np.nan)
            predicted[name][known] = values
        rows, columns = (ids.tolist() for ids in self.ids)
        if out.suffix.lower() == ".csv":
            rows, columns = ([spreadsheet_safe(one) for one in ids] for ids in (rows, columns))
        frame = pl.DataFrame({"user": rows, "item": columns, **predicted}).fill_nan(None)
        write_file(out, by_memory(frame.write_csv if out.suffix.lower() == ".csv" else frame.write_parquet))

    def note(self) -> str:
        """Say how many pairs have nobody or nothing to go by."""
        n_unknown = int(np.count_nonzero((self.rows < 0) | (self.columns < 0)))
        if not n_unknown:
            return ""
        return (
            f"{n_unknown:,} of {self.rows.size:,} pairs name an individual or a feature without observations: predicted by the mean of the other "
            "one's observations, or of all, without an interval. --unknown error refuses them."
        )


def _positions_or_not(ids: NDArray[Any], known: NDArray[Any], axis: str) -> NDArray[np.intp]:
    """Find where ids stand on an axis; -1 where they do not."""
    names = known.tolist()
    # As `positions_of` finds them: as they are, or by their text.
    every = {*names, *map(str, names)}
    found = np.array([one in every or str(one) in every for one in ids.tolist()], dtype=bool)
    positions = np.full(found.size, -1, dtype=np.intp)
    if found.any():
        positions[found] = positions_of(ids[found], known, axis)
    return positions


def _means(
    observed: ObservedMatrix, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the mean of what the known one of each pair has, or of all observations."""
    values, (of_row, of_column) = observed.values.data.astype(np.float64), observed.positions()
    overall, found = float(values.mean()), np.full(rows.size, float(values.mean()))
    for places, owner, size in ((columns, of_column, observed.shape[1]), (rows, of_row, observed.shape[0])):
        counts = np.bincount(owner, minlength=size)
        sums = np.bincount(owner, weights=values, minlength=size)
        means = np.divide(sums, counts, out=np.full(size, overall), where=counts > 0)
        # Where both are known the estimate takes the place of this mean later.
        found[places >= 0] = means[places[places >= 0]]
    return found
