"""Numbers that callers give: what is taken, what is refused, and what the error says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from likewise.checks import (
    checked_confidence,
    checked_non_negative,
    checked_positive,
    checked_share,
    checked_whole,
)
from likewise.errors import InputError, ModelError

NO_NUMBERS = [True, np.True_, "3", None, [3], 1j, np.array([3, 4]), object()]


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_of_python_and_numpy_are_taken_as_pythons(value):
    whole = checked_whole("k", value, 3, 3)
    assert whole == 3
    assert type(whole) is int


@pytest.mark.parametrize("value", [*NO_NUMBERS, 2.0, 2.5, float("nan"), Fraction(3), 2, 6])
def test_anything_else_is_no_whole_number_from_3_to_5(value):
    with pytest.raises(InputError, match=r"^k=.*; expected a whole number from 3 to 5\.$"):
        checked_whole("k", value, 3, 5)


@pytest.mark.parametrize("value", [2, 0.5, Fraction(1, 2), np.float32(2), 5e-324])
def test_positive_numbers_become_floats(value):
    number = checked_positive("tol", value)
    assert number == value
    assert type(number) is float


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, -1, float("nan"), float("inf"), 10**400])
def test_anything_else_is_not_positive(value):
    with pytest.raises(InputError, match=r"^tol=.*; expected a finite number above 0, or None\.$"):
        checked_positive("tol", value, "None")


@pytest.mark.parametrize("value", [*NO_NUMBERS, -1e-300, float("nan"), float("inf"), 10**400])
def test_anything_else_is_not_non_negative(value):
    assert checked_non_negative("noise", 0) == 0.0
    with pytest.raises(ModelError, match=r"^noise=.*; expected a finite number >= 0\.$"):
        checked_non_negative("noise", value, error=ModelError)


@pytest.mark.parametrize("ends", [(), (0,), (1,), (0, 1)])
def test_the_ends_of_a_share_are_taken_where_they_are_allowed(ends):
    def check(value):
        return checked_share("share", value, zero=0 in ends, one=1 in ends)

    assert [check(value) for value in (1e-9, 0.5, *ends)] == [1e-9, 0.5, *ends]
    for value in {-0.1, 1.1, 0, 1} - {*ends}:
        with pytest.raises(InputError, match=rf"^share={value}; expected a number "):
            check(value)
    for value in (float("nan"), *NO_NUMBERS):
        with pytest.raises(InputError, match=r"^share="):
            check(value)


def test_only_what_may_be_certain_has_confidence_1():
    assert checked_confidence(1, certain=True) == 1.0
    with pytest.raises(InputError, match="confidence=1; expected a number between 0 and 1, both excluded"):
        checked_confidence(1)
