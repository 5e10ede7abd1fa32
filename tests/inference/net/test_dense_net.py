"""The dense net: by hand, against a net of torch's own layers on whole inputs, and what it refuses."""

import doctest
import importlib
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist

from likewise.certificates import model_constant
from likewise.errors import InputError, MemoryLimitError, ModelError, ObservationError, ShapeError
from likewise.inference import DenseNet, DenseNetRecommender, NetSettings, dense_net_outputs, train_dense_net
from likewise.inference.net.training import (
    Epochs,
    IndependentBatches,
    Training,
    initial_state,
    observed_entries,
    validation_mask,
)
from likewise.observations import ObservedMatrix, clustered

torch = pytest.importorskip("torch")

SHORT = NetSettings(hidden=(8, 4), n_steps=30, batch_size=16, check_every=10, device="cpu")


@pytest.fixture(scope="module")
def data():
    return clustered(24, 30, 3, observed_fraction=0.5, random_state=0)


@pytest.fixture(scope="module")
def Z(data):
    return data.observed.values


def a_net(shape, hidden, seed, bounds=(-1.0, 1.0)):
    state = initial_state(sum(shape), hidden, np.random.default_rng(seed))
    state = [3 * values for values in state]  # outputs that differ
    return DenseNet(tuple(state[0::2]), tuple(state[1::2]), shape, bounds)


def of_torch(net, dtype=torch.float64):
    """Return the same net as torch builds it, on whole inputs."""
    layers = []
    for weights, bias in zip(net.weights, net.biases, strict=True):
        linear = torch.nn.Linear(*weights.shape[::-1], dtype=dtype)
        linear.weight.data, linear.bias.data = (
            torch.tensor(weights, dtype=dtype),
            torch.tensor(bias, dtype=dtype),
        )
        layers += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1], torch.nn.Sigmoid())


def whole_inputs(rows, B):
    """Row and column one after the other, for every pair: what is never formed."""
    return np.array([np.concatenate((row, column)) for row in rows for column in B.T])


def naive(net, rows, B):
    low, high = net.bounds
    with torch.no_grad():
        share = of_torch(net)(torch.tensor(whole_inputs(rows, B))).numpy()
    return low + (high - low) * share.reshape(len(rows), -1)


class TestPredictions:
    def test_by_hand(self):
        """Entry (0, 1) of [[1, 0], [0.5, -1]]: row (1, 0), column (0, -1).

        First unit: 1 x 1 + 2 x 0 + 0 x 0 - 1 x (-1) + 0.5 = 2.5. Second: -1 x 1 + 0 + 3 x 0 + 0 + 0 = -1, cut to 0.
        Last: 2 x 2.5 - 4 x 0 - 3 = 2, and 2 sigmoid(2) - 1 = tanh(1).
        """
        first = np.array([[1, 2, 0, -1], [-1, 0, 3, 0]], dtype=np.float32)
        last = np.array([[2, -4]], dtype=np.float32)
        net = DenseNet((first, last), (np.float32([0.5, 0]), np.float32([-3])), (2, 2))
        B = np.array([[1.0, 0.0], [0.5, -1.0]])
        # (0, 0), column (1, 0.5): 1 - 0.5 + 0.5 = 1 and -1 + 3 = 2: 2 - 8 - 3 = -9.
        # (1, 0), row (0.5, -1): 0.5 - 2 - 0.5 + 0.5 = -1.5, and -0.5 + 3 = 2.5: -10 - 3 = -13.
        # (1, 1): 0.5 - 2 + 1 + 0.5 = 0, and -0.5: -3.
        expected = np.tanh(np.array([[-9, 2], [-13, -3]]) / 2)
        np.testing.assert_allclose(net.predict_all(B), expected, atol=1e-6)
        np.testing.assert_allclose(net.entries(B, [0, 1], [1, 0]), expected[[0, 1], [1, 0]], atol=1e-6)

    @given(
        shape=st.tuples(st.integers(1, 7), st.integers(1, 7)),
        hidden=st.lists(st.integers(1, 6), min_size=1, max_size=3),
        seed=st.integers(0, 99),
        bounds=st.sampled_from([(-1.0, 1.0), (0.0, 1.0), (1.0, 5.0)]),
        as_sparse=st.booleans(),
    )
    def test_are_those_of_whole_inputs(self, shape, hidden, seed, bounds, as_sparse):
        net = a_net(shape, hidden, seed, bounds)
        rng = np.random.default_rng(seed)
        B = rng.uniform(-1, 1, shape) * (rng.random(shape) < 0.6)
        expected = naive(net, B, B)
        given_as = sparse.csr_array(B) if as_sparse else B
        np.testing.assert_allclose(net.predict_all(given_as), expected, atol=2e-5)
        rows, columns = rng.integers(0, shape[0], 9), rng.integers(0, shape[1], 9)
        np.testing.assert_allclose(net.entries(given_as, rows, columns), expected[rows, columns], atol=2e-5)

    def test_more_columns_and_entries_than_are_held_at_a_time(self):
        net = a_net((3, 2500), (5,), 0)
        B = np.random.default_rng(0).uniform(-1, 1, net.shape)
        expected = naive(net, B, B)
        np.testing.assert_allclose(net.predict_all(B), expected, atol=2e-5)
        rows, columns = (part.ravel() for part in np.indices(net.shape))
        np.testing.assert_allclose(net.entries(B, rows, columns), expected.ravel(), atol=2e-5)

    def test_new_rows_keep_the_columns(self):
        net = a_net((6, 5), (7, 3), 1)
        rng = np.random.default_rng(1)
        B, new = rng.uniform(-1, 1, (6, 5)), rng.uniform(-1, 1, (4, 5))
        np.testing.assert_allclose(net.predict_all(B, new), naive(net, new, B), atol=2e-5)

    def test_a_row_gets_the_same_whoever_else_is_there(self):
        net = a_net((40, 33), (20, 10), 2)
        B = np.random.default_rng(2).uniform(-1, 1, net.shape)
        everybody = net.predict_all(B)
        for row in (0, 7, 39):
            np.testing.assert_array_equal(net.predict_all(B, B[row : row + 1])[0], everybody[row])

    def test_report_progress(self):
        seen = []
        net = a_net((3, 2000), (2,), 0)
        net.predict_all(np.zeros(net.shape), progress=lambda done, total: seen.append((done, total)))
        assert seen == [(1, 3), (2, 3), (3, 3)]

    @pytest.mark.parametrize(
        ("call", "error", "reason"),
        [
            (lambda net: net.predict_all(np.zeros((3, 5))), ShapeError, r"features of shape \(3, 5\)"),
            (lambda net: net.predict_all(np.zeros((4, 5)), np.zeros((2, 4))), ShapeError, "rows of shape"),
            (lambda net: net.predict_all(np.zeros((4, 5)), np.zeros(5)), ShapeError, "rows of shape"),
            (lambda net: net.entries(np.zeros((4, 5)), [0, 1], [0]), ShapeError, "one column for each row"),
            (
                lambda net: net.entries(np.zeros((4, 5)), [4], [0]),
                ModelError,
                "rows .4.; expected whole numbers from 0 to 3",
            ),
            (lambda net: net.entries(np.zeros((4, 5)), [0], [-1]), ModelError, "columns"),
            (lambda net: net.entries(np.zeros((4, 5)), [0.5], [1]), ModelError, "whole numbers"),
        ],
    )
    def test_refuse_what_does_not_fit(self, call, error, reason):
        with pytest.raises(error, match=reason):
            call(a_net((4, 5), (3,), 0))

    @pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
    def test_refuse_what_is_not_finite(self, value):
        net, B, bad = a_net((4, 5), (3,), 0), np.zeros((4, 5)), corrupted(value)
        for call in (
            lambda: net.predict_all(bad),
            lambda: net.predict_all(B, bad),
            lambda: net.predict_all(sparse.csr_array(bad)),
            lambda: net.entries(bad, [0], [0]),
        ):
            with pytest.raises(ModelError, match="NaN, infinite or too large"):
                call()

    def test_refuse_what_does_not_fit_into_memory(self, monkeypatch):
        monkeypatch.setattr("likewise.memory.available_memory", lambda: 100.0)
        with pytest.raises(MemoryLimitError, match="outputs of shape 4 x 5"):
            a_net((4, 5), (3,), 0).predict_all(np.zeros((4, 5)))


class TestTraining:
    def test_takes_the_steps_that_torch_takes_on_whole_inputs(self, Z):
        """The same first weights and batches, through torch's own layers, loss and optimizer."""
        net = train_dense_net(Z, Z, settings=SHORT, random_state=3)
        entries = observed_entries(Z, Z.shape, (-1, 1))
        generator = np.random.default_rng(3)
        held_back = validation_mask(len(entries), 0.2, generator)
        state = initial_state(sum(Z.shape), SHORT.hidden, generator)
        reference = of_torch(DenseNet(tuple(state[0::2]), tuple(state[1::2]), Z.shape), torch.float32)
        optimizer = torch.optim.Adam(reference.parameters(), lr=SHORT.learning_rate)
        B = Z.toarray()
        inputs = np.hstack((B[entries.rows], B.T[entries.columns])).astype(np.float32)
        training = torch.tensor(inputs[~held_back]), torch.tensor(entries.values[~held_back])
        validation = torch.tensor(inputs[held_back]), torch.tensor(entries.values[held_back])
        epochs = Epochs(len(training[1]), generator)
        errors = []
        for _ in range(3):
            for batch in epochs.take(10, 16):
                loss = torch.nn.functional.mse_loss(
                    2 * reference(training[0][batch])[:, 0] - 1, training[1][batch]
                )
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            with torch.no_grad():
                prediction = 2 * reference(validation[0])[:, 0] - 1
                errors.append(float(torch.nn.functional.mse_loss(prediction, validation[1])))
        np.testing.assert_array_equal(net.record.is_validation, held_back)
        np.testing.assert_allclose(net.record.errors, errors, rtol=1e-4)
        assert net.record.best_step == 10 * (1 + int(np.argmin(errors))) == 30
        for layer, weights, bias in zip(reference[::2], net.weights, net.biases, strict=True):
            np.testing.assert_allclose(weights, layer.weight.detach(), atol=1e-4)
            np.testing.assert_allclose(bias, layer.bias.detach(), atol=1e-4)

    def test_the_state_of_the_smallest_validation_error_is_kept(self, Z, monkeypatch):
        errors = iter([0.9, 0.2, 0.5, 0.2])
        states = []

        def spy(training):
            states.append([values.detach().clone().numpy() for values in training._parameters])
            return next(errors)

        monkeypatch.setattr(Training, "_validation_error", spy)
        net = train_dense_net(
            Z, Z, settings=NetSettings((8, 4), n_steps=35, check_every=10, device="cpu"), random_state=0
        )
        assert net.record.steps == (10, 20, 30, 35)
        assert (net.record.best_step, net.record.best_error) == (20, 0.2)
        for kept, then, last in zip(
            (*net.weights, *net.biases),
            (*states[1][0::2], *states[1][1::2]),
            (*states[3][0::2], *states[3][1::2]),
            strict=True,
        ):
            np.testing.assert_array_equal(kept, then)
            assert not np.array_equal(kept, last)

    def test_the_best_error_is_that_of_the_net(self, Z):
        net = train_dense_net(Z, Z, settings=SHORT, random_state=1)
        entries = observed_entries(Z, Z.shape, (-1, 1))[net.record.is_validation]
        predicted = net.entries(Z, entries.rows, entries.columns)
        assert np.mean((predicted - entries.values) ** 2) == pytest.approx(net.record.best_error, rel=1e-5)
        assert "best of 3 validations" in str(net.record)

    @pytest.mark.parametrize("fraction", [0.2, 0.5, 0.001, 0.999])
    def test_a_fifth_validates_and_the_others_train(self, fraction):
        mask = validation_mask(500, fraction, np.random.default_rng(0))
        assert mask.sum() == min(max(round(500 * fraction), 1), 499)

    def test_what_validates_trains_nothing(self, Z, monkeypatch):
        seen = {}
        begin = Training.__init__

        def spy(self, features, training, validation, *rest):
            seen["pairs"] = [
                set(zip(part.rows.tolist(), part.columns.tolist(), strict=True))
                for part in (training, validation)
            ]
            begin(self, features, training, validation, *rest)

        monkeypatch.setattr(Training, "__init__", spy)
        train_dense_net(Z, Z, settings=SHORT, random_state=0)
        training, validation = seen["pairs"]
        assert not training & validation
        assert training | validation == set(zip(*(part.tolist() for part in Z.nonzero()), strict=True))
        assert len(validation) == round(0.2 * Z.nnz)

    def test_a_stored_zero_is_learnt(self):
        rows, columns = np.indices((12, 9)).reshape(2, -1)
        zeros = sparse.csr_array((np.zeros(108), (rows, columns)), shape=(12, 9))
        B = np.random.default_rng(0).uniform(-1, 1, (12, 9))
        net = train_dense_net(
            B, zeros, settings=NetSettings((8,), 3e-2, n_steps=200, device="cpu"), random_state=0
        )
        assert net.record.is_validation.size == 108
        assert np.abs(net.predict_all(B)).max() < 0.1

    def test_it_learns_what_was_not_observed(self, data):
        outputs = dense_net_outputs(
            data.observed.zero_filled(),
            data.observed,
            settings=NetSettings(n_steps=300, device="cpu"),
            random_state=0,
        )
        missing = np.isnan(data.observed.to_dense(missing=np.nan))
        errors = ((outputs - data.truth)[missing] ** 2).mean(), (data.truth[missing] ** 2).mean()
        assert errors[0] < 0.5 * errors[1]

    def test_other_bounds_are_an_affine_map(self, Z):
        """With (0, 1) the net is h' itself; the loss is a quarter, to which Adam hardly reacts."""
        unit = Z.copy()
        unit.data = (unit.data + 1) / 2
        symmetric = train_dense_net(Z, Z, settings=SHORT, random_state=0)
        share = train_dense_net(Z, unit, bounds=(0, 1), settings=SHORT, random_state=0)
        assert share.predict_all(Z).min() >= 0
        np.testing.assert_allclose(2 * share.predict_all(Z) - 1, symmetric.predict_all(Z), atol=1e-2)

    def test_targets_can_be_dense_or_observations(self, data, Z):
        expected = dense_net_outputs(Z, Z, settings=SHORT, random_state=0)
        for targets in (data.observed, data.observed.to_dense(missing=np.nan), sparse.coo_array(Z)):
            np.testing.assert_array_equal(
                dense_net_outputs(Z, targets, settings=SHORT, random_state=0), expected
            )
        np.testing.assert_array_equal(
            dense_net_outputs(Z.toarray(), Z, settings=SHORT, random_state=0), expected
        )

    def test_two_observations_are_enough(self):
        targets = sparse.csr_array(([0.5, -0.5], ([0, 2], [1, 0])), shape=(3, 2))
        net = train_dense_net(np.ones((3, 2)), targets, settings=SHORT, random_state=0)
        assert net.record.is_validation.sum() == 1

    def test_progress(self, Z):
        seen = []
        train_dense_net(Z, Z, settings=SHORT, random_state=0, progress=lambda *how_far: seen.append(how_far))
        assert seen == [(10, 30), (20, 30), (30, 30)]


def test_no_pair_exceeds_the_constant_of_a_trained_net(data, Z):
    """Rows of the fit, and rows near them that nobody saw, from their features to all predictions."""
    settings = NetSettings((30, 10), 1e-2, n_steps=300, device="cpu")
    net = train_dense_net(Z, Z, settings=settings, random_state=0)
    rows = np.vstack((Z.toarray(), Z.toarray() + 0.05 * np.random.default_rng(0).normal(size=Z.shape)))
    found = model_constant(net)
    assert (found.n_inputs, found.n_outputs) == (30, 30)
    assert found.holds_for(pdist(rows), pdist(net.predict_all(Z, rows)), slack=1e-5).holds
    product = np.prod([np.linalg.norm(weights, 2) for weights in net.row_layers]) / 2 * np.sqrt(30)
    assert found.value < product


class TestRandomness:
    def test_a_seed_decides_everything(self, Z):
        first, again, other = (
            dense_net_outputs(Z, Z, settings=SHORT, random_state=seed) for seed in (4, 4, 5)
        )
        np.testing.assert_array_equal(first, again)
        assert not np.allclose(first, other, atol=1e-3)
        generator = np.random.default_rng(4)
        np.testing.assert_array_equal(dense_net_outputs(Z, Z, settings=SHORT, random_state=generator), first)

    def test_torchs_own_state_is_neither_read_nor_changed(self, Z):
        torch.manual_seed(1)
        before, n_threads = torch.get_rng_state(), torch.get_num_threads()
        first = dense_net_outputs(Z, Z, settings=SHORT, random_state=4)
        assert torch.equal(torch.get_rng_state(), before)
        assert torch.get_num_threads() == n_threads
        torch.manual_seed(2)
        np.testing.assert_array_equal(dense_net_outputs(Z, Z, settings=SHORT, random_state=4), first)

    def test_the_number_of_threads_is_put_back_after_an_error(self, Z):
        before = torch.get_num_threads()

        def stop(done, total):
            assert torch.get_num_threads() == 1
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            dense_net_outputs(Z, Z, settings=SHORT, progress=stop)
        assert torch.get_num_threads() == before

    def test_gradients_may_be_switched_off_around_it(self, Z):
        expected = dense_net_outputs(Z, Z, settings=SHORT, random_state=4)
        with torch.no_grad():
            np.testing.assert_array_equal(dense_net_outputs(Z, Z, settings=SHORT, random_state=4), expected)

    @given(
        n=st.integers(1, 40),
        calls=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 30)), min_size=1, max_size=4),
    )
    def test_each_epoch_has_each_observation_once(self, n, calls):
        epochs = Epochs(n, np.random.default_rng(0))
        taken = np.concatenate([epochs.take(*call).ravel() for call in calls])
        assert taken.size == sum(batches * size for batches, size in calls)
        for start in range(0, taken.size - n + 1, n):
            assert sorted(taken[start : start + n]) == list(range(n))


def corrupted(value):
    B = np.zeros((4, 5))
    B[1, 2] = value
    return B


TARGETS = sparse.csr_array(np.full((4, 5), 0.5))


class TestBadInput:
    @pytest.mark.parametrize(
        ("features", "targets", "error", "reason"),
        [
            (corrupted(np.nan), TARGETS, ModelError, "features of which 1 are NaN"),
            (corrupted(-np.inf), TARGETS, ModelError, "infinite"),
            (corrupted(1e300), TARGETS, ModelError, "too large"),
            (sparse.csr_array(corrupted(np.nan)), TARGETS, ModelError, "features of which 1 are NaN"),
            (corrupted(1).astype(complex), TARGETS, ModelError, "features of type complex128"),
            (np.full((4, 5), "a"), TARGETS, ModelError, "features of type"),
            (np.zeros(5), TARGETS, ShapeError, r"features of shape \(5,\)"),
            (np.zeros((0, 5)), TARGETS, ShapeError, r"features of shape \(0, 5\)"),
            (
                np.zeros((5, 4)),
                TARGETS,
                ShapeError,
                r"targets of shape \(4, 5\) for features of shape \(5, 4\)",
            ),
            (np.zeros((4, 5)), sparse.csr_array((4, 5)), ModelError, "0 observations; expected at least two"),
            (
                np.zeros((4, 5)),
                sparse.csr_array(corrupted(1.0)),
                ModelError,
                "1 observations; expected at least two",
            ),
            (np.zeros((4, 5)), np.full((4, 5), np.nan), ModelError, "0 observations"),
            (
                np.zeros((4, 5)),
                np.full((4, 5), 1.5),
                ModelError,
                "targets from 1.5 to 1.5; expected values from -1 to 1",
            ),
            (np.zeros((4, 5)), sparse.csr_array(np.full((4, 5), np.nan)), InputError, "nan|NaN"),
            (np.zeros((4, 5)), np.full((4, 5), "a"), ObservationError, "real numbers"),
            (np.zeros((4, 5)), None, InputError, "None|shape"),
        ],
    )
    def test_is_one_error(self, features, targets, error, reason):
        with pytest.raises(error, match=reason):
            train_dense_net(features, targets, settings=SHORT)

    @pytest.mark.parametrize("bounds", [(1, -1), (0, 0), (0, np.inf), (np.nan, 1), 3, (1, 2, 3), ("a", "b")])
    def test_bounds(self, bounds):
        with pytest.raises(ModelError, match="bounds"):
            train_dense_net(np.zeros((4, 5)), TARGETS, bounds=bounds)

    @pytest.mark.parametrize("device", ["gpu", "cuda:99", "meta-cpu", ""])
    def test_a_device_that_is_not_there(self, device):
        with pytest.raises(ModelError, match=r"device .* cannot be used here .*; expected 'auto', 'cpu'"):
            train_dense_net(np.zeros((4, 5)), TARGETS, settings=NetSettings(device=device))

    def test_a_training_that_diverges(self, Z):
        settings = NetSettings((8, 4), 3e38, n_steps=20, device="cpu")
        with pytest.raises(ModelError, match=r"diverged with learning_rate 3e\+38; expected a smaller one"):
            train_dense_net(Z, Z, settings=settings, random_state=0)

    def test_features_that_do_not_fit_into_memory(self, monkeypatch):
        monkeypatch.setattr("likewise.memory.available_memory", lambda: 100.0)
        with pytest.raises(MemoryLimitError, match="dense copies of the features"):
            train_dense_net(np.ones((4, 5)), TARGETS, settings=SHORT)

    def test_an_observed_matrix_in_other_units(self):
        stars = ObservedMatrix(np.array([[1.0, 5.0], [3.0, np.nan]]), value_range=(1, 5))
        with pytest.raises(ModelError, match="scale the observations first"):
            train_dense_net(stars.zero_filled(), stars, settings=SHORT)


@pytest.mark.parametrize("documented", [train_dense_net, dense_net_outputs, DenseNet, DenseNetRecommender])
def test_documented_examples_run(documented):
    """They are skipped where PyTorch may be missing, so they run here."""
    module = importlib.import_module(documented.__module__)
    tests = doctest.DocTestFinder(recurse=False).find(
        documented, documented.__name__, globs=vars(module).copy()
    )
    examples = [example for test in tests for example in test.examples]
    assert examples
    for example in examples:
        example.options.pop(doctest.SKIP, None)
    assert [doctest.DocTestRunner().run(test).failed for test in tests] == [0]


def test_torch_is_imported_only_where_a_net_is_trained():
    import subprocess

    code = "import sys, likewise.inference; likewise.inference.DenseNetRecommender(); print('torch' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        ).stdout.strip()
        == "False"
    )


def test_batches_can_be_drawn_anew_each_time():
    batches = IndependentBatches(5, np.random.default_rng(0)).take(200, 4)
    assert all(len(set(batch)) == 4 for batch in batches.tolist())
    left_out = [set(range(5)).difference(batch).pop() for batch in batches.tolist()]
    assert left_out[:-1] != left_out[1:]
    assert min(np.bincount(left_out)) > 20  # 40 each, give or take 5.7


def test_a_training_goes_on_from_a_net(Z):
    still = NetSettings(hidden=(8, 4), n_steps=1, batch_size=16, learning_rate=1e-12, device="cpu")
    start = a_net(Z.shape, (8, 4), 1)
    gone_on = train_dense_net(Z, Z, settings=still, random_state=0, start=start)
    drawn = train_dense_net(Z, Z, settings=still, random_state=0)
    np.testing.assert_allclose(gone_on.predict_all(Z), start.predict_all(Z), atol=1e-6)
    assert np.abs(drawn.predict_all(Z) - start.predict_all(Z)).max() > 0.01
    np.testing.assert_array_equal(gone_on.record.is_validation, drawn.record.is_validation)
    with pytest.raises(ModelError, match="a start for"):
        train_dense_net(Z, Z, settings=NetSettings(hidden=(4, 4)), start=start)


def test_unknown_batches_are_named():
    with pytest.raises(ModelError, match=r"unknown batches 'epoch'.*did you mean 'epochs'"):
        NetSettings(batches="epoch")


def test_features_may_be_a_tensor_that_requires_grad(Z):
    dense = Z.toarray()
    plain = train_dense_net(dense, Z, settings=SHORT, random_state=0)
    graded = torch.tensor(dense, requires_grad=True)
    assert np.array_equal(
        train_dense_net(graded, Z, settings=SHORT, random_state=0).predict_all(graded),
        plain.predict_all(dense),
    )
    with pytest.raises(ModelError, match="features that are not an array"):
        train_dense_net(graded.to_sparse(), Z, settings=SHORT)


@pytest.mark.parametrize("name", ["settings", "start", "progress"])
def test_what_is_no_option_is_refused_by_its_name(Z, name):
    with pytest.raises(InputError, match=name):
        train_dense_net(Z, Z, **{name: torch.ones(3)})
