"""Output distances D by a short name, for outputs of any kind: numbers, class probabilities, scores of items, lists of items."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._typing import Floats
from likewise.errors import DistanceError, InputError, ShapeError, option, printable, unknown_name
from likewise.fairness.distances.distance import PairwiseDistance
from likewise.fairness.distances.lists import rank_biased_distance, top_items, top_n_distance
from likewise.fairness.distances.outputs import (
    hellinger_distance,
    total_variation_distance,
    wasserstein_distance,
)
from likewise.fairness.distances.registry import DISTANCES, OF_THE_PACKAGE, distance_by_name
from likewise.fairness.distances.rows import RowDistance, complete_rows
from likewise.norms import norm_order
from likewise.observations.reading.numerals import rank_of_word

N_ITEMS = 10
"""How many of the best-scored items are compared where a name does not say it."""

OF_DISTRIBUTIONS: dict[str, Callable[..., RowDistance]] = {
    "tv": total_variation_distance,
    "hellinger": hellinger_distance,
    "w1": wasserstein_distance,
}
_OF_LISTS: dict[str, Callable[[ArrayLike], PairwiseDistance]] = {
    "top": top_n_distance,
    "rbo": rank_biased_distance,
}
_OTHERWISE = {
    **dict.fromkeys(("total-variation", "total variation"), "tv"),
    **dict.fromkeys(("wasserstein", "wasserstein-1", "earth-mover", "emd"), "w1"),
    **dict.fromkeys(("euclid", "euclidean"), "l2"),
    **dict.fromkeys(("manhattan", "cityblock"), "l1"),
    **dict.fromkeys(("max", "maximum", "chebyshev"), "linf"),
}
"""What others call a distance, and its name here."""

_MORE_NAMES = "l3 and any other norm from l1, top-5 and rbo-5 are names too"
_LISTS = re.compile(r"(top|rbo)(?:-(n|[1-9][0-9]*))?")

IN_ORDER = "classes in this order"
"""How the description of a distance between ordered classes begins to name them."""

_NAMED = 8

OUTPUT_DISTANCES = ("l2", "l1", "linf", "absolute", *OF_DISTRIBUTIONS, "top-n", "rbo")
"""The names; also l3 and any other q from 1, top-5 and rbo-5 with another number of items, and what was registered."""


def check_output_distance(name: object) -> str:
    """Return the name, or raise InputError where no output distance is called so: before any work.

    >>> check_output_distance("top-5")
    'top-5'
    >>> check_output_distance("hellinge")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: unknown output distance 'hellinge'; expected one of ... Hint: did you mean 'hellinger'?
    """
    known = isinstance(name, str) and (
        name in ("absolute", *OF_DISTRIBUTIONS)
        or _LISTS.fullmatch(name)
        or _is_norm(name)
        or name in _registered()
    )
    if not isinstance(name, str) or not known or name == "top":
        given, expected, hint = unknown_name("output distance", name, [*OUTPUT_DISTANCES, *_registered()])
        meant = _OTHERWISE.get(name.lower().replace("_", "-")) if isinstance(name, str) else None
        raise InputError(given, expected, f"did you mean {meant!r}?" if meant else hint or _MORE_NAMES)
    return name


def named_output_distance(
    name: str,
    outputs: ArrayLike,
    item_ids: NDArray[Any] | None = None,
    *,
    row_ids: ArrayLike | None = None,
) -> PairwiseDistance:
    """Make D between outputs.

    Parameters
    ----------
    name : str
        ``"l1"``, ``"l2"``, ``"linf"``, ``"l3"``: a norm. ``"absolute"``: the difference of one number. ``"tv"``, ``"hellinger"``, ``"w1"``: outputs are
        probabilities of classes, for ``"w1"`` ordered ones. ``"top-n"``, ``"rbo"``: outputs are scores of items, of which the best 10 are
        compared, as a set or by rank; ``"top-5"`` takes 5. Or a name that was registered.
    outputs : array-like, shape (m,) or (m, k)
    item_ids : ndarray, shape (k,), optional
        What the columns are called, for lists of items and for ordered classes.
    row_ids : array-like, shape (m,), optional
        What the individuals are called, to name whose outputs are no distribution.

    Returns
    -------
    PairwiseDistance

    Raises
    ------
    InputError
        An unknown name, or fewer items than are to be compared.
    DistanceError, ShapeError
        Outputs that are not of that kind.

    Examples
    --------
    >>> named_output_distance("tv", [[0.5, 0.5], [0.2, 0.8]]).between([0], [1]).round(6)
    array([0.3])
    >>> named_output_distance("top-1", [[0.5, 0.6], [0.2, 0.8]]).between([0], [1])
    array([0.])
    """
    check_output_distance(name)
    if (lists := _LISTS.fullmatch(name)) is not None:
        return _OF_LISTS[lists[1]](_best_items(name, outputs, lists[2], item_ids))
    if name == "absolute":
        return RowDistance.of_outputs(_one_number(outputs))
    if name in OF_DISTRIBUTIONS:
        distance = OF_DISTRIBUTIONS[name](outputs, row_ids=row_ids)
        if name == "w1":
            distance.description = replace(distance.description, columns=order_of_classes(outputs, item_ids))
        return distance.rounded()
    return RowDistance.of_outputs(outputs, name) if _is_norm(name) else distance_by_name(name, outputs)


def order_of_classes(probabilities: ArrayLike, names: NDArray[Any] | None) -> str:
    """Say which class is taken to come after which, as a distance between ordered classes depends on it; and whether their names suggest another order.

    >>> order_of_classes(np.eye(3), np.array(["high", "low", "mid"]))
    'classes in this order: high, low, mid; their names suggest low, mid, high (if so, give the columns in that order)'
    """
    if np.ndim(probabilities) == 1 or np.shape(probabilities)[1] == 1:
        return f"{IN_ORDER}: the other, then the one whose probability is given"
    if names is None:
        return f"{IN_ORDER}: that of the columns"
    called = [printable(name) for name in names.tolist()]
    ranks = [rank_of_word(name) for name in called]
    told, known = f"{IN_ORDER}: {_first(called)}", [rank for rank in ranks if rank is not None]
    if len(known) < len(called) or known in (sorted(known), sorted(known, reverse=True)):
        return told
    suggested = _first([called[place] for place in np.argsort(known, kind="stable")])
    return f"{told}; their names suggest {suggested} (if so, give the columns in that order)"


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _registered() -> list[str]:
    """Return the names that others gave; the package's own take observations, features or pairs."""
    return [name for name in DISTANCES if name not in OF_THE_PACKAGE]


def _is_norm(name: str) -> bool:
    try:
        norm_order(name)
    except DistanceError:
        return False
    return name.startswith("l")


def _best_items(
    name: str, outputs: ArrayLike, count: str | None, item_ids: NDArray[Any] | None
) -> NDArray[Any]:
    scores = complete_rows(outputs)
    n = min(N_ITEMS, scores.shape[1]) if count in (None, "n") else int(count)
    if scores.shape[1] == 1:
        raise ShapeError(
            f"{option('output_distance', name)} of outputs with one column",
            "a score for each of several items",
            f"{option('output_distance', 'l2')} compares one number",
        )
    if n > scores.shape[1]:
        raise InputError(
            option("output_distance", name), f"at most the {scores.shape[1]} items that there are"
        )
    if n == scores.shape[1] and name.startswith("top"):
        raise InputError(
            f"{option('output_distance', name)} of {n} items, all that there are, which everybody has in common",
            f"fewer of them, such as {option('output_distance', f'top-{max(1, n // 2)}')}",
            f"{option('output_distance', 'rbo')} compares their order",
        )
    items = top_items(scores, n)
    return items if item_ids is None else np.asarray(item_ids)[items]


def _one_number(outputs: ArrayLike) -> Floats:
    numbers = complete_rows(outputs)
    if numbers.shape[1] != 1:
        raise ShapeError(
            f"{option('output_distance', 'absolute')} of outputs with {numbers.shape[1]} columns",
            "one number for each individual",
            f"{option('output_distance', 'l2')} compares several",
        )
    return numbers[:, 0]
