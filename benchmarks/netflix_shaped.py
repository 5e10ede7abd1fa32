"""Ratings of Netflix's shape, made from a seed: the same file everywhere, no download.

Each (user, item) pair is observed with probability ``1 - exp(-s a_u b_i)``: log-normal users, power-law items, s set so
that the expected number of observations is the one asked for. A rating is a low-rank affinity plus biases plus noise,
rounded and clipped to 1..5. The result is cached in the temporary folder as plain ``.npy`` arrays.

    python benchmarks/netflix_shaped.py --users 480189     # 92 million observations; about a minute
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.sparse import csr_array

N_ITEMS = 17_770
MEAN_PER_USER = 192  # 92 million for 480,189 users
RANK = 12
USERS_AT_A_TIME = 8192
SEED = 20_060_910


def netflix_shaped(n_users: int, n_items: int = N_ITEMS, mean_per_user: float = MEAN_PER_USER) -> csr_array:
    """Return the ratings as a float32 csr_array, from the cache if they are there.

    Parameters
    ----------
    n_users, n_items : int
    mean_per_user : float
        Expected number of ratings of a user.

    Returns
    -------
    csr_array of float32, shape (n_users, n_items)
        Values 1..5.
    """
    folder = Path(tempfile.gettempdir()) / "likewise-benchmarks" / f"{n_users}x{n_items}x{mean_per_user:g}"
    if not (folder / "done").exists():
        _generate(folder, n_users, n_items, mean_per_user)
    values, indices, indptr = (np.load(folder / f"{name}.npy") for name in ("values", "indices", "indptr"))
    matrix = csr_array((n_users, n_items), dtype=np.float32)
    matrix.data, matrix.indices, matrix.indptr = values.astype(np.float32), indices.astype(np.int32), indptr
    matrix.has_canonical_format = True
    return matrix


def _generate(folder: Path, n_users: int, n_items: int, mean_per_user: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    world = _World(n_users, n_items, mean_per_user, rng)
    blocks = [
        world.ratings(start, min(start + USERS_AT_A_TIME, n_users))
        for start in range(0, n_users, USERS_AT_A_TIME)
    ]
    np.save(folder / "values.npy", np.concatenate([block[0] for block in blocks]))
    np.save(folder / "indices.npy", np.concatenate([block[1] for block in blocks]))
    counts = np.concatenate([block[2] for block in blocks])
    np.save(folder / "indptr.npy", np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
    (folder / "done").touch()


class _World:
    """Users, items, and how they meet."""

    def __init__(self, n_users: int, n_items: int, mean_per_user: float, rng: np.random.Generator) -> None:
        self.rng, self.n_items = rng, n_items
        activity = rng.lognormal(0.0, 1.25, n_users)
        popularity = rng.permutation((np.arange(n_items) + 150.0) ** -1.5)
        self.activity = activity / activity.mean()
        self.popularity = popularity / popularity.sum()
        self.scale = self._calibrated(mean_per_user)
        self.cumulative = np.cumsum(self.popularity)
        self.user_factors, self.item_factors = self._factors(n_users), self._factors(n_items)
        self.user_bias = rng.normal(0.0, 0.4, n_users).astype(np.float32)
        self.item_bias = rng.normal(3.5, 0.5, n_items).astype(np.float32)

    def _factors(self, count: int) -> NDArray[np.float32]:
        weights = 0.75 / np.sqrt(1.0 + np.arange(RANK))
        return (self.rng.standard_normal((count, RANK)) * np.sqrt(weights)).astype(np.float32)

    def _calibrated(self, mean_per_user: float) -> float:
        """Scale at which a sample of users has the wanted mean number of ratings."""
        sample = np.quantile(self.activity, (np.arange(400) + 0.5) / 400)
        sample *= self.activity.mean() / sample.mean()

        def excess(scale: float) -> float:
            expected = -np.expm1(-scale * np.outer(sample, self.popularity)).sum(axis=1).mean()
            return float(expected - mean_per_user)

        return float(brentq(excess, mean_per_user / 2, 50 * mean_per_user))

    def ratings(
        self, start: int, stop: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.int64]]:
        """Values and items of a range of users, and how many each user has."""
        draws = self.rng.poisson(self.scale * self.activity[start:stop])
        users = np.repeat(np.arange(stop - start, dtype=np.int64), draws)
        items = np.searchsorted(self.cumulative, self.rng.random(users.size) * self.cumulative[-1])
        pairs = np.unique(users * self.n_items + np.minimum(items, self.n_items - 1))
        users, items = np.divmod(pairs, self.n_items)
        affinity = np.einsum("ij,ij->i", self.user_factors[start + users], self.item_factors[items])
        noise = self.rng.normal(0.0, 0.8, users.size).astype(np.float32)
        score = self.item_bias[items] + self.user_bias[start + users] + affinity + noise
        values = np.clip(np.rint(score), 1, 5).astype(np.uint8)
        return values, items.astype(np.uint16), np.bincount(users, minlength=stop - start)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=48_000)
    began = time.perf_counter()
    matrix = netflix_shaped(parser.parse_args().users)
    per_item = np.sort(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    print(
        f"{matrix.shape[0]:,} x {matrix.shape[1]:,}, {matrix.nnz:,} ratings in {time.perf_counter() - began:.0f} s"
    )
    print(f"per item: median {per_item[per_item.size // 2]:,}, largest {per_item[-1]:,}")
    print(
        f"per user: median {np.median(np.diff(matrix.indptr)):.0f}, largest {np.diff(matrix.indptr).max():,}"
    )
    print(f"values 1..5: {np.bincount(matrix.data.astype(int))[1:] / matrix.nnz}")


if __name__ == "__main__":
    main()
