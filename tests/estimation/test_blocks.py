"""Estimators on observations in blocks: what they find is what they find in memory."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from scipy.sparse import csr_array

from likewise import SVT, read_partitioned
from likewise.engines.checkpoint import Remembering
from likewise.engines.local import Serial, Threads
from likewise.errors import (
    ConvergenceWarning,
    EstimatorError,
    InputError,
    MemoryLimitError,
    OutputError,
    ShapeError,
    ThresholdError,
)
from likewise.estimation import AlternatingLeastSquares, Biases, CaiCandesShen, SoftImpute
from likewise.estimation.als.in_blocks import RowsInBlocks
from likewise.estimation.base import estimator as complete_rows
from likewise.estimation.base.block_preparation import prepare_blocks
from likewise.estimation.base.factor_update import Factors, ObservedRows
from likewise.estimation.base.preparation import prepare
from likewise.observations import clustered
from likewise.observations.partitioned.parts import Parts
from likewise.observations.partitioned.reading import _read
from likewise.spectrum import singular_triplets
from likewise.spectrum.operators import BlockRows


@pytest.fixture(scope="module")
def observed():
    return clustered(300, 120, 4, observed_fraction=0.4, random_state=0).observed


def parts_of(observed, folder):
    rows, columns = observed.positions()
    order = np.random.default_rng(0).permutation(rows.size)
    frame = pl.DataFrame({"user": rows, "item": columns, "rating": observed.values.data})[order]
    for number, lines in enumerate(np.array_split(np.arange(frame.height), 5)):
        frame[lines].write_parquet(folder / f"{number}.parquet")
    return Parts.found(folder, None, None, None)


@pytest.fixture(scope="module")
def blocks(observed, tmp_path_factory):
    parts = parts_of(observed, tmp_path_factory.mktemp("parts"))
    with _read(parts, observed.value_range, "error", "serial", None, None, 2_000) as read:
        yield read


@pytest.mark.parametrize("working_range", ["symmetric", "unit"])
@pytest.mark.parametrize("centering", ["none", "global", "row", "column", "biases"])
def test_svt_with_every_centre(observed, blocks, centering, working_range):
    options = {
        "threshold": "noise-edge",
        "centering": centering,
        "working_range": working_range,
        "random_state": 0,
    }
    there, here = SVT(**options).fit(blocks), SVT(**options).fit(observed)
    assert there.rank_ == here.rank_
    assert there.completeness_.proved
    np.testing.assert_allclose(there.threshold_, here.threshold_, rtol=1e-12)
    np.testing.assert_allclose(there.singular_values_, here.singular_values_, rtol=1e-6)
    np.testing.assert_allclose(there.estimate_.to_dense(), here.estimate_.to_dense(), atol=1e-4)
    np.testing.assert_allclose(there.transform(observed), here.transform(observed), atol=1e-4)


@pytest.mark.parametrize("centering", ["none", "biases"])
def test_memory_that_adds_by_the_same_rows_has_the_same_bits(observed, blocks, centering):
    """What differs from memory is the order of sums alone: the same matrix in memory, cut at the same rows, gives the same bits."""
    there = SVT("noise-edge", centering=centering, random_state=0).fit(blocks)
    in_files = prepare_blocks(blocks, "symmetric", centering)
    whole = sparse.vstack([in_files.reader.read(block) for block in blocks.blocks], format="csr")
    if centering == "none":
        np.testing.assert_array_equal(whole.data, prepare(observed, "symmetric", "none").matrix.data)

    class InMemory:
        def read(self, block, dtype):
            return csr_array(whole[block.start : block.stop], dtype=dtype)

    told = whole.shape, Threads(2), in_files.operator.energy, in_files.operator.largest_entry()
    operator = BlockRows(blocks.blocks, InMemory(), *told)
    here = singular_triplets(operator, above=there.threshold_, random_state=0)
    assert here.values.tobytes() == there.singular_values_.tobytes()
    assert here.right.astype(np.float64).tobytes() == there.estimate_.right.tobytes()


@pytest.mark.parametrize("regularization", [None, 0.0, 3.0])
def test_biases(observed, blocks, regularization):
    there, here = Biases(regularization).fit(blocks), Biases(regularization).fit(observed)
    np.testing.assert_allclose(there.estimate_.to_dense(), here.estimate_.to_dense(), atol=1e-9)
    assert there.notes_ == here.notes_


@pytest.mark.parametrize("threshold", ["noise-edge-residual", "universal", "paper-ratings", 5.0])
def test_rules_that_need_numbers_or_products(observed, blocks, threshold):
    there, here = SVT(threshold, random_state=0).fit(blocks), SVT(threshold, random_state=0).fit(observed)
    np.testing.assert_allclose(there.threshold_, here.threshold_, rtol=1e-6)


@pytest.mark.parametrize("threshold", ["sign-flip", "cross-validated", "screenot"])
def test_rules_that_need_more_are_refused(blocks, threshold):
    with pytest.raises(
        ThresholdError, match="for observations in blocks; expected a rule that needs numbers or products"
    ):
        SVT(threshold).fit(blocks)


def test_a_budget_is_kept(blocks):
    fitted = SVT(max_lipschitz=0.5, random_state=0).fit(blocks)
    assert fitted.budget_ is not None


def test_what_needs_all_rows_is_refused(blocks):
    for estimator in (
        SoftImpute(propensities="degrees"),
        CaiCandesShen(),
        SVT(propensities="degrees"),
        Biases(propensities="degrees"),
    ):
        with pytest.raises(EstimatorError, match="for PartitionedMatrix"):
            estimator.fit(blocks)


def test_a_limit_below_the_state_is_told(observed, tmp_path):
    match = r"singular vectors need .* MiB with the blocks in hand, 300\.0 MiB may"
    parts = parts_of(observed, tmp_path)
    with (
        _read(parts, (-1, 1), "error", "serial", "300 MiB", None) as read,
        pytest.raises(MemoryLimitError, match=match),
    ):
        SVT().fit(read)


def read_rows(folder):
    frame = pl.read_parquet(folder / "*.parquet")
    return frame[:, 0].to_list(), frame[:, 1:].to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [
        SVT(random_state=0),
        Biases(),
        SVT(centering="biases", random_state=0),
        SoftImpute(5.0, tol=1e-6, random_state=0),
    ],
)
def test_complete_rows_are_those_of_transform(observed, blocks, tmp_path, monkeypatch, estimator):
    monkeypatch.setattr(complete_rows, "_PART_BYTES", 8 * 120 * 11)  # eleven rows a file
    fitted = estimator.fit(blocks)
    fitted.transform_to_parquet(blocks, tmp_path / "complete")
    ids, rows = read_rows(tmp_path / "complete")
    assert ids == observed.row_ids.tolist()
    np.testing.assert_allclose(rows, fitted.transform(observed), atol=1e-12)
    np.testing.assert_allclose(rows, fitted.estimate_.to_dense(), atol=1e-5)
    assert len(list((tmp_path / "complete").iterdir())) >= 300 / 11


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_complete_rows_on_a_full_disk(blocks, tmp_path, monkeypatch):
    """The library that makes the file has an error of its own for it."""
    real = complete_rows.write_file
    monkeypatch.setattr(complete_rows, "write_file", lambda _, content: real("/dev/full", content))
    with pytest.raises(OutputError, match="No space left on device"):
        SVT(3.0).fit(blocks).transform_to_parquet(blocks, tmp_path / "rows")
    assert not list(tmp_path.iterdir())


def test_complete_rows_by_hand(tmp_path):
    """All mean 2, rows 1 and 3: with offsets alone and no penalty each row is its mean."""
    lines = {
        "user": ["ann", "ann", "bob", "bob"],
        "item": ["user", "tea"] * 2,
        "rating": [1.0, 1.0, 3.0, 3.0],
    }
    pl.DataFrame(lines).write_parquet(tmp_path / "ratings.parquet")
    with read_partitioned(tmp_path / "ratings.parquet", value_range=(0, 4), engine="serial") as read:
        Biases(regularization=0.0).fit(read).transform_to_parquet(read, tmp_path / "complete")
    frame = pl.read_parquet(tmp_path / "complete" / "*.parquet")
    assert frame.columns == ["user_id", "tea", "user"]
    assert [row[0] for row in frame.rows()] == ["ann", "bob"]
    np.testing.assert_allclose(frame[:, 1:].to_numpy(), [[1, 1], [3, 3]], atol=1e-12)


@pytest.mark.parametrize(
    "engine", ["threads", *(pytest.param(e, marks=pytest.mark.slow) for e in ("processes", "dask", "ray"))]
)
def test_every_engine_writes_the_same_rows(observed, tmp_path, engine):
    if engine in ("dask", "ray"):
        pytest.importorskip("distributed" if engine == "dask" else "ray")
    parts, found = parts_of(observed, tmp_path), []
    for name in ("serial", engine):
        with _read(parts, (-1, 1), "error", name, None, None, 2_000, owns_engine=True) as read:
            SVT(random_state=0).fit(read).transform_to_parquet(read, tmp_path / name)
        found.append(read_rows(tmp_path / name)[1].tobytes())
    assert found[0] == found[1]


def test_rows_that_cannot_be_written_leave_nothing(observed, blocks, tmp_path):
    fitted = Biases().fit(blocks)
    (tmp_path / "there").mkdir()
    with pytest.raises(OutputError, match="it is there already; remove it"):
        fitted.transform_to_parquet(blocks, tmp_path / "there")
    with pytest.raises(
        EstimatorError, match="ObservedMatrix to write complete rows of; expected observations that"
    ):
        fitted.transform_to_parquet(observed, tmp_path / "new")
    fewer = clustered(20, 10, 2, observed_fraction=0.9, random_state=0).observed
    with (
        _read(parts_of(fewer, tmp_path), (-1, 1), "error", "serial", None, None, 50) as read,
        pytest.raises(ShapeError, match="10 features, others than in the fit"),
    ):
        fitted.transform_to_parquet(read, tmp_path / "new")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(complete_rows, "write_file", full_disk)
        with pytest.raises(OutputError, match="No space left"):
            fitted.transform_to_parquet(blocks, tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["there"]


def full_disk(path, content):
    raise OutputError("cannot write a part: No space left on device; nothing was written")


ALS = {
    "estimated": {},
    "noise": {"noise": 0.2},
    "given": {"regularization": 0.3},
    "by count": {"regularization": 0.05, "by_count": True},
    "unit": {"working_range": "unit"},
}


@pytest.mark.slow
@pytest.mark.parametrize("options", ALS.values(), ids=ALS)
def test_least_squares(observed, blocks, options):
    """The same sweeps, but for the order of sums: which a hundred sweeps may make larger, so that 1e-6 is asked for."""
    asked = {"rank": 6, "random_state": 0, **options}
    there, here = (AlternatingLeastSquares(**asked).fit(seen) for seen in (blocks, observed))
    assert (there.rank_, there.n_iter_, there.converged_) == (here.rank_, here.n_iter_, True)
    assert there.passes_ >= there.n_iter_ + 3
    np.testing.assert_allclose(there.factor_fit_.objectives, here.factor_fit_.objectives, rtol=1e-9)
    np.testing.assert_allclose(there.estimate_.to_dense(), here.estimate_.to_dense(), atol=1e-6)
    np.testing.assert_allclose(there.transform(observed), here.transform(observed), atol=1e-6)
    np.testing.assert_allclose(there.transform(observed), there.estimate_.to_dense(), atol=1e-6)
    if there.noise_ is not None:
        np.testing.assert_allclose(there.noise_, here.noise_, rtol=1e-7)


@pytest.mark.slow
def test_idle_components_are_dropped_in_blocks_too(observed, blocks):
    there, here = (AlternatingLeastSquares(20, random_state=0).fit(seen) for seen in (blocks, observed))
    assert there.rank_ == here.rank_ < 20
    np.testing.assert_allclose(there.estimate_.to_dense(), here.estimate_.to_dense(), atol=1e-5)


def test_equations_of_columns_by_hand(tmp_path):
    """Two people, u = (2, a = 0.5) and (3, a = -1); of a column that both observed as 1 and -2: sums over people of f f^T and (z - a) f."""
    rows = Factors(np.array([[2.0, 0.5], [3.0, -1.0]]), np.array([[4.0, 1.0, 0.25], [9.0, -3.0, 1.0]]))
    equations = list(ObservedRows(csr_array(np.array([[1.0, -2.0]])), None, 1).equations(rows))
    _, grams, sides = equations[0]
    np.testing.assert_allclose(grams, [[4 + 9, 2 + 3, 2]])
    np.testing.assert_allclose(sides, [[2 * 0.5 + 3 * -1, 0.5 - 1]])
    turn = np.array([[2.0, 0.0], [0.0, 1.0]])
    turned = RowsInBlocks(grams, sides, np.eye(2)).turned(turn)
    expected = next(
        iter(ObservedRows(csr_array(np.array([[1.0, -2.0]])), None, 1).equations(rows.turned(turn)))
    )
    np.testing.assert_allclose(turned.grams, expected[1])
    np.testing.assert_allclose(turned.sides, expected[2])
    np.testing.assert_allclose(turned.moment, [[4, 0], [0, 1]])


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["threads", *(pytest.param(e, marks=pytest.mark.slow) for e in ("processes", "dask", "ray"))]
)
def test_least_squares_have_the_same_bits_on_every_engine(observed, tmp_path, engine):
    if engine in ("dask", "ray"):
        pytest.importorskip("distributed" if engine == "dask" else "ray")
    parts, found = parts_of(observed, tmp_path), []
    for name in ("serial", engine):
        with _read(parts, (-1, 1), "error", name, None, None, 2_000, owns_engine=True) as read:
            fitted = AlternatingLeastSquares(4, random_state=0).fit(read)
        found.append([part.tobytes() for part in (fitted.estimate_.left, fitted.estimate_.right)])
        found[-1].append(fitted.factor_fit_.objectives)
    assert found[0] == found[1]


def test_least_squares_say_what_they_cannot_do(observed, blocks, tmp_path):
    for options in ({"propensities": "degrees"}, {"max_lipschitz": 1.0}):
        with pytest.raises(EstimatorError, match="for PartitionedMatrix"):
            AlternatingLeastSquares(**options).fit(blocks)
    with pytest.raises(InputError, match="regularization so small that it is lost in rounding"):
        AlternatingLeastSquares(100, regularization=1e-300, max_iter=1).fit(blocks)
    with (
        _read(parts_of(observed, tmp_path), (-1, 1), "error", "serial", "322 MiB", None) as read,
        pytest.raises(MemoryLimitError, match=r"factors of rank 20 of 300 x 120 entries need .* MiB"),
    ):
        AlternatingLeastSquares().fit(read)
    with pytest.warns(ConvergenceWarning, match="not converged after 2 sweeps"):
        assert not AlternatingLeastSquares(3, max_iter=2, random_state=0).fit(blocks).converged_


@pytest.mark.slow
def test_with_a_checkpoint_rows_go_on_from_the_parts_that_were_whole(observed, tmp_path, monkeypatch):
    """Three parts are whole when the disk is full; they are not written again, another estimate takes none of them."""
    monkeypatch.setattr(complete_rows, "_PART_BYTES", 8 * 120 * 11)
    parts, written = parts_of(observed, tmp_path), []
    real = complete_rows.write_file

    def counted(path, content):
        if len(written) == 3:
            full_disk(path, content)
        written.append(path)
        real(path, content)

    def run(estimator, out, checkpoint=None):
        engine = Serial() if checkpoint is None else Remembering(Serial(), checkpoint)
        with engine, _read(parts, (-1, 1), "error", engine, None, None, 2_000) as read:
            estimator.fit(read).transform_to_parquet(read, out)
        return [(path.name, path.read_bytes()) for path in sorted(out.iterdir())]

    expected = run(Biases(), tmp_path / "expected")
    monkeypatch.setattr(complete_rows, "write_file", counted)
    with pytest.raises(OutputError, match="No space left"):
        run(Biases(), tmp_path / "out", tmp_path / "kept")
    assert not (tmp_path / "out").exists()
    first = list(written)
    monkeypatch.setattr(
        complete_rows, "write_file", lambda path, content: (written.append(path), real(path, content))
    )
    assert run(Biases(), tmp_path / "out", tmp_path / "kept") == expected
    assert len(set(written)) == len(written) == len(expected)
    assert written[:3] == first
    assert list((tmp_path / "kept").iterdir()) == []


def test_parts_of_another_estimate_are_not_taken(observed, blocks, tmp_path, monkeypatch):
    one, other = Biases(0.0).fit(blocks), Biases(3.0).fit(blocks)
    expected = other.transform(observed)
    keeping = replace(blocks, engine=Remembering(Serial(), tmp_path / "kept"))
    with monkeypatch.context() as patched:
        patched.setattr("likewise.writing.shutil.move", full_disk)
        with pytest.raises(OutputError):
            one.transform_to_parquet(keeping, tmp_path / "one")
    assert len(list((tmp_path / "kept").iterdir())) == 1
    other.transform_to_parquet(keeping, tmp_path / "other")
    np.testing.assert_allclose(read_rows(tmp_path / "other")[1], expected, atol=1e-12)


KILLED = """
import os, signal, sys
from likewise import SVT, read_partitioned
from likewise.estimation.base import estimator as complete_rows
folder, out, kept, parts = sys.argv[1:]
complete_rows._PART_BYTES = 8 * 120 * 11
real, left = complete_rows.write_file, [int(parts)]
def half_written(stream):
    stream.write(b"PAR1")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
def killing(path, content):
    left[0] -= 1
    real(path, half_written if left[0] == 0 else content)
complete_rows.write_file = killing
with read_partitioned(folder, value_range=(-1, 1), engine="serial", checkpoint=kept or None) as Z:
    SVT(random_state=0).fit(Z).transform_to_parquet(Z, out)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(observed, tmp_path):
    """Killed in the middle of the fifth part, then of the third of the rest; the last run writes what is left."""
    (tmp_path / "parts").mkdir()
    parts_of(observed, tmp_path / "parts")

    def run(out, kept, n_parts):
        told = [str(tmp_path / "parts"), str(tmp_path / out), kept and str(tmp_path / kept), str(n_parts)]
        return subprocess.run([sys.executable, "-c", KILLED, *told], check=False).returncode

    def whole():
        return len(list((tmp_path / "kept").glob("_files-*/*.parquet")))

    assert run("expected", "", 0) == 0
    assert [run("out", "kept", 5), run("out", "kept", 3)] == [-signal.SIGKILL] * 2
    assert whole() == 6
    assert run("out", "kept", 0) == 0
    names = [sorted(path.name for path in (tmp_path / name).iterdir()) for name in ("expected", "out")]
    assert names[0] == names[1]
    for name in names[0]:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes()


def test_a_fit_that_others_are_folded_into_holds_nobody(blocks):
    """As an audit of drawn individuals fits: no array has a row for each of those who stay, and folding in gives the same."""
    sample = blocks.take_rows([0, 1, 2])
    with blocks.without_rows([0, 1, 2]) as others:
        usual = SVT("noise-edge", random_state=0).fit(others).estimate_
    with blocks.without_rows([0, 1, 2], estimates_rows=False) as others:
        alone = SVT("noise-edge", random_state=0).fit(others).estimate_
        centre = Biases().fit(others).estimate_
    assert usual.shape == (297, 120)
    assert alone.shape == centre.shape == (0, 120)
    np.testing.assert_array_equal(alone.of_rows(sample).to_dense(), usual.of_rows(sample).to_dense())
    assert centre.of_rows(sample).shape == (3, 120)
