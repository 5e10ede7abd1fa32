"""Do similar individuals get similar outputs? Distances, pairs, ratios, error beside them, certificates."""

from likewise.fairness.accuracy import ErrorFigures, held_out_error
from likewise.fairness.activity import ActivityCheck, activity_check
from likewise.fairness.certificates import Certificate, LipschitzCertificates, Unavailable, certify
from likewise.fairness.distance import DistanceDescription, PairwiseDistance
from likewise.fairness.figures import (
    ExactFigure,
    FairnessFigures,
    Figure,
    RatioHistogram,
    SampledFigure,
    SimilarPairs,
    WorstPair,
)
from likewise.fairness.measure import measure_arms, measure_fairness
from likewise.fairness.observed_distance import ObservedDistance
from likewise.fairness.row_distance import RowDistance

__all__ = [
    "ActivityCheck",
    "Certificate",
    "DistanceDescription",
    "ErrorFigures",
    "ExactFigure",
    "FairnessFigures",
    "Figure",
    "LipschitzCertificates",
    "ObservedDistance",
    "PairwiseDistance",
    "RatioHistogram",
    "RowDistance",
    "SampledFigure",
    "SimilarPairs",
    "Unavailable",
    "WorstPair",
    "activity_check",
    "certify",
    "held_out_error",
    "measure_arms",
    "measure_fairness",
]
