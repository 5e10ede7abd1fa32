"""How often an audit of law school applicants says that a group is treated differently: with a planted penalty, and without.

Each simulation draws applicants, gives them a score that LSAT, UGPA and chance decide, and audits it twice: as it is, and with 0.3 taken off for one
group. What is counted is whether the first screen, the text of the report, says it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import polars as pl

import likewise

ALARM = "A group is treated differently"


def simulate(table: pl.DataFrame, m: int, penalty: float, noise: float, seed: int) -> tuple[bool, bool]:
    """Return whether the report says it without and with the penalty."""
    rng = np.random.default_rng(seed)
    drawn = table[rng.choice(len(table), m, replace=False)]
    features = drawn.select("LSAT", "UGPA").to_numpy().astype(float)
    score = 0.03 * features[:, 0] + 0.4 * features[:, 1] + noise * rng.normal(size=m)
    race = drawn["race"].to_numpy()
    observed = likewise.ObservedMatrix(features, value_range="per-column")
    said = []
    for taken in (0.0, penalty):
        outputs = pl.DataFrame({"score": score - taken * (race == "Black")})
        report = likewise.audit(observed, outputs=outputs, groups=race, random_state=seed, progress=False)
        said.append(ALARM in str(report))
    return said[0], said[1]


def main() -> None:
    """Print both shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--penalty", type=float, default=0.3)
    arguments = parser.parse_args()
    table = pl.read_csv(Path(os.environ["LIKEWISE_DATA"]) / "law" / "law_data.csv")
    for noise in (0.3, 0.0):
        said = [
            simulate(table, arguments.people, arguments.penalty, noise, seed)
            for seed in range(arguments.simulations)
        ]
        false, found = np.sum(said, axis=0)
        print(
            f"noise {noise}, {arguments.people} people, {arguments.simulations} simulations: said without a penalty {false}, "
            f"with one of {arguments.penalty} {found}",
            flush=True,
        )


if __name__ == "__main__":
    main()
