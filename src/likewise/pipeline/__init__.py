"""The main job: an algorithm with and without pre-processing, against one fixed reference distance."""

from likewise.pipeline.audit import audit
from likewise.pipeline.result import Arm, AuditReport, DataSummary, EstimateSummary, ReferenceSummary
from likewise.pipeline.steps import Progress, Steps

__all__ = [
    "Arm",
    "AuditReport",
    "DataSummary",
    "EstimateSummary",
    "Progress",
    "ReferenceSummary",
    "Steps",
    "audit",
]
