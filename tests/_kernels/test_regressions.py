"""Regressions on uncertain columns: by hand, against LAPACK one row at a time, compiled and on NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise._kernels import solve_regressions
from likewise._kernels.native import library as native
from likewise.errors import ShapeError
from likewise.estimation.base.factor_update import packed, unpacked


def solved(grams, sides, precision, multiples, noise, uncertain, drawn=None):
    grams = np.ascontiguousarray(grams)
    means, moments = np.full(sides.shape, np.nan), np.full(grams.shape, np.nan)
    told = solve_regressions(grams, sides, precision, multiples, noise, uncertain, means, moments, drawn)
    return means, moments, told


@pytest.mark.usefixtures("kernels")
def test_two_unknowns_by_hand():
    """[[2, 1], [1, 3]] + [[2, 0], [0, 1]] / 2 = [[3, 1], [1, 3.5]], of determinant 9.5; the side is (9.5, 19) / 2."""
    gram, side, precision = np.array([[2.0, 0.0, 1.0]]), np.array([[9.5, 19.0]]), np.array([2.0, 1.0, 3.0])
    means, moments, told = solved(gram, side, precision, np.ones(1), 2.0, True)
    np.testing.assert_allclose(means, [[0.75, 2.5]])
    inverse = np.array([3.5, -1.0, 3.0]) / 9.5
    np.testing.assert_allclose(moments, [np.array([0.5625, 1.875, 6.25]) + inverse])
    second = moments[0]
    explained = 2 * (9.5 * 0.75 + 19 * 2.5) - 2 * second[0] - second[2]
    drawn = 2 * second[0] + 2 * second[1] + 3 * second[2]
    np.testing.assert_allclose(told, [explained, drawn, np.log(9.5), 0])


@pytest.mark.usefixtures("kernels")
@given(
    st.integers(0, 2**32 - 1),
    st.one_of(st.integers(0, 20), st.integers(60, 70)),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
    st.floats(1e-3, 1e3),
)
def test_each_row_is_what_lapack_finds(seed, k, d, uncertain, has_mean, noise):
    rng = np.random.default_rng(seed)
    halves = rng.normal(size=(k + 1, d, 2 * d))
    matrices = halves @ halves.transpose(0, 2, 1)
    grams, precision, sides = matrices[:k], matrices[k] + np.eye(d), rng.normal(size=(k, d))
    triangles = packed(matrices)[:k]
    multiples = rng.uniform(0.5, 2, k)
    drawn = rng.normal(size=(k, d)) if has_mean else None
    means, moments, (explained, penalty, log_determinants, n_lost) = solved(
        triangles, sides, packed(precision[None])[0], multiples, noise, uncertain, drawn
    )
    posterior = grams / noise + multiples[:, None, None] * precision
    right = sides / noise + (drawn if has_mean else 0.0)
    x = np.linalg.solve(posterior, right[:, :, None])[:, :, 0]
    second = x[:, :, None] * x[:, None] + (np.linalg.inv(posterior) if uncertain else 0.0)
    close = {"rtol": 1e-7, "atol": 1e-9 * float(np.abs(second).max(initial=1.0))}
    np.testing.assert_allclose(means, x, **close)
    np.testing.assert_allclose(unpacked(moments, d), second, **close)
    sizes = np.abs(sides * x).sum(), np.abs(grams * second).sum()
    assert explained == pytest.approx(2 * np.sum(sides * x) - np.sum(grams * second), abs=1e-7 * sum(sizes))
    assert penalty == pytest.approx(np.sum(multiples[:, None, None] * precision * second), rel=1e-7, abs=1e-9)
    assert log_determinants == pytest.approx(np.linalg.slogdet(posterior)[1].sum(), rel=1e-7, abs=1e-7)
    assert n_lost == 0


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("repeated", [1, 7, 30])
def test_matrices_that_are_singular_within_rounding_are_counted(repeated):
    singular = np.array(
        [[[1.0, 1.0], [1.0, 1.0 + 1e-15]], [[1.0, 0.0], [0.0, 1e-30]], [[0.0, 0.0], [0.0, 1.0]]]
    )
    grams = np.tile(packed(singular), (repeated, 1))
    k = len(grams)
    _, _, (*_, n_lost) = solved(grams, np.zeros((k, 2)), np.zeros(3), np.ones(k), 1.0, True)
    assert n_lost == 2 * repeated  # a small diagonal entry alone is no loss


@pytest.mark.skipif(not native.is_built(), reason="the compiled kernels are not installed")
@pytest.mark.parametrize("d", [1, 4, 21, 40])
def test_every_instruction_set_agrees_with_numpy(d, monkeypatch):
    rng = np.random.default_rng(d)
    halves = rng.normal(size=(19, d, 2 * d))
    grams, sides = packed(halves @ halves.transpose(0, 2, 1)), rng.normal(size=(19, d))
    found = []
    for set_number in (None, *range(native.library().likewise_instruction_sets())):
        monkeypatch.setenv("LIKEWISE_KERNELS", "scipy" if set_number is None else "native")
        if set_number is not None:
            monkeypatch.setattr(native, "instruction_set", lambda number=set_number: number)
        means, moments, told = solved(grams, sides, packed(np.eye(d)[None])[0], np.ones(19), 0.5, True)
        found.append((means, moments, np.array(told)))
    for means, moments, told in found[1:]:
        np.testing.assert_allclose(means, found[0][0], rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(moments, found[0][1], rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(told, found[0][2], rtol=1e-8, atol=1e-9)


def test_what_does_not_fit_is_refused():
    fits = [np.ones((3, 3)), np.ones((3, 2)), np.ones(3), np.ones(3), np.ones((3, 2)), np.ones((3, 3))]
    for place, wrong in enumerate(
        (
            np.ones((3, 6))[:, ::2],
            np.ones((3, 3)),
            np.ones(4),
            np.ones(2),
            np.ones((2, 2)),
            np.ones((3, 3), "f4"),
        )
    ):
        grams, sides, precision, multiples, means, moments = (
            wrong if k == place else array for k, array in enumerate(fits)
        )
        with pytest.raises(ShapeError, match="equations and room"):
            solve_regressions(grams, sides, precision, multiples, 1.0, True, means, moments)
