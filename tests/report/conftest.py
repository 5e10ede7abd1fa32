"""Reports small enough to check by hand, and with ids that mean harm."""

from functools import cache

import numpy as np
import pytest

from likewise.errors import ConstantOutputWarning
from likewise.estimation import SVT
from likewise.fairness import ErrorMetrics, ObservedDistance, certify, explain_pair, measure_arms
from likewise.observations import ObservedMatrix
from likewise.observations.column_roles import ColumnRoles
from likewise.report.audit_report import AuditReport
from likewise.report.records import (
    Arm,
    DataSummary,
    EstimateSummary,
    FileRecord,
    Provenance,
    ReferenceSummary,
)
from likewise.report.sentences import findings

IDS = ["<script>alert(1)</script>", "[red]bob", "eve\x1b[31m", "Zoë"]
COLUMNS = ColumnRoles("ratings.csv", ("<user>",), ("item",), ("rating\x1b[31m",), left_out=("time",))
WITHOUT = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.5], [0.0, 1.0]])
WITH = np.array([[0.1, 0.0], [0.2, 0.0], [0.3, 0.3], [0.1, 0.5]])


@pytest.fixture(scope="session")
def make_report():
    """Return a function that builds an AuditReport without running an audit."""
    return build


@cache
def build(*, valid=True, arms=("without", "with"), duplicate=False, constant=False):
    values = np.array([[1.0, np.nan, 5.0], [1.0, 2.0, np.nan], [4.0, 2.0, 5.0], [np.nan, 3.0, 1.0]])
    if duplicate:
        values[1] = values[0]
    observed = ObservedMatrix(values, value_range=(1, 5), row_ids=IDS)
    fitted = SVT(threshold=0.5).fit(observed)
    outputs = {"without": WITHOUT, "with": np.zeros_like(WITH) if constant else WITH}
    errors = {"without": ErrorMetrics(3, 0.25, 1.0, 1.0, 0.75), "with": ErrorMetrics(3, 0.16, 0.64, 0.8, 0.6)}
    distance = ObservedDistance(observed, "l1")
    measured = measure({name: outputs[name] for name in arms}, distance, constant)
    told = {name: (explain_pair(outputs[name], distance, 1, 3),) for name in arms}
    built = {
        name: Arm(name, f"model on {name}", measured[name], errors[name], explained=told[name])
        for name in arms
    }
    caveats = () if valid else ("The yardstick changes between the arms.",)
    reference = ReferenceSummary(
        "observed" if valid else "estimate", "l1 on zero-filled observations", valid, caveats
    )
    return AuditReport(
        data=DataSummary(
            "[b]ratings.csv",
            4,
            3,
            9,
            0.75,
            "1 to 5",
            "symmetric",
            ("value range inferred: <1 to 5>",),
            (COLUMNS,),
        ),
        estimate=EstimateSummary(
            estimator="SVT(threshold=0.5)",
            threshold=fitted.threshold_,
            threshold_name="given",
            rank=fitted.rank_,
            singular_values=np.array([1.5, 1.0, 0.25]),
            clipped_fraction=0.125,
            completeness="proved (full decomposition)",
            regime="n = 3 against r m / p_hat = 11: n is smaller",
        ),
        reference=reference,
        certificates=certify(fitted.estimate_, observed, threshold=fitted.threshold_),
        arms=built,
        findings=findings(built, valid=reference.valid_comparison, change="with pre-processing"),
        settings={"model": "knn", "hold_out": 0.1, "norm": "l1", "random_state": 0},
        seconds={"estimate the matrix": 0.5},
        provenance=Provenance(
            "2026-01-02T03:04:05+00:00",
            {
                "likewise": "0.1.0",
                "python": "3.12.1",
                "system": "Linux",
                "libraries": {"numpy": np.__version__},
            },
            "likewise audit ratings.csv",
            (FileRecord("observations", "ratings.csv", 99, "ab" * 32),),
        ),
    )


def measure(outputs, distance, constant):
    if not constant:
        return measure_arms(outputs, distance, nearest_share=0.5)
    with pytest.warns(ConstantOutputWarning):
        return measure_arms(outputs, distance, nearest_share=0.5)
