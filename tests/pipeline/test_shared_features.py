"""How many features two individuals must share to be compared: asked for, or half of what two share on average."""

import numpy as np
import polars as pl
import pytest

import likewise
from likewise.errors import InputError
from likewise.fairness import GowerDistance

_FEATURES = "abcdef"


def applicants():
    """Return twelve people of six features; of the last two hardly one is known, in which they are equal."""
    table = np.arange(12.0)[:, None] * np.arange(1.0, 7.0)
    table[10:, 1:], table[10:, 0] = np.nan, 3.0
    table[0, 2] = np.nan
    return pl.DataFrame(table, schema=list(_FEATURES)).fill_nan(None)


OUTPUTS = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 5.0]


def test_gower_by_name_asks_for_half_of_what_two_share_on_average():
    report = likewise.audit(applicants(), outputs=OUTPUTS, reference="gower")
    fairness = report.arms["outputs"].fairness
    # 45 pairs of ten people share 6 features, 9 of them 5; 21 pairs with the last two share 1: (36 * 6 + 9 * 5 + 21) / 66 = 4.3, half is 2.1.
    assert (fairness.n_undefined, fairness.n_pairs) == (21, 45)
    assert "share fewer than 3" in report.reference.description
    assert not {pair.left for pair in fairness.worst} & {10, 11}
    assert not {pair.right for pair in fairness.worst} & {10, 11}


def test_how_many_features_two_must_share_is_asked_for():
    by_name = likewise.audit(applicants(), outputs=OUTPUTS, reference="gower", least_shared=1)
    worst = by_name.arms["outputs"].fairness.worst[0]
    assert (worst.left, worst.right, worst.reference_distance) == (
        3,
        11,
        0,
    )  # both have 3 in `a`, and no other
    assert by_name.settings["least_shared"] == 1
    given = likewise.audit(GowerDistance(applicants()), outputs=OUTPUTS, least_shared=6)
    assert given.arms["outputs"].fairness.n_undefined == 21 + 9
    beside = likewise.audit(
        likewise.ObservedMatrix(applicants().drop_nulls(), value_range=(0, 99)),
        outputs=OUTPUTS[1:10],
        reference=GowerDistance(applicants()[1:10]),
        least_shared=2,
    )
    assert beside.arms["outputs"].fairness.n_undefined == 0


def test_a_number_that_nothing_is_counted_by_is_refused():
    with pytest.raises(InputError, match="least_shared"):
        likewise.audit(applicants(), outputs=OUTPUTS, reference="observed", least_shared=2)
    with pytest.raises(InputError, match=r"least_shared=7.*from 1 to 6"):
        likewise.audit(applicants(), outputs=OUTPUTS, reference="gower", least_shared=7)
