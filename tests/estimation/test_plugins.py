"""Thresholds, shrinkers and estimators of somebody else: registered by a call, or found through entry points, without touching the package."""

import subprocess
import sys

import numpy as np
import pytest

from likewise import SVT, ObservedMatrix, make_estimator
from likewise.errors import EstimatorError, ShrinkerError, ThresholdError
from likewise.estimation import (
    ESTIMATORS,
    SHRINKERS,
    THRESHOLDS,
    Biases,
    ShrinkerRule,
    ThresholdRule,
    register_estimator,
    register_shrinker,
    register_threshold,
)
from likewise.registry import Registry

PLUGIN = """
import numpy as np
from likewise.estimation import Biases, ShrinkerRule, ThresholdRule

class TwiceTheEdge(ThresholdRule):
    assumes_white_noise = True
    def __call__(self, statistics):
        return 2 * statistics.noise_edge(statistics.mean_square)

class Capped(ShrinkerRule):
    def psi(self, kept):
        return lambda sigma: np.minimum(sigma, 1.5 * kept.threshold) / kept.statistics.observed_fraction

class Baseline(Biases):
    pass
"""
ENTRY_POINTS = """
[likewise.thresholds]
twice-the-edge = plugged_in:TwiceTheEdge
[likewise.shrinkers]
capped = plugged_in:Capped
[likewise.estimators]
baseline = plugged_in:Baseline
"""


@pytest.fixture
def ratings():
    rng = np.random.default_rng(0)
    values = np.clip(rng.normal(size=(30, 2)) @ rng.normal(size=(2, 20)) / 2, -1, 1)
    values[rng.random(values.shape) < 0.3] = np.nan
    return ObservedMatrix(values, value_range=(-1, 1))


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package in site-packages, as pip leaves it."""
    (tmp_path / "plugged_in.py").write_text(PLUGIN)
    info = tmp_path / "plugged_in-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged-in\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for registry, name in ((THRESHOLDS, "twice-the-edge"), (SHRINKERS, "capped"), (ESTIMATORS, "baseline")):
        registry.unregister(name)
    sys.modules.pop("plugged_in", None)


@pytest.fixture
def tidy():
    """Forget what a test registers."""
    known = {id(registry): set(registry) for registry in (THRESHOLDS, SHRINKERS, ESTIMATORS)}
    yield
    for registry in (THRESHOLDS, SHRINKERS, ESTIMATORS):
        for name in set(registry) - known[id(registry)]:
            registry.unregister(name)


def test_a_threshold_and_a_shrinker_of_an_installed_package(installed, ratings):
    """tau is twice sqrt(mean square) (sqrt 30 + sqrt 20), what is assumed of noise is checked under its name, psi is capped."""
    scaled = ratings.values.toarray()
    edge = 2 * np.sqrt((scaled**2).mean()) * (np.sqrt(30) + np.sqrt(20))
    with pytest.warns(UserWarning, match="no singular value"):
        assert SVT("twice-the-edge").fit(ratings).threshold_ == pytest.approx(edge)
    fitted = SVT(1.0, "capped").fit(ratings)
    sigma = fitted.singular_values_
    expected = np.minimum(sigma, 1.5) / ratings.observed_fraction
    np.testing.assert_allclose(fitted.estimate_.shrunk_values, expected)


def test_an_estimator_of_an_installed_package(installed, ratings):
    made = make_estimator("baseline", regularization=2.0)
    assert type(made).__module__ == "plugged_in"
    expected = Biases(regularization=2.0).fit(ratings).estimate_.to_dense()
    np.testing.assert_array_equal(made.fit(ratings).estimate_.to_dense(), expected)


def test_errors_name_what_is_installed(installed):
    with pytest.raises(EstimatorError, match=r"'baseline'.*did you mean 'baseline'"):
        make_estimator("basline")


@pytest.mark.slow
def test_nothing_is_imported_before_its_name_is_asked_for(installed):
    code = (
        f"import sys; sys.path.insert(0, {str(installed)!r})\n"
        "import likewise.estimation as e\n"
        "assert 'universal' in e.THRESHOLDS and 'plugged_in' not in sys.modules\n"
        "assert 'twice-the-edge' in e.THRESHOLDS and 'plugged_in' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_registered_by_decorators(tidy, ratings):
    @register_threshold("a-third")
    def third(statistics):
        return statistics.noise_edge(statistics.mean_square) / 3

    @register_shrinker("halved")
    def halved(sigma):
        return sigma / 2

    @register_estimator("mine")
    class Mine(Biases):
        pass

    fitted = SVT("a-third", "halved").fit(ratings)
    np.testing.assert_allclose(fitted.estimate_.shrunk_values, fitted.singular_values_ / 2)
    assert fitted.threshold_ == pytest.approx(SVT("noise-edge").fit(ratings).threshold_ / 3)
    assert type(make_estimator("mine")) is Mine


def test_what_a_registered_rule_assumes_is_checked(tidy):
    """Columns 0 to 9 vary four times as much as the rest, so an edge for one variance is wrong, and the note names the rule."""
    noise = np.random.default_rng(0).normal(size=(60, 40)) / 30
    noise[:, :10] *= 6

    @register_threshold("white")
    class White(ThresholdRule):
        assumes_white_noise = True

        def __call__(self, statistics):
            return 1.5

    notes = SVT("white", value_range=(-1, 1)).fit(np.clip(noise, -1, 1)).notes_
    assert any("the threshold white takes noise to have one variance" in note for note in notes)


@pytest.mark.parametrize(
    ("register", "name", "thing", "error", "match"),
    [
        (register_threshold, "universal", lambda _: 1.0, ThresholdError, "likewise's own"),
        (register_threshold, "mine", 3.0, ThresholdError, "a rule"),
        (register_threshold, "", lambda _: 1.0, ThresholdError, "some text"),
        (register_shrinker, "soft", np.sqrt, ShrinkerError, "likewise's own"),
        (register_shrinker, "mine", "sqrt", ShrinkerError, "a function psi"),
        (register_estimator, "svt", Biases, EstimatorError, "likewise's own"),
        (register_estimator, "mine", Biases(), EstimatorError, "a class derived from MatrixEstimator"),
    ],
)
def test_what_cannot_be_registered_is_refused(register, name, thing, error, match):
    with pytest.raises(error, match=match):
        register(name)(thing)


def test_a_name_is_given_to_the_latest_and_forgotten(tidy):
    register_shrinker("again")(np.sqrt)
    register_shrinker("again")(np.square)
    assert SHRINKERS["again"].psi(None)(3.0) == 9.0
    SHRINKERS.unregister("again")
    assert "again" not in SHRINKERS
    SHRINKERS.unregister("soft")  # the package's own stay
    assert "soft" in SHRINKERS


def test_a_mapping_like_any_other():
    registry = Registry("likewise.nothing", "thing", {"a": 1})
    assert (len(registry), dict(registry), registry.get("b", 2), 3 in registry) == (1, {"a": 1}, 2, False)
    with pytest.raises(KeyError):
        registry["b"]


def test_rules_are_abstract():
    with pytest.raises(TypeError):
        ThresholdRule()
    with pytest.raises(TypeError):
        ShrinkerRule()
