"""The largest ratios: the same as by sorting all of them, ties and infinities included."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likewise._kernels import largest_places
from likewise.fairness.metrics.worst_pairs import TopPairs

FEW = st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf])


@given(st.lists(st.tuples(FEW, FEW), max_size=40), st.integers(0, 45))
def test_largest_as_by_sorting(pairs, count):
    ratios, output = np.array(pairs).reshape(-1, 2).T
    expected = sorted(range(len(pairs)), key=lambda k: (-ratios[k], -output[k], k))[:count]
    assert largest_places(ratios, output, count).tolist() == expected


@given(
    st.lists(st.tuples(FEW, FEW, st.integers(0, 9), st.integers(10, 19)), max_size=40),
    st.integers(0, 12),
    st.integers(1, 9),
)
def test_largest_of_several_offers(pairs, count, step):
    top = TopPairs(count)
    for k in range(0, len(pairs), step):
        ratio, output, left, right = np.array(pairs[k : k + step]).T
        top.offer({"ratio": ratio, "output": output, "reference": ratio, "left": left, "right": right})
    expected = sorted(pairs, key=lambda pair: (-pair[0], -pair[1], pair[2], pair[3]))[:count]
    names = ("ratio", "output", "left", "right")
    assert list(zip(*(top.columns[name].tolist() for name in names), strict=True)) == expected
    assert top.floor == (expected[-1][:2] if count and len(expected) == count else (-np.inf, -np.inf))
