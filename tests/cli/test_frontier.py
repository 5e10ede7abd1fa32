"""`likewise frontier`: files that are there or not, and one line for what cannot be."""

import json

import pytest

OPTIONS = ("--threshold", "1.0", "--value-range", "1,5")


@pytest.mark.slow
def test_files_and_table(likewise, ratings, tmp_path):
    ran = likewise("frontier", ratings, "--out", tmp_path / "out", "--budgets", "0.4,0.2", *OPTIONS)
    assert (ran.code, ran.err) == (0, "")
    assert f"Figure: {tmp_path / 'out' / 'frontier.svg'}" in ran.out
    assert "ratings.csv: 12 individuals" in ran.out
    tree = json.loads((tmp_path / "out" / "frontier.json").read_text())
    assert [point["budget"] for point in tree["points"]] == [None, 0.4, 0.2]


def test_the_help_says_what_is_the_default(likewise):
    text = " ".join(likewise("frontier", "--help").out.replace("│", "").split())
    assert "By default svt where an option below is given that is its own; none for" in text


@pytest.mark.slow
def test_quiet(likewise, ratings, tmp_path):
    ran = likewise("frontier", ratings, "--out", tmp_path / "out", "--budgets", "0.4", "--quiet", *OPTIONS)
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--budgets", "0.4,-1"), 1, "a finite number above 0"),
        (("--budgets", "a"), 2, "--budgets"),
        (("--budgets", "1e-300"), 1, "error: --budgets 1e-300; expected a limit of at least 1e-60"),
        (("--estimator", "cai-candes-shen"), 1, "CaiCandesShen, which cannot be held to a budget"),
        (("--set", "threshold=1e6"), 1, "give a number below 1e+06 as --threshold"),
        (("--reference", "estimate"), 2, "--reference"),
        (("--budgets", "0.5,0"), 1, "error: --budgets 0.0; expected a finite number above 0"),
        (("--max-lipschitz", "0.4"), 1, "error: --max-lipschitz 0.4; expected no budget"),
        (("--set", "max_lipschitz=0.4"), 1, "give --budgets"),
    ],
)
def test_bad_input_writes_nothing(likewise, ratings, tmp_path, options, code, message):
    ran = likewise("frontier", ratings, "--out", tmp_path / "out", "--value-range", "1,5", *options)
    assert ran.code == code
    assert ran.err.startswith("error: ")
    assert len(ran.err.splitlines()) == 1
    assert message in ran.err
    assert not (tmp_path / "out").exists()


def test_an_estimate_within_a_budget(likewise, ratings, tmp_path):
    from likewise import LowRankEstimate, certify, read_ratings

    out = tmp_path / "estimate.npz"
    ran = likewise("estimate", ratings, "--out", out, "--max-lipschitz", "0.2", *OPTIONS)
    assert ran.code == 0, ran.err
    observed = read_ratings(ratings, value_range=(1, 5))
    assert certify(LowRankEstimate.load(out), observed).k_star.value <= 0.2


def test_an_empty_name_is_no_folder(likewise, ratings):
    ran = likewise("frontier", ratings, "--out", "")
    assert ran.code == 2
    assert "--out: an empty name" in ran.err
