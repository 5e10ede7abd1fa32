"""An estimate in a file: arrays without pickle, so that opening a file never runs code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FileFormatError, InputError, OutputError
from likewise.estimation.base.folding import Folding, LinearFolding
from likewise.estimation.base.mixture_folding import FOLDINGS
from likewise.memory import ensure_fits
from likewise.observations import AffineScale
from likewise.stored import ARRAY_DAMAGE, arrays_of
from likewise.writing import PathLike, write_npz

FORMAT = "likewise.low-rank-estimate"
_VERSION = 2
_READABLE = (1, 2)
"""Version 1 had neither offsets nor another folding than the linear one."""
_FACTORS = ("left", "singular_values", "shrunk_values", "right")
_IDS = ("row_ids", "column_ids")
_SCALE = ("shift", "factor")
_OFFSETS = ("row_offsets", "column_offsets")
_FOLDING = "folding_"
"""What the names of the arrays of the folding begin with."""


def save_parts(parts: Mapping[str, Any], path: PathLike) -> None:
    """Write factors, scale and ids, the fields of a `LowRankEstimate` by name, to one ``.npz`` file.

    Raises `OutputError` where the file cannot be written, or ids are neither numbers nor text.
    """
    header = {
        "format": FORMAT,
        "version": _VERSION,
        "bounds": parts["scale"].bounds,
        "folding": parts["folding"].kind,
    }
    arrays = {"header": np.array(json.dumps(header))}
    arrays |= {name: parts[name] for name in _FACTORS}
    arrays |= {name: getattr(parts["scale"], name) for name in _SCALE}
    arrays |= {name: _storable(parts[name], name) for name in _IDS}
    arrays |= {name: offsets for name in _OFFSETS if (offsets := parts[name]) is not None}
    arrays |= {_FOLDING + name: array for name, array in parts["folding"].to_arrays().items()}
    write_npz(path, arrays)


def load_parts(path: PathLike) -> dict[str, Any]:
    """Read the fields of a `LowRankEstimate` that `save_parts` wrote.

    Raises `FileFormatError` for a file that is missing, damaged, not an estimate, of a newer format, with shapes that do not fit each other, or with
    a folding that this version does not know.
    """
    arrays = _arrays(path)
    bounds, kind = _checked_header(arrays.get("header"), path)
    missing = {*_FACTORS, *_IDS, *_SCALE} - set(arrays)
    if missing:
        raise FileFormatError(f"{path} has no {', '.join(sorted(missing))}", "a whole estimate")
    _check_shapes(arrays, path)
    return dict(
        **{name: arrays[name] for name in _FACTORS},
        scale=AffineScale(arrays["shift"], arrays["factor"], bounds),
        **{name: _as_python_text(arrays[name]) for name in _IDS},
        row_offsets=arrays.get("row_offsets"),
        column_offsets=arrays.get("column_offsets"),
        folding=_folding(kind, arrays, path),
    )


def check_estimate(estimate: Any, n_features: int) -> None:
    """Raise FileFormatError where the parts of an estimate from a file do not fit each other, or the estimator."""
    arrays = {
        name: part for name in (*_FACTORS, *_IDS, *_OFFSETS) if (part := getattr(estimate, name)) is not None
    }
    arrays |= {name: np.asarray(getattr(estimate.scale, name)) for name in _SCALE}
    _check_shapes(arrays, "the file")
    if arrays["column_ids"].size != n_features:
        raise FileFormatError(
            f"an estimate of {arrays['column_ids'].size} features of an estimator of {n_features}",
            "the same number",
        )


def _folding(kind: str, arrays: dict[str, NDArray[Any]], path: PathLike) -> Folding:
    if kind not in FOLDINGS:
        raise FileFormatError(f"{path} folds rows in by {kind!r}", f"one of {', '.join(FOLDINGS)}")
    own = {name.removeprefix(_FOLDING): array for name, array in arrays.items() if name.startswith(_FOLDING)}
    try:
        return FOLDINGS[kind].from_arrays(own)
    except (InputError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"{path} has a folding that cannot be used ({error})", "a whole estimate"
        ) from error


def _arrays(path: PathLike) -> dict[str, NDArray[Any]]:
    try:
        return arrays_of(path)
    except FileNotFoundError as error:
        raise FileFormatError(f"no file {str(path)!r}", "an estimate that was saved") from error
    except ARRAY_DAMAGE as error:
        raise FileFormatError(
            f"{path} is not an estimate ({error})", "a file that `likewise estimate` wrote"
        ) from error


def _checked_header(stored: NDArray[Any] | None, path: PathLike) -> tuple[tuple[float, float], str]:
    try:
        header = json.loads(str(stored))
        low, high = header["bounds"]
        found, version, folding = (
            header["format"],
            header["version"],
            header.get("folding", LinearFolding.kind),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise FileFormatError(f"{path} has no header of likewise", "an estimate that was saved") from error
    if found != FORMAT or version not in _READABLE:
        hint = "a newer likewise may read it" if found == FORMAT else ""
        raise FileFormatError(f"{path} is {found}, version {version}", f"{FORMAT}, version {_VERSION}", hint)
    return (float(low), float(high)), str(folding)


def _check_shapes(arrays: dict[str, NDArray[Any]], path: PathLike) -> None:
    m, n, rank = arrays["row_ids"].size, arrays["column_ids"].size, arrays["singular_values"].size
    expected: dict[str, list[tuple[int, ...]]] = {
        "left": [(m, rank)],
        "right": [(n, rank)],
        "singular_values": [(rank,)],
        "shrunk_values": [(rank,)],
        "shift": [(), (n,)],
        "factor": [(), (n,)],
        "row_offsets": [(m,)],
        "column_offsets": [(n,)],
    }
    for name in expected.keys() & arrays.keys():
        array, shapes = arrays[name], expected[name]
        if array.shape not in shapes or array.dtype.kind != "f" or not np.isfinite(array).all():
            raise FileFormatError(
                f"{name} in {path} is {array.dtype} of shape {array.shape}", f"finite numbers, {shapes[-1]}"
            )


def _storable(ids: NDArray[Any], name: str) -> NDArray[Any]:
    """Return ids as numbers or as text of fixed width, which is what a file without pickle can hold."""
    if not ids.dtype.hasobject:
        return ids
    listed = ids.tolist()
    # Fixed width text loses zero bytes at its end.
    unfit = [i for i in listed if not isinstance(i, str) or i.endswith("\0")]
    if unfit:
        kind = type(unfit[0]).__name__
        raise OutputError(f"cannot store {name} such as {unfit[0]!r} of type {kind}; use numbers or text")
    ensure_fits(4 * max(map(len, listed)) * len(listed), f"{name} as text of fixed width", "use shorter ids")
    return np.array(listed, dtype=np.str_)


def _as_python_text(ids: NDArray[Any]) -> NDArray[Any]:
    return ids.astype(object) if ids.dtype.kind == "U" else ids
