"""K-nearest neighbours on a complete matrix, as in Experiment 2 of Section 6, and on observed entries alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from likewise._typing import Floats
from likewise.arrays import as_floats, ensure_axes_fit
from likewise.checks import checked_callable, checked_name, checked_whole
from likewise.errors import ModelError, ShapeError
from likewise.inference.model import Model, TrainedModel
from likewise.inference.neighbors.training_rows import (
    CentredRows,
    Matrix,
    TrainingRows,
    WeightedAverage,
    neighbor_weights,
)
from likewise.memory import ensure_fits
from likewise.observations import ObservedMatrix
from likewise.observations.index_alignment import aligned
from likewise.progress import Progress

Average = Literal["all", "co-raters"]

_LARGEST = 1e150

AVERAGES: tuple[Average, ...] = ("all", "co-raters")
"""Whose entries count in the average for an item: all neighbours', or those neighbours' who observed the item."""


def nearest_neighbor_outputs(
    matrix: Matrix,
    n_neighbors: int | None = 10,
    *,
    average: Average = "all",
    targets: ArrayLike | None = None,
    new_rows: Matrix | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Give each individual the similarity-weighted average of the rows of those most similar to it.

    Similarity is the adjusted cosine: each item's mean over all individuals is subtracted from its column, then
    the cosine between rows is taken. With K neighbours N(i) of similarity s_ij the output is
    ``Y_i = sum_{j in N(i)} max(s_ij, 0) B_j / sum_{j in N(i)} max(s_ij, 0)``.

    Parameters
    ----------
    matrix : ndarray or csr_array, shape (m, n)
        B; rows are individuals. In a sparse matrix an entry that is not stored is 0 for ``average="all"`` and
        missing for ``average="co-raters"``, where NaN marks what is missing in a dense one.
    n_neighbors : int or None, default 10
        K, at least 1 and less than m. None takes every other individual whose similarity is positive.
    average : {"all", "co-raters"}, default "all"
        ``"co-raters"`` counts, for each item, only those neighbours who observed it. Item means are then over the
        observed entries, and a cosine takes what is missing as neither above nor below the mean.
        Few of ten neighbours observed a given item, so that ``n_neighbors=None`` serves better there.
    targets : array-like, shape (m,) or (m, t), optional
        Average these, one row for each individual, instead of the rows of `matrix`.
    new_rows : ndarray or csr_array, shape (k, n), optional
        Individuals never seen, whose neighbours are sought among the rows of `matrix`, with its item means.
        By default the rows of `matrix` themselves, of which none is its own neighbour.
    progress : callable, optional
        Called with (rows done, rows in all) after each block.

    Returns
    -------
    ndarray, shape (m, n), or (k, n) for new rows, or with the columns of `targets`
        Within the range of what is averaged.

    Raises
    ------
    ModelError
        If `n_neighbors` does not fit the number of individuals, or `average` is unknown.
    ShapeError
        If there is not one target for each individual, or new rows have other columns.
    MemoryLimitError
        If the outputs would not fit.

    Notes
    -----
    What the paper leaves open is settled so that an output is always a weighted average of rows:

    - An individual of similarity 0 or below is not similar and has weight 0, also where it is among the K.
    - A row that equals the item means has no direction: its similarity to every row is 0.
    - Where no weight is left, for a row or (``"co-raters"``) for an item, the output is the item mean.
    - Among individuals of equal similarity (to 12 decimals) the first row is nearest.
    - An item that nobody observed has the mean of all observed entries as its mean.

    Blocks of rows are compared with all rows, so that memory beside the outputs is a few times 32 MiB.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 6, Experiment 2.
    Sarwar, Karypis, Konstan, Riedl, "Item-based collaborative filtering recommendation algorithms", 2001.

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[1.0, 0.0, 0.0], [1.0, 0.2, 0.0], [0.0, 0.0, 1.0], [0.0, 0.4, 1.0]])
    >>> nearest_neighbor_outputs(B, n_neighbors=1)
    array([[1. , 0.2, 0. ],
           [1. , 0. , 0. ],
           [0. , 0.4, 1. ],
           [0. , 0. , 1. ]])
    """
    matrix = as_matrix(matrix, "a matrix")
    check_neighbors(n_neighbors, matrix.shape[0])
    checked_callable("progress", progress)
    training, outputs_of = _learnt(matrix, average, targets)
    queries = None if new_rows is None else training.center(fitting(new_rows, matrix))
    outputs = _averages(training, outputs_of, queries, n_neighbors, progress)
    return outputs.ravel() if targets is not None and np.ndim(targets) == 1 else outputs


def _averages(
    training: TrainingRows,
    outputs_of: WeightedAverage,
    queries: CentredRows | None,
    n_neighbors: int | None,
    progress: Progress | None = None,
) -> Floats:
    """Average over the neighbours of some rows; by default of those that can be neighbours, of whom none is its own."""
    n_rows = (training.centred if queries is None else queries).matrix.shape[0]
    outputs = allocate(n_rows, outputs_of.mean.size)
    for rows, weights in neighbor_weights(training.centred, queries, n_neighbors):
        outputs[rows] = outputs_of(weights)
        if progress is not None:
            progress(rows.stop, n_rows)
    return outputs


def check_neighbors(n_neighbors: int | None, n_individuals: int) -> None:
    """Raise ModelError unless every individual has that many others.

    >>> check_neighbors(10, 6040)
    >>> check_neighbors(10, 4)
    Traceback (most recent call last):
    ...
    likewise.errors.ModelError: n_neighbors is 10 with n_samples = 4 individuals; expected 1 to 3. Hint: an individual is not its own neighbour
    """
    if n_individuals < 2:
        raise ModelError(f"n_samples = {n_individuals} individual", "two or more, to have a neighbour")
    if n_neighbors is None:
        return
    checked_whole("n_neighbors", n_neighbors, or_else="None for all that are similar", error=ModelError)
    if n_neighbors >= n_individuals:
        raise ModelError(
            f"n_neighbors is {n_neighbors} with n_samples = {n_individuals} individuals",
            f"1 to {n_individuals - 1}",
            "an individual is not its own neighbour",
        )


def _learnt(
    matrix: Matrix, average: Average, targets: ArrayLike | None
) -> tuple[TrainingRows, WeightedAverage]:
    """Return the rows that can be neighbours, and what is averaged over them: these rows, or targets."""
    checked_name("average", average, AVERAGES, ModelError)
    rows = TrainingRows.complete(matrix) if average == "all" else TrainingRows.partial(matrix)
    return rows, rows.average if targets is None else WeightedAverage.of(_fitting_targets(targets, matrix))


def as_matrix(given: Any, what: str) -> Matrix:
    """Return a matrix of real numbers whose squares can be summed; one may be NaN, which `TrainingRows` allows or refuses."""
    matrix: Any = given if sparse.issparse(given) else as_floats(given, what, ModelError)
    if getattr(matrix, "format", None) in ("lil", "dok"):
        matrix = matrix.tocsr()
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise ShapeError(
            f"{what} of type {matrix.dtype} and shape {matrix.shape}", "numbers, individuals x items"
        )
    ensure_axes_fit(matrix)
    # `fmax` and `fmin` pass over NaN.
    numbers = matrix.data if not isinstance(matrix, np.ndarray) else matrix.ravel()
    largest = max(float(np.fmax.reduce(numbers, initial=0.0)), -float(np.fmin.reduce(numbers, initial=0.0)))
    if largest > _LARGEST:
        raise ModelError(
            f"{what} with a value of size {largest:g}", f"at most {_LARGEST:g}: squares are summed"
        )
    rows: Matrix = matrix
    return rows


def fitting(new_rows: Any, matrix: Matrix) -> Matrix:
    """Return new rows, which must have the columns of a matrix."""
    rows = as_matrix(new_rows, "new rows")
    if rows.shape[1] != matrix.shape[1]:
        raise ShapeError(f"new rows of shape {rows.shape}", f"(any, {matrix.shape[1]})")
    return rows


def _fitting_targets(targets: ArrayLike, matrix: Matrix) -> Floats:
    values = as_floats(targets, "targets", ModelError)
    if values.ndim not in (1, 2) or values.shape[0] != matrix.shape[0]:
        raise ShapeError(
            f"targets of shape {values.shape}", f"one row for each of {matrix.shape[0]} individuals"
        )
    if not (np.abs(values) <= _LARGEST).all():
        raise ModelError(
            "targets that are NaN or infinite, or too large", f"numbers of size up to {_LARGEST:g}"
        )
    return values.reshape(values.shape[0], -1)


def allocate(rows: int, columns: int) -> Floats:
    """Return room for outputs, or raise MemoryLimitError."""
    ensure_fits(
        8 * rows * columns, f"outputs of shape {rows:,} x {columns:,}", "ask for fewer rows or targets"
    )
    return np.empty((rows, columns))


@dataclass(frozen=True, eq=False)
class NearestNeighborModel(Model):
    """Each individual's outputs are an average over their nearest neighbours; see `nearest_neighbor_outputs`.

    With ``average="co-raters"`` only the entries of the matrix that were observed are read, in both arms of a
    comparison, so that the arms differ in the values of these entries alone.

    Parameters
    ----------
    n_neighbors : int or None, default 10
    average : {"all", "co-raters"}, default "all"
    targets : array-like, shape (m,) or (m, t), optional
        Average these instead of the rows of the matrix.

    Examples
    --------
    >>> from likewise.observations import ObservedMatrix
    >>> Z = ObservedMatrix(np.array([[1.0, -1.0, np.nan], [1.0, np.nan, 0.5], [-1.0, 0.0, np.nan]]), value_range=(-1, 1))
    >>> NearestNeighborModel(1, "co-raters")(Z.zero_filled(), Z)[0]
    array([ 1. , -0.5,  0.5])
    """

    n_neighbors: int | None = 10
    average: Average = "all"
    targets: ArrayLike | None = None

    @property
    def name(self) -> str:
        """What the model is called in a report."""
        count = "all similar" if self.n_neighbors is None else f"{self.n_neighbors} nearest"
        return f"{count} neighbours" + (" who observed the item" if self.average == "co-raters" else "")

    @property
    def predicts_entries(self) -> bool:
        """Whether outputs predict the entries of the matrix."""
        return self.targets is None

    def run(
        self, matrix: Any, observed: ObservedMatrix | None, progress: Progress | None
    ) -> tuple[Floats, TrainedModel]:
        """Return the outputs; without `observed`, every entry of the matrix counts as observed."""
        rows = matrix
        if self.average == "co-raters":
            rows = _entries(matrix, np.ones(matrix.shape) if observed is None else observed.values)
        targets, _ = aligned("target", self.targets, None if observed is None else observed.row_ids)
        outputs = nearest_neighbor_outputs(
            rows, self.n_neighbors, average=self.average, targets=targets, progress=progress
        )
        return outputs, TrainedModel(
            self, function=self._of_new_rows(rows, targets) if self.average == "all" else None
        )

    def _of_new_rows(self, rows: Any, targets: Any) -> Callable[[Floats], Floats]:
        """Return the outputs of rows that were not there, each of whom may have everybody who was as a neighbour."""
        # Made when first asked for, as an audit seldom asks, and once.
        learnt = cache(lambda: _learnt(as_matrix(rows, "a matrix"), self.average, targets))
        return lambda new: _averages(*learnt(), learnt()[0].center(new), self.n_neighbors)


def _entries(matrix: Any, pattern: Any) -> sparse.csr_array:
    """Return the entries of `matrix` at the positions that `pattern` stores; what `matrix` does not store is 0."""
    stored = sparse.csr_array(pattern)
    if matrix.shape != stored.shape:
        raise ShapeError(
            f"observations of shape {stored.shape} for a matrix of shape {matrix.shape}", "the same shape"
        )
    rows = np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr))
    values = np.asarray(matrix[rows, stored.indices], dtype=np.float64).ravel()
    return sparse.csr_array((values, stored.indices, stored.indptr), shape=stored.shape)
