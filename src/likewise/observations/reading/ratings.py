"""Read a sparse matrix that SciPy saved; nothing in the file is executed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from os import PathLike

from scipy import sparse

from likewise.errors import FileFormatError
from likewise.observations.column_scales import warn_of_unlike_columns
from likewise.observations.convert import to_table
from likewise.observations.observed_matrix import ObservedMatrix
from likewise.observations.reading.columns import Column
from likewise.observations.reading.layouts import Choices, Layout, read_grid, read_triplets, read_wide
from likewise.observations.reading.tabular import Tabular, is_parquet, open_parquet, open_text
from likewise.observations.reading.unpack import ARRAY_DAMAGE, Source, is_npz, unpack
from likewise.observations.table import DuplicateRule, Table, without_value
from likewise.observations.value_range import RangeChoice


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


def read_ratings(
    path: str | PathLike[str],
    *,
    format: Layout | None = None,
    user: Column | None = None,
    item: Column | None = None,
    rating: Column | None = None,
    columns: Sequence[Column] | None = None,
    id_columns: Column | Sequence[Column] | None = None,
    missing_value: float | None = None,
    value_range: RangeChoice = None,
    shape: tuple[int, int] | None = None,
    duplicates: DuplicateRule = "error",
    separator: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
) -> ObservedMatrix:
    r"""Read observations from a file; most files need nothing but their path.

    Three layouts are read. **Triplets**, one line an observation: MovieLens ``ratings.dat`` (``::``, with or without
    time) and ``u.data`` (tabs), any delimited text with or without a header, Parquet. **Wide** tables, one row an
    individual under a header, as of applicants and their marks: name the ``columns``. **Grids** of bare numbers, one row
    an individual. Besides, ``.npz`` files of `scipy.sparse.save_npz`. Any of these may be inside gzip or zip. What a
    file is, is found by looking into it, not by its name.

    Parameters
    ----------
    path : path-like
    format : {"triplets", "wide", "grid"}, optional
        The layout, where looking would go wrong: a grid of three or four columns looks like triplets.
    user, item, rating : str or int, optional
        Columns of triplets, by name or by position counted from 0. By default found by their usual names (``userId``,
        ``movie_id``, ``stars``...), or, where there is no header, the first three.
    columns : sequence of str or int, optional
        The features of a wide table, in this order. By default all but `id_columns`. An empty cell, or one that says NA,
        NaN or null, is missing.
    id_columns : str, int, or sequence of them, optional
        What names the individuals of a wide table; the parts of several are joined by ``/``. By default rows are
        numbered from 0.
    missing_value : float, optional
        A value that stands for "missing", such as 0 in a grid. Never assumed: without it every number is an observation. It is taken out
        before `duplicates` are looked for: a pair with an observation and a missing value has that observation, whichever comes last.
    value_range : (low, high), ValueRange, or "per-column", optional
        See `ObservedMatrix`.
    shape : (int, int), optional
        Size of the matrix for triplets with integer ids; see `ObservedMatrix.from_triplets`.
    duplicates : {"error", "first", "last", "mean"}
        What to do where triplets repeat a pair.
    separator : str, optional
        What separates fields, one character or more. By default found in the first line.
    header : bool, optional
        Whether the first line names the columns. By default found by looking for numbers in it.
    encoding : str

    Returns
    -------
    ObservedMatrix
        With the ids of the file: integers where all are written as integers are, else text. Its `notes` say what was
        found or inferred.

    Raises
    ------
    FileFormatError
        Missing, a directory, empty, binary, damaged, in another encoding or layout; with the first offending line.
    ObservationError
        Ids missing; repeated pairs; values that are not finite, outside the range, or all equal.
    ShapeError
        Ids that do not fit `shape`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ratings.dat"
    >>> _ = file.write_text("1::10::5::978300760\n1::20::0::978302109\n2::10::3::978301968\n")
    >>> read_ratings(file, value_range=(0, 5))
    ObservedMatrix(2 individuals x 2 features, 3 observed (75.000%), ValueRange(0 to 5))
    """
    choices = Choices(
        format=format,
        user=user,
        item=item,
        rating=rating,
        columns=None if columns is None else tuple(columns),
        id_columns=(id_columns,) if isinstance(id_columns, str | int) else tuple(id_columns or ()),
        missing_value=missing_value,
        shape=shape,
        duplicates=duplicates,
        separator=separator,
        header=header,
        encoding=encoding,
    )
    observed = ObservedMatrix.from_table(_read(unpack(path), choices), value_range)
    if choices.layout(False) == "wide":
        warn_of_unlike_columns(observed, stacklevel=2)
    return observed


def _read(source: Source, choices: Choices) -> Table:
    if is_npz(source.data):
        choices.refuse_idle(source.name, "matrix")
        return without_value(read_npz(source), choices.missing_value)
    if is_parquet(source):
        return _read_columns(open_parquet(source), choices)
    of_triplets = any(column is not None for column in choices.roles.values())
    text = open_text(source, choices.separator, choices.has_header, choices.encoding, of_triplets)
    return _read_columns(text, choices, "text")


def _read_columns(file: Tabular, choices: Choices, *kinds: str) -> Table:
    layout = choices.layout(file.is_bare)
    choices.refuse_idle(file.name, layout, *kinds)
    if layout == "triplets":
        return read_triplets(file, choices)
    if layout == "wide":
        table = read_wide(file, choices.columns, choices.id_columns)
    else:
        table = read_grid(file, note_if_full=choices.missing_value is None)
    return without_value(table, choices.missing_value)
