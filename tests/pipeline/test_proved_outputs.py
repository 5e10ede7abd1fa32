"""What an audit proves of the outputs of each arm, held against all pairs and against constants computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge

import likewise
from likewise.fairness import Certificate, Unavailable
from likewise.inference import MODELS, TrainedModel, as_model
from likewise.observations import clustered

DATA = clustered(50, 60, 3, observed_fraction=0.6, random_state=4)
SCORES = DATA.truth[:, 0] - DATA.truth[:, 3]


def audited(model, target=None, **options):
    options = {"estimator": "svt", "hold_out": 0, "progress": False, **options}
    return likewise.audit(DATA.observed, model=model, target=target, **options)


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize(
    ("model", "target"),
    [("identity", None), (PCA(4), None), (Ridge(), SCORES), (LogisticRegression(), SCORES > 0)],
    ids=["identity", "PCA", "Ridge", "LogisticRegression"],
)
def test_no_pair_exceeds_what_is_proved_of_its_arm(model, target, norm):
    report = audited(model, target, norm=norm)
    for arm in report.arms.values():
        assert isinstance(arm.certificate, Certificate)
        assert (arm.certificate.from_norm, arm.certificate.to_norm) == (norm, "l2")
        assert arm.fairness.max_ratio.value <= arm.certificate.value * (1 + 1e-9)


def test_a_linear_model_has_its_weights_by_hand():
    model = Ridge(alpha=2.0)
    report = audited(model, SCORES)
    Z = DATA.observed.scaled().zero_filled().toarray()
    weights = model.fit(Z, SCORES).coef_
    assert report.arms["without"].certificate.value == pytest.approx(np.abs(weights).max(), rel=1e-9)
    estimate = likewise.SVT().fit(DATA.observed).estimate_
    P = (estimate.right * estimate.gains) @ estimate.right.T
    k_star = np.linalg.norm(P, axis=0).max()
    weights = model.fit(estimate.on_working_range().to_dense(), SCORES).coef_
    assert report.arms["with"].certificate.value == pytest.approx(k_star * np.linalg.norm(weights), rel=1e-9)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("knn", "nearest neighbours jump"),
        (KMeans(2, n_init=1), "jump"),
        (lambda B: B[:, :2], "no constant is known for a function"),
    ],
    ids=["knn", "KMeans", "function"],
)
def test_what_jumps_or_cannot_be_read_has_no_constant_and_says_why(model, reason):
    report = audited(model)
    for arm in report.arms.values():
        assert isinstance(arm.certificate, Unavailable)
        assert reason in arm.certificate.reason


def test_a_function_may_hand_over_what_it_trained():
    def scores(B, keep=None):
        ridge = Ridge().fit(B, SCORES)
        if keep is not None:
            keep(TrainedModel(ridge))
        return ridge.predict(B)

    proved = [
        audited(model, target).arms["with"].certificate
        for model, target in ((scores, None), (Ridge(), SCORES))
    ]
    assert proved[0].value == proved[1].value


def test_a_model_keeps_what_it_trained_on_each_matrix():
    kept = []
    as_model(Ridge(), SCORES)(DATA.truth, keep=kept.append)
    MODELS["identity"](DATA.truth, keep=kept.append)
    assert kept[0].model.coef_.shape == (60,)
    assert kept[1].model == "identity"


def test_a_centred_estimator_is_bounded_from_the_distance_it_names():
    report = audited("identity", estimator=likewise.SVT(centering="column"))
    proved = report.arms["with"].certificate
    assert isinstance(proved, Certificate)
    assert "filled" in proved.name + proved.function


def test_outputs_from_elsewhere_have_none():
    report = likewise.audit(DATA.observed, outputs=SCORES, progress=False)
    assert report.arms["outputs"].certificate is None
    assert report.to_dict()["arms"]["outputs"]["certificate"] is None


def test_the_report_prints_it_and_the_json_holds_it():
    report = audited("identity")
    assert "K1 K* with pre-processing" in report.details()
    found = report.to_dict()["arms"]["with"]["certificate"]
    assert found["kind"] == "proved"
    assert found["value"] == pytest.approx(
        report.certificates.k_star.value, rel=1e-12
    )  # rounded up once more
