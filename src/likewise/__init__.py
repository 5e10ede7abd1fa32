"""Individual fairness on sparse, noisy data: estimate, measure, certify.

The names below are loaded on first use, so that ``import likewise`` stays fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise.certificates import certify
    from likewise.estimation import SVT, LowRankEstimate, entry_intervals, make_estimator, svt
    from likewise.fairness import measure_fairness
    from likewise.fairness.repair import repair
    from likewise.inference import DenseNetRecommender, KNNRecommender
    from likewise.observations import ObservedMatrix, hold_out, read_partitioned, read_ratings
    from likewise.pipeline import AuditReport
    from likewise.pipeline.audit import audit
    from likewise.pipeline.compare import compare
    from likewise.pipeline.frontier import frontier
    from likewise.pipeline.partitioned import audit_partitioned
    from likewise.pipeline.saving import load, save
    from likewise.spectrum import singular_triplets

__version__ = "0.1.0"

_ROOM_OF_NAME = {
    "AuditReport": "pipeline",
    "DenseNetRecommender": "inference",
    "KNNRecommender": "inference",
    "LowRankEstimate": "estimation",
    "ObservedMatrix": "observations",
    "SVT": "estimation",
    "audit": "pipeline",
    "audit_partitioned": "pipeline",
    "certify": "certificates",
    "compare": "pipeline",
    "entry_intervals": "estimation",
    "frontier": "pipeline",
    "hold_out": "observations",
    "load": "pipeline",
    "make_estimator": "estimation",
    "measure_fairness": "fairness",
    "read_partitioned": "observations",
    "read_ratings": "observations",
    "repair": "fairness",
    "save": "pipeline",
    "singular_triplets": "spectrum",
    "svt": "estimation",
}

__all__ = [
    "SVT",
    "AuditReport",
    "DenseNetRecommender",
    "KNNRecommender",
    "LowRankEstimate",
    "ObservedMatrix",
    "audit",
    "audit_partitioned",
    "certify",
    "compare",
    "entry_intervals",
    "frontier",
    "hold_out",
    "load",
    "make_estimator",
    "measure_fairness",
    "read_partitioned",
    "read_ratings",
    "repair",
    "save",
    "singular_triplets",
    "svt",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its room (PEP 562)."""
    if name not in _ROOM_OF_NAME:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    room = importlib.import_module(f"likewise.{_ROOM_OF_NAME[name]}")
    value = getattr(room, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
