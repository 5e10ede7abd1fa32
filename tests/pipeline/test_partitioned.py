"""Audits of individuals who are drawn from blocks: whom they speak of, and that they find what an audit in memory finds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from likewise import audit, audit_partitioned
from likewise.certificates import Unavailable
from likewise.errors import InputError, MemoryLimitError, ObservationError
from likewise.estimation import SVT
from likewise.fairness import RowDistance, distance_by_name, measure_fairness, worst_pairs
from likewise.fairness.sampled.sampling import POPULATION
from likewise.observations import clustered
from likewise.observations.partitioned.parts import Parts
from likewise.observations.partitioned.reading import _read
from likewise.pipeline import worst_within, worst_within_blocks


@pytest.fixture(scope="module")
def observed():
    return clustered(400, 80, 4, observed_fraction=0.5, random_state=0).observed


def read_blocks(observed, folder, engine="serial", entries=3_000):
    rows, columns = observed.positions()
    frame = pl.DataFrame({"user": rows, "item": columns, "rating": observed.values.data})
    frame.write_parquet(folder / "ratings.parquet")
    parts = Parts.found(folder / "ratings.parquet", None, None, None)
    return _read(parts, (-1, 1), "error", engine, None, None, entries, owns_engine=True)


@pytest.fixture(scope="module")
def blocks(observed, tmp_path_factory):
    with read_blocks(observed, tmp_path_factory.mktemp("parts")) as read:
        yield read


def test_it_measures_what_the_same_individuals_measure_in_memory(observed, blocks):
    """All numbers of the arms, against a fit in memory of the others and outputs made by hand."""
    report = audit_partitioned(blocks, pairs=60, reference="observed", hold_out=0, random_state=3)
    drawn = np.sort(np.random.default_rng(3).choice(400, 2 * (60 + 6), replace=False))
    others = observed.take_rows(np.setdiff1d(np.arange(400), drawn))
    sample = observed.take_rows(drawn)
    complete = SVT(random_state=3).fit(others).transform(sample)
    d = distance_by_name("observed", sample, norm="l1")
    arms = {"without": sample.scaled().to_dense(missing=0), "with": complete}
    for name, rows in arms.items():
        fairness = report.arms[name].fairness
        everything = measure_fairness(rows, d)
        found = {(pair.left, pair.right): pair for pair in fairness.worst}
        assert fairness.n_individuals == 132
        assert fairness.n_pairs == 60
        assert fairness.max_ratio.value <= everything.max_ratio.value + 1e-6
        for left, right in list(found)[:3]:
            i, j = (sample.row_ids.tolist().index(one) for one in (left, right))
            np.testing.assert_allclose(
                found[left, right].output_distance, np.linalg.norm(rows[i] - rows[j]), rtol=1e-4
            )
            np.testing.assert_allclose(found[left, right].reference_distance, d.between([i], [j])[0])


def test_it_speaks_of_the_population_and_says_who_was_drawn(blocks):
    report = audit_partitioned(blocks, pairs=60, reference="observed")
    assert report.arms["with"].fairness.mean_ratio.population == POPULATION
    assert report.paired.population == POPULATION
    assert "132 of 400 individuals were drawn; the matrix was estimated from all others" in "\n".join(
        report.data.notes
    )
    assert report.arms["with"].error.rmse < report.arms["without"].error.rmse


def test_only_what_v_and_the_gains_tell_is_proved(blocks):
    """Theorem 4.1 and Corollary 4.2 are of the rows of the fit; those who were drawn are none of them."""
    found = audit_partitioned(blocks, estimator=SVT(6.0), pairs=20, reference="observed").certificates
    assert found.k_star.value > 0
    assert found.spectral.value > 0
    for gone in (found.k2, found.incoherent, found.corollary, found.printed_corollary, found.seen):
        assert isinstance(gone, Unavailable)
        assert "rows of the fit" in gone.reason
    assert found.incoherence is None


def test_an_algorithm_that_looks_at_others_speaks_of_those_who_were_drawn(blocks):
    report = audit_partitioned(blocks, pairs=60, reference="observed", model="knn")
    assert report.arms["with"].fairness.mean_ratio.population != POPULATION
    assert "the algorithm saw nobody but them" in "\n".join(report.data.notes)


@pytest.mark.slow
def test_what_was_held_out_compares(blocks):
    report = audit_partitioned(blocks, pairs=90, least_shared=3)
    assert report.truth is not None
    assert set(report.truth.arms) == {"without", "with"}


@pytest.mark.parametrize("estimator", [SVT(random_state=1), SVT(centering="biases", random_state=1)])
def test_intervals_hold_the_metrics_of_everybody(observed, blocks, estimator):
    """The mean ratio of all pairs, everybody folded into the estimate of everybody, lies where intervals of 99.9% say."""
    report = audit_partitioned(
        blocks, pairs=120, estimator=estimator, reference="observed", hold_out=0, confidence=0.999
    )
    complete = estimator.fit(observed).transform(observed)
    everything = measure_fairness(complete, distance_by_name("observed", observed, norm="l1"))
    found = report.arms["with"].fairness.mean_ratio
    assert found.low <= everything.mean_ratio.value <= found.high


def test_the_worst_within_blocks_are_those_of_each_group(observed, blocks, monkeypatch):
    monkeypatch.setattr(worst_within, "_GROUP_BYTES", 8 * 80 * 17)
    fitted = SVT(random_state=0).fit(blocks)
    found = worst_within_blocks(blocks, fitted, 5)
    expected = []
    for block in blocks.blocks:
        for start in range(block.start, block.stop, 17):
            rows = np.arange(start, min(start + 17, block.stop))
            if rows.size > 1:
                part = observed.take_rows(rows)
                complete = fitted.transform(part)  # the range is the working range, so units are the same
                d = distance_by_name("observed", part, norm="l1")
                D = RowDistance(complete, row_ids=part.row_ids)
                expected += worst_pairs(D, d, min(5, rows.size * (rows.size - 1) // 2)).pairs
    expected.sort(key=lambda pair: -pair.ratio)
    assert [(pair.left, pair.right) for pair in found.pairs] == [(p.left, p.right) for p in expected[:5]]
    np.testing.assert_allclose([p.ratio for p in found.pairs], [p.ratio for p in expected[:5]], rtol=1e-9)
    assert found.n_pairs == 400 * 399 // 2
    assert "a larger one may be among the others" in str(found)


def test_the_worst_by_hand(tmp_path):
    """Complete rows are those observed, but for bob's blank, which is 0: D of ann and bob is 1, d is 1."""
    lines = {
        "user": ["ann", "ann", "bob", "cat", "cat"],
        "item": ["x", "y", "x", "x", "y"],
        "rating": [1.0, 1.0, 1.0, -1.0, -1.0],
    }
    pl.DataFrame(lines).write_parquet(tmp_path / "1.parquet")
    with _read(Parts.found(tmp_path, None, None, None), (-1, 1), "error", "serial", None, None) as read:
        fitted = SVT(1e-9, shrinker="identity", random_state=0).fit(read)
        found = worst_within_blocks(read, fitted, 3)
    told = {(pair.left, pair.right): (pair.output_distance, pair.reference_distance) for pair in found.pairs}
    np.testing.assert_allclose(told["ann", "bob"], (1.0, 1.0), atol=1e-6)
    np.testing.assert_allclose(told["ann", "cat"], (8**0.5, 4.0), atol=1e-6)
    np.testing.assert_allclose(told["bob", "cat"], (5**0.5, 3.0), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["threads", *(pytest.param(e, marks=pytest.mark.slow) for e in ("processes", "dask"))]
)
def test_every_engine_finds_the_same(observed, tmp_path, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    found = []
    for name in ("serial", engine):
        with read_blocks(observed, tmp_path, name) as read:
            report = audit_partitioned(read, pairs=40, reference="observed", worst_within=3)
        record = {arm: measured.fairness.to_dict() for arm, measured in report.arms.items()}
        found.append((record, report.data.notes[-1]))
    assert found[0] == found[1]


@pytest.mark.slow
def test_what_a_search_found_is_on_the_first_screen(blocks):
    """Whoever asked for it read of drawn pairs alone, whose ratios are smaller."""
    report = audit_partitioned(blocks, pairs=20, reference="observed", worst_within=2)
    first = report.data.notes[-1].partition(": ")[2].partition(",")[0]
    said = f"Found by a search among {report.data.notes[-1].partition('among the ')[2].partition(' pairs')[0]} pairs"
    assert report.data.searched.startswith(said)
    assert f"ratio {first} (" in report.data.searched
    assert report.data.searched in " ".join(str(report).split())
    assert audit_partitioned(blocks, pairs=20, reference="observed").data.searched is None


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"pairs": 200}, ObservationError, "pairs=200, for which 440 of 400 individuals would be drawn"),
        ({"pairs": "all"}, InputError, "pairs='all'"),
        ({"pairs": 60, "memory_limit": 1000}, MemoryLimitError, "complete 132 x 80 matrices"),
        ({"pairs": 60, "reference": "nobody"}, InputError, "unknown reference 'nobody'"),
        (
            {"pairs": 60, "least_shared": 3, "reference": "observed"},
            InputError,
            "least_shared=3 beside reference",
        ),
        ({"pairs": 60, "worst_within": 0}, InputError, "worst_within=0"),
        (
            {"pairs": 60, "reference": "held-out", "hold_out": 0},
            InputError,
            "'held-out' without observations",
        ),
        ({"pairs": 60, "estimator": "cai-candes-shen"}, InputError, "for PartitionedMatrix"),
    ],
)
def test_what_is_refused(blocks, options, error, match):
    with pytest.raises(error, match=match):
        audit_partitioned(blocks, **options)


def test_what_is_in_memory_and_what_is_not_have_an_audit_each(observed, blocks):
    with pytest.raises(InputError, match="audit_partitioned audits individuals who are drawn"):
        audit(blocks)
    with pytest.raises(InputError, match="what read_partitioned returns"):
        audit_partitioned(observed)
