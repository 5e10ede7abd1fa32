"""The block Krylov search where the space stays much smaller than the matrix: restarts, repeats, budgets, warm starts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, diags_array, random_array, vstack

from likewise._kernels import CompressedRows
from likewise.errors import CompletenessWarning, MemoryLimitError, SpectrumError
from likewise.spectrum import proof, search, singular_triplets
from likewise.spectrum.krylov import BlockKrylov, LookSchedule
from likewise.spectrum.operators import as_operator

from .structures import planted


@pytest.fixture(scope="module")
def noisy():
    """A 600 x 450 matrix with 30 values above the edge of a bulk, and its singular values."""
    rng = np.random.default_rng(0)
    matrix = planted(np.linspace(30.0, 80.0, 30), 600, 450) + 0.5 * rng.standard_normal((600, 450))
    return matrix, np.linalg.svd(matrix, compute_uv=False)


def above_gap(values, count):
    return (values[count - 1] + values[count]) / 2


def krylov(matrix, **options):
    return singular_triplets(
        matrix, **{"solver": "krylov", "certificate": "random", "random_state": 0} | options
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 7, 30, 60])
def test_finds_what_lies_above_a_gap(noisy, count):
    matrix, values = noisy
    triplets = krylov(matrix, above=above_gap(values, count))
    assert triplets.rank == count
    assert_allclose(triplets.values, values[:count], rtol=1e-12)


def test_sees_values_repeated_more_often_than_a_block_is_wide():
    values = np.concatenate([np.full(40, 5.0), np.linspace(0.1, 3, 460)])
    matrix = diags_array(np.random.default_rng(1).permutation(values)).tocsr()
    triplets = krylov(matrix, above=4.0)
    assert triplets.rank == 40
    assert triplets.completeness.proved


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("hidden", [[3], [0, 1, 2, 3, 4], list(range(30))])
def test_starts_blind_and_finds_it_all_the_same(hidden, dtype, monkeypatch):
    """What a proof from the starting block itself would rest on fails here: it is orthogonal to what is wanted.

    The matrix is diagonal, so that not even rounding leads the Krylov space towards the hidden vectors.
    """
    values = np.concatenate([np.linspace(80.0, 30.0, 30), np.linspace(25, 0.1, 470)])
    original = search._Search._starting_block
    attempts = []

    def blind(self):
        block = original(self)
        block[hidden] = 0
        return block

    def watched(*given, **options):
        attempts.append(original_test(*given, **options))
        return attempts[-1]

    original_test = proof.random_test
    monkeypatch.setattr(search._Search, "_starting_block", blind)
    monkeypatch.setattr(proof, "random_test", watched)
    triplets = krylov(diags_array(values).tocsr(), above=28.0, dtype=dtype)
    assert not attempts[0].passed
    assert triplets.completeness.proved
    assert_allclose(triplets.values, values[:30], rtol=1e-6 if dtype == np.float32 else 1e-12)


def test_restarts_within_a_memory_limit(noisy, monkeypatch):
    matrix, values = noisy
    restarts = []
    original = BlockKrylov.restart
    monkeypatch.setattr(
        BlockKrylov, "restart", lambda self, *given: restarts.append(self.size) or original(self, *given)
    )
    triplets = krylov(matrix, above=above_gap(values, 30), memory_limit=1.2e6)
    assert len(restarts) >= 2
    assert max(restarts) <= 1.2e6 / (2 * 450 * 8)
    assert triplets.completeness.proved
    assert_allclose(triplets.values, values[:30], rtol=1e-12)


def test_two_looks_at_one_size_plan_the_next_one():
    """After a restart the space can be as large as at the last look: no slope is known then, and none is divided by."""
    schedule = LookSchedule(first=40)
    schedule.plan(size=40, wanted=5, excess=1000.0)
    schedule.plan(size=40, wanted=5, excess=10.0)
    assert schedule.next_size == 48  # a fifth more, as at a first look
    schedule.plan(size=30, wanted=5, excess=5.0)  # smaller than before: nor is a slope known then
    assert schedule.next_size == 36


def test_the_next_look_is_where_residuals_would_fall_to_their_tolerance():
    """A factor of 100 in 21 columns: 0.9 of the 21 columns that another 100 take, rounded up."""
    schedule = LookSchedule(first=40)
    schedule.plan(size=40, wanted=5, excess=1e4)
    schedule.plan(size=61, wanted=5, excess=1e2)
    assert schedule.next_size == 80


@given(
    looks=st.lists(
        st.tuples(st.integers(1, 200) | st.just(40), st.integers(0, 3), st.floats(1e-12, 1e12)), min_size=1
    )
)
def test_a_schedule_always_grows_the_space(looks):
    """Whatever sizes follow each other, as restarts leave them."""
    schedule = LookSchedule(first=1)
    for size, wanted, excess in looks:
        schedule.plan(size, wanted, excess)
        assert size < schedule.next_size <= 2 * size


@pytest.mark.parametrize("limit", [1.2e6, 2e6])
def test_more_above_than_memory_allows_is_an_error_that_counts(noisy, limit):
    matrix, values = noisy
    with pytest.raises(MemoryLimitError, match=r"at least \d+ singular values") as caught:
        krylov(matrix, above=above_gap(values, 300), memory_limit=limit)
    counted = int(str(caught.value).split()[2])
    assert 50 < counted <= 300
    assert "at_most" in str(caught.value)


def test_whole_space_is_a_proof_where_nothing_else_is():
    """Threshold zero, no energy known, the zero matrix: no gap, no energy argument; but all has been seen."""
    operator = as_operator(CompressedRows.from_csr(csr_array((60, 40))))[0]
    assert operator.energy is None
    triplets = krylov(operator, above=0)
    assert triplets.rank == 0
    assert triplets.completeness.proved
    assert "whole space" in triplets.completeness.reason


def test_memory_for_not_even_a_few_blocks_is_an_error(noisy):
    with pytest.raises(MemoryLimitError):
        krylov(noisy[0], above=30.0, memory_limit=1000)


def test_out_of_passes_is_said_not_hidden(noisy):
    matrix, values = noisy
    with pytest.warns(CompletenessWarning, match="stopped after"):
        triplets = krylov(matrix, above=above_gap(values, 60), max_passes=12)
    assert not triplets.completeness.proved
    assert triplets.rank <= 60
    assert triplets.passes <= 12 + 20


@pytest.mark.parametrize("transposed", [False, True])
def test_warm_start_needs_fewer_passes(noisy, transposed):
    matrix, values = noisy
    tau = above_gap(values, 30)
    rng = np.random.default_rng(3)
    changed = matrix + 1e-6 * rng.standard_normal(matrix.shape)
    cold, before = krylov(changed, above=tau), krylov(matrix, above=tau)
    start = before.right
    if transposed:
        changed, start = changed.T, before.left
    warm = krylov(changed, above=tau, start=start)
    assert warm.passes < 0.7 * cold.passes
    assert_allclose(warm.values, cold.values, rtol=1e-12)


@pytest.mark.slow
def test_warm_start_that_misleads_changes_nothing(noisy):
    """Vectors of the small end of the spectrum, and the zero vector."""
    matrix, values = noisy
    start = np.hstack([np.linalg.svd(matrix)[2][-20:].T, np.zeros((450, 2))])
    triplets = krylov(matrix, above=above_gap(values, 30), start=start)
    assert_allclose(triplets.values, values[:30], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e60, 1e300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_only_the_directions_of_a_warm_start_count(noisy, scale, dtype):
    matrix, values = noisy
    tau = above_gap(values, 30)
    before = krylov(matrix, above=tau)
    plain, scaled = (
        krylov(matrix, above=tau, start=before.right * size, dtype=dtype) for size in (1.0, scale)
    )
    assert abs(scaled.passes - plain.passes) <= 2
    assert_allclose(scaled.values, plain.values, rtol=1e-6 if dtype == np.float32 else 1e-12)


@pytest.mark.slow
def test_threshold_below_single_precision_is_found_in_double():
    values = np.concatenate([[1e5], np.linspace(2.0, 10.0, 30), np.linspace(0.01, 0.5, 469)])
    matrix = planted(values, 600, 500)
    triplets = krylov(matrix, above=1.0, dtype=np.float32)
    stored = np.linalg.svd(matrix.astype(np.float32).astype(np.float64), compute_uv=False)
    assert triplets.rank == 31
    assert triplets.right.dtype == np.float32
    assert_allclose(triplets.values, stored[:31], rtol=1e-6)


@pytest.mark.slow
def test_threshold_that_gram_matrices_lose_is_an_error():
    values = np.concatenate([[1e9], np.linspace(2.0, 10.0, 499)])
    with pytest.raises(SpectrumError, match="dense"):
        krylov(planted(values, 600, 500), above=1.0)


def test_so_much_above_that_the_gram_matrix_is_cheaper(noisy):
    matrix, values = noisy
    triplets = singular_triplets(matrix, above=above_gap(values, 350), random_state=0)
    assert triplets.solver == "gram"
    assert "iteration" in triplets.solver_reason
    assert triplets.rank == 350


def test_same_seed_same_result(noisy):
    matrix, values = noisy
    one, two = (krylov(matrix, above=above_gap(values, 30), random_state=5) for _ in range(2))
    assert one.values.tobytes() == two.values.tobytes()
    assert one.right.tobytes() == two.right.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_change_nothing_but_rounding(noisy, dtype, monkeypatch):
    matrix, values = noisy
    results = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LIKEWISE_NUM_THREADS", threads)
        results.append(krylov(csr_array(matrix), above=above_gap(values, 60), dtype=dtype, random_state=5))
    for other in results[1:]:
        assert other.rank == results[0].rank == 60
        assert_allclose(other.values, results[0].values, rtol=1e-6)
        assert_allclose(other.right, results[0].right, atol=2e-5 if dtype == np.float32 else 1e-8)


def test_krylov_relation_holds_after_restart_and_injection():
    """A^T A Q = Q T + frontier C, with Q orthonormal, whatever happened to the space."""
    rng = np.random.default_rng(8)
    matrix = random_array((300, 200), density=0.2, rng=rng, format="csr")
    operator, _ = as_operator(matrix)
    space = BlockKrylov(operator, rng.standard_normal((200, 6)))
    for _ in range(5):
        space.step()
    space.restart(space.ritz(), 9)
    space.inject(rng.standard_normal((200, 4)))
    for _ in range(3):
        space.step()

    identity = np.eye(space.size)
    basis = space.basis.combine(identity)
    assert_allclose(basis.T @ basis, identity, atol=1e-13)
    assert_allclose(basis.T @ space.frontier, 0, atol=1e-13)
    gram = (matrix.T @ matrix).toarray()
    remainder = gram @ basis - basis @ (basis.T @ gram @ basis)
    assert_allclose(remainder, space.frontier @ (space.frontier.T @ remainder), atol=1e-10)
    pairs = space.ritz()
    vectors = space.vectors(pairs, space.size)
    assert_allclose(
        np.linalg.norm(gram @ vectors - vectors * pairs.squares, axis=0),
        pairs.errors,
        atol=1e-9 * pairs.squares[0],
    )
    assert_allclose(space.squares(), pairs.squares, rtol=1e-12)


def test_reports_progress(noisy):
    matrix, values = noisy
    messages = []
    krylov(
        matrix,
        above=above_gap(values, 30),
        progress=lambda message, fraction: messages.append((message, fraction)),
    )
    assert any("Krylov" in message for message, _ in messages)
    fractions = [fraction for _, fraction in messages if fraction is not None]
    assert fractions
    assert all(0 <= fraction <= 1 for fraction in fractions)


@pytest.mark.slow
def test_stack_of_the_same_rows():
    """Duplicated rows multiply singular values by sqrt(2) and leave the right vectors."""
    rng = np.random.default_rng(4)
    matrix = random_array((500, 450), density=0.05, rng=rng, format="csr")
    values = np.linalg.svd(matrix.toarray(), compute_uv=False)
    tau = above_gap(values, 20)
    once = krylov(matrix, above=tau)
    twice = krylov(vstack([matrix, matrix]).tocsr(), above=tau * np.sqrt(2))
    assert_allclose(twice.values, once.values * np.sqrt(2), rtol=1e-11)
    assert_allclose(twice.right, once.right, atol=1e-8)
