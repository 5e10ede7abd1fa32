"""Two reports held against each other, from their JSON: what got better, what got worse, and what else differs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isinf
from pathlib import Path
from typing import Any

from likewise.checks import checked_path
from likewise.errors import FileFormatError
from likewise.fairness.metrics.target_accuracy import MEASURES
from likewise.report.gap import Gap, compared
from likewise.report.json_document import SCHEMA, SCHEMA_VERSION
from likewise.report.numbers import NOT_MEASURED, number, percent_change, shown, with_ends
from likewise.writing import PathLike

_LEFT_OUT = ("fairness", "n_infinite")
_METRICS = {
    "mean ratio D/d, finite pairs": ("fairness", "finite_mean_ratio", "value"),
    "mean ratio D/d": ("fairness", "mean_ratio", "value"),
    "largest ratio D/d": ("fairness", "max_ratio", "value"),
    "pairs at d = 0 < D": _LEFT_OUT,
    "output spread": ("fairness", "output_spread", "value"),
    "error (RMSE)": ("error", "rmse"),
    **{f"{name}, of the target": ("accuracy", "values", name, "value") for name in MEASURES},
}
_MOST_SETTINGS = 8


def read_document(path: PathLike) -> dict[str, Any]:
    """Read ``report.json``, or a folder that holds it.

    Raises
    ------
    FileFormatError
        Missing, no JSON, no report, or of another schema.
    """
    file = Path(checked_path("report", path))
    file = file / "report.json" if file.is_dir() else file
    expected = "a report as JSON: likewise audit --json FILE, or report.json of --out"
    try:
        found = json.loads(file.read_bytes())
    except FileNotFoundError as error:
        raise FileFormatError(f"no file {str(file)!r}", expected) from error
    except OSError as error:
        raise FileFormatError(f"{file} cannot be read ({error.strerror})", expected) from error
    except ValueError as error:
        raise FileFormatError(f"{file}, which is no JSON", expected) from error
    return checked_document(found, str(file))


def checked_document(found: Any, name: str = "a dictionary") -> dict[str, Any]:
    """Return a report as JSON has it, of the schema that is known.

    Raises
    ------
    FileFormatError
        No report, or one of another schema.
    """
    expected = "a report as JSON: likewise audit --json FILE, or report.json of --out"
    if not isinstance(found, Mapping) or found.get("schema") != SCHEMA or not found.get("arms"):
        raise FileFormatError(f"{name}, which is no report", expected)
    if found.get("schema_version") != SCHEMA_VERSION:
        raise FileFormatError(
            f"{name} of schema version {found.get('schema_version')}", f"version {SCHEMA_VERSION}"
        )
    arms = found["arms"]
    whole = isinstance(arms, Mapping) and all(
        isinstance(arm, Mapping) and isinstance(arm.get("fairness"), Mapping) for arm in arms.values()
    )
    if not whole or not isinstance(found.get("settings"), Mapping):
        raise FileFormatError(f"{name}, whose arms or settings are damaged", expected)
    return dict(found)


@dataclass(frozen=True)
class Difference:
    """What differs between two reports.

    Parameters
    ----------
    sentence : str
        Better, worse, or cannot be told, by the gap of similar pairs of the arm that would be used.
    rows : tuple of (str, str, str, str)
        Label, old, new, change.
    data : tuple of str
        How the data differ; then the numbers speak of other people.
    settings : tuple of str
        Settings that differ.
    """

    sentence: str
    rows: tuple[tuple[str, str, str, str], ...]
    data: tuple[str, ...]
    settings: tuple[str, ...]

    def __str__(self) -> str:
        cells = [("", "old", "new", "change"), *self.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(4)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join([self.sentence, "", *table, *(["", *self.data, *self.settings])]).rstrip()


def difference(old: PathLike | Mapping[str, Any], new: PathLike | Mapping[str, Any]) -> Difference:
    """Compare two reports.

    Parameters
    ----------
    old, new : path-like or mapping
        Files of `AuditReport.to_json`, folders of `AuditReport.save`, or what `AuditReport.to_dict` returns.

    Returns
    -------
    Difference

    Raises
    ------
    FileFormatError
        See `read_document`.
    """
    before, after = (
        checked_document(one) if isinstance(one, Mapping) else read_document(one) for one in (old, new)
    )
    arms = [next(reversed(list(document["arms"].values()))) for document in (before, after)]
    try:
        gaps = [_gap(document, arm) for document, arm in zip((before, after), arms, strict=True)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(
            "a report without the gap of similar pairs", "report.json as likewise wrote it"
        ) from error
    data = tuple(_other_data(before, after))
    texts = [
        with_ends(gap.value, gap.low, gap.high) if gap.has_interval else number(gap.value) for gap in gaps
    ]
    change = percent_change(gaps[0].value, gaps[1].value)
    gap_row = ("gap of similar pairs", texts[0], texts[1], change)
    settings = tuple(_other_settings(before["settings"], after["settings"]))
    return Difference(_sentence(*gaps, other=bool(data)), (gap_row, *_rows(*arms)), data, settings)


def _gap(document: Mapping[str, Any], arm: Mapping[str, Any]) -> Gap:
    """Return the gap of an arm: on the truth where that was measured."""
    name = next(name for name, other in document["arms"].items() if other is arm)
    truth = (document.get("truth") or {}).get("arms", {}).get(name)
    gap = arm["fairness"]["similar"]["relative_gap"] if truth is None else truth["relative_gap"]
    ends = gap if "low" in gap else arm["fairness"]["similar"].get("relative_gap_interval") or {}
    return Gap(float(gap["value"]), *(float(ends.get(end, "nan")) for end in ("low", "high")))


def _sentence(old: Gap, new: Gap, *, other: bool) -> str:
    told = {
        -1: "Better: similar individuals are treated more alike than in the old report",
        1: "Worse: similar individuals are treated less alike than in the old report",
        0: "Cannot be told: the gaps of similar pairs in both reports have intervals that overlap, or none",
    }[compared(old, new)]
    return f"{told}{'; the data differ, too' if other else ''}."


def _rows(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for label, path in _METRICS.items():
        values = [_at(arm, path) for arm in (old, new)]
        if all(value is None or isinf(value) for value in values) or (path == _LEFT_OUT and not any(values)):
            continue
        texts = [_text(value) for value in values]
        change = "" if None in values else percent_change(*(value for value in values if value is not None))
        yield label, texts[0], texts[1], change
    if any(arm.get("group_effects") for arm in (old, new)):
        yield "groups treated differently", _how_many(old), _how_many(new), ""


def _text(value: float | None) -> str:
    if value is None:
        return NOT_MEASURED
    return "none" if isinf(value) else number(value)


def _how_many(arm: Mapping[str, Any]) -> str:
    return str(len(_clear(arm))) if "effects" in (arm.get("group_effects") or {}) else "not tested"


def _clear(arm: Mapping[str, Any]) -> list[Any]:
    effects = (arm.get("group_effects") or {}).get("effects", [])
    return [effect for effect in effects if effect["clear"]]


def _at(tree: Any, path: tuple[str, ...]) -> float | None:
    for key in path:
        tree = None if tree is None else tree.get(key)
    return None if tree is None else float(tree)


def _other_data(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    names = {
        "n_individuals": "individuals",
        "n_features": "features",
        "n_observed": "observations",
        "value_range": "value range",
    }
    for key, name in names.items():
        values = [document["data"].get(key) for document in (old, new)]
        if values[0] != values[1]:
            yield f"Data differ: {name} {shown(values[0])} before, {shown(values[1])} after."


def _other_settings(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    other = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
    for key in other[:_MOST_SETTINGS]:
        yield f"Setting {key}: {shown(old.get(key))} before, {shown(new.get(key))} after."
    if len(other) > _MOST_SETTINGS:
        yield f"{len(other) - _MOST_SETTINGS} more settings differ."
