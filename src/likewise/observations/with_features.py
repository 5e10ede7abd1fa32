"""Observations with what is known beside the values: features of rows and columns, encoded as those of a fit where there is one; and times."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats, Indices
from likewise.errors import FeatureWarning, InputError, ObservationError, ShapeError, option, some_of
from likewise.observations.convert import to_table
from likewise.observations.feature_columns import labelled_columns, numbers_of, words_of_cells
from likewise.observations.features import (
    Features,
    SideInformation,
    features_of,
    in_order,
    of_length,
    real_numbers,
    with_source_noted,
)
from likewise.observations.frames import as_frame
from likewise.observations.ids import is_unknown
from likewise.observations.observed_matrix import ObservedMatrix, as_observed
from likewise.observations.times import as_times

_LEAK, _FEWEST = 0.99, 10
"""Correlation with the mean of what was observed from which on a feature is taken for that mean, where there are so many of both."""
_UNLIKE_CHANCE = 6.0
"""Standard deviations from one half, from which on the share of pairs that a yes or no puts in the order of the means is no chance among any number of words."""
_NAMED = 4


def with_features(
    observed: ObservedMatrix | Any, rows: Any = None, columns: Any = None, like: ObservedMatrix | None = None
) -> ObservedMatrix:
    """Return observations with what is known of the individuals and of the columns beside them.

    Estimators that can regress on features do: what is known of a person then says where to begin, and what was observed where to go on.

    Parameters
    ----------
    observed : ObservedMatrix, or what its constructor takes; shape (m, n)
    rows, columns : data frame, array-like, SciPy sparse or Features; shapes (m, p) and (n, q); optional
        Numbers, or words, which become categories; of a cell such as ``Action|Comedy`` each word counts. A frame with a column of ids, or an
        index, is put in order by them: who is not named there has no known feature, and rows of others are left out. NaN and None are missing.
        By default those that the observations have already.
    like : ObservedMatrix with features, optional
        For new rows, `observed_` of what was fitted: they get its columns and its words, even a single row, and, given as an array, its range; all
        of an array may be missing. A column that it has and they do
        not is missing, a word that it does not have is none.

    Returns
    -------
    ObservedMatrix
        Its `notes` say what was taken.

    Raises
    ------
    ObservationError
        Infinite numbers; ids that occur twice, or of which none is known; features that say nothing; none that `like` has.
    ShapeError
        Not one row for each individual, or for each column; columns without names, not as many as `like` has.
    InputError
        `like` without such features.

    Warns
    -----
    FeatureWarning
        Features that are constant or missing throughout, which are left out; features that are nearly the mean of what was observed; a column
        of `like` that is not given.

    Examples
    --------
    >>> Z = ObservedMatrix(np.array([[1.0, np.nan], [0.0, 5.0], [3.0, 2.0]]), value_range=(0, 5))
    >>> with_features(Z, rows={"age": [20, 50, None], "job": ["cook", "cook", "nurse"]}, columns=[1990, 2020]).notes
    ('row features from age, job (2 columns)', 'column features from 0 (1 columns)')

    A new person, described as these three are:

    >>> known = with_features(Z, rows={"age": [20, 50, None], "job": ["cook", "cook", "nurse"]})
    >>> new = ObservedMatrix(np.array([[4.0, np.nan]]), value_range=(0, 5))
    >>> with_features(new, rows={"age": [30], "job": ["cook"]}, like=known).side.rows.values.toarray()
    array([[30.,  1.]])

    Nothing need be observed of her:

    >>> with_features(np.full((1, 2), np.nan), rows={"age": [30], "job": ["cook"]}, like=known).n_observed
    0
    """
    observed = as_observed(observed) if like is None else _new_rows(observed, like)
    found: dict[str, Features] = {}
    for axis, given in (("row", rows), ("column", columns)):
        if given is not None:
            found[f"{axis}s"] = _features(observed, given, axis, like)
    side: SideInformation = replace(observed.side, **found)
    return ObservedMatrix.of_checked(replace(observed.to_table(), side=side), observed.value_range)


def _new_rows(given: Any, like: Any) -> ObservedMatrix:
    """Return new rows in the range of a fit; nothing need be observed of them, as their features may be all that is known."""
    if isinstance(given, ObservedMatrix) or not isinstance(like, ObservedMatrix):
        return as_observed(given)
    table = to_table(given, None, None)
    if table.column_ids.size == like.column_ids.size:
        table = replace(table, column_ids=like.column_ids)
    make = ObservedMatrix.from_table if table.values.nnz else ObservedMatrix.of_checked
    return make(table, like.value_range)


def _features(observed: ObservedMatrix, given: Any, axis: str, like: ObservedMatrix | None) -> Features:
    ids = getattr(observed, f"{axis}_ids")
    if like is None:
        features = features_of(given, ids, axis)
        _warn_of_leaks(features, _means(observed, axis), axis)
        return features
    known = getattr(like.side, f"{axis}s") if isinstance(like, ObservedMatrix) else None
    if known is None:
        given_like = (
            repr(like) if not isinstance(like, ObservedMatrix) else f"observations without {axis} features"
        )
        raise InputError(
            option("like", given_like), f"an ObservedMatrix with {axis} features, such as fitted.observed_"
        )
    return features_like(given, ids, axis, known)


def _means(observed: ObservedMatrix, axis: str) -> Floats:
    """Return the mean of what was observed of each row or column; NaN where nothing was."""
    places, length = observed.positions()[axis == "column"], observed.shape[axis == "column"]
    counts = np.bincount(places, minlength=length)
    sums = np.bincount(places, observed.values.data, length)
    return np.asarray(np.divide(sums, counts, out=np.full(length, np.nan), where=counts > 0), np.float64)


def _warn_of_leaks(features: Features, means: Floats, axis: str) -> None:
    """Warn of features that are the mean of what was observed of each (`means`, NaN where nothing was): they know what is to be predicted."""
    leaking = [repr(name) for name in _leaks(features, means)]
    if leaking:
        warnings.warn(
            FeatureWarning(
                f"{axis} features that are nearly the mean of what was observed, or in its order: {', '.join(leaking[:_NAMED])}; made from the values that "
                "are to be predicted, they make held-out errors look too small"
            ),
            stacklevel=4,
        )


def _leaks(features: Features, means: Floats) -> Iterator[str]:
    seen, by_column, ranks = ~np.isnan(means), features.values.tocsc(), _ranks(means)
    for place, name in enumerate(features.names.tolist()):
        stored_at = slice(by_column.indptr[place], by_column.indptr[place + 1])
        stored, where = by_column.data[stored_at], by_column.indices[stored_at]
        if ((stored == 0) | (stored == 1) | np.isnan(stored)).all():
            unknown, yes = where[np.isnan(stored)], where[stored == 1]
            # Who is unknown neither has the word nor lacks it, and takes no part in the ranks.
            known = ranks if not unknown.size else _ranks(_without(means, unknown))
            if _divides(known[yes[known[yes] > 0]], int(np.count_nonzero(known))):
                yield name
            continue
        column = by_column[:, [place]].toarray()[:, 0]
        both = seen & ~np.isnan(column)
        if both.sum() >= _FEWEST and _likeness(column[both], means[both]) > _LEAK:
            yield name


def _without(means: Floats, places: Indices) -> Floats:
    known = means.copy()
    known[places] = np.nan
    return known


def _ranks(means: Floats) -> Floats:
    """Return ranks from 1, those of equal means averaged; 0 where there is no mean."""
    from scipy.stats import rankdata

    ranks, seen = np.zeros(means.size), ~np.isnan(means)
    ranks[seen] = rankdata(means[seen])
    return ranks


def _divides(ranks: Floats, n: int) -> bool:
    """Return whether nearly all who have a word come before, or nearly all after, those who do not, by their ranks among n means (Mann and Whitney's U)."""
    yes, no = ranks.size, n - ranks.size
    if yes * no == 0:
        return False
    # U / (yes no): the share of pairs, one who has the word and one who lacks it, in the order of the means.
    in_order = (ranks.sum() - yes * (yes + 1) / 2) / (yes * no)
    # Standard deviation of that share if the word had nothing to do with the means; ties only lower it.
    chance = np.sqrt((n + 1) / (12 * yes * no))
    return bool(max(in_order, 1 - in_order) > _LEAK and abs(in_order - 0.5) > _UNLIKE_CHANCE * chance)


def _likeness(column: Floats, means: Floats) -> float:
    """Return the larger of two correlations, of the numbers and of their order, without their signs."""
    # Ranks without gaps: equal numbers share one.
    ranks = (np.unique(each, return_inverse=True)[1].astype(np.float64) for each in (column, means))
    return max(_correlation(column, means), _correlation(*ranks))


def _correlation(x: Floats, y: Floats) -> float:
    """Return the absolute correlation; 0 where one is constant."""
    x, y = (each / (np.abs(each).max() or 1.0) for each in (x, y))  # or squares would overflow, or vanish
    x, y = x - x.mean(), y - y.mean()
    lengths = float(np.linalg.norm(x) * np.linalg.norm(y))
    return abs(float(x @ y)) / lengths if lengths else 0.0


def features_like(given: Any, ids: NDArray[Any], axis: str, fit: Features) -> Features:
    """Encode what is known of new individuals or columns as it was encoded in a fit, and put it in their order; the names are those of the fit.

    What is given is read as `features_of` does. Columns that the fit does not have are left out; those that are not here are missing, with a
    warning. A word that the fit did not have is none of its words: their columns are 0. An `ObservationError` refuses words where the fit has
    numbers, infinite numbers, and what has no column of the fit; a `ShapeError`, columns without names beside a fit with names, another number of
    columns, and what has not one row for each id.

    >>> from likewise.observations.features import features_of
    >>> fit = features_of({"age": [20, 40, 30], "job": ["cook", "nurse", "cook"]}, np.arange(3), "row")
    >>> features_like({"age": [25], "job": ["cook"]}, np.array([7]), "row", fit).values.toarray()
    array([[25.,  1.]])
    """
    if isinstance(given, Features):
        return of_length(given.named(fit.names), ids.size, axis)
    if sparse.issparse(given):
        return with_source_noted(_of_sparse(given, ids.size, axis, fit), axis)
    columns, labels = labelled_columns(given, ids, axis)
    if not isinstance(given, Mapping) and as_frame(given) is None:
        _check_positions(len(columns), axis, fit)
    found = _encoded(columns, axis, fit)
    return with_source_noted(
        of_length(found, ids.size, axis) if labels is None else in_order(found, labels, ids, axis), axis
    )


def _check_positions(n_columns: int, axis: str, fit: Features) -> None:
    if fit.n_positions != n_columns:
        known = f"{fit.n_positions}" if fit.n_positions else f"a frame with {some_of(fit.origins, _NAMED)}"
        raise ShapeError(f"{n_columns} columns of {axis} features without names", f"{known}, as in the fit")


def _of_sparse(given: Any, length: int, axis: str, fit: Features) -> Features:
    numbers = real_numbers(given, axis, length)
    _check_positions(given.shape[1], axis, fit)
    values = numbers[:, [int(name) for name in fit.names]]
    if np.isinf(values.data).any():
        raise ObservationError(
            f"{axis} features with infinite values", "finite numbers; NaN where one is missing"
        )
    return replace(fit, values=sparse.csr_array(values), notes=())


def _encoded(columns: Sequence[tuple[str, NDArray[Any]]], axis: str, fit: Features) -> Features:
    """Return the columns of the fit from those of new rows."""
    length = columns[0][1].size if columns else 0
    found: dict[str, sparse.csr_array] = {}
    unknown, others = list[str](), list[str]()
    for name, cells in columns:
        if name in fit.names:
            found[name] = sparse.csr_array(_numbers(name, cells)[:, None])
        elif words := [other for other in fit.names if other.startswith(f"{name}=")]:
            there = words_of_cells(name, cells)
            found |= {word: _has(word.removeprefix(f"{name}="), there) for word in words}
            unknown += sorted({f"{name}={word}" for own in there for word in own or ()} - set(words))
        else:
            others.append(name)
    # By the names of the fit: its columns come back in its order, whatever these rows hold.
    lacking = [name for name in fit.names if name not in found]
    if len(lacking) == fit.names.size:
        raise ObservationError(
            f"{axis} features {some_of(others, _NAMED) or 'without columns'}",
            f"those of the fit, which knows {some_of(fit.origins, _NAMED)}",
        )
    if lacking:
        warnings.warn(
            FeatureWarning(
                f"{axis} features without {some_of(lacking, _NAMED)}, which the fit knows: taken to be missing"
            ),
            stacklevel=5,
        )
    missing = sparse.csr_array(np.full((length, 1), np.nan))
    values = sparse.hstack([found.get(name, missing) for name in fit.names], format="csr")
    notes = [f"{axis} features {some_of(others, _NAMED)} are not in the fit, and left out"] if others else []
    notes += (
        [f"words that the fit does not have count as none: {some_of(unknown, _NAMED)}"] if unknown else []
    )
    return replace(fit, values=sparse.csr_array(values), notes=tuple(notes))


def _numbers(name: str, cells: NDArray[Any]) -> Floats:
    """Return measurements; NaN where one is missing."""
    if (numbers := numbers_of(name, cells)) is None:
        strange = next(
            cell for cell in cells.tolist() if not is_unknown(cell) and not isinstance(cell, int | float)
        )
        raise ObservationError(f"feature {name!r} with {strange!r}", "numbers, as in the fit")
    return numbers


def _has(word: str, there: Sequence[set[str] | None]) -> sparse.csr_array:
    """Return 1 where a word is among those of a row, NaN where its words are not known."""
    column = np.array([np.nan if own is None else float(word in own) for own in there])
    return sparse.csr_array(column[:, None])


def with_times(observed: ObservedMatrix | Any, times: Any) -> ObservedMatrix:
    """Return observations that know when each was made, so that later ones can be held out and levels that drift be found.

    Parameters
    ----------
    observed : ObservedMatrix, or what its constructor takes
    times : array-like of numbers or dates, shape (n_observed,); None
        In the order of ``observed.values.data``, which is row by row. NaN or NaT where one is unknown; None forgets them. Of triplets, give
        `ObservedMatrix.from_triplets` the times, which puts them in order.

    Returns
    -------
    ObservedMatrix
        Its `times` are numbers; of dates the seconds since 1970.

    Raises
    ------
    ObservationError
        Text, infinite times, none that is known.
    ShapeError
        Not one time for each observation.

    Examples
    --------
    >>> import numpy as np
    >>> Z = with_times(np.array([[1.0, np.nan], [0.0, 5.0]]), [30, 10, 20])
    >>> Z.times
    array([30., 10., 20.])
    """
    observed = as_observed(observed)
    known = as_times(times)
    if known is not None and known.size != observed.n_observed:
        raise ShapeError(f"{known.size:,} times", f"one for each of {observed.n_observed:,} observations")
    return ObservedMatrix.from_table(replace(observed.to_table(), times=known), observed.value_range)
