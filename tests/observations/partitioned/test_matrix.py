"""What is held out of blocks: by where it stands, whatever the engine, and never all of a row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from likewise.engines import engine_of
from likewise.engines.local import Serial
from likewise.observations import ObservedMatrix, clustered
from likewise.observations.partitioned.matrix import hashed, split_entries


def held_out(in_blocks, observed, folder, cut, engine, seed=3, share=0.3):
    matrix = in_blocks(observed, folder, (0, cut, observed.shape[0]), engine)
    with split_entries(matrix, share, seed) as (seen, pairs):
        assert seen.shape == observed.shape
        kept = seen.in_memory().to_dense(missing=np.nan)
        hidden = np.vstack([seen.reader.read(pair[1]).toarray() for pair in pairs])
        paths = [block.path for pair in pairs for block in pair]
    assert not any(Path(path).exists() for path in paths)
    return kept, hidden


def test_every_entry_is_in_one_of_the_two_and_every_row_keeps_one(tmp_path, in_blocks):
    observed = clustered(80, 30, 2, observed_fraction=0.1, random_state=0).observed
    whole = observed.to_dense(missing=np.nan)
    kept, hidden = held_out(in_blocks, observed, tmp_path, 30, Serial())
    assert not (np.isfinite(kept) & (hidden != 0)).any()
    np.testing.assert_array_equal(np.where(np.isfinite(kept), kept, hidden), np.nan_to_num(whole))
    np.testing.assert_array_equal(np.isfinite(kept).any(axis=1), np.isfinite(whole).any(axis=1))
    n_hidden, n = np.count_nonzero(hidden), observed.n_observed
    # Binomial, but for rows of one or two entries that keep them: within five standard errors below, and never far above.
    assert 0.2 * n < n_hidden < 0.3 * n + 5 * np.sqrt(0.21 * n)
    other = held_out(in_blocks, observed, tmp_path, 30, Serial(), seed=4)[1]
    assert (other != hidden).any()


@pytest.mark.parametrize("cut", [1, 40])
def test_it_depends_neither_on_the_engine_nor_on_the_blocks(tmp_path, cut, in_blocks):
    observed = clustered(60, 30, 2, observed_fraction=0.3, random_state=0).observed
    expected = held_out(in_blocks, observed, tmp_path, 20, Serial())
    with engine_of("threads") as threads:
        found = held_out(in_blocks, observed, tmp_path, cut, threads)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_row_of_one_entry_keeps_it(tmp_path, in_blocks):
    observed = ObservedMatrix(np.array([[0.5, np.nan], [np.nan, -0.5]]), value_range=(-1, 1))
    assert not held_out(in_blocks, observed, tmp_path, 1, Serial(), share=1.0)[1].any()


def test_numbers_of_places_are_even():
    """Of a million places, tenths hold a tenth each within five standard errors, and neighbours do not follow one another."""
    numbers = hashed(np.arange(10**6, dtype=np.uint64), 11)
    counts = np.bincount((numbers * 10).astype(int), minlength=10)
    assert np.abs(counts - 1e5).max() < 5 * np.sqrt(9e4)
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 5e-3
