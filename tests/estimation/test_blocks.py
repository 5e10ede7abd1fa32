"""Estimators on observations in blocks: what they find is what they find in memory."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from likewise import SVT
from likewise.errors import EstimatorError, MemoryLimitError, ThresholdError
from likewise.estimation import AlternatingLeastSquares, Biases
from likewise.observations import clustered
from likewise.observations.partitioned.parts import Parts
from likewise.observations.partitioned.reading import _read


@pytest.fixture(scope="module")
def observed():
    return clustered(300, 120, 4, observed_fraction=0.4, random_state=0).observed


def parts_of(observed, folder):
    rows, columns = observed.positions()
    order = np.random.default_rng(0).permutation(rows.size)
    frame = pl.DataFrame({"user": rows, "item": columns, "rating": observed.values.data})[order]
    for number, lines in enumerate(np.array_split(np.arange(frame.height), 5)):
        frame[lines].write_parquet(folder / f"{number}.parquet")
    return Parts.found(folder, None, None, None)


@pytest.fixture(scope="module")
def blocks(observed, tmp_path_factory):
    parts = parts_of(observed, tmp_path_factory.mktemp("parts"))
    with _read(parts, observed.value_range, "error", "serial", None, None, 2_000) as read:
        yield read


@pytest.mark.parametrize("working_range", ["symmetric", "unit"])
@pytest.mark.parametrize("centering", ["none", "global", "row", "column", "biases"])
def test_svt_with_every_centre(observed, blocks, centering, working_range):
    options = {
        "threshold": "noise-edge",
        "centering": centering,
        "working_range": working_range,
        "random_state": 0,
    }
    there, here = SVT(**options).fit(blocks), SVT(**options).fit(observed)
    assert there.rank_ == here.rank_
    assert there.completeness_.proved
    np.testing.assert_allclose(there.threshold_, here.threshold_, rtol=1e-12)
    np.testing.assert_allclose(there.singular_values_, here.singular_values_, rtol=1e-6)
    np.testing.assert_allclose(there.estimate_.to_dense(), here.estimate_.to_dense(), atol=1e-4)
    np.testing.assert_allclose(there.transform(observed), here.transform(observed), atol=1e-4)


@pytest.mark.parametrize("regularization", [None, 0.0, 3.0])
def test_biases(observed, blocks, regularization):
    there, here = Biases(regularization).fit(blocks), Biases(regularization).fit(observed)
    np.testing.assert_allclose(there.estimate_.to_dense(), here.estimate_.to_dense(), atol=1e-9)
    assert there.notes_ == here.notes_


@pytest.mark.parametrize("threshold", ["noise-edge-residual", "universal", "paper-ratings", 5.0])
def test_rules_that_need_numbers_or_products(observed, blocks, threshold):
    there, here = SVT(threshold, random_state=0).fit(blocks), SVT(threshold, random_state=0).fit(observed)
    np.testing.assert_allclose(there.threshold_, here.threshold_, rtol=1e-6)


@pytest.mark.parametrize("threshold", ["sign-flip", "cross-validated", "screenot"])
def test_rules_that_need_more_are_refused(blocks, threshold):
    with pytest.raises(
        ThresholdError, match="for observations in blocks; expected a rule that needs numbers or products"
    ):
        SVT(threshold).fit(blocks)


def test_a_budget_is_kept(blocks):
    fitted = SVT(max_lipschitz=0.5, random_state=0).fit(blocks)
    assert fitted.budget_ is not None


def test_what_needs_all_rows_is_refused(blocks):
    for estimator in (AlternatingLeastSquares(), SVT(propensities="degrees"), Biases(propensities="degrees")):
        with pytest.raises(EstimatorError, match="for PartitionedMatrix"):
            estimator.fit(blocks)
    with pytest.raises(EstimatorError, match="constants for PartitionedMatrix"):
        _ = SVT(random_state=0).fit(blocks).certificate_


def test_a_limit_below_the_state_is_told(observed, tmp_path):
    match = r"singular vectors need .* MiB with the blocks in hand, 300\.0 MiB may"
    parts = parts_of(observed, tmp_path)
    with (
        _read(parts, (-1, 1), "error", "serial", "300 MiB", None) as read,
        pytest.raises(MemoryLimitError, match=match),
    ):
        SVT().fit(read)
