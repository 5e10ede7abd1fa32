"""Drawing pairs: uniform, disjoint, repeatable; and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from likewise.errors import InputError
from likewise.fairness import RowDistance
from likewise.fairness.exact.blocks import pair_count, pair_places, pair_positions
from likewise.fairness.sampled.sampling import draw_disjoint_pairs, draw_pairs, measure_pairs


@given(st.integers(2, 200), st.integers(0, 2**31))
def test_places_and_positions_are_inverse(m, seed):
    places = np.random.default_rng(seed).integers(pair_count(m), size=20)
    left, right = pair_positions(places, m)
    assert (left < right).all()
    assert (pair_places(left, right, m) == places).all()


def test_pairs_with_replacement_are_uniform():
    m, rng = 8, np.random.default_rng(0)
    places = np.concatenate([pair_places(*draw_pairs(m, 28, rng), m) for _ in range(1000)])
    counts = np.bincount(places, minlength=28)
    assert chisquare(counts).pvalue > 1e-3
    # Two draws in a row are the same pair once in 28.
    repeats = np.mean(places[::2] == places[1::2])
    assert abs(repeats - 1 / 28) < 5 * np.sqrt(1 / 28 / (places.size / 2))


def test_disjoint_pairs_are_uniform_over_matchings():
    m, rng, matchings = 6, np.random.default_rng(0), {}
    for _ in range(6000):
        left, right = draw_disjoint_pairs(m, 3, rng)
        found = frozenset(zip(left.tolist(), right.tolist(), strict=True))
        matchings[found] = matchings.get(found, 0) + 1
    assert len(matchings) == 15  # 5 * 3 * 1
    assert chisquare(list(matchings.values())).pvalue > 1e-3


@given(st.integers(2, 60), st.integers(0, 2**31), st.data())
def test_disjoint_pairs_share_nobody(m, seed, data):
    n_pairs = data.draw(st.integers(1, m // 2))
    left, right = draw_disjoint_pairs(m, n_pairs, np.random.default_rng(seed))
    assert (left < right).all()
    assert len({*left.tolist(), *right.tolist()}) == 2 * n_pairs


def test_the_largest_data_set_draws_from_all_its_pairs():
    left, right = draw_pairs(480_189, 2000, np.random.default_rng(0))
    assert left.min() >= 0
    assert right.max() < 480_189
    assert left.mean() == pytest.approx(480_189 / 3, rel=0.1)  # the smaller of two uniform numbers
    assert right.mean() == pytest.approx(480_189 * 2 / 3, rel=0.1)


def test_measuring_in_parts_gives_every_pair_its_distance():
    rows = np.random.default_rng(0).random((300, 2))
    distance, done = RowDistance(rows), []
    left, right = draw_pairs(300, 40_000, np.random.default_rng(1))
    measured = measure_pairs(distance, left, right, done.append)
    np.testing.assert_allclose(measured, np.linalg.norm(rows[left] - rows[right], axis=1))
    assert sum(done) == 40_000
    assert len(done) > 1


@pytest.mark.parametrize("n_pairs", [0, -1, 46, 2.5])
def test_a_number_of_pairs_that_cannot_be_is_refused(n_pairs):
    with pytest.raises(InputError, match=f"n_pairs={n_pairs}"):
        draw_pairs(10, n_pairs, np.random.default_rng(0))


@pytest.mark.parametrize("n_pairs", [0, 6, 5.0])
def test_more_disjoint_pairs_than_there_are_is_refused(n_pairs):
    with pytest.raises(InputError, match="from 1 to 5, the number of disjoint pairs"):
        draw_disjoint_pairs(11, n_pairs, np.random.default_rng(0))
