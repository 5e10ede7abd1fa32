"""Experiments, arms, settings and published numbers: what can be chosen, and what is said of what cannot."""

import json
import sys
from importlib import resources

import numpy as np
import pytest

from likewise.errors import FileFormatError, InputError, MemoryLimitError, MissingDependencyError, ModelError
from likewise.estimation import SVT
from likewise.observations.synthetic import _probabilities
from likewise.reproduction import ARMS, EXPERIMENTS, Settings, published_cell, reproduce
from likewise.reproduction.algorithm import resolve_algorithm
from likewise.reproduction.arms import make_preprocessing, resolve_arm
from likewise.reproduction.movielens import COUNTS, find_ratings, read_movielens
from likewise.reproduction.published import ROWS
from likewise.reproduction.units import Unit, units_of


def test_published_numbers_are_whole():
    tables = json.loads(
        resources.files("likewise.reproduction").joinpath("published_tables.json").read_text()
    )
    for key in ("1", "3", "4"):
        experiment, table = EXPERIMENTS[key], tables[f"experiment_{key}"]
        assert tuple(table["levels"]) == experiment.levels
        assert table["axis"].startswith(experiment.axis)
        assert {name for name in table if name not in ("axis", "levels")} == set(ROWS)
        for row in ROWS:
            for level, (value, bar) in zip(experiment.levels, table[row], strict=True):
                cell = published_cell(key, row, level)
                assert (cell.value, cell.bar) == (value, bar)


@pytest.mark.parametrize(("experiment", "row", "level"), [("2", "k2", 0.1), ("1", "k3", 0.1), ("1", "k2", 3)])
def test_what_is_not_printed_is_none(experiment, row, level):
    assert published_cell(experiment, row, level) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"experiments": "5"}, "unknown experiment '5'"),
        ({"experiments": "alll"}, "did you mean 'all'"),
        ({"experiments": ""}, "unknown experiment ''"),
        ({"arms": "f-releasd"}, "did you mean 'f-released'"),
        ({"arms": "h,h"}, "each name once"),
        ({"arms": ""}, "unknown arm"),
        ({"arms": "x=noise-edg"}, "did you mean 'noise-edge'"),
        ({"arms": "h=svt"}, "a name of its own"),
        ({"arms": "x="}, "name=estimator"),
        ({"arms": "f-x=nan"}, "threshold nan of an arm; expected a finite number >= 0"),
        ({"arms": "h,f-x=-1"}, "threshold -1 of an arm"),
        ({"arms": "f-x=inf"}, "threshold inf of an arm"),
        ({"arms": "f-x=1e400"}, "threshold 1e400 of an arm"),
        ({"arms": 1}, "arms=1; expected names"),
        ({"arms": [1]}, "unknown arm '1'"),
        ({"experiments": 1}, "experiments=1; expected names"),
        ({"model": "idendity"}, "expected one of 'knn', 'knn-co-raters', 'identity', 'dnn', 'package"),
        ({"simulations": 0}, "simulations=0"),
        ({"simulations": 1.5}, "simulations=1.5"),
        ({"simulations": True}, "simulations=True"),
        ({"random_state": -1}, "random_state=-1"),
        ({"targets": "thruth"}, "did you mean 'truth'"),
        ({"jobs": 0}, "jobs=0"),
        ({"model": "identiti"}, "did you mean 'identity'"),
        ({"model": "nowhere:net"}, "nowhere"),
    ],
)
def test_what_cannot_be_chosen_is_named(options, message):
    with pytest.raises(InputError, match=message):
        reproduce(**({"experiments": "1", "model": "identity"} | options))


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


def test_an_error_in_another_process_is_the_same_error(tiny):
    (tiny / "broken.py").write_text("def fails(features, targets):\n    raise KeyError('x')\n")
    with pytest.raises(ModelError, match="broken:fails failed with KeyError"):
        reproduce("4", quick=True, simulations=1, model="broken:fails", jobs=2)


def test_the_end_of_another_process_is_told(tiny):
    (tiny / "ending.py").write_text("import os\n\ndef ends(features, targets):\n    os._exit(9)\n")
    with pytest.raises(MemoryLimitError, match="killed from outside"):
        reproduce("4", quick=True, simulations=1, model="ending:ends", jobs=2)


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


def test_an_estimator_of_ones_own_is_an_arm(run_tiny, tiny):
    (tiny / "own.py").write_text(
        "import numpy as np\n"
        "class Means:\n"
        "    def fit(self, Z):\n"
        "        means = Z.values.sum(axis=0) / np.maximum(np.diff(Z.values.tocsc().indptr), 1)\n"
        "        self.estimate_ = np.broadcast_to(means, Z.shape)\n"
        "        return self\n"
    )
    found = run_tiny(arms="h,means=own:Means,svt=svt")
    assert found.summary("tiny", 0.3, "means", "rank") is None
    assert found.summary("tiny", 0.3, "means", "mse").mean > 0
    assert found.summary("tiny", 0.3, "svt", "k_star").mean > 0


def test_every_arm_but_h_has_an_estimator():
    assert [arm.name for arm in ARMS.values() if arm.estimator is None] == ["h"]


def test_seeds_depend_on_the_cell_and_the_simulation_alone():
    few, many = units_of(Settings(("1",), 2, quick=True)), units_of(Settings(("1", "3", "4"), 5))
    assert set(few) <= set(many)
    drawn = [unit.seeds(0)[0].random() for unit in many]
    assert len(set(drawn)) == len(drawn)
    assert Unit("1", 0.1, 2).seeds(0)[1] == Unit("1", 0.1, 2).seeds(0)[1]
    assert Unit("1", 0.1, 2).seeds(0)[1] != Unit("1", 0.1, 2).seeds(1)[1]


def test_units_have_names_of_their_own():
    units = units_of(Settings())
    assert len({unit.name for unit in units}) == len(units)


@pytest.mark.parametrize("fraction", EXPERIMENTS["3"].levels)
def test_each_cluster_of_experiment_3_has_exactly_the_expected_share(fraction):
    """The entries of p_k sum to p n (Section 6, Experiment 3)."""
    p = _probabilities(10, 800, fraction, "by-cluster", np.random.default_rng(0))
    np.testing.assert_allclose(p.sum(axis=1), 800 * fraction, rtol=1e-12)
    assert 0 <= p.min() < p.max() <= 1


def test_ratings_that_are_not_there(monkeypatch, tmp_path):
    monkeypatch.delenv("LIKEWISE_DATA", raising=False)
    with pytest.raises(InputError, match="choose experiments 1,3,4"):
        reproduce("2")
    with pytest.raises(InputError, match=r"no file .*ratings\.dat"):
        find_ratings(tmp_path)
    monkeypatch.setenv("LIKEWISE_DATA", str(tmp_path))
    (tmp_path / "ml-1m").mkdir()
    (tmp_path / "ml-1m" / "ratings.dat").write_text("1::1::5\n")
    assert find_ratings() == tmp_path / "ml-1m" / "ratings.dat"


@pytest.mark.parametrize("content", ["1::1::5\n2::1::3\n", "", "hello\n", "1::1::7\n", "9999::1::3\n"])
def test_a_file_that_is_not_movielens(tmp_path, content):
    file = tmp_path / "ratings.dat"
    file.write_text(content)
    with pytest.raises(FileFormatError, match="expected MovieLens 1M: 1,000,209 ratings of 6,040 users"):
        reproduce("2", ratings=file)


def test_counts_of_movielens_add_up():
    assert sum(COUNTS.values()) == 1_000_209


@pytest.mark.data
def test_movielens_is_recognised(data_folder):
    observed = read_movielens(find_ratings(data_folder), EXPERIMENTS["2"])
    assert observed.shape == (6040, 3952)
    assert set(observed.scaled("unit").values.data.round(9)) == {0.2, 0.4, 0.6, 0.8, 1.0}


def test_resolving_needs_no_run():
    assert resolve_algorithm("knn")
