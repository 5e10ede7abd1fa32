"""Output distances of other libraries' factor models, recognised by their attributes: nothing is imported to know them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.errors import ModelError
from likewise.fairness.distances.rows import FactorDistance

Parts = tuple[Any, Any, Any]
"""Vectors of users, vectors of items, and ids of users or None."""


def recommender_distance(model: Any) -> FactorDistance:
    """L2 distance between the scores that a fitted factor model gives people for all items, at the cost of its factors.

    Parameters
    ----------
    model : object
        Fitted; recognised by its attributes:

        - ``user_factors`` and ``item_factors``: implicit (ALS, BPR, logistic); its scores are their products.
        - ``pu``, ``qi``, ``bu``, ``bi``, ``trainset``: Surprise's ``SVD``; ids are those of the ratings. A bias of a user counts.
        - ``get_user_representations`` and ``get_item_representations``: LightFM without features; biases count.
        - ``user_embeddings``, ``item_embeddings``, ``bias`` and ``users``: LensKit's ``BiasedMFScorer``; ids are those of the ratings. A bias of a
          user counts.
        - ``user_embeddings`` and ``item_embeddings`` alone: LensKit's ``ImplicitMFScorer``, and others that are called so.
        - a pair ``(left, right)`` of arrays with a row for each user and item.

    Returns
    -------
    FactorDistance
        For ``outputs=`` of `likewise.audit`, between users in the order of the model.

    Raises
    ------
    ModelError
        Something else, or a model that is not fitted.

    Examples
    --------
    >>> class Fitted:
    ...     user_factors = np.array([[1.0, 0.0], [0.0, 2.0]])
    ...     item_factors = np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 6.0]])
    >>> recommender_distance(Fitted()).between([0], [1]).round(12)  # scores (3, 4, 0) and (0, 0, 12)
    array([13.])
    """
    users, items, ids = _parts_of(model)
    left, right = _dense(users), _dense(items)
    return FactorDistance(left, right, row_ids=ids)


def _parts_of(model: Any) -> Parts:
    if isinstance(model, tuple) and len(model) == 2:
        return (*model, None)
    for names, parts in _KNOWN.items():
        if all(getattr(model, name, None) is not None for name in names):
            return parts(model)
    listed = "; ".join(" and ".join(names[:2]) for names in _KNOWN)
    raise ModelError(
        f"{type(model).__name__} as a fitted factor model", f"an object with {listed}; or (users, items)"
    )


def _of_surprise(model: Any) -> Parts:
    """``mean + bu_u + bi_i + q_i p_u``: what items share moves nobody apart, so a one beside each q_i carries the user's bias."""
    biases = np.asarray(model.bu)[:, None]
    ids = [model.trainset.to_raw_uid(position) for position in range(len(biases))]
    users = np.hstack([biases, model.pu])
    return users, np.hstack([np.ones((len(model.qi), 1)), model.qi]), ids


def _of_lightfm(model: Any) -> Parts:
    (user_biases, users), (_, items) = model.get_user_representations(), model.get_item_representations()
    return np.column_stack([user_biases, users]), np.column_stack([np.ones(len(items)), items]), None


def _of_lenskit(model: Any) -> Parts:
    """``mean + b_u + b_i + q_i p_u``, as in Surprise; a model can be told to have no biases of users."""
    users, items, biases = (
        _dense(model.user_embeddings),
        _dense(model.item_embeddings),
        model.bias.user_biases,
    )
    biases = np.zeros(len(users)) if biases is None else _dense(biases)
    return (
        np.column_stack([biases, users]),
        np.column_stack([np.ones(len(items)), items]),
        list(model.users.ids()),
    )


_KNOWN: dict[tuple[str, ...], Callable[[Any], Parts]] = {
    ("user_factors", "item_factors"): lambda model: (model.user_factors, model.item_factors, None),
    ("pu", "qi", "bu", "trainset"): _of_surprise,
    ("get_user_representations", "get_item_representations"): _of_lightfm,
    ("user_embeddings", "item_embeddings", "bias", "users"): _of_lenskit,
    ("user_embeddings", "item_embeddings"): lambda model: (
        model.user_embeddings,
        model.item_embeddings,
        None,
    ),
}


def _dense(vectors: Any) -> Floats:
    """Return vectors as an array: of torch tensors and arrays on a GPU too."""
    for method in ("detach", "cpu", "to_numpy", "numpy"):
        if not isinstance(vectors, np.ndarray) and hasattr(vectors, method):
            vectors = getattr(vectors, method)()
    return as_floats(vectors, "factors", error=ModelError)
