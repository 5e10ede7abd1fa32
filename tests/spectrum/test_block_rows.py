"""A matrix in blocks: its products, its triplets, and that the engine changes no bit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from likewise.engines import engine_of
from likewise.spectrum import singular_triplets
from likewise.spectrum.operators import BlockRows


@dataclass(frozen=True)
class Rows:
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Memory:
    matrix: sparse.csr_array

    def read(self, block, dtype):
        return self.matrix[block.start : block.stop].astype(dtype)


def in_blocks(matrix, edges, engine="serial"):
    blocks = [Rows(int(start), int(stop)) for start, stop in pairwise(edges)]
    energy, largest = float((matrix.data**2).sum()), float(np.abs(matrix.data).max(initial=0.0))
    return BlockRows(blocks, Memory(matrix), matrix.shape, engine_of(engine), energy, largest)


def noisy(m, n, seed=0, rank=4):
    """A few strong components, and as much noise as leaves a gap."""
    rng = np.random.default_rng(seed)
    strong = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    return sparse.csr_array(
        np.where(rng.random((m, n)) < 0.4, strong + 0.5 * rng.standard_normal((m, n)), 0.0)
    )


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(1, 20), st.integers(0, 10**6), st.data())
def test_products_are_those_of_the_matrix(m, n, width, seed, data):
    rng = np.random.default_rng(seed)
    matrix = sparse.random_array((m, n), density=0.3, format="csr", rng=rng)
    inner = data.draw(st.sets(st.integers(1, max(m - 1, 1)).filter(lambda edge: edge < m)))
    operator = in_blocks(matrix, [0, *sorted(inner), m])
    X, Y = rng.standard_normal((n, width)), rng.standard_normal((m, width))
    np.testing.assert_allclose(operator.forward(X), matrix @ X, atol=1e-12)
    np.testing.assert_allclose(operator.adjoint(Y), matrix.T @ Y, atol=1e-12)
    np.testing.assert_allclose(operator.gram(X), matrix.T @ (matrix @ X), atol=1e-12)
    assert operator.passes == 3
    assert operator.largest_entry() == np.abs(matrix.data).max(initial=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 120, 500])
def test_triplets_are_those_of_lapack_but_for_the_left(n):
    matrix = noisy(900, n)
    values = np.linalg.svd(matrix.toarray(), compute_uv=False)
    tau = float((values[3] + values[4]) / 2)
    found = singular_triplets(in_blocks(matrix, np.arange(0, 901, 100)), above=tau, random_state=0)
    assert found.completeness.proved
    np.testing.assert_allclose(found.values, values[:4], rtol=1e-9)
    assert found.residuals.max() <= 1e-6
    left = matrix @ found.right / found.values
    np.testing.assert_allclose(left.T @ left, np.eye(4), atol=1e-6)
    assert found.left.shape[0] == (0 if n > 32 else 900)


def test_a_wide_matrix_has_both_sides():
    matrix = noisy(60, 700, seed=1)
    values = np.linalg.svd(matrix.toarray(), compute_uv=False)
    found = singular_triplets(
        in_blocks(matrix, [0, 25, 60]), above=float((values[3] + values[4]) / 2), random_state=0
    )
    np.testing.assert_allclose(found.values, values[:4], rtol=1e-6)
    assert (found.left.shape, found.right.shape) == ((60, 4), (700, 4))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_the_engine_changes_no_bit(engine):
    matrix = noisy(2000, 500, seed=2)
    edges = np.arange(0, 2001, 100)
    alone = singular_triplets(in_blocks(matrix, edges), at_most=4, random_state=0)
    with engine_of(engine) as started:
        other = singular_triplets(in_blocks(matrix, edges, started), at_most=4, random_state=0)
    assert alone.values.tobytes() == other.values.tobytes()
    assert alone.right.tobytes() == other.right.tobytes()


@pytest.mark.slow
def test_wide_blocks_read_the_matrix_less_often():
    matrix = noisy(1500, 600, seed=3, rank=20)
    values = np.linalg.svd(matrix.toarray(), compute_uv=False)
    tau = float((values[19] + values[20]) / 2)
    in_memory = singular_triplets(matrix, above=tau, certificate="random", random_state=0, solver="krylov")
    blocks = singular_triplets(
        in_blocks(matrix, [0, 700, 1500]), above=tau, certificate="random", random_state=0, solver="krylov"
    )
    assert blocks.rank == in_memory.rank == 20
    assert blocks.passes < 0.7 * in_memory.passes
