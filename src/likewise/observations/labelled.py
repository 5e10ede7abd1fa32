"""Values that say whose they are, put in the order of the individuals: by an index, by a column of ids, or by the keys of a dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.observations.column_names import is_id, long_columns
from likewise.observations.frames import as_frame
from likewise.observations.index_alignment import index_of, order_by_labels, row_labels_of

if TYPE_CHECKING:
    import narwhals as nw


def aligned(what: str, values: Any, ids: NDArray[Any] | None) -> tuple[Any, tuple[str, ...]]:
    """Return values in the order of the individuals, without the column of ids, and a note where they came in another one.

    A pandas series or frame says by its index whose its rows are, a frame of any library by a column that is called like an id and has another
    one in each row, a mapping by its keys. The index that pandas makes where it is given none, 0 to m - 1 in order, says nothing. All
    else is returned as it is. Ids that are written alike are the same: 7 is "7"; None means that individuals are only counted. A `ShapeError`
    names the first labels that differ, where they are not those of the individuals, each once.

    >>> aligned("groups", {"bea": "f", "ann": "m"}, np.array(["ann", "bea"]))
    (['m', 'f'], ('aligned the groups, given in another order, with the individuals by keys',))
    """
    if isinstance(values, np.ndarray | list | tuple) or values is None:
        return values, ()
    if isinstance(values, Mapping):
        kept, labels, where = list(values.values()), list(values), "keys"
    elif (found := _beside_ids(values)) is not None:
        kept, labels, where = found
    elif (index := row_labels_of(values)) is not None:
        kept, labels, where = _only_column(values), index, "index"
    else:
        return _only_column(values), ()
    order = order_by_labels(what, labels, ids, where)
    if order is None:
        return kept, ()
    note = f"aligned the {what}, given in another order, with the individuals by {where}"
    return _in_order(kept, order), (note,)


def aligned_with(what: str, values: Any, others: Any) -> Any:
    """Return values in the order of the index of other ones; as they lie where these have no index.

    Labels that are not the same, each once, raise a `ShapeError`.
    """
    index = index_of(others)
    return values if index is None else aligned(what, values, np.array(index, dtype=object))[0]


def _beside_ids(values: Any) -> tuple[Any, list[Any], str] | None:
    """Return a frame without its column of ids, these ids, and what they are called; None where there is no such column, or several."""
    frame = as_frame(values)
    name = None if frame is None else id_column(frame)
    if frame is None or name is None:
        return None
    import narwhals as nw

    labels, rest = frame.get_column(name).to_list(), nw.maybe_reset_index(frame.drop(name))
    return _only_column(rest.to_native()), labels, f"column {name!r}"


def _only_column(values: Any) -> Any:
    """Return the column of a frame that has one, as a series; all else as it is."""
    frame = as_frame(values)
    one = frame is not None and len(frame.columns) == 1
    return frame.get_column(frame.columns[0]).to_native() if frame is not None and one else values


def id_column(frame: nw.DataFrame[Any]) -> str | None:
    """Return the column of a frame that is called like an id and has another one in each row; None where there is none, or several."""
    if long_columns([str(name) for name in frame.columns]) is not None:
        return None
    named = [name for name in frame.columns if isinstance(name, str) and is_id(name)]
    if len(named) != 1 or len(frame.columns) == 1 or not _tells_apart(frame.get_column(named[0])):
        return None
    return named[0]


def _tells_apart(column: nw.Series[Any]) -> bool:
    """Return whether each row has another id: numbers with fractions are measurements, and what repeats is a group."""
    return not column.dtype.is_float() and column.n_unique() == len(column)


def _in_order(values: Any, order: list[int]) -> Any:
    """Return the rows at these places, one after another."""
    if isinstance(values, list):
        return [values[place] for place in order]
    import narwhals as nw

    ordered = nw.from_native(values, allow_series=True)[order]
    return nw.maybe_reset_index(ordered).to_native()  # a count in another order would be taken for labels
