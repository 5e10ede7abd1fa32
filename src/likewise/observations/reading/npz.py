"""Read a sparse matrix that SciPy saved; nothing in the file is executed."""

from __future__ import annotations

import io

from scipy import sparse

from likewise.errors import FileFormatError
from likewise.observations.convert import to_table
from likewise.observations.reading.unpack import ZIP_DAMAGE, Source
from likewise.observations.table import Table

_DAMAGE = (*ZIP_DAMAGE, KeyError, TypeError, AttributeError, MemoryError)


def read_npz(source: Source) -> Table:
    """Read what `scipy.sparse.save_npz` wrote.

    Raises
    ------
    FileFormatError
        Damaged; not a sparse matrix; an object array, which would have to be unpickled.
    """
    try:
        matrix = sparse.load_npz(io.BytesIO(source.data))  # never unpickles
    except _DAMAGE as error:
        raise FileFormatError(
            f"{source.name} holds no sparse matrix ({error})", "a file written by scipy.sparse.save_npz"
        ) from error
    return to_table(matrix)
