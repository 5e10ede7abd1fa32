"""Experiment 2 on a small matrix of ratings: the recipe, both references, table and figure."""

import numpy as np
import pytest

from likewise.fairness import ObservedDistance
from likewise.inference import nearest_neighbor_outputs
from likewise.observations import ObservedMatrix
from likewise.plain import json_tree
from likewise.report.json_document import versions
from likewise.report.plots import to_bytes
from likewise.reproduction import EXPERIMENTS, Reproduction, Settings, movielens
from likewise.reproduction.arms import resolve_arm
from likewise.reproduction.figures import all_figures
from likewise.reproduction.formats import as_markdown
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
    assert to_bytes(drawing.paint, drawing.name, "png", drawing.size).startswith(b"\x89PNG")
    assert "d on each arm" in to_bytes(drawing.paint, drawing.name, "svg", drawing.size).decode()
