"""Probabilities of ordered levels: the formula, its parts against naive ones, what is calibrated, and what is refused."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp
from scipy.stats import norm

from likewise import ObservedMatrix, audit
from likewise.errors import InputError, ShapeError
from likewise.estimation import AlternatingLeastSquares, Auto, Biases, Mixture, level_probabilities
from likewise.estimation.base.factor_update import Factors, packed
from likewise.estimation.ordinal import (
    OrderedProbit,
    cell_probabilities,
    entry_variance,
    factor_variance,
    growing_masses,
)
from likewise.fairness import total_variation_distance

pytestmark = pytest.mark.filterwarnings("ignore::likewise.errors.LikewiseWarning")


def stars(m=200, n=100, share=0.6, seed=0):
    """Levels 1 to 5 of a latent matrix of rank 2, with uneven cuts."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(m, 2)) @ rng.normal(size=(2, n)) + rng.normal(0, 0.7, (m, n))
    levels = 1.0 + np.digitize(latent, [-2.0, -1.0, 0.0, 1.5])
    seen = rng.random((m, n)) < share
    return ObservedMatrix(np.where(seen, levels, np.nan), value_range=(1, 5)), levels, seen


@pytest.fixture(scope="module")
def data():
    return stars()


@pytest.fixture(scope="module")
def found(data):
    return level_probabilities(data[0], AlternatingLeastSquares(2, random_state=0))


# The formula.


def test_two_entries_by_hand():
    """Mean 0 and deviation 2: Phi(-1/2) = .308538 below -1. Mean 1 and deviation 1: Phi(-2) = .022750 below -1, half above 1."""
    got = cell_probabilities(np.array([0.0, 1.0]), np.array([2.0, 1.0]), np.array([-1.0, 1.0]))
    np.testing.assert_allclose(got, [[0.308538, 0.382925, 0.308538], [0.022750, 0.477250, 0.5]], atol=1e-6)


@given(
    stnp.arrays(np.float64, 3, elements=st.floats(-3, 3)),
    stnp.arrays(np.float64, 3, elements=st.floats(0.05, 3)),
    st.lists(st.floats(-2, 2), min_size=1, max_size=5, unique=True),
)
def test_probabilities_are_differences_of_the_normal_distribution(means, deviations, cuts):
    ends = [-np.inf, *sorted(cuts), np.inf]
    got = cell_probabilities(means, deviations, np.array(sorted(cuts)))
    for row in range(3):
        for k in range(len(ends) - 1):
            cdf = norm(means[row], deviations[row]).cdf
            assert got[row, k] == pytest.approx(cdf(ends[k + 1]) - cdf(ends[k]), abs=1e-12)
    np.testing.assert_allclose(got.sum(axis=1), 1.0)
    assert (got >= 0).all()


@given(st.floats(-2, 2), st.floats(0, 1), st.floats(0.1, 2))
def test_a_larger_mean_has_higher_levels(mean, more, deviation):
    low, high = cell_probabilities(
        np.array([mean, mean + more]), np.full(2, deviation), np.array([-1.0, 0.0, 1.0])
    )
    assert (np.cumsum(high) <= np.cumsum(low) + 1e-12).all()


def test_far_levels_keep_their_digits():
    got = cell_probabilities(np.array([-9.0, 9.0]), np.ones(2), np.array([0.0, 1.0]))
    np.testing.assert_allclose(got[0, 2], norm.sf(10), rtol=1e-9)
    np.testing.assert_allclose(got[1, 0], norm.cdf(-9), rtol=1e-9)


def spread_out(points):
    """Factors that are each of two points with probability 1/2."""
    means = points.mean(axis=1)
    moments = np.einsum("npd,npe->nde", points, points) / 2
    return Factors(means, packed(moments))


def test_the_variance_of_an_entry_is_that_of_all_its_cases():
    """Vectors of two points each: the variance over the four pairs of points, which depends on second moments alone."""
    rng = np.random.default_rng(0)
    rows, columns = rng.normal(size=(3, 2, 4)), rng.normal(size=(2, 2, 4))
    i, j = np.array([0, 1, 2, 2]), np.array([1, 0, 0, 1])
    expected = []
    for row, column in zip(i, j, strict=True):
        cases = [x[:-1] @ y[:-1] + x[-1] + y[-1] for x, y in product(rows[row], columns[column])]
        expected.append(np.var(cases))
    np.testing.assert_allclose(factor_variance(spread_out(rows), spread_out(columns), i, j), expected)


def test_certain_factors_and_other_estimators_have_no_variance(data):
    where = np.array([0, 5]), np.array([1, 2])
    given_lambda = AlternatingLeastSquares(2, 0.5, random_state=0).fit(data[0])
    np.testing.assert_allclose(entry_variance(given_lambda)(*where), 0.0, atol=1e-12)
    assert entry_variance(Biases().fit(data[0]))(*where).tolist() == [0.0, 0.0]


def test_the_variance_of_a_mixture_and_of_what_auto_chose(data):
    where = np.array([0, 5]), np.array([1, 2])
    als, biases = AlternatingLeastSquares(2, random_state=0).fit(data[0]), Biases().fit(data[0])
    alone = entry_variance(als)(*where)
    assert (alone > 0).all()
    mixed = Mixture([als, biases], [0.25, 0.75]).of([als, biases]).fit(data[0])
    np.testing.assert_allclose(entry_variance(mixed)(*where), 0.25 * alone)
    auto = Auto(time_budget=1e-3).fit(data[0])
    assert entry_variance(auto)(*where).tolist() == [0.0, 0.0]


# The likelihood.


@pytest.mark.slow
def test_planted_cuts_and_noise_are_found():
    rng = np.random.default_rng(0)
    means, variances = rng.uniform(-1, 1, 20_000), rng.uniform(0, 0.2, 20_000)
    planted = OrderedProbit(np.array([-0.7, -0.1, 0.2, 0.9]), 0.09, 1.0)
    latent = means + np.sqrt(0.09 + variances) * rng.normal(size=means.size)
    seen = np.digitize(latent, planted.cuts)
    fitted = OrderedProbit.fit(means, variances, seen, np.linspace(-1, 1, 5))
    np.testing.assert_allclose(fitted.cuts, planted.cuts, atol=0.05)
    assert fitted.noise**0.5 == pytest.approx(0.3, abs=0.05)

    def likelihood(probit):
        return np.log(probit.probabilities(means, variances)[np.arange(means.size), seen]).mean()

    assert likelihood(fitted) > likelihood(planted) - 1e-5


def test_a_level_that_nothing_has_keeps_room_and_two_levels_do():
    means = np.linspace(-1, 1, 50)
    fitted = OrderedProbit.fit(means, np.zeros(50), np.where(means > 0.1, 2, 0), np.array([-1.0, 0.0, 1.0]))
    assert np.isfinite(fitted.cuts).all()
    assert (np.diff(fitted.cuts) > 0).all()
    two = OrderedProbit.fit(means, np.zeros(50), (means > 0.2).astype(int), np.array([-1.0, 1.0]))
    assert two.cuts == pytest.approx([0.2], abs=0.05)


# Sets of levels.


def test_masses_by_hand():
    """From the likeliest .4 to its likelier neighbour .3, then .2, then .1; of equal neighbours the lower one first."""
    got = growing_masses(np.array([[0.1, 0.2, 0.4, 0.3], [0.25, 0.5, 0.25, 0.0]]))
    np.testing.assert_allclose(got, [[1.0, 0.9, 0.4, 0.7], [0.75, 0.5, 1.0, 1.0]])


@pytest.mark.slow
@given(stnp.arrays(np.float64, st.tuples(st.just(2), st.integers(2, 6)), elements=st.floats(0.01, 1)))
def test_masses_against_a_loop(weights):
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    got = growing_masses(probabilities)
    for row, p in enumerate(probabilities):
        low = high = int(p.argmax())
        expected = {low: p[low]}
        while len(expected) < p.size:
            down, up = (p[low - 1] if low else -1.0), (p[high + 1] if high + 1 < p.size else -1.0)
            low, high = (low - 1, high) if down >= up else (low, high + 1)
            expected[low if down >= up else high] = p[low : high + 1].sum()
        np.testing.assert_allclose(got[row], [expected[k] for k in range(p.size)])


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
def test_sets_cover_entries_that_were_not_observed(data, found, confidence):
    """Of entries missing at random, as those set aside were; the share is off by three standard errors, of those that calibrate and of these."""
    _, levels, seen = data
    i, j = np.nonzero(~seen)
    ends = found.sets(i, j, confidence)
    actual = levels[i, j]
    covered = ((ends[:, 0] <= actual) & (actual <= ends[:, 1])).mean()
    allowed = 3 * np.sqrt(confidence * (1 - confidence) * (1 / found.scores.size + 1 / i.size))
    assert covered >= confidence - allowed
    assert set(np.unique(ends)) <= set(found.levels)


def test_sets_grow_with_confidence_and_hold_the_likeliest_level(found):
    i, j = np.divmod(np.arange(200), 100)
    small, large = (found.sets(i, j, confidence) for confidence in (0.3, 0.9))
    assert (large[:, 0] <= small[:, 0]).all()
    assert (small[:, 1] <= large[:, 1]).all()
    likeliest = found.levels[found.entries(i, j).argmax(axis=1)]
    assert ((small[:, 0] <= likeliest) & (likeliest <= small[:, 1])).all()


# The whole.


def test_probabilities_predict_better_than_shares_of_levels(data, found):
    observed, levels, seen = data
    i, j = np.nonzero(~seen)
    actual = (levels[i, j] - 1).astype(int)
    p = found.entries(i, j)
    shares = np.bincount(observed.values.data.astype(int) - 1, minlength=5) / observed.n_observed
    assert np.log(p[np.arange(i.size), actual]).mean() > np.log(shares[actual]).mean() + 0.1
    occurred = np.bincount(actual, minlength=5) / i.size
    error = np.sqrt(occurred * (1 - occurred) / found.scores.size)  # as many say where the cuts lie
    assert (np.abs(p.mean(axis=0) - occurred) < 4 * error).all()
    np.testing.assert_allclose(found.means(i, j), p @ [1, 2, 3, 4, 5])


def test_total_variation_of_whole_rows_is_the_mean_over_columns(found):
    joint = found.joint()
    np.testing.assert_allclose(joint.sum(axis=1), 1.0)
    whole = total_variation_distance(joint).between([0, 3], [1, 7])
    columns = [total_variation_distance(found.of_column(j)).between([0, 3], [1, 7]) for j in range(100)]
    np.testing.assert_allclose(whole, np.mean(columns, axis=0))


def test_an_audit_compares_distributions(data, found):
    report = audit(data[0], outputs=found.of_column(0), output_distance="tv", reference="observed")
    assert "otal variation" in report.details()


@pytest.mark.slow
def test_ids_lead_to_the_same(data):
    named = ObservedMatrix(
        data[0].to_dense(np.nan), value_range=(1, 5), row_ids=[f"p{i}" for i in range(200)]
    )
    got = level_probabilities(named, "biases")
    np.testing.assert_array_equal(got.entries_of(["p3", "p0"], [1, 2]), got.entries([3, 0], [1, 2]))
    assert "probabilities of 5 levels from 1 to 5" in str(got)


@pytest.mark.slow
def test_a_level_that_was_not_observed_may_be_named(data):
    got = level_probabilities(data[0], "biases", levels=[1, 2, 3, 4, 4.5, 5])
    assert got.entries([0], [0]).shape == (1, 6)


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan"), "half", True])
def test_a_share_that_is_none_is_refused_by_its_name(data, share):
    with pytest.raises(InputError, match=r"^calibration_share=.*; expected a number between 0 and 1"):
        level_probabilities(data[0], "biases", calibration_share=share)


@pytest.mark.parametrize(
    ("levels", "match"),
    [
        ([1, 3, 2, 4, 5], "from the lowest to the highest"),
        ([1, 2, 2, 3, 4, 5], "each once"),
        (["a", "b"], "labels have none"),
        ([1, 2, 3, 4], "none of the levels"),
        ([1, 2, 3, 4, np.nan], "from the lowest"),
    ],
)
def test_levels_without_an_order_are_refused(data, levels, match):
    with pytest.raises(InputError, match=match):
        level_probabilities(data[0], "biases", levels=levels)


def test_values_that_are_no_levels_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="different values as ordered levels"):
        level_probabilities(rng.random((20, 10)), "biases")
    with pytest.raises(InputError, match="different values as ordered levels"):
        level_probabilities(ObservedMatrix(np.full((20, 10), 3.0), value_range=(1, 5)), "biases")
    marks = np.column_stack([rng.integers(0, 3, 40), 10 * rng.integers(0, 3, 40)]).astype(float)
    with pytest.raises(InputError, match="one range for all columns"):
        level_probabilities(ObservedMatrix(marks, value_range="per-column"), "biases")


def test_a_position_that_is_not_there_is_told(found):
    with pytest.raises(ShapeError):
        found.entries([200], [0])


@pytest.mark.slow
def test_levels_may_be_named_of_values_in_single_precision(data):
    """0.1 as a single is 0.10000000149: the same level, whatever the order of its neighbours in double precision."""
    tenths = ObservedMatrix(
        np.where(data[2], data[1] / 10, np.nan).astype(np.float32), value_range=(0.1, 0.5)
    )
    named = level_probabilities(tenths, "biases", levels=[0.1, 0.2, 0.3, 0.4, 0.5])
    whole = level_probabilities(data[0], "biases")
    assert named.levels.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    np.testing.assert_allclose(named.entries([0, 1], [2, 3]), whole.entries([0, 1], [2, 3]), atol=1e-4)
