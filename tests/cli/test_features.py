"""`--row-features`, `--column-features`: what is known beside the ratings, from files."""

import numpy as np
import polars as pl

import likewise as package
from likewise.observations import with_features


def test_factors_begin_at_what_files_say(likewise, tmp_path):
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=40)
    lines = [
        f"u{i},{j},{4 if group[i] == j % 2 else 2}"
        for i in range(40)
        for j in range(20)
        if rng.random() < 0.4
    ]
    (tmp_path / "ratings.csv").write_text("user,item,rating\n" + "\n".join(lines) + "\n")
    people = pl.DataFrame({"user": [f"u{i}" for i in range(40)], "group": [["a", "b"][g] for g in group]})
    people.write_csv(tmp_path / "users.csv")
    (tmp_path / "items.csv").write_text(
        "item,year\n" + "\n".join(f"{j},{1990 + j}" for j in range(20)) + "\n"
    )
    files = ("--row-features", tmp_path / "users.csv", "--column-features", tmp_path / "items.csv")
    out = tmp_path / "estimate.npz"
    options = ("--estimator", "als", "--set", "rank=3", "--value-range", "1,5")
    ran = likewise("estimate", tmp_path / "ratings.csv", "--out", out, *options, *files)
    assert (ran.code, ran.err) == (0, "")
    assert "row features from group (2 columns)" in ran.out
    assert "column features from year (1 columns)" in ran.out
    observed = package.read_ratings(tmp_path / "ratings.csv", value_range=(1, 5))
    known = with_features(observed, people, pl.DataFrame({"item": range(20), "year": range(1990, 2010)}))
    expected = package.make_estimator("als", rank=3, random_state=0).fit(known).estimate_
    np.testing.assert_allclose(package.LowRankEstimate.load(out).to_dense(), expected.to_dense())


def test_features_of_others_and_of_tables_are_refused_without_a_traceback(likewise, ratings, tmp_path):
    (tmp_path / "users.csv").write_text("user,age\nnobody,20\nno-one,30\n")
    features = ("--row-features", tmp_path / "users.csv")
    ran = likewise("estimate", ratings, "--out", tmp_path / "e.npz", "--estimator", "als", *features)
    assert ran.code == 1
    assert "none of them among the observations" in ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / "e.npz").exists()
    ran = likewise(
        "audit",
        tmp_path / "users.csv",
        "--reference",
        "gower",
        "--outputs",
        tmp_path / "users.csv",
        *features,
    )
    assert ran.code == 1
    assert "--row-features" in ran.err
