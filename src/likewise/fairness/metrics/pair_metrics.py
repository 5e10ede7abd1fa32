"""Metrics that others add: the mean over pairs of what a function makes of d and D, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from likewise._typing import Floats
from likewise.errors import InputError, ModelError, option
from likewise.registry import Registry


class PairFunction(Protocol):
    """What a metric makes of pairs; called with d and D of some pairs at a time, in any order, maybe from several threads."""

    def __call__(self, reference: Floats, output: Floats) -> Floats:
        """Return one finite number >= 0 for each pair."""


@dataclass(frozen=True)
class PairMetric:
    """A metric by name."""

    name: str
    function: PairFunction

    def of(self, reference: Floats, output: Floats) -> Floats:
        """Return the numbers whose mean is the metric; ModelError unless there is one finite number >= 0 for each pair."""
        try:
            values = np.asarray(self.function(reference, output), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"metric {self.name!r}: {error}", "numbers for the pairs that it is given"
            ) from error
        if values.shape != reference.shape or not (np.isfinite(values) & (values >= 0)).all():
            raise ModelError(
                f"metric {self.name!r} returned {_in_words(values)} for {reference.size:,} pairs",
                "one finite number >= 0 for each pair",
            )
        return values


def _in_words(values: Floats) -> str:
    if not np.isfinite(values).all():
        return "NaN or infinite values"
    return f"shape {values.shape}" if (values >= 0).all() else "negative values"


def _callable(thing: Any) -> PairFunction:
    if not callable(thing):
        raise InputError(f"a metric of type {type(thing).__name__}", "a function of d and D of pairs")
    function: PairFunction = thing
    return function


PAIR_METRICS: Registry[PairFunction] = Registry(
    "likewise.pair_metrics", "metric over pairs", {}, check=_callable
)
"""Those registered so far; plug-ins declare entry points of the group ``likewise.pair_metrics``."""


def register_pair_metric(name: str, function: PairFunction) -> PairFunction:
    """Add a metric: the mean over pairs of what a function makes of d and D.

    It is then measured wherever pairs are, exactly over all of them or with an interval over drawn ones, and stands in reports under its name.

    Parameters
    ----------
    name : str
    function : callable
        ``function(reference, output)`` takes d and D of some pairs, each ndarray of shape (n,), and returns n finite numbers >= 0.

    Returns
    -------
    callable
        The function.

    Raises
    ------
    InputError
        No text as the name, or no function.

    Examples
    --------
    >>> from likewise.fairness import RowDistance, measure_fairness
    >>> _ = register_pair_metric("gap_of_near_pairs_above_1", lambda d, D: (d <= 1.0) * (D > 1.0))
    >>> found = measure_fairness([0.0, 3.0, 1.0], RowDistance([0.0, 1.0, 2.0]))
    >>> found.added["gap_of_near_pairs_above_1"]
    ExactValue(value=0.6666666666666666, n_pairs=3)
    >>> PAIR_METRICS.unregister("gap_of_near_pairs_above_1")
    """
    added: PairFunction = PAIR_METRICS.register(name, function)
    return added


def chosen_metrics(names: Sequence[str] | None) -> tuple[PairMetric, ...]:
    """Return metrics by name; by default all that were registered so far."""
    if names is not None and not isinstance(names, tuple | list):
        raise InputError(option("metrics", repr(names)), "a list of names")
    return tuple(
        PairMetric(name, PAIR_METRICS.named(name)) for name in (PAIR_METRICS if names is None else names)
    )
