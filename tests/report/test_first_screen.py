"""What people stumbled over on the first screen: units of values, an output without a name, blanks, errors of unlike columns, hostile names."""

import html
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import likewise
from likewise import ObservedMatrix
from likewise.fairness import GowerDistance, held_out_error
from likewise.fairness.metrics.accuracy import OF_RANGES
from likewise.observations import clustered
from likewise.observations.reading import read_groups_file, read_outputs_file, read_table
from likewise.observations.value_range import ValueRange
from likewise.report.table import MOST_LINES, as_text

APPLICANTS = np.array([[120.0, 2.0], [180.0, 4.0], [150.0, 3.0], [150.0, 3.1], [130.0, 2.5], [170.0, 3.9]])


def applicants(values=APPLICANTS, **options):
    return likewise.ObservedMatrix(values, value_range="per-column", **options)


def test_values_are_in_the_units_of_the_data():
    report = likewise.audit(applicants(column_ids=["test", "grade"]), outputs=[0.0, 1.0, 0.1, 0.9, 0.2, 0.8])
    seen = {
        part.feature: {part.left, part.right}
        for pair in report.main_arm.explained
        for part in pair.reference.apart
    }
    assert seen["test"] <= set(APPLICANTS[:, 0])
    assert all(min(abs(APPLICANTS[:, 1] - value)) < 1e-9 for value in seen["grade"])


@pytest.mark.parametrize("reference", ["observed", "co-observed"])
def test_ratings_are_shown_as_ratings(reference):
    rng = np.random.default_rng(0)
    ratings = rng.integers(3, 6, size=(20, 15)).astype(float)
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    Z = likewise.ObservedMatrix(ratings, value_range=(1, 5))
    report = likewise.audit(Z, estimator=likewise.SVT(threshold=1.0), reference=reference, hold_out=0.1)
    parts = [part for arm in report.arms.values() for pair in arm.explained for part in pair.reference.apart]
    values = {value for part in parts for value in (part.left, part.right) if not np.isnan(value)}
    known = np.arange(1.0, 6.0)
    assert values
    assert all(np.abs(known - value).min() < 1e-6 for value in values)
    predicted = [
        part.left for arm in report.arms.values() for pair in arm.explained for part in pair.output.apart
    ]
    assert max(predicted) > 1.5  # on the range of the ratings, not on [-1, 1]


def test_an_output_without_a_name_is_not_called_0():
    text = " ".join(str(likewise.audit(applicants(), outputs=[0.0, 1.0, 0.1, 0.9, 0.2, 0.8])).split())
    assert "Treated worst" in text
    assert "apart in 0" not in text


def test_equal_on_paper_is_not_called_infinite_first():
    twins = applicants(np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [4.0, 9.0]]))
    text = " ".join(str(likewise.audit(twins, outputs=[0.0, 1.0, 2.0, 3.0])).split())
    assert "0 and 1: equal on paper (D 1, d 0)" in text
    assert "ratio infinite" not in text


def sparse(shared):
    """Five people and 40 films; the first two agree on the films that both rated, and are told otherwise."""
    rows = np.full((5, 40), np.nan)
    for person in range(5):
        rows[person, 6 * person : 6 * person + 6] = [1, 2, 3, 4, 5, 1 + person % 5]
    rows[:2] = np.nan
    rows[:2, :shared] = np.arange(shared) % 5 + 1
    return ObservedMatrix(rows, value_range=(1, 6))


@pytest.mark.parametrize(
    ("shared", "said"),
    [
        (1, "0 (f) and 1 (m): no difference in the 1 feature known of them (D 1, d 0)"),
        (4, "0 (f) and 1 (m): no difference in the 4 features known of them (D 1, d 0)"),
        (5, "0 (f) and 1 (m): equal on paper in 5 features (D 1, d 0)"),
    ],
)
def test_who_shares_few_films_is_not_called_equal_on_paper(shared, said):
    report = likewise.audit(
        sparse(shared), outputs=[0.0, 1.0, 2.0, 3.0, 4.0], groups=["f", "m", "f", "m", "f"]
    )
    text = " ".join(report.details().split())
    assert said in text
    assert (
        "No difference in what is known of them, which may be little (d = 0), different outputs: 1 pair"
        in " ".join(report.to_dict()["answer"]["groups"])
    )
    assert f"- {said.split(' (')[0]}" in " ".join(
        str(report).split()
    )  # a pair is on the first screen, whatever else is


def test_nobody_is_called_equal_on_paper_by_the_one_column_that_both_filled_in():
    people = pl.DataFrame({"age": [20.0, None, 60.0, 41.0], "town": ["x", "x", "y", "z"]})
    text = " ".join(str(likewise.audit(GowerDistance(people), outputs=[0.0, 1.0, 0.5, 0.6])).split())
    assert "0 and 1: no difference in the 1 feature known of them (D 1, d 0)" in text


def test_pairs_of_mixed_tables_are_explained_by_their_columns():
    people = pl.DataFrame({"age": [20.0, 21.0, 60.0, 41.0], "town": ["x", "x", "y", None]})
    report = likewise.audit(GowerDistance(people), outputs=[0.0, 1.0, 0.5, 0.6])
    pair = report.arms["outputs"].explained[0]
    assert (pair.left, pair.right) == (0, 1)
    values = {
        part.feature: (part.left, part.right) for part in (*pair.reference.apart, *pair.reference.together)
    }
    assert values == {"age": (20.0, 21.0), "town": ("x", "x")}
    assert "close in town, age" in " ".join(str(report).split())
    assert (
        likewise.fairness.explain_pair([0.0, 1.0, 0.5, 0.6], GowerDistance(people), 2, 3).reference.n_features
        == 1
    )


@pytest.mark.slow
def test_the_model_is_in_the_title():
    report = likewise.audit(
        clustered(20, 15, 2, observed_fraction=0.5, random_state=0).observed, model="identity"
    )
    assert str(report).startswith("Individual fairness of identity on data in memory: 20 individuals")


def test_blanks_are_on_the_first_screen():
    values = APPLICANTS.copy()
    values[[1, 3], [0, 1]] = np.nan
    report = likewise.audit(applicants(values), outputs=[0.0, 1.0, 0.1, 0.9, 0.2, 0.8])
    told = " ".join(str(report).split())
    assert "worst pairs someone has a missing value" in told
    assert len(str(report).splitlines()) <= MOST_LINES
    assert report.reference.missing_in_worst in report.to_dict()["answer"]["alarms"]


def test_errors_of_unlike_columns_are_shares_of_their_ranges():
    """By hand: off by 10 of 100 and by 0.1 of 2 is off by a tenth and a twentieth, not by 10 and 0.1."""
    scale = ValueRange.declared(([0.0, 1.0], [100.0, 3.0])).scale_to("symmetric")
    columns = np.array([0, 1])
    guess, truth = scale.forward([60.0, 2.1], columns), scale.forward([50.0, 2.0], columns)
    found = held_out_error(guess, truth, scale, columns)
    assert found.unit == OF_RANGES
    assert found.mae == pytest.approx((0.1 + 0.05) / 2)
    assert found.rmse == pytest.approx(((0.1**2 + 0.05**2) / 2) ** 0.5)


HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "\u202eevil\u202c",
    "😀" * 5,
    "z" * 10_000,
    "a\x1b[31m\nb",
    "{{ 7 * 7 }}",
    "</style><h1>",
]


def test_hostile_names_are_harmless():
    """As ids, features, groups and outputs: on the page they are text, on a terminal they steer nothing, and nothing grows long."""
    m = len(HOSTILE) * 8
    rng = np.random.default_rng(0)
    ids = [f"{HOSTILE[k % len(HOSTILE)]}{k}" for k in range(m)]
    observed = likewise.ObservedMatrix(
        rng.normal(size=(m, 2)), row_ids=ids, column_ids=HOSTILE[:2], value_range="per-column"
    )
    outputs = pl.DataFrame({name: rng.normal(size=m) for name in HOSTILE[:3]})
    report = likewise.audit(
        observed, outputs=outputs, groups=np.array(HOSTILE)[np.arange(m) % len(HOSTILE)], source=HOSTILE[0]
    )
    page = html.unescape(re.search(r'srcdoc="(.*?)"', report._repr_html_(), re.DOTALL)[1])
    for tag in ("<script", "<img", "<h1>\n", "</style><h1>"):
        assert tag not in page
    assert "{{ 7 * 7 }}" in page
    assert len(page) < 10**6
    for text in (str(report), report.details()):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "\u202e" not in page
    assert "z" * 100 not in page


def test_how_cells_were_read_is_said_before_pairs(tmp_path):
    """A level of education called none was taken for a blank without a word."""
    rng = np.random.default_rng(0)
    for name, cells in (("people", ["none", "school"]), ("groups", ["f", "m"]), ("decisions", ["no", "yes"])):
        lines = [f"{k},{cells[part]}" for k, part in enumerate(rng.integers(0, 2, 40))]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"id,{name}", *lines]))
    people = read_table(tmp_path / "people.csv", id_columns="id")
    outputs, groups = (
        read(tmp_path / f"{name}.csv", people.row_ids)
        for read, name in ((read_outputs_file, "decisions"), (read_groups_file, "groups"))
    )
    d = GowerDistance(people.frame, row_ids=people.row_ids)
    report = likewise.audit(d, outputs=outputs.values, groups=groups.values)
    columns = (people.roles, outputs.roles, groups.roles)
    report = replace(report, data=replace(report.data, columns=columns))
    assert len(str(report).splitlines()) <= MOST_LINES
    for most_lines in (MOST_LINES, 100):
        text = " ".join(as_text(report, most_lines=most_lines).split())
        for said in (
            "of people that say 'none' count as missing",
            "'yes' counts as 1, 'no' counts as 0",
            "f: ",
        ):
            assert text.count(said) == 1


@pytest.mark.parametrize(
    ("people", "said"), [(200, "No group is seen to get other outputs"), (8, "not tested")]
)
def test_what_became_of_the_groups_is_said_however_little_room_there_is(people, said):
    """The pairs treated worst had taken the room of the answer that was asked for."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"income": rng.normal(size=people), "age": rng.normal(size=people)})
    groups = np.arange(people) % 2
    scores = frame["income"].to_numpy() + 0.1 * rng.normal(size=people)
    report = likewise.audit(frame, outputs=scores, groups=groups, reference="gower")
    for text in (as_text(report, most_lines=1), report.details()):
        assert " ".join(text.split()).count(said) == 1
    assert report.to_dict()["answer"]["groups"][0].count(said) == 1
