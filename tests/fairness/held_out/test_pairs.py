from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.errors import DistanceError
from likewise.fairness.held_out import ReferencePairs, reference_pairs, usual_shared


def observations(seed, m=40, n=30, share=0.5):
    rng = np.random.default_rng(seed)
    values, seen = rng.uniform(-1, 1, size=(m, n)), rng.random((m, n)) < share
    i, j = np.nonzero(seen)
    return sparse.csr_array((values[seen], (i, j)), shape=(m, n)), np.where(seen, values, np.nan)


@given(seed=st.integers(0, 10**6), least=st.sampled_from([1, 6, 8]))
def test_pairs_are_those_of_the_definition(seed, least):
    Z, table = observations(seed)
    found = reference_pairs(Z, least_shared=least, rng=np.random.default_rng(seed))
    i, j = np.triu_indices(40, 1)
    differences = (table[i] - table[j]) ** 2
    counts = (~np.isnan(differences)).sum(axis=1)
    eligible = counts >= least
    np.testing.assert_array_equal(np.stack([found.left, found.right]), np.stack([i, j])[:, eligible])
    np.testing.assert_array_equal(found.counts, counts[eligible])
    np.testing.assert_allclose(found.squares, np.nanmean(differences[eligible], axis=1), atol=1e-12)
    assert (found.n_eligible, found.n_pairs) == (eligible.sum(), eligible.sum())
    assert found.n_covered == np.unique([i[eligible], j[eligible]]).size
    assert found.eligible_share == pytest.approx(eligible.mean())


@pytest.mark.parametrize(
    ("shares", "usual"),
    [
        ({15: 15}, 15),  # 105 pairs of 15 people
        ({14: 15}, None),  # 91 pairs, and fewer share less
        ({44: 14}, None),  # 946 pairs share 10, 1,000 are asked for
        ({46: 14}, 10),  # 1,035
        ({46: 9}, 5),
        ({46: 4}, 3),
        ({46: 2}, None),
        ({15: 15, 46: 9}, 15),
    ],
)
def test_how_much_is_asked_for_in_common_by_hand(shares, usual):
    """People who all rated the same first few of 20 films: every two of them share these."""
    rows = [np.arange(20) < n_films for n_people, n_films in shares.items() for _ in range(n_people)]
    aside = sparse.csr_array(np.array(rows, dtype=float))
    assert usual_shared(aside, np.random.default_rng(0)) == usual
    assert usual_shared(sparse.csr_array(aside[:, :14]), np.random.default_rng(0)) is None  # too narrow


@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.2, 0.35, 0.5, 0.7]))
def test_how_much_is_asked_for_in_common_is_what_counting_says(seed, share):
    Z, table = observations(seed, m=60, share=share)
    i, j = np.triu_indices(60, 1)
    counts = (~np.isnan(table[i] - table[j])).sum(axis=1)
    told = [15] if (counts >= 15).sum() >= 100 else [k for k in (10, 5, 3) if (counts >= k).sum() >= 1000]
    assert usual_shared(Z, np.random.default_rng(0)) == (told[0] if told else None)


@given(seed=st.integers(0, 10**6))
def test_halves_part_the_features(seed):
    Z, _ = observations(seed)
    found = reference_pairs(Z, least_shared=4, rng=np.random.default_rng(seed))
    (c1, c2), (s1, s2) = found.half_counts, found.half_squares
    np.testing.assert_array_equal(c1 + c2, found.counts)
    np.testing.assert_allclose(
        np.nan_to_num(s1) * c1 + np.nan_to_num(s2) * c2, found.squares * found.counts, atol=1e-12
    )


@given(seed=st.integers(0, 10**6), least=st.sampled_from([1, 2]))
def test_variances_are_those_of_all_ways_to_halve_the_features(seed, least):
    """x^2 - v / C is the mean of the products of squared differences on two different features, hence of what any two halves multiply to."""
    Z, table = observations(seed, n=12)
    found = reference_pairs(Z, least_shared=least, rng=np.random.default_rng(seed))
    q = np.nan_to_num((table[found.left] - table[found.right]) ** 2)
    several = found.counts > 1
    products = np.array([row @ (row.sum() - row) for row in q[several]])
    C = found.counts[several]
    unbiased = found.squares[several] ** 2 - found.variances[several]
    np.testing.assert_allclose(unbiased, products / (C * (C - 1)), atol=1e-11)


def test_one_feature_in_common_has_the_usual_variance():
    Z, table = observations(3, n=6, share=0.4)
    found = reference_pairs(Z, least_shared=1, rng=np.random.default_rng(3))
    squares = (table[found.left] - table[found.right]) ** 2
    several = found.counts > 1
    v = np.nanvar(squares[several], axis=1, ddof=1)
    np.testing.assert_allclose(found.variances[several], v / found.counts[several], atol=1e-12)
    np.testing.assert_allclose(found.variances[~several], v.mean(), rtol=1e-9)
    assert (~several).any()


def test_shrinking_by_hand():
    """Squares 1 and 5 on 4 features each, from halves (0, 2) and (4, 6) of 2: v = (4 + 4) / (1 + 1) = 4, tau^2 = 4 - 4 / 4 = 3, trust 3 / (3 + 1)."""
    four, two = np.array([4, 4]), np.array([2, 2])
    pairs = ReferencePairs(
        *(np.array([0, 2]), np.array([1, 3]), four, np.array([1.0, 5.0]), np.ones(2)),
        *((two, two), (np.array([0.0, 4.0]), np.array([2.0, 6.0]))),
        *(4, 4, 2, 4, 1),
    )
    np.testing.assert_allclose(pairs.distances, np.sqrt([3 - 0.75 * 2, 3 + 0.75 * 2]))


def test_people_who_differ_by_noise_alone_are_put_at_the_mean():
    """All share one truth, so that squares differ by chance: what is left of their spread is little."""
    rng = np.random.default_rng(0)
    Z = sparse.csr_array(rng.normal(size=200) + 0.3 * rng.normal(size=(60, 200)))
    found = reference_pairs(Z, rng=rng)
    assert found.distances.std() < 0.3 * np.sqrt(found.squares).std()


@pytest.mark.slow
def test_many_pairs_are_drawn_uniformly():
    """Of 780 pairs 200 are kept, 300 times: each 77 times on average, within five standard deviations of a binomial."""
    Z, _ = observations(0, share=1.0)
    times = np.zeros((40, 40))
    for seed in range(300):
        found = reference_pairs(Z, most_pairs=200, rng=np.random.default_rng(seed))
        assert (found.n_pairs, found.n_eligible) == (200, 780)
        times[found.left, found.right] += 1
    p = 200 / 780
    drawn = times[np.triu_indices(40, 1)]
    assert np.abs(drawn - 300 * p).max() < 5 * (300 * p * (1 - p)) ** 0.5


def test_of_many_people_some_are_drawn(monkeypatch):
    monkeypatch.setattr("likewise.fairness.held_out.pairs.MOST_SCANNED", 25)
    Z, table = observations(0, share=0.9)
    found = reference_pairs(Z, rng=np.random.default_rng(0))
    assert (found.n_individuals, found.n_scanned) == (40, 25)
    assert np.unique([found.left, found.right]).size <= 25
    differences = (table[found.left] - table[found.right]) ** 2
    np.testing.assert_allclose(found.squares, np.nanmean(differences, axis=1), atol=1e-12)
    assert "25 individuals drawn" in found.describe()


def test_too_little_in_common_is_refused():
    Z, _ = observations(0, share=0.2)
    with pytest.raises(DistanceError, match=r"share 25 or more .* at least 100 pairs"):
        reference_pairs(Z, least_shared=25, rng=np.random.default_rng(0))


def test_a_narrow_table_is_told_why():
    Z, _ = observations(0, n=3, share=0.9)
    with pytest.raises(DistanceError, match="there are 3 features in all"):
        reference_pairs(Z, rng=np.random.default_rng(0))


@pytest.mark.slow
def test_of_two_values_it_is_said_that_d_is_agreement():
    """z = +-1 with mean A has variance 1 - A^2, so the mean of (z - z')^2 is 2 - 2 A A', and not (A - A')^2 and a constant."""
    rng = np.random.default_rng(0)
    A = rng.uniform(-1, 1, size=(30, 1)) * np.ones(6000)
    signs = np.where(rng.random(A.shape) < (1 + A) / 2, 1.0, -1.0)
    pairs = reference_pairs(sparse.csr_array(signs), rng=rng)
    left, right = A[pairs.left, 0], A[pairs.right, 0]
    np.testing.assert_allclose(pairs.squares, 2 - 2 * left * right, atol=0.15)  # six standard deviations
    assert "how often two people agree" in pairs.describe()
    stars = sparse.csr_array(rng.integers(1, 4, size=(30, 40)).astype(float))
    assert "agree" not in reference_pairs(stars, rng=rng).describe()
