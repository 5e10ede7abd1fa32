"""Ratings shaped like the Netflix prize data, made anew from a seed: nothing to fetch, the same everywhere.

Popularity of items follows a power law with a flat head (the most popular item is seen by about half of all users, the
median one by about one in a thousand), activity of users is log-normal, ratings 1..5 are biases plus a low-rank part plus
noise. The full size, 480,189 x 17,770 with 92 million observations, takes about a minute and 2 GB.
"""

import numpy as np
from scipy import sparse

FULL_SIZE = (480_189, 17_770, 92_000_000)
TENTH = (48_000, 17_770, 9_200_000)

_CHUNK = 20_000  # users drawn at once
_RANK = 10
_REPEATED = 1.25  # draws for each distinct item: popular ones are drawn again


def netflix_shaped(n_users: int, n_items: int, n_observations: int, seed: int = 0) -> sparse.csr_array:
    """Return about `n_observations` ratings 1..5 as float32, shape (n_users, n_items)."""
    rng = np.random.default_rng(seed)
    popularity = (np.arange(n_items) + 60.0) ** -1.2
    popularity = rng.permutation(popularity / popularity.sum())
    activity = rng.lognormal(0.0, 1.2, n_users)
    draws = np.minimum(_REPEATED * n_observations * activity / activity.sum(), n_items).astype(np.int64) + 1
    items = (0.5 * rng.standard_normal(n_items), 0.3 * rng.standard_normal((n_items, _RANK)))
    chunks = [
        _ratings(draws[start : start + _CHUNK], np.cumsum(popularity), items, rng)
        for start in range(0, n_users, _CHUNK)
    ]
    return sparse.vstack(chunks, format="csr")


def _ratings(draws, cumulative, items, rng):
    n_users, n_items = draws.size, cumulative.size
    drawn = np.searchsorted(cumulative, rng.random(draws.sum()) * cumulative[-1])
    cells = np.unique(np.repeat(np.arange(n_users), draws) * n_items + drawn)
    users, columns = np.divmod(cells, n_items)
    values = _values(users, columns, n_users, items, rng)
    pointers = np.searchsorted(users, np.arange(n_users + 1))
    return sparse.csr_array((values, columns.astype(np.int32), pointers.astype(np.int32)), (n_users, n_items))


def _values(users, columns, n_users, items, rng):
    item_biases, item_factors = items
    user_biases, user_factors = 0.4 * rng.standard_normal(n_users), rng.standard_normal((n_users, _RANK))
    liking = 3.6 + user_biases[users] + item_biases[columns] + 0.7 * rng.standard_normal(users.size)
    for factor in range(_RANK):
        liking += user_factors[users, factor] * item_factors[columns, factor]
    return np.clip(np.rint(liking), 1, 5).astype(np.float32)
