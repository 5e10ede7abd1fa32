"""How often an audit of law school applicants says that a group is treated differently: with a planted penalty, and without.

Each simulation draws applicants, gives them a score that LSAT, UGPA and chance decide, and audits it twice: as it is, and with 0.3 taken off for one
group. What is counted is whether the first screen, the text of the report, says it. With ``--blanks``, that group leaves a share of its LSAT blank, and the
others a quarter of that share; d is then Gower's. With ``--less`` the applicants are made up, and that share of an income that decides is missing in one group. With ``--decided`` they have that many
features, on which the group depends too, and a yes or no that jumps where two of them sum to 0: the hardest for nearest others that are far away.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import likewise
from likewise._typing import Floats
from likewise.fairness import RowDistance

ALARM = "A group is treated differently"


def said(people: Any, score: Floats, groups: Any, seed: int, **options: Any) -> bool:
    """Return whether the first screen says that a group is treated differently."""
    outputs = pl.DataFrame({"score": score})
    report = likewise.audit(
        people, outputs=outputs, groups=groups, random_state=seed, progress=False, **options
    )
    return ALARM in str(report)


def of_law(table: pl.DataFrame, m: int, noise: float, blanks: float, penalty: float, seed: int) -> list[bool]:
    """Return whether the report on drawn law school applicants says it without and with the penalty."""
    rng = np.random.default_rng(seed)
    drawn = table[rng.choice(len(table), m, replace=False)]
    features = drawn.select("LSAT", "UGPA").to_numpy().astype(float)
    score = 0.03 * features[:, 0] + 0.4 * features[:, 1] + noise * rng.normal(size=m)
    race = drawn["race"].to_numpy()
    features[rng.random(m) < blanks * np.where(race == "Black", 1, 0.25), 0] = np.nan
    people, options = likewise.ObservedMatrix(features, value_range="per-column"), {}
    if blanks:
        people, options = pl.DataFrame(features, ["LSAT", "UGPA"]), {"reference": "gower"}
    scores = (score, score - penalty * (race == "Black"))
    return [said(people, given, race, seed, **options) for given in scores]


def of_unlike(m: int, less: float, seed: int) -> list[bool]:
    """Return whether the report on made-up applicants says it without and with a penalty of 0.3 on the logit; one group has less income."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["f", "m"], m)
    income = np.exp(rng.normal(10, 0.5, m)) * np.where(group == "f", 1 - less, 1)
    age = rng.integers(18, 70, m)
    region, school = rng.choice(["north", "south", "east", "west"], m), rng.integers(4, size=m)
    points = 0.8 * (np.log(income) - 10) + 0.5 * (school - 1.5) + 0.02 * (age - 40) + 0.1 * rng.normal(size=m)
    people = pl.DataFrame(
        {
            "age": age,
            "income": income,
            "region": region,
            "school": np.array(["none", "some", "college", "master"])[school],
        }
    )
    scores = (1 / (1 + np.exp(-points)), 1 / (1 + np.exp(0.3 * (group == "f") - points)))
    return [said(people, given, group, seed, reference="gower") for given in scores]


def of_decided(m: int, n_features: int, penalty: float, seed: int) -> list[bool]:
    """Return whether the report on a yes or no says it without a penalty, and with one in what decides."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(m, n_features)) * np.where(np.arange(n_features) == 0, 1, 0.3)
    points = features[:, 0] + features[:, 1] / 0.3
    group = rng.random(m) < 1 / (1 + np.exp(-points))
    points = points + 0.1 * rng.normal(size=m)
    people, groups = RowDistance(features), np.where(group, "b", "a")
    return [said(people, (points - taken * group > 0) * 1.0, groups, seed) for taken in (0.0, penalty)]


def main() -> None:
    """Print both shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--penalty", type=float, default=0.3)
    parser.add_argument("--blanks", type=float, default=0.0)
    parser.add_argument("--less", type=float, default=0.0)
    parser.add_argument("--decided", type=int, default=0)
    asked = parser.parse_args()
    seeds = range(asked.simulations)
    if asked.less:
        report(f"income less by {asked.less}", [of_unlike(asked.people, asked.less, seed) for seed in seeds])
        return
    if asked.decided:
        counted = [of_decided(asked.people, asked.decided, asked.penalty, seed) for seed in seeds]
        report(f"yes or no by {asked.decided} features", counted)
        return
    table = pl.read_csv(Path(os.environ["LIKEWISE_DATA"]) / "law" / "law_data.csv")
    for noise in (0.3, 0.0):
        counted = [of_law(table, asked.people, noise, asked.blanks, asked.penalty, seed) for seed in seeds]
        report(f"noise {noise}, blanks {asked.blanks}", counted)


def report(case: str, counted: list[list[bool]]) -> None:
    """Print how often it was said."""
    false, found = np.sum(counted, axis=0)
    print(f"{case}, {len(counted)} simulations: said without a penalty {false}, with one {found}", flush=True)


if __name__ == "__main__":
    main()
