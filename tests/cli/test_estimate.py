"""`likewise estimate`: factors that load, predictions under the ids of the file."""

import re

import polars as pl
import pytest

import likewise as package

OPTIONS = ("--threshold", "1.0", "--value-range", "1,5")


@pytest.fixture
def expected(ratings):
    return package.svt(package.read_ratings(ratings, value_range=(1, 5)), threshold=1.0)


def test_factors_load_and_hold_the_ids(likewise, ratings, tmp_path, expected):
    ran = likewise("estimate", ratings, "--out", tmp_path / "estimate.npz", *OPTIONS)
    assert (ran.code, ran.err) == (0, "")
    assert f"Factors: {tmp_path / 'estimate.npz'}" in ran.out
    loaded = package.LowRankEstimate.load(tmp_path / "estimate.npz")
    assert (loaded.to_dense() == expected.to_dense()).all()
    assert loaded.row_ids.tolist() == expected.row_ids.tolist()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_predictions_are_named_as_asked(likewise, ratings, tmp_path, expected, kind):
    (tmp_path / "pairs.csv").write_text("user,item\nuser-3,20\nuser-0,0\nuser-3,20\n")
    out = tmp_path / f"predictions.{kind}"
    ran = likewise("estimate", ratings, "--out", out, "--pairs", tmp_path / "pairs.csv", *OPTIONS)
    assert ran.code == 0, ran.err
    frame = pl.read_csv(out) if kind == "csv" else pl.read_parquet(out)
    assert frame.columns == ["user", "item", "estimate"]
    assert frame["user"].to_list() == ["user-3", "user-0", "user-3"]
    assert frame["item"].to_list() == [20, 0, 20]
    wanted = expected.entries_of(["user-3", "user-0", "user-3"], [20, 0, 20])
    assert frame["estimate"].to_list() == wanted.tolist()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_intervals_beside_predictions_are_those_of_the_library(likewise, ratings, tmp_path, kind):
    (tmp_path / "pairs.csv").write_text("user-3,20\nuser-0,0\n")
    out = tmp_path / f"predictions.{kind}"
    options = ("--pairs", tmp_path / "pairs.csv", "--confidence", "0.6", "--estimator", "biases")
    ran = likewise("estimate", ratings, "--out", out, *options, "--value-range", "1,5")
    assert (ran.code, ran.err) == (0, "")
    frame = pl.read_csv(out) if kind == "csv" else pl.read_parquet(out)
    assert frame.columns == ["user", "item", "estimate", "lower", "upper"]
    observed = package.read_ratings(ratings, value_range=(1, 5))
    wanted = package.entry_intervals(
        observed, package.make_estimator("biases", random_state=0), confidence=0.6
    )
    ends = wanted.entries_of(["user-3", "user-0"], [20, 0])
    assert frame["estimate"].to_list() == wanted.estimate.entries_of(["user-3", "user-0"], [20, 0]).tolist()
    assert frame.select("lower", "upper").to_numpy().tolist() == ends.tolist()
    assert (ends[:, 1] > ends[:, 0]).all()
    assert str(wanted) in ran.out


def test_the_distribution_of_levels_beside_predictions_is_that_of_the_library(likewise, ratings, tmp_path):
    (tmp_path / "pairs.csv").write_text("user-3,20\nuser-0,0\nnobody,0\n")
    out = tmp_path / "predictions.csv"
    options = (
        "--pairs",
        tmp_path / "pairs.csv",
        "--distribution",
        "--estimator",
        "biases",
        "--value-range",
        "1,5",
    )
    ran = likewise("estimate", ratings, "--out", out, *options, "--confidence", "0.6")
    assert ran.code == 0, ran.err
    frame = pl.read_csv(out)
    observed = package.read_ratings(ratings, value_range=(1, 5))
    wanted = package.estimation.level_probabilities(
        observed, package.make_estimator("biases", random_state=0)
    )
    names = [f"p_{level:g}" for level in wanted.levels]
    assert frame.columns == ["user", "item", "estimate", "expected", *names, "lower", "upper"]
    expected = wanted.entries_of(["user-3", "user-0"], [20, 0])
    assert frame.select(names).to_numpy()[:2].tolist() == expected.tolist()
    assert frame["expected"].to_list()[:2] == (expected @ wanted.levels).tolist()
    assert frame["p_1"].to_list()[2] is None
    assert str(wanted) in ran.out
    assert likewise("estimate", ratings, "--out", tmp_path / "b.csv", *options).code == 0


def test_a_distribution_without_pairs_is_refused(likewise, ratings, tmp_path):
    ran = likewise("estimate", ratings, "--out", tmp_path / "estimate.npz", "--distribution")
    assert ran.code == 1
    assert "--distribution without --pairs" in ran.err


def test_a_confidence_for_which_there_are_too_few_observations_gives_the_whole_range(
    likewise, ratings, tmp_path
):
    (tmp_path / "pairs.csv").write_text("user-3,20\n")
    out = tmp_path / "predictions.csv"
    options = ("--pairs", tmp_path / "pairs.csv", "--confidence", "0.9999", "--estimator", "biases")
    ran = likewise("estimate", ratings, "--out", out, *options, "--value-range", "1,5")
    assert ran.code == 0, ran.err
    assert pl.read_csv(out).row(0)[3:] == (1.0, 5.0)
    assert "the whole range" in ran.out


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            ("--confidence", "1"),
            1,
            "error: --confidence 1.0; expected a number between 0 and 1, both excluded",
        ),
        (("--confidence", "-0.5"), 1, "error: --confidence -0.5; expected a number between 0 and 1"),
        (("--confidence", "95"), 1, "error: --confidence 95.0; expected a number between 0 and 1"),
        (("--confidence", "nan"), 1, "error: --confidence nan; expected a number between 0 and 1"),
        (("--confidence", "high"), 2, "--confidence"),
    ],
)
def test_a_confidence_that_is_none_is_told_before_the_work(likewise, tmp_path, options, code, message):
    ran = likewise("estimate", "nowhere.csv", "--pairs", "p", "--out", tmp_path / "out.csv", *options)
    assert ran.code == code
    assert message in ran.err


def test_intervals_need_pairs(likewise, ratings, tmp_path):
    ran = likewise("estimate", ratings, "--out", tmp_path / "e.npz", "--confidence", "0.9")
    assert (ran.code, ran.err) == (
        1,
        "error: --confidence 0.9 without --pairs; expected --pairs FILE, whose entries get intervals.\n",
    )


def test_unknown_ids_are_named_and_nothing_is_written_where_that_is_asked_for(likewise, ratings, tmp_path):
    (tmp_path / "pairs.csv").write_text("user-3,20\nnobody,20\n")
    out = tmp_path / "predictions.csv"
    pairs = ("--pairs", tmp_path / "pairs.csv", "--unknown", "error")
    ran = likewise("estimate", ratings, "--out", out, *pairs, *OPTIONS)
    assert ran.code == 1
    assert ran.err.startswith("error: 1 unknown row id: 'nobody'")
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "message"), [((), "a file ending in .npz"), (("--pairs", "p"), ".csv or .parquet")]
)
def test_the_ending_says_what_is_written(likewise, ratings, tmp_path, options, message):
    ran = likewise("estimate", ratings, "--out", tmp_path / "file.txt", *options)
    assert ran.code == 1
    assert message in ran.err


def test_quiet(likewise, ratings, tmp_path):
    ran = likewise("estimate", ratings, "--out", tmp_path / "estimate.npz", *OPTIONS, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_rank_zero_is_warned_about_and_written(likewise, ratings, tmp_path):
    ran = likewise(
        "estimate", ratings, "--out", tmp_path / "e.npz", "--threshold", "1e6", "--value-range", "1,5"
    )
    assert ran.code == 0
    assert ran.err.startswith("warning: ")
    assert package.LowRankEstimate.load(tmp_path / "e.npz").rank == 0


def predicted(likewise, folder):
    """Predict the pairs in a folder from the ratings there, by biases; return also what was printed."""
    out, files = folder / "p.csv", (folder / "r.csv", "--pairs", folder / "pairs.csv")
    ran = likewise("estimate", *files, "--out", out, "--estimator", "biases")
    assert ran.code == 0, ran.err
    return ran, pl.read_csv(out)


def test_a_pair_without_observations_is_predicted_by_a_mean_and_counted(likewise, tmp_path):
    """Film 10 has 5 and 3, ann has 5 and 1, all have 5, 3, 1, 2: means 4, 3 and 2.75."""
    (tmp_path / "r.csv").write_text("user,item,rating\nann,10,5\nbea,10,3\nann,20,1\nbea,20,2\n")
    (tmp_path / "pairs.csv").write_text("nobody,10\nann,99\nnobody,99\nann,20\n")
    ran, predictions = predicted(likewise, tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert predictions["estimate"].to_list()[:3] == [4.0, 3.0, 2.75]
    assert "3 of 4 pairs name an individual or a feature without observations" in ran.out


def test_a_pair_without_observations_has_no_interval(likewise, ratings, tmp_path):
    (tmp_path / "pairs.csv").write_text("user-3,20\nnobody,20\n")
    options = ("--pairs", tmp_path / "pairs.csv", "--confidence", "0.6", "--estimator", "biases")
    out = tmp_path / "p.csv"
    assert likewise("estimate", ratings, "--out", out, *options, "--value-range", "1,5").code == 0
    rows = pl.read_csv(out).rows()
    assert None not in rows[0]
    assert rows[1][3:] == (None, None)


@pytest.mark.slow
def test_it_says_what_was_read_chosen_and_how_well_it_does(likewise, ratings, tmp_path):
    ran = likewise("estimate", ratings, "--out", tmp_path / "e.npz")
    told = " ".join(ran.out.split())
    assert "Read ratings.csv: individuals from userId, features from movieId, values from rating." in told
    assert "values 1 to 5" in told
    assert "Auto(random_state=0), which chose " in told
    assert re.search(
        r"its root mean squared error is [0-9.]+ on [0-9,]+ held-out observations; \d+ estimators were tried: --details",
        told,
    )
    assert "root mean squared errors on" not in ran.out
    details = likewise("estimate", ratings, "--out", tmp_path / "f.npz", "--details").out
    assert "root mean squared errors on" in details
    assert "(chosen)" in details


def test_no_cell_of_the_predictions_is_a_formula(likewise, tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\n=cmd,10,5\n@bea,10,3\n=cmd,20,1\n@bea,20,2\n")
    (tmp_path / "pairs.csv").write_text("=cmd,10\n@bea,20\n")
    _, predictions = predicted(likewise, tmp_path)
    assert predictions["user"].to_list() == ["'=cmd", "'@bea"]


def test_predictions_are_read_again_as_outputs(likewise, ratings, tmp_path):
    """The estimate of the pairs that a recommender predicts, beside its predictions."""
    observed = package.read_ratings(ratings, value_range=(1, 5))
    lines = [f"{user},{item},{(7 * item) % 5}" for user in observed.row_ids for item in observed.column_ids]
    (tmp_path / "own.csv").write_text("user,item,score\n" + "\n".join(lines) + "\n")
    out = tmp_path / "estimate.csv"
    ran = likewise("estimate", ratings, "--out", out, "--pairs", tmp_path / "own.csv", *OPTIONS)
    assert ran.code == 0, ran.err
    options = ("--outputs-without", tmp_path / "own.csv", "--outputs-with", out, "--reference", "observed")
    ran = likewise("audit", ratings, *options, "--details")
    assert ran.code == 0, ran.err
    assert "individuals from user, features from item, outputs from estimate" in " ".join(ran.out.split())
