"""Entries of a low-rank matrix at given places: compiled, on NumPy, by hand, and by the naive product."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise._kernels import sampled_entries
from likewise._kernels.native import library as native
from likewise.errors import InputError, ShapeError

KERNELS = ["scipy", *(["native"] if native.is_built() else [])]


@pytest.fixture(params=KERNELS)
def kernels(request, monkeypatch):
    monkeypatch.setenv("LIKEWISE_KERNELS", request.param)


def case(m, n, rank, seed):
    rng = np.random.default_rng(seed)
    pattern = sparse.random_array((m, n), density=0.3, format="csr", rng=rng)
    return pattern, rng.standard_normal((m, rank)), rng.standard_normal((n, rank))


@pytest.mark.usefixtures("kernels")
def test_by_hand():
    pattern = sparse.csr_array(
        (np.zeros(3), [2, 0, 1], [0, 1, 1, 3]), shape=(3, 3)
    )  # a stored zero is a place
    left = np.array([[1.0, 2.0], [9.0, 9.0], [3.0, -1.0]])
    right = np.array([[1.0, 1.0], [0.0, 2.0], [4.0, 0.5]])
    # (0, 2): 4 + 1; (2, 0): 3 - 1; (2, 1): -2
    assert sampled_entries(pattern, left, right).tolist() == [5.0, 2.0, -2.0]


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("rank", [0, 1, 7, 8, 9, 40])
@pytest.mark.parametrize("shape", [(1, 1), (30, 20), (5, 400), (400, 1)])
def test_they_are_those_of_the_dense_product(shape, rank):
    pattern, left, right = case(*shape, rank, seed=rank)
    i, j = pattern.tocoo().coords
    found = sampled_entries(pattern, left, right)
    np.testing.assert_allclose(found, (left @ right.T)[i, j], rtol=1e-12, atol=1e-12)


@pytest.mark.skipif("native" not in KERNELS, reason="the compiled kernels are not built")
@given(m=st.integers(1, 30), n=st.integers(1, 30), rank=st.integers(0, 20), seed=st.integers(0, 9))
def test_compiled_and_numpy_agree(m, n, rank, seed):
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for choice in KERNELS:
            patch.setenv("LIKEWISE_KERNELS", choice)
            found.append(sampled_entries(*case(m, n, rank, seed)))
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-13)


@pytest.mark.usefixtures("kernels")
def test_threads_change_no_bit():
    arguments = case(200, 50, 11, seed=3)
    one, three = (sampled_entries(*arguments, n_threads=count) for count in (1, 3))
    assert one.tobytes() == three.tobytes()


@pytest.mark.usefixtures("kernels")
def test_single_precision_and_any_layout_are_taken():
    pattern, left, right = case(12, 9, 5, seed=1)
    expected = sampled_entries(pattern, left, right)
    np.testing.assert_array_equal(sampled_entries(pattern, np.asfortranarray(left), right), expected)
    single = sampled_entries(pattern, left.astype(np.float32), right.astype(np.float32))
    np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("kernels")
def test_what_does_not_fit_is_refused():
    pattern, left, right = case(6, 4, 3, seed=0)
    with pytest.raises(ShapeError, match="left has shape"):
        sampled_entries(pattern, left[:5], right)
    with pytest.raises(ShapeError, match="the same number"):
        sampled_entries(pattern, left, right[:, :2])
    broken = pattern.copy()
    broken.indices = broken.indices + 4
    with pytest.raises(InputError):
        sampled_entries(broken, left, right)
