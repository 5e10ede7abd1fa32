"""Arms: which estimator each of them stands for."""

import pytest

from likewise.estimation import SVT
from likewise.reproduction import ARMS, EXPERIMENTS
from likewise.reproduction.arms import make_preprocessing, resolve_arm


@pytest.mark.parametrize(
    ("name", "key", "threshold"),
    [
        ("f-literal", "1", "paper-synthetic"),
        ("f-literal", "2", "paper-ratings"),
        ("f-released", "3", "released-code"),
        ("f-noise-edge", "4", "noise-edge"),
        ("mine=3.5", "1", 3.5),
        ("mine=universal", "1", "universal"),
    ],
)
def test_an_arm_has_the_threshold_that_it_names(name, key, threshold):
    made = make_preprocessing(resolve_arm(name), EXPERIMENTS[key], "unit", 7)
    assert isinstance(made, SVT)
    assert (made.threshold, made.working_range, made.random_state) == (threshold, "unit", 7)


@pytest.mark.slow
def test_an_estimator_of_ones_own_is_an_arm(run_tiny, tiny):
    (tiny / "arm_of_ones_own.py").write_text(
        "import numpy as np\n"
        "class Means:\n"
        "    def fit(self, Z):\n"
        "        means = Z.values.sum(axis=0) / np.maximum(np.diff(Z.values.tocsc().indptr), 1)\n"
        "        self.estimate_ = np.broadcast_to(means, Z.shape)\n"
        "        return self\n"
    )
    found = run_tiny(arms="h,means=arm_of_ones_own:Means,svt=svt")
    assert found.summary("tiny", 0.3, "means", "rank") is None
    assert found.summary("tiny", 0.3, "means", "mse").mean > 0
    assert found.summary("tiny", 0.3, "svt", "k_star").mean > 0


def test_only_arms_without_pre_processing_have_no_estimator():
    assert [arm.name for arm in ARMS.values() if arm.is_without] == ["h", "released-net-h", "released-knn-h"]
