"""Factor models of other libraries against the scores that they give, by their attributes alone."""

from types import SimpleNamespace

import numpy as np
import pytest

from likewise.errors import ModelError
from likewise.fairness import recommender_distance

RNG = np.random.default_rng(0)
USERS, ITEMS = RNG.normal(size=(6, 3)), RNG.normal(size=(9, 3))
USER_BIASES, ITEM_BIASES = RNG.normal(size=6), RNG.normal(size=9)
WITH_BIASES = USERS @ ITEMS.T + USER_BIASES[:, None] + ITEM_BIASES


class Tensor:
    """As torch has them: no array until it is detached and on the CPU."""

    def __init__(self, values, steps=("detach", "cpu")):
        self.values, self.steps = values, steps

    def __array__(self, *_, **__):
        raise TypeError("detach me first")

    def detach(self):
        return Tensor(self.values, ("cpu",))

    def cpu(self):
        return Tensor(self.values, ())

    def numpy(self):
        assert self.steps == ()
        return self.values


MODELS = {
    "implicit": (SimpleNamespace(user_factors=USERS, item_factors=ITEMS), USERS @ ITEMS.T),
    "tensors": (
        SimpleNamespace(user_embeddings=Tensor(USERS), item_embeddings=Tensor(ITEMS)),
        USERS @ ITEMS.T,
    ),
    "a pair": ((USERS, ITEMS), USERS @ ITEMS.T),
    "surprise": (
        SimpleNamespace(
            pu=USERS,
            qi=ITEMS,
            bu=USER_BIASES,
            bi=ITEM_BIASES,
            trainset=SimpleNamespace(to_raw_uid="u{}".format),
        ),
        WITH_BIASES,
    ),
    "lenskit": (
        SimpleNamespace(
            user_embeddings=USERS,
            item_embeddings=ITEMS,
            bias=SimpleNamespace(user_biases=USER_BIASES),
            users=SimpleNamespace(ids=lambda: [f"u{i}" for i in range(6)]),
        ),
        WITH_BIASES,
    ),
    "lenskit without biases of users": (
        SimpleNamespace(
            user_embeddings=USERS,
            item_embeddings=ITEMS,
            bias=SimpleNamespace(user_biases=None),
            users=SimpleNamespace(ids=lambda: [f"u{i}" for i in range(6)]),
        ),
        USERS @ ITEMS.T + ITEM_BIASES,
    ),
    "lightfm": (
        SimpleNamespace(
            get_user_representations=lambda: (USER_BIASES, USERS),
            get_item_representations=lambda: (ITEM_BIASES, ITEMS),
        ),
        WITH_BIASES,
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_distances_are_those_of_the_scores(kind):
    model, scores = MODELS[kind]
    found = recommender_distance(model)
    expected = np.sqrt(((scores[:, None] - scores[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(found.block(0, 6, 0, 6), expected, atol=1e-9)


@pytest.mark.parametrize("kind", ["surprise", "lenskit"])
def test_ids_are_those_of_the_ratings(kind):
    assert recommender_distance(MODELS[kind][0]).row_ids.tolist() == [f"u{i}" for i in range(6)]


@pytest.mark.parametrize("model", [object(), None, SimpleNamespace(user_factors=None, item_factors=None), 3])
def test_something_else_is_told(model):
    with pytest.raises(ModelError, match="as a fitted factor model"):
        recommender_distance(model)
