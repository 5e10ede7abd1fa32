"""What all estimators of a matrix share: fit, transform, the fitted attributes, and the warning of one that has not converged."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from likewise._typing import Floats
from likewise.certificates import LipschitzCertificates, certify
from likewise.engines.checkpoint import digest_of
from likewise.errors import ConvergenceWarning, EstimatorError, ObservationError, ShapeError
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.persistence import check_estimate
from likewise.estimation.budget.budget import BudgetSolution
from likewise.estimation.budget.regression import StrongerPrior, within_regression_budget
from likewise.observations import ObservedMatrix
from likewise.observations.doubtful_values import warn_of_unlike_columns
from likewise.observations.estimator_input import validated
from likewise.observations.partitioned import PartitionedMatrix
from likewise.observations.partitioned.blocks import BlockReader, RowBlock
from likewise.observations.table import Values
from likewise.observations.value_range import RangeChoice, WorkingRange
from likewise.randomness import generator_of
from likewise.writing import PathLike, by_memory, staged_folder, write_file

_PART_BYTES = 32 << 20
"""Of the complete rows of one file."""
_COPIES = 4
"""Of those rows that exist while a file is made: themselves, the frame, what is compressed, what is written."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Some rows of a block, and the file where their estimate goes."""

    block: RowBlock
    start: int
    stop: int
    ids: NDArray[Any]
    path: str

    def __str__(self) -> str:
        return f"rows {self.start:,} to {self.stop:,}"


def write_complete_rows(estimate: LowRankEstimate, observed: PartitionedMatrix, folder: PathLike) -> None:
    """Write the estimate of every row; see `MatrixEstimator.transform_to_parquet`."""
    _check(estimate, observed)
    names = _names(observed)
    reading = observed.engine.n_workers if observed.engine.name == "threads" else 1
    observed.room(float(_COPIES * reading * _PART_BYTES), "complete rows")
    # Rows are folded in, so no worker needs the vectors of all individuals.
    features = estimate.without_rows()
    kept = observed.engine.kept_folder(_key(features, observed, names))
    with staged_folder(folder, kept) as staging:
        parts = (part for part in _parts(observed, str(staging)) if not Path(part.path).exists())
        for _ in observed.engine.map(_write, parts, (observed.reader, features, names)):
            pass


def _key(features: LowRankEstimate, observed: PartitionedMatrix, names: list[str]) -> str:
    """Return a fingerprint of all that the files depend on, so that none of another estimate is taken for one of this."""
    ids = observed.row_ids.tolist() if observed.row_ids.dtype.kind == "O" else observed.row_ids
    numbers = features.right, features.singular_values, features.shrunk_values, features.column_offsets
    how = features.scale, features.folding, observed.reader, _PART_BYTES
    return digest_of((numbers, how, names, ids, list(observed.blocks)))


def _check(estimate: LowRankEstimate, observed: PartitionedMatrix) -> None:
    if not isinstance(observed, PartitionedMatrix):
        raise EstimatorError(
            f"{type(observed).__name__} to write complete rows of",
            "observations that read_partitioned read",
            "transform returns the rows of what is in memory",
        )
    if not np.array_equal(observed.column_ids, estimate.column_ids):
        raise ShapeError(
            f"{observed.shape[1]:,} features, others than in the fit",
            f"the {estimate.shape[1]:,} features of the fit, by the same ids",
        )


def _names(observed: PartitionedMatrix) -> list[str]:
    """What the columns are called: that of the ids as in the observations, unless a feature has that name."""
    features = [str(name) for name in observed.column_ids.tolist()]
    told = None if observed.roles is None else observed.roles.ids
    ids = told[0] if told else "individual"
    while ids in features:
        ids = f"{ids}_id"
    return [ids, *features]


def _parts(observed: PartitionedMatrix, folder: str) -> Iterator[_Rows]:
    step, number = max(1, _PART_BYTES // (8 * observed.shape[1])), 0
    for block in observed.blocks:
        for start in range(block.start, block.stop, step):
            stop = min(start + step, block.stop)
            yield _Rows(block, start, stop, observed.row_ids[start:stop], f"{folder}/{number:08}.parquet")
            number += 1


def _write(rows: _Rows, told: tuple[BlockReader, LowRankEstimate, list[str]]) -> None:
    import polars as pl

    reader, features, names = told
    block = rows.block
    observed = reader.read(block)[rows.start - block.start : rows.stop - block.start]
    complete = features.fold_in(observed)
    columns = [pl.Series(names[0], rows.ids.tolist() if rows.ids.dtype.kind == "O" else rows.ids)]
    columns += [pl.Series(name, values) for name, values in zip(names[1:], complete.T.copy(), strict=True)]
    frame = pl.DataFrame(columns)
    write_file(rows.path, by_memory(frame.write_parquet))


def warn_unless_converged(
    converged: bool, n_iter: int, unit: str, state: str, stacklevel: int = 5
) -> tuple[str, ...]:
    """Warn where iterations were stopped by their limit; return what the reader of the result should know, nothing where they converged.

    `unit` is what an iteration is called, `state` how far it is from the end, `stacklevel` that of the call of ``fit``.
    """
    if converged:
        return ()
    note = f"not converged after {n_iter} {unit}{'s' * (n_iter != 1)}: {state}"
    warnings.warn(
        f"{note}. The result is kept; raise max_iter or tol to avoid this warning.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
    return (note,)


class MatrixEstimator(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Complete a sparse, noisy matrix, as pre-processing for any model: the base of all estimators.

    A subclass has the parameters `value_range`, `working_range` and `random_state` beside its own, and makes the estimate in
    ``_estimate(observed)``; there it may also set `threshold_`, `notes_`, `converged_`, `n_iter_` and attributes of its own.

    Attributes
    ----------
    estimate_ : LowRankEstimate
        ``A_hat`` for the individuals of the fit.
    observed_ : ObservedMatrix
        The observations of the fit.
    rank_ : int
        How many components the estimate has, beside its offsets.
    singular_values_ : ndarray, shape (r,)
        Of the matrix that was decomposed, or of the estimate without its offsets; decreasing.
    threshold_ : float or None
        ``tau``; None where nothing is cut at a threshold.
    converged_ : bool or None
        Whether iterations came to their end; None where nothing iterates.
    n_iter_ : int or None
        How many iterations ran.
    notes_ : tuple of str
        What the reader of a result should know of the fit.
    n_features_in_ : int
    certificate_ : LipschitzCertificates
        Proved constants of the estimate as a function of rows; see `certify`.
    """

    value_range: RangeChoice
    working_range: WorkingRange
    random_state: int | np.random.Generator | None

    no_budget: ClassVar[str] = ""
    """Why no budget for a constant K* can be kept to by this kind, known before a fit; empty where one may be."""
    refused: ClassVar[dict[str, str]] = {}
    """Options that other estimators take and that would mean nothing here: what is expected instead, and why."""

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: ARG002
        """Estimate the complete matrix.

        Parameters
        ----------
        X : ObservedMatrix, array-like with NaN, data frame, or SciPy sparse; shape (n_individuals, n_features)
            What was observed, in the user's units. In a sparse matrix a stored entry is an observation. Auto, SVT, SoftImpute, Biases and AlternatingLeastSquares
            take a `PartitionedMatrix` too, whose rows need not fit into memory.
        y : None
            Ignored.

        Returns
        -------
        MatrixEstimator
            Itself.

        Raises
        ------
        InputError
            Observations or parameters that cannot be used; see `likewise.errors`.
        """
        observed = self._taken(X, reset=True)
        if not isinstance(observed, ObservedMatrix | PartitionedMatrix):
            names = getattr(self, "feature_names_in_", None)
            observed = ObservedMatrix(observed, value_range=self.value_range, column_ids=names)
            if self.value_range is None:
                warn_of_unlike_columns(observed, stacklevel=2)
        if not observed.n_observed:  # new rows may know nothing but their features
            raise ObservationError(f"a fit to {observed!r}", "at least one observation")
        observed.value_range.scale_to(self.working_range)  # a wrong range or seed is told before the work
        generator_of(self.random_state)
        self.__dict__.pop("certificate_", None)
        self.threshold_: float | None = None
        self.converged_: bool | None = None
        self.n_iter_: int | None = None
        self.notes_: tuple[str, ...] = ()
        if isinstance(observed, PartitionedMatrix):
            self.estimate_ = self._estimate_blocks(observed)
        else:
            self.estimate_ = self._estimate(observed)
            self.notes_ += self._features_left_out(observed)
        self.observed_: Any = observed
        self.singular_values_ = self.estimate_.singular_values
        self.rank_ = self.estimate_.rank
        return self

    def transform(self, X: Any) -> Floats:
        """Estimate the rows of X, individuals of the fit or never seen, by fold-in.

        Parameters
        ----------
        X : ObservedMatrix, array-like with NaN, data frame, or SciPy sparse; shape (n_individuals, n_features)

        Returns
        -------
        ndarray, shape (n_individuals, n_features)
            Complete rows, in the user's units.
        """
        check_is_fitted(self)
        return self.estimate_.fold_in(self._taken(X, reset=False))

    def transform_to_parquet(self, X: PartitionedMatrix, folder: PathLike) -> None:
        """Estimate the rows of X, which need not fit into memory, and write them: `transform`, for observations in blocks.

        Parameters
        ----------
        X : PartitionedMatrix, shape (m, n)
            Individuals of the fit or never seen; the features of the fit, in its order.
        folder : path-like
            A name that is not in use. It holds Parquet files of at most some 32 MiB of numbers each: a line for each individual, its id and then
            n complete values in the user's units. Names of the files are in the order of the rows. The folder is there once all of it is.
            Where X was read with a checkpoint, a call that is cut off leaves the files that are whole there, and the same call goes on from them.

        Raises
        ------
        EstimatorError
            X is not in blocks.
        ShapeError
            X has other features.
        ObservationError
            Values outside the range of the fit.
        OutputError
            The folder is there already, or cannot be written; then nothing is there, but for a checkpoint.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import polars as pl
        >>> from likewise import SVT, read_partitioned
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> lines = {"user": ["ann", "ann", "bob"], "item": ["x", "y", "x"], "rating": [5, 5, 1]}
        >>> pl.DataFrame(lines).write_parquet(folder / "ratings.parquet")
        >>> with read_partitioned(folder, value_range=(1, 5)) as Z:
        ...     SVT(1.0, shrinker="identity").fit(Z).transform_to_parquet(Z, folder / "complete")
        >>> pl.read_parquet(folder / "complete").columns
        ['user', 'x', 'y']
        """
        check_is_fitted(self)
        write_complete_rows(self.estimate_, X, folder)

    def _features_left_out(self, observed: ObservedMatrix) -> tuple[str, ...]:
        """Say that what is known of rows and columns does not count, where it is known and was not refused."""
        if getattr(self, "sources_", ()) or getattr(self, "sources", None) is not None:
            return ()
        given = {"rows": observed.side.rows, "columns": observed.side.columns}
        known = [axis for axis, features in given.items() if features is not None]
        return (f"the features of the {' and '.join(known)} do not count",) if known else ()

    def _held_within(
        self, limit: float | None, estimate: LowRankEstimate, observed: ObservedMatrix
    ) -> LowRankEstimate:
        """Return an estimate by regression within a budget, and keep what that took; the estimate itself without one."""
        self.budget_: BudgetSolution | StrongerPrior | None = None
        if limit is None:
            return estimate
        found = within_regression_budget(estimate, observed.scaled(self.working_range).values, limit)
        self.budget_ = found
        self.notes_ += (str(found),)
        return found.estimate

    @abstractmethod
    def _estimate(self, observed: ObservedMatrix) -> LowRankEstimate:
        """Make the estimate from observations in the user's units."""

    def _estimate_blocks(self, observed: PartitionedMatrix) -> LowRankEstimate:
        """Make the estimate in passes over blocks of rows; most kinds need all rows at once."""
        raise EstimatorError(
            f"{type(self).__name__} for {observed!r}",
            "an estimator that needs passes over the rows alone: auto, svt, soft-impute, als or biases",
            "in_memory() reads all rows, where they fit",
        )

    def decomposed_matrix(self) -> Values | None:
        """Return the matrix whose singular values `threshold_` cuts, missing entries 0; None where nothing is cut."""
        return None

    @cached_property
    def certificate_(self) -> LipschitzCertificates:
        """Proved constants of the estimate as a function of rows, or why there are none; computed when first asked for.

        Of observations in blocks that takes passes over them, so ask inside their ``with``.
        """
        check_is_fitted(self)
        return certify(self.estimate_, self.observed_, threshold=self.threshold_)

    def stored_parts(self) -> dict[str, Any]:
        """Return parameters and fitted attributes, from which `from_stored_parts` makes the estimator again; see `likewise.save`."""
        fitted = {name: value for name, value in vars(self).items() if name.endswith("_")}
        # Proved again from the estimate: a file is not trusted with it.
        fitted.pop("certificate_", None)
        return {"parameters": self.get_params(deep=False), "fitted": fitted}

    @classmethod
    def from_stored_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the estimator that `stored_parts` described; what does not fit together was not saved so."""
        fitted = parts["fitted"]
        if "estimate_" in fitted:
            check_estimate(fitted["estimate_"], fitted["n_features_in_"])
        estimator = cls(**parts["parameters"])
        for name, value in fitted.items():
            setattr(estimator, name, value)
        return estimator

    def _taken(self, X: Any, *, reset: bool) -> Any:
        """Return observations as they are, and anything else as scikit-learn checks it."""
        if isinstance(X, ObservedMatrix | PartitionedMatrix):
            if reset:
                self.n_features_in_ = X.shape[1]
            return X
        return validated(self, X, reset=reset, dtype=[np.float64, np.float32])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
