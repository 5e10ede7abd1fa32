"""Memory is asked for before it is allocated, and what is read in place is what it was."""

import numpy as np
import pytest
from scipy import sparse

from likewise import SVT, ObservedMatrix
from likewise.errors import MemoryLimitError, ObservationError
from likewise.estimation import one_bit_completion


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    values = np.clip(rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30)), -2, 2)
    values[rng.random(values.shape) < 0.3] = np.nan
    return SVT(2.0, value_range=(-2, 2)).fit(ObservedMatrix(values, value_range=(-2, 2)))


def test_whole_rows_that_do_not_fit_are_refused(fitted, monkeypatch):
    monkeypatch.setattr("likewise.memory.available_memory", lambda: 8 * 30 * 10)
    estimate, rows = fitted.estimate_, np.zeros((11, 30))
    for call in (
        estimate.to_dense,
        lambda: estimate.rows(slice(0, 11)),
        lambda: estimate.fold_in(rows),
        lambda: fitted.transform(sparse.csr_array((11, 30))),
    ):
        with pytest.raises(MemoryLimitError, match="would need"):
            call()
    assert estimate.rows(slice(0, 10)).shape == estimate.fold_in(rows[:10]).shape == (10, 30)


def test_rows_of_hundreds_of_gigabytes_are_refused_at_once(fitted):
    """200,000 x 150,000 numbers are 224 GiB."""
    n = 150_000
    wide = SVT(0.5).fit(sparse.csr_array(([1.0, -1.0, 0.5], ([0, 1, 2], [0, 1, 2])), shape=(3, n)))
    with pytest.raises(MemoryLimitError, match="200,000 whole rows of 150,000 features would need"):
        wide.transform(sparse.csr_array((200_000, n)))


def test_a_pattern_that_does_not_fit_is_refused_before_it_is_made_dense(monkeypatch):
    monkeypatch.setattr("likewise.memory.available_memory", lambda: 1e4)
    with pytest.raises(MemoryLimitError, match="1-bit"):
        one_bit_completion(sparse.csr_array((100, 100)))


def test_reading_in_place_is_what_the_formula_says(fitted):
    """clip(U d V^T) on [-1, 1], times 2, in the data's units; neither factors nor offsets change."""
    estimate = fitted.estimate_
    plain = 2 * np.clip((estimate.left * estimate.shrunk_values) @ estimate.right.T, -1, 1)
    for _ in range(2):
        np.testing.assert_array_equal(estimate.rows(slice(None)), plain)
    np.testing.assert_allclose(estimate.entries([3, 4], [5, 6]), plain[[3, 4], [5, 6]], rtol=1e-12)


def test_new_rows_beyond_the_range_of_the_fit_are_an_error(fitted):
    with pytest.raises(ObservationError, match="outside the range of the fit"):
        fitted.transform(np.full((1, 30), 50.0))
    assert np.isfinite(fitted.transform(np.full((1, 30), 2.0))).all()
