"""One arm of one simulation of Experiment 1 (m=200, n=800, p=0.2): ours beside one forward pass an entry and loops over pairs.

    python benchmarks/bench_reproduction.py [--arm f-released]

Needs PyTorch. One thread. Ours is what ``likewise reproduce`` does for an arm: estimate, train, predict all entries, every figure over all pairs,
certificates and theorem checks. The plain way does what the released code does after training, in its manner: a forward pass for each entry from an
input of length m + n, then loops over pairs in Python for the ratios on two references; it trains as ours does, and has no certificates. Both
ratios must agree. Where the floor lies for the net is told by ``bench_dense_net.py``.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import sys
import time

import numpy as np

if importlib.util.find_spec("torch") is None:
    print("needs PyTorch: pip install 'likewise[dnn]'")
    sys.exit()

import torch

from likewise.inference import DenseNet, NetSettings, train_dense_net
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction import EXPERIMENTS
from likewise.reproduction.algorithm import resolve_algorithm
from likewise.reproduction.arms import resolve_arm
from likewise.reproduction.simulation import as_dense, prepare, simulate
from likewise.reproduction.units import Unit
from likewise.reproduction.work import one_thread
from likewise.reproduction.yardsticks import Yardsticks

EXPERIMENT, LEVEL = EXPERIMENTS["1"], 0.2


def ours(data: ClusteredData, arm: str, seed: int) -> tuple[float, float]:
    """Do what a run does for an arm; return the mean ratios on Z and on the truth."""
    record = simulate(
        data, EXPERIMENT, [resolve_arm(arm)], resolve_algorithm("dnn"), "dnn", data.observed.values, seed
    )
    figures = record["arms"][arm]["figures"]
    return figures["if1_observed"], figures["if2_truth"]


def plain(data: ClusteredData, arm: str, seed: int) -> tuple[float, float]:
    """Do the same entry by entry and pair by pair."""
    prepared = prepare(resolve_arm(arm), EXPERIMENT, data.observed, Yardsticks.of(data), seed)
    features = as_dense(prepared.features)
    net = train_dense_net(
        features, data.observed.values, settings=NetSettings(n_threads=1), random_state=seed
    )
    outputs = entry_by_entry(net, features)
    Z = data.observed.to_dense()
    return mean_ratio(outputs, Z, 1), mean_ratio(outputs, data.truth, 2)


def entry_by_entry(net: DenseNet, features: np.ndarray) -> np.ndarray:
    """Predict each entry by a forward pass of its own."""
    layers: list[torch.nn.Module] = []
    for weights, bias in zip(net.weights, net.biases, strict=True):
        linear = torch.nn.Linear(*weights.shape[::-1])
        linear.weight.data, linear.bias.data = torch.tensor(weights), torch.tensor(bias)
        layers += [linear, torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers[:-1], torch.nn.Sigmoid())
    m, n = features.shape
    outputs = np.zeros((m, n))
    with torch.no_grad():
        for i in range(m):
            for j in range(n):
                entry = np.concatenate((features[i], features[:, j]))[None, :]
                outputs[i, j] = 2 * module(torch.tensor(entry).float()).item() - 1
    return outputs


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
    torch.set_num_threads(1)
    seconds = {}
    for name, way in (("ours", ours), ("plain", plain)):
        wall, cpu = time.perf_counter(), time.process_time()
        with one_thread():
            ratios = way(data, arm, seed)
        seconds[name] = time.process_time() - cpu
        wall = time.perf_counter() - wall
        shown = " and ".join(f"{ratio:.4f}" for ratio in ratios)
        print(f"{name:<6} {seconds[name]:7.1f} s of CPU, {wall:7.1f} s of wall; IF_1(Z) and IF_2(A): {shown}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"ratio {seconds['plain'] / seconds['ours']:.1f}; peak memory of both {peak:.0f} MiB")


if __name__ == "__main__":
    main()
