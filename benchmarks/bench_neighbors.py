"""Nearest neighbours on MovieLens 1M, shape 6040 x 3952: ours beside scikit-learn's, time and peak memory.

    LIKEWISE_DATA=... python benchmarks/bench_neighbors.py [--repeat 3]

Each case runs in a process of its own; the best of the repeats is shown. All that are Experiment 2 give the same outputs.

The floor: m^2 n / 2 = 7.2e10 multiply-adds for a dense B, m |Omega| / 2 = 3.0e9 for a sparse one, each pair being compared once;
191 MB are the outputs themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from likewise.inference import nearest_neighbor_outputs
from likewise.observations import read_ratings

K = 10


def zero_filled() -> sparse.csr_array:
    """Read the ratings, on [0, 1]."""
    path = Path(os.environ["LIKEWISE_DATA"]) / "ml-1m" / "ratings.dat"
    return read_ratings(path, shape=(6040, 3952), value_range=(0, 5)).scaled("unit").zero_filled()


def scikit_learn(B: np.ndarray) -> np.ndarray:
    """Do the same with scikit-learn's neighbours on a centred copy."""
    from sklearn.neighbors import NearestNeighbors

    centred = B - B.mean(axis=0)
    distances, nearest = (
        NearestNeighbors(n_neighbors=K, metric="cosine", algorithm="brute").fit(centred).kneighbors()
    )
    weights = np.maximum(1 - distances, 0)
    chosen = sparse.csr_array(
        (weights.ravel(), nearest.ravel(), np.arange(0, nearest.size + 1, K)), (len(B), len(B))
    )
    return (chosen @ B) / weights.sum(axis=1, keepdims=True)


CASES: dict[str, tuple[bool, Callable[..., np.ndarray]]] = {
    "likewise, sparse B": (False, lambda B: nearest_neighbor_outputs(B, K)),
    "likewise, dense B": (True, lambda B: nearest_neighbor_outputs(B, K)),
    "scikit-learn, dense B": (True, scikit_learn),
    "likewise, co-raters, 10": (False, lambda B: nearest_neighbor_outputs(B, K, average="co-raters")),
    "likewise, co-raters, all similar": (
        False,
        lambda B: nearest_neighbor_outputs(B, None, average="co-raters"),
    ),
}


def measure(case: str, repeat: int) -> dict[str, float]:
    """Run one case in this process."""
    is_dense, function = CASES[case]
    B = zero_filled()
    matrix = B.toarray() if is_dense else B
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = []
    for _ in range(repeat):
        began = time.perf_counter()
        outputs = function(matrix)
        seconds.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": min(seconds), "before": before, "peak": peak, "check": float(np.abs(outputs).sum())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--case", choices=CASES, help="run one case here and print JSON")
    options = parser.parse_args()
    if options.case:
        print(json.dumps(measure(options.case, options.repeat)))
        return
    print(f"{'case':34} {'seconds':>8} {'ratio':>6} {'MiB before':>11} {'MiB peak':>9}  sum of |outputs|")
    first = None
    for case in CASES:
        command = [sys.executable, __file__, "--case", case, "--repeat", str(options.repeat)]
        figures = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        first = first or figures["seconds"]
        print(
            f"{case:34} {figures['seconds']:8.2f} {figures['seconds'] / first:6.2f} {figures['before']:11.0f}"
            f" {figures['peak']:9.0f}  {figures['check']:.6f}"
        )


if __name__ == "__main__":
    main()
