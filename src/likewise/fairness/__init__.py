"""Do similar individuals get similar outputs? Distances, pairs, ratios, error beside them, certificates."""

from likewise.fairness.accuracy import ErrorFigures, held_out_error
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
    "DistanceDescription",
    "ErrorFigures",
    "ExactFigure",
    "FairnessFigures",
    "Figure",
    "ObservedDistance",
    "PairwiseDistance",
    "RatioHistogram",
    "RowDistance",
    "SampledFigure",
    "SimilarPairs",
    "WorstPair",
    "held_out_error",
    "measure_arms",
    "measure_fairness",
]
