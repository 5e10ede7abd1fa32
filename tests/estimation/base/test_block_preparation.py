"""Errors on what was held out of blocks: those of the same estimates in memory, and the standard error of a difference."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likewise.estimation import SVT, AlternatingLeastSquares, Biases
from likewise.estimation.base.block_preparation import BlockErrors
from likewise.observations import clustered
from likewise.observations.partitioned.matrix import split_entries


def test_they_are_those_of_memory(tmp_path, in_blocks):
    observed = clustered(60, 30, 2, observed_fraction=0.5, random_state=0).observed
    matrix = in_blocks(observed, tmp_path, 1)
    with split_entries(matrix, 0.2, 0) as (seen, pairs):
        training = seen.in_memory()
        fits = [Biases(), SVT(2.0, random_state=0), AlternatingLeastSquares(3, random_state=0)]
        estimates = [estimator.fit(training).estimate_ for estimator in fits]
        hidden = seen.reader.read(pairs[0][1]).tocoo()
        found = BlockErrors.of(seen, pairs, estimates, "symmetric")
    squares = np.array(
        [(fit.fold_in(training)[hidden.row, hidden.col] - hidden.data) ** 2 for fit in estimates]
    )
    assert found.n_entries == hidden.nnz > 100
    np.testing.assert_allclose(found.means, squares.mean(axis=1), rtol=1e-9)
    mean, error = found.difference(1, 2)
    differences = squares[1] - squares[2]
    np.testing.assert_allclose(mean, differences.mean(), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(error, differences.std(ddof=1) / differences.size**0.5, rtol=1e-6)


@given(st.lists(st.tuples(st.floats(0, 4), st.floats(0, 4)), min_size=2, max_size=20))
def test_the_standard_error_is_that_of_the_differences(pairs):
    squares = np.array(pairs).T
    errors = BlockErrors(squares.shape[1], squares.sum(axis=1), squares @ squares.T)
    mean, error = errors.difference(0, 1)
    differences = squares[0] - squares[1]
    np.testing.assert_allclose(mean, differences.mean(), atol=1e-12)
    # A variance of rounding: sums of products of numbers up to 16 are exact to 1e-14 or so, and so is the square of the error.
    np.testing.assert_allclose(error**2, differences.var(ddof=1) / differences.size, atol=1e-12)
