"""Figures of distances in memory are the same whether numbers are sorted or counted in bins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.fairness import RowDistance, measure_arms
from likewise.fairness.exact import sweep


def measured(seed, monkeypatch, few, part, **options):
    rng = np.random.default_rng(seed)
    people = RowDistance(rng.integers(0, 3, (40, 3)).astype(float), "l1")  # zeros and ties
    outputs = {"a": rng.integers(0, 4, 40).astype(float), "b": rng.standard_normal((40, 2))}
    monkeypatch.setattr(sweep, "_FEW", few)
    monkeypatch.setattr(sweep, "_PART", part)
    monkeypatch.setattr(sweep, "_BLOCK_PAIRS", part)
    options = {
        "lipschitz": 0.6,
        "slack": 0.1,
        "quantiles": (0, 0.2, 0.5, 1),
        "groups": np.arange(40) % 2,
        **options,
    }
    return {
        name: found.to_dict()
        for name, found in measure_arms(outputs, people, streaming=False, **options).items()
    }


def without_sums(figures):
    """What is added up in blocks of other sizes may differ in the last digit."""
    if isinstance(figures, dict):
        return {name: without_sums(value) for name, value in figures.items()}
    if isinstance(figures, list):
        return [without_sums(value) for value in figures]
    return pytest.approx(figures, rel=1e-13, nan_ok=True) if isinstance(figures, float) else figures


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 50, 10**6]), st.sampled_from([7, [0.0, 0.3, 1.0]]))
@settings(max_examples=15)
def test_sorted_and_counted(seed, part, bins):
    with pytest.MonkeyPatch.context() as patch:
        sorted_ = measured(seed, patch, 10**9, part, bins=bins)
        counted = measured(seed, patch, -1, part, bins=bins)
    assert counted == without_sums(sorted_)
    for name in sorted_:
        for same in ("quantiles", "histogram"):
            assert counted[name][same] == sorted_[name][same]


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_number_of_threads_changes_no_bit(monkeypatch, threads):
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", "2")
    two = measured(0, monkeypatch, -1, 50)
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", threads)
    assert measured(0, monkeypatch, -1, 50) == two
