"""The frontier: what each point is, against doing it by hand; soundness; exports; bad input."""

import json
import sys

import numpy as np
import pytest

import likewise
from likewise import SVT, KNNRecommender, ObservedMatrix, certify, frontier, hold_out, measure_fairness
from likewise.errors import InputError, LikewiseError, OutputError
from likewise.estimation import MatrixEstimator
from likewise.fairness import ObservedDistance, SampledFairness
from likewise.observations import clustered
from likewise.pipeline.frontier import SHARES


@pytest.fixture(scope="module")
def data():
    return clustered(60, 80, 3, observed_fraction=0.5, random_state=1).observed


@pytest.fixture(scope="module")
def found(data):
    return frontier(data, estimator="svt", random_state=3)


def test_default_budgets_are_shares_of_the_constant_without_one(found):
    free = found.unconstrained
    assert free.budget is None
    assert free.moved == 0
    assert [point.budget for point in found][1:] == [share * free.k_star for share in SHARES]


def test_every_point_is_the_estimator_with_that_budget(data, found):
    """The same hidden entries, fitted anew for each budget, measured by hand."""
    split = hold_out(data, 0.1, 3)
    distance = ObservedDistance(split.training)
    for point in found:
        fitted = SVT(max_lipschitz=point.budget).fit(split.training)
        assert point.k_star == pytest.approx(
            certify(fitted.estimate_, split.training).k_star.value, rel=1e-12
        )
        predicted = fitted.estimate_.entries(split.rows, split.columns)
        assert point.error.rmse == pytest.approx(np.sqrt(np.mean((predicted - split.values) ** 2)))
        figures = measure_fairness(fitted.estimate_.to_dense(), distance)
        assert point.mean_ratio.value == pytest.approx(figures.mean_ratio.value)
        assert point.similar_ratio.value == pytest.approx(figures.similar.scale_free_ratio.value)


def test_constants_are_within_their_budgets_and_the_estimate_moves_more_and_more(found):
    points = found.points[1:]
    assert all(point.budget * (1 - 1e-6) <= point.k_star <= point.budget for point in points)
    moves = [point.moved for point in found]
    assert moves == sorted(moves)
    assert all(point.change.gap <= 1e-9 * point.change.distance**2 for point in points)


def test_certificates_are_sound_on_the_rows_of_the_fit_and_on_the_worst_there_are(data, found):
    split = hold_out(data, 0.1, 3)
    filled = split.training.to_dense()
    filled = np.where(np.isnan(filled), 0.0, filled)
    single = 1e-3 * np.eye(80)
    rows = np.vstack([filled, single, np.zeros((1, 80))])
    left, right = np.triu_indices(len(rows), 1)
    inputs = np.abs(rows[left] - rows[right]).sum(axis=1)
    for point in found.points[1:]:
        estimate = SVT(max_lipschitz=point.budget).fit(split.training).estimate_
        outputs = estimate.fold_in(likewise.ObservedMatrix(rows, value_range=(-1, 1)))
        gaps = np.linalg.norm(outputs[left] - outputs[right], axis=1)
        check = point.certificate.holds_for(inputs, gaps, slack=1e-12)
        assert check.holds, str(check)
        assert check.largest_share > 0.999  # some pair reaches it


def test_given_budgets_are_sorted_and_said_once(data):
    budgets = [0.3, 0.5, 0.3, 1e6]
    assert [point.budget for point in frontier(data, estimator="svt", budgets=budgets)] == [None, 0.5, 0.3]


def test_nothing_hidden_measures_no_error(data):
    point = frontier(data, estimator="svt", budgets=[0.3], hold_out=0).points[1]
    assert point.error is None
    assert point.moved > 0


def test_drawn_pairs_are_the_same_at_every_budget(data):
    found = frontier(data, estimator="svt", budgets=[0.3], pairs=200)
    free, tight = found
    assert isinstance(free.fairness, SampledFairness)
    assert free.fairness.mean_reference_distance == tight.fairness.mean_reference_distance
    assert "drawn pairs: 200" in str(found)


@pytest.mark.parametrize("centering", ["column", "biases"])
def test_centred_estimates_have_a_frontier_too(data, centering):
    found = frontier(data, estimator=SVT(centering=centering))
    assert len(found.points) > 3
    assert "filled with its centre" in found.unconstrained.certificate.function


def test_a_model_runs_on_every_estimate(data):
    found = frontier(data, estimator="svt", model=lambda B: B.mean(axis=1), budgets=[0.2])
    assert found.unconstrained.error is None  # a mean predicts no entry
    assert found.unconstrained.fairness.n_pairs == 60 * 59 // 2


def test_a_budget_of_the_estimators_own_is_ignored(data, found):
    again = frontier(data, estimator=SVT(max_lipschitz=0.01), random_state=3)
    assert again.unconstrained.k_star == found.unconstrained.k_star


# --- exports


def test_it_prints_a_line_for_each_point_and_what_halving_costs(found):
    text = str(found)
    rows = [line for line in text.splitlines() if line.rstrip().endswith("%")]
    assert len(rows) == len(found.points)
    half = found.within(found.unconstrained.k_star / 2)
    assert half.k_star <= found.unconstrained.k_star / 2
    assert "K* at half or less" in text
    assert f"{half.error.rmse:.4g}" in text


def test_json_is_the_same_twice_and_valid(data, found):
    again = frontier(data, estimator="svt", random_state=3)
    assert again.to_json() == found.to_json()
    tree = json.loads(found.to_json())
    assert tree["schema"] == "likewise.frontier"
    assert [point["k_star"] for point in tree["points"]] == [point.k_star for point in found]
    assert tree["points"][1]["certificate"]["value"] <= tree["points"][1]["budget"]


def test_frame_has_a_row_for_each_point(data, found):
    frame = found.to_frame()
    assert frame["k_star"].to_list() == [point.k_star for point in found]
    assert frame["rmse"].to_list() == [point.error.rmse for point in found]
    assert frame["mean_ratio_low"].is_null().all()
    drawn = frontier(data, estimator="svt", budgets=[0.3], pairs=200).to_frame()
    assert (drawn["similar_ratio_low"] <= drawn["similar_ratio"]).all()


@pytest.mark.parametrize("over", ["k_star", "mean_ratio", "similar_ratio"])
def test_plot_draws_error_over_fairness_on_given_axes(found, over):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert found.plot(ax, over=over) is ax
    x, y = ax.lines[0].get_data()
    assert list(x) == [float(getattr(point, over)) for point in found]
    assert list(y) == [point.error.rmse for point in found]
    with pytest.raises(InputError, match="unknown measure of fairness"):
        found.plot(over="speed")


@pytest.mark.slow
def test_several_frontiers_on_one_ax_say_which_distance_each_constant_is_from(data, found):
    from matplotlib.figure import Figure

    regression = frontier(data, estimator="als", budgets=[0.5], random_state=3)
    ax = Figure().subplots()
    found.plot(ax, label="svt")
    regression.plot(ax, label="als")
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["svt, from l1", "als, from l1 with the empty entry as a point"]
    lines = ax.lines[::3]
    assert [list(line.get_xdata()) for line in lines] == [
        [p.k_star for p in one] for one in (found, regression)
    ]
    assert len({line.get_color() for line in lines}) == 2
    assert not ax.texts
    left, right = ax.get_xlim()
    assert left == 0
    assert right > regression.unconstrained.k_star > found.unconstrained.k_star
    over = Figure().subplots()
    found.plot(over, "similar_ratio", "svt")
    assert [text.get_text() for text in over.get_legend().get_texts()] == ["svt"]


def test_frontiers_of_other_measures_do_not_share_an_ax(data, found):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    found.plot(ax, label="svt")
    with pytest.raises(InputError, match="frontiers of the same on one ax"):
        found.plot(ax, "mean_ratio", "svt again")
    with pytest.raises(InputError, match="change of the estimate"):
        frontier(data, estimator="svt", budgets=[0.3], hold_out=0).plot(ax, label="no error")


@pytest.mark.slow
def test_save_writes_all_or_nothing(found, tmp_path):
    figure = found.save(tmp_path / "out")
    assert figure.name == "frontier.svg"
    names = {path.name for path in (tmp_path / "out").iterdir()}
    drawings = {f"{name}.{form}" for name in ("frontier", "frontier_similar") for form in ("svg", "png")}
    assert names == {"frontier.json", "frontier.csv", *drawings}
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        found.save(tmp_path / "file")


def test_the_gap_of_similar_pairs_stands_in_table_frame_and_json(data, found):
    """By hand: mean D of the tenth of pairs with the least d, over mean D of all."""
    split = hold_out(data, 0.1, 3)
    left, right = np.triu_indices(60, 1)
    d = ObservedDistance(split.training).block(0, 60)[left, right]
    frame, tree = found.to_frame(), json.loads(found.to_json())
    rows = [line.split() for line in str(found).splitlines() if line.startswith("  ")]
    assert rows[0][:4] == ["budget", "K*", "RMSE", "gap"]
    for k, point in enumerate(found):
        estimate = SVT(max_lipschitz=point.budget).fit(split.training).estimate_.to_dense()
        D = np.linalg.norm(estimate[left] - estimate[right], axis=1)
        similar = d <= np.sort(d)[round(0.1 * d.size) - 1] * (1 + 1e-9)
        assert point.gap.value == pytest.approx(D[similar].mean() / D.mean(), rel=1e-9)
        assert frame["gap"][k] == tree["points"][k]["gap"]["value"] == point.gap.value
        assert point.gap.low < point.gap.value < point.gap.high
        assert (frame["gap_low"][k], frame["gap_high"][k]) == (point.gap.low, point.gap.high)
        assert str(point.gap) in " ".join(rows[k + 1])


@pytest.mark.slow
def test_the_duality_gap_is_called_so(data, found):
    assert found.to_frame()["duality_gap"].to_list() == [
        None,
        *(point.change.gap for point in found.points[1:]),
    ]
    regression = frontier(data, estimator="als", budgets=[0.3], random_state=3)
    assert regression.to_frame()["duality_gap"].to_list() == [None, None]


def test_columns_of_the_table_are_explained(found):
    text = str(found)
    for heading in ("gap", "mean D/d", "relative D/d", "moved"):
        assert f"\n{heading}: " in text
    level = found.unconstrained.fairness.similar.no_difference
    assert f"{level:.4g}: similarity makes no difference" in text


# --- bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budgets": [0.5, 0.0]}, "budgets=0.0"),
        ({"budgets": [float("nan")]}, "a finite number above 0"),
        ({"budgets": []}, "at least one value of L"),
        ({"budgets": 0.5}, "budgets=0.5; expected values of L, one after another"),
        ({"budgets": "0.5"}, "budgets='0.5'; expected values of L"),
        ({"reference": "estimate"}, "one distance for all budgets"),
        ({"reference": "nearest"}, "unknown reference"),
        ({"estimator": SVT(threshold=1e6)}, "an estimate without a component"),
        ({"estimator": "svd"}, "unknown estimator"),
        ({"estimator": SVT(centering="row"), "budgets": [0.01]}, "which offsets of rows have alone"),
        ({"model": "kmn"}, "unknown model"),
        ({"pairs": 0}, "a whole number >= 1, or 'all'"),
        ({"hold_out": 1.5}, "hold_out=1.5; expected a number from 0 to below 1"),
    ],
)
def test_bad_input_is_one_clear_error(data, arguments, message):
    with pytest.raises(LikewiseError, match=message):
        frontier(data, **arguments)


def test_bad_budgets_are_refused_before_the_work(data, monkeypatch):
    module = sys.modules["likewise.pipeline.frontier"]  # its name in the package is the function's
    monkeypatch.setattr(module, "_fitted", lambda *_: pytest.fail("too late"))
    with pytest.raises(InputError):
        frontier(data, estimator="svt", budgets=[-1.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"estimator": "cai-candes-shen"}, "CaiCandesShen, which"),
        ({"model": KNNRecommender(60)}, "n_neighbors is 60 with n_samples = 60"),
    ],
)
def test_what_cannot_come_to_a_frontier_is_told_before_the_estimate_is_fitted(
    data, monkeypatch, arguments, message
):
    monkeypatch.setattr(MatrixEstimator, "fit", lambda *_: pytest.fail("too late"))
    with pytest.raises(LikewiseError, match=message):
        frontier(data, **arguments)


@pytest.mark.data
def test_halving_the_constant_on_movielens_100k_costs_little(data_folder):
    """Residuals of biases: half of K* for less than one per cent of error, and certificates within their budgets."""
    ratings = likewise.read_ratings(data_folder / "ml-100k" / "u.data", value_range=(1, 5))
    estimator = SVT("cross-validated", "identity", centering="biases", random_state=0)
    found = frontier(ratings, estimator=estimator, pairs=2000)
    free, half = found.unconstrained, found.within(found.unconstrained.k_star / 2)
    assert all(point.k_star <= point.budget for point in found.points[1:])
    assert half.error.rmse < 1.01 * free.error.rmse
    assert half.error.rmse < 0.93


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["als", "soft-impute", "biases", "auto"])
def test_estimates_by_regression_have_a_frontier_of_their_own(estimator):
    """Every point is certified anew, in the metric in which the empty entry is a point, and is within its budget."""
    rng = np.random.default_rng(0)
    values = rng.uniform(-0.5, 0.5, size=(40, 1)) + rng.uniform(-0.5, 0.5, size=(40, 30))
    values[rng.random((40, 30)) < 0.5] = np.nan
    Z = ObservedMatrix(values, value_range=(-1, 1))
    found = frontier(Z, estimator=estimator, model="identity", budgets=[0.02, 0.01])
    assert [point.budget for point in found] == [None, 0.02, 0.01]
    for point in list(found)[1:]:
        assert point.k_star <= point.budget
        assert point.certificate.name == "K of the regression"
    assert any("PatternDistance" in note for note in found.notes)
    assert '"strength"' in found.to_json()


@pytest.mark.slow
def test_repair_stands_beside_pre_processing_at_the_same_limit(data):
    """At every budget what both cost is measured, told and drawn; the tighter, the dearer."""
    found = frontier(data, estimator="als", budgets=[0.3, 0.05], repair=True, random_state=0)
    free, loose, tight = found.points
    assert free.repaired is None
    assert loose.repaired.change <= tight.repaired.change
    assert tight.repaired.change > 0
    assert tight.repaired.largest_change >= tight.repaired.change
    assert tight.repaired.change_by_budget > loose.repaired.change_by_budget > 0
    assert tight.repaired.error.rmse >= free.error.rmse * 0.9
    assert "at L = 0.05: RMSE" in str(found)
    assert found.to_dict()["points"][2]["repaired"]["change"] == tight.repaired.change
    labels = [line.get_label() for line in found.plot().get_lines()]
    assert "repair of the outputs, same L" in labels
    assert "repair" not in str(frontier(data, estimator="als", budgets=[0.4], random_state=0))


def test_repair_needs_a_constant_between_rows_as_they_are(data):
    """Where a constant speaks of rows filled with their centre, no distance is at hand to repair by."""
    with pytest.raises(
        InputError, match="repair=True beside an estimator whose constant speaks of rows that are filled"
    ):
        frontier(data, estimator=SVT(centering="column"), budgets=[0.1], repair=True)
    with pytest.raises(InputError, match="repair"):
        frontier(data, estimator="svt", repair="yes")
