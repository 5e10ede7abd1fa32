"""The shared library of C kernels: finding it, loading it, and the layout of what its functions are handed.

The C code checks nothing. What is handed to it was checked by `checks` and laid out by the modules beside this one and `regressions`,
which alone call it.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_double, c_int32, c_int64, c_void_p
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from likewise._kernels.pair_sums import FIELDS

CACHE_LINE = 64


class Rows(ctypes.Structure):
    """``struct rows`` of products.c."""

    _fields_ = (
        ("n_columns", c_int64),
        ("n_dense", c_int64),
        ("pointers", c_void_p),
        ("columns", c_void_p),
        ("values", c_void_p),
        ("dense", c_void_p),
        ("dense_columns", c_void_p),
        ("column_bytes", c_int32),
        ("value_bytes", c_int32),
    )


class Panel(ctypes.Structure):
    """``struct panel`` of products.c."""

    _fields_ = (
        ("X", c_void_p),
        ("Y", c_void_p),
        ("given", c_void_p),
        ("product", c_void_p),
        ("stride", c_int64),
        ("used", c_int64),
        ("row_values", c_void_p),
        ("lines", c_int32),
        ("element_bytes", c_int32),
    )


class Packing(ctypes.Structure):
    """``struct packing`` of products.c."""

    _fields_ = (
        ("block", c_void_p),
        ("panel", c_void_p),
        ("order", c_void_p),
        ("stride", c_int64),
        ("used", c_int64),
        ("width", c_int64),
        ("n_parts", c_int64),
        ("part_stride", c_int64),
        ("element_bytes", c_int32),
    )


class Lists(ctypes.Structure):
    """``struct lists`` of pairs.c."""

    _fields_ = (
        ("n_rows", c_int64),
        ("n_columns", c_int64),
        ("tile", c_int64),
        ("row_pointers", c_void_p),
        ("list_pointers", c_void_p),
        ("row_columns", c_void_p),
        ("row_values", c_void_p),
        ("members", c_void_p),
        ("values", c_void_p),
        ("norms", c_void_p),
        ("first", c_int64),
        ("last", c_int64),
        ("value_bytes", c_int32),
    )


class Planes(ctypes.Structure):
    """``struct planes`` of planes.c."""

    _fields_ = (
        ("n_words", c_int64),
        ("n_segments", c_int64),
        ("ends", c_void_p),
        ("gaps", c_void_p),
        ("words", c_void_p),
        ("first", c_int64),
        ("last", c_int64),
    )


class Places(ctypes.Structure):
    """``struct places`` of entries.c."""

    _fields_ = (
        ("rank", c_int64),
        ("pointers", c_void_p),
        ("columns", c_void_p),
        ("left", c_void_p),
        ("right", c_void_p),
        ("entries", c_void_p),
    )


class Expansion(ctypes.Structure):
    """``struct expansion`` of expansion.c."""

    _fields_ = (
        ("n_rows", c_int64),
        ("n_others", c_int64),
        ("products", c_void_p),
        ("sizes", c_void_p),
        ("other_sizes", c_void_p),
        ("doubt", c_double),
        ("resolution", c_double),
    )


class Regressions(ctypes.Structure):
    """``struct regressions`` of regressions.c."""

    _fields_ = (
        ("n_rows", c_int64),
        ("d", c_int64),
        ("grams", c_void_p),
        ("sides", c_void_p),
        ("drawn", c_void_p),
        ("precision", c_void_p),
        ("multiples", c_void_p),
        ("noise", c_double),
        ("lost", c_double),
        ("means", c_void_p),
        ("moments", c_void_p),
        ("pivots", c_void_p),
        ("sums", c_void_p),
        ("room", c_void_p),
        ("uncertain", c_int32),
    )


class Block(ctypes.Structure):
    """``struct block`` of pair_sums.c."""

    _fields_ = (
        ("start", c_int64),
        ("stop", c_int64),
        ("first", c_int64),
        ("last", c_int64),
        ("reference", c_void_p),
        ("output", c_void_p),
        ("packed", c_int32),
    )


class Edges(ctypes.Structure):
    """``struct edges`` of pair_sums.c."""

    _fields_ = (("length", c_int64), ("values", c_void_p), ("before", c_void_p))


class Limits(ctypes.Structure):
    """``struct limits`` of pair_sums.c."""

    _fields_ = (
        ("near", c_double),
        ("lipschitz", c_double),
        ("slack", c_double),
        ("epsilon", Edges),
        ("histogram", Edges),
        ("groups", c_void_p),
        ("n_groups", c_int64),
        ("has_condition", c_int32),
    )


class Sums(ctypes.Structure):
    """``struct sums`` of pair_sums.c."""

    _fields_ = (
        ("counts", c_void_p),
        ("totals", c_void_p),
        ("largest", c_void_p),
        ("epsilon_counts", c_void_p),
        ("epsilon_largest", c_void_p),
        ("histogram", c_void_p),
        ("ratio_bins", c_void_p),
        ("excess_bins", c_void_p),
        ("groups", c_void_p),
        ("group_largest", c_void_p),
        ("individuals", c_void_p),
        ("n_individuals", c_int64),
    )


class Largest(ctypes.Structure):
    """``struct largest`` of pair_sums.c."""

    _fields_ = (
        ("room", c_int64),
        ("length", c_int64),
        ("floor", c_double),
        ("ratio", c_void_p),
        ("output", c_void_p),
        ("reference", c_void_p),
        ("left", c_void_p),
        ("right", c_void_p),
    )


_OF_PAIRS = (Block, Edges, Limits, Sums, Largest)
STRUCTURES = (Rows, Panel, Packing, Lists, Planes, Places, Expansion, Regressions, *_OF_PAIRS)


def is_built() -> bool:
    """Whether the compiled kernels are installed and load here."""
    return _load() is not None


def library() -> ctypes.CDLL:
    """Return the library, which `is_built` said is there."""
    loaded = _load()
    assert loaded is not None
    return loaded


@cache
def instruction_set() -> int:
    """Return the number of the best instruction set that this processor has."""
    return int(library().likewise_instruction_sets()) - 1


@cache
def read_ahead() -> int:
    """Return how many column indices the kernels read beyond the end of a row."""
    return int(library().likewise_read_ahead())


@cache
def lanes() -> int:
    """Return how many regressions the kernels solve side by side."""
    return int(library().likewise_lanes())


def instruction_set_name() -> str:
    """Return its name: ``"baseline"``, ``"avx2"`` or ``"avx512"``."""
    name: bytes = library().likewise_instruction_set_name(instruction_set())
    return name.decode()


def address(array: NDArray[Any] | None, *index: int) -> int | None:
    """Return where an array, or one element of it, lies in memory."""
    if array is None:
        return None
    offset = sum(position * stride for position, stride in zip(index, array.strides, strict=False))
    return int(array.ctypes.data) + offset


S = TypeVar("S", bound=ctypes.Structure)


def filled(structure: type[S], **parts: Any) -> S:
    """Return a structure that C reads; of an array it holds where that lies, so the array must be kept while C runs."""
    return structure(
        **{name: address(part) if isinstance(part, np.ndarray) else part for name, part in parts.items()}
    )


def aligned(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a new array, not initialised, that starts on a cache line."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.empty(n_bytes + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


@cache
def _load() -> ctypes.CDLL | None:
    spec = find_spec("likewise._kernels._native")
    if spec is None or spec.origin is None:
        return None
    try:
        return declared(ctypes.CDLL(spec.origin))
    except (OSError, AttributeError):  # built for another system, or from other sources
        return None


def declared(loaded: ctypes.CDLL) -> ctypes.CDLL:
    """Declare the functions of a library, after checking that it was built for these structures."""
    for structure in STRUCTURES:
        size = getattr(loaded, f"likewise_size_of_{structure.__name__.lower()}")
        size.restype = c_int64
        if size() != ctypes.sizeof(structure):
            raise AttributeError(f"the library was built for another {structure.__name__}")
    for record, names in FIELDS.items():
        fields = getattr(loaded, f"likewise_fields_of_{record}")
        fields.restype = c_char_p
        if fields().decode().split() != list(names or ()):
            raise AttributeError(f"the library was built for other {record}")
    _declare_results(loaded)
    return _declare_arguments(loaded)


def _declare_results(loaded: ctypes.CDLL) -> None:
    for name in ("instruction_sets", "read_ahead", "copies", "lanes"):
        getattr(loaded, f"likewise_{name}").restype = c_int32
    for name in ("count_pairs", "expand", "solve"):
        getattr(loaded, f"likewise_{name}").restype = c_int64
    loaded.likewise_instruction_set_name.restype = c_char_p
    for function in (
        loaded.likewise_sweep,
        loaded.likewise_walk,
        loaded.likewise_compare_planes,
        loaded.likewise_pack,
        loaded.likewise_unpack,
        loaded.likewise_entries,
        loaded.likewise_add_pairs,
    ):
        function.restype = None


def _declare_arguments(loaded: ctypes.CDLL) -> ctypes.CDLL:
    share = (c_int64, c_int64)
    pointer = ctypes.POINTER
    loaded.likewise_instruction_sets.argtypes = loaded.likewise_read_ahead.argtypes = ()
    loaded.likewise_instruction_set_name.argtypes = (c_int32,)
    loaded.likewise_sweep.argtypes = (c_int32, pointer(Rows), *share, pointer(Panel))
    loaded.likewise_walk.argtypes = (c_int32, pointer(Lists), c_int64, *share, *(c_void_p,) * 4)
    loaded.likewise_compare_planes.argtypes = (c_int32, pointer(Planes), c_int64, *share, c_void_p)
    loaded.likewise_entries.argtypes = (pointer(Places), *share)
    loaded.likewise_copies.argtypes = loaded.likewise_lanes.argtypes = ()
    loaded.likewise_solve.argtypes = (c_int32, pointer(Regressions))
    loaded.likewise_expand.argtypes = (c_int32, pointer(Expansion))
    loaded.likewise_add_pairs.argtypes = (c_int32, *map(pointer, (Block, Limits, Sums, Largest)))
    loaded.likewise_count_pairs.argtypes = (c_int32, pointer(Block), c_void_p, c_void_p)
    for function in (loaded.likewise_pack, loaded.likewise_unpack):
        function.argtypes = (pointer(Packing), *share)
    return loaded
