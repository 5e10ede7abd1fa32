"""One file for individuals, outputs, target and groups: no column is two things, and what was left out is said."""

import json

import numpy as np
import pytest

TABLE = "people.csv"


@pytest.fixture
def people(tmp_path):
    """Forty people whose decision has nothing to do with their test, so that the gap is near 1 unless the decision is in d."""
    rng = np.random.default_rng(0)
    test, decided = rng.normal(size=40).round(2), rng.integers(0, 3, 40)
    town, job = rng.choice(["Aville", "Bford"], 40), rng.choice(["cook", "nurse"], 40)
    columns = zip(range(1, 41), test, job, town, decided, strict=True)
    lines = ["id,test,job,town,decision", *(",".join(map(str, row)) for row in columns)]
    (tmp_path / TABLE).write_text("\n".join(lines) + "\n")
    (tmp_path / "decisions.csv").write_text(
        "\n".join(f"{line.split(',')[0]},{line.split(',')[-1]}" for line in lines) + "\n"
    )
    return tmp_path / TABLE


def gap_of(report):
    return json.loads(report.read_text())["arms"]["outputs"]["fairness"]["similar"]["relative_gap"]["value"]


GOWER = ("--id-columns", "id", "--reference", "gower")


def test_an_output_and_a_group_of_the_file_of_individuals_are_not_features(likewise, people, tmp_path):
    groups = "--groups", people, "--group-column", "town"
    ran = likewise(
        "audit",
        people,
        *GOWER,
        "--outputs",
        people,
        "--output-columns",
        "decision",
        *groups,
        "--json",
        tmp_path / "one.json",
    )
    assert ran.code == 0
    said = " ".join(ran.out.split())
    assert "numbers from test; categories from job; groups from town." in said
    assert "In people.csv decision is not a feature here." in said
    named = likewise("audit", people, *GOWER, "--columns", "test,job", "--outputs", people.with_name("decisions.csv"), *groups, "--json", tmp_path / "two.json")  # fmt: skip
    assert "not a feature" not in named.out
    assert gap_of(tmp_path / "one.json") == gap_of(tmp_path / "two.json") > 0.5


def test_numbers_alone_and_features_that_were_named(likewise, people):
    outputs = "--outputs", people, "--output-columns", "decision"
    ran = likewise("audit", people, "--id-columns", "id", "--exclude", "job,town", *outputs)
    assert "individuals from id, 1 feature from test; left out: job, town, decision." in " ".join(
        ran.out.split()
    )
    ran = likewise("audit", people, "--id-columns", "id", "--columns", "test,decision", *outputs)
    assert ran.code == 1
    assert ran.err.startswith(
        "error: --output-columns decision among --columns; expected features without what is audited"
    )


def test_a_target_of_the_same_file_is_no_feature_beside_outputs(likewise, people):
    outputs = (
        "--outputs",
        people.with_name("decisions.csv"),
        "--target",
        people,
        "--target-column",
        "decision",
    )
    ran = likewise("audit", people, *GOWER, *outputs)
    assert ran.code == 0
    assert "numbers from test; categories from job, town;" in " ".join(ran.out.split())


def test_a_group_that_was_named_as_a_feature_stays_one(likewise, people):
    groups = "--groups", people, "--group-column", "town"
    ran = likewise("audit", people, *GOWER, "--columns", "test,town", "--outputs", people.with_name("decisions.csv"), *groups)  # fmt: skip
    assert "numbers from test; categories from town; groups from town." in " ".join(ran.out.split())


def test_the_same_file_without_a_word_on_its_columns_is_refused(likewise, people):
    ran = likewise("audit", people, *GOWER, "--outputs", people)
    assert ran.code == 1
    assert "people.csv as individuals and as outputs; expected to be told which" in ran.err
    assert "--output-columns" in ran.err


def test_where_features_were_named_the_outputs_are_the_others(likewise, people):
    only = people.with_name("only.csv")
    only.write_text(
        "\n".join(",".join(line.split(",")[k] for k in (0, 1, 4)) for line in people.read_text().split())
        + "\n"
    )
    ran = likewise("audit", only, "--id-columns", "id", "--columns", "test", "--outputs", only)
    assert "individuals from id, outputs from decision; left out: test." in " ".join(ran.out.split())


def test_an_output_from_another_file_that_is_a_feature_too_is_refused(likewise, people):
    ran = likewise("audit", people, *GOWER, "--outputs", people.with_name("decisions.csv"))
    assert ran.code == 1
    assert ran.err.startswith("error: output 'decision' among the features, with the same values;")
    assert "--exclude decision" in ran.err


def test_a_target_that_is_the_output_is_refused(likewise, people):
    decisions = people.with_name("decisions.csv")
    ran = likewise(
        "audit", people, *GOWER, "--columns", "test,job", "--outputs", decisions, "--target", decisions
    )
    assert ran.code == 1
    assert ran.err.startswith(
        "error: 'decision' of decisions.csv as output and as target; expected a target from elsewhere"
    )
    both = people.with_name("both.csv")
    rows = [line.split(",") for line in people.read_text().split()]
    both.write_text("\n".join(f"{row[0]},{row[4]},{row[1]}" for row in rows) + "\n")
    named = "--outputs", both, "--output-columns", "decision", "--target", both, "--target-column", "test"
    assert likewise("audit", people, *GOWER, "--columns", "job", *named).code == 0


def test_a_target_that_is_what_is_audited_is_said_to_be(likewise, tmp_path):
    rng, ratings, scores = np.random.default_rng(0), tmp_path / "ratings.csv", tmp_path / "scores.csv"
    every = [(user, item) for user in range(20) for item in range(8)]
    ratings.write_text(
        "user,item,rating\n" + "".join(f"{u},{i},{rng.integers(1, 6)}\n" for u, i in every if (u + i) % 2)
    )
    scores.write_text("user,item,score\n" + "".join(f"{u},{i},{rng.normal():.3f}\n" for u, i in every))
    ran = likewise("audit", ratings, "--outputs", scores, "--target", ratings)
    assert (
        "In ratings.csv the target is what is audited, too: the error of outputs that were made from it is too small."
        in " ".join(ran.out.split())
    )
    later = tmp_path / "later.csv"
    later.write_text(ratings.read_text())
    assert (
        "what is audited, too"
        not in likewise("audit", ratings, "--outputs", scores, "--target", later, "--details").out
    )
