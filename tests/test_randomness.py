"""A seed that is none is refused in one way, wherever it is given."""

import numpy as np
import pytest

from likewise import SVT, ObservedMatrix, audit, compare, hold_out, singular_triplets
from likewise.errors import InputError
from likewise.fairness import RowDistance, activity_check, measure_sampled
from likewise.observations import clustered
from likewise.randomness import generator_of

PEOPLE = RowDistance(np.arange(8.0))
Z = ObservedMatrix(np.random.default_rng(0).random((8, 5)), value_range=(0, 1))
SCORES = np.arange(8.0) ** 2
EVERYWHERE = {
    "audit": lambda seed: audit(Z, random_state=seed),
    "audit of outputs": lambda seed: audit(PEOPLE, outputs=SCORES, random_state=seed),
    "clustered": lambda seed: clustered(8, 8, 2, observed_fraction=0.5, random_state=seed),
    "hold_out": lambda seed: hold_out(Z, random_state=seed),
    "SVT": lambda seed: SVT(random_state=seed).fit(Z),
    "singular_triplets": lambda seed: singular_triplets(Z.zero_filled(), above=0.1, random_state=seed),
    "measure_sampled": lambda seed: measure_sampled(SCORES, PEOPLE, random_state=seed),
    "compare": lambda seed: compare({"without": SCORES, "with": SCORES / 2}, PEOPLE, random_state=seed),
    "activity_check": lambda seed: activity_check(Z, PEOPLE, random_state=seed),
}


@pytest.mark.parametrize("seed", [-1, "zero", 0.5])
@pytest.mark.parametrize("where", EVERYWHERE)
def test_what_is_no_seed_is_refused(where, seed):
    with pytest.raises(InputError, match="random_state="):
        EVERYWHERE[where](seed)


def test_a_generator_goes_on_and_a_seed_starts_anew():
    generator = np.random.default_rng(0)
    assert generator_of(generator) is generator
    assert generator_of(np.int64(3)).random() == generator_of(3).random()
