"""The released code as it runs, against loops over people and items, and a net that is never trained on A_hat."""

import importlib.util

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.observations import clustered
from likewise.reproduction import Settings, reproduce
from likewise.reproduction.released import co_rated_similarity, completed, released_neighbors

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")


def naive_similarity(Z, rated, i, j):
    """Adjusted cosine over the items that both rated; 1 where it is not defined."""
    dot = square_i = square_j = 0.0
    for k in range(Z.shape[1]):
        if rated[i, k] and rated[j, k]:
            mean = Z[rated[:, k], k].mean()
            dot += (Z[i, k] - mean) * (Z[j, k] - mean)
            square_i += (Z[i, k] - mean) ** 2
            square_j += (Z[j, k] - mean) ** 2
    return dot / (square_i * square_j) ** 0.5 if square_i * square_j > 0 else 1.0


def naive_completion(B, rated, similarity, n_neighbors):
    outputs = B.copy()
    for i in range(len(B)):
        for j in range(B.shape[1]):
            if rated[i, j]:
                continue
            raters = sorted((k for k in range(len(B)) if rated[k, j]), key=lambda k: (-similarity[i, k], -k))
            weights = [max(similarity[i, k], 0.0) for k in raters[:n_neighbors]]
            if sum(weights) > 0:
                outputs[i, j] = sum(w * B[k, j] for w, k in zip(weights, raters, strict=False)) / sum(weights)
    return outputs


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_neighbors", [1, 3, 20])
def test_neighbours_are_those_of_the_loops(seed, n_neighbors):
    data = clustered(14, 18, 3, observed_fraction=0.4, random_state=seed)
    Z, rated = data.observed.scaled().values.toarray(), np.zeros((14, 18), dtype=bool)
    rated[data.observed.positions()] = True
    similarity = co_rated_similarity(Z, rated)
    expected = [[0.0 if i == j else naive_similarity(Z, rated, i, j) for j in range(14)] for i in range(14)]
    np.testing.assert_allclose(similarity, expected, atol=1e-12)
    B = np.random.default_rng(seed).uniform(-1, 1, Z.shape)
    np.testing.assert_allclose(
        completed(B, rated, similarity, n_neighbors),
        naive_completion(B, rated, similarity, n_neighbors),
        atol=1e-12,
    )


@pytest.mark.slow
def test_what_was_rated_passes_through_and_d_is_measured_on_the_outputs():
    data = clustered(14, 18, 3, observed_fraction=0.4, random_state=0)
    features = np.random.default_rng(0).uniform(-1, 1, (14, 18))
    found = released_neighbors(data, features, True, 0)
    rated = data.observed.positions()
    np.testing.assert_array_equal(found.outputs[rated], features[rated])
    assert found.compared is found.outputs
    run = reproduce("4", quick=True, simulations=1, model="identity", arms="released-knn")
    for record in run.of_arm("4", 25.0, "released-knn"):
        outputs_ratio = record["metrics"]["if1_input"]
        assert 0 < outputs_ratio < 1  # l2 over l1 of the same rows, for every pair


def test_they_run_on_generated_data_alone():
    with pytest.raises(
        InputError, match="released-knn in experiments 2, rate; expected experiments on generated data"
    ):
        Settings(("1", "2", "rate"), arms=("h", "released-knn"))


@needs_torch
def test_the_net_goes_on_from_that_of_h_and_its_error_is_of_the_features_of_z(monkeypatch):
    from likewise.inference.net import dense_net
    from likewise.reproduction.released import released_net

    data = clustered(20, 24, 3, observed_fraction=0.5, random_state=0)
    calls, train = [], dense_net.train_dense_net

    def spied(features, targets, **options):
        net = train(
            features,
            targets,
            **options | {"settings": dense_net.NetSettings(n_steps=100, batches=options["settings"].batches)},
        )
        calls.append((features, targets, options, net))
        return net

    monkeypatch.setattr(dense_net, "train_dense_net", spied)
    A_hat = np.random.default_rng(1).uniform(-1, 1, data.truth.shape)
    h = released_net(data, data.observed.scaled().zero_filled(), False, 0)
    f = released_net(data, A_hat, True, 0)
    assert len(calls) == 3
    for features, targets, options, _ in calls:
        np.testing.assert_array_equal(features.toarray(), data.observed.scaled().values.toarray())
        np.testing.assert_array_equal(targets.data, data.truth[data.observed.positions()])
        assert options["settings"].batches == "independent"
    assert [options.get("start") for _, _, options, _ in calls] == [None, None, calls[1][3]]
    np.testing.assert_array_equal(calls[0][3].weights[0], calls[1][3].weights[0])
    last = calls[2][3]
    np.testing.assert_array_equal(f.outputs, last.predict_all(A_hat))
    hidden = np.ones(data.truth.shape, dtype=bool)
    hidden[data.observed.positions()] = False
    on_Z = last.predict_all(data.observed.scaled().values)
    assert f.printed_error == pytest.approx(((on_Z - data.truth)[hidden] ** 2).mean())
    assert h.printed_error == pytest.approx(((h.outputs - data.truth)[hidden] ** 2).mean())
