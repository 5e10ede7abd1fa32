"""Parts from the command line: what is written, what is said, and what is refused before the work."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from likewise import LowRankEstimate
from likewise.cli.main import run
from likewise.cli.values import is_partitioned
from likewise.observations import clustered


@pytest.fixture
def parts(tmp_path):
    observed = clustered(200, 60, 3, observed_fraction=0.4, random_state=0).observed
    rows, columns = observed.positions()
    frame = pl.DataFrame({"user": rows, "item": columns, "rating": observed.values.data})
    folder = tmp_path / "ratings"
    folder.mkdir()
    for number in range(3):
        frame[number::3].write_parquet(folder / f"{number}.parquet")
    return folder


def test_folders_and_patterns_mean_parts(parts):
    assert is_partitioned(parts)
    assert is_partitioned(str(parts / "*.parquet"))
    assert is_partitioned(str(parts.parent / "**" / "?.parquet"))
    for other in (parts / "0.parquet", parts / "[x-z]*.parquet", parts.parent / "nothere"):
        assert not is_partitioned(other)


def test_factors_are_written_and_the_copy_is_named(parts, tmp_path, capsys):
    out = tmp_path / "factors.npz"
    assert run(["estimate", str(parts), "--out", str(out), "--memory-limit", "4GiB"]) == 0
    said = capsys.readouterr().out
    assert "3 parts, sorted by individual in" in said
    assert "individuals from user, features from item, values from rating." in said
    assert "passes over the blocks" in said
    estimate = LowRankEstimate.load(out)
    assert estimate.shape == (200, 60)
    assert (
        run(["estimate", str(parts / "*.parquet"), "--out", str(out), "--estimator", "biases", "--quiet"])
        == 0
    )
    assert LowRankEstimate.load(out).rank == 0


def test_complete_rows_are_written_into_a_folder_of_parts(parts, tmp_path, capsys):
    out = tmp_path / "complete.parquet"
    assert run(["estimate", str(parts), "--out", str(out), "--memory-limit", "2GiB"]) == 0
    assert f"Complete rows: {out}" in capsys.readouterr().out
    assert pl.read_parquet(out / "*.parquet").shape == (200, 61)
    assert run(["estimate", str(parts), "--out", str(out)]) == 1
    assert "it is there already; remove it, or give another name" in capsys.readouterr().err


def test_one_large_file_of_text(parts, tmp_path, capsys):
    pl.read_parquet(parts / "*.parquet").write_csv(tmp_path / "ratings.csv")
    out = tmp_path / "factors.npz"
    assert run(["estimate", str(tmp_path / "ratings.csv"), "--engine", "threads", "--out", str(out)]) == 0
    assert "1 part, sorted by individual in" in capsys.readouterr().out
    assert LowRankEstimate.load(out).shape == (200, 60)


@pytest.mark.slow
def test_processes_write_the_same_bytes(parts, tmp_path):
    outs = [tmp_path / f"{engine}.npz" for engine in ("serial", "processes")]
    for out in outs:
        assert run(["estimate", str(parts), "--out", str(out), "--engine", out.stem, "--quiet"]) == 0
    first, second = map(LowRankEstimate.load, outs)
    for name in ("left", "singular_values", "right"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "spark"], "unknown engine 'spark'; expected one of 'serial', 'threads'"),
        (["--engine", "threads=2"], "--engine threads=2; expected threads alone"),
        (["--header"], "--header for Parquet parts; expected only --user, --item"),
        (
            ["--estimator", "cai-candes-shen"],
            "an estimator that needs passes over the rows alone: auto, svt, soft-impute, als or biases",
        ),
        (["--memory-limit", "1MiB"], "raise --memory-limit"),
        (["--pairs", "pairs.csv"], "--pairs for the parts of"),
        (["--scratch", "absent"], "cannot write a sorted copy to absent"),
    ],
)
def test_what_is_refused(parts, tmp_path, capsys, options, said):
    out = tmp_path / "factors.npz"
    assert run(["estimate", str(parts), "--out", str(out), *options]) in (1, 2)
    assert said in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.slow
def test_auto_chooses_and_says_what(parts, tmp_path, capsys):
    out = tmp_path / "factors.npz"
    assert run(["estimate", str(parts), "--out", str(out), "--estimator", "auto", "--engine", "threads"]) == 0
    told = capsys.readouterr().out
    assert "chosen automatically: " in told
    assert "held-out observations" in told
    assert LowRankEstimate.load(out).shape[1] > 0
    options = [
        "--estimator",
        "auto",
        "--pairs",
        "20",
        "--reference",
        "observed",
        "--quiet",
        "--engine",
        "serial",
    ]
    assert run(["audit", str(parts), *options, "--out", str(tmp_path / "report")]) == 0
    assert "chosen automatically: " in (tmp_path / "report" / "report.json").read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_audit_of_individuals_who_are_drawn(parts, tmp_path, capsys):
    options = [
        "--pairs",
        "40",
        "--reference",
        "observed",
        "--lipschitz",
        "9",
        "--out",
        str(tmp_path / "report"),
    ]
    options += ["--memory-limit", "2GiB", "--worst-within", "2", "--check", "gap<=99:warning"]
    assert run(["audit", str(parts), *options]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(
        "Individual fairness of the matrix itself on ratings, drawn from 200 individuals: 88 individuals, 60 features"
    )
    record = json.loads((tmp_path / "report" / "report.json").read_text())
    told = " ".join(record["data"]["notes"])
    assert "88 of 200 individuals were drawn; the matrix was estimated from all others" in told
    assert "of 19,900 pairs who stand together" in told
    again = tmp_path / "again.json"
    repeated = ["audit", str(parts), "--config", str(tmp_path / "report" / "config.toml")]
    assert run([*repeated, "--out", str(tmp_path / "other"), "--json", str(again), "--quiet"]) == 0
    assert json.loads(again.read_text())["arms"] == record["arms"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--outputs", "scores.csv"], "--outputs for Parquet parts"),
        (["--groups", "groups.csv"], "--groups for Parquet parts"),
        (["--splits", "2"], "--splits for Parquet parts"),
        (["--dry-run"], "--dry-run for Parquet parts"),
        (["--pairs", "100"], "--pairs 100, for which 220 of 200 individuals would be drawn"),
        (["--estimator", "cai-candes-shen"], "for PartitionedMatrix"),
        (["--engine", "spark"], "unknown engine 'spark'"),
    ],
)
def test_audits_that_are_refused(parts, capsys, options, said):
    asked = options if "--pairs" in options else [*options, "--pairs", "40"]
    assert run(["audit", str(parts), *asked]) == 1
    assert said in capsys.readouterr().err


def test_a_name_that_says_neither_factors_nor_rows(parts, tmp_path, capsys):
    assert run(["estimate", str(parts), "--out", str(tmp_path / "rows.csv")]) == 1
    assert "a name ending in .npz for factors, or in .parquet for a folder" in capsys.readouterr().err


def test_an_empty_folder(tmp_path, capsys):
    assert run(["estimate", str(tmp_path), "--out", str(tmp_path / "factors.npz")]) == 1
    assert "no parts in" in capsys.readouterr().err
