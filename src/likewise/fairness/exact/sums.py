"""Named counts, sums and maxima over pairs that can be merged, saved and taken up again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_LONG = 1 << 12


class Sums:
    """Counts, sums and maxima over some pairs.

    Parameters
    ----------
    added : dict of str to ndarray
        What adds up when other pairs come in.
    largest : dict of str to ndarray
        What takes the maximum.
    """

    def __init__(self, added: dict[str, Array], largest: dict[str, Array]) -> None:
        self.added, self.largest = added, largest

    def merge(self, other: Self) -> None:
        """Take in other pairs."""
        for name, array in other.added.items():
            self.added[name] += array
        for name, array in other.largest.items():
            np.maximum(self.largest[name], array, out=self.largest[name])

    def arrays(self) -> dict[str, Array]:
        """Return everything by name, as it is saved: of long arrays, which are mostly zero, what is not."""
        found = {}
        for name, array in self._named():
            if array.size < _LONG:
                found[name] = array
            else:
                found[f"{name}/places"] = np.flatnonzero(array)
                found[f"{name}/values"] = array[found[f"{name}/places"]]
        return found

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `arrays` returned.

        Raises
        ------
        KeyError, IndexError, ValueError
            Arrays of other names, types or shapes.
        """
        for name, array in self._named():
            if array.size < _LONG:
                saved, places = arrays[name], np.arange(array.size).reshape(array.shape)
            else:
                saved, places = arrays[f"{name}/values"], arrays[f"{name}/places"]
            if saved.shape != places.shape or saved.dtype != array.dtype:
                raise ValueError(f"{name} has another type or shape")
            array.ravel()[places] = saved

    def _named(self) -> Iterator[tuple[str, Array]]:
        for part, named in (("added", self.added), ("largest", self.largest)):
            for name, array in named.items():
                yield f"{part}/{name}", array
