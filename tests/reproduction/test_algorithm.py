"""The algorithm of a run: the paper's net where PyTorch is installed, and models by name."""

import importlib.util
import sys

import numpy as np
import pytest

from likewise.errors import MissingDependencyError, ModelError
from likewise.reproduction import reproduce
from likewise.reproduction.algorithm import resolve_algorithm
from likewise.reproduction.formats import as_markdown

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")


@pytest.fixture
def few_steps(monkeypatch):
    """Train for a moment only."""
    from likewise.inference.net import training

    kind = training.NetSettings
    monkeypatch.setattr(training, "NetSettings", lambda **options: kind(n_steps=200, **options))


@needs_torch
@pytest.mark.usefixtures("tiny", "few_steps")
def test_no_pair_exceeds_a_bound_with_k1_of_the_trained_net():
    found = reproduce("tiny", simulations=1, arms="h,f-released")
    checks = [
        check
        for experiment, level in found.cells()
        for arm in found.arms
        for record in found.of_arm(experiment.key, level, arm.name)
        for check in record["checks"]
        if "dnn" in check["statement"]
    ]
    assert len(checks) == 2 * (1 + 3)
    assert all(check["n_pairs"] == 276 and check["n_violated"] == 0 for check in checks)
    assert all(0 < float(check["closest"]) < 1 for check in checks)


@needs_torch
@pytest.mark.usefixtures("tiny", "few_steps")
def test_the_same_seed_gives_the_same_tables():
    first, second = (as_markdown(reproduce("tiny", simulations=1, arms="h")) for _ in range(2))
    assert first == second


@pytest.mark.usefixtures("few_steps")
@needs_torch
def test_equal_people_get_equal_outputs():
    """So that pairs at distance 0 have ratio 0, as individuals with no observation do."""
    from scipy import sparse

    features = np.random.default_rng(0).normal(size=(12, 10))
    features[3] = features[7] = 0
    targets = sparse.csr_array(np.random.default_rng(1).uniform(-1, 1, (12, 10)))
    outputs = resolve_algorithm("dnn")(features, targets, 0).outputs
    np.testing.assert_array_equal(outputs[3], outputs[7])


def test_torch_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match="pip install"):
        reproduce("1")


def test_a_model_that_fails_or_puts_out_something_else_is_named(tiny):
    (tiny / "broken.py").write_text(
        "import numpy as np\n"
        "def fails(features, targets):\n    raise KeyError('x')\n"
        "def small(features, targets):\n    return np.zeros((features.shape[0], 2))\n"
        "def nan(features, targets):\n    return np.full(features.shape, np.nan)\n"
        "nothing = 3\n"
    )
    for name, message in (
        ("fails", "KeyError"),
        ("small", "outputs of shape"),
        ("nan", "NaN|finite"),
        ("nothing", "int"),
    ):
        with pytest.raises(ModelError, match=message):
            reproduce("tiny", model=f"broken:{name}", simulations=1)


def test_resolving_needs_no_run():
    assert resolve_algorithm("knn")
