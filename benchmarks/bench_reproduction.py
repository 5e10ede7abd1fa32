"""One arm of one simulation of Experiment 1 (m=200, n=800, p=0.2): ours beside whole inputs, a forward pass an entry, and loops over pairs.

    python benchmarks/bench_reproduction.py [--arm f-released]

Needs PyTorch. Ours is what ``likewise reproduce`` does for an arm, on one thread: estimate, train, predict all entries, every metric over all pairs,
certificates and theorem checks. The plain way is what the released code does, in its manner, on as many threads as torch takes: an input of
length m + n for every entry, training and validation on these, a forward pass for each entry, loops over pairs in Python for the ratios on two
references, no certificates. The nets are the same, their seeds are not, so the ratios agree but for chance. Where the floor of the net lies is told by
``bench_dense_net.py``.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import sys
import time
from contextlib import nullcontext
from copy import deepcopy
from itertools import pairwise

import numpy as np

if importlib.util.find_spec("torch") is None:
    print("needs PyTorch: pip install 'likewise[dnn]'")
    sys.exit()

import torch

from likewise.observations.synthetic import ClusteredData
from likewise.reproduction import EXPERIMENTS
from likewise.reproduction.algorithm import resolve_algorithm
from likewise.reproduction.arms import resolve_arm
from likewise.reproduction.references import ReferenceDistances
from likewise.reproduction.simulation import as_dense, prepare, simulate
from likewise.reproduction.units import Unit, one_thread

EXPERIMENT, LEVEL = EXPERIMENTS["1"], 0.2


def ours(data: ClusteredData, arm: str, seed: int) -> tuple[float, float]:
    """Do what a run does for an arm; return the mean ratios on Z and on the truth."""
    record = simulate(data, EXPERIMENT, [resolve_arm(arm)], resolve_algorithm("dnn"), "dnn", "observed", seed)
    metrics = record["arms"][arm]["metrics"]
    return metrics["if1_observed"], metrics["if2_truth"]


def plain(data: ClusteredData, arm: str, seed: int) -> tuple[float, float]:
    """Do the same entry by entry and pair by pair."""
    prepared = prepare(resolve_arm(arm), EXPERIMENT, data.observed, ReferenceDistances.of(data), seed)
    features, Z = as_dense(prepared.features), data.observed.to_dense()
    m, n = features.shape
    inputs = np.vstack([np.concatenate((features[i], features[:, j])) for i in range(m) for j in range(n)])
    module = trained(inputs, Z.ravel(), data, np.random.default_rng(seed))
    outputs = np.zeros((m, n))
    with torch.no_grad():
        for i in range(m):
            for j in range(n):
                entry = np.concatenate((features[i], features[:, j]))[None, :]
                outputs[i, j] = 2 * module(torch.tensor(entry).float()).item() - 1
    return mean_ratio(outputs, Z, 1), mean_ratio(outputs, data.truth, 2)


def trained(
    inputs: np.ndarray, targets: np.ndarray, data: ClusteredData, generator: np.random.Generator
) -> torch.nn.Module:
    """Train the net of Section 6 on whole inputs; the best validated state is kept."""
    rows, columns = data.observed.positions()
    seen = generator.permutation(rows * data.truth.shape[1] + columns)
    learned, validated = seen[: int(0.8 * seen.size)], seen[int(0.8 * seen.size) :]
    sizes = (inputs.shape[1], 300, 100, 1)
    layers: list[torch.nn.Module] = []
    for taken, given in pairwise(sizes):
        layers += [torch.nn.Linear(taken, given), torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers[:-1], torch.nn.Sigmoid())
    optimiser, best = torch.optim.Adam(module.parameters(), lr=1e-3), (np.inf, module.state_dict())

    def error(entries: np.ndarray) -> torch.Tensor:
        outputs = 2 * module(torch.tensor(inputs[entries]).float()).ravel() - 1
        return ((outputs - torch.tensor(targets[entries]).float()) ** 2).mean()

    for step in range(1, 2001):
        optimiser.zero_grad()
        error(generator.choice(learned, 128, replace=False)).backward()
        optimiser.step()
        if step % 100 == 0:
            with torch.no_grad():
                found = error(validated).item()
            if found < best[0]:
                best = (found, deepcopy(module.state_dict()))
    module.load_state_dict(best[1])
    return module


def mean_ratio(outputs: np.ndarray, reference: np.ndarray, order: int) -> float:
    """Average the ratios in a loop over pairs."""
    m, total = len(outputs), 0.0
    for i in range(m):
        for j in range(m):
            if i != j:
                D = np.linalg.norm(outputs[i] - outputs[j])
                total += D / np.linalg.norm(reference[i] - reference[j], order)
    return total / m**2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arm", default="f-released")
    arm = parser.parse_args().arm
    generator, seed = Unit("1", LEVEL, 1).seeds(0)
    data = EXPERIMENT.data(LEVEL, generator)
    seconds = {}
    for name, way, threads in (("ours", ours, one_thread()), ("plain", plain, nullcontext())):
        wall, cpu = time.perf_counter(), time.process_time()
        with threads:
            ratios = way(data, arm, seed)
        seconds[name] = time.process_time() - cpu
        wall = time.perf_counter() - wall
        shown = " and ".join(f"{ratio:.4f}" for ratio in ratios)
        print(f"{name:<6} {seconds[name]:7.1f} s of CPU, {wall:7.1f} s of wall; IF_1(Z) and IF_2(A): {shown}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"ratio {seconds['plain'] / seconds['ours']:.1f}; peak memory of both {peak:.0f} MiB")


if __name__ == "__main__":
    main()
