"""`likewise audit`: how outputs are compared, what individuals are compared by, and tests from elsewhere, from files."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from likewise import ObservedMatrix, audit, read_ratings
from likewise.errors import InputError
from likewise.fairness import (
    ObservedDistance,
    RowDistance,
    consistency,
    feature_distance,
    rank_biased_distance,
    target_accuracy,
    top_n_distance,
)
from likewise.observations import clustered, write_ratings

M, N = 40, 30
RANGE = "--value-range=-1,1"


@pytest.fixture(scope="module")
def data():
    return clustered(M, N, 3, observed_fraction=0.4, random_state=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, data):
    """Ratings; A, in another order and with a stranger; a test; probabilities, a score and lists for everybody."""
    path, rng = tmp_path_factory.mktemp("measuring"), np.random.default_rng(1)
    write_ratings(path / "ratings.csv", data.observed)
    people = [*rng.permutation(M), 999]
    features = [f"f{j}" for j in range(N)]
    rows = [[i, *(data.truth[i] if i < M else np.zeros(N))] for i in people]
    write(path / "truth.csv", ["user", *features], rows)
    shares = rng.dirichlet(np.ones(3), M)
    write(path / "shares.csv", ["user", "a", "b", "c"], [[i, *shares[i]] for i in people[:-1]])
    write(path / "scores.csv", ["user", "score"], [[i, shares[i, 0]] for i in range(M)])
    lists = [[i, *rng.permutation(8)[:4]] for i in range(M)]
    write(path / "lists.csv", ["user", "rec1", "rec2", "rec3", "rec4"], lists)
    cells = rng.choice(M * N, 200, replace=False)
    entries = [[k // N, k % N, data.truth[k // N, k % N]] for k in cells]
    write(path / "test.csv", ["user", "item", "rating"], entries)
    return path


def write(path, header, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in (header, *rows)) + "\n")


def numbers(path):
    """Read a file back by plain Python: everybody's row, in the order of the ratings."""
    lines = [line.split(",") for line in path.read_text().splitlines()[1:]]
    rows = {line[0]: [float(each) for each in line[1:]] for line in lines}
    return np.array([rows[str(i)] for i in range(M)])


def told(likewise, folder, *options):
    ran = likewise("audit", folder / "ratings.csv", RANGE, *options, "--json", "-")
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


@pytest.mark.parametrize("name", ["l2", "l1", "linf", "l3", "tv", "hellinger", "w1", "top-1", "top-2", "rbo"])
def test_output_distances_are_those_of_python(likewise, folder, name):
    found = told(likewise, folder, "--outputs", folder / "shares.csv", "--output-distance", name)
    Z = read_ratings(folder / "ratings.csv", value_range=(-1, 1))
    report = audit(Z, outputs=numbers(folder / "shares.csv"), output_distance=name)
    assert found["arms"]["outputs"]["fairness"]["mean_output_distance"]["value"] == pytest.approx(
        report.arms["outputs"].fairness.mean_output_distance.value
    )
    assert (
        found["arms"]["outputs"]["fairness"]["output"]["name"] == report.arms["outputs"].fairness.output.name
    )
    assert found["settings"]["output_distance"] == name


@pytest.mark.slow
def test_the_order_of_classes_stands_in_the_answer(likewise, folder, tmp_path):
    (tmp_path / "risk.csv").write_text(
        "user,high,low,mid\n" + "".join(f"{i},0.5,{i / 80},{0.5 - i / 80}\n" for i in range(M))
    )
    asked = ["audit", folder / "ratings.csv", RANGE, "--outputs", tmp_path / "risk.csv"]
    told = "D takes the classes in this order: high, low, mid; their names suggest low, mid, high"
    ran = likewise(*asked, "--output-distance", "w1", "--out", tmp_path / "report")
    assert told in " ".join(ran.out.split())
    assert told in (tmp_path / "report" / "report.html").read_text()
    asked += ["--output-columns", "low,mid,high"]
    said = " ".join(likewise(*asked, "--output-distance", "w1").out.split())
    assert "D takes the classes in this order: low, mid, high." in said
    assert "in this order" not in likewise(*asked, "--output-distance", "tv").out


@pytest.mark.parametrize("name", ["tv", "hellinger", "w1"])
def test_whose_outputs_are_no_distribution_is_said_with_the_file(likewise, folder, tmp_path, name):
    shares = [[i, 0.5, 0.5] for i in range(M)][::-1]
    shares[3][1] = shares[9][1] = 0.75
    write(tmp_path / "shares.csv", ["user", "a", "b"], shares)
    options = ("--outputs", tmp_path / "shares.csv", "--output-distance", name)
    ran = likewise("audit", folder / "ratings.csv", RANGE, *options)
    assert (ran.code, ran.out) == (1, "")
    first = min(shares[3][0], shares[9][0])
    said = f"shares.csv: the row of individual {first} (and 1 more) is not a probability distribution"
    assert said in " ".join(ran.err.split())


@pytest.mark.parametrize("reference", ["observed", "held-out"])
def test_for_whom_a_model_gives_no_distribution_is_said(likewise, tmp_path, reference):
    write(tmp_path / "stars.csv", ["user", "item", "rating"], [[f"u{i}", j, value] for i, j, value in STARS])
    options = ("--model", "identity", "--reference", reference, "--output-distance", "tv", "--threshold", "4")
    options += ("--least-shared", "1") if reference == "held-out" else ()
    ran = likewise("audit", tmp_path / "stars.csv", *options)
    assert (ran.code, ran.out) == (1, "")
    said = " ".join(ran.err.split())
    assert "the row of individual u" in said
    assert "is not a probability distribution" in said


def test_one_number_is_compared_by_its_difference_and_its_consistency(likewise, folder):
    options = ("--output-distance", "absolute", "--consistency", "3")
    found = told(likewise, folder, "--outputs", folder / "scores.csv", *options)
    arm, scores = found["arms"]["outputs"], numbers(folder / "scores.csv")[:, 0]
    pairs = np.triu_indices(M, 1)
    assert arm["fairness"]["mean_output_distance"]["value"] == pytest.approx(
        np.abs(scores[pairs[0]] - scores[pairs[1]]).mean()
    )
    Z = read_ratings(folder / "ratings.csv", value_range=(-1, 1))
    assert arm["consistency"]["value"] == pytest.approx(consistency(scores, ObservedDistance(Z), 3).value)
    ran = likewise(
        "audit", folder / "ratings.csv", RANGE, "--outputs", folder / "scores.csv", *options, "--details"
    )
    assert "consistency" in ran.out


def test_lists_can_be_compared_by_rank(likewise, folder):
    lists = numbers(folder / "lists.csv").astype(int)
    found = told(likewise, folder, "--outputs", folder / "lists.csv", "--output-distance", "rbo")
    D = rank_biased_distance(lists).between(*np.triu_indices(M, 1))
    assert found["arms"]["outputs"]["fairness"]["mean_output_distance"]["value"] == pytest.approx(D.mean())
    ran = likewise(
        "audit", folder / "ratings.csv", RANGE, "--outputs", folder / "lists.csv", "--output-distance", "l1"
    )
    assert ran.code == 1
    assert "--output-distance l1" in ran.err


def test_a_file_of_references_is_not_called_activity_and_has_its_own_norm(likewise, folder, tmp_path):
    ages = np.random.default_rng(3).integers(20, 60, M)
    write(tmp_path / "people.csv", ["user", "age"], [[i, ages[i]] for i in range(M)])
    asked = ["--outputs", folder / "scores.csv", "--reference", tmp_path / "people.csv", "--json", "-"]
    read = json.loads(likewise("audit", folder / "ratings.csv", RANGE, *asked).out)
    assert "activity" not in read["answer"]["sentence"]
    assert not read["reference"]["measures_activity"]
    assert read["settings"]["norm"] is None


@pytest.mark.parametrize("norm", [None, "l1", "linf"])
def test_a_file_of_features_is_the_reference_aligned_by_id(likewise, folder, data, norm):
    options = () if norm is None else ("--norm", norm)
    found = told(
        likewise, folder, "--outputs", folder / "scores.csv", "--reference", folder / "truth.csv", *options
    )
    d = feature_distance(data.truth, norm or "l2").between(*np.triu_indices(M, 1))
    arm = found["arms"]["outputs"]["fairness"]
    assert arm["mean_reference_distance"]["value"] == pytest.approx(d.mean())
    assert found["reference"]["kind"] == "given"
    assert "truth.csv" in found["reference"]["description"]
    assert {"source": "truth.csv"}.items() <= found["data"]["columns"][-1].items()
    assert len(found["data"]["columns"][-1]["features"]) == N


def test_every_form_of_a_reference_gives_the_same_distance_and_names_its_features(likewise, folder, data):
    """A line for each individual, one for each individual and feature, or an array: a column may be called score."""
    header = ["id", "score", "age", *(f"f{j}" for j in range(2, N))]
    write(folder / "named.csv", header, [[i, *data.truth[i]] for i in range(M)])
    lines = [[i, name, data.truth[i, j]] for j, name in enumerate(header[1:]) for i in range(M)]
    write(folder / "lines.csv", ["user", "item", "rating"], lines)
    np.save(folder / "array.npy", data.truth)
    np.savez(folder / "arrays.npz", features=data.truth[::-1], row_ids=np.arange(M)[::-1])
    found = {
        file: told(likewise, folder, "--outputs", folder / "scores.csv", "--reference", folder / file)
        for file in ("named.csv", "lines.csv", "array.npy", "arrays.npz")
    }
    means = {
        each["arms"]["outputs"]["fairness"]["mean_reference_distance"]["value"] for each in found.values()
    }
    assert max(means) == pytest.approx(min(means))
    assert {len(each["data"]["columns"][-1]["features"]) for each in found.values()} == {N}
    pair = found["named.csv"]["arms"]["outputs"]["explained"][0]["reference"]
    assert {part["feature"] for part in pair["apart"]} <= {*header}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,age,city\n" + "\n".join(f"{i},{i},rome" for i in range(M)), "words in 'city' of some.csv"),
        ("id,age\n" + "\n".join(f"{i},{'NA' if i == 3 else i}" for i in range(M)), "line 5 of some.csv"),
        ("id,age\n" + "\n".join(f"{i},{i}" for i in range(1, M)), "has features for 39 of 40 individuals"),
        ("\n".join(f"{i},{i}" for i in range(M)), "begins with the features of '0'"),
        (
            "user,item,rating\n" + "\n".join(f"{i},{i % 7},1" for i in range(M)),
            "1 of 7 items for an individual",
        ),
    ],
)
def test_a_reference_that_cannot_be_one_is_told_in_its_own_words(likewise, folder, text, message):
    (folder / "some.csv").write_text(text + "\n")
    ran = likewise("audit", folder / "ratings.csv", RANGE, "--reference", folder / "some.csv")
    assert (ran.code, ran.out) == (1, "")
    assert message in " ".join(ran.err.split())
    assert "output" not in ran.err


@pytest.mark.slow
def test_what_was_asked_for_stands_in_the_answer(likewise, folder):
    """The error on a test, consistency, and which D the proofs are of where outputs are compared otherwise."""
    model = ("--model", "knn", "--estimator", "svt", "--test", folder / "test.csv")
    answer = told(likewise, folder, *model, "--output-distance", "linf", "--reference", "observed")["answer"]
    assert "error on the test" in [row["label"] for row in answer["rows"]]
    (itself,) = (line for line in answer["remarks"] if line.startswith("The estimate itself"))
    assert "by l2 over l1" in itself  # nothing is proved of the outputs
    usual = told(likewise, folder, *model, "--reference", "observed")["answer"]
    assert not any("proofs' D" in line for line in usual["remarks"])
    scores = ("--outputs", folder / "scores.csv", "--consistency")
    rows = {row["label"]: row["values"] for row in told(likewise, folder, *scores, "3")["answer"]["rows"]}
    assert 0 < float(rows["consistency"][0]) < 1
    refused = likewise("audit", folder / "ratings.csv", RANGE, *scores, M)
    assert f"--consistency {M}; expected a whole number from 1 to {M - 1}" in refused.err
    several = likewise(
        "audit", folder / "ratings.csv", RANGE, "--outputs", folder / "shares.csv", "--consistency", "3"
    )
    assert "--consistency 3 of outputs with 3 columns" in " ".join(several.err.split())


def test_with_the_truth_as_reference_a_model_is_held_against_it(likewise, folder, data):
    found = told(
        likewise, folder, "--reference", folder / "truth.csv", "--model", "identity", "--estimator", "svt"
    )
    arm = found["arms"]["with"]["fairness"]
    d = RowDistance(data.truth).between(*np.triu_indices(M, 1))
    assert arm["mean_reference_distance"]["value"] == pytest.approx(d.mean())


def test_a_test_from_elsewhere_stands_beside_the_hidden_share(likewise, folder, data):
    options = ("--test", folder / "test.csv", "--model", "identity", "--estimator", "svt")
    found = told(likewise, folder, *options)
    Z = read_ratings(folder / "ratings.csv", value_range=(-1, 1))
    entries = np.loadtxt(folder / "test.csv", delimiter=",", skiprows=1)
    seen = {(int(i), int(j)) for i, j in zip(*data.observed.positions(), strict=True)}
    new = [(int(i), int(j), value) for i, j, value in entries if (int(i), int(j)) not in seen]
    with_, without = (found["arms"][arm]["test_error"] for arm in ("with", "without"))
    assert with_["n"] == len(new) < len(entries)
    # Without pre-processing the identity predicts the middle of the range, 0, for whatever was not observed.
    assert without["mse"] == pytest.approx(np.mean([value**2 for *_, value in new]))
    assert found["arms"]["with"]["error"]["n"] != with_["n"]
    assert any(
        f"{len(entries) - len(new)} test ratings are among the observations" in note
        for note in found["data"]["notes"]
    )
    assert any(sentence.startswith(f"On {len(new)} test observations") for sentence in found["findings"])
    assert not any("did not choose" in limit for limit in found["answer"]["limits"])
    assert Z.shape == (M, N)


STARS = [[i, j, 1 + (3 * i + 2 * j) % 5] for i in range(20) for j in range(12) if (i + j) % 3]
"""Ratings from 1 to 5 of two items of three."""

UNSEEN = [[i, j] for i in range(20) for j in range(12) if not (i + j) % 3]


def held_against(likewise, path, entries, *options, header=("user", "item", "rating")):
    """Audit a model of the stars above with a test of these entries."""
    write(path / "stars.csv", ["user", "item", "rating"], STARS)
    write(path / "test.csv", *([header, entries] if header else [entries[0], entries[1:]]))
    model = ("--model", "identity", "--estimator", "svt", "--threshold", "4")
    return likewise("audit", path / "stars.csv", "--test", path / "test.csv", *model, *options)


@pytest.mark.parametrize("declared", [(), ("--value-range", "1,5")])
def test_a_test_of_full_marks_alone_has_the_range_of_the_ratings(likewise, tmp_path, declared):
    full = [[*cell, 5] for cell in UNSEEN]
    ran = held_against(likewise, tmp_path, full, *declared, "--json", "-")
    assert (ran.code, ran.err) == (0, "")
    without = json.loads(ran.out)["arms"]["without"]["test_error"]
    # Where nothing was observed the identity predicts the middle of 1 to 5.
    assert (without["n"], without["mse"]) == (len(full), pytest.approx(4.0))


@pytest.mark.parametrize("declared", [(), ("--value-range", "1,5")])
def test_a_test_outside_the_range_names_file_value_and_range(likewise, tmp_path, declared):
    beyond = [[*cell, 3] for cell in UNSEEN[1:]] + [[*UNSEEN[0], 7]]
    ran = held_against(likewise, tmp_path, beyond, *declared)
    said = " ".join(ran.err.split())
    assert (ran.code, ran.out) == (1, "")
    assert "test.csv: 1 value outside the range of the observations: 7 at (0, 0)" in said
    assert "expected values from 1 to 5" in said
    assert "--value-range" in said


def test_each_column_of_a_test_has_the_range_of_that_column(likewise, tmp_path):
    """Item b goes up to 50: a 30 is one of its values, and none of item a's."""
    rows = [[i, 1 + i % 5, 10 * (1 + i % 5), 1 + (2 * i) % 5 if i > 4 else ""] for i in range(12)]
    write(tmp_path / "wide.csv", ["user", "a", "b", "c"], rows)
    write(tmp_path / "right.csv", ["user", "b", "c"], [[k, 30, 5] for k in range(4)])
    write(tmp_path / "wrong.csv", ["user", "c", "b"], [[k, 30, 30] for k in range(4)])
    options = ("--model", "identity", "--estimator", "svt", "--threshold", "1")
    options += ("--id-columns", "user", "--value-range", "per-column")
    ran = likewise("audit", tmp_path / "wide.csv", "--test", tmp_path / "right.csv", *options, "--json", "-")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["arms"]["with"]["test_error"]["n"] == 4
    ran = likewise("audit", tmp_path / "wide.csv", "--test", tmp_path / "wrong.csv", *options)
    said = " ".join(ran.err.split())
    assert "wrong.csv: 4 values outside the range of the observations, the first being 30 at (0, c)" in said
    assert "expected values from 1 to 5" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("header", "read"),
    [
        (
            ("user", "item", "rating"),
            "Read test.csv: individuals from user, features from item, values from rating",
        ),
        (None, "Read test.csv: individuals from column 0, features from column 1, values from column 2"),
    ],
)
def test_what_was_read_of_a_test_is_said_everywhere(likewise, tmp_path, header, read):
    entries = [[*cell, 1 + k % 5] for k, cell in enumerate(UNSEEN)]
    out = tmp_path / "results"
    ran = held_against(
        likewise, tmp_path, entries, "--out", out, "--json", tmp_path / "a.json", header=header
    )
    assert ran.code == 0, ran.err
    assert read in " ".join(ran.out.split())
    assert read in " ".join((out / "report.html").read_text().split())
    sources = [each["source"] for each in json.loads((tmp_path / "a.json").read_text())["data"]["columns"]]
    assert sources == ["stars.csv", "test.csv"]
    plan = held_against(likewise, tmp_path, entries, "--dry-run", header=header)
    assert read in " ".join(plan.out.split())


def test_a_pair_that_a_test_has_twice_names_the_file(likewise, tmp_path):
    ran = held_against(likewise, tmp_path, [[*UNSEEN[0], 3], [*UNSEEN[0], 4], [*UNSEEN[1], 4]])
    assert ran.code == 1
    assert "test.csv: 1 pair occurs more than once, the first being (0, 0)" in " ".join(ran.err.split())
    assert "--duplicates" in ran.err


def test_a_test_in_python_takes_an_array(data):
    table = np.full((M, N), np.nan)
    hidden = np.argwhere(np.isnan(np.where(data.observed.values.toarray() == 0, np.nan, 1.0)))[:50]
    table[tuple(hidden.T)] = data.truth[tuple(hidden.T)]
    report = audit(
        data.observed,
        model="identity",
        estimator="svt",
        test=ObservedMatrix(table, value_range=(-1, 1)),
        hold_out=0,
    )
    assert report.arms["with"].error is None
    assert report.arms["with"].test_error.n == 50


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--output-distance", "tvv"), "did you mean 'tv'"),
        (("--output-distance", "tv"), "probability distribution"),
        (("--consistency", "0"), "--consistency 0"),
        (("--reference", "nowhere.csv"), "no file 'nowhere.csv'"),
        (("--reference", "observd"), "did you mean 'observed'"),
        (("--test", "nowhere.csv"), "no file 'nowhere.csv'"),
        (("--norm", "l0.5"), "'l1', 'l2', 'linf' or a number q"),
    ],
)
def test_what_cannot_be_used_is_said(likewise, folder, options, message):
    ran = likewise("audit", folder / "ratings.csv", RANGE, *options)
    assert ran.code == 1
    assert message in " ".join(ran.err.split())
    assert ran.out == ""


def test_a_norm_without_a_name_is_refused_beside_a_file_too(likewise, folder):
    ran = likewise("audit", folder / "ratings.csv", RANGE, "--reference", folder / "truth.csv", "--norm", "")
    assert ran.code == 1
    assert "norm ''" in ran.err


def test_a_reference_of_ids_alone_wants_features_not_outputs(likewise, folder):
    write(folder / "ids.csv", ["user"], [[i] for i in range(M)])
    ran = likewise("audit", folder / "ratings.csv", RANGE, "--reference", folder / "ids.csv")
    assert ran.code == 1
    assert "expected a column of ids and one of features" in " ".join(ran.err.split())


def test_a_test_beside_outputs_or_of_a_model_that_predicts_none_is_refused(likewise, folder):
    ran = likewise(
        "audit",
        folder / "ratings.csv",
        RANGE,
        "--test",
        folder / "test.csv",
        "--outputs",
        folder / "scores.csv",
    )
    assert ran.code == 1
    assert "--outputs with --test" in ran.err
    Z = read_ratings(folder / "ratings.csv", value_range=(-1, 1))
    with pytest.raises(InputError, match="a model that predicts values of the features"):
        audit(
            Z,
            model=LinearRegression(),
            target=np.arange(M),
            test=read_ratings(folder / "test.csv", value_range=(-1, 1)),
        )


def test_a_test_of_strangers_names_them(likewise, folder, tmp_path):
    write(tmp_path / "test.csv", ["user", "item", "rating"], [[4711, 0, 0.5]])
    ran = likewise("audit", folder / "ratings.csv", RANGE, "--test", tmp_path / "test.csv")
    assert ran.code == 1
    assert "4711" in ran.err


def test_a_test_that_was_seen_is_no_test(likewise, folder):
    ran = likewise("audit", folder / "ratings.csv", RANGE, "--test", folder / "ratings.csv")
    assert ran.code == 1
    assert "all of them observed too" in ran.err


def test_the_noise_of_the_demonstration_is_a_choice(likewise, tmp_path, quick):
    ran = likewise("demo", "--noise", "-1", "--out", tmp_path / "demo")
    assert ran.code == 1
    assert "--noise" in ran.err or "noise" in ran.err
    assert not (tmp_path / "demo").exists()


def test_every_new_option_says_what_it_does(likewise):
    text = likewise("audit", "--help").out
    for option in ("--output-distance", "--consistency", "--reference", "--test", "--norm"):
        assert option in text
    assert "--noise" in likewise("demo", "--help").out
    assert "--noise" in likewise("reproduce", "--help").out


@pytest.fixture
def repaid(tmp_path):
    """Forty people, a score, and who repaid; of the last it is not known."""
    rng = np.random.default_rng(3)
    scores, known = rng.random(M).round(3), ["yes", "no"] * (M // 2 - 1) + ["yes", ""]
    write(tmp_path / "later.csv", ["user", "age", "repaid"], [[i, 30, known[i]] for i in range(M)][::-1])
    write(tmp_path / "scores.csv", ["user", "score"], [[i, scores[i]] for i in range(M)])
    write(
        tmp_path / "both.csv", ["user", "score", "repaid"], [[i, scores[i], known[i]] for i in range(M)][::-1]
    )
    return tmp_path, scores, known


@pytest.mark.parametrize("inside", [True, False])
def test_a_target_comes_from_its_file_or_that_of_the_outputs(likewise, folder, repaid, inside):
    path, scores, known = repaid
    files = ("--outputs", path / "both.csv")
    if not inside:
        files = ("--outputs", path / "scores.csv", "--target", path / "later.csv")
    found = told(likewise, folder, *files, "--target-column", "repaid")
    expected = target_accuracy(scores[:-1], known[:-1])
    accuracy = found["arms"]["outputs"]["accuracy"]
    assert (accuracy["n"], accuracy["n_unknown"]) == (M - 1, 1)
    assert accuracy["values"]["AUC"]["value"] == pytest.approx(expected.first.value)
    assert [roles["target"] for roles in found["data"]["columns"] if roles["target"]] == [["repaid"]]
    assert found["answer"]["rows"][1]["label"] == "accuracy (AUC)"


def test_a_target_without_outputs_or_with_two_columns_is_refused(likewise, folder, repaid):
    path = repaid[0]
    ran = likewise("audit", folder / "ratings.csv", RANGE, "--target", path / "later.csv")
    assert (ran.code, "--target without --outputs or --model" in ran.err) == (1, True)
    ran = likewise(
        "audit",
        folder / "ratings.csv",
        RANGE,
        "--outputs",
        path / "scores.csv",
        "--target",
        path / "later.csv",
    )
    assert (ran.code, "--target-column" in ran.err, "one column of target" in ran.err) == (1, True, True)


@pytest.mark.parametrize("inside", [True, False])
def test_a_model_learns_a_target_from_a_file(likewise, tmp_path, inside):
    rng = np.random.default_rng(0)
    people = rng.normal(size=(30, 2)).round(3)
    hired = np.where(people[:, 0] > 0, "yes", "no")
    rows = [[f"p{i}", *people[i], hired[i]] for i in range(30)]
    write(
        tmp_path / "people.csv",
        ["name", "test", "grade", "hired"],
        rows if inside else [[*row[:-1], "?"] for row in rows],
    )
    files = [tmp_path / "people.csv", "--id-columns", "name", "--target-column", "hired"]
    if not inside:
        write(tmp_path / "later.csv", ["name", "hired"], [[row[0], row[-1]] for row in rows[::-1]])
        files += ["--target", tmp_path / "later.csv", "--exclude", "hired"]
    options = (
        "--model",
        "sklearn.linear_model:LogisticRegression",
        "--hold-out",
        "0",
        "--estimator",
        "biases",
    )
    ran = likewise("audit", *files, *options, "--reference", "observed", "--json", "-")
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    Z = ObservedMatrix(people, value_range="per-column")
    report = audit(
        Z, model=LogisticRegression(), target=hired, hold_out=0, estimator="biases", reference="observed"
    )
    for arm in ("without", "with"):
        assert found["arms"][arm]["accuracy"]["values"]["AUC"]["value"] == pytest.approx(
            report.arms[arm].accuracy.values["AUC"].value
        )
    assert found["data"]["columns"][0]["features"] == ["test", "grade"]


def test_the_target_is_no_feature(likewise, folder):
    model = ("--model", "sklearn.linear_model:LogisticRegression")
    named = ("--columns", "a,b", "--id-columns", "user", "--target-column", "a")
    ran = likewise("audit", folder / "shares.csv", *named, *model)
    assert (ran.code, "--target-column a among --columns" in ran.err) == (1, True)


def test_lists_have_ratings_for_a_target_and_items_have_groups(likewise, folder, tmp_path):
    write(tmp_path / "genres.csv", ["item", "genre"], [[j, "ab"[j % 2]] for j in range(N)])
    files = (
        "--outputs",
        folder / "lists.csv",
        "--target",
        folder / "test.csv",
        "--item-groups",
        tmp_path / "genres.csv",
    )
    found = told(likewise, folder, *files, "--estimator", "biases")
    Z = read_ratings(folder / "ratings.csv", value_range=(-1, 1))
    lists = numbers(folder / "lists.csv").astype(int)
    target = read_ratings(folder / "test.csv", value_range=(-1, 1))
    report = audit(
        Z,
        outputs=top_n_distance(lists),
        target=target,
        estimator="biases",
        item_groups={j: "ab"[j % 2] for j in range(N)},
    )
    arm, expected = found["arms"]["outputs"], report.arms["outputs"]
    assert arm["accuracy"]["values"]["nDCG"]["value"] == pytest.approx(expected.accuracy.first.value)
    assert arm["lists"]["envy"]["share"] == pytest.approx(expected.lists.envy.share)
    assert [one["group"] for one in arm["lists"]["exposure"]["groups"]] == [
        one.group for one in expected.lists.exposure.groups
    ]
    sources = [roles["source"] for roles in found["data"]["columns"]]
    assert sources == ["ratings.csv", "lists.csv", "genres.csv", "test.csv"]
    ran = likewise("audit", folder / "ratings.csv", RANGE, *files, "--check", "ndcg>=0.99")
    assert (ran.code, "ndcg>=0.99: broken" in ran.out) == (3, True)


def test_scores_of_all_items_are_held_against_a_file_of_ratings(likewise, folder):
    write(folder / "all.csv", ["user", "item", "score"], [[i, j, i / M] for i in range(M) for j in range(N)])
    found = told(likewise, folder, "--outputs", folder / "all.csv", "--target", folder / "test.csv")
    lines = [line.split(",") for line in (folder / "test.csv").read_text().splitlines()[1:]]
    errors = np.array([float(line[2]) - int(line[0]) / M for line in lines])
    assert found["arms"]["outputs"]["accuracy"]["values"]["RMSE"]["value"] == pytest.approx(
        np.sqrt(np.mean(errors**2))
    )
