"""The dense net on one simulation of Experiment 1 (m=200, n=800): ours beside whole inputs, time and peak memory.

    python benchmarks/bench_dense_net.py [--fraction 0.2] [--individuals 200] [--features 800] [--steps 2000]
                                         [--device cpu] [--threads 1]

Needs PyTorch. Each way runs in a process of its own. "Whole inputs" is the usual way: the net takes a row and a column one after the other,
and every entry is predicted from an input of length m + n, in chunks. Both train alike, so the outputs agree up to rounding.

The floor counts multiply-adds, two operations each. A step: the first layer, forward and for its gradient, of b inputs of length m + n; the
other layers, forward and for both gradients. Predicting: the first layer on m rows and n columns once, the other layers on all m n entries.
Its time is at the speed that one large product of two matrices reaches here with as many threads.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

if importlib.util.find_spec("torch") is None:
    print("needs PyTorch: pip install 'likewise[dnn]'")
    sys.exit()

import torch

from likewise.inference import DenseNet, NetSettings, train_dense_net
from likewise.observations import clustered

CHUNK = 8192
Predict = Callable[[DenseNet, Any, NetSettings], np.ndarray]


def ours(net: DenseNet, Z: Any, _: NetSettings) -> np.ndarray:
    """Predict every entry."""
    return net.predict_all(Z)


def whole_inputs(net: DenseNet, Z: Any, settings: NetSettings) -> np.ndarray:
    """Predict every entry from its row and column, one after the other."""
    layers: list[torch.nn.Module] = []
    for weights, bias in zip(net.weights, net.biases, strict=True):
        linear = torch.nn.Linear(*weights.shape[::-1])
        linear.weight.data, linear.bias.data = torch.tensor(weights), torch.tensor(bias)
        layers += [linear, torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1], torch.nn.Sigmoid()).to(settings.device)
    B = torch.tensor(Z.toarray(), dtype=torch.float32, device=settings.device)
    m, n = B.shape
    pairs = torch.cartesian_prod(torch.arange(m), torch.arange(n)).to(settings.device)
    with torch.inference_mode():
        parts = [model(torch.hstack((B[some[:, 0]], B.T[some[:, 1]]))).cpu() for some in pairs.split(CHUNK)]
    return 2 * torch.cat(parts).double().numpy().reshape(m, n) - 1


WAYS: dict[str, Predict] = {"likewise": ours, "whole inputs": whole_inputs}


def measure(way: str, options: argparse.Namespace) -> dict[str, float]:
    """Train and predict in this process."""
    settings = NetSettings(n_steps=options.steps, device=options.device, n_threads=options.threads)
    data = clustered(
        options.individuals, options.features, observed_fraction=options.fraction, random_state=0
    )
    Z = data.observed.zero_filled()
    torch.set_num_threads(options.threads)
    train_dense_net(
        Z, Z, settings=NetSettings(n_steps=1, device=options.device), random_state=0
    )  # what torch loads when first used
    before = peak()
    net, *training = timed(lambda: train_dense_net(Z, Z, settings=settings, random_state=0))
    after_training = peak()
    outputs, *predicting = timed(lambda: WAYS[way](net, Z, settings))
    missing = np.isnan(data.observed.to_dense(missing=np.nan))
    return {
        "train": training[0],
        "train CPU": training[1],
        "predict": predicting[0],
        "predict CPU": predicting[1],
        "MiB of training": after_training - before,
        "MiB of predicting": peak() - after_training,
        "error": float(((outputs - data.truth)[missing] ** 2).mean()),
    }


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what it gives, seconds, and seconds of CPU."""
    began, began_cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - began, time.process_time() - began_cpu


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def operations(options: argparse.Namespace) -> tuple[float, float]:
    """Count the operations of training and of predicting."""
    m, n, settings = options.individuals, options.features, NetSettings()
    first = settings.hidden[0] * (m + n)
    later = sum(before * after for before, after in pairwise((*settings.hidden, 1)))
    training = options.steps * settings.batch_size * (4 * first + 6 * later)
    return training, 2 * 2 * m * n * settings.hidden[0] + 2 * m * n * later


def speed(options: argparse.Namespace) -> float:
    """Return operations a second in one large product, the best of five; on CPUs by their own clock, which others do not slow down."""
    torch.set_num_threads(options.threads)
    size = 2048
    A = torch.rand(size, size, device=options.device)

    def seconds() -> float:
        _, wall, cpu = timed(lambda: float((A @ A)[0, 0]))
        return cpu / options.threads if options.device == "cpu" else wall

    return 2 * size**3 / min(seconds() for _ in range(5))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--individuals", type=int, default=200)
    parser.add_argument("--features", type=int, default=800)
    parser.add_argument("--fraction", type=float, default=0.2, help="observed share")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--way", choices=WAYS, help="run one way here and print JSON")
    return parser.parse_args()


def main() -> None:
    options = parsed()
    if options.way:
        print(json.dumps(measure(options.way, options)))
        return
    rows = {}
    for way in WAYS:
        command = [sys.executable, __file__, *sys.argv[1:], "--way", way]
        rows[way] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    training, predicting = operations(options)
    rate = speed(options)
    print(f"{'':14}" + "".join(f"{name:>18}" for name in rows["likewise"]))
    for way, figures in rows.items():
        print(f"{way:14}" + "".join(f"{figure:18.3f}" for figure in figures.values()))
    print(f"{'floor':14}{training / rate:18.3f}{'':18}{predicting / rate:18.3f}")
    print(
        f"{training:.3g} + {predicting:.3g} operations, {rate / 1e9:.0f} GFLOP/s; {options.threads} threads, {options.device}"
    )


if __name__ == "__main__":
    main()
