"""Whatever an argument is, a reader of files works or raises one of our errors."""

import inspect
import warnings

import numpy as np
import polars as pl
import pytest

from likewise.errors import InputError, LikewiseWarning
from likewise.observations import read_pairs, read_ratings
from likewise.observations.reading import (
    TextOptions,
    read_groups_file,
    read_outputs_file,
    read_table,
)

HOSTILE = [
    None, True, 0, 1, -1, 2**70, 0.5, float("nan"), float("inf"), "", "user", "nobody", "\0", "\x1b[31m", b"user", (), [], ["user"], ["user", "user"],
    [None], [["user"]], {}, {"a": 1}, {1, 2}, object(), np.array([0, 1]), np.array("x"), np.float64(1), pl.DataFrame({"a": [1]}), range(2), int, lambda: 1,
]  # fmt: skip
ROWS = "user,item,rating,sex\nann,tea,5,f\nbob,tea,1,m\nbob,milk,3,NA\n"
READERS = {
    "ratings": read_ratings,
    "pairs": read_pairs,
    "outputs": lambda path, **options: read_outputs_file(path, ["ann", "bob"], **options),
    "groups": lambda path, **options: read_groups_file(path, ["ann", "bob"], **options),
    "table": read_table,
}
PARAMETERS = {
    "ratings": read_ratings,
    "pairs": read_pairs,
    "outputs": read_outputs_file,
    "groups": read_groups_file,
    "table": read_table,
}


def cases():
    for reader, function in PARAMETERS.items():
        for name in list(inspect.signature(function).parameters)[1:]:
            if name != "row_ids":
                yield reader, name


@pytest.mark.slow
@pytest.mark.parametrize(("reader", "name"), list(cases()))
def test_every_argument_of_every_reader(tmp_path, reader, name):
    file = tmp_path / "f.csv"
    file.write_text(ROWS)
    for value in HOSTILE:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LikewiseWarning)
                READERS[reader](file, **{name: value})
        except InputError:
            continue
        except Exception as error:
            raise AssertionError(f"{name}={value!r}") from error


@pytest.mark.parametrize("name", list(inspect.signature(TextOptions).parameters))
def test_every_option_of_text(tmp_path, name):
    file = tmp_path / "f.csv"
    file.write_text(ROWS)
    for value in HOSTILE:
        try:
            read_table(file, columns=["item", "sex"], text=TextOptions(**{name: value}))
        except InputError:
            continue
        except Exception as error:
            raise AssertionError(f"{name}={value!r}") from error


@pytest.mark.parametrize("reader", ["outputs", "groups"])
def test_every_kind_of_row_ids(tmp_path, reader):
    file = tmp_path / "f.csv"
    file.write_text("id,score\nann,1\nbob,2\n")
    for value in HOSTILE:
        try:
            PARAMETERS[reader](file, value)
        except InputError:
            continue
        except Exception as error:
            raise AssertionError(f"row_ids={value!r}") from error
