"""Settings of the dense net, and what is said where PyTorch is not installed."""

import sys

import numpy as np
import pytest

from likewise import DenseNetRecommender, audit
from likewise.cli.main import run
from likewise.errors import MissingDependencyError, ModelError
from likewise.inference import NetSettings, as_model, train_dense_net


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"n_steps": 0}, "n_steps=0; expected a whole number >= 1"),
        ({"n_steps": 2.5}, "n_steps=2.5"),
        ({"n_steps": True}, "n_steps=True"),
        ({"batch_size": -1}, "batch_size=-1"),
        ({"check_every": 0}, "check_every=0"),
        ({"n_threads": 0}, "n_threads=0"),
        ({"hidden": ()}, r"hidden is \(\)"),
        ({"hidden": 300}, "hidden is 300"),
        ({"hidden": (300, 0)}, "hidden=0"),
        ({"hidden": ("300",)}, "hidden='300'"),
        ({"learning_rate": 0}, "learning_rate=0"),
        ({"learning_rate": float("nan")}, "learning_rate=nan"),
        ({"learning_rate": "fast"}, "learning_rate='fast'"),
        ({"validation_fraction": 0}, "validation_fraction=0"),
        ({"validation_fraction": 1.0}, "validation_fraction=1.0"),
        ({"device": 0}, "device is 0"),
    ],
)
def test_a_wrong_setting_is_named(wrong, reason):
    with pytest.raises(ModelError, match=reason):
        NetSettings(**wrong)
    with pytest.raises(ModelError, match=reason):
        DenseNetRecommender(**wrong).fit(np.eye(4))


def test_the_defaults_are_the_papers():
    """Section 6: layers 300, 100, 1; Adam, batches of 128, 2000 steps, 80% train."""
    settings = NetSettings()
    assert (settings.hidden, settings.batch_size, settings.n_steps) == ((300, 100), 128, 2000)
    assert (settings.learning_rate, settings.validation_fraction) == (1e-3, 0.2)
    assert DenseNetRecommender().settings == settings


@pytest.mark.parametrize(
    "train",
    [
        lambda B: train_dense_net(B, B),
        lambda B: DenseNetRecommender().fit(B),
        lambda B: as_model("dnn")(B),  # noqa: PLW0108  the name fails already
        lambda B: audit(B, model="dnn"),
    ],
    ids=["function", "estimator", "model", "audit"],
)
def test_without_torch_the_command_that_installs_it_is_named(monkeypatch, train):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        MissingDependencyError, match=r"pip install '\.\[dnn\]' in the checkout, or pip install torch"
    ):
        train(np.eye(4))


def test_the_command_line_says_it_before_the_work(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    file = tmp_path / "ratings.csv"
    file.write_text("user,item,rating\n1,1,3\n1,2,4\n2,1,5\n2,2,1\n")
    assert run(["audit", str(file), "--model", "dnn", "--out", str(tmp_path / "out")]) == 1
    printed = capsys.readouterr()
    assert "pip install '.[dnn]' in the checkout, or pip install torch" in printed.err
    assert "Traceback" not in printed.err
    assert not (tmp_path / "out").exists()
