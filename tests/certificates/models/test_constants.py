"""K1: by hand for every kind of model, never exceeded by any pair, and refused where there is none, with a pair that shows why."""

import warnings
from itertools import pairwise, product
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, RadiusNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from likewise.certificates import Certificate, Domain, Unavailable, model_constant
from likewise.errors import DistanceError, InputError, ModelError
from likewise.inference import KNNRecommender

METRICS = {"l1": "cityblock", "l2": "euclidean", "linf": "chebyshev"}
X = np.array(
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.0, 1.0], [2.0, 0.0, 1.0], [0.0, 1.0, 2.0]]
)
TWO, THREE = np.array([0, 1, 0, 1, 1, 0]), np.array([0, 1, 2, 1, 2, 0])


def fitted(model, targets=None):
    """Fit on six rows; a model need not have converged to have a constant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, X[:, 0] - X[:, 1] if targets is None else targets)


def linear_model(coefficients, kind=LinearRegression):
    model = fitted(kind(), X[:, : len(np.atleast_2d(coefficients))])
    model.coef_ = np.asarray(coefficients, dtype=float)
    return model


def logistic_model(coefficients, intercept=0.0):
    targets = TWO if len(coefficients) == 1 else np.arange(6) % len(coefficients)
    model = fitted(LogisticRegression(), targets)
    model.coef_ = np.asarray(coefficients, dtype=float)
    model.intercept_ = np.full(len(coefficients), intercept)
    return model


# --- by hand ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "q", "value"),
    [("l2", "l2", 5.0), ("l1", "l2", 4.0), ("linf", "l1", 7.0), (1.5, "linf", (3**3 + 4**3) ** (1 / 3))],
)
def test_one_output_by_hand(p, q, value):
    """y = 3 a - 4 b + 0 c: the dual norm of (3, -4, 0)."""
    found = model_constant(linear_model([3, -4, 0]), from_norm=p, to_norm=q)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.value >= value
    assert (found.n_inputs, found.n_outputs) == (3, 1)
    assert found.domain is Domain.SEEN_AND_UNSEEN


@pytest.mark.parametrize(
    ("p", "q", "value"),
    [("l1", "l1", 7.0), ("l1", "l2", 5.0), ("linf", "linf", 7.0), ("l2", "linf", np.sqrt(21))],
)
def test_many_outputs_by_hand(p, q, value):
    model = linear_model([[3, 0, -1], [4, 1, 2]])
    assert model_constant(model, from_norm=p, to_norm=q).value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("q", "factor"), [("l1", 0.5), ("l2", 1 / np.sqrt(8)), ("linf", 0.25)])
def test_two_classes_by_hand(q, factor):
    """p = sigmoid(3 a - 4 b) has slope at most 5/4; the vector (1 - p, p) counts it twice in l1."""
    model = logistic_model([[3, -4, 0]])
    found = model_constant(model, to_norm=q)
    assert found.value == pytest.approx(5 * factor, rel=1e-12)
    assert found.function == "LogisticRegression.predict_proba"
    # It is attained at the boundary, along the coefficients.
    step = 1e-4 * np.array([[3, -4, 0]]) / 5
    moved = (model.predict_proba(step) - model.predict_proba(-step)).ravel()
    order = {"l1": 1, "l2": 2, "linf": inf}[q]
    assert np.linalg.norm(moved, order) / 2e-4 == pytest.approx(found.value, rel=1e-6)


def test_three_classes_by_hand():
    """Differences of rows: (1, 0, 0) - (0, 0, 0), (0, 3, 4) - (0, 0, 0), (0, 3, 4) - (1, 0, 0); the last is sqrt 26 long."""
    model = logistic_model([[1, 0, 0], [0, 3, 4], [0, 0, 0]])
    for q, factor in (("l1", 0.5), ("l2", 1 / np.sqrt(8)), ("linf", 0.25)):
        assert model_constant(model, to_norm=q).value == pytest.approx(np.sqrt(26) * factor, rel=1e-12)
    half_spectral = np.linalg.norm(model.coef_ - model.coef_.mean(axis=0), 2) / 2
    assert model_constant(model).value <= half_spectral


def test_scores_of_a_classifier_are_linear():
    model = logistic_model([[3, -4, 0]])
    scores = model_constant(model, output="score")
    assert scores.value == pytest.approx(5.0, rel=1e-12)
    assert scores.function == "LogisticRegression.decision_function"


def net(kind, weights, activation, targets=None):
    model = fitted(
        kind(hidden_layer_sizes=[w.shape[1] for w in weights[:-1]], activation=activation, max_iter=2),
        targets,
    )
    model.coefs_ = [np.asarray(w, dtype=float) for w in weights]
    return model


@pytest.mark.parametrize(("activation", "slope"), [("relu", 1.0), ("tanh", 1.0), ("logistic", 0.25)])
def test_a_net_is_the_product_of_norms_and_slopes(activation, slope):
    """Inputs to hidden: norms 5 (one singular value); hidden to output: 2."""
    model = net(
        MLPRegressor, [np.array([[3.0, 0], [4.0, 0], [0, 5.0]]), np.array([[2.0], [0.0]])], activation
    )
    found = model_constant(model)
    assert found.value == pytest.approx(5 * slope * 2, rel=1e-12)
    assert model_constant(model, from_norm="l1").value == pytest.approx(5 * slope * 2, rel=1e-12)
    assert sum(activation in step for step in found.proof) == 1


def test_linear_layers_without_activation_between_are_multiplied_first():
    """Norms 5 and 5, but what the first stretches the second drops: the product is 1, not 25."""
    first, second = np.array([[5.0, 0.0], [0.0, 0.2], [0.0, 0.0]]), np.array([[0.2], [5.0]])
    model = net(MLPRegressor, [first, second], "identity")
    assert model_constant(model).value == pytest.approx(np.sqrt(2), rel=1e-12)
    assert model_constant(net(MLPRegressor, [first, second], "relu")).value == pytest.approx(
        5 * np.linalg.norm([0.2, 5.0]), rel=1e-12
    )


def test_the_norm_between_layers_is_the_one_that_gives_least():
    """Two layers that copy: from linf to linf the constant is 1; through l2 it would be sqrt 3."""
    model = net(MLPRegressor, [np.eye(3), np.eye(3)], "relu", X)
    assert model_constant(model, from_norm="linf", to_norm="linf").value == pytest.approx(1.0, rel=1e-12)
    assert model_constant(model, from_norm="l1", to_norm="l1").value == pytest.approx(1.0, rel=1e-12)


def test_a_net_for_two_classes_is_a_softmax_over_nothing_and_its_score():
    weights = [np.array([[3.0, 0], [4.0, 0], [0, 5.0]]), np.array([[2.0], [0.0]])]
    model = net(MLPClassifier, weights, "relu", TWO)
    assert model_constant(model, to_norm="linf").value == pytest.approx(5 * 2 / 4, rel=1e-12)
    assert model_constant(model).value == pytest.approx(5 * 2 / np.sqrt(8), rel=1e-12)


def test_a_net_for_several_labels_gives_each_its_own_sigmoid():
    labels = np.column_stack([TWO, 1 - TWO[::-1]])
    model = fitted(MLPClassifier(hidden_layer_sizes=[2], max_iter=2), labels)
    model.coefs_ = [np.array([[3.0, 0], [4.0, 0], [0, 5.0]]), np.diag([2.0, 1.0])]
    assert model_constant(model).value == pytest.approx(5 * 2 / 4, rel=1e-12)


def test_scaling_divides_by_what_the_scaler_divides_by():
    """StandardScaler's deviations are replaced by (2, 4, 5): slope 1/2, and 6 a + 8 b after it has (3, 2, 0)."""
    scaler = StandardScaler().fit(X)
    scaler.scale_ = np.array([2.0, 4.0, 5.0])
    assert model_constant(scaler).value == pytest.approx(0.5, rel=1e-12)
    assert model_constant(scaler, from_norm="linf", to_norm="l1").value == pytest.approx(0.5 + 0.25 + 0.2)
    whole = make_pipeline(StandardScaler(), LinearRegression()).fit(X, TWO)
    whole.named_steps["standardscaler"].scale_ = np.array([2.0, 4.0, 5.0])
    whole.named_steps["linearregression"].coef_ = np.array([6.0, 8.0, 0.0])
    assert model_constant(whole).value == pytest.approx(np.sqrt(13), rel=1e-12)


def test_a_projection_moves_nothing_apart_and_whitening_divides():
    assert model_constant(PCA(2).fit(X)).value == pytest.approx(1.0, rel=1e-9)
    whitened = PCA(2, whiten=True).fit(X)
    assert model_constant(whitened).value == pytest.approx(1 / np.sqrt(whitened.explained_variance_.min()))


def test_the_identity_is_one_where_no_size_is_needed():
    assert model_constant("identity").value == 1.0
    assert model_constant("identity", from_norm="l1", to_norm="l2").value == 1.0
    none = model_constant("identity", from_norm="l2", to_norm="l1")
    assert isinstance(none, Unavailable)
    assert "number of features" in none.reason


def test_inputs_that_are_the_same_for_both_individuals_do_not_count():
    """y = 3 a - 4 b + 12 c, where c is the film's: 5 instead of 13."""
    model = linear_model([3, -4, 12])
    assert model_constant(model).value == pytest.approx(13)
    for own in (slice(0, 2), [0, 1], np.array([True, True, False])):
        found = model_constant(model, inputs=own)
        assert found.value == pytest.approx(5)
        assert found.n_inputs == 2


# --- never exceeded ---------------------------------------------------------------------------------------------------

REGRESSORS = [
    *(LinearRegression(), Ridge(), Lasso(0.01), ElasticNet(0.01), LinearSVR(max_iter=50)),
    *(
        MLPRegressor(hidden_layer_sizes=[5], activation=a, max_iter=20, random_state=0)
        for a in ("relu", "tanh", "logistic", "identity")
    ),
    MLPRegressor(hidden_layer_sizes=[6, 4], max_iter=20, random_state=1),
    make_pipeline(
        StandardScaler(), PCA(2), MLPRegressor(hidden_layer_sizes=[4], max_iter=20, random_state=0)
    ),
    make_pipeline(MinMaxScaler(), RobustScaler(), "passthrough", FunctionTransformer(), Ridge()),
    GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2),
]
CLASSIFIERS = [
    *(
        LogisticRegression(C=10),
        LinearDiscriminantAnalysis(),
        MLPClassifier(hidden_layer_sizes=[5], max_iter=20, random_state=0),
    ),
    make_pipeline(MaxAbsScaler(clip=True), TruncatedSVD(2), LogisticRegression(C=10)),
    make_pipeline(MinMaxScaler(clip=True), LogisticRegression(C=100)),
]
SCORERS = [RidgeClassifier(), LinearSVC(max_iter=100), SGDClassifier(max_iter=20, random_state=0)]


def probing_rows(rng):
    """Rows far apart, rows near each other, and rows one feature apart."""
    base = rng.normal(size=(40, 3)) * 2
    return np.vstack(
        [X, base, base + 1e-3 * rng.normal(size=base.shape), base + 1e-2 * np.eye(3)[np.arange(40) % 3]]
    )


def assert_never_exceeded(model, outputs, **options):
    rng = np.random.default_rng(0)
    rows = probing_rows(rng)
    values = np.asarray(outputs(rows)).reshape(len(rows), -1)
    for p, q in product(METRICS, METRICS):
        found = model_constant(model, from_norm=p, to_norm=q, **options)
        assert isinstance(found, Certificate), found
        d, D = cdist(rows, rows, METRICS[p]), cdist(values, values, METRICS[q])
        check = found.holds_for(d, D, slack=1e-11)
        assert check.holds, (p, q, str(check))


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_no_pair_exceeds_the_constant_of_a_regressor(model):
    trained = fitted(model)
    assert_never_exceeded(trained, trained.predict)


@pytest.mark.parametrize("targets", [TWO, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_no_pair_exceeds_the_constant_of_probabilities(model, targets):
    trained = fitted(model, targets)
    assert_never_exceeded(trained, trained.predict_proba)


@pytest.mark.parametrize("targets", [TWO, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("model", [*SCORERS, CLASSIFIERS[0]], ids=str)
def test_no_pair_exceeds_the_constant_of_scores(model, targets):
    trained = fitted(model, targets)
    assert_never_exceeded(trained, trained.decision_function, output="score")


def test_sparse_coefficients_are_read():
    dense, sparse = fitted(Lasso(0.01)), fitted(SGDClassifier(random_state=0), TWO)
    before = model_constant(sparse).value
    assert model_constant(sparse.sparsify()).value == pytest.approx(before)
    assert model_constant(dense).value == pytest.approx(np.linalg.norm(dense.coef_))


@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
    st.sampled_from(["relu", "tanh", "logistic", "identity"]),
    st.sampled_from(["l1", "l2", "linf"]),
    st.sampled_from(["l1", "l2", "linf"]),
    st.booleans(),
)
def test_no_pair_of_a_random_net_exceeds_its_constant(seed, hidden, activation, p, q, classify):
    rng = np.random.default_rng(seed)
    sizes = [3, *hidden, 3]
    weights = [3 * rng.normal(size=shape) for shape in pairwise(sizes)]
    kind, targets = (MLPClassifier, THREE) if classify else (MLPRegressor, X)
    model = net(kind, weights, activation, targets)
    outputs = model.predict_proba if classify else model.predict
    found = model_constant(model, from_norm=p, to_norm=q)
    rows = probing_rows(rng)
    values = outputs(rows)
    check = found.holds_for(cdist(rows, rows, METRICS[p]), cdist(values, values, METRICS[q]), slack=1e-9)
    assert check.holds, str(check)


# --- none, and why ----------------------------------------------------------------------------------------------------

NEIGHBORS = [
    KNeighborsRegressor(1),
    KNeighborsRegressor(2, weights="distance"),
    RadiusNeighborsRegressor(1.0),
]
TREES = [
    *(
        DecisionTreeRegressor(),
        RandomForestRegressor(5, random_state=0),
        GradientBoostingRegressor(n_estimators=5),
    ),
    *(DecisionTreeClassifier(), ExtraTreesClassifier(5, random_state=0), HistGradientBoostingClassifier()),
]


@pytest.mark.parametrize("model", [*NEIGHBORS, KNeighborsClassifier(1), KNNRecommender()], ids=str)
def test_neighbors_have_none(model):
    found = model_constant(model)
    assert isinstance(found, Unavailable)
    assert found.reason.startswith("the outputs of nearest neighbours jump")


@pytest.mark.parametrize("model", TREES, ids=lambda model: type(model).__name__)
def test_trees_have_none(model):
    found = model_constant(fitted(model, TWO))
    assert isinstance(found, Unavailable)
    assert found.reason.startswith("the outputs of trees jump")


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsRegressor(1),
        KNeighborsRegressor(2, weights="distance"),
        DecisionTreeRegressor(),
        RandomForestRegressor(5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_neighbors_and_trees_do_jump(model):
    """Half-way between two of four people an output changes by more than 0.1 within 2e-6."""
    places, outputs = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0.0, 1.0, 5.0, 9.0])
    model = model.fit(places, outputs)
    middles = (places + places.T).ravel() / 2
    before, after = model.predict((middles - 1e-6)[:, None]), model.predict((middles + 1e-6)[:, None])
    assert np.abs(after - before).max() > 0.1


def test_the_papers_neighbors_do_jump():
    """Which of two others is most similar to the first row changes within 1e-6, and its output by more than 1/2."""
    from likewise.inference import nearest_neighbor_outputs

    def output(tilt):
        B = np.array([[1.0, tilt, 0.0], [1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 0.0, 0.0]])
        return nearest_neighbor_outputs(B, 1)[0]

    assert np.linalg.norm(output(1e-6) - output(-1e-6)) > 0.5


def test_predicted_classes_jump_and_have_none():
    model = logistic_model([[3, -4, 0]])
    found = model_constant(model, output="class")
    assert isinstance(found, Unavailable)
    assert found.reason.startswith("predicted classes jump")
    assert (model.predict([[1e-9, 0, 0], [-1e-9, 0, 0]]) == [1, 0]).all()


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (GaussianProcessRegressor(), "GaussianProcessRegressor"),
        (make_pipeline(Normalizer(), Ridge()), "Normalizer"),
        (make_pipeline(FunctionTransformer(np.exp), Ridge()), "FunctionTransformer"),
        (make_pipeline(StandardScaler(), DecisionTreeRegressor()), "DecisionTreeRegressor"),
    ],
)
def test_what_is_not_known_is_named(model, named):
    found = model_constant(fitted(model))
    assert isinstance(found, Unavailable)
    assert named in found.reason or "trees jump" in found.reason


def test_the_probabilities_of_scorers_and_of_one_against_the_rest_have_none():
    scorer = model_constant(fitted(SGDClassifier(loss="log_loss", random_state=0), TWO), output="probability")
    assert isinstance(scorer, Unavailable)
    assert "scores have one" in scorer.reason
    rest = fitted(LogisticRegression(), THREE)
    rest.multi_class = "ovr"  # a parameter of older releases
    assert isinstance(model_constant(rest), Unavailable)


def test_an_exponential_output_has_no_largest_slope():
    model = fitted(MLPRegressor(hidden_layer_sizes=[3], max_iter=2))
    model.out_activation_ = "exp"
    found = model_constant(model)
    assert isinstance(found, Unavailable)
    assert "exp" in found.reason


def test_a_subclass_may_compute_something_else():
    class Squared(Ridge):
        def predict(self, rows):
            return super().predict(rows) ** 2

    found = model_constant(fitted(Squared()))
    assert isinstance(found, Unavailable)
    assert "Squared" in found.reason


def test_a_function_has_none():
    found = model_constant(lambda rows: rows.mean(axis=1))
    assert isinstance(found, Unavailable)
    assert "not a bound" in found.reason


def test_a_product_beyond_the_largest_number_is_none():
    weights = [np.full((3, 2), 1e200), np.full((2, 1), 1e200)]
    found = model_constant(net(MLPRegressor, weights, "relu"))
    assert isinstance(found, Unavailable)
    assert "larger than" in found.reason


# --- bad input --------------------------------------------------------------------------------------------------------


def test_bad_input_is_refused():
    with pytest.raises(ModelError, match="not fitted"):
        model_constant(Ridge())
    with pytest.raises(ModelError, match="not fitted"):
        model_constant(make_pipeline(StandardScaler(), Ridge()))
    with pytest.raises(ModelError, match="NaN or infinite"):
        model_constant(linear_model([np.nan, 1, 1]))
    with pytest.raises(ModelError, match="unknown output"):
        model_constant(linear_model([1, 1, 1]), output="proba")
    with pytest.raises(ModelError, match="a regressor has none"):
        model_constant(linear_model([1, 1, 1]), output="probability")
    with pytest.raises(ModelError, match="gives no scores"):
        model_constant(fitted(MLPClassifier(hidden_layer_sizes=[2], max_iter=2), TWO), output="score")
    with pytest.raises(ModelError, match="a fitted model"):
        model_constant("knn")
    with pytest.raises(DistanceError):
        model_constant(linear_model([1, 1, 1]), from_norm="l0.5")
    for inputs in ([7], [], ["a"], slice(5, 9)):
        with pytest.raises(InputError):
            model_constant(linear_model([1, 1, 1]), inputs=inputs)
