"""Files of every kind, whole and damaged, for a few seconds; `benchmarks/fuzz_reading.py` tries a hundred thousand."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")
def test_no_file_leads_to_a_traceback_or_to_another_count(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    fuzz = importlib.import_module("fuzz_reading").fuzz
    outcomes = fuzz(2000, first_seed=0, seconds=20, at_once=300)
    assert outcomes["whole, read"] > 50
    assert outcomes["whole, refused"] < outcomes["whole, read"] / 10
    assert outcomes["damaged, read"] > 5
    assert outcomes["damaged, refused"] > 20
    assert outcomes["outputs and groups, read"] > 20
