"""Rules for the threshold tau, which say where noise ends: one idea a file (Section 4.1)."""

from likewise.estimation.thresholding.rules.cross_validation import CrossValidated
from likewise.estimation.thresholding.rules.noise_edges import NoiseEdge, SignFlipEdge
from likewise.estimation.thresholding.rules.optimal import OptimalHard, ScreeNOT
from likewise.estimation.thresholding.rules.paper import (
    PaperRatings,
    PaperSynthetic,
    ReleasedCode,
    Universal,
    UniversalWithVariance,
)

__all__ = [
    "CrossValidated",
    "NoiseEdge",
    "OptimalHard",
    "PaperRatings",
    "PaperSynthetic",
    "ReleasedCode",
    "ScreeNOT",
    "SignFlipEdge",
    "Universal",
    "UniversalWithVariance",
]
