"""Features of new rows, encoded as those of a fit were: the same columns, the same words, even where these rows are all alike."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise._typing import Floats
from likewise.errors import FeatureWarning, ObservationError, ShapeError
from likewise.observations.feature_columns import labelled_columns, numbers_of, words_of_cells
from likewise.observations.features import (
    Features,
    in_order,
    listed,
    of_length,
    real_numbers,
    with_source_noted,
)
from likewise.observations.frames import as_frame
from likewise.observations.ids import is_unknown


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
        known = f"{fit.n_positions}" if fit.n_positions else f"a frame with {listed(fit.origins)}"
        raise ShapeError(f"{n_columns} columns of {axis} features without names", f"{known}, as in the fit")


def _of_sparse(given: Any, length: int, axis: str, fit: Features) -> Features:
    if given.ndim != 2 or given.shape[0] != length:  # before anything of its size is made
        raise ShapeError(f"{axis} features of shape {given.shape}", f"({length}, any): a row for each {axis}")
    _check_positions(given.shape[1], axis, fit)
    kept = [int(name) for name in fit.names]
    values = real_numbers(given, axis)[:, kept]
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
    lacking = [name for name in fit.names if name not in found]
    if len(lacking) == fit.names.size:
        raise ObservationError(
            f"{axis} features {listed(others) or 'without columns'}",
            f"those of the fit, which knows {listed(fit.origins)}",
        )
    if lacking:
        warnings.warn(
            FeatureWarning(
                f"{axis} features without {listed(lacking)}, which the fit knows: taken to be missing"
            ),
            stacklevel=5,
        )
    missing = sparse.csr_array(np.full((length, 1), np.nan))
    values = sparse.hstack([found.get(name, missing) for name in fit.names], format="csr")
    notes = [f"{axis} features {listed(others)} are not in the fit, and left out"] if others else []
    notes += [f"words that the fit does not have count as none: {listed(unknown)}"] if unknown else []
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
