"""Read a sparse matrix that SciPy saved; nothing in the file is executed."""

from __future__ import annotations

import io

from scipy import sparse

from likewise.errors import FileFormatError
from likewise.observations.convert import to_table
from likewise.observations.reading.unpack import ARRAY_DAMAGE, Source
from likewise.observations.table import Table


def read_npz(source: Source) -> Table:
    """Read what `scipy.sparse.save_npz` wrote.

    Raises
    ------
    FileFormatError
        Damaged; not a sparse matrix; an object array, which would have to be unpickled.
    """
    try:
        matrix = sparse.load_npz(io.BytesIO(source.data))  # never unpickles
    except ARRAY_DAMAGE as error:
        raise FileFormatError(
            f"{source.name} holds no sparse matrix ({error})", "a file written by scipy.sparse.save_npz"
        ) from error
    return to_table(matrix)
