"""What is known of individuals, or of columns, beside what was observed of them: age and job, genre and year."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats, Mask
from likewise.errors import FeatureWarning, ObservationError, ShapeError, some_of
from likewise.observations.feature_columns import (
    labelled_columns,
    note_on_numbers_as_text,
    numbers_of,
    words_of_cells,
)
from likewise.observations.frames import as_frame
from likewise.observations.ids import places_by_text

_NAMED = 4
_SIZES = {True: (1e-300, 1e300), False: (1e-150, 1e150)}
"""The largest value of a feature lies between these; of what is taken as it is, so that its square does not overflow or vanish."""
_OF_NEW = "with_features(new, rows=..., like=fitted.observed_) gives new rows the columns of the fit"


@dataclass(frozen=True, eq=False)
class Features:
    """Numbers that describe the rows, or the columns, of a matrix.

    Parameters
    ----------
    values : csr_array, shape (k, p)
        A row for each individual (or column); NaN where a feature is missing. A category has a column of 0 and 1 for each of its words.
    names : ndarray of str, shape (p,)
        ``age``, or ``job=nurse`` of a category.
    is_number : ndarray of bool, shape (p,)
        Whether a column holds measurements, whose unit means nothing; 0 and 1 and sparse columns are taken as they are.
    notes : tuple of str
        What was taken, and what is missing.
    n_positions : int, optional
        How many columns were given, where they have no names but their positions.
    """

    values: sparse.csr_array
    names: NDArray[Any]
    is_number: Mask
    notes: tuple[str, ...] = ()
    n_positions: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(k, p)."""
        k, p = self.values.shape
        return k, p

    @property
    def origins(self) -> list[str]:
        """The columns that they were made from, of which a word is left in each name of a category."""
        return list(dict.fromkeys(name.partition("=")[0] for name in self.names.tolist()))

    def take(self, rows: NDArray[np.integer]) -> Features:
        """Return the features of some of the individuals, in the order given."""
        return replace(self, values=self.values[rows])

    def named(self, names: NDArray[Any]) -> Features:
        """Return the features of these names in this order, as those of a fit.

        Raises
        ------
        ObservationError
            Some are not here: features that were encoded by themselves lack the columns that are constant there, and words of one row alone.
        """
        places = {name: place for place, name in enumerate(self.names.tolist())}
        lacking = [name for name in names.tolist() if name not in places]
        if lacking:
            raise ObservationError(
                f"features that lack {some_of(lacking, _NAMED)}, which the fit knows",
                "the columns and words of the fit",
                _OF_NEW,
            )
        kept = np.array([places[name] for name in names.tolist()], dtype=np.intp)
        return replace(self, values=self.values[:, kept], names=names, is_number=self.is_number[kept])


@dataclass(frozen=True, eq=False)
class SideInformation:
    """What is known of rows and of columns beside the values.

    Parameters
    ----------
    rows, columns : Features or None
    """

    rows: Features | None = None
    columns: Features | None = None

    def take_rows(self, rows: NDArray[np.integer]) -> SideInformation:
        """Return the same of some of the rows."""
        return self if self.rows is None else replace(self, rows=self.rows.take(rows))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken, and what is missing."""
        return tuple(note for side in (self.rows, self.columns) if side is not None for note in side.notes)


def features_of(given: Any, ids: NDArray[Any], axis: str) -> Features:
    """Encode what is known of the individuals or columns, with the given ids, and put it in their order.

    Of a frame with a column that is called like an id, or with an index, each row goes to whom it names; who is not named has no known feature,
    and rows of others are left out. So do the rows of a mapping with a column that holds the ids of the observations. All else stands in the
    order of `ids`. Numbers are kept, words become categories; of a cell such as ``Action|Comedy`` each word counts. NaN and None are missing.

    Columns that say nothing are left out, with a warning that names them: constant, missing throughout, or with another word in each row. An
    `ObservationError` refuses infinite numbers, ids that occur twice or of which none is known, and what has nothing left; a `ShapeError`, what
    has not one row for each id.
    """
    if isinstance(given, Features):
        return of_length(given, ids.size, axis)
    if sparse.issparse(given):
        found, labels, useless = _of_sparse(given, ids.size, axis), None, list[str]()
    else:
        found, labels, useless = _of_columns(given, ids, axis)
    found = _informative(found, axis, useless)
    return with_source_noted(found if labels is None else in_order(found, labels, ids, axis), axis)


def _of_sparse(given: Any, length: int, axis: str) -> Features:
    """Take numbers as they are; columns are called by their positions."""
    values = real_numbers(given, axis, length)
    if np.isinf(values.data).any():
        raise ObservationError(
            f"{axis} features with infinite values", "finite numbers; NaN where one is missing"
        )
    names = np.array([str(place) for place in range(values.shape[1])], dtype=object)
    return Features(values, names, np.zeros(names.size, bool), n_positions=names.size)


def real_numbers(given: Any, axis: str, length: int) -> sparse.csr_array:
    """Return sparse features, of a row for each of so many, as double precision."""
    if given.ndim != 2 or given.shape[0] != length:  # before anything of its size is made
        raise ShapeError(f"{axis} features of shape {given.shape}", f"({length}, any): a row for each {axis}")
    if given.dtype.kind not in "biuf":
        raise ObservationError(f"{axis} features of type {given.dtype}", "real numbers")
    return sparse.csr_array(given).astype(np.float64)


def _of_columns(given: Any, ids: NDArray[Any], axis: str) -> tuple[Features, list[Any] | None, list[str]]:
    """Return all columns encoded, the ids that the rows carry, if any, and which columns say nothing of anybody."""
    columns, labels = labelled_columns(given, ids, axis)
    if labels is None and columns:
        _check_length(columns[0][1].shape[0], ids.size, axis)
    encoded = [_encoded(name, column) for name, column in columns]
    useless = [name for (name, _), one in zip(columns, encoded, strict=True) if one is None]
    kept = [one for one in encoded if one is not None]
    if not kept:
        raise _nothing_said(axis)
    by_position = not isinstance(given, Mapping) and as_frame(given) is None
    found = Features(
        sparse.csr_array(sparse.hstack([one.values for one in kept], format="csr")),
        np.concatenate([one.names for one in kept]),
        np.concatenate([one.is_number for one in kept]),
        note_on_numbers_as_text(columns, axis),
        len(columns) if by_position else None,
    )
    return found, labels, useless


def _nothing_said(axis: str) -> ObservationError:
    return ObservationError(
        f"{axis} features of which none says anything", "a column with two values or more", _OF_NEW
    )


def _encoded(name: str, cells: NDArray[Any]) -> Features | None:
    """Return one column as a number, or as a category; None where it says nothing of anybody."""
    if (numbers := numbers_of(name, cells)) is not None:
        return _number(name, numbers)
    return _category(name, words_of_cells(name, cells))


def _number(name: str, numbers: Floats) -> Features | None:
    known = numbers[~np.isnan(numbers)]
    if not known.size or known.min() == known.max():
        return None
    _check_size(name, known, True)
    return Features(sparse.csr_array(numbers[:, None]), np.array([name], dtype=object), np.ones(1, bool))


def _check_size(name: Any, known: Floats, is_number: bool) -> None:
    smallest, largest = _SIZES[is_number]
    if not smallest <= (size := float(np.abs(known).max())) <= largest:
        raise ObservationError(
            f"feature {name!r} with {size:.3g} for its largest value", "a unit in which it is nearer to 1"
        )


def _category(name: str, words: Sequence[set[str] | None]) -> Features | None:
    """Return a column of 0 and 1 for each word that two individuals or more have, and that some lack."""
    known = [there for there in words if there is not None]
    counts = Counter(word for there in known for word in there)
    # A word of one row alone says only who that is, one of all rows nothing.
    shared = sorted(word for word, count in counts.items() if 1 < count < len(known))
    if not shared:
        return None
    place = {word: position for position, word in enumerate(shared)}
    rows, columns, data = list[int](), list[int](), list[float]()
    for row, own in enumerate(words):
        # Of whom nothing is known, every word is unknown, and not absent.
        here = range(len(shared)) if own is None else sorted(place[word] for word in own if word in place)
        rows += [row] * len(here)
        columns += here
        data += [np.nan if own is None else 1.0] * len(here)
    values = sparse.csr_array((np.asarray(data), (rows, columns)), shape=(len(words), len(shared)))
    names = np.array([f"{name}={word}" for word in shared], dtype=object)
    return Features(values, names, np.zeros(names.size, bool))


def _informative(found: Features, axis: str, useless: list[str]) -> Features:
    """Leave out columns that are constant or missing throughout, and warn of them and of those left out before."""
    by_column = found.values.tocsc()
    tells = np.zeros(found.shape[1], bool)
    for place in range(found.shape[1]):
        stored = by_column.data[by_column.indptr[place] : by_column.indptr[place + 1]]
        known = stored[~np.isnan(stored)]
        # What a sparse column does not store is a 0 of that feature.
        has_zero = stored.size < found.shape[0]
        tells[place] = known.size > 0 and (known.min() < known.max() or (has_zero and bool(known.any())))
        if tells[place]:
            _check_size(found.names[place], known, bool(found.is_number[place]))
    useless = [*useless, *found.names[~tells].tolist()]
    if useless:
        warnings.warn(
            FeatureWarning(
                f"{axis} features that say nothing are left out: {some_of(useless, _NAMED)}; they are constant, missing throughout, or another word in each row"
            ),
            stacklevel=5,
        )
    if not tells.any():
        raise _nothing_said(axis)
    kept = np.flatnonzero(tells)
    return replace(
        found, values=found.values[:, kept], names=found.names[kept], is_number=found.is_number[kept]
    )


def of_length(found: Features, length: int, axis: str) -> Features:
    """Return features of as many rows as there are, or raise ShapeError."""
    _check_length(found.shape[0], length, axis)
    return found


def _check_length(found: int, length: int, axis: str) -> None:
    if found != length:
        raise ShapeError(
            f"{axis} features with {found:,} rows",
            f"{length:,}, one for each {axis} of the observations",
            "a frame with a column of ids may have more or fewer",
        )


def in_order(found: Features, labels: Sequence[Any], ids: NDArray[Any], axis: str) -> Features:
    """Give each individual the row that names it; who has none has no known feature."""
    if len(set(map(str, labels))) < len(labels):
        raise ObservationError(f"{axis} features with an id twice", "each id once")
    place = places_by_text(list(labels))
    places = np.array([place.get(str(one), -1) for one in ids.tolist()], dtype=np.intp)
    is_known = places >= 0
    if not is_known.any():
        raise ObservationError(
            f"{axis} features of {len(labels):,} ids such as {labels[0]!r}, none of them among the observations",
            f"ids such as {ids.tolist()[0]!r}",
        )
    # A row for everybody at first; those of the unknown are replaced below.
    values = found.values[np.where(is_known, places, 0)]
    unknown = np.flatnonzero(~is_known)
    if unknown.size:
        of_unknown = sparse.csr_array(np.full((unknown.size, found.shape[1]), np.nan))
        # The known come first, then the unknown: the inverse of that order puts each back in place.
        order = np.argsort(np.concatenate([np.flatnonzero(is_known), unknown]))
        values = sparse.csr_array(sparse.vstack([values[is_known], of_unknown], format="csr"))[order]
    notes = [f"{unknown.size:,} of {ids.size:,} {axis}s have no features"] if unknown.size else []
    n_others = len(labels) - int(is_known.sum())
    notes += [f"{n_others:,} rows of the {axis} features are of others, and left out"] if n_others else []
    return replace(found, values=values, notes=(*found.notes, *notes))


def with_source_noted(found: Features, axis: str) -> Features:
    """Say first what was taken."""
    origins = found.origins
    shown = ", ".join(origins[:_NAMED]) + (
        f" and {len(origins) - _NAMED} more" if len(origins) > _NAMED else ""
    )
    taken = f"{axis} features from {shown} ({found.shape[1]:,} columns)"
    return replace(found, notes=(taken, *found.notes))
