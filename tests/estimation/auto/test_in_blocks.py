"""The choice among estimators in passes over blocks: the same on every engine, never worse than biases, and said."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engines.failing import Failing

from likewise.engines import engine_of
from likewise.engines.checkpoint import Remembering
from likewise.engines.local import Serial
from likewise.errors import EngineError, EstimatorError, FileFormatError, InputError
from likewise.estimation import SVT, Auto, Biases, SoftImpute
from likewise.estimation.auto.candidates import BIASES, Candidate
from likewise.estimation.auto.in_blocks import HIDDEN
from likewise.estimation.auto.transformer import BlockSearch
from likewise.observations import ObservedMatrix, clustered
from likewise.observations.partitioned.matrix import split_entries


@pytest.fixture(scope="module")
def observed():
    return clustered(120, 60, 3, observed_fraction=0.4, random_state=0).observed


def quick(name, estimator, rank=0):
    return Candidate(name, lambda *_: estimator, lambda *_: 0.0, rank)


@pytest.fixture
def few(monkeypatch):
    kinds = ((quick("svt", SVT(2.0, random_state=0)),), (quick("soft", SoftImpute(3.0, random_state=0)),))
    monkeypatch.setattr(BlockSearch, "kinds", kinds)


def test_the_errors_are_those_of_fits_without_what_is_held_out(observed, tmp_path, few, in_blocks):
    blocks = in_blocks(observed, tmp_path)
    fitted = Auto(random_state=0).fit(blocks)
    seed = int(np.random.default_rng(0).integers(2**31))
    with split_entries(blocks, HIDDEN, seed) as (seen, pairs):
        training = seen.in_memory()
        hidden = np.vstack([seen.reader.read(pair[1]).toarray() for pair in pairs])
    held = hidden != 0
    for trial, estimator in zip(fitted.candidates_, (Biases(), SVT(2.0, random_state=0)), strict=False):
        errors = estimator.fit(training).estimate_.fold_in(training)[held] - hidden[held]
        assert trial.held_out_error == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-3)
    assert fitted.choice_.n_held_out == held.sum()
    assert fitted.choice_.name in {"svt", "soft"}
    assert f"chosen automatically: {fitted.choice_.name}, whose held-out error is" in fitted.notes_[0]
    np.testing.assert_allclose(fitted.transform(observed), fitted.estimate_.to_dense(), atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["threads", *(pytest.param(e, marks=pytest.mark.slow) for e in ("processes", "dask", "ray"))]
)
def test_every_engine_makes_the_same_choice(observed, tmp_path, few, engine, in_blocks):
    if engine in ("dask", "ray"):
        pytest.importorskip("distributed" if engine == "dask" else "ray")
    found = []
    with engine_of(engine) as running:
        for each in (Serial(), running):
            fitted = Auto(random_state=0).fit(in_blocks(observed, tmp_path, 4, each))
            found.append([fitted.choice_.lines, fitted.estimate_.left.tobytes()])
    assert found[0] == found[1]


def test_biases_stay_where_nothing_is_clearly_better(tmp_path, few, in_blocks):
    """Of noise about biases nothing predicts better; the choice is then biases whatever else was tried."""
    rng = np.random.default_rng(0)
    z = 0.4 * rng.normal(size=(100, 1)).clip(-1, 1) + 0.2 * rng.uniform(-1, 1, (100, 30))
    z[rng.random(z.shape) < 0.3] = np.nan
    fitted = Auto(random_state=0).fit(in_blocks(ObservedMatrix(z, value_range=(-1, 1)), tmp_path))
    assert fitted.choice_.name == "biases"
    assert fitted.rank_ == 0
    errors = [trial.held_out_error for trial in fitted.candidates_]
    assert len(errors) == 3


def test_a_budget_of_time_leaves_out_and_says_so(observed, tmp_path, in_blocks):
    fitted = Auto(time_budget=1e-6, random_state=0).fit(in_blocks(observed, tmp_path))
    assert fitted.choice_.name == "biases"
    assert any("svt was not tried" in note for note in fitted.notes_)
    with pytest.raises(InputError):
        Auto(time_budget=0.0).fit(in_blocks(observed, tmp_path))


def test_what_fails_is_told_and_what_stops_the_run_is_not_swallowed(
    observed, tmp_path, monkeypatch, in_blocks
):
    def failing(error):
        estimator = Biases()
        estimator._estimate_blocks = lambda _: (_ for _ in ()).throw(error)
        monkeypatch.setattr(BlockSearch, "kinds", ((quick("bad", estimator),),))
        return Auto(random_state=0).fit(in_blocks(observed, tmp_path))

    assert "failed: no" in failing(EstimatorError("no", "yes")).candidates_[1].remark
    for error in (EngineError("lost"), FileFormatError("block 0 is gone", "the file")):
        with pytest.raises(type(error)):
            failing(error)


def test_more_components_are_tried_as_long_as_they_help(observed, tmp_path, monkeypatch, in_blocks):
    ladder = tuple(
        quick(f"rank {k}", SVT(tau, random_state=0), k) for k, tau in ((1, 20.0), (3, 4.0), (60, 4.0))
    )
    monkeypatch.setattr(BlockSearch, "kinds", (ladder, (BIASES,)))
    fitted = Auto(random_state=0).fit(in_blocks(observed, tmp_path))
    names = [trial.name for trial in fitted.candidates_]
    assert names[:2] == ["biases", "rank 1"]
    assert {"rank 3", "rank 60"} >= set(names[2:-1])


@pytest.mark.slow
def test_the_candidates_themselves(observed, tmp_path, monkeypatch, in_blocks):
    """Of each kind the first is made and fitted; what is planned depends on sizes alone, so all are tried on any machine."""
    monkeypatch.setattr(BlockSearch, "kinds", tuple(ladder[:1] for ladder in BlockSearch.kinds))
    fitted = Auto(random_state=0).fit(in_blocks(observed, tmp_path))
    tried = [trial for trial in fitted.candidates_ if trial.was_tried]
    assert len(tried) == 5
    least = min(trial.held_out_error for trial in tried)
    assert [trial.held_out_error for trial in tried if trial.remark == "chosen"] == [least]
    assert least < tried[0].held_out_error


def test_too_few_to_compare_on(tmp_path, in_blocks):
    z = clustered(20, 10, 1, observed_fraction=0.5, random_state=0).observed
    fitted = Auto(random_state=0).fit(in_blocks(z, tmp_path))
    assert fitted.choice_.name == "biases"
    assert "too few to compare" in fitted.choice_.reason


@pytest.mark.slow
def test_a_choice_that_was_cut_off_goes_on(observed, tmp_path, few, in_blocks):
    whole, cut, rest = Failing(), Failing(), Failing()
    expected = Auto(random_state=0).fit(in_blocks(observed, tmp_path, 3, whole))
    cut.left = whole.done // 2
    with pytest.raises(EngineError), Remembering(cut, tmp_path / "kept") as engine:
        Auto(random_state=0).fit(in_blocks(observed, tmp_path, 3, engine))
    with Remembering(rest, tmp_path / "kept") as engine:
        found = Auto(random_state=0).fit(in_blocks(observed, tmp_path, 3, engine))
    assert rest.done == whole.done - cut.left
    assert found.choice_.lines == expected.choice_.lines
    assert found.estimate_.left.tobytes() == expected.estimate_.left.tobytes()


def test_what_needs_memory_is_refused(observed, tmp_path, in_blocks):
    for options in ({"max_lipschitz": 1.0}, {"sources": "all"}):
        with pytest.raises(EstimatorError, match="sources or max_lipschitz for PartitionedMatrix"):
            Auto(**options).fit(in_blocks(observed, tmp_path))
