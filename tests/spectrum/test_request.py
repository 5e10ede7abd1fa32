"""What may be asked for, what may not, and what the answer says about itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from likewise.errors import (
    CompletenessWarning,
    InputError,
    MemoryLimitError,
    ShapeError,
    SpectrumError,
    ThresholdError,
)
from likewise.spectrum import SOLVERS, singular_triplets
from likewise.spectrum.operators import as_operator
from likewise.spectrum.request import checked_request
from likewise.spectrum.triplets import choose

from .structures import planted

MATRIX = planted(np.linspace(1.0, 10.0, 60), 80, 60)


@pytest.mark.parametrize("above", [-1, -0.0001, np.nan, np.inf, -np.inf, "much", [1.0, 2.0], None])
def test_unusable_threshold(above):
    with pytest.raises(ThresholdError, match=r">= 0"):
        singular_triplets(MATRIX, above=above)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"at_most": 0}, InputError, "at_most=0"),
        ({"at_most": -3}, InputError, "at_most=-3"),
        ({"at_most": 2.5}, InputError, "at_most=2.5"),
        ({"at_most": True}, InputError, "at_most=True"),
        ({"solver": "lanczos"}, InputError, "unknown solver 'lanczos'"),
        ({"solver": "krilov"}, InputError, "did you mean 'krylov'"),
        ({"certificate": "hope"}, InputError, "unknown certificate 'hope'"),
        ({"max_passes": 0}, InputError, "max_passes=0"),
        ({"dtype": "nonsense"}, InputError, "dtype is 'nonsense'"),
        ({"dtype": int}, InputError, "float32 or float64"),
        ({"memory_limit": -1}, InputError, "memory_limit is -1"),
        ({"memory_limit": "much"}, InputError, "memory_limit is 'much'"),
        ({"start": "above"}, InputError, "vectors to start from that are not numbers"),
        ({"start": np.zeros((3, 2))}, ShapeError, r"start has shape \(3, 2\)"),
        ({"start": np.zeros(60)}, ShapeError, r"start has shape \(60,\)"),
        ({"start": np.full((60, 1), np.nan)}, InputError, "start holds NaN"),
    ],
)
def test_unusable_option(options, error, words):
    with pytest.raises(error, match=words):
        singular_triplets(MATRIX, above=1.0, **options)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("certificate", ["auto", "random"])
@pytest.mark.parametrize(("above", "count"), [(None, 5), (None, 1), (2.0, 5), (8.0, 50)])
def test_at_most(solver, certificate, above, count):
    exact = np.linspace(10.0, 1.0, 60)
    expected = exact[exact > (above or 0)][:count]
    triplets = singular_triplets(
        MATRIX, above=above, at_most=count, solver=solver, certificate=certificate, random_state=0
    )
    assert_allclose(triplets.values, expected, rtol=1e-11)
    assert triplets.completeness.proved
    assert triplets.threshold == above


@pytest.mark.parametrize("solver", ["auto", "dense"])
def test_threshold_zero_keeps_the_rank(solver):
    values = np.linspace(1.0, 10.0, 20)
    triplets = singular_triplets(planted(values, 80, 60), above=0, solver=solver)
    assert triplets.rank == 20
    assert triplets.completeness.proved
    assert triplets.completeness.at_threshold == 40  # rounding of the matrix itself makes them larger than 0


def test_what_is_left_out_above_zero_is_counted():
    """1e-15 beside 1 may be rounding: left out, and said; a singular value of 0 is no doubt."""
    triplets = singular_triplets(np.diag([1.0, 1e-15, 0.0]), above=0)
    assert triplets.values.tolist() == [1.0]
    assert triplets.completeness.at_threshold == 1
    assert "1 within rounding" in str(triplets.completeness)
    assert singular_triplets(np.diag([1.0, 1e-15, 0.0]), at_most=1).completeness.at_threshold == 0
    assert singular_triplets(np.diag([1.0, 1e-15, 0.0]), at_most=3).completeness.at_threshold == 1


@pytest.mark.parametrize("solver", ["gram", "krylov"])
def test_threshold_zero_is_not_claimed_through_the_gram_matrix(solver):
    with pytest.warns(CompletenessWarning, match="lost in the rounding"):
        triplets = singular_triplets(
            planted(np.linspace(1.0, 10.0, 20), 80, 60), above=0, solver=solver, random_state=0
        )
    assert triplets.rank == 20
    assert not triplets.completeness.proved


@pytest.mark.parametrize("solver", SOLVERS)
def test_asked_for_more_than_the_rank(solver):
    matrix = planted(np.array([5.0, 3.0, 1.0]), 80, 60)
    if solver in {"gram", "krylov", "arpack"}:
        with pytest.warns(CompletenessWarning):
            triplets = singular_triplets(matrix, at_most=6, solver=solver, random_state=0)
    else:
        triplets = singular_triplets(matrix, at_most=6, solver=solver, random_state=0)
    assert_allclose(triplets.values, [5.0, 3.0, 1.0], rtol=1e-11)


@pytest.mark.parametrize("solver", ["dense", "gram"])
def test_direct_solvers_refuse_what_does_not_fit(solver):
    with pytest.raises(MemoryLimitError, match="krylov"):
        singular_triplets(MATRIX, above=1.0, solver=solver, memory_limit=10_000)


def test_gram_refuses_a_threshold_it_would_lose():
    with pytest.raises(SpectrumError, match="dense"):
        singular_triplets(planted(np.array([1e9, 1.0]), 80, 60), above=0.5, solver="gram")


def test_tiny_threshold_goes_to_lapack():
    values = np.concatenate([[1e9], np.linspace(1.0, 10.0, 59)])
    triplets = singular_triplets(planted(values, 80, 60), above=0.5)
    assert triplets.solver == "dense"
    assert "small" in triplets.solver_reason
    assert triplets.rank == 60


@pytest.mark.parametrize(
    ("shape", "solver"),
    [((500, 20), "dense"), ((500, 300), "gram"), ((300, 500), "gram"), ((900, 800), "krylov")],
)
def test_choice_by_shape(shape, solver):
    operator, _ = as_operator(np.ones(shape))
    request = checked_request(
        above=1.0,
        at_most=None,
        dtype=np.dtype(np.float64),
        random_state=0,
        start=None,
        n=1,
        memory_limit=None,
        max_passes=10,
        certificate="auto",
        progress=None,
    )
    choice = choose(operator, request)
    assert choice.solver == solver
    assert str(min(shape)) in choice.reason


def test_result_speaks():
    triplets = singular_triplets(MATRIX, above=5.0, solver="krylov", certificate="random", random_state=0)
    text = repr(triplets)
    assert "above 5," in text
    assert "krylov" in text
    assert "proved (randomised test" in text
    assert "failure probability <= 1e-08" in text
    assert triplets.solver_reason == "asked for"


@pytest.mark.slow
@given(
    arrays(np.int8, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.integers(-3, 3)),
    st.sampled_from(["auto", "dense", "gram", "krylov"]),
    st.floats(0.05, 15),
)
def test_agrees_with_numpy_on_small_matrices_of_whole_numbers(matrix, solver, tau):
    exact = np.linalg.svd(matrix.astype(float), compute_uv=False)
    clear = np.all(np.abs(exact - tau) > 1e-6)
    triplets = singular_triplets(matrix.astype(float), above=tau, solver=solver, random_state=0)
    if clear:
        assert triplets.rank == np.count_nonzero(exact > tau)
    rebuilt = triplets.left * triplets.values @ triplets.right.T
    assert np.linalg.norm(matrix - rebuilt, 2) <= tau * (1 + 1e-9) + 1e-9
    assert triplets.completeness.proved
