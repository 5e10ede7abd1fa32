"""The quick version of the benchmark: pairs that try to exceed every certificate, seen in the fit and not."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from likewise.certificates import AffineCertificate

pytestmark = pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("bench_certificates")


@pytest.mark.slow
def test_no_pair_exceeds_a_certificate_and_some_pair_attains_k_star(bench):
    findings = list(bench.soundness(effort=0.005))
    assert [str(finding) for finding in findings if finding.n_exceeding] == []
    assert sum(finding.n_pairs for finding in findings) > 10**6
    assert sum(isinstance(finding.bound, AffineCertificate) for finding in findings) == 5
    attained = [finding.share for finding in findings if finding.bound.name == "K*"]
    assert len(attained) == 3
    assert min(attained) > 0.99
    assert max(attained) <= 1 + 1e-6


def test_k_star_is_never_above_k2_as_printed(bench):
    order = bench.constants_in_order(np.random.default_rng(5), 25)
    assert order.n_estimates == 25
    assert 0 < order.largest_star_over_k2 <= 1


def test_a_constant_that_is_too_small_is_caught(bench):
    """The attack itself is tested: 2% off the exact constant and it is exceeded."""
    case = next(bench.preprocessing_cases(np.random.default_rng(0), 0.005))
    k_star = next(bound for bound in case.bounds if bound.name == "K*")
    case.bounds = [k_star.times(0.98)]
    assert bench.hold(case, np.random.default_rng(0), 0.005)[0].n_exceeding > 0
