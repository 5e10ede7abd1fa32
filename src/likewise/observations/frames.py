"""Data frames of any library: a table with a row for each individual, a line for each rating, or neither."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DistanceError, ModelError, ObservationError, some_of
from likewise.observations.column_roles import LISTED, is_count, is_id, long_columns

if TYPE_CHECKING:
    import narwhals as nw

_SHOWN = 4

GOWER = "likewise.fairness.GowerDistance(frame)"
"""What compares individuals by numbers and text."""


def as_frame(values: Any) -> nw.DataFrame[Any] | None:
    """Recognise a data frame of any library, without importing that library; None for anything else.

    A lazy frame, and one of whose columns two share a name, raise an `ObservationError`.
    """
    if isinstance(values, np.ndarray | list | tuple):
        return None
    import narwhals as nw

    with distinct_columns():
        frame = nw.from_native(values, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise ObservationError("a lazy data frame", "one that holds its data", "call .collect() on it")
    return frame if isinstance(frame, nw.DataFrame) else None


@contextmanager
def distinct_columns() -> Iterator[None]:
    """Raise ObservationError where narwhals finds, within, that columns of a data frame share a name."""
    import narwhals as nw

    try:
        yield
    except nw.exceptions.DuplicateError as error:
        repeated = " ".join(str(error).partition("got:")[2].split())
        raise ObservationError(
            f"a data frame whose columns share a name ({repeated})", "distinct column names"
        ) from error


def lines_of(frame: nw.DataFrame[Any]) -> dict[str, str] | None:
    """Return the names of the columns of user, item and rating where each line of a frame is one rating; None where rows are individuals.

    Users and items without ratings raise an `ObservationError`.
    """
    names = [str(name) for name in frame.columns]
    places = long_columns(names)
    if places is None:
        return None
    if "rating" not in places:
        user, item = (names[places[role]] for role in ("user", "item"))
        raise ObservationError(
            f"a data frame with a line for each {user} and {item}, and no column of values",
            "a value for each, or a row for each individual",
            "where every line counts as 1, give likewise.ObservedMatrix.from_triplets"
            f"(frame[{user!r}], frame[{item!r}], [1.0] * len(frame), value_range=(0, 1))",
        )
    return {role: names[place] for role, place in places.items()}


def column(frame: nw.DataFrame[Any], name: str) -> NDArray[Any]:
    """Return one column as it is; what is missing is NaN or None."""
    values = frame.get_column(name)
    # By way of a list, so that what is missing in text is None, whatever the library.
    return values.to_numpy() if values.dtype.is_numeric() else np.array(values.to_list(), dtype=object)


def column_names(values: Any) -> NDArray[Any] | None:
    """Return the names of the columns of a data frame, or that of a series; None for anything else."""
    frame = as_frame(values)
    if frame is not None:
        return np.array(frame.columns, dtype=object)
    import narwhals as nw

    series = nw.from_native(values, allow_series=True, pass_through=True)
    return np.array([series.name], dtype=object) if isinstance(series, nw.Series) and series.name else None


def numbers_of(frame: nw.DataFrame[Any]) -> NDArray[np.floating]:
    """Return a frame with a row for each individual as an array, NaN where a value is missing.

    A column that is not numeric, or that names or counts the individuals, raises an `ObservationError`.
    """
    import narwhals as nw

    refuse_ids(frame)
    for name, kind in frame.schema.items():
        if not (kind.is_numeric() or kind == nw.Boolean):
            raise ObservationError(
                f"column {name!r} of type {kind}",
                "numeric columns only",
                "drop or encode it; to compare individuals by numbers and text, give likewise.audit the reference 'gower', or the "
                f"distance {GOWER}",
            )
    # Single precision only where all of it is: one wider column would be rounded.
    target = nw.Float32 if set(frame.schema.values()) == {nw.Float32} else nw.Float64
    array = np.empty(frame.shape, dtype=np.float32 if target == nw.Float32 else np.float64)
    for position, name in enumerate(frame.columns):
        array[:, position] = frame.get_column(name).cast(target).to_numpy()
    return array


def refuse_ids(frame: nw.DataFrame[Any], what: str = "features") -> None:
    """Raise where a column is called like an id, or like the index that programs write, and has another whole number or word in each row.

    The `ObservationError` names the column, and how to give it as what it is.
    """
    for name in frame.columns:
        if not isinstance(name, str) or not (is_count(name) or is_id(name)) or len(frame) < 2:
            continue
        values = frame.get_column(name)
        # Only where each row has another one: fractions are measurements, and what repeats is a group.
        if not values.dtype.is_float() and values.n_unique() == len(frame):
            raise ObservationError(
                f"column {name!r}, which names or counts the individuals, among the {what} of a data frame",
                f"{what} alone",
                f"frame.drop(columns={name!r}) leaves it out; row_ids=frame[{name!r}] gives it as what names them; "
                "frame.to_numpy() takes all columns as they are",
            )


def refuse_rating_lines(values: Any) -> None:
    """Raise where individuals, who have a row each, are given as a frame of ratings, one a line; `ObservedMatrix` reads such a frame."""
    frame = as_frame(values)
    if frame is not None and (names := lines_of(frame)) is not None:
        raise ObservationError(
            f"a data frame with a line for each {names['user']} and {names['item']}",
            "a row for each individual",
            "likewise.ObservedMatrix(frame) reads it",
        )


def refuse_unreadable(values: Any) -> None:
    """Raise where features of individuals are given as a frame of ratings, one a line, or beside a column of ids."""
    refuse_rating_lines(values)
    if (frame := as_frame(values)) is not None:
        refuse_ids(frame)


def refuse_text(values: Any) -> None:
    """Raise where a data frame, whose columns must all be numbers, has a column of text; the rest as `refuse_unreadable`.

    The `DistanceError` of text names the column, and the distance that reads text.
    """
    refuse_unreadable(values)
    if (frame := as_frame(values)) is None:
        return
    import narwhals as nw

    for name, kind in frame.schema.items():
        if kind in (nw.String, nw.Categorical, nw.Enum):
            raise DistanceError(
                f"column {name!r} of type {kind}",
                "numeric columns only",
                f"{GOWER} compares numbers and text; or drop the column, or encode it",
            )


def refuse_output_lines(values: Any) -> None:
    """Raise where outputs are a data frame of lines (user, item, score), of lists of recommended items, or of outputs beside ids.

    The `ModelError` of the first two says which call is meant; a column that names or counts the individuals raises an `ObservationError`.
    """
    frame = as_frame(values)
    if frame is None:
        return
    names = [str(name) for name in frame.columns]
    shown = some_of(names, _SHOWN)
    if (places := long_columns(names)) is not None:
        user, item = (names[places[role]] for role in ("user", "item"))
        score = f", values={names[places['rating']]!r}" if "rating" in places else ""
        raise ModelError(
            f"outputs with a line for each {user} and {item} ({shown})",
            "a row for each individual",
            f"frame.pivot(index={user!r}, columns={item!r}{score}) has one; .loc[Z.row_ids] puts them in order",
        )
    if are_listed(names) and not _has_fractions(frame):
        raise ModelError(
            f"outputs that are lists of items ({shown})",
            "numbers: differences between ids mean nothing",
            "compare lists by what they have in common, likewise.fairness.top_n_distance(frame); "
            "frame.to_numpy() takes them as numbers",
        )
    refuse_ids(frame, "outputs")


def are_listed(names: Sequence[str]) -> bool:
    """Return whether columns are called like places of a list of recommended items, such as rec1, rec2."""
    return len(names) > 1 and all(LISTED.fullmatch(name.strip().lower()) for name in names)


def _has_fractions(frame: nw.DataFrame[Any]) -> bool:
    """Return whether a number is not whole, as ids of items never are."""
    return any(bool((frame[name] % 1 > 0).any()) for name, kind in frame.schema.items() if kind.is_float())
