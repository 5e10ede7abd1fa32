"""An audit keeps to its memory limit, measured by the operating system in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import numpy as np
from likewise import ObservedMatrix, audit

def highest():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024

rng = np.random.default_rng(0)
def ratings(m):
    Z = np.clip(rng.normal(size=(m, 3)) @ rng.normal(size=(3, 60)) * 3, -10, 10)
    Z[rng.random(Z.shape) < 0.4] = np.nan
    return ObservedMatrix(Z, value_range=(-10, 10))

audit(ratings(60), estimator="biases")  # what is imported and compiled once
Z = ratings(8_000)
before = highest()
report = audit(Z, estimator="biases", memory_limit="300 MiB")
print(report.main_arm.fairness.n_pairs, highest() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_an_audit_keeps_to_its_memory_limit():
    """Distances of the 32 million pairs, of d and of both arms, would take 768 MB."""
    ran = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    n_pairs, grown = ran.stdout.split()
    assert int(n_pairs) == 8_000 * 7_999 // 2
    assert float(grown) <= 300
