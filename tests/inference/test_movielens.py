"""Nearest neighbours on real ratings: the definition, and what it is worth as a recommendation."""

import numpy as np
import pytest

from likewise.inference import as_model, nearest_neighbor_outputs
from likewise.observations import ObservedMatrix
from likewise.observations.reading import read_ratings

SHAPE = (943, 1682)


@pytest.fixture(scope="module")
def split(data_folder):
    """The first official split of MovieLens 100K."""
    return tuple(
        read_ratings(data_folder / "ml-100k" / f"u1.{part}", shape=SHAPE, value_range=(1, 5))
        for part in ("base", "test")
    )


def error(outputs, test: ObservedMatrix) -> float:
    return float(np.sqrt(np.mean((outputs[test.positions()] - test.values.data) ** 2)))


@pytest.mark.data
def test_rows_follow_the_definition(split):
    B = split[0].scaled("unit").to_dense()
    outputs = nearest_neighbor_outputs(split[0].scaled("unit").zero_filled(), 10)
    centred = B - B.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    for i in (0, 7, 404, 942):
        similarity = unit @ unit[i]
        similarity[i] = -np.inf
        nearest = np.argsort(-similarity)[:10]
        expected = np.average(B[nearest], axis=0, weights=similarity[nearest])
        np.testing.assert_allclose(outputs[i], expected, atol=1e-10)


@pytest.mark.data
def test_co_raters_predict_better_than_item_means_and_these_better_than_zero_filling(split):
    training, test = split
    item_means = np.divide(
        training.values.sum(axis=0), np.maximum(np.diff(training.values.tocsc().indptr), 1)
    )
    scale = training.value_range.scale_to("symmetric")
    zero_filled = training.scaled().zero_filled()
    errors = [
        error(scale.backward(as_model("knn-co-raters")(zero_filled, training)), test),
        error(np.broadcast_to(item_means, SHAPE), test),
        error(scale.backward(as_model("knn")(zero_filled, training)), test),
    ]
    assert errors == sorted(errors)
