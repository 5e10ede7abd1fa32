"""Every result comes back from its file as it was, and files of earlier versions are read."""

from pathlib import Path

import numpy as np
import pytest

import likewise
from likewise.errors import FileFormatError, OutputError
from likewise.estimation import LevelProbabilities, Mixture, level_probabilities, register_estimator
from likewise.estimation.registry import ESTIMATORS
from likewise.fairness import RowDistance
from likewise.observations import ObservedMatrix, clustered
from likewise.report.audit_report import AuditReport

FILES = Path(__file__).parent / "files"
ESTIMATES = Path(__file__).parents[1] / "estimation" / "base" / "files"


def ratings(seed=0):
    return clustered(40, 30, 2, observed_fraction=0.5, random_state=seed).observed


def many_ratings():
    """As many as it takes that two people share enough of the half that is kept aside."""
    return clustered(60, 150, 2, observed_fraction=0.8, random_state=0).observed


@pytest.fixture(scope="module")
def reports():
    rng = np.random.default_rng(0)
    groups = rng.choice(["a", "b"], 40)
    people, scores = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    return {
        "ratings": likewise.audit(
            ratings(), estimator="svt", groups=groups, lipschitz=1.0, reference="observed"
        ),
        "held out": likewise.audit(many_ratings(), estimator="svt", model="identity", reference="held-out"),
        "outputs": likewise.audit(people, outputs=scores, groups=groups, lipschitz=1.0),
        "drawn pairs": likewise.audit(people, outputs=scores, pairs=500),
        "two outputs": likewise.compare({"old": scores, "new": scores / 2}, RowDistance(people)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npz", "json"])
@pytest.mark.parametrize("kind", ["ratings", "held out", "outputs", "drawn pairs", "two outputs"])
def test_a_report_prints_compares_and_exports_as_before(tmp_path, reports, kind, ending):
    saved = reports[kind]
    likewise.save(saved, tmp_path / f"report.{ending}")
    loaded = likewise.load(tmp_path / f"report.{ending}")
    assert isinstance(loaded, AuditReport)
    assert loaded.to_json() == saved.to_json()
    assert str(loaded) == str(saved)
    assert loaded.details() == saved.details()
    assert loaded.differences == saved.differences
    assert loaded.provenance == saved.provenance


@pytest.mark.slow
def test_a_report_saves_the_same_folder_again(tmp_path, reports):
    reports["ratings"].save(tmp_path / "first")
    likewise.load(tmp_path / "first").save(tmp_path / "second")
    names = {path.name for path in (tmp_path / "first").iterdir()}
    assert names == {path.name for path in (tmp_path / "second").iterdir()}
    for name in names:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes(), name


def test_something_else_is_no_report(tmp_path):
    likewise.save([1, 2], tmp_path / "audit.json")
    assert likewise.load(tmp_path / "audit.json") == [1, 2]
    with pytest.raises(FileFormatError, match="holds a list; expected a report"):
        AuditReport.load(tmp_path)


def test_certificates_and_a_frontier_come_back(tmp_path):
    estimator = likewise.make_estimator("biases").fit(ratings())
    likewise.save(estimator.certificate_, tmp_path / "certificates.npz")
    assert likewise.load(tmp_path / "certificates.npz").to_dict() == estimator.certificate_.to_dict()
    found = likewise.frontier(ratings(), estimator="svt", random_state=0)
    likewise.save(found, tmp_path / "frontier.json")
    assert str(likewise.load(tmp_path / "frontier.json")) == str(found)


@pytest.mark.parametrize("ending", ["npz", "json"])
def test_an_estimate_comes_back(tmp_path, ending):
    estimate = likewise.svt(ratings(), threshold=1.0)
    likewise.save(estimate, tmp_path / f"estimate.{ending}")
    loaded = likewise.load(tmp_path / f"estimate.{ending}")
    np.testing.assert_array_equal(loaded.to_dense(), estimate.to_dense())


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npz", "json"])
@pytest.mark.parametrize(
    "estimator",
    [
        likewise.make_estimator("als", rank=2, random_state=0),
        likewise.make_estimator("biases"),
        Mixture([likewise.make_estimator("als", rank=2), likewise.make_estimator("biases")], random_state=0),
    ],
    ids=["least squares", "biases", "mixture"],
)
def test_probabilities_of_levels_come_back(tmp_path, estimator, ending):
    found = level_probabilities(stars(), estimator)
    likewise.save(found, tmp_path / f"levels.{ending}")
    loaded = likewise.load(tmp_path / f"levels.{ending}")
    assert isinstance(loaded, LevelProbabilities)
    assert str(loaded) == str(found)
    np.testing.assert_array_equal(loaded.joint(), found.joint())
    np.testing.assert_array_equal(loaded.sets([0, 3], [1, 2]), found.sets([0, 3], [1, 2]))
    np.testing.assert_array_equal(loaded.entries_of(["p3"], ["i1"]), found.entries([3], [1]))


def test_probabilities_of_levels_that_were_altered_are_refused(tmp_path):
    likewise.save(level_probabilities(stars(), "biases"), tmp_path / "levels.npz")
    with np.load(tmp_path / "levels.npz", allow_pickle=False) as stored:
        arrays = dict(stored)
    name = next(name for name, array in arrays.items() if array.size and array.dtype.kind == "f")
    arrays[name] = arrays[name] + 0.5
    np.savez(tmp_path / "altered.npz", **arrays)
    with pytest.raises(FileFormatError, match="was altered"):
        likewise.load(tmp_path / "altered.npz")
    whole = (tmp_path / "levels.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="cannot be read"):
        likewise.load(tmp_path / "cut.npz")


def stars():
    """Levels 1 to 5, of people and items with names."""
    rng = np.random.default_rng(0)
    levels = np.where(rng.random((40, 12)) < 0.7, rng.integers(1, 6, (40, 12)).astype(float), np.nan)
    names = [f"p{i}" for i in range(40)], [f"i{j}" for j in range(12)]
    return ObservedMatrix(levels, value_range=(1, 5), row_ids=names[0], column_ids=names[1])


def test_an_estimator_of_somebody_else_comes_back_once_it_is_registered(tmp_path):
    class Mine(ESTIMATORS.named("biases")):
        pass

    Mine.__module__ = "elsewhere"
    likewise.save(Mine(regularization=2.0).fit(ratings()), tmp_path / "mine.npz")
    with pytest.raises(FileFormatError, match="no record"):
        likewise.load(tmp_path / "mine.npz")
    register_estimator("mine")(Mine)
    try:
        assert isinstance(likewise.load(tmp_path / "mine.npz"), Mine)
    finally:
        ESTIMATORS.unregister("mine")


@pytest.mark.parametrize(
    ("estimator", "where"),
    [
        (likewise.SVT(threshold=lambda _: 1.0), r"SVT\.parameters\.threshold, of type function"),
        (
            likewise.SVT(random_state=np.random.default_rng(0)),
            r"SVT\.parameters\.random_state, of type Generator",
        ),
    ],
)
def test_a_parameter_that_no_file_can_hold_is_named(tmp_path, estimator, where):
    with pytest.raises(OutputError, match=where):
        likewise.save(estimator.fit(ratings()), tmp_path / "estimator.npz")
    assert list(tmp_path.iterdir()) == []


VALUES = np.array([[1.0, np.nan, 5.0], [1.0, 2.0, np.nan], [4.0, 2.0, 5.0], [np.nan, 3.0, 1.0]])
"""What the files of earlier versions were made from, on a range from 1 to 5."""


def of_the_files(estimator):
    observed = ObservedMatrix(
        VALUES, value_range=(1, 5), row_ids=["ann", "bob", "Zoë", ""], column_ids=[10, 20, 30]
    )
    return estimator.fit(observed)


@pytest.mark.parametrize("version", [1, 2])
def test_estimates_of_every_version_are_read(version):
    centering = {1: "none", 2: "biases"}[version]
    now = of_the_files(likewise.SVT(threshold=0.5, centering=centering)).estimate_
    loaded = likewise.load(ESTIMATES / f"estimate_version_{version}.npz")
    np.testing.assert_allclose(loaded.to_dense(), now.to_dense(), atol=1e-9)
    np.testing.assert_allclose(loaded.fold_in(VALUES), now.fold_in(VALUES), atol=1e-9)
    assert loaded.row_ids.tolist() == ["ann", "bob", "Zoë", ""]
    assert loaded.column_ids.tolist() == [10, 20, 30]


def test_records_of_version_1_are_read():
    """Made by likewise 0.1.0; what it wrote has to be read for ever."""
    loaded = likewise.load(FILES / "estimator_version_1.npz")
    now = of_the_files(likewise.make_estimator("als", rank=1, random_state=0))
    assert repr(loaded) == repr(now)
    # What that version found; fits of so few observations have changed since.
    then = [
        [2.64490051, 2.66536348, 2.74141662],
        [2.56511344, 2.58557357, 2.66160114],
        [2.70689317, 2.72735803, 2.80342807],
        [2.58974788, 2.61020858, 2.68624128],
    ]
    np.testing.assert_allclose(loaded.transform(VALUES), then, atol=1e-6)
    certificates = likewise.load(FILES / "certificates_version_1.json")
    # What the file says; constants of regressions have become sharper since.
    assert certificates.regression.certificate.value == 0.0485991737125554
    assert loaded.certificate_.regression.certificate.value <= certificates.regression.certificate.value
    report = likewise.load(FILES / "audit_version_1.json")
    assert list(report.arms) == ["without", "with"]
    assert report.details()
