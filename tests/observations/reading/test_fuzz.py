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
    outcomes = fuzz(2000, first=0, seconds=20)
    for kind in ("triplets", "wide", "Parquet", "JSON lines", "Netflix blocks"):
        read, refused = outcomes[f"whole, {kind}, read"], outcomes[f"whole, {kind}, refused"]
        assert read > 5
        assert refused < read / 5
        assert outcomes[f"damaged, {kind}, refused"] > 1
    assert outcomes["damaged, triplets, read"] > 5
    assert outcomes["outputs and groups, read"] > 20
