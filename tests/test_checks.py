"""Numbers that callers give: what is taken, what is refused, and what the error says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from likewise.checks import (
    checked_confidence,
    checked_finite,
    checked_non_negative,
    checked_positive,
    checked_share,
    checked_text,
    checked_whole,
    is_finite,
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


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int8, int, Fraction])
@pytest.mark.filterwarnings("error")
def test_numbers_of_every_type_are_held_against_the_limits_without_a_warning(kind):
    assert checked_positive("tol", kind(3)) == checked_non_negative("tol", kind(3)) == 3.0
    assert checked_finite("factor", kind(-3)) == -3.0
    with pytest.raises(InputError, match=r"^tol="):
        checked_positive("tol", kind(-3))


@pytest.mark.parametrize("value", [*NO_NUMBERS, float("nan"), np.float32("inf"), 10**400, -(10**400)])
def test_anything_else_is_not_finite(value):
    assert not is_finite(value)
    with pytest.raises(InputError, match=r"^factor=.*; expected a finite number\.$"):
        checked_finite("factor", value)


@pytest.mark.parametrize("value", ["", 3, None, b"name", np.array(["a", "b"])])
def test_what_is_no_text_is_no_name(value):
    assert checked_text("name", "K1") == "K1"
    with pytest.raises(InputError, match=r"^name=.*; expected text\.$"):
        checked_text("name", value)
