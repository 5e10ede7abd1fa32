"""`likewise demo` needs nothing and leaves a report; `likewise doctor` says what is here."""

import json
import platform

import numpy as np
import pytest

import likewise as package
from likewise.report.audit_report import FILES


@pytest.mark.slow
def test_the_demo_leaves_a_report_and_says_where(likewise, tmp_path, quick):
    ran = likewise("demo", "--out", tmp_path / "demo")
    assert (ran.code, ran.err) == (0, "")
    assert {path.name for path in (tmp_path / "demo").iterdir()} == set(FILES)
    assert f"Report: {tmp_path / 'demo' / 'report.html'}" in ran.out
    document = json.loads((tmp_path / "demo" / "report.json").read_text())
    assert document["data"]["source"] == "generated data"
    assert (document["data"]["n_individuals"], document["data"]["n_features"]) == (200, 800)


@pytest.mark.slow
def test_the_demo_takes_the_option_that_its_last_line_names(likewise, tmp_path, quick):
    answer = likewise("demo", "--out", tmp_path / "demo").out
    assert "--details" in answer
    ran = likewise("demo", "--out", tmp_path / "again", "--details")
    assert (ran.code, ran.err) == (0, "")
    assert "\nReference distance d\n" in ran.out


def test_the_doctor_names_versions_kernels_and_blas(likewise):
    ran = likewise("doctor")
    assert ran.code == 0
    lines = dict(line.split("  ", 1) for line in ran.out.splitlines())
    found = {name.strip(): value.strip() for name, value in lines.items()}
    assert found["likewise"] == package.__version__
    assert found["Python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["kernels"].startswith(("native", "scipy"))
    assert int(found["threads"]) >= 1
