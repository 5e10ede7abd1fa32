"""The main job: an algorithm with and without pre-processing, against one fixed reference distance."""

from likewise.pipeline.audit import audit
from likewise.pipeline.frontier import frontier
from likewise.progress import StepProgress, Steps
from likewise.report.audit_report import AuditReport
from likewise.report.frontier import Frontier, FrontierPoint
from likewise.report.records import Arm, DataSummary, EstimateSummary, ReferenceSummary

__all__ = [
    "Arm",
    "AuditReport",
    "DataSummary",
    "EstimateSummary",
    "Frontier",
    "FrontierPoint",
    "ReferenceSummary",
    "StepProgress",
    "Steps",
    "audit",
    "frontier",
]
