"""Experiment 2 on a small matrix of ratings: the recipe, both references, table and figure."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from likewise.errors import FileFormatError, InputError
from likewise.fairness import ObservedDistance
from likewise.inference import nearest_neighbor_outputs
from likewise.observations import ObservedMatrix
from likewise.plain import json_tree
from likewise.report.json_document import versions
from likewise.report.plots import to_files
from likewise.reproduction import EXPERIMENTS, Reproduction, Settings, movielens, reproduce
from likewise.reproduction.arms import resolve_arm
from likewise.reproduction.figures import all_figures
from likewise.reproduction.formats import as_markdown
from likewise.reproduction.movielens import COUNTS, find_ratings, read_movielens
from likewise.reproduction.results import ON_INPUT, ON_OBSERVED
from likewise.reproduction.units import units_of

ARMS = ("h", "f-literal", "f-noise-edge")


@pytest.fixture(scope="module")
def ratings():
    generator = np.random.default_rng(0)
    tastes = generator.integers(1, 6, (3, 40))[generator.integers(0, 3, 60)]
    seen = generator.random((60, 40)) < 0.4
    return ObservedMatrix(np.where(seen, tastes, np.nan).astype(float), value_range=(0, 5))


@pytest.fixture(scope="module")
def found(ratings):
    settings = Settings(("2",), 1, ARMS)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(movielens, "N_PAIRS", 1000)
        record = movielens.run_ratings(ratings, EXPERIMENTS["2"], [resolve_arm(arm) for arm in ARMS], 0)
    return Reproduction(settings, {unit: json_tree(record) for unit in units_of(settings)}, versions())


def test_the_recipe_of_the_paper(ratings, found):
    """r / 5 with missing as 0, K = 10, tau = sqrt(2.01 n p), mean ratio over drawn pairs (Section 6, Experiment 2)."""
    arms = found.simulations("2", 0.0)[0]["arms"]
    Z = ratings.to_dense() / 5
    tau = np.sqrt(2.01 * 40 * ratings.observed_fraction)
    assert arms["f-literal"]["metrics"]["threshold"] == pytest.approx(tau)
    assert arms["f-literal"]["metrics"]["rank"] == (np.linalg.svd(Z, compute_uv=False) > tau).sum()
    outputs = nearest_neighbor_outputs(Z, 10)
    D = np.linalg.norm(outputs[:, None] - outputs[None], axis=2)
    d = np.abs(Z[:, None] - Z[None]).sum(axis=2)
    np.testing.assert_allclose(
        ObservedDistance(ratings, "l1", working_range="unit").block(0, 60), d, atol=1e-9
    )
    upper = np.triu_indices(60, 1)
    mean = arms["h"]["measured"]["observed"]["mean_ratio"]
    assert mean["low"] <= (D[upper] / d[upper]).mean() <= mean["high"]


def test_without_pre_processing_both_references_are_one(found):
    arms = found.simulations("2", 0.0)[0]["arms"]
    assert arms["h"]["measured"]["observed"] == arms["h"]["measured"]["input"]
    assert arms["f-literal"]["measured"]["observed"] != arms["f-literal"]["measured"]["input"]
    for arm in arms.values():
        assert [sum(counts) for counts in arm["histograms"].values()] == [1000, 1000]


def test_table_and_figure_name_both_references(found):
    text = as_markdown(found)
    assert ON_OBSERVED in text
    assert ON_INPUT in text
    (drawing,) = all_figures(found)
    assert drawing.name == "ratios-2"
    files = to_files(drawing.paint, drawing.name, drawing.size)
    assert files["png"].startswith(b"\x89PNG")
    assert "d on each arm" in files["svg"].decode()


def test_both_panels_of_the_histogram_have_one_axis_and_one_set_of_bins(found):
    (drawing,) = all_figures(found)
    figure = Figure()
    drawing.paint(figure)
    above, below = figure.axes
    assert above.get_xlim() == below.get_xlim()
    edges = [patch.get_data().edges for ax in (above, below) for patch in ax.patches]
    assert len(edges) == 2 * len(found.arms)
    assert all(np.array_equal(each, edges[0]) for each in edges)


# --- the file


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
