"""The verbs: an algorithm with and without pre-processing against one fixed reference distance, two sets of outputs, the frontier."""

from likewise.pipeline.audit import audit
from likewise.pipeline.compare import compare
from likewise.pipeline.frontier import frontier
from likewise.pipeline.partitioned import audit_partitioned
from likewise.pipeline.saving import load, save
from likewise.pipeline.worst_within import WorstWithinBlocks, worst_within_blocks
from likewise.progress import StepProgress, Steps
from likewise.report.audit_report import AuditReport
from likewise.report.frontier import Frontier
from likewise.report.frontier_points import FrontierPoint
from likewise.report.records import (
    Arm,
    AuditRecord,
    DataSummary,
    EstimateSummary,
    Provenance,
    ReferenceSummary,
)

__all__ = [
    "Arm",
    "AuditRecord",
    "AuditReport",
    "DataSummary",
    "EstimateSummary",
    "Frontier",
    "FrontierPoint",
    "Provenance",
    "ReferenceSummary",
    "StepProgress",
    "Steps",
    "WorstWithinBlocks",
    "audit",
    "audit_partitioned",
    "compare",
    "frontier",
    "load",
    "save",
    "worst_within_blocks",
]
