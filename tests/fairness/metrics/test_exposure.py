"""Exposure of items: by hand, against a naive reference, and what has no share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DistanceError, InputError
from likewise.fairness import exposure
from likewise.fairness.metrics.exposure import gini

SEEDS = st.integers(0, 2**32 - 1)


def test_by_hand():
    """Item a is first on both lists, b and c are second on one each, d is on none: 2, w, w, 0 of 2 + 2 w."""
    w = 1 / np.log2(3)
    found = exposure(
        [["a", "b"], ["a", "c"]],
        items=["d", "a", "b", "c"],
        item_groups={"a": "x", "b": "y", "c": "y", "d": None},
    )
    total = 2 + 2 * w
    assert found.largest == (
        ("a", pytest.approx(2 / total)),
        ("b", pytest.approx(w / total)),
        ("c", pytest.approx(w / total)),
    )
    assert found.gini == pytest.approx((-3 * 0 - w + w + 3 * 2) / (4 * total))
    assert (found.n_items, found.n_shown, found.tenth) == (4, 3, pytest.approx(2 / total))
    first, second = found.groups
    assert (first.group, first.n_items, first.share_of_items, first.share) == (
        "x",
        1,
        0.25,
        pytest.approx(2 / total),
    )
    assert (second.group, second.n_items, second.share_of_items, second.share) == (
        "y",
        2,
        0.5,
        pytest.approx(2 * w / total),
    )


@given(SEEDS)
def test_it_is_the_naive_sum_over_lists(seed):
    rng = np.random.default_rng(seed)
    lists = np.array([rng.permutation(12)[:4] for _ in range(9)])
    groups = rng.integers(0, 3, 12)
    amounts = np.zeros(12)
    for listed in lists:
        for rank, item in enumerate(listed, start=1):
            amounts[item] += 1 / np.log2(rank + 1)
    shares = amounts / amounts.sum()
    found = exposure(lists, items=np.arange(12), item_groups=groups)
    assert found.n_shown == np.unique(lists).size
    assert found.gini == pytest.approx(np.abs(shares[:, None] - shares).mean() / (2 * shares.mean()))
    assert {one.group: one.share for one in found.groups} == pytest.approx(
        {group: shares[groups == group].sum() for group in np.unique(groups).tolist()}
    )
    order = rng.permutation(9)
    assert exposure(lists[order], items=np.arange(12)).gini == pytest.approx(found.gini)


def test_the_ends_of_gini():
    assert gini(np.full(5, 0.2)) == pytest.approx(0)
    assert gini(np.eye(1, 100)[0]) == pytest.approx(0.99)


def test_items_are_those_listed_unless_all_are_named():
    assert exposure([["a"], ["b"]]).n_items == 2
    with pytest.raises(InputError, match="1 listed items that are none of the 1 items, such as 'b'"):
        exposure([["a"], ["b"]], items=["a"])
    with pytest.raises(InputError, match="3 groups for 2 items"):
        exposure([["a"], ["b"]], item_groups=[1, 2, 3])
    with pytest.raises(DistanceError, match="an item twice"):
        exposure([["a", "a"], ["b", "c"]])
