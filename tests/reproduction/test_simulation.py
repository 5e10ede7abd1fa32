"""One simulation: what the algorithm learns in each arm."""

import numpy as np
import pytest

from likewise.certificates import Unavailable
from likewise.observations import clustered
from likewise.reproduction import EXPERIMENTS
from likewise.reproduction.algorithm import Inferred, as_dense
from likewise.reproduction.arms import resolve_arm
from likewise.reproduction.simulation import simulate


@pytest.mark.parametrize("targets", ["observed", "features", "truth"])
def test_each_arm_learns_what_is_chosen_at_the_observed_entries(targets):
    data = clustered(20, 24, 3, observed_fraction=0.5, random_state=0)
    seen, observed = [], data.observed.positions()

    def algorithm(features, learned, _):
        seen.append((as_dense(features), learned))
        return Inferred(as_dense(features), Unavailable("K1", "none"))

    arms = [resolve_arm("h"), resolve_arm("f-2=2.0")]
    simulate(data, EXPERIMENTS["1"], arms, algorithm, "spy", targets, 0)
    Z = data.observed.scaled().values.toarray()
    for features, learned in seen:
        expected = {"observed": Z, "features": features, "truth": data.truth}[targets]
        np.testing.assert_array_equal(learned.toarray()[observed], expected[observed])
        assert learned.nnz == data.observed.n_observed
    assert not np.array_equal(seen[0][0], seen[1][0])


def test_the_algorithm_can_be_given_the_truth_itself():
    data = clustered(20, 24, 3, observed_fraction=0.5, random_state=0)

    def algorithm(features, _, __):
        return Inferred(as_dense(features), Unavailable("K1", "none"))

    record = simulate(data, EXPERIMENTS["1"], [resolve_arm("h-truth")], algorithm, "identity", "observed", 0)
    assert record["arms"]["h-truth"]["metrics"]["mse"] == 0
    assert record["arms"]["h-truth"]["metrics"]["if2_truth"] == record["truth"]["if2_truth"]
