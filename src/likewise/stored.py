"""Results in a file that loads back: records as JSON, arrays beside them. Nothing in a file is run, and what was altered is refused."""

from __future__ import annotations

import json
import re
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from datetime import date, datetime
from enum import Enum
from hashlib import sha256
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError, OutputError
from likewise.plain import kept_fields
from likewise.writing import PathLike, write_file, write_npz

FORMAT = "likewise.record"
VERSION = 1
"""Raised when an older likewise could not read a file, or would misread it; older versions are read."""

ZIP_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    IndexError,
    struct.error,
)
"""What Python raises about a zip that is cut, altered, encrypted, or compressed in a way it does not know."""

ARRAY_DAMAGE = (
    *ZIP_DAMAGE,
    KeyError,
    TypeError,
    AttributeError,
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
    RecursionError,
    OverflowError,
)
"""What NumPy and SciPy raise about arrays in a file whose headers say what cannot be."""

_HEADER, _SPARSE = "header", "csr_array"
_OURS = re.compile(r"likewise(\.[a-z][a-z_]*)+\.[A-Z]\w*")
"""Names of classes of the package; a name in a file can lead to nothing else."""
_WHAT_FITS = "use numbers, text, names and what likewise itself returns"

Arrays = dict[str, NDArray[Any]]
Keep = Callable[[NDArray[Any]], dict[str, Any]]
Resolver = Callable[[str], Any]


def write_record(path: PathLike, thing: Any) -> None:
    """Write a record to one file: ``.json`` as text, anything else as ``.npz``.

    A record is a data class of the package, or an object with ``stored_parts()`` and ``from_stored_parts(parts)``; what it holds may be such objects,
    arrays, sparse arrays, numbers, text, dates, lists, tuples and mappings. An `OutputError` refuses all else, such as a function.
    """
    if str(path).lower().endswith(".json"):
        write_file(path, as_json(thing))
        return
    arrays: Arrays = {}
    names: dict[int, str] = {}
    content = _tree(thing, lambda array: {"array": _kept(array, arrays, names)}, type(thing).__name__)
    header = json.dumps(_with_header(content, arrays))
    write_npz(path, {_HEADER: np.frombuffer(header.encode(), np.uint8), **arrays})


def as_json(thing: Any) -> str:
    """Return a record as JSON text that `read_record` reads; see `write_record`."""
    return json.dumps(_with_header(_tree(thing, _listed, type(thing).__name__), {})) + "\n"


def read_record(path: PathLike, others: Resolver = lambda _: None) -> Any:
    """Read what `write_record` wrote; a `FileFormatError` says where it is missing, cut short, altered, of a newer format, or something else.

    A file may name every record of the package. `others` takes the name of a class outside and returns it, or None where a file may not name it.
    """
    header, arrays = read_parts(path)
    _check(header, arrays, path)
    try:
        return _Reader(arrays, others).thing(header["content"])
    except ARRAY_DAMAGE as error:
        raise FileFormatError(
            f"{path} holds what cannot be used ({error})", "a result that was saved"
        ) from error


def read_parts(path: PathLike) -> tuple[dict[str, Any], Arrays]:
    """Return the header of a file, and the arrays beside it; an empty header where it has none.

    A `FileFormatError` says that it is missing, or neither JSON nor an ``.npz`` that can be read to its end.
    """
    try:
        with Path(path).open("rb") as stream:
            if stream.read(1) == b"{":
                return dict(json.loads(Path(path).read_bytes())), {}
        arrays = arrays_of(path)
    except FileNotFoundError as error:
        raise FileFormatError(f"no file {str(path)!r}", "a result that was saved") from error
    except ARRAY_DAMAGE as error:
        raise FileFormatError(f"{path} cannot be read ({error})", "a result that likewise saved") from error
    return _header_of(arrays.pop(_HEADER, None)), arrays


def arrays_of(path: PathLike) -> Arrays:
    """Return all arrays of an ``.npz`` file; what NumPy raises where it is damaged is among `ARRAY_DAMAGE`."""
    stored = np.load(path, allow_pickle=False)
    if isinstance(stored, np.ndarray):
        raise ValueError(f"it is a .npy file of one array of shape {stored.shape}, which numpy.load reads")
    with stored:
        return dict(stored)


def _header_of(stored: NDArray[Any] | None) -> dict[str, Any]:
    """Read bytes of JSON, or text, as estimates have it."""
    if stored is None:
        return {}
    try:
        return dict(json.loads(stored.tobytes() if stored.dtype == np.uint8 else str(stored)))
    except ARRAY_DAMAGE:
        return {}


def _check(header: dict[str, Any], arrays: Arrays, path: PathLike) -> None:
    found, version = header.get("format"), header.get("version")
    if found != FORMAT or not isinstance(version, int) or not 1 <= version <= VERSION:
        hint = "a newer likewise may read it" if found == FORMAT else ""
        raise FileFormatError(
            f"{path} is {found or 'no result of likewise'}, version {version}",
            f"{FORMAT}, version {VERSION}",
            hint,
        )
    if header.get("sha256") != _digest(header.get("content"), arrays):
        raise FileFormatError(
            f"{path} was altered: its checksum is not that of what it holds", "a result as it was saved"
        )


def _with_header(content: Any, arrays: Arrays) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, "sha256": _digest(content, arrays), "content": content}


def _digest(content: Any, arrays: Arrays) -> str:
    # Over what JSON holds and over type, shape and bits of every array: whatever is altered changes it.
    digest = sha256(json.dumps(content).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _kept(array: NDArray[Any], arrays: Arrays, names: dict[int, str]) -> str:
    """Put an array among those of the file, once; what several records share is one array."""
    # By identity: equal arrays that are different objects stay two, so that nothing is compared.
    name = names.setdefault(id(array), f"array_{len(names)}")
    arrays[name] = array
    return name


def _listed(array: NDArray[Any]) -> dict[str, Any]:
    """Write an array as its values, for a file that is text."""
    # Dates and spans as the integers they are kept as; the type beside them has their unit.
    plain = array.view(np.int64) if array.dtype.kind in "mM" else array
    return {
        "values": _tree(plain.ravel().tolist(), _listed, ""),
        "shape": list(array.shape),
        "dtype": array.dtype.str,
    }


def _tree(value: Any, keep: Keep, where: str) -> Any:
    """Write a value as JSON has it; what JSON lacks is an object with one telling key."""
    if isinstance(value, Enum):
        return {"enum": _name_of(type(value)), "value": value.value}
    if value is None or isinstance(value, str | bool | int | float | np.generic):
        return _leaf(value)
    if isinstance(value, date):
        return {"date": value.isoformat(), "with_time": isinstance(value, datetime)}
    if isinstance(value, np.ma.MaskedArray):
        raise OutputError(f"cannot store {where}, a masked array; {_WHAT_FITS}")
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return keep(value)
    return _tree_of_many(value, keep, where)


def _tree_of_many(value: Any, keep: Keep, where: str) -> Any:
    if isinstance(value, list | tuple):
        items = [_tree(item, keep, f"{where}[{i}]") for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, Mapping):
        items = [
            [_tree(key, keep, where), _tree(item, keep, f"{where}.{key}")] for key, item in value.items()
        ]
        return {"mapping": items}
    if isinstance(value, np.ndarray):
        return {"objects": _tree(value.ravel().tolist(), keep, where), "shape": list(value.shape)}
    parts = {name: _tree(part, keep, f"{where}.{name}") for name, part in _parts_of(value, where).items()}
    return {"record": _name_of(type(value)), "fields": parts}


def _leaf(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and not isfinite(plain):
        return {"number": str(plain)}
    return plain


def _parts_of(value: Any, where: str) -> dict[str, Any]:
    """Return what makes a record up."""
    if hasattr(value, "stored_parts"):
        return dict(value.stored_parts())
    if type(value).__name__ == _SPARSE and hasattr(value, "indptr"):
        return {"data": value.data, "indices": value.indices, "indptr": value.indptr, "shape": value.shape}
    ours = type(value).__module__.partition(".")[0] == "likewise"
    if not (ours and is_dataclass(value) and not isinstance(value, type)):
        raise OutputError(f"cannot store {where}, of type {type(value).__name__}; {_WHAT_FITS}")
    return {field.name: getattr(value, field.name) for field in kept_fields(value)}


def _name_of(kind: type) -> str:
    return _SPARSE if kind.__name__ == "csr_array" else f"{kind.__module__}.{kind.__qualname__}"


@dataclass(frozen=True)
class _Reader:
    """Makes what a tree was written from."""

    arrays: Arrays  # those beside the tree, by name
    others: Resolver  # finds classes outside the package, see `read_record`

    def thing(self, tree: Any) -> Any:
        """Return what a tree stands for."""
        if isinstance(tree, list):
            return [self.thing(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        kind = next((kind for kind in self._makers if kind in tree), "nothing that is known")
        return self._makers[kind](self, tree)

    def _record(self, tree: dict[str, Any]) -> Any:
        parts = {name: self.thing(part) for name, part in tree["fields"].items()}
        if tree["record"] == _SPARSE:
            from scipy.sparse import csr_array

            return csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"])
        kind = self._class_named(tree["record"])
        return kind.from_stored_parts(parts) if hasattr(kind, "from_stored_parts") else kind(**parts)

    def _class_named(self, name: str) -> Any:
        """Return a record of the package, or another class that is expected; a file cannot name anything else."""
        kind = _of_the_package(name) if _OURS.fullmatch(name) else self.others(name)
        if kind is None:
            raise ValueError(f"no record {name!r} is known here")
        return kind

    def _objects(self, tree: dict[str, Any]) -> NDArray[Any]:
        items = self.thing(tree["objects"])
        made = np.empty(len(items), dtype=object)
        made[:] = items
        return made.reshape(tree["shape"])

    def _values(self, tree: dict[str, Any]) -> NDArray[Any]:
        dtype = np.dtype(tree["dtype"])
        is_time = dtype.kind in "mM"
        values = np.array(self.thing(tree["values"]), np.int64 if is_time else dtype)
        return (values.view(dtype) if is_time else values).reshape(tree["shape"])

    def _date(self, tree: dict[str, Any]) -> date:
        return (datetime if tree["with_time"] else date).fromisoformat(tree["date"])

    _makers: ClassVar[dict[str, Callable[[_Reader, dict[str, Any]], Any]]] = {
        "record": _record,
        "tuple": lambda self, tree: tuple(self.thing(tree["tuple"])),
        "mapping": lambda self, tree: dict(self.thing(tree["mapping"])),
        "number": lambda _, tree: float(tree["number"]),
        "enum": lambda self, tree: self._class_named(tree["enum"])(tree["value"]),
        "date": _date,
        "array": lambda self, tree: self.arrays[tree["array"]],
        "objects": _objects,
        "values": _values,
    }
    """How each kind of object in a tree is made; the first key that it has says which."""


_MOVED = {
    "likewise.certificates.departure.FoldIn": "likewise.certificates.fitted_rows.FoldIn",
    "likewise.certificates.regression.RegressionMap": "likewise.certificates.regression_map.RegressionMap",
    "likewise.certificates.regression.RegressionMixture": "likewise.certificates.regression_map.RegressionMixture",
    "likewise.estimation.als.drift.Drift": "likewise.estimation.als.sources.Drift",
    "likewise.estimation.als.transformer.AlternatingLeastSquares": "likewise.estimation.als.solver.AlternatingLeastSquares",
    "likewise.estimation.base.normal_equations.Factors": "likewise.estimation.base.factor_update.Factors",
    "likewise.estimation.thresholding.optimal_shrinkers.OptimalShrinker": "likewise.estimation.thresholding.shrinkers.OptimalShrinker",
    "likewise.estimation.thresholding.rules.adaptive.Adaptive": "likewise.estimation.thresholding.rules.cross_validation.Adaptive",
    "likewise.estimation.thresholding.rules.noise_edges.NoiseEdge": "likewise.estimation.thresholding.rules.optimal.NoiseEdge",
    "likewise.estimation.thresholding.rules.noise_edges.SignFlipEdge": "likewise.estimation.thresholding.rules.optimal.SignFlipEdge",
    "likewise.fairness.metrics.violations.WorstPair": "likewise.fairness.metrics.worst_pairs.WorstPair",
    "likewise.fairness.search.explanation.Contribution": "likewise.fairness.explanation.Contribution",
    "likewise.fairness.search.explanation.DistanceExplanation": "likewise.fairness.explanation.DistanceExplanation",
    "likewise.fairness.search.explanation.PairExplanation": "likewise.fairness.explanation.PairExplanation",
    "likewise.fairness.metrics.target.Target": "likewise.fairness.metrics.target_accuracy.Target",
    "likewise.report.list_figures.ListFigures": "likewise.report.records.ListFigures",
    "likewise.report.repaired.RepairedPoint": "likewise.report.frontier_points.RepairedPoint",
    "likewise.spectrum.result.Completeness": "likewise.spectrum.request.Completeness",
    "likewise.spectrum.result.SingularTriplets": "likewise.spectrum.request.SingularTriplets",
}
"""Where classes that stand in earlier files are now."""


def _of_the_package(name: str) -> Any:
    module, _, attribute = _MOVED.get(name, name).rpartition(".")
    try:
        kind = getattr(import_module(module), attribute, None)
    except ModuleNotFoundError:
        return None
    is_record = is_dataclass(kind) or hasattr(kind, "from_stored_parts")
    return kind if isinstance(kind, type) and (is_record or issubclass(kind, Enum)) else None
