"""Arrays of whatever callers hold."""

from __future__ import annotations

import decimal

import numpy as np
import pytest
from scipy import sparse

from likewise import memory
from likewise.arrays import as_array, as_floats, as_reals
from likewise.errors import MemoryLimitError, ModelError


class Tensor:
    """What a tensor of PyTorch does: NumPy has it only once it is detached and on the CPU."""

    def __init__(self, values, *, ready=False):
        self.values, self.ready = values, ready

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.values, ready=True)

    def __array__(self, *_, **__):
        if not self.ready:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.asarray(self.values)


@pytest.mark.parametrize(
    "held",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], dtype=np.uint8),
        np.array([[1, 2], [3, 4]], dtype=object),
        sparse.csr_array([[1, 2], [3, 4]]),
        Tensor([[1, 2], [3, 4]]),
        [[decimal.Decimal(1), 2], [3, 4]],
    ],
)
def test_numbers_are_taken_from_whatever_holds_them(held):
    numbers = as_reals(held)
    assert numbers.dtype == np.float64
    assert numbers.tolist() == [[1, 2], [3, 4]]


def test_single_precision_stays_unless_double_is_asked_for():
    single = np.ones(2, dtype=np.float32)
    assert as_reals(single) is single
    assert as_floats(single).dtype == np.float64


def test_what_is_masked_or_none_is_nan():
    for held in (np.ma.array([1.0, 2.0], mask=[0, 1]), [1.0, None], np.array([1, None], dtype=object)):
        np.testing.assert_array_equal(as_reals(held), [1.0, np.nan])


@pytest.mark.parametrize(
    "held",
    [
        ["1", "2"],
        [1j, 2],
        np.array([1j, 2], dtype=object),
        np.array(["2024-01-01"], dtype="M8[D]"),
        np.zeros(2, dtype=[("a", float)]),
        [object()],
        [{}],
        [10**400],
        [[1.0], [1.0, 2.0]],
    ],
)
def test_what_is_no_number_is_told(held):
    with pytest.raises(ModelError, match=r"^scores that are no"):
        as_reals(held, "scores", ModelError)


def test_zeros_that_would_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**20)
    with pytest.raises(MemoryLimitError, match="a dense 1,000,000 x 1,000 matrix"):
        as_array(sparse.csr_array((10**6, 1000)))
