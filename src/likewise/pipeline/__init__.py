"""The main job: an algorithm with and without pre-processing, against one fixed reference distance."""

from likewise.pipeline.audit import audit
from likewise.pipeline.frontier import frontier
from likewise.pipeline.frontier_result import Frontier, FrontierPoint
from likewise.pipeline.result import Arm, AuditReport, DataSummary, EstimateSummary, ReferenceSummary
from likewise.pipeline.steps import Progress, Steps

__all__ = [
    "Arm",
    "AuditReport",
    "DataSummary",
    "EstimateSummary",
    "Frontier",
    "FrontierPoint",
    "Progress",
    "ReferenceSummary",
    "Steps",
    "audit",
    "frontier",
]
