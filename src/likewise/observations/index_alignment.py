"""Where individuals stand: positions, checked; ids, looked up; and values that say whose they are, put in the order of the individuals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.arrays import as_array
from likewise.errors import ModelError, ObservationError, ShapeError, option, some_of
from likewise.observations.column_roles import is_id, long_columns
from likewise.observations.frames import as_frame
from likewise.observations.ids import as_id_array, places_by_text

if TYPE_CHECKING:
    import narwhals as nw


def checked_positions(given: ArrayLike, length: int, axis: str) -> NDArray[np.intp]:
    """Return positions on an axis of `length` as integers.

    Counting from the end is refused, since -1 is also what look-ups return for "not found"; so are fractions, booleans, text, and a position
    outside the axis, with a `ShapeError` that names it.

    >>> checked_positions([3], 3, "row")
    Traceback (most recent call last):
    ...
    likewise.errors.ShapeError: row position 3; expected positions from 0 to 2. Hint: positions are not ids
    """
    positions = as_array(given, f"{axis} positions", ShapeError)
    if not positions.size and positions.ndim < 2:
        return positions.astype(np.intp)
    if positions.dtype.kind not in "iu" or positions.ndim > 1:
        raise ShapeError(
            f"{axis} positions of type {positions.dtype}, shape {positions.shape}", "integers, counted from 0"
        )
    outside = positions[(positions < 0) | (positions >= length)]
    if outside.size:
        raise ShapeError(
            f"{axis} position {outside[0]}", f"positions from 0 to {length - 1}", "positions are not ids"
        )
    return positions.astype(np.intp)


def checked_selection(given: ArrayLike, length: int, axis: str) -> NDArray[np.intp]:
    """Return positions, also those that a mask marks; a mask of another length raises a `ShapeError`."""
    chosen = np.atleast_1d(as_array(given, f"{axis} positions", ShapeError))
    if chosen.dtype != np.bool_:
        return checked_positions(chosen, length, axis)
    if chosen.shape != (length,):
        raise ShapeError(f"a mask of shape {chosen.shape}", f"one entry for each of {length} {axis}s")
    return np.flatnonzero(chosen)


_SHOWN = 3


def positions_of(ids: ArrayLike, known: NDArray[Any], axis: str) -> NDArray[np.intp]:
    """Find where ids stand on an axis, whose ids are `known`, each once.

    An id that is not known as it is, is looked for by its text: 7 finds "7". An `ObservationError` names the first ids that are unknown, and how
    many there are; it also refuses to look by the text where two are written alike.

    >>> positions_of(["tea", "tea", "milk"], np.array(["milk", "tea"], dtype=object), "column")
    array([1, 1, 0])
    """
    listed, names = as_id_array(ids).tolist(), known.tolist()
    # As they are first: text is asked only where some id is unknown, as two ids may be written alike.
    exact = {name: position for position, name in enumerate(names)}
    by_text = {} if all(name in exact for name in listed) else places_by_text(names)
    found = [exact.get(name, by_text.get(str(name), -1)) for name in listed]
    positions = np.array(found, dtype=np.intp)
    unknown = dict.fromkeys(listed[k] for k in np.flatnonzero(positions < 0))
    if unknown:
        raise ObservationError(
            f"{len(unknown):,} unknown {axis} id{'s' * (len(unknown) > 1)}: {some_of(list(unknown), _SHOWN)}",
            f"ids of the observations, such as {names[0]!r}",
        )
    return positions


_NAMED = 5


def places_in_file(ids: NDArray[Any], wanted: Sequence[Any], name: str, what: str = "outputs") -> list[int]:
    """Return in which row of a file each wanted id is; ids that are written alike are the same, so that 7 finds "7".

    The file may speak of others too. A `ModelError` says how many match where an individual has no row, or several; `name` is what it calls the
    file, `what` what a row holds. Two wanted ids that are written alike raise an `ObservationError`.
    """
    places_by_text(wanted)  # where two of them are written alike, one would get the other's row
    found = [str(other) for other in ids.tolist()]
    position = {other: place for place, other in enumerate(found)}
    absent = [other for other in wanted if str(other) not in position]
    if absent:
        raise ModelError(
            f"{name} has {what} for {len(wanted) - len(absent)} of {len(wanted)} individuals, none for {some_of(absent, _NAMED)}",
            "a row for each",
            f"its ids begin {some_of(ids.tolist()[:_NAMED], _NAMED)}{_what_to_do(wanted, absent, found)}",
        )
    if len(position) < len(found):
        repeated = [other for other, count in Counter(found).items() if count > 1]
        raise ModelError(
            f"{name} has several rows for {some_of(repeated, _NAMED)}", "one row for each individual"
        )
    return [position[str(other)] for other in wanted]


def on_others(ids: NDArray[Any], wanted: Sequence[Any]) -> tuple[str, ...]:
    """Say how many ids of a file are nobody's who is wanted, so that they are not left out in silence; nothing where there are none.

    >>> on_others(np.array(["ann", "bea", "cy"]), ["bea"])
    ('2 of 3 ids are not in the data and are left out',)
    """
    found = {str(one) for one in ids.tolist()}
    n_others = len(found - {str(one) for one in wanted})
    are = "is not in the data and is" if n_others == 1 else "are not in the data and are"
    return (f"{n_others:,} of {len(found):,} ids {are} left out",) if n_others else ()


def _what_to_do(wanted: Sequence[Any], absent: Sequence[Any], found: Sequence[str]) -> str:
    """Say how to name the individuals where they are only counted and no count is an id of the file, or where zeros were lost; where some were named, how to audit these."""
    bare = {other.lstrip("0"): other for other in reversed(found)}
    if (lost := next((one for one in absent if str(one).lstrip("0") in bare), None)) is not None:
        return (
            f"; {str(lost)!r} is {bare[str(lost).lstrip('0')]!r} there: programs that take ids for numbers drop the zeros before them, so "
            "write both files with ids as text"
        )
    if len(absent) < len(wanted):
        return "; keep the lines of the others out of the observations to look at these alone"
    if _unless_counted(list(wanted)) is not None:
        return ""
    return f"; the individuals are only numbered: name the column of the observations that holds their ids, {option('id_columns')}"


_AS_THEY_LIE = ".to_numpy() takes the values as they lie"


def order_of_individuals(
    what: str, its_ids: NDArray[Any] | None, ids: NDArray[Any] | None
) -> NDArray[np.intp] | None:
    """Return where each individual is in a distance, or whatever else has ids of its own; None where it has their order.

    Where one of both only counts from 0, which is None, its order is taken. Ids of others raise a `ShapeError`.

    >>> order_of_individuals("the distance", np.array([0, 1]), np.array(["ann", "bea"]))
    >>> order_of_individuals("the distance", np.array(["bea", "ann"]), np.array(["ann", "bea"]))
    array([1, 0])
    """
    labels = None if its_ids is None else _unless_counted(its_ids.tolist())
    is_named = labels is not None and ids is not None and _unless_counted(ids.tolist()) is not None
    if labels is None or not is_named:
        return None
    order = order_by_labels(what, labels, ids)
    return None if order is None else np.array(order, dtype=np.intp)


def row_labels(row_ids: Any, held: Any, n_rows: int) -> NDArray[Any] | None:
    """Return the names of rows: those given, or the index that a frame brings in `held`; None where rows are only counted, from 0.

    Not one id for each row raises a `ShapeError`.
    """
    names = row_labels_of(held) if row_ids is None else row_ids
    if names is None:
        return None
    ids = as_id_array(names, "row_ids")
    if ids.size != n_rows:
        raise ShapeError(f"row_ids of shape {ids.shape}", f"one id for each of {n_rows} individuals")
    return ids


def order_by_labels(
    what: str, given: Sequence[Any], ids: NDArray[Any] | None, where: str = "index"
) -> list[int] | None:
    """Return where the row of each individual is, by the labels of the rows; None where the rows are in the order of the individuals.

    `where` is what holds the labels. A `ShapeError` names the first labels that differ, where they are not the ids of the individuals, each once;
    None as ids means that they are counted from 0. Two ids that are written alike raise an `ObservationError` where the order is another one.

    >>> order_by_labels("scores", ["cy", "ann", "bea"], np.array(["ann", "bea", "cy"]))
    [1, 2, 0]
    """
    labels = [str(label) for label in given]
    names = [str(name) for name in (range(len(labels)) if ids is None else ids.tolist())]
    if labels == names:
        return None
    # The same labels, as often each: another order. Anything else is about others.
    if Counter(labels) == Counter(names):
        places = places_by_text(given)
        return [places[name] for name in names]
    strange, absent = (
        list((Counter(first) - Counter(second)).elements())
        for first, second in ((labels, names), (names, labels))
    )
    raise ShapeError(
        f"{what} whose {where} "
        + (
            f"has {some_of(strange, _NAMED)}, not among the individuals"
            if strange
            else f"lacks {some_of(absent, _NAMED)}"
        ),
        f"the ids of the individuals: {some_of(names, _NAMED)}",
        f"give the individuals the same ids, with {option('row_ids')}"
        + (f"; {_AS_THEY_LIE}" if where == "index" else ""),
    )


def row_labels_of(values: Any) -> list[Any] | None:
    """Return the labels that the index of a frame or series has; None where there are none but a count from 0."""
    index = index_of(values)
    return None if index is None else _unless_counted(index)


def index_of(values: Any) -> list[Any] | None:
    """Return the index of a frame or series, also one that only counts; None where there is none."""
    if isinstance(values, np.ndarray | list | tuple):
        return None
    import narwhals as nw

    native = nw.from_native(values, allow_series=True, eager_only=True, pass_through=True)
    index = nw.maybe_get_index(native) if isinstance(native, nw.DataFrame | nw.Series) else None
    return None if index is None else list(index)


def _unless_counted(labels: list[Any]) -> list[Any] | None:
    """Return labels, or None where they are the count that is made where none are given."""
    is_count = all(str(label) == str(place) for place, label in enumerate(labels))
    return None if is_count else labels


def aligned(what: str, values: Any, ids: NDArray[Any] | None) -> tuple[Any, tuple[str, ...]]:
    """Return values in the order of the individuals, without the column of ids, and a note where they came in another one.

    A pandas series or frame says by its index whose its rows are, a frame of any library by a column that is called like an id and has another
    one in each row, a mapping by its keys. The index that pandas makes where it is given none, 0 to m - 1 in order, says nothing. All
    else is returned as it is. Ids that are written alike are the same: 7 is "7"; None means that individuals are only counted. Rows of others are left
    out, and counted in a note, as those of a file are. A `ShapeError` names the first labels that differ, where not all individuals are there, each once.

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
    chosen = _of_individuals(labels, ids)
    others: tuple[str, ...] = ()
    if ids is not None and len(chosen) < len(labels):
        others = tuple(f"{what}: {told}" for told in on_others(np.array(labels, dtype=object), ids.tolist()))
        kept, labels = _in_order(kept, chosen), [labels[place] for place in chosen]
    order = order_by_labels(what, labels, ids, where)
    if order is None:
        return kept, others
    note = f"aligned the {what}, given in another order, with the individuals by {where}"
    return _in_order(kept, order), (note, *others)


def _of_individuals(labels: Sequence[Any], ids: NDArray[Any] | None) -> list[int]:
    """Return which rows are about the individuals, where everybody has one; else all, so that it is said who has none."""
    wanted = set() if ids is None else {str(name) for name in ids.tolist()}
    chosen = [place for place, label in enumerate(labels) if str(label) in wanted]
    everybody = len({str(labels[place]) for place in chosen}) == len(wanted) > 0
    return chosen if everybody else list(range(len(labels)))


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
