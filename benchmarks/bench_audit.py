"""Wall time and peak memory of `likewise audit` on real data, and where the time goes.

    LIKEWISE_DATA=... python benchmarks/bench_audit.py [--only ml-1m] [--repeat 3]

Each audit runs in a process of its own, as a user would start it; the best of the repeats is shown. The estimator is the default, chosen by held-out
observations, unless the name says otherwise; Experiment 2 is the paper's. An estimator without a threshold has no tau.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXPERIMENT_2 = (
    "--shape",
    "6040,3952",
    "--value-range",
    "0,5",
    "--working-range",
    "unit",
    "--threshold",
    "paper-ratings",
)

AUDITS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ml-1m": ("ml-1m/ratings.dat", ()),
    "ml-1m, svt": ("ml-1m/ratings.dat", ("--estimator", "svt")),
    "ml-1m, Experiment 2, d observed": ("ml-1m/ratings.dat", (*EXPERIMENT_2, "--hold-out", "0")),
    "ml-1m, Experiment 2, d estimate": (
        "ml-1m/ratings.dat",
        (*EXPERIMENT_2, "--hold-out", "0", "--reference", "estimate"),
    ),
    "ml-1m, co-raters": ("ml-1m/ratings.dat", ("--model", "knn-co-raters")),
    "ml-100k": ("ml-100k/u.data", ()),
    "insteval": ("insteval/InstEval.csv", ("--user", "s", "--item", "d", "--rating", "y")),
    "coat": ("coat/train.ascii", ("--missing-value", "0")),
    "exam": (
        "exam/Gcsemv.csv",
        ("--columns", "written,course", "--id-columns", "school,student", "--value-range", "per-column"),
    ),
}


@dataclass
class Outcome:
    """One audit: seconds, peak memory in MiB, its report, and what it noted of the run."""

    seconds: float
    peak: float
    document: dict[str, Any]
    run: dict[str, Any]


def run(path: Path, options: tuple[str, ...]) -> Outcome:
    """Run the command line once."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "report"
        command = [
            sys.executable,
            "-m",
            "likewise",
            "audit",
            str(path),
            *options,
            "--quiet",
            "--out",
            str(target),
        ]
        began = time.perf_counter()
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        if status:
            sys.exit(f"failed: {' '.join(command)}")
        documents = (
            json.loads((target / f"{name}.json").read_text(encoding="utf-8")) for name in ("report", "run")
        )
        return Outcome(seconds, usage.ru_maxrss / 1024, *documents)


def figure(arm: dict[str, Any], name: str) -> float:
    record = arm["fairness"]
    for part in name.split("."):
        record = record[part]
    return float(record["value"])


def row(name: str, outcome: Outcome) -> str:
    document = outcome.document
    data, arms = document["data"], document["arms"]
    errors = [
        arms[arm]["error"]["rmse"] if arms[arm]["error"] else float("nan") for arm in ("without", "with")
    ]
    means = [figure(arms[arm], "mean_ratio") for arm in ("without", "with")]
    gaps = [figure(arms[arm], "similar.relative_gap") for arm in ("without", "with")]
    threshold, rank = document["estimate"]["threshold"], document["estimate"]["rank"]
    tau = "-" if threshold is None else f"{threshold:.3f}"
    return (
        f"{name:<32}{data['n_individuals']:>6} x {data['n_features']:<5}{data['n_observed']:>10,}"
        f"{tau:>8}{rank:>5}"
        f"{errors[0]:>8.3f}{errors[1]:>8.3f}{means[0]:>9.4f}{means[1]:>8.4f}{gaps[0]:>8.3f}{gaps[1]:>7.3f}"
        f"{outcome.seconds:>8.1f}{outcome.peak:>8.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="run the audits whose name contains this")
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    folder = os.environ.get("LIKEWISE_DATA")
    if not folder:
        sys.exit("set LIKEWISE_DATA to the folder that holds the data")
    print(
        f"{'data':<32}{'size':^14}{'observed':>10}{'tau':>8}{'rank':>5}{'RMSE h':>8}{'f':>8}"
        f"{'IF h':>9}{'f':>8}{'gap h':>8}{'f':>7}{'s':>8}{'MiB':>8}"
    )
    steps = {}
    for name, (file, options) in AUDITS.items():
        if arguments.only in name:
            runs = [run(Path(folder) / file, options) for _ in range(arguments.repeat)]
            best = min(runs, key=lambda outcome: outcome.seconds)
            steps[name] = best.run["seconds"]
            print(row(name, best), flush=True)
    for name, seconds in steps.items():
        print(f"\n{name}")
        for step, duration in seconds.items():
            print(f"  {step:<40}{duration:>8.2f} s")


if __name__ == "__main__":
    main()
