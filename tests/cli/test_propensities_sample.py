"""`--propensities-sample`: the command gives what Python gives, and says what cannot be."""

import numpy as np
import pytest

from likewise import LowRankEstimate, read_ratings
from likewise.cli.options import EstimatorOptions
from likewise.errors import InputError
from likewise.estimation import Biases, RandomSample


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"u{u},i{i},{rng.integers(1, 6)}" for u in range(12) for i in range(8) if rng.random() < 0.7]
    sample = [f"u{k % 12},i{k // 12},{1 + k % 5}" for k in range(60)]
    paths = tmp_path / "ratings.csv", tmp_path / "sample.csv"
    for path, rows in zip(paths, (lines, sample), strict=True):
        path.write_text("\n".join(["user,item,rating", *rows]))
    return paths


def test_the_option_makes_the_estimator_that_python_makes(files):
    ratings, sample = files
    by_option = EstimatorOptions(estimator="biases", propensities_sample=sample).make_estimator()
    observed = read_ratings(ratings, value_range=(1, 5))
    by_hand = Biases(propensities=RandomSample(read_ratings(sample)), random_state=0)
    estimates = [estimator.fit(observed).estimate_ for estimator in (by_option, by_hand)]
    assert all(isinstance(estimate, LowRankEstimate) for estimate in estimates)
    np.testing.assert_array_equal(*(estimate.to_dense() for estimate in estimates))


def test_a_sample_beside_another_kind_of_propensities(files):
    options = EstimatorOptions(estimator="biases", propensities="degrees", propensities_sample=files[1])
    with pytest.raises(InputError, match="one of them"):
        options.make_estimator()
