"""Certificates of fits on blocks: what is proved in memory, of the same estimate and the same data, on every engine."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from likewise import SVT
from likewise.certificates import Certificate, RegressionCertificate, Unavailable, certify
from likewise.certificates.row_map import RowMap
from likewise.engines import engine_of
from likewise.engines.local import Serial
from likewise.errors import FileFormatError
from likewise.estimation import AlternatingLeastSquares, Auto, Biases, LowRankEstimate, SoftImpute
from likewise.estimation.base.folding import LinearFolding
from likewise.observations import ObservedMatrix, clustered


@pytest.fixture(scope="module")
def observed():
    return clustered(150, 60, 3, observed_fraction=0.4, random_state=0).observed


@pytest.fixture(scope="module")
def blocks(observed, tmp_path_factory, in_blocks):
    return in_blocks(observed, tmp_path_factory.mktemp("blocks"), 4)


PROVED = {
    "svt": SVT(random_state=0),
    "svt, rows": SVT(centering="row", random_state=0),
    "svt, biases": SVT("noise-edge", centering="biases", random_state=0),
    "unit": SVT(working_range="unit", random_state=0),
    "biases": Biases(),
    "soft-impute": SoftImpute(5.0, random_state=0),
    "als": AlternatingLeastSquares(4, random_state=0),
    "als, lambda": AlternatingLeastSquares(4, regularization=0.3, random_state=0),
    "auto": Auto(time_budget=0.05, random_state=0),
}


def without_departure(constants):
    """All that is proved but what stored rows depart from their fold-in, as plain values."""
    records = constants.to_dict()
    records["seen"] = {key: part for key, part in records["seen"].items() if key not in ("offset", "text")}
    return records


def numbers_of(record):
    if isinstance(record, dict):
        return [number for part in record.values() for number in numbers_of(part)]
    return [record] if isinstance(record, float) else []


def words_of(record):
    if isinstance(record, dict):
        return {key: words_of(part) for key, part in record.items()}
    return None if isinstance(record, float) else record


@pytest.mark.slow
@pytest.mark.parametrize("estimator", PROVED.values(), ids=PROVED)
def test_what_is_proved_is_what_is_proved_in_memory(observed, blocks, estimator):
    """Of the same estimate and the same data. Rows of the fit depart from their fold-in by no more, as each block is bounded by itself."""
    fitted = clone(estimator).fit(blocks)
    there = fitted.certificate_
    here = certify(fitted.estimate_, observed, threshold=fitted.threshold_)
    one, other = without_departure(there), without_departure(here)
    assert words_of(one) == words_of(other)
    np.testing.assert_allclose(numbers_of(one), numbers_of(other), rtol=1e-12)
    statements = [*there, there.regression]
    assert any(isinstance(each, Certificate | RegressionCertificate) for each in statements)
    if isinstance(there.seen, Unavailable):
        return
    stored = fitted.estimate_
    rows, offsets = stored.folding.fold(observed.scaled(fitted.working_range).values, stored)
    refolded = rows @ stored.right.T + (0 if offsets is None else offsets[:, None])
    kept = (stored.left * stored.shrunk_values) @ stored.right.T
    kept += 0 if stored.row_offsets is None else stored.row_offsets[:, None]
    departed = np.linalg.norm(kept - refolded, axis=1).max()
    assert 2 * departed <= there.seen.offset <= here.seen.offset * (1 + 1e-12)


def test_what_is_proved_of_two_blocks_by_hand(tmp_path, in_blocks):
    """Columns of length 1 + 0.5 and 2, the second over both blocks; half of each value is folded in, so the row constant is 1/2.

    The rows (1, 1), (0, -1) and (-0.5, 0) are right but for one entry of U, which is off by 0.25: sigma 2 gains 1/2 make 0.25.
    """
    z = np.array([[1.0, 1.0], [np.nan, -1.0], [-0.5, np.nan]])
    observed = ObservedMatrix(z, value_range=(-1, 1))
    read = in_blocks(observed, tmp_path, [0, 1, 3])
    sigma, right = np.array([2.0, 2.0]), np.eye(2)
    left = np.nan_to_num(z) / sigma
    left[2, 1] += 0.25
    factors = left, sigma / 2, right
    estimate = LowRankEstimate.from_factors(
        observed, "symmetric", factors, LinearFolding(), singular_values=sigma
    )
    found = certify(estimate, read)
    assert found.k_star.value == pytest.approx(0.5, rel=1e-12)
    assert RowMap(estimate, read).largest_column == 2.0
    assert found.seen.offset == pytest.approx(2 * 0.25, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["threads", *(pytest.param(e, marks=pytest.mark.slow) for e in ("processes", "dask", "ray"))]
)
def test_every_engine_proves_the_same(observed, tmp_path, engine, in_blocks):
    if engine in ("dask", "ray"):
        pytest.importorskip("distributed" if engine == "dask" else "ray")
    found = []
    with engine_of(engine) as running:
        for each in (Serial(), running):
            read = in_blocks(observed, tmp_path, 4, each)
            fits = SVT(random_state=0).fit(read), SoftImpute(5.0, random_state=0).fit(read)
            found.append([fitted.certificate_.to_dict() for fitted in fits])
    assert found[0] == found[1]


def test_what_is_proved_is_asked_while_the_blocks_are_there(blocks, tmp_path):
    with blocks.without_rows([0]) as others:
        fitted = Biases().fit(others)
    with pytest.raises(FileFormatError, match=r"is gone .* removes it: ask inside"):
        _ = fitted.certificate_
