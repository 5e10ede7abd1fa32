"""The authors' released code as it runs, written anew from what it does: its net, its nearest neighbours, and what they are held against.

Where it departs from the text of the paper, it is followed here and nowhere else; docs/reproduction.md lists the departures.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from likewise._typing import Floats
from likewise.certificates import Unavailable, model_constant
from likewise.observations.synthetic import ClusteredData
from likewise.reproduction.algorithm import Features, Inferred, as_dense

N_NEIGHBORS = 10


def released_net(data: ClusteredData, features: Features, preprocessed: bool, seed: int) -> Inferred:
    """Train on Z's features to predict the truth A; with pre-processing go on with the same, then predict from A_hat's features.

    The net is thus never trained on features of A_hat. The error that is printed is that of predictions from Z's features, in both arms.
    """
    from likewise.inference.net.dense_net import train_dense_net
    from likewise.inference.net.training import NetSettings

    observed = data.observed
    Z = observed.scaled().values
    positions = observed.positions()
    truth = observed.with_values(data.truth[positions]).values
    settings = NetSettings(n_threads=1, batches="independent")
    net = train_dense_net(Z, truth, settings=settings, random_state=seed)
    if preprocessed:
        # The released code trains the same object again: the net of f goes on from that of h.
        net = train_dense_net(Z, truth, settings=settings, random_state=seed, start=net)
    hidden = np.ones(data.truth.shape, dtype=np.bool_)
    hidden[positions] = False
    printed = (net.predict_all(Z) - data.truth)[hidden]
    error = float(np.mean(printed**2)) if printed.size else float("nan")
    return Inferred(net.predict_all(features), model_constant(net), printed_error=error)


def released_neighbors(
    data: ClusteredData, features: Features, preprocessed: bool, seed: int, n_neighbors: int = N_NEIGHBORS
) -> Inferred:
    """Fill each entry that was not observed with the average over those most similar who rated it; observed entries pass through.

    Similarities are adjusted cosines over co-rated items, always of Z. The completed rows are the outputs and, in both arms, the rows that d is
    measured on: the released code writes the outputs into the array that it takes for the data. Where fewer than `n_neighbors` rated an item,
    all who did count, for which the released code has no answer. Both arms do the same, and nothing is drawn.
    """
    del preprocessed, seed
    rated = np.zeros(data.truth.shape, dtype=np.bool_)
    rated[data.observed.positions()] = True
    similarity = co_rated_similarity(as_dense(data.observed.scaled().values), rated)
    outputs = completed(as_dense(features), rated, similarity, n_neighbors)
    unknown = Unavailable("K1", "none is known for neighbours over co-rated items")
    return Inferred(outputs, unknown, compared=outputs)


def co_rated_similarity(values: Floats, rated: np.typing.NDArray[np.bool_]) -> Floats:
    """Return the cosine between two people over the items that both rated, each item's mean subtracted; shape (m, m).

    `values` are 0 where not `rated`. 1 where one of them has no direction over the co-rated items, or there is none; 0 for a person and
    themselves.

    >>> values = np.array([[1.0, 0.0, 1.0], [-1.0, 1.0, 0.0]])
    >>> co_rated_similarity(values, values != 0)
    array([[ 0., -1.],
           [-1.,  0.]])
    """
    means = values.sum(axis=0) / np.maximum(rated.sum(axis=0), 1)
    centred = np.where(rated, values - means, 0.0)
    lengths = np.sqrt(
        centred**2 @ rated.T.astype(np.float64)
    )  # [i, j]: of i, over the items that j rated too
    product = lengths * lengths.T
    similarity: Floats = np.divide(
        centred @ centred.T, product, out=np.ones(product.shape), where=product > 0
    )
    np.fill_diagonal(similarity, 0.0)
    return similarity


def completed(
    features: Floats, rated: np.typing.NDArray[np.bool_], similarity: Floats, n_neighbors: int
) -> Floats:
    """Average, for each entry that is not rated, the nearest who rated the item, weighted by similarity where that is positive.

    Where no weight is left, the released code divides 0 by 0; here the entry stays as it is in the features.
    """
    outputs = features.copy()
    for i, similarities in enumerate(similarity):
        order = np.argsort(similarities, kind="stable")[::-1]
        raters = rated[order]
        # Of each item its own nearest raters, all items at once.
        chosen = raters & (np.cumsum(raters, axis=0) <= n_neighbors)
        weights = chosen * np.maximum(similarities[order], 0.0)[:, np.newaxis]
        total = weights.sum(axis=0)
        filled = ~rated[i] & (total > 0)
        outputs[i, filled] = (weights * features[order]).sum(axis=0)[filled] / total[filled]
    return outputs


RELEASED: dict[str, Callable[[ClusteredData, Features, bool, int], Inferred]] = {
    "released-net": released_net,
    "released-knn": released_neighbors,
}
"""Algorithms of the released code, by the name that an arm gives."""
