"""Error, CPU seconds and peak memory of completion here and elsewhere, on the five official splits of MovieLens 100K, one process a fit.

$ LIKEWISE_DATA=... python benchmarks/compare_recommenders.py [u1 ... u5]

Those that are installed run: cmfrec, implicit, lenskit, myfm, scikit-surprise. Settings are those of each library's own example or its defaults, none chosen on these splits; of likewise `auto` as it is, and
`als` with all sources as in `bench_side_information.py`. implicit ranks and does not predict ratings, so it has no error.
Seconds are CPU time of all threads for the fit and the predictions; peak memory is that of the process, without the imports' share being taken off.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse

Predict = Callable[[Any, Any], np.ndarray]
"""From training rows, columns and stars, and rows and columns to predict, to predictions."""
SHAPE = (943, 1682)


def likewise_auto(train: Any, test: Any) -> np.ndarray:
    return _likewise(train, test, "auto", None)


def likewise_all_sources(train: Any, test: Any) -> np.ndarray:
    return _likewise(train, test, "als", {"sources": "all", "rank": 32, "noise": 0.7})


def _likewise(train: Any, test: Any, name: str, options: dict[str, Any] | None) -> np.ndarray:
    from bench_side_information import films_100k
    from likewise import ObservedMatrix, make_estimator
    from likewise.observations import with_features

    values = sparse.csr_array((train[2], (train[0], train[1])), shape=SHAPE)
    observed = ObservedMatrix(values, value_range=(1, 5), row_ids=range(1, 944), column_ids=range(1, 1683))
    if options is not None:
        observed = with_features(observed, **films_100k(Path(os.environ["LIKEWISE_DATA"])))
    fitted = make_estimator(name, random_state=0, **(options or {})).fit(observed)
    return fitted.estimate_.entries(test[0], test[1])


def biases(train: Any, test: Any) -> np.ndarray:
    return _likewise(train, test, "biases", None)


def surprise_svd(train: Any, test: Any) -> np.ndarray:
    from surprise import SVD

    return _surprise(SVD(random_state=0), train, test)


def surprise_svdpp(train: Any, test: Any) -> np.ndarray:
    from surprise import SVDpp

    return _surprise(SVDpp(random_state=0), train, test)


def surprise_knn_baseline(train: Any, test: Any) -> np.ndarray:
    from surprise import KNNBaseline

    return _surprise(KNNBaseline(sim_options={"name": "pearson_baseline"}, verbose=False), train, test)


def _surprise(algorithm: Any, train: Any, test: Any) -> np.ndarray:
    import pandas as pd
    from surprise import Dataset, Reader

    frame = pd.DataFrame(dict(zip(("user", "item", "rating"), train, strict=True)))
    data = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    fitted = algorithm.fit(data)
    return np.array([fitted.predict(i, j).est for i, j in zip(*test, strict=True)])


def myfm_ordinary(train: Any, test: Any) -> np.ndarray:
    """A Bayesian factorisation by Gibbs sampling, rank 10, 200 sweeps: the first example of its documentation, without side information."""
    import myfm

    def one_hot(i: Any, j: Any) -> Any:
        place = np.arange(i.size)
        rows = sparse.csr_matrix((np.ones(i.size), (place, i)), shape=(i.size, SHAPE[0]))
        columns = sparse.csr_matrix((np.ones(i.size), (place, j)), shape=(i.size, SHAPE[1]))
        return sparse.hstack([rows, columns], format="csr")

    model = myfm.MyFMRegressor(rank=10, random_seed=0)
    groups = np.repeat([0, 1], SHAPE)
    model.fit(one_hot(train[0], train[1]), train[2], n_iter=200, grouping=groups.tolist())
    return model.predict(one_hot(*test))


def lenskit_biased_mf(train: Any, test: Any) -> np.ndarray:
    import pandas as pd
    from lenskit.als import BiasedMFScorer
    from lenskit.data import ItemList, RecQuery, from_interactions_df

    frame = pd.DataFrame(dict(zip(("user_id", "item_id", "rating"), train, strict=True)))
    scorer = BiasedMFScorer(embedding_size=50)
    scorer.train(from_interactions_df(frame))
    found = np.full(test[0].size, np.nan)
    for user in np.unique(test[0]):
        here = np.flatnonzero(test[0] == user)
        items = ItemList(item_ids=test[1][here])
        found[here] = scorer(RecQuery(user_id=user), items).scores()
    return np.where(np.isnan(found), train[2].mean(), found)


def cmfrec_explicit(train: Any, test: Any) -> np.ndarray:
    import pandas as pd
    from cmfrec import CMF

    frame = pd.DataFrame(dict(zip(("UserId", "ItemId", "Rating"), train, strict=True)))
    model = CMF(random_state=0, verbose=False).fit(frame)
    predicted = np.asarray(model.predict(*test), np.float64)
    return np.where(np.isnan(predicted), train[2].mean(), predicted)


def implicit_als(train: Any, test: Any) -> np.ndarray:
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(random_state=0, use_gpu=False)
    counts = sparse.csr_matrix((train[2].astype(np.float32), (train[0], train[1])), shape=SHAPE)
    model.fit(counts, show_progress=False)
    return np.full(test[0].size, np.nan)


METHODS: dict[str, tuple[str, Predict]] = {
    "likewise, biases": ("likewise", biases),
    "likewise, auto": ("likewise", likewise_auto),
    "likewise, als with all sources": ("likewise", likewise_all_sources),
    "myFM, rank 10, 200 sweeps": ("myfm", myfm_ordinary),
    "cmfrec, CMF": ("cmfrec", cmfrec_explicit),
    "LensKit, biased MF": ("lenskit", lenskit_biased_mf),
    "Surprise, SVD": ("surprise", surprise_svd),
    "Surprise, SVD++": ("surprise", surprise_svdpp),
    "Surprise, KNNBaseline": ("surprise", surprise_knn_baseline),
    "implicit, ALS": ("implicit", implicit_als),
}


def measure(name: str, split: str) -> None:
    """Print the error, CPU seconds and peak MiB of one fit in this process."""
    warnings.simplefilter("ignore")
    folder = Path(os.environ["LIKEWISE_DATA"])
    parts = [
        np.loadtxt(folder / "ml-100k" / f"{split}.{end}", dtype=int, usecols=(0, 1, 2)).T
        for end in ("base", "test")
    ]
    (i, j, stars), (a, b, actual) = parts
    began = process_time()
    predicted = METHODS[name][1]((i - 1, j - 1, stars.astype(float)), (a - 1, b - 1))
    seconds = process_time() - began
    error = float(np.sqrt(np.mean((np.clip(predicted, 1, 5) - actual) ** 2)))
    print(error, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10)


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        return measure(*sys.argv[2:])
    if "LIKEWISE_DATA" not in os.environ:
        print("LIKEWISE_DATA names no folder; nothing to measure")
        return None
    splits = sys.argv[1:] or [f"u{k}" for k in range(1, 6)]
    print(f"{'':32} {'RMSE, ' + ' '.join(splits):40} {'CPU s':>7} {'peak MiB':>9}")
    for name, (module, _) in METHODS.items():
        if find_spec(module) is None:
            print(f"{name:32} not installed")
            continue
        runs = [
            subprocess.run(
                [sys.executable, __file__, "--one", name, split], capture_output=True, text=True, check=False
            )
            for split in splits
        ]
        if any(run.returncode for run in runs):
            print(f"{name:32} failed: {runs[0].stderr.strip().splitlines()[-1:]}")
            continue
        found = np.array([run.stdout.split()[-3:] for run in runs], dtype=float)
        errors = " ".join(f"{error:.4f}" for error in found[:, 0])
        print(
            f"{name:32} {errors + f', mean {found[:, 0].mean():.4f}':40} {found[:, 1].mean():7.1f} {found[:, 2].max():9.0f}",
            flush=True,
        )
    return None


if __name__ == "__main__":
    main()
