"""The folder of a run: its settings, and every finished simulation under a checksum; a run that was stopped goes on from there."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

from likewise._kernels import kernel_info
from likewise.errors import (
    DamagedStateWarning,
    FileFormatError,
    InputError,
    OutputError,
    option,
)
from likewise.plain import json_tree
from likewise.report.json_document import to_json, versions
from likewise.reproduction.settings import Settings
from likewise.reproduction.units import Unit
from likewise.writing import PathLike, check_folder, remove_leftovers, write_file, write_folder

Record = dict[str, Any]

SETTINGS = "settings.json"
SIMULATIONS = "simulations"

_DECIDE_NUMBERS = ("numpy", "scipy", "scikit-learn", "torch")
"""Libraries whose version can change a number."""

_HOW_MANY = "simulations"
"""The one setting that no simulation depends on: more can be added to a folder later."""


class RunFolder:
    """A folder that holds one run and never two; the same run with more simulations goes on from those that are there.

    It is made if it is not there. InputError if it holds a run with other settings or of other versions; FileFormatError if its settings cannot
    be read; OutputError if it cannot be written to.
    """

    def __init__(self, path: PathLike, settings: Settings) -> None:
        check_folder(path)
        self.path = Path(path)
        self._identity = run_identity(settings)
        recorded = self.path / SETTINGS
        if recorded.exists():
            found = _read_settings(recorded)
            self._refuse_another_run(found)
        else:
            found = {}
            self._refuse_stray_simulations()
        if found.get(_HOW_MANY) != settings.simulations:
            write_folder(self.path, {SETTINGS: to_json(self._identity)})
        _make_folder(self.path / SIMULATIONS)
        for written in (self.path, self.path / SIMULATIONS):
            remove_leftovers(written)

    def load(self, unit: Unit) -> Record | None:
        """Return what was kept of a unit; None, with a DamagedStateWarning that names the file, if the file is damaged."""
        file = self._file(unit)
        if not file.exists():
            return None
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
            if kept["unit"] == unit.name and kept["sha256"] == _digest(kept["record"]):
                record: Record = kept["record"]
                return record
            reason = "its content does not match its checksum"
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = f"{type(error).__name__}: {error}"
        warnings.warn(
            f"{file} is damaged ({reason}); it is computed again", DamagedStateWarning, stacklevel=2
        )
        return None

    def save(self, unit: Unit, record: Record) -> Record:
        """Keep what was found for a unit, all of it or nothing; returns it as `load` will."""
        kept: Record = json_tree(record)
        content = {"unit": unit.name, "sha256": _digest(kept), "record": kept}
        write_file(self._file(unit), json.dumps(content, allow_nan=False))
        return kept

    def _file(self, unit: Unit) -> Path:
        return self.path / SIMULATIONS / f"{unit.name}.json"

    def _refuse_another_run(self, found: Record) -> None:
        wanted, recorded = _flat(self._identity), _flat(found)
        differing = [
            f"{name} {_shown(recorded.get(name))}, not {_shown(value)}"
            for name, value in wanted.items()
            if name != _HOW_MANY and recorded.get(name) != value
        ]
        if differing:
            raise InputError(
                f"{self.path} holds a run with {'; '.join(differing)}",
                "the folder of a run with the same settings, or a new one",
                f"name another folder as {option('out')}; results of different runs are never mixed",
            )

    def _refuse_stray_simulations(self) -> None:
        folder = self.path / SIMULATIONS
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder} with simulations of unknown settings", "a new folder")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder}: {error.strerror}") from error


def run_identity(settings: Settings) -> Record:
    """Return everything that two runs must share to be one: settings, and versions that can change a number."""
    found = versions()
    libraries = {name: found["libraries"][name] for name in _DECIDE_NUMBERS}
    numbers = {"likewise": found["likewise"], **libraries, "kernels": kernel_info().kernels}
    return {**settings.to_dict(), "versions": numbers}


def _read_settings(file: Path) -> Record:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileFormatError(
            f"{file} cannot be read ({error})", "the settings of a run", "use a new folder"
        ) from error
    if not isinstance(found, dict):
        raise FileFormatError(
            f"{file} holds {type(found).__name__}", "the settings of a run", "use a new folder"
        )
    return found


def _flat(identity: Record) -> Record:
    """Return settings and versions side by side."""
    numbers = identity.get("versions")
    return {**identity, **(numbers if isinstance(numbers, dict) else {}), "versions": None}


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _digest(record: Any) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True, allow_nan=False).encode()).hexdigest()
