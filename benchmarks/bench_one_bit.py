"""1-bit propensities of Yahoo! R3: what they cost, and what they bring on songs drawn at random.

Run ``LIKEWISE_DATA=... python benchmarks/bench_one_bit.py``. The folder needs ``yahoo-r3/user.txt`` and ``random.txt``: ratings that 15,400 people
chose to give to 1,000 songs, and ratings of songs drawn at random, which are the test. First what choosing the radius and the fit take, then mean squared
errors in stars without and with these propensities. Nothing is chosen by the test.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from time import process_time

import numpy as np

from likewise import ObservedMatrix, make_estimator
from likewise.errors import LikewiseWarning
from likewise.estimation import propensities_of

ESTIMATORS = ("biases", "als")


def main() -> None:
    warnings.simplefilter("ignore", LikewiseWarning)
    if (folder := os.environ.get("LIKEWISE_DATA")) is None:
        print("LIKEWISE_DATA names no folder; nothing to measure")
        return
    chosen, drawn = (
        np.loadtxt(Path(folder) / "yahoo-r3" / name, delimiter=",") for name in ("user.txt", "random.txt")
    )
    people, songs = np.unique(chosen[:, 0]), np.unique(chosen[:, 1])
    train, test = (
        (np.searchsorted(people, part[:, 0]), np.searchsorted(songs, part[:, 1]), part[:, 2])
        for part in (chosen, drawn)
    )
    ratings = ObservedMatrix.from_triplets(*train, shape=(people.size, songs.size), value_range=(1, 5))
    began = process_time()
    found = propensities_of(ratings.scaled("symmetric").values, "1-bit", random_state=0)
    print(f"{found.notes[0]}: {process_time() - began:.1f} CPU s")
    for name in ESTIMATORS:
        for title, propensities in (("without", None), ("1-bit", found)):
            began = process_time()
            fitted = make_estimator(name, propensities=propensities, random_state=0).fit(ratings)
            error = np.mean((fitted.estimate_.entries(test[0], test[1]) - test[2]) ** 2)
            print(f"{name:12} {title:8} {error:.3f} {process_time() - began:6.1f} CPU s", flush=True)


if __name__ == "__main__":
    main()
