"""Outputs given by individual: a mapping of them to lists of items, scores of items by name, or numbers; or a frame with a line for each item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.arrays import as_floats
from likewise.errors import InputError, ModelError
from likewise.fairness import top_n_distance
from likewise.observations.column_roles import long_columns
from likewise.observations.frames import as_frame
from likewise.observations.ids import as_id_array
from likewise.observations.index_alignment import aligned
from likewise.observations.outputs import ArrangedOutputs, OutputLines

if TYPE_CHECKING:
    import polars as pl

_MOST_ARMS = 2


def are_individuals(outputs: Mapping[Any, Any], ids: NDArray[Any] | None) -> bool:
    """Return whether the keys of a mapping are individuals, not the names of what was computed before and after a change.

    Individuals without `ids` are counted from 0.
    """
    names = {str(key) for key in outputs}
    if len(outputs) <= _MOST_ARMS:
        return ids is not None and names == {str(name) for name in ids.tolist()}
    known = {str(name) for name in (range(len(outputs)) if ids is None else ids.tolist())}
    return not names.isdisjoint(known)


def in_order(
    arm: str, outputs: Any, ids: NDArray[Any] | None, items: NDArray[Any] | None
) -> tuple[Any, tuple[str, ...]]:
    """Return the outputs of one arm in the order of the individuals, and notes on how they were read.

    Outputs are what `aligned` takes; the values of a mapping are one number, several numbers, a list of items (the best first), or a mapping of items to
    scores. Or they are a data frame with a line for each user and item, with a score or the best first. `items` are the ids of the features, if observations
    are known: whole numbers among them are items.

    Raises InputError for an individual without a score for an item that another one has, ModelError for lists of unlike lengths and lines that are missing or
    there twice, ShapeError for keys that are not the individuals, each once.
    """
    if isinstance(outputs, str | PathLike):
        path = fspath(outputs)
        raise ModelError(
            f"{path!r} as outputs of {arm!r}",
            "an array, a data frame or a mapping",
            f"read a file first: likewise.inference.read_outputs({path!r}, Z.row_ids)",
        )
    if ids is not None and (lines := _lines(arm, outputs)) is not None:
        return _arranged(arm, lines.arranged(ids.tolist()))
    found, notes = aligned(f"outputs of {arm!r}", outputs, ids)
    if not isinstance(outputs, Mapping) or not found:
        return found, notes
    if all(isinstance(scores, Mapping) for scores in found):
        table = _table(found)
        return table, (*notes, _as_scores(arm, table.shape[1]))
    if all(_is_list(value) for value in found) and _are_items(found, items):
        lengths = {len(value) for value in found}
        if len(lengths) > 1:
            raise ModelError(
                f"lists of {min(lengths)} to {max(lengths)} items", "as many items for each individual"
            )
        return top_n_distance(np.array(found, dtype=object)), (*notes, _as_lists(arm, lengths.pop()))
    return found, notes


def _as_scores(arm: str, n: int) -> str:
    return f"read the outputs of {arm!r} as scores of {n:,} items, by name"


def _as_lists(arm: str, n: int) -> str:
    return f"read the outputs of {arm!r} as lists of {n} items for each individual, the best first"


def _lines(arm: str, outputs: Any) -> OutputLines | None:
    """Return the lines of a frame that has one for each user and item; None for anything else."""
    frame = as_frame(outputs)
    names = [] if frame is None else [str(name) for name in frame.columns]
    places = long_columns(names)
    if frame is None or places is None:
        return None
    users, items = (as_id_array(frame[:, places[role]].to_list()) for role in ("user", "item"))
    scores = frame[:, places["rating"]] if "rating" in places else None
    what = f"a data frame of outputs of {arm!r}"
    return OutputLines(users, items, None if scores is None else as_floats(scores, what, ModelError), what)


def _arranged(arm: str, found: ArrangedOutputs) -> tuple[Any, tuple[str, ...]]:
    """Return lists as what compares them, and scores with a column for each item, named."""
    n = len(found.names)
    others = tuple(f"outputs of {arm!r}: {remark}" for remark in found.remarks)
    if found.are_lists:
        return top_n_distance(found.values), (_as_lists(arm, n), *others)
    import polars as pl

    return pl.DataFrame(found.values, schema=list(found.names)), (_as_scores(arm, n), *others)


def _is_list(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _are_items(lists: list[Any], items: NDArray[Any] | None) -> bool:
    """Return whether entries are ids of items: text, or whole numbers that the observations have as features."""
    listed = [item for one in lists for item in (one.tolist() if isinstance(one, np.ndarray) else one)]
    if all(isinstance(item, str) for item in listed):
        return True
    whole = all(isinstance(item, int | np.integer) and not isinstance(item, bool) for item in listed)
    return whole and items is not None and set(map(str, listed)) <= set(map(str, items.tolist()))


def _table(scores: list[Mapping[Any, float]]) -> pl.DataFrame:
    """Return scores with a column for each item, named; whoever has no score for an item of another is an error."""
    import polars as pl

    items = list(dict.fromkeys(item for one in scores for item in one))
    for one in scores:
        missing = [item for item in items if item not in one]
        if missing:
            raise InputError(
                f"outputs of {len(scores):,} individuals, of whom one has no score for item {missing[0]!r}",
                "a score of every item for every individual",
                "give lists of items instead, {user: [items]}, or a row for each individual with a number in every column",
            )
    names = [str(item) for item in items]
    if len(set(names)) < len(names):
        raise InputError("outputs for items that are written alike", "distinct ids")
    return pl.DataFrame(
        {name: [one[item] for one in scores] for name, item in zip(names, items, strict=True)}
    )
