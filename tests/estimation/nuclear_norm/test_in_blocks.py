"""SoftImpute on observations in blocks: the problem of memory, its proved gap, the same bits on every engine."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.engines.failing import Failing

from likewise._kernels import sampled_entries
from likewise.certificates import certify
from likewise.engines import engine_of
from likewise.engines.checkpoint import Remembering
from likewise.engines.local import Serial
from likewise.errors import ConvergenceWarning, EngineError, EstimatorError, InputError, MemoryLimitError
from likewise.estimation import LowRankEstimate, SoftImpute, soft_impute
from likewise.estimation.base.block_preparation import BlockPrepared
from likewise.estimation.base.preparation import Centre, prepare
from likewise.estimation.nuclear_norm.in_blocks import BlockDescent, equations, regressed
from likewise.estimation.nuclear_norm.problem import Mixing
from likewise.observations import ObservedMatrix, clustered


@pytest.fixture(scope="module")
def observed():
    return clustered(120, 60, 3, observed_fraction=0.4, random_state=0).observed


@pytest.fixture(scope="module")
def blocks(observed, tmp_path_factory, in_blocks):
    return in_blocks(observed, tmp_path_factory.mktemp("blocks"))


def objective(observed, fitted, centering):
    """``1/2 |P(Z - A)|^2 + lambda |A|_*`` and A on what is observed, with the centre of memory."""
    values = prepare(observed, "symmetric", centering).residuals
    estimate = fitted.estimate_
    entries = sampled_entries(values, estimate.left * estimate.shrunk_values, estimate.right)
    left = values.data - entries
    return left @ left / 2 + fitted.regularization_ * estimate.shrunk_values.sum(), entries


@pytest.mark.slow
@pytest.mark.parametrize("centering", ["none", "global", "biases"])
@pytest.mark.parametrize("lam", [1.0, 4.0, 1e3])
def test_it_is_the_minimum_of_memory(observed, blocks, centering, lam):
    """Each is at most its gap above the minimum f, and at a distance of at most sqrt(2 gap f) on what is observed, as the loss is quadratic."""
    here, there = (
        SoftImpute(lam, centering=centering, random_state=0).fit(given) for given in (observed, blocks)
    )
    (f, entries), (g, others) = (objective(observed, fitted, centering) for fitted in (here, there))
    assert here.converged_
    assert there.converged_
    assert there.gap_ <= 1e-3
    # Centres of blocks are solved to 1e-9, and the objective is Lipschitz in them.
    assert abs(f - g) <= max(f * here.gap_, g * there.gap_) + 1e-6 * f
    reach = np.sqrt(2 * here.gap_ * f) + np.sqrt(2 * there.gap_ * g)
    assert np.linalg.norm(entries - others) <= reach + 1e-6 * np.sqrt(f)
    assert bool(there.rank_) == bool(here.rank_) == (lam < 1e3)


@pytest.mark.slow
def test_rows_that_are_folded_in_and_constants_are_those_of_memory(observed, blocks, tmp_path):
    here, there = (
        SoftImpute(4.0, tol=1e-9, max_iter=2000, random_state=0).fit(z) for z in (observed, blocks)
    )
    assert there.rank_ == here.rank_
    np.testing.assert_allclose(there.singular_values_, here.singular_values_, rtol=1e-4)
    np.testing.assert_allclose(there.transform(observed), there.estimate_.to_dense(), atol=1e-4)
    np.testing.assert_allclose(there.transform(observed), here.transform(observed), atol=1e-3)
    one, other = (
        certify(fitted.estimate_, observed).regression.certificate.value for fitted in (here, there)
    )
    assert one == pytest.approx(other, rel=1e-3)
    there.estimate_.save(tmp_path / "estimate.npz")
    again = LowRankEstimate.load(tmp_path / "estimate.npz")
    np.testing.assert_array_equal(again.fold_in(observed), there.transform(observed))


def test_one_row_two_columns_by_hand(tmp_path, in_blocks):
    """sigma = 1, lambda = 0.2: four fifths of (0.6, 0.8)."""
    observed = ObservedMatrix(np.array([[0.6, 0.8]]), value_range=(-1, 1))
    options = {"centering": "none", "tol": 1e-10, "random_state": 0}
    fitted = SoftImpute(0.2, **options).fit(in_blocks(observed, tmp_path, 1))
    np.testing.assert_allclose(fitted.estimate_.to_dense(), [[0.48, 0.64]], atol=1e-6)


def test_two_factors_by_hand():
    """Rows (1, 0) and (0, 1), z = (2, 3), lambda = 1: (2/2, 3/2); with (1, 1) and z = 4 for one column, Gram (1, 1, 1), side (4, 4)."""
    from likewise.estimation.base.factor_update import Factors

    found = regressed(sparse.csr_array([[2.0, 3.0]]), Factors.certain(np.eye(2)), 1.0)
    np.testing.assert_allclose(found.factors.means, [[1.0, 1.5]])
    ((_, grams, sides),) = equations(sparse.csr_array([[4.0]]), Factors.certain(np.ones((1, 2))))
    np.testing.assert_allclose(grams, [[1, 1, 1]])
    np.testing.assert_allclose(sides, [[4, 4]])


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 12),
    n=st.integers(1, 9),
    lam=st.sampled_from([0.02, 0.3, 3.0]),
    max_iter=st.sampled_from([1, 2, 5, 300]),
)
def test_the_gap_is_a_bound_whenever_it_stops(seed, m, n, lam, max_iter, in_blocks):
    """The minimum that memory proves is never below ``(1 - gap)`` times the objective."""
    rng = np.random.default_rng(seed)
    z = np.where(rng.random((m, n)) < 0.6, rng.uniform(-1, 1, (m, n)), np.nan)
    z[np.arange(m), rng.integers(0, n, m)] = 0.5
    observed = ObservedMatrix(z, value_range=(-1, 1))
    with tempfile.TemporaryDirectory() as folder:
        given_blocks = in_blocks(observed, folder, min(2, m))
        prepared = BlockPrepared(given_blocks, "symmetric", Centre("none"))
        fit = BlockDescent(prepared, lam, min(m, n), np.random.default_rng(seed)).run(1e-4, max_iter)
    least = soft_impute(observed.scaled("symmetric").values, lam, tol=1e-7, max_iter=3000, random_state=0)
    assert least.objective >= fit.objective * (1 - fit.gap) - 1e-12
    assert fit.objective >= least.objective * (1 - least.gap) - 1e-12
    assert fit.converged == (fit.gap <= 1e-4)


def test_the_gap_is_proved_by_a_randomised_test_too(observed, blocks, monkeypatch):
    monkeypatch.setattr("likewise.spectrum.proof.INERTIA_SIDE", 0)
    fitted = SoftImpute(4.0, centering="none", random_state=0).fit(blocks)
    residual = np.zeros(observed.shape)
    values = prepare(observed, "symmetric", "none").residuals
    residual[observed.positions()] = values.data - objective(observed, fitted, "none")[1]
    largest = np.linalg.norm(residual, 2)
    scale = min(1.0, 4.0 / largest)
    dual = scale * np.sum(residual[observed.positions()] * values.data) - scale**2 / 2 * np.sum(residual**2)
    assert 1 - dual / objective(observed, fitted, "none")[0] <= fitted.gap_ <= 1e-3


@pytest.mark.slow
def test_lambda_is_chosen_by_what_is_held_out(observed, blocks):
    here, there = (SoftImpute(random_state=0).fit(z) for z in (observed, blocks))
    errors = [error for _, _, error in there.path_]
    best = there.path_[int(np.argmin(errors))][0]
    assert there.regularization_ == pytest.approx(best / 0.9**0.5)
    assert abs(np.log(there.regularization_ / here.regularization_)) < 1  # two steps of the path
    assert min(errors) == pytest.approx(min(error for _, _, error in here.path_), rel=0.15)
    assert there.passes_ > len(errors)


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["threads", *(pytest.param(e, marks=pytest.mark.slow) for e in ("processes", "dask", "ray"))]
)
def test_every_engine_has_the_same_bits(observed, tmp_path, engine, in_blocks):
    if engine in ("dask", "ray"):
        pytest.importorskip("distributed" if engine == "dask" else "ray")
    found = []
    with engine_of(engine) as running:
        for each in (Serial(), running):
            fitted = SoftImpute(max_rank=4, n_path=3, random_state=0).fit(
                in_blocks(observed, tmp_path, 5, each)
            )
            estimate = fitted.estimate_
            found.append([part.tobytes() for part in (estimate.left, estimate.shrunk_values, estimate.right)])
            found[-1] += [fitted.path_, fitted.gap_, fitted.passes_]
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_fit_that_was_cut_off_goes_on_to_the_same_bits(observed, tmp_path, in_blocks):
    def fitted(engine):
        (tmp_path / "rows").mkdir(exist_ok=True)
        return SoftImpute(2.0, random_state=0).fit(in_blocks(observed, tmp_path / "rows", 3, engine))

    whole = Failing()
    expected = fitted(whole)
    with pytest.raises(EngineError), Remembering(Failing(8), tmp_path / "kept") as engine:
        fitted(engine)
    rest = Failing()
    with Remembering(rest, tmp_path / "kept") as engine:
        found = fitted(engine)
    assert rest.done == whole.done - 8
    assert found.estimate_.left.tobytes() == expected.estimate_.left.tobytes()


def test_it_says_what_it_cannot_do(observed, blocks, tmp_path, in_blocks):
    for options in ({"propensities": "degrees"}, {"max_lipschitz": 1.0}):
        with pytest.raises(EstimatorError, match="for PartitionedMatrix"):
            SoftImpute(**options).fit(blocks)
    for options in ({"regularization": -1.0}, {"regularization": "most"}, {"tol": 0.0}, {"max_rank": 0}):
        with pytest.raises(InputError):
            SoftImpute(**options).fit(blocks)
    with pytest.warns(ConvergenceWarning, match="not converged after 2 steps"):
        assert not SoftImpute(1.0, max_iter=2, random_state=0).fit(blocks).converged_
    small = in_blocks(observed, tmp_path, memory_limit=321 << 20)
    with pytest.raises(MemoryLimitError, match=r"factors of rank \d+ of 120 x 60 entries need .* MiB"):
        SoftImpute(0.1, random_state=0).fit(small)


def test_a_limited_rank(observed, blocks):
    fitted = SoftImpute(1.0, max_rank=2, centering="none", random_state=0).fit(blocks)
    assert fitted.rank_ == 2
    assert fitted.converged_


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 4))
def test_mixing_solves_linear_equations_in_as_many_steps_as_unknowns(seed, d):
    """Anderson's mixing is GMRES there (Walker, Ni 2011), which ends after d + 1 residuals."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    matrix, side = turn * rng.uniform(0.1, 0.8, d) @ turn.T, rng.normal(size=d)
    mixing, x = Mixing(), np.zeros(d)
    for _ in range(d + 1):
        x = mixing.after(x, matrix @ x + side)
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(d) - matrix, side), atol=1e-6)
