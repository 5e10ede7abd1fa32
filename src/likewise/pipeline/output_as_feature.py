"""An output that is one of the features: d then holds what D is, and people are similar because their outputs are."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from likewise._typing import Floats
from likewise.errors import InputError, option
from likewise.fairness import GowerDistance, PairwiseDistance, RowDistance
from likewise.observations import ObservedMatrix
from likewise.pipeline.compared import Case


def refuse_outputs_as_features(compared_by: ObservedMatrix | PairwiseDistance, case: Case) -> None:
    """Raise InputError where an output from elsewhere has the name and the values of a feature that individuals are compared by.

    `compared_by` is what d is made of, or d itself; of a distance without named features nothing can be told.
    """
    for arm, output in case.outputs.items():
        names = case.run.output_ids(arm) if isinstance(output, RowDistance) else None
        if names is None or not isinstance(output, RowDistance) or output.rows.shape[1] != len(names):
            continue  # such as cumulated probabilities
        columns = dict(zip(map(str, names.tolist()), output.rows.T, strict=True))
        for name, values, is_category in _features(compared_by, columns.keys()):
            if _alike(values, columns[name], is_category):
                raise InputError(
                    f"output {name!r} among the features, with the same values",
                    "features without what is audited: with it, people count as similar because their outputs are",
                    f"leave that column out of the individuals; {option('exclude', repr(name))} does, where they are read",
                )


def _features(
    compared_by: ObservedMatrix | PairwiseDistance, wanted: Collection[str]
) -> Iterator[tuple[str, Floats, bool]]:
    """Return each feature that is called as an output is: its name, its values, NaN where missing, and whether they only number categories."""
    if isinstance(compared_by, GowerDistance):
        for name, values in zip(compared_by.names, compared_by.features, strict=True):
            spread = compared_by.ranges[name]
            if str(name) in wanted:
                yield str(name), values * spread if spread else values, not spread
    elif isinstance(compared_by, ObservedMatrix):
        for place, name in enumerate(compared_by.column_ids.tolist()):
            if str(name) in wanted:
                yield str(name), _dense(compared_by, place), False
    elif isinstance(compared_by, RowDistance) and compared_by.names is not None:
        rows = compared_by.rows if compared_by.shown is None else compared_by.shown
        for place, name in enumerate(compared_by.names.tolist()):
            if str(name) in wanted:
                yield str(name), rows[:, place], False


def _dense(observed: ObservedMatrix, column: int) -> Floats:
    """Return a column of the observations, NaN where missing."""
    rows, columns = observed.positions()
    values, chosen = np.full(observed.shape[0], np.nan), columns == column
    values[rows[chosen]] = observed.values.data[chosen]
    return values


def _alike(feature: Floats, output: Floats, is_category: bool) -> bool:
    """Return whether a feature is the output: equal numbers, or categories that are one for one with the outputs; nothing is missing of an output."""
    if np.isnan(feature).any():
        return False
    if not is_category:
        return bool(np.allclose(feature, output, rtol=1e-6, atol=0.0))
    both = np.unique(np.stack([feature, output]), axis=1).shape[1]
    return bool(both == np.unique(feature).size == np.unique(output).size)
