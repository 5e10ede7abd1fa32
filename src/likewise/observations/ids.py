"""Names of individuals and features: of any type, kept as they were given."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.arrays import as_array
from likewise.errors import ObservationError, ShapeError
from likewise.memory import ensure_fits

_DENSE_SPAN = 4
"""Integer ids are looked up in a table while their span is at most this many times their number."""


def as_id_array(ids: Any, what: str = "ids") -> NDArray[Any]:
    """Copy ids, or labels of any kind, into a one-dimensional array in which numbers stay numbers and text is Python strings.

    They come in a list, an array, a column of any data frame, or an Arrow array; more dimensions raise a `ShapeError`.
    """
    array = _from_sequence(ids) if isinstance(ids, list | tuple) else _from_column(ids, what)
    if array.ndim != 1:
        raise ShapeError(f"{what} of shape {array.shape}", f"a one-dimensional sequence of {what}")
    return array.astype(object) if array.dtype.kind in "UST" else array.copy()


def _from_sequence(ids: Sequence[Any]) -> NDArray[Any]:
    """Make an array of a list, which NumPy would turn into text for [1, "a"] and into a matrix for pairs."""
    kinds = {type(name) for name in ids}
    if kinds <= {int, float}:
        numbers = np.asarray(ids)
        if kinds != {int} or numbers.dtype.kind in "iu":  # floats would make neighbours of large ids equal
            return numbers
    return objects(ids)


def objects(names: Sequence[Any]) -> NDArray[Any]:
    """Make an array of one object each; by assignment NumPy would take pairs apart."""
    return np.fromiter(names, dtype=object, count=len(names))


def _from_column(ids: Any, what: str) -> NDArray[Any]:
    if isinstance(ids, np.ma.MaskedArray):
        masked = np.asarray(ids.data).astype(object)
        masked[np.ma.getmaskarray(ids)] = None
        return masked
    # What Arrow calls null, NumPy's converter turns into NaN among numbers and leaves None elsewhere: both are unknown.
    return np.asarray(as_array(ids, what, ShapeError))


def is_unknown(label: object) -> bool:
    """Return whether a label says nothing: None, NaN, NaT or the NA of pandas.

    >>> [is_unknown(label) for label in (None, float("nan"), "nan", "", 0)]
    [True, True, False, False, False]
    """
    if label is None or type(label).__name__ == "NAType":
        return True
    try:
        return bool(label != label)  # noqa: PLR0124  NaN and NaT are the values that differ from themselves
    except (TypeError, ValueError, ArithmeticError):  # whatever it is, it is something
        return False


def unknown_labels(labels: Any) -> NDArray[np.bool_]:
    """Mark the labels that say nothing: None, NaN, NaT, NA and null, and what is masked, in whatever `as_id_array` takes.

    Text is known, also ``"nan"``: what stands for missing in a file is the reader's to say. Only in an array of NumPy's fixed-width text is
    ``"nan"`` unknown, since NumPy itself writes NaN so there.

    >>> unknown_labels(["f", "nan", float("nan"), None]).tolist(), unknown_labels(np.array(["f", float("nan")])).tolist()
    ([False, False, True, True], [False, True])
    """
    array = as_id_array(labels, "labels")
    if getattr(getattr(labels, "dtype", None), "kind", "") == "U":
        array[array == "nan"] = None
    if array.dtype.kind in "fcmM":
        return np.asarray(np.isnan(array), dtype=bool)
    if array.dtype.kind != "O":
        return np.zeros(array.size, dtype=bool)
    return np.fromiter((is_unknown(label) for label in array.tolist()), dtype=bool, count=array.size)


def as_labels(labels: Any, what: str = "labels") -> NDArray[Any]:
    """Return labels as people write them, as objects: None where unknown, whole numbers without a point, days without a time.

    Whole numbers beside a missing one, which most libraries keep as floats, are whole again, also beyond 2^53.

    >>> as_labels([1.0, float("nan"), 2.0]).tolist(), as_labels([1.5, None, 2.0]).tolist()
    ([1, None, 2], [1.5, None, 2.0])
    """
    array, unknown = as_id_array(labels, what), unknown_labels(labels)
    if array.dtype.kind == "M":
        days = array.astype("M8[D]")
        listed = (days if (days == array)[~unknown].all() else array.astype("M8[us]")).tolist()
    elif array.dtype.kind == "f" and unknown.any():
        listed = _listed(labels)
    else:
        listed = array.tolist()
    known = [label for label, missing in zip(listed, unknown, strict=True) if not missing]
    if any(isinstance(label, float) for label in known) and all(map(_is_whole, known)):
        listed = [label if missing else int(label) for label, missing in zip(listed, unknown, strict=True)]
    found = objects(listed)
    found[unknown] = None
    return found


def _is_whole(label: object) -> bool:
    return isinstance(label, int) or (isinstance(label, float) and label.is_integer())


def _listed(labels: Any) -> list[Any]:
    """List a column by its own means: whole numbers of Arrow, pandas and polars stay whole beside a missing one."""
    made = next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(labels, name)), None)
    return list(labels) if made is None else list(getattr(labels, made)())


def counted_ids(length: int, origin: int = 0) -> NDArray[np.int64]:
    """Return the positions of an axis as its ids, or raise a `MemoryLimitError` where there are too many."""
    ensure_fits(16 * length, f"an axis of {length:,}", "number individuals and features without gaps")
    return np.arange(origin, length + origin)


def label_axis(ids: ArrayLike | None, length: int, axis: str) -> NDArray[Any]:
    """Return the ids of an axis: those given, checked, or 0, 1, 2...

    More or fewer ids than rows or columns raise a `ShapeError`; an id that is missing or occurs twice, an `ObservationError`.
    """
    if ids is None:
        return counted_ids(length)
    array = as_id_array(ids)
    if array.size != length:
        raise ShapeError(f"{array.size} {axis} ids for {length} {axis}s", f"one id for each {axis}")
    unique, _ = factorize(array, axis)
    if unique.size != length:
        repeated = _first_repeated(array.tolist())
        raise ObservationError(f"{axis} id {repeated!r} occurs more than once", "distinct ids")
    return array


def _first_repeated(ids: Sequence[Hashable]) -> Hashable:
    seen: set[Hashable] = set()
    return next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]


def factorize(ids: NDArray[Any], axis: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the distinct ids, sorted, and for each id its position among them; a missing id raises an `ObservationError`."""
    if ids.dtype.kind == "O":
        return _factorize_objects(ids, axis)
    if ids.dtype.kind in "fmM" and (missing := np.flatnonzero(np.isnan(ids))).size:
        raise missing_id(axis, int(missing[0]))
    # A table as long as the span would be mostly empty where ids lie far apart; then they are sorted.
    if ids.dtype.kind in "iu" and ids.size and int(ids.max()) - int(ids.min()) <= _DENSE_SPAN * ids.size:
        return _factorize_dense(ids, int(ids.min()), int(ids.max()))
    unique, codes = np.unique(ids, return_inverse=True)
    return unique, codes.astype(np.int32)


def _factorize_dense(
    ids: NDArray[np.integer], low: int, high: int
) -> tuple[NDArray[np.integer], NDArray[np.int32]]:
    # In their own unsigned type, or int64: no difference overflows, whatever the span allowed above.
    offsets = ids - ids.dtype.type(low) if ids.dtype.kind == "u" else ids.astype(np.int64) - low
    occurs = np.zeros(high - low + 1, dtype=bool)
    occurs[offsets] = True
    position = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    codes = position[offsets]
    unique = np.empty(position[-1] + 1, dtype=ids.dtype)
    # Written once for each occurrence, with the same id each time.
    unique[codes] = ids
    return unique, codes


def _factorize_objects(ids: NDArray[Any], axis: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    listed = ids.tolist()
    try:
        distinct = dict.fromkeys(listed)
    except TypeError as error:
        raise ObservationError(f"{axis} ids that cannot be told apart ({error})", "hashable ids") from error
    for name in distinct:
        if is_unknown(name):
            raise missing_id(axis, next(i for i, other in enumerate(listed) if other is name))
    ordered = _sorted_if_comparable(list(distinct))
    position = {name: code for code, name in enumerate(ordered)}
    return objects(ordered), np.fromiter(
        (position[name] for name in listed), dtype=np.int32, count=len(listed)
    )


def _sorted_if_comparable(names: list[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:  # ids of mixed types have no order of their own
        return sorted(names, key=lambda name: (type(name).__name__, str(name)))


def places_by_text(ids: Sequence[Any]) -> dict[str, int]:
    """Return where each id stands, by how it is written: what finds "7" by 7.

    Two ids that are written alike, as 7 and "7" are, raise an `ObservationError`: by its text either would find the other.

    >>> places_by_text([7, "bea"])
    {'7': 0, 'bea': 1}
    """
    places: dict[str, int] = {}
    for place, name in enumerate(ids):
        if (earlier := places.setdefault(str(name), place)) != place:
            raise ObservationError(
                f"ids {ids[earlier]!r} and {name!r}, which are written alike",
                "ids that can be told apart by their text",
                "rename one of them",
            )
    return places


def missing_id(axis: str, position: int) -> ObservationError:
    """Compose the error about an observation that does not say whose, or of what, it is."""
    return ObservationError(
        f"the {axis} id of observation {position} is missing", "an id for every observation"
    )
