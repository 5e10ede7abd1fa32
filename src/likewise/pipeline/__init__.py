"""The main job: an algorithm with and without pre-processing, against one fixed reference distance."""

from likewise.pipeline.result import Arm, AuditReport, DataSummary, EstimateSummary, ReferenceSummary

__all__ = ["Arm", "AuditReport", "DataSummary", "EstimateSummary", "ReferenceSummary"]
