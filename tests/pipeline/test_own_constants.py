"""Constants of single individuals: everybody's, in a file and in the report."""

from __future__ import annotations

import csv

import numpy as np
import polars as pl
import pytest

import likewise
from likewise.certificates import individual_constants
from likewise.errors import InputError, OutputError
from likewise.inference import SmoothNeighborModel
from likewise.observations import clustered

OPTIONS = {"progress": False, "reference": "observed", "hold_out": 0.0}
DATA = clustered(24, 40, 3, observed_fraction=0.5, random_state=2).observed


def named(names):
    return likewise.ObservedMatrix(DATA.to_dense(np.nan), value_range=(-1, 1), row_ids=names)


@pytest.mark.slow
def test_everybody_is_in_the_file_with_the_constant_of_the_estimate_and_of_the_outputs(tmp_path):
    data, file = named([f"p{i}" for i in range(24)]), tmp_path / "constants.csv"
    estimator = likewise.make_estimator("als", random_state=0)
    report = likewise.audit(
        data, estimator=estimator, model=SmoothNeighborModel(2.0), individual_constants=file, **OPTIONS
    )
    fitted = likewise.make_estimator("als", random_state=0).fit(data)
    by_hand = individual_constants(fitted.certificate_.regression, data.scaled("symmetric").values)
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["individual"] for row in rows] == [f"p{i}" for i in range(24)]
    assert [int(row["n_observed"]) for row in rows] == np.diff(data.values.indptr).tolist()
    np.testing.assert_allclose([float(row["constant_of_estimate"]) for row in rows], by_hand, rtol=1e-12)
    np.testing.assert_allclose([float(row["constant_of_outputs"]) for row in rows], 2 * by_hand, rtol=1e-9)
    assert report.individual_constants.to_frame().rows() == pl.read_csv(file).rows()


@pytest.mark.slow
def test_each_constant_bounds_the_pairs_of_its_individual(tmp_path):
    report = likewise.audit(
        DATA, estimator="als", model="identity", individual_constants=tmp_path / "c.csv", **OPTIONS
    )
    fitted = likewise.make_estimator("als", random_state=0).fit(DATA)
    outputs = fitted.estimate_.on_working_range().to_dense()
    d = likewise.fairness.PatternDistance(DATA, fitted.certificate_.regression.empty).block(0, 24)
    D = np.linalg.norm(outputs[:, None] - outputs, axis=2)
    own = report.individual_constants.outputs
    assert np.all(own[:, None] * d + 1e-9 >= D)
    assert np.all(own <= fitted.certificate_.regression.certificate.value * (1 + 1e-12))


@pytest.mark.slow
def test_an_algorithm_without_a_constant_leaves_its_column_empty(tmp_path):
    file = tmp_path / "c.csv"
    report = likewise.audit(DATA, estimator="als", individual_constants=file, random_state=0, **OPTIONS)
    assert report.individual_constants.outputs is None
    frame = pl.read_csv(file)
    assert frame["constant_of_outputs"].is_null().all()
    assert frame["constant_of_estimate"].is_not_null().all()


def test_outputs_from_elsewhere_beside_an_estimator_have_those_of_the_estimate(tmp_path):
    file = tmp_path / "c.csv"
    likewise.audit(DATA, outputs=np.arange(24.0), estimator="als", individual_constants=file, progress=False)
    assert len(pl.read_csv(file)) == 24


@pytest.mark.slow
def test_names_that_a_spreadsheet_would_run_are_quoted(tmp_path):
    file = tmp_path / "c.csv"
    data = named(["=1+1", *[f"p{i}" for i in range(23)]])
    report = likewise.audit(data, estimator="als", individual_constants=file, **OPTIONS)
    assert pl.read_csv(file)["individual"][0] == "'=1+1"
    assert report.individual_constants.to_frame()["individual"][0] == "=1+1"


@pytest.mark.slow
def test_a_saved_report_has_them_again(tmp_path):
    report = likewise.audit(DATA, estimator="als", individual_constants=tmp_path / "c.csv", **OPTIONS)
    report.save(tmp_path / "page")
    again = likewise.AuditReport.load(tmp_path / "page")
    assert again.individual_constants.to_frame().equals(report.individual_constants.to_frame())


@pytest.mark.parametrize(
    "asked",
    [{"estimator": "svt"}, {"outputs": np.arange(24.0)}],
    ids=["one constant for all", "no estimate"],
)
def test_where_there_are_none_it_is_said_and_no_file_is_left(asked, tmp_path):
    file = tmp_path / "c.csv"
    with pytest.raises(InputError, match="each row is a regression"):
        likewise.audit(DATA, individual_constants=file, progress=False, **asked)
    assert not file.exists()


def test_a_folder_that_is_not_there_is_found_before_the_work(tmp_path):
    with pytest.raises(OutputError):
        likewise.audit(DATA, individual_constants=tmp_path / "none" / "c.csv", progress=False)
