"""Checks: how they are read, and that an interval holds or breaks a limit only as a whole."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise
from likewise.errors import InputError
from likewise.fairness import RowDistance
from likewise.report.checks import NUMBERS, Check, with_checks

PEOPLE = RowDistance(np.arange(8.0))


@pytest.fixture(scope="module")
def report():
    return likewise.audit(PEOPLE, outputs=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0])


def test_by_hand(report):
    """Ratios are 1 but for pairs with the last: its nearest other is at d = 1 and D = 3."""
    found = with_checks(
        report, ["largest-ratio<=2.9", "largest-ratio<=3:warning", "largest_ratio >= 3.1", "rmse<=1"]
    ).checks
    assert [result.status for result in found] == ["broken", "holds", "broken", "not measured"]
    assert [result.severity for result in found] == ["error", "warning", "error", "error"]
    assert str(found[0]) == "largest-ratio<=2.9: broken (error), 3"
    assert found[0].value == 3


def test_every_number_can_be_asked_for(report):
    found = with_checks(report, [f"{name}<=1e9" for name in NUMBERS]).checks
    assert {result.status for result in found} <= {"holds", "not measured"}
    assert sum(result.status == "holds" for result in found) >= 5


@given(
    limit=st.floats(-2, 2), low=st.floats(0, 1), width=st.floats(0, 1), relation=st.sampled_from(["<=", ">="])
)
def test_as_defined(report, limit, low, width, relation):
    high = low + width
    NUMBERS["made-up"] = lambda _: (low, low, high)
    try:
        status = Check("made-up", relation, limit).judge(report).status
    finally:
        del NUMBERS["made-up"]
    points = np.array([low, high])
    kept = points <= limit if relation == "<=" else points >= limit
    assert status == {2: "holds", 1: "cannot be told", 0: "broken"}[int(kept.sum())]


@pytest.mark.slow
def test_a_report_shows_them_everywhere(report, tmp_path):
    checked = with_checks(report, ["gap<=0.0001", "largest-ratio<=5"])
    assert "largest-ratio<=5: holds, 3" in str(checked)
    assert (
        "largest-ratio&lt;=5: holds, 3" in checked._repr_html_() or "largest-ratio" in checked._repr_html_()
    )
    assert [check["status"] for check in checked.to_dict()["checks"]] == [
        checked.checks[0].status,
        "holds",
    ]
    checked.save(tmp_path)
    assert likewise.load(tmp_path).checks == checked.checks
    assert replace(checked, checks=()).to_json() == report.to_json()


@pytest.mark.parametrize(
    "text", ["gap", "gap=1", "gap<=", "gap<=x", "gap<=inf", "gap<=nan", "gap<=1:fatal", "", "gab<=1"]
)
def test_what_is_no_check(text):
    with pytest.raises(InputError):
        Check.read(text)


def test_a_slip_is_guessed():
    with pytest.raises(InputError, match="did you mean gap"):
        Check.read("gab<=1")
