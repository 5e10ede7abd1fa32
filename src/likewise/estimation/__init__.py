"""Z -> A_hat: thresholds, shrinkers, singular value thresholding, and the estimate as factors."""

from likewise.estimation.low_rank_estimate import LowRankEstimate
from likewise.estimation.shrinkers import SHRINKERS, resolve_shrinker, shrink
from likewise.estimation.svt_transformer import SVT
from likewise.estimation.thresholding import svt
from likewise.estimation.thresholds import (
    THRESHOLDS,
    NoiseEdge,
    ObservationStatistics,
    PaperRatings,
    PaperSynthetic,
    ReleasedCode,
    Universal,
    UniversalWithVariance,
    resolve_threshold,
    threshold_name,
)

__all__ = [
    "SHRINKERS",
    "SVT",
    "THRESHOLDS",
    "LowRankEstimate",
    "NoiseEdge",
    "ObservationStatistics",
    "PaperRatings",
    "PaperSynthetic",
    "ReleasedCode",
    "Universal",
    "UniversalWithVariance",
    "resolve_shrinker",
    "resolve_threshold",
    "shrink",
    "svt",
    "threshold_name",
]
