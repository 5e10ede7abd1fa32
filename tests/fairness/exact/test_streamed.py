"""Streamed figures are those that are found in memory, for any data, whatever the blocks and threads."""

import math
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise import ObservedMatrix
from likewise._kernels import RELATIVE_WIDTH
from likewise.errors import ConstantOutputWarning, DistanceError
from likewise.fairness import (
    BracketedValue,
    CallableDistance,
    CoObservedDistance,
    ExactValue,
    ObservedDistance,
    RowDistance,
    measure_arms,
    measure_fairness,
)
from likewise.fairness.exact import blocks

PEOPLE = RowDistance([[0.0, 0.0], [1.0, 1.0], [0.0, 4.0], [3.0, 0.0]], "l1")  # d: 2, 4, 3, 4, 3, 7
OUTPUTS = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 4.0], [0.0, 0.0]])  # D: 1, 5, 0, sqrt(18), 1, 5


@pytest.fixture(autouse=True)
def many_small_blocks(monkeypatch):
    """Cut a few individuals as if they were many."""
    monkeypatch.setattr(blocks, "tile_width", lambda _: 12)
    monkeypatch.setattr(blocks, "_LEAST_ROWS", 8)
    monkeypatch.setattr(blocks, "_BLOCK_PAIRS", 10)


def both(outputs, reference, **options):
    """Figures in memory and streamed, over the same similar pairs: a share that ends within a bin is rounded up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantOutputWarning)
        streamed = measure_arms(outputs, reference, streaming=True, **options)
        one = next(iter(streamed.values()))
        options["nearest_share"] = one.similar.n_pairs / one.n_pairs
        return measure_arms(outputs, reference, streaming=False, **options), streamed


def assert_same(held, streamed):
    """All figures but order statistics are equal, and those lie in their brackets."""
    assert streamed.metrics().keys() == held.metrics().keys()
    for name, figure in held.metrics().items():
        found = streamed.metrics()[name]
        assert found.n_pairs == figure.n_pairs, name
        if isinstance(found, BracketedValue):
            assert found.low <= figure.value * (1 + 1e-12), name
            assert figure.value <= found.high * (1 + 1e-12), name
            assert found.high - found.low <= RELATIVE_WIDTH * found.low, name
        else:
            assert found.value == pytest.approx(figure.value, rel=1e-9, nan_ok=True), name
    for name in ("n_individuals", "n_pairs", "n_zero_distance", "n_infinite", "n_undefined"):
        assert getattr(streamed, name) == getattr(held, name), name
    assert streamed.similar.radius == held.similar.radius
    assert [(w.left, w.right) for w in streamed.worst] == [(w.left, w.right) for w in held.worst]


def random_case(seed, m, kind):
    rng = np.random.default_rng(seed)
    if kind == "equal people":
        reference = RowDistance(rng.integers(0, 3, (m, 2)).astype(float), "l1")
    elif kind == "undefined pairs":
        table = rng.integers(1, 6, (m, 5)).astype(float)
        table[rng.random(table.shape) < 0.6] = np.nan
        table[0, 0] = table[1, 0] = 3  # so that a pair is defined
        reference = CoObservedDistance(ObservedMatrix(table, value_range=(1, 5)))
    else:
        reference = RowDistance(rng.standard_normal((m, 12)))
    outputs = {"numbers": rng.integers(0, 3, m).astype(float), "rows": rng.standard_normal((m, 4))}
    groups = np.array(["a", "b", "c"])[rng.integers(0, 3, m)]
    groups[:2] = ["a", "b"]
    return outputs, reference, groups


KINDS = st.sampled_from(["equal people", "undefined pairs", "rows"])


def test_by_hand():
    figures = measure_fairness(OUTPUTS, PEOPLE, nearest_share=0.5, lipschitz=1.0, worst=2, streaming=True)
    ratios = [1 / 2, 5 / 4, 0, 18**0.5 / 4, 1 / 3, 5 / 7]
    assert figures.mean_ratio.value == pytest.approx(2 * sum(ratios) / 16)
    assert figures.max_ratio == ExactValue(1.25, 6)
    assert (figures.similar.n_pairs, figures.similar.radius) == (3, 3)
    assert figures.similar.output_gap.value == pytest.approx(2 / 3)
    assert figures.epsilon_delta.epsilon.tolist() == [2, 3, 4, 7]
    assert figures.epsilon_delta.delta.tolist() == [1, 1, 5, 5]
    assert [(pair.left, pair.right) for pair in figures.worst] == [(0, 2), (1, 2)]
    assert (figures.violations.n_violating, figures.violations.max_excess.value) == (2, 1)
    median = figures.quantiles[0.5]
    assert median.low <= 0.5 <= median.high < 0.5 * (1 + RELATIVE_WIDTH)
    assert figures.notes == ()


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(3, 30), KINDS, st.floats(0.01, 1))
def test_all_figures_are_those_found_in_memory(seed, m, kind, share):
    outputs, reference, groups = random_case(seed, m, kind)
    options = {"lipschitz": 0.7, "slack": 0.1, "groups": groups, "quantiles": (0, 0.3, 0.9, 1), "worst": 4}
    held, streamed = both(outputs, reference, nearest_share=share, n_neighbors=None, **options)
    for name in outputs:
        assert_same(held[name], streamed[name])
        near = streamed[name].similar.n_pairs
        assert near >= share * streamed[name].n_pairs * (1 - 1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(3, 25), KINDS)
@settings(max_examples=15)
def test_histogram_and_curve_hold_for_the_edges_that_they_state(seed, m, kind):
    outputs, reference, _ = random_case(seed, m, kind)
    arms = both(outputs, reference, bins=9)[1]
    d = reference.between(*np.triu_indices(m, 1))
    for name, figures in arms.items():
        D = RowDistance(outputs[name]).between(*np.triu_indices(m, 1))[~np.isnan(d)]
        ratios = np.array(
            [D[k] / x if x else math.inf if D[k] else 0.0 for k, x in enumerate(d[~np.isnan(d)])]
        )
        histogram, curve = figures.histogram, figures.epsilon_delta
        assert histogram.counts.sum() + histogram.above + histogram.infinite == figures.n_pairs
        slack = 1 + 1e-12  # distances of single pairs may differ in their last digits
        for edge, below in zip(histogram.edges[1:], np.cumsum(histogram.counts), strict=True):
            assert (ratios < edge / slack).sum() <= below <= (ratios <= edge * slack).sum()
        for epsilon, delta, n_pairs in zip(curve.epsilon, curve.delta, curve.n_pairs, strict=True):
            near = d[~np.isnan(d)] <= epsilon * slack
            assert n_pairs == near.sum()
            assert delta == pytest.approx(D[near].max(), rel=1e-9)
        assert curve.n_pairs[-1] == figures.n_pairs
    first, second = (figures.histogram.edges for figures in arms.values())
    assert first.tolist() == second.tolist()


def test_given_edges_are_kept():
    edges = [0, 0.3, 1 / 3, 0.5, 1.2]
    held, streamed = both({"a": OUTPUTS}, PEOPLE, bins=edges)
    assert streamed["a"].histogram.edges.tolist() == edges
    assert streamed["a"].histogram.counts.tolist() == held["a"].histogram.counts.tolist()
    assert streamed["a"].histogram.above == held["a"].histogram.above == 1


def test_infinite_ratios():
    people = RowDistance([[0.0], [0.0], [1.0], [3.0]], "l1")
    held, streamed = both({"a": np.arange(4.0)}, people, groups=["a", "a", "b", "b"], nearest_share=0.5)
    assert_same(held["a"], streamed["a"])
    assert streamed["a"].quantiles[0.99] == ExactValue(math.inf, 6)
    assert streamed["a"].finite_mean_ratio.value < streamed["a"].mean_ratio.value == math.inf


@pytest.mark.parametrize("threads", ["1", "3"])
def test_the_number_of_threads_changes_no_bit(monkeypatch, threads):
    outputs, reference, groups = random_case(5, 60, "rows")
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", "2")
    two = measure_fairness(outputs["rows"], reference, groups=groups, streaming=True).to_dict()
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", threads)
    assert measure_fairness(outputs["rows"], reference, groups=groups, streaming=True).to_dict() == two


def test_a_function_of_the_caller_is_called_from_one_thread(monkeypatch):
    import threading

    monkeypatch.setenv("LIKEWISE_NUM_THREADS", "3")
    callers = set()

    def apart(x, y):
        callers.add(threading.get_ident())
        return np.abs(x - y).sum(axis=1)

    numbers = np.random.default_rng(0).random((30, 2))
    measured = measure_fairness(numbers, CallableDistance(apart, numbers, vectorized=True), streaming=True)
    assert callers == {threading.get_ident()}
    assert measured.n_pairs == 435


def test_what_does_not_fit_into_memory_is_streamed(monkeypatch):
    assert isinstance(measure_fairness(OUTPUTS, PEOPLE).quantiles[0.5], ExactValue)
    monkeypatch.setattr("likewise.fairness.exact.measure.available_memory", lambda: 6 * 8 * 4 - 1)
    assert isinstance(measure_fairness(OUTPUTS, PEOPLE).quantiles[0.5], BracketedValue)


@pytest.mark.slow
def test_no_array_grows_with_the_number_of_pairs(monkeypatch):
    # How many threads are at their peak at once is chance; one thread's peak is not.
    monkeypatch.setenv("LIKEWISE_NUM_THREADS", "1")
    monkeypatch.setattr(blocks, "tile_width", lambda _: 1024)
    monkeypatch.setattr(blocks, "_LEAST_ROWS", 256)
    monkeypatch.setattr(blocks, "_BLOCK_PAIRS", 1 << 14)

    def peak(m):
        rng = np.random.default_rng(0)
        table = np.where(rng.random((m, 20)) < 0.3, rng.integers(1, 6, (m, 20)), np.nan)
        reference = ObservedDistance(ObservedMatrix(table, value_range=(1, 5)))
        tracemalloc.start()
        figures = measure_fairness(rng.random(m), reference, streaming=True)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert figures.n_pairs == m * (m - 1) // 2
        return found

    peak(100)  # tables that are made once
    n_bytes = 8 * (4000 * 3999 - 2000 * 1999) // 2
    assert peak(4000) - peak(2000) < n_bytes / 10


def test_ties_are_said_with_their_width():
    people = RowDistance([0.0, 1.0, 2.0 + 1e-5, 1e3])  # d: 1, 2.00001, 1000, 1.00001, 999, 997.99999
    figures = measure_fairness(np.arange(4.0), people, nearest_share=1 / 6, streaming=True)
    assert figures.similar.n_pairs == 2
    assert figures.similar.radius == pytest.approx(1.00001)
    assert "1 pairs tie, to within 0.02% of its distance," in figures.notes[0]


def test_nothing_defined():
    table = np.array([[1.0, np.nan], [np.nan, 2.0]])
    reference = CoObservedDistance(ObservedMatrix(table, value_range=(1, 5)))
    with pytest.raises(DistanceError, match="no pair has a defined distance"):
        measure_fairness([1.0, 2.0], reference, streaming=True)


def test_progress_counts_both_passes():
    seen = []
    outputs, reference, _ = random_case(0, 40, "rows")
    measure_fairness(
        outputs["rows"], reference, streaming=True, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (2 * 780, 2 * 780)
    assert len(seen) > 4


def test_bracketed_figures_print_and_export():
    figures = measure_fairness(OUTPUTS, PEOPLE, streaming=True)
    frame = figures.to_frame()
    row = frame.filter(frame["metric"] == "ratio_quantile_0.5").row(0, named=True)
    assert (row["kind"], row["value"]) == ("bracketed", row["high"])
    assert row["low"] <= 0.5 <= row["high"]
    assert figures.to_dict()["quantiles"]["0.5"]["kind"] == "bracketed"
    assert "0.5 to 0.5001" in str(figures)
