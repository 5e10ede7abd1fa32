"""l2 distances from inner products: by hand, by the naive formula, and the same bits compiled and on NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise._kernels import distances_from_products
from likewise._kernels.native import library as native
from likewise.errors import ShapeError


@pytest.mark.usefixtures("kernels")
def test_by_hand():
    x, y = np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0], [0.0, 0.1]])
    products, sizes, other_sizes = x @ y.T, (x**2).sum(axis=1), (y**2).sum(axis=1)
    assert distances_from_products(products, sizes, other_sizes, 1e-9, 0.2) == 2
    assert products[0, [0, 2]].tolist() == [5, 4]
    assert products[1, 1:].tolist() == [5, 3, 0]
    assert np.isnan(products).nonzero()[0].tolist() == [0, 1]


def case(seed, n_rows, n_others):
    rng = np.random.default_rng(seed)
    y = rng.standard_normal((n_others, 3))
    x = np.concatenate([y, rng.standard_normal((n_rows, 3))])[rng.permutation(n_others + n_rows)[:n_rows]]
    return x, y, (x**2).sum(axis=1), (y**2).sum(axis=1)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(("n_rows", "n_others"), [(0, 3), (3, 0), (1, 1), (7, 40), (40, 9)])
def test_they_are_those_of_the_definition(n_rows, n_others):
    x, y, sizes, other_sizes = case(n_rows, n_rows, n_others)
    products = x @ y.T
    n_cancelled = distances_from_products(products, sizes, other_sizes, 1e-6)
    for i, j in np.ndindex(n_rows, n_others):
        square = sum((a - b) ** 2 for a, b in zip(x[i].tolist(), y[j].tolist(), strict=True))
        if square > 1e-5:
            assert products[i, j] == pytest.approx(math.sqrt(square), rel=1e-9)
        else:
            assert math.isnan(products[i, j])
    assert n_cancelled == np.isnan(products).sum()


@pytest.mark.skipif(not native.is_built(), reason="the compiled kernels are not installed")
@given(st.integers(0, 999), st.integers(0, 30), st.integers(0, 50), st.sampled_from([0.0, 1.5]))
def test_compiled_and_numpy_have_the_same_bits(seed, n_rows, n_others, resolution):
    x, y, sizes, other_sizes = case(seed, n_rows, n_others)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for set_number in (None, *range(native.library().likewise_instruction_sets())):
            patch.setenv("LIKEWISE_KERNELS", "scipy" if set_number is None else "native")
            if set_number is not None:
                patch.setattr(native, "instruction_set", lambda number=set_number: number)
            products = x @ y.T
            count = distances_from_products(products, sizes, other_sizes, 1e-6, resolution)
            found.append((count, products.tobytes()))
    assert len(set(found)) == 1


def test_what_does_not_fit_is_refused():
    fits = (np.ones((2, 3)), np.ones(2), np.ones(3))
    for place, wrong in (
        (0, np.ones((3, 2)).T),
        (0, np.ones((2, 4))),
        (1, np.ones(2, np.float32)),
        (2, np.ones(6)[::2]),
    ):
        arrays = [wrong if k == place else array for k, array in enumerate(fits)]
        with pytest.raises(ShapeError, match="products and sizes"):
            distances_from_products(*arrays, 1e-9)
