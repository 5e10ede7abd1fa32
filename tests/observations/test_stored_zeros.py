"""A stored zero is an observation: it survives every way in, every way through, and every way out."""

import copy
import gzip
import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from likewise.observations import ObservedMatrix, hold_out, read_ratings

DENSE = np.array([[0, np.nan, 4, 0], [np.nan, 0, -2, np.nan], [3, np.nan, 0, 1], [np.nan, 0, np.nan, 0]])
ROWS, COLUMNS = np.nonzero(~np.isnan(DENSE))
VALUES = DENSE[ROWS, COLUMNS]
SPARSE = sparse.coo_array((VALUES, (ROWS, COLUMNS)), shape=DENSE.shape)
NAMES = list("abcd")
ZEROS = [(0, 0), (0, 3), (1, 1), (2, 2), (3, 1), (3, 3)]

SOURCES = {
    "dense": lambda: DENSE,
    "dense float32": lambda: DENSE.astype(np.float32),
    "nested lists": DENSE.tolist,
    "masked": lambda: np.ma.masked_invalid(DENSE),
    **{kind: lambda kind=kind: SPARSE.asformat(kind) for kind in ("csr", "csc", "coo", "lil", "dok", "bsr")},
    "csr of integers": lambda: SPARSE.astype(np.int64).tocsr(),
    "csr matrix": lambda: sparse.csr_matrix(SPARSE),
    "unsorted csr": lambda: sparse.csr_array(([0.0, 4, 0], [3, 2, 0], [0, 3]), shape=(1, 4)),
    "pandas": lambda: pd.DataFrame(DENSE, columns=NAMES),
    "pandas nullable": lambda: pd.DataFrame(DENSE, columns=NAMES).convert_dtypes(),
    "polars": lambda: pl.DataFrame(DENSE, schema=NAMES).fill_nan(None),
    "arrow": lambda: pl.DataFrame(DENSE, schema=NAMES).fill_nan(None).to_arrow(),
    "arrow with nan": lambda: pa.table({name: DENSE[:, j] for j, name in enumerate(NAMES)}),
}


def triplet_lines(separator, header=""):
    lines = [
        separator.join([str(i), str(j), f"{x:g}"]) for i, j, x in zip(ROWS, COLUMNS, VALUES, strict=True)
    ]
    return (header + "\n".join(lines) + "\n").encode()


def grid(separator, missing):
    return (
        "\n".join(separator.join(missing if np.isnan(x) else f"{x:g}" for x in row) for row in DENSE) + "\n"
    ).encode()


def written(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


TRIPLETS = pl.DataFrame({"user": ROWS, "item": COLUMNS, "rating": VALUES})
WIDE = pl.DataFrame(DENSE, schema=NAMES).fill_nan(None)
FILES = {
    "ratings.dat": (triplet_lines("::"), {}),
    "u.data": (triplet_lines("\t"), {}),
    "csv": (triplet_lines(",", "userId,movieId,rating\n"), {}),
    "parquet": (written(TRIPLETS.write_parquet), {}),
    "parquet of integers": (written(TRIPLETS.cast({"rating": pl.Int8}).write_parquet), {}),
    "wide csv": (written(WIDE.write_csv), {"format": "wide"}),
    "wide parquet": (written(WIDE.write_parquet), {"format": "wide"}),
    "grid": (grid(" ", "-9"), {"format": "grid", "missing_value": -9}),
    "grid with gaps": (grid(",", ""), {"format": "grid"}),
    "csr npz": (written(lambda file: sparse.save_npz(file, SPARSE.tocsr())), {}),
    "coo npz": (written(lambda file: sparse.save_npz(file, SPARSE, compressed=False)), {}),
}


def zipped(content):
    def write(file):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("ratings", content)

    return written(write)


def assert_zeros_are_observed(Z, dense=DENSE):
    assert Z.n_observed == np.count_nonzero(~np.isnan(dense))
    np.testing.assert_array_equal(Z.to_dense(np.nan), dense)
    assert np.count_nonzero(Z.values.data == 0) == np.count_nonzero(dense == 0) > 0


def test_the_example_has_zeros():
    assert [tuple(pair) for pair in np.argwhere(DENSE == 0)] == ZEROS


@pytest.mark.parametrize("source", SOURCES)
def test_from_memory(source):
    dense = DENSE[:1] if source == "unsorted csr" else DENSE
    assert_zeros_are_observed(ObservedMatrix(SOURCES[source](), value_range=(-5, 5)), dense)


@pytest.mark.parametrize("duplicates", ["error", "first", "last", "mean"])
@pytest.mark.parametrize("shape", [None, (4, 4)])
def test_from_triplets(duplicates, shape):
    twice = (np.concatenate([ids, ids]) for ids in (ROWS, COLUMNS, VALUES))
    triplets = (ROWS, COLUMNS, VALUES) if duplicates == "error" else twice
    assert_zeros_are_observed(ObservedMatrix.from_triplets(*triplets, shape=shape, duplicates=duplicates))


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("wrap", [bytes, gzip.compress, zipped], ids=["plain", "gz", "zip"])
def test_from_files(tmp_path, kind, wrap):
    content, options = FILES[kind]
    path = tmp_path / "file"
    path.write_bytes(wrap(content))
    assert_zeros_are_observed(read_ratings(path, value_range=(-5, 5), **options))


@pytest.mark.parametrize(
    "through",
    [
        lambda Z: Z.scaled("symmetric").with_values(Z.values.data, (-5, 5)),
        lambda Z: Z.with_values(Z.values.data),
        lambda Z: Z.keep(np.ones(Z.n_observed, dtype=bool)),
        lambda Z: Z.take_rows([3, 2, 1, 0]).take_rows([3, 2, 1, 0]),
        lambda Z: Z.take_rows([True] * 4),
        lambda Z: ObservedMatrix(Z.values),
        lambda Z: ObservedMatrix(Z.zero_filled()),
        lambda Z: ObservedMatrix(Z.to_dense(np.nan)),
        lambda Z: ObservedMatrix.from_triplets(*Z.positions(), Z.values.data),
        lambda Z: pickle.loads(pickle.dumps(Z)),
        copy.deepcopy,
    ],
)
def test_through_every_operation(through):
    assert_zeros_are_observed(through(ObservedMatrix(DENSE, value_range=(-5, 5))))


def test_a_zero_stays_stored_where_it_is_the_middle_of_the_range():
    scaled = ObservedMatrix(DENSE, value_range=(-5, 5)).scaled("symmetric")
    assert_zeros_are_observed(scaled, DENSE / 5)


def test_a_zero_stays_stored_where_it_is_the_low_end():
    scaled = ObservedMatrix(np.abs(DENSE), value_range=(0, 5)).scaled("unit")
    assert_zeros_are_observed(scaled, np.abs(DENSE) / 5)


def test_a_value_that_scaling_makes_zero_stays_stored():
    Z = ObservedMatrix([[1, 3, 5, np.nan]], value_range=(1, 5)).scaled()
    np.testing.assert_array_equal(Z.values.data, [-1, 0, 1])
    np.testing.assert_array_equal(Z.values.indices, [0, 1, 2])


def test_zeros_are_held_out_and_kept_like_other_values():
    Z = ObservedMatrix(DENSE, value_range=(-5, 5))
    split = hold_out(Z, 0.5, random_state=0)
    assert np.count_nonzero(split.training.values.data == 0) + np.count_nonzero(split.values == 0) == len(
        ZEROS
    )
    together = split.training.to_dense(np.nan)
    together[split.rows, split.columns] = split.values
    np.testing.assert_array_equal(together, DENSE)


def test_zeros_survive_saving_and_reading_again(tmp_path):
    Z = ObservedMatrix(DENSE, value_range=(-5, 5))
    sparse.save_npz(tmp_path / "z.npz", Z.values)
    assert_zeros_are_observed(read_ratings(tmp_path / "z.npz"))
