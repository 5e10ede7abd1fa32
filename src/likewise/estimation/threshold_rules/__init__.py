"""Rules for the threshold tau, which say where noise ends: one idea a file (Section 4.1)."""

from likewise.estimation.threshold_rules.cross_validation import CrossValidated
from likewise.estimation.threshold_rules.noise_edge import NoiseEdge
from likewise.estimation.threshold_rules.optimal_hard import OptimalHard
from likewise.estimation.threshold_rules.paper import (
    PaperRatings,
    PaperSynthetic,
    ReleasedCode,
    Universal,
    UniversalWithVariance,
)
from likewise.estimation.threshold_rules.screenot import ScreeNOT
from likewise.estimation.threshold_rules.sign_flips import SignFlipEdge

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
