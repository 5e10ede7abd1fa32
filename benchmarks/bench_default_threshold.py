"""The default threshold beside the noise edge and beside nothing: RMSE of a tenth of the observations that was hidden, and components.

    LIKEWISE_DATA=... python benchmarks/bench_default_threshold.py

Each data set of the folder, with and without a centre, with the paper's shrinker and with none. The default should be in no row worse than nothing.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import likewise
from likewise.errors import LikewiseWarning
from likewise.estimation import SVT
from likewise.observations import HoldOut, hold_out

FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "MovieLens 1M": ("ml-1m/ratings.dat", {}),
    "MovieLens 100K": ("ml-100k/u.data", {}),
    "Douban": ("douban/train.csv", {}),
    "Yahoo R3": ("yahoo-r3/user.txt", {}),
    "InstEval": ("insteval/InstEval.csv", {"user": "s", "item": "d", "rating": "y"}),
    "Coat": ("coat/train.ascii", {"missing_value": 0, "value_range": (1, 5)}),
    "exam marks": (
        "exam/Gcsemv.csv",
        {"columns": ["written", "course"], "id_columns": ["school", "student"]},
    ),
}
NOTHING = 1e9
THRESHOLDS: dict[str, float | str] = {
    "nothing": NOTHING,
    "noise-edge": "noise-edge",
    "adaptive": "adaptive",
}


def tried(split: HoldOut, centering: Any, shrinker: str, threshold: float | str) -> str:
    """Return error, components and CPU seconds of one fit."""
    begun = process_time()
    fitted = SVT(threshold, shrinker, centering=centering).fit(split.training)
    spent = process_time() - begun
    errors = fitted.estimate_.entries(split.rows, split.columns) - split.values
    return f"{np.sqrt(np.mean(errors**2)):.4f} ({fitted.rank_}; {spent:.1f})"


def main() -> None:
    """Print one line for each data set, centre and shrinker."""
    folder = os.environ.get("LIKEWISE_DATA")
    if not folder:
        sys.exit("LIKEWISE_DATA names no folder")
    warnings.simplefilter("ignore", LikewiseWarning)
    print("RMSE (components; CPU seconds) at " + ", ".join(THRESHOLDS))
    for name, (file, options) in FILES.items():
        split = hold_out(likewise.read_ratings(Path(folder) / file, **options), 0.1, random_state=0)
        for centering in ("none", "biases"):
            for shrinker in ("rescaled", "identity"):
                cells = (tried(split, centering, shrinker, rule) for rule in THRESHOLDS.values())
                print(f"{name:15} {centering:7} {shrinker:9}", *(f"{cell:22}" for cell in cells))


if __name__ == "__main__":
    main()
