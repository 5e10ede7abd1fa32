"""What thresholds and shrinkers assume of the noise is checked, and said where it does not hold."""

import numpy as np
import pytest
from scipy import sparse

from likewise.estimation import (
    SHRINKERS,
    SVT,
    THRESHOLDS,
    ObservationStatistics,
    OptimalShrinker,
    UniversalWithVariance,
)
from likewise.estimation.thresholding.assumptions import assumption_notes, unevenness

NONE_KEPT = np.zeros(0)


@pytest.mark.parametrize("threshold", ["universal", "universal-variance", UniversalWithVariance(0.01)])
def test_data_too_sparse_for_the_proposition_are_told(threshold):
    """p >= rho_1^(eps - 1) with eps > 0 is p > 1 / rho_1: more than one observation in a row of the longer side."""
    sparse_data = sparse.csr_array(([1.0, 0.5], ([0, 1], [0, 30])), shape=(4, 100))  # p = 1 / 200
    notes = assumption_notes(ObservationStatistics.of(sparse_data), threshold, "rescaled", NONE_KEPT)
    assert "Proposition 4.4" in notes[0]
    assert "more than one observation in a row of 100" in notes[0]
    denser = sparse.csr_array((np.ones(8), (np.arange(8) % 4, np.arange(8))), shape=(4, 100))  # p = 1 / 50
    for chosen, statistics in ((threshold, denser), ("noise-edge", sparse_data)):
        notes = assumption_notes(ObservationStatistics.of(statistics), chosen, "rescaled", NONE_KEPT)
        assert not any("Proposition 4.4" in note for note in notes)


def statistics_of(matrix):
    return ObservationStatistics.of(sparse.csr_array(matrix))


@pytest.fixture
def white():
    return np.random.default_rng(0).standard_normal((100, 150))


def test_unevenness_against_numpy(white):
    for axis in (0, 1):
        sums = (white**2).sum(axis=axis)
        found, by_chance = unevenness(sparse.csr_array(white), axis)
        assert found == pytest.approx(sums.std() / sums.mean())
        assert by_chance == pytest.approx((white**2).std() / np.sqrt(white.shape[axis]) / (white**2).mean())


def test_white_noise_passes(white):
    assert assumption_notes(statistics_of(white), "noise-edge", "optimal-frobenius", NONE_KEPT) == ()


def test_uneven_columns_are_reported(white):
    white[:, :15] *= 4
    notes = assumption_notes(statistics_of(white), "noise-edge", "rescaled", NONE_KEPT)
    assert any(note.startswith("features differ") for note in notes)
    assert not any(note.startswith("individuals differ") for note in notes)


def test_uneven_rows_are_reported(white):
    white[:10] *= 4
    notes = assumption_notes(statistics_of(white), "universal", "rescaled", NONE_KEPT)
    assert any(note.startswith("individuals differ") for note in notes)


def test_correlated_noise_is_reported_though_sums_of_squares_are_even(white):
    """Rows are moving averages: every column has the same variance."""
    correlated = sum(np.roll(white, shift, axis=1) for shift in range(6))
    notes = assumption_notes(statistics_of(correlated), "optimal-hard", "rescaled", NONE_KEPT)
    assert len(notes) == 1
    assert "noise is correlated or uneven" in notes[0]


@pytest.mark.parametrize("threshold", ["sign-flip", "screenot", "cross-validated", 3.0, lambda _: 3.0])
def test_what_assumes_nothing_is_not_checked(white, threshold):
    white[:, :15] *= 4
    assert assumption_notes(statistics_of(white), threshold, "rescaled", NONE_KEPT) == ()


@pytest.mark.parametrize("shrinker", ["optimal-operator", OptimalShrinker("nuclear")])
def test_shrinkers_that_assume_are_named(white, shrinker):
    white[:, :15] *= 4
    notes = assumption_notes(statistics_of(white), "sign-flip", shrinker, NONE_KEPT)
    assert notes
    assert all("the shrinker" in note and "the threshold" not in note for note in notes)


def test_every_named_rule_says_what_it_assumes():
    assert all(isinstance(rule.assumes_white_noise, bool) for rule in THRESHOLDS.values())
    assert {name for name, rule in SHRINKERS.items() if rule.assumes_white_noise} == {
        "optimal-frobenius",
        "optimal-operator",
        "optimal-nuclear",
    }


@pytest.mark.filterwarnings("ignore::likewise.errors.RankZeroWarning")  # it is noise
def test_notes_end_in_the_estimator(white):
    white[:, :15] *= 4
    values = np.clip(white / 20, -1, 1)
    assert any(
        note.startswith("features differ")
        for note in SVT("noise-edge", value_range=(-1, 1)).fit(values).notes_
    )
    assert SVT("sign-flip", value_range=(-1, 1)).fit(values).notes_ == ()
