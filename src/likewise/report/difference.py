"""Two reports held against each other, from their JSON: what got better, what got worse, and what else differs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isinf, nan
from pathlib import Path
from typing import Any

from likewise.checks import checked_path
from likewise.errors import FileFormatError, printable
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
        Better, worse, or cannot be told, by the gap of similar pairs of the arm that would be used; then the error, where its intervals lie apart.
    rows : tuple of (str, str, str, str)
        Label, old, new, change.
    data : tuple of str
        How the data differ; then the numbers speak of other people.
    settings : tuple of str
        Settings that differ, the estimator first.
    arms : tuple of str
        Which arm of each report is compared.
    """

    sentence: str
    rows: tuple[tuple[str, str, str, str], ...]
    data: tuple[str, ...]
    settings: tuple[str, ...]
    arms: tuple[str, ...] = ()

    def __str__(self) -> str:
        cells = [("", "old", "new", "change"), *self.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(4)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join([self.sentence, "", *table, "", *self.arms, *self.data, *self.settings]).rstrip()


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
    names = [list(document["arms"])[-1] for document in (before, after)]
    arms = [document["arms"][name] for document, name in zip((before, after), names, strict=True)]
    try:
        gaps = [_gap(document, arm) for document, arm in zip((before, after), arms, strict=True)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(
            "a report without the gap of similar pairs", "report.json as likewise wrote it"
        ) from error
    data = tuple(_other_data(before, after))
    texts = [_with_ends(gap) for gap in gaps]
    change = percent_change(gaps[0].value, gaps[1].value)
    gap_row = ("gap of similar pairs", texts[0], texts[1], change)
    settings = (*_other_estimators(before, after), *_other_settings(before["settings"], after["settings"]))
    rows = gap_row, *_error_row(arms), *_rows(*arms)
    return Difference(
        _sentence(gaps, arms, other=bool(data)), rows, data, settings, tuple(_which(names, arms))
    )


def _which(names: Sequence[str], arms: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say which arm of each report is compared: the one that would be used."""
    for which, name, arm in zip(("Old", "New"), names, arms, strict=True):
        label = f"{name} pre-processing" if name in ("without", "with") else shown(name)
        yield f"{which}: {label} ({shown(arm.get('title'))})."


def _gap(document: Mapping[str, Any], arm: Mapping[str, Any]) -> Gap:
    """Return the gap of an arm: on the truth where that was measured."""
    name = next(name for name, other in document["arms"].items() if other is arm)
    truth = (document.get("truth") or {}).get("arms", {}).get(name)
    gap = arm["fairness"]["similar"]["relative_gap"] if truth is None else truth["relative_gap"]
    ends = gap if "low" in gap else arm["fairness"]["similar"].get("relative_gap_interval") or {}
    return Gap(float(gap["value"]), *(float(ends.get(end, "nan")) for end in ("low", "high")))


def _sentence(gaps: Sequence[Gap], arms: Sequence[Mapping[str, Any]], *, other: bool) -> str:
    told = {
        -1: "Better: similar individuals are treated more alike than in the old report",
        1: "Worse: similar individuals are treated less alike than in the old report",
        0: "Cannot be told of fairness: the gaps of similar pairs in both reports have intervals that overlap, or none",
    }[compared(*gaps)]
    return f"{told}{_of_error(arms)}{'; the data differ, too' if other else ''}."


def _of_error(arms: Sequence[Mapping[str, Any]]) -> str:
    """Say whether the error became larger or smaller; nothing where its intervals overlap, or there are none."""
    errors = [_error(arm) for arm in arms]
    if None in errors:
        return ""
    old, new = (error for error in errors if error is not None)
    word = {-1: "smaller", 0: "", 1: "larger"}[compared(old, new)]
    return f"; the error is {word}: {new} after {old}" if word else ""


def _error(arm: Mapping[str, Any]) -> Gap | None:
    """Return the error on hidden observations as a number with an interval; None where it was not measured."""
    found = _at(arm, ("error", "rmse"))
    ends = [_at(arm, ("error", "rmse_interval", end)) for end in ("low", "high")]
    return None if found is None else Gap(found, *(nan if end is None else end for end in ends))


def _error_row(arms: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str, str]]:
    errors = [_error(arm) for arm in arms]
    texts = [NOT_MEASURED if error is None else _with_ends(error) for error in errors]
    if set(texts) != {NOT_MEASURED}:
        change = (
            "" if None in errors else percent_change(*(error.value for error in errors if error is not None))
        )
        yield "error (RMSE)", texts[0], texts[1], change


def _with_ends(value: Gap) -> str:
    return with_ends(value.value, value.low, value.high) if value.has_interval else number(value.value)


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


def _other_estimators(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Say which estimators made the estimates, with their options and what `auto` chose, where they differ."""
    names = [(document.get("estimate") or {}).get("estimator") for document in (old, new)]
    if names[0] != names[1]:
        told = ["none" if name is None else printable(name) for name in names]
        yield f"Estimator: {told[0]} before, {told[1]} after."


def _other_settings(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    other = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key)]
    for key in other[:_MOST_SETTINGS]:
        yield f"Setting {key}: {shown(old.get(key))} before, {shown(new.get(key))} after."
    if len(other) > _MOST_SETTINGS:
        yield f"{len(other) - _MOST_SETTINGS} more settings differ."
