"""A run that was cut off goes on from its folder: to the same bits, and without doing again what it had."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import numpy as np
import polars as pl
import pytest
from tests.engines.failing import Failing

from likewise import SVT, read_partitioned
from likewise._kernels.backend import use_native
from likewise.engines import engine_of
from likewise.engines.checkpoint import Remembering, digest_of
from likewise.engines.local import Serial
from likewise.errors import EngineError, InputError, OutputError
from likewise.observations import clustered


def power(block, shared):
    return (np.array([shared**block, 0.1 * block]),)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    observed = clustered(400, 500, 4, observed_fraction=0.3, random_state=0).observed
    rows, columns = observed.positions()
    folder = tmp_path_factory.mktemp("parts")
    pl.DataFrame({"user": rows, "item": columns, "rating": observed.values.data}).write_parquet(
        folder / "1.parquet"
    )
    return folder


def fitted(parts, engine, folder):
    options = {"value_range": (-1, 1), "engine": engine, "checkpoint": folder}
    with read_partitioned(parts, **options) as observed:
        return SVT("noise-edge", centering="biases", random_state=0).fit(observed)


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 1, 3, 6])
def test_a_fit_goes_on_to_the_same_bits(parts, tmp_path, after):
    whole = Failing()
    with read_partitioned(parts, value_range=(-1, 1), engine=whole) as observed:
        expected = SVT("noise-edge", centering="biases", random_state=0).fit(observed)
    with pytest.raises(EngineError, match="was lost"):
        fitted(parts, Failing(after), tmp_path)
    assert len(list(tmp_path.iterdir())) == after
    rest = Failing()
    found = fitted(parts, rest, tmp_path)
    assert rest.done == whole.done - after
    assert list(tmp_path.iterdir()) == []
    for name in ("left", "singular_values", "right", "column_offsets", "row_offsets"):
        assert getattr(found.estimate_, name).tobytes() == getattr(expected.estimate_, name).tobytes()


def test_the_folder_of_another_computation_is_refused(parts, tmp_path):
    with pytest.raises(EngineError):
        fitted(parts, Failing(2), tmp_path)
    with (
        Remembering(Serial(), tmp_path) as engine,
        pytest.raises(InputError, match="checkpoint of another computation"),
    ):
        engine.reduce(power, [1, 2], 3.0)


def test_two_runs_in_one_folder(tmp_path):
    first = Remembering(Serial(), tmp_path)
    with pytest.raises(EngineError, match="another run is at work in"):
        Remembering(Serial(), tmp_path)
    first.close()
    Remembering(Serial(), tmp_path).close()


def test_a_damaged_file_and_a_folder_that_is_none(tmp_path):
    with Remembering(Serial(), tmp_path / "sums") as engine:
        engine.reduce(power, [1, 2], 3.0)
        (tmp_path / "sums" / "000002.npz").write_bytes(b"PK half")
        with pytest.raises(InputError, match=r"000002\.npz cannot be read .* remove that file"):
            engine.reduce(power, [1, 2], 3.0)
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write a checkpoint to"):
        Remembering(Serial(), tmp_path / "file")


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[:0],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole.replace(np.array([6.0]).tobytes(), np.array([5.0]).tobytes()),
    ],
    ids=["empty", "cut off", "another number"],
)
def test_a_sum_that_was_damaged_is_named(tmp_path, damage):
    first = Remembering(Serial(), tmp_path)
    first.reduce(power, [1, 2], 2.0)
    first.close()
    stored = tmp_path / "000001.npz"
    whole = stored.read_bytes()
    stored.write_bytes(damage(whole))
    assert stored.read_bytes() != whole
    again = Remembering(Serial(), tmp_path)
    with again, pytest.raises(InputError, match=r"000001\.npz cannot be read .* remove that file"):
        again.reduce(power, [1, 2], 2.0)


@pytest.mark.parametrize("name", ["likewise.__version__", "likewise.engines.checkpoint.use_native"])
def test_a_sum_of_another_version_or_other_kernels_is_refused(tmp_path, monkeypatch, name):
    """They may round otherwise, so what goes on from them would have the bits of neither."""
    first = Remembering(Serial(), tmp_path)
    first.reduce(power, [1, 2], 2.0)
    first.close()
    monkeypatch.setattr(name, "0.0" if name.endswith("__") else lambda: not use_native())
    again = Remembering(Serial(), tmp_path)
    with again, pytest.raises(InputError, match="checkpoint of another computation"):
        again.reduce(power, [1, 2], 2.0)


def test_the_fingerprint_tells_what_a_sum_depends_on():
    a, b = np.arange(6.0), np.arange(6.0).reshape(2, 3)
    different = [
        a,
        b,
        a.astype(np.float32),
        (a, b),
        (b, a),
        [a],
        1,
        1.5,
        None,
        "a",
        power,
        partial(power, a),
        partial(power, b),
    ]
    assert len({digest_of(value) for value in different}) == len(different)
    assert digest_of((power, [a, b])) == digest_of((power, [a.copy(), b.copy()]))


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("distributed"), reason="dask is not installed")
def test_a_scheduler_that_is_lost_costs_nothing_that_was_done(parts, tmp_path):
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=1, processes=False, dashboard_address=None)
    engine = engine_of(Client(cluster.scheduler_address, timeout=60))
    reduce, asked = engine.reduce, []

    def lost_at_the_third(*arguments):
        asked.append(arguments)
        if len(asked) == 3:
            cluster.close()
        return reduce(*arguments)

    engine.reduce = lost_at_the_third
    with pytest.raises(EngineError, match="was lost"):
        fitted(parts, engine, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    with read_partitioned(parts, value_range=(-1, 1), engine="serial") as observed:
        expected = SVT("noise-edge", centering="biases", random_state=0).fit(observed)
    found = fitted(parts, "serial", tmp_path)
    assert found.singular_values_.tobytes() == expected.singular_values_.tobytes()
