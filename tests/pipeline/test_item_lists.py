"""An audit of lists of items: how they rank, who is envied, what is seen; on every screen, and for lists that a model makes here."""

import json

import numpy as np
import pytest

import likewise
from likewise import ObservedMatrix
from likewise.errors import InputError
from likewise.estimation import make_estimator
from likewise.fairness import (
    Envy,
    RowDistance,
    Unavailable,
    envy,
    exposure,
    ranking_accuracy,
    top_items,
    top_n_distance,
)
from likewise.observations import clustered, hold_out

M, N = 60, 25
WHOLE = clustered(M, N, 3, observed_fraction=0.6, random_state=0).observed
HELD = hold_out(WHOLE, 0.3, 0)
SEEN = HELD.training
LATER = ObservedMatrix.from_triplets(
    HELD.rows, HELD.columns, HELD.values, value_range=(-1, 1), duplicates="error"
)
LISTS = np.array([np.random.default_rng(i).permutation(N)[:5] for i in range(M)])


@pytest.fixture(scope="module")
def report():
    options = {"target": LATER, "estimator": "biases", "item_groups": np.arange(N) % 2}
    return likewise.audit(SEEN, outputs=top_n_distance(LISTS), **options)


def test_ranking_stands_first_and_is_that_of_the_function(report):
    found = report.arms["outputs"].accuracy
    expected = ranking_accuracy(LISTS, LATER, row_ids=SEEN.row_ids)
    assert found.values == expected.values
    assert report.to_dict()["answer"]["rows"][1]["label"] == "accuracy (nDCG)"
    assert "Against the ratings of the target" in " ".join(report.details().split())


def test_exposure_is_that_of_the_function_over_all_items(report):
    found = report.arms["outputs"].lists.exposure
    assert found == exposure(LISTS, items=np.arange(N), item_groups=np.arange(N) % 2)
    assert found.n_items == N


def test_what_is_rated_already_adds_nothing_to_a_list(report):
    """The estimate with the low end of the range wherever something was observed."""
    intervals = likewise.entry_intervals(SEEN, make_estimator("biases", random_state=0), random_state=0)
    worth = intervals.estimate.to_dense().copy()
    worth[SEEN.positions()] = -1.0
    found, expected = report.arms["outputs"].lists.envy, envy(LISTS, worth)
    assert (found.share, found.mean) == pytest.approx((expected.share, expected.mean))
    assert [pair.individual for pair in found.largest] == [pair.individual for pair in expected.largest]
    assert all(pair.low <= pair.difference <= pair.high for pair in found.largest)


@pytest.mark.slow
def test_every_screen_has_it_and_it_loads_again(report, tmp_path):
    lines = report.to_dict()["answer"]["lists"]
    assert [line.split(",")[0] for line in lines[:1]] == ["By an estimate"]
    assert "% with 52% of the items" in lines[2]
    assert "would rather have the list of" in " ".join(report.details().split())
    printed = str(report)
    assert len(printed.splitlines()) <= 25
    assert all(line in " ".join(printed.split()) for line in lines)
    page = report.save(tmp_path / "report")
    assert "Lists of items" in page.read_text()
    assert (
        json.loads((tmp_path / "report" / "report.json").read_text())["arms"]["outputs"]["lists"]["length"]
        == 5
    )
    assert (
        likewise.load(tmp_path / "report").arms["outputs"].lists.exposure
        == report.arms["outputs"].lists.exposure
    )


def test_without_an_estimator_envy_is_said_to_be_missing():
    told = likewise.audit(SEEN, outputs=top_n_distance(LISTS))
    assert isinstance(told.arms["outputs"].lists.envy, Unavailable)
    assert "name an estimator, such as biases" in told.to_dict()["answer"]["lists"][0]
    row = next(line for line in str(told).splitlines() if "not measured" in line and "  " in line)
    assert row.startswith("accuracy (nDCG)")
    others = likewise.audit(
        SEEN, outputs=top_n_distance(LISTS.astype(str).astype(object) + "x"), estimator="biases"
    )
    assert "not of the items" in others.to_dict()["answer"]["lists"][0]
    alone = likewise.audit(RowDistance(np.arange(float(M))), outputs=top_n_distance(LISTS))
    assert alone.arms["outputs"].lists.exposure.n_items == np.unique(LISTS).size


def test_a_model_that_runs_here_recommends_what_was_not_rated():
    told = likewise.audit(WHOLE, estimator="svt", output_distance="top-4", random_state=1)
    assert set(told.arms) == {"without", "with"}
    for arm in told.arms.values():
        assert arm.accuracy.against == "the hidden observations"
        assert isinstance(arm.lists.envy, Envy)
        assert "without those that the individual had rated" in arm.lists.made
    hidden = hold_out(WHOLE, 0.1, 1)
    fitted = likewise.SVT(random_state=1).fit(hidden.training)
    outputs = likewise.inference.as_model("knn", None, 1)(
        fitted.estimate_.on_working_range().to_dense(), hidden.training.scaled("symmetric")
    ).copy()
    outputs[hidden.training.positions()] = -np.inf
    best = top_items(np.where(np.isinf(outputs), -1e9, outputs), 4)
    ratings = ObservedMatrix.from_triplets(
        WHOLE.row_ids[hidden.rows], WHOLE.column_ids[hidden.columns], hidden.values, value_range=(-1, 1)
    )
    expected = ranking_accuracy(best, ratings, row_ids=WHOLE.row_ids)
    assert told.arms["with"].accuracy.values["nDCG"].value == pytest.approx(expected.values["nDCG"].value)


def test_ratings_are_a_target_of_scores_of_all_items_too():
    scores = np.random.default_rng(0).uniform(-1, 1, (M, N))
    found = likewise.audit(SEEN, outputs=scores, target=LATER).arms["outputs"].accuracy
    errors = scores[HELD.rows, HELD.columns] - HELD.values
    assert found.values["RMSE"].value == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert found.values["MAE"].value == pytest.approx(np.abs(errors).mean())
    as_table = np.full((M, N), np.nan)
    as_table[HELD.rows, HELD.columns] = HELD.values
    again = likewise.audit(SEEN, outputs=scores, target=as_table).arms["outputs"].accuracy
    assert again.values["RMSE"] == found.values["RMSE"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"outputs": top_n_distance(LISTS), "target": np.arange(M)},
            "target with one value for each individual",
        ),
        ({"outputs": np.arange(M), "item_groups": np.arange(N)}, "item_groups without lists"),
        ({"outputs": np.arange(float(M)), "target": LATER}, "outputs that are not of these items"),
        ({"outputs": top_n_distance(LISTS), "item_groups": [1]}, "1 groups for 25 items"),
    ],
)
def test_what_does_not_go_together(options, message):
    with pytest.raises(InputError, match=message):
        likewise.audit(SEEN, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["top-n", "rbo"])
def test_lists_that_name_every_item_are_ranks_and_no_ratings(name):
    """Their pairs were explained in units of ratings, which ended in an IndexError."""
    Z = clustered(60, 30, 3, observed_fraction=0.5, random_state=0).observed
    report = likewise.audit(Z, output_distance=name, reference="observed", estimator="als")
    assert report.arms["with"].explained[0].output.n_features <= 30
