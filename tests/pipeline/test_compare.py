"""`compare` against its arms measured one by one, by hand, and in simulation."""

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.fairness import ErrorMetrics, RowDistance, measure_fairness
from likewise.pipeline import AuditReport, audit, compare


@pytest.fixture
def people():
    return np.random.default_rng(3).standard_normal((60, 3))


def test_hand_computed_three_people():
    """l1 between (0,0), (0,1), (2,0) is 1, 2, 3; scores 0, 1, 3 then 0, .5, 1."""
    reference = RowDistance([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0]], "l1")
    found = compare({"old": [0.0, 1.0, 3.0], "new": [0.0, 0.5, 1.0]}, reference, population=None)
    # ratios 1, 1.5, 2/3 before and .5, .5, 1/6 after; means over 9 ordered pairs, i = j included
    assert found.differences["mean_ratio"].value == pytest.approx(
        2 * ((0.5 + 0.5 + 1 / 6) - (1 + 1.5 + 2 / 3)) / 9
    )
    assert found.differences["max_ratio"].value == pytest.approx(0.5 - 1.5)
    assert found.differences["mean_output_distance"].value == pytest.approx(
        (0.5 + 1 + 0.5) / 3 - (1 + 3 + 2) / 3
    )


def test_equals_the_arms_measured_one_by_one(people):
    reference = RowDistance(people)
    outputs = {"without": people @ [1.0, 2.0, 0.0], "with": people @ [0.5, 0.1, 0.3]}
    found = compare(outputs, reference, nearest_share=0.2, lipschitz=1.0, random_state=0)
    for name, values in outputs.items():
        alone = measure_fairness(values, reference, nearest_share=0.2, lipschitz=1.0)
        assert found.arms[name].fairness.max_ratio == alone.max_ratio
        assert found.arms[name].fairness.similar.mean_ratio == alone.similar.mean_ratio
    assert set(found.to_frame()["metric"]) == set(found.differences)
    assert found.to_dict()["reference"]["valid_comparison"] is True


def test_mixed_references_are_refused_unless_named(people):
    outputs = {"without": people[:, 0], "with": people[:, 1]}
    references = {"without": RowDistance(people), "with": RowDistance(people / 10)}
    with pytest.raises(InputError, match="mixed_references=True"):
        compare(outputs, references)
    found = compare(outputs, references, mixed_references=True)
    assert not found.reference.valid_comparison
    assert found.paired is None
    assert found.differences == {}
    assert "not a valid before/after comparison" in found.findings[0]
    same = compare(outputs, dict.fromkeys(outputs, references["with"]), random_state=0)
    assert same.reference.valid_comparison


def test_error_and_spread_stand_beside(people):
    errors = {"without": ErrorMetrics(9, 0.1, 1.0, 1.0, 0.8), "with": ErrorMetrics(9, 0.1, 4.0, 2.0, 1.5)}
    found = compare(
        {"without": people, "with": people / 2}, RowDistance(people), errors=errors, random_state=0
    )
    assert any("rises: RMSE goes from 1 to 2 (+100%)" in sentence for sentence in found.findings)
    assert "output_spread" in found.differences
    assert [row.split() for row in str(found).splitlines() if "RMSE)" in row] == [
        ["error", "(RMSE)", "1", "2", "+100%"]
    ]


@pytest.mark.parametrize("n", [1, 3])
def test_only_two_arms_can_be_compared(people, n):
    with pytest.raises(InputError, match="two sets of outputs"):
        compare({str(k): people for k in range(n)}, RowDistance(people))


def test_it_is_an_audit_of_outputs_alone(people):
    """The same arms, whichever verb is used; only the population that paired intervals speak of differs."""
    outputs = {"old": people[:, 0], "new": people[:, 1]}
    compared = compare(outputs, RowDistance(people), random_state=0)
    audited = audit(RowDistance(people), outputs=outputs, random_state=0)
    assert isinstance(compared, AuditReport)
    assert list(compared.arms) == ["old", "new"]
    for name in outputs:
        assert compared.arms[name].fairness.to_dict() == audited.arms[name].fairness.to_dict()
    assert "population" in compared.paired.population
    assert audited.paired.population == "all pairs of this data set"


def test_intervals_can_be_left_out(people):
    assert compare({"old": people, "new": people}, RowDistance(people), population=None).paired is None


@pytest.mark.slow
def test_two_sets_of_any_name_are_drawn_saved_and_explained(people, tmp_path):
    found = compare({"$old$": people[:, 0], "<new>": people[:, 1]}, RowDistance(people), random_state=0)
    page = found.save(tmp_path / "report").read_text(encoding="utf-8")
    assert "&lt;new&gt;" in page
    assert "<new>" not in page
    assert len(found.arms["<new>"].explained) == 10
