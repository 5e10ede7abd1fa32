"""Names, functions, import paths and neighbours as models; what their outputs must be."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from likewise import KNNRecommender, ObservedMatrix
from likewise.errors import MemoryLimitError, ModelError, ShapeError
from likewise.inference import (
    MODELS,
    Model,
    TrainedModel,
    as_model,
    nearest_neighbor_outputs,
    register_model,
)
from likewise.observations.outputs import checked_outputs

rng = np.random.default_rng(5)


@pytest.fixture
def B():
    return np.random.default_rng(5).uniform(-1, 1, (14, 4))


@pytest.fixture
def observed(B):
    """Two thirds of B; one observation is a zero."""
    stored = np.random.default_rng(6).random(B.shape) < 0.66
    stored[0, 0] = True
    B[0, 0] = 0.0
    return ObservedMatrix(np.where(stored, B, np.nan), value_range=(-1, 1))


@pytest.mark.parametrize("name", MODELS)
def test_named_models_run_on_both_arms(name, B, observed):
    if name == "dnn":
        pytest.importorskip("torch")
    model = as_model(name)
    for matrix in (observed.zero_filled(), B):
        outputs = model(matrix, observed)
        assert outputs.shape == B.shape
        assert np.isfinite(outputs).all()
    assert model.name


def test_knn_is_experiment_2(B):
    np.testing.assert_array_equal(as_model("knn")(B), nearest_neighbor_outputs(B, 10))


def test_knn_reads_a_sparse_matrix_as_zero_filled(observed):
    dense = nearest_neighbor_outputs(observed.to_dense(), 10)
    np.testing.assert_allclose(as_model("knn")(observed.zero_filled(), observed), dense, atol=1e-12)


def test_knn_co_raters_asks_everybody_similar_who_observed(B, observed):
    expected = nearest_neighbor_outputs(observed.values, None, average="co-raters")
    np.testing.assert_allclose(
        as_model("knn-co-raters")(observed.zero_filled(), observed), expected, atol=1e-12
    )
    np.testing.assert_allclose(as_model("knn-co-raters")(observed.to_dense(), observed), expected, atol=1e-12)


def test_knn_co_raters_reads_an_estimate_where_it_was_observed(B, observed):
    elsewhere = np.where(np.isnan(observed.to_dense(missing=np.nan)), 99.0, B)
    model = as_model("knn-co-raters")
    np.testing.assert_array_equal(model(elsewhere, observed), model(B, observed))


def test_knn_co_raters_without_observations_is_complete(B):
    np.testing.assert_allclose(as_model("knn-co-raters")(B), nearest_neighbor_outputs(B, None), atol=1e-12)


def test_knn_co_raters_refuses_other_observations(B, observed):
    with pytest.raises(ShapeError, match="the same shape"):
        as_model("knn-co-raters")(B[:5], observed)


def test_a_recommender_keeps_its_settings(B, observed):
    model = as_model(KNNRecommender(n_neighbors=3, average="co-raters"))
    expected = nearest_neighbor_outputs(observed.values, 3, average="co-raters")
    np.testing.assert_allclose(model(B, observed), expected, atol=1e-12)
    assert model.name == "3 nearest neighbours who observed the item"


def test_a_target_is_averaged_over_neighbors(B):
    target = np.arange(14.0)
    np.testing.assert_array_equal(as_model("knn", target)(B), nearest_neighbor_outputs(B, 10, targets=target))


def test_identity_gives_the_matrix(B):
    np.testing.assert_array_equal(as_model("identity")(sparse.csr_array(B)), B)


def test_functions_get_a_dense_matrix(B):
    model = as_model(lambda matrix: matrix[:, :2] ** 2)
    np.testing.assert_allclose(model(sparse.csr_array(B)), B[:, :2] ** 2)


def test_functions_that_ask_get_the_observations(B, observed):
    def counts(matrix, observed):
        return np.diff(observed.values.indptr)

    np.testing.assert_array_equal(as_model(counts)(B, observed), np.diff(observed.values.indptr))
    assert as_model(counts).name == "counts"


def test_objects_with_a_name_keep_it():
    class Net:
        name = "my net"

        def __call__(self, matrix):
            return matrix

    assert as_model(Net()).name == "my net"
    assert as_model(np.sin).name == "sin"


def test_models_satisfy_the_protocol(B):
    def takes_a_model(model: Model) -> str:
        return model.name

    assert len({takes_a_model(model) for model in MODELS.values()}) == len(MODELS)
    model = as_model(np.sin)
    assert as_model(model) is model


def test_neighbors_report_progress(B):
    seen = []
    as_model("knn")(B, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(14, 14)]


class TestImportPath:
    def test_functions_classes_and_objects(self, tmp_path, monkeypatch, B):
        (tmp_path / "likewise_test_models.py").write_text(
            "from sklearn.decomposition import PCA\n"
            "def halves(matrix):\n    return matrix / 2\n"
            "class Two:\n    def __call__(self, matrix):\n        return matrix[:, :2]\n"
            "pca = PCA(2)\n"
        )
        monkeypatch.chdir(tmp_path)
        np.testing.assert_array_equal(as_model("likewise_test_models:halves")(B), B / 2)
        np.testing.assert_array_equal(as_model("likewise_test_models:Two")(B), B[:, :2])
        assert as_model("likewise_test_models:pca")(B).shape == (14, 2)

    @pytest.mark.parametrize(
        ("path", "reason"),
        [
            ("no_such_module:f", "No module named 'no_such_module'"),
            ("numpy:no_such_name", "has no attribute 'no_such_name'"),
            ("numpy:", "has no attribute ''"),
            (":f", "Empty module name"),
            ("numpy:pi", "3.14.* as a model"),
            ("numpy:ndarray", "missing required argument"),
        ],
    )
    def test_what_cannot_be_imported_is_one_error(self, path, reason):
        with pytest.raises(ModelError, match=reason):
            as_model(path)

    def test_a_module_that_fails_is_one_error(self, tmp_path, monkeypatch):
        (tmp_path / "likewise_test_broken.py").write_text("1 / 0\n")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ModelError, match="division by zero"):
            as_model("likewise_test_broken:f")

    def test_the_search_path_is_left_as_it_was(self):
        import sys

        before = list(sys.path)
        as_model("numpy:sin")
        assert sys.path == before


class TestBadModels:
    def test_unknown_name_lists_the_known_and_the_nearest(self):
        with pytest.raises(
            ModelError,
            match=r"'knn', 'knn-co-raters', 'smooth-knn', 'identity'.*did you mean 'knn-co-raters'",
        ):
            as_model("knn-co-rater")

    @pytest.mark.parametrize("what", [3, None, np.eye(2)])
    def test_no_model(self, what):
        with pytest.raises(ModelError, match="as a model"):
            as_model(what)

    @pytest.mark.parametrize("what", ["identity", np.sin])
    def test_a_function_cannot_learn(self, what):
        with pytest.raises(ModelError, match="a target for"):
            as_model(what, target=np.ones(3))

    def test_too_few_individuals(self):
        with pytest.raises(ModelError, match="n_neighbors is 10 with n_samples = 9"):
            as_model("knn")(np.eye(9))

    def test_a_failure_names_the_model_and_the_reason(self, B):
        def broken(matrix):
            raise KeyError("rating")

        with pytest.raises(
            ModelError, match=r"broken failed on a matrix of shape \(14, 4\) with KeyError: 'rating'"
        ):
            as_model(broken)(B)

    def test_our_own_errors_pass(self, B):
        def greedy(matrix):
            raise MemoryLimitError("too large")

        with pytest.raises(MemoryLimitError, match="too large"):
            as_model(greedy)(B)

    @pytest.mark.parametrize(
        ("outputs", "reason"),
        [
            (lambda B: B[:-1], r"shape \(13, 4\); expected \(14,\)"),
            (lambda B: B.T, r"shape \(4, 14\).*transpose"),
            (lambda _: 1.0, r"shape \(\)"),
            (lambda B: B[:, :0], r"shape \(14, 0\)"),
            (lambda B: B[:, :, None], r"shape \(14, 4, 1\)"),
            (lambda _: ["a"] * 14, "not numbers"),
            (lambda _: [{}] * 14, "not numbers"),
            (lambda _: [[1.0], [1.0, 2.0]] * 7, "not an array"),
            (lambda B: B * 1j, "not numbers"),
            (lambda _: None, "not numbers|shape"),
            (lambda B: np.where(B[3, 1] == B, np.nan, B), "1 of 14 rows: 3;"),
            (lambda _: np.full(14, np.inf), r"14 of 14 rows: 0, 1, 2, 3, 4, \.\.\.;"),
        ],
    )
    def test_unusable_outputs(self, B, outputs, reason):
        with pytest.raises(ModelError, match=reason):
            as_model(outputs)(B)


def test_outputs_of_other_kinds_become_floats():
    pandas = pytest.importorskip("pandas")
    expected = np.array([[1.0, 0.0], [0.0, 2.0]])
    kinds = (expected.astype(int), expected.tolist(), sparse.coo_matrix(expected), pandas.DataFrame(expected))
    for outputs in (*kinds, expected.astype(object)):
        np.testing.assert_array_equal(checked_outputs(outputs, 2, "the model"), expected)
    np.testing.assert_array_equal(checked_outputs([True, False], 2, "the model"), [1.0, 0.0])


@pytest.mark.parametrize("model", ["knn", LinearRegression(), DecisionTreeClassifier(random_state=0)])
def test_a_target_goes_with_the_individuals(B, observed, model):
    """Its labels say whose it is, in whatever order; without labels, or with 0 to m - 1, it is taken as it lies."""
    pandas = pytest.importorskip("pandas")
    ids = [f"p{i}" for i in range(14)]
    named = ObservedMatrix(observed.to_dense(missing=np.nan), value_range=(-1, 1), row_ids=ids)
    target = pandas.Series([0, 1] * 7, index=ids)
    expected = as_model(model, target.to_numpy())(B, named)
    by_id = pandas.DataFrame({"id": ids, "hired": target.to_numpy()}).sample(frac=1, random_state=1)
    for same in (target, target.reset_index(drop=True), target[::-1], dict(target[::-1]), by_id):
        np.testing.assert_array_equal(as_model(model, same)(B, named), expected)
    with pytest.raises(ShapeError, match="target whose index has 'q0'"):
        as_model(model, target.rename({"p0": "q0"}))(B, named)


class Halves(Model):
    name = "half of the matrix"
    predicts_entries = True

    def run(self, matrix, observed, progress):
        return matrix / 2, TrainedModel(self)


def test_a_model_of_ones_own_is_found_by_its_name(B):
    register_model("halves", Halves())
    try:
        kept = []
        np.testing.assert_array_equal(as_model("halves")(B, keep=kept.append), B / 2)
        assert [trained.model for trained in kept] == [MODELS["halves"]]
        assert as_model("halves").name == "half of the matrix"
        with pytest.raises(ModelError, match="own"):
            register_model("knn", Halves())
        with pytest.raises(ModelError, match="3 as a model"):
            register_model("three", 3)
    finally:
        MODELS.unregister("halves")
    with pytest.raises(ModelError, match="unknown model 'halves'"):
        as_model("halves")


def test_outputs_of_a_model_of_ones_own_are_checked(B):
    class Broken(Halves):
        def run(self, matrix, observed, progress):
            return np.full(len(matrix), np.nan), None

    with pytest.raises(ModelError, match="half of the matrix gave NaN or infinite outputs in 14 of 14 rows"):
        as_model(Broken())(B)


def test_a_search_that_keeps_no_model_gives_no_outputs():
    B = np.random.default_rng(0).random((20, 3))
    for target in (None, B[:, 0]):
        search = GridSearchCV(Ridge() if target is not None else KMeans(2), {}, refit=False)
        with pytest.raises(ModelError, match="GridSearchCV"):
            as_model(search, target=target)(B)


@pytest.mark.parametrize("method", ["predict", "fit", "_decision_function"])
def test_an_estimator_with_a_method_of_its_own_is_refused(method):
    """A fresh copy is fitted, which would compute something else in silence."""
    model = LinearRegression()
    setattr(model, method, lambda *_: np.zeros(20))
    B = np.random.default_rng(0).random((20, 3))
    with pytest.raises(ModelError, match=f"{method} of this LinearRegression, replaced by custom code"):
        as_model(model, target=B[:, 0])(B)
