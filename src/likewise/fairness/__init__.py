"""Do similar individuals get similar outputs? Distances, pairs, ratios, error beside them, certificates."""

from likewise.fairness.accuracy import ErrorFigures, held_out_error
from likewise.fairness.activity import ActivityCheck, activity_check
from likewise.fairness.callable_distance import CallableDistance
from likewise.fairness.certificates import (
    AffineCertificate,
    Certificate,
    ErrorBound,
    LipschitzCertificates,
    Unavailable,
    certify,
    certify_on_truth,
    compose,
    model_constant,
)
from likewise.fairness.co_observed_distance import CoObservedDistance
from likewise.fairness.comparison import Comparison, MeasuredArm, compare
from likewise.fairness.consistency import consistency
from likewise.fairness.distance import DistanceDescription, PairwiseDistance
from likewise.fairness.epsilon_delta import EpsilonDeltaCurve
from likewise.fairness.factor_distance import FactorDistance
from likewise.fairness.feature_distances import feature_distance, mahalanobis_distance, projected_distance
from likewise.fairness.figure import AnyFigure, BracketedFigure, ExactFigure, Figure, SampledFigure
from likewise.fairness.figures import FairnessFigures
from likewise.fairness.findings import findings
from likewise.fairness.gower_distance import GowerDistance
from likewise.fairness.groups import GroupFigures, GroupSplit
from likewise.fairness.histogram import RatioHistogram
from likewise.fairness.measure import measure_arms, measure_fairness
from likewise.fairness.neighbors import NeighborFigures, nearest_neighbors
from likewise.fairness.observed_distance import ObservedDistance
from likewise.fairness.output_distances import (
    rank_biased_distance,
    top_items,
    top_n_distance,
    total_variation_distance,
)
from likewise.fairness.paired import PairedDifferences, PairedFigures, paired_differences
from likewise.fairness.precomputed_distance import PrecomputedDistance
from likewise.fairness.row_distance import RowDistance
from likewise.fairness.sampled import SampledFairness, measure_sampled
from likewise.fairness.search.explanation import (
    Contribution,
    DistanceExplanation,
    PairExplanation,
    explain_pair,
)
from likewise.fairness.search.worst_pairs import WorstPairs, worst_pairs
from likewise.fairness.similar import SimilarPairs
from likewise.fairness.verdict import Verdict, judge_certificate, judge_maximum, judge_rate, strongest_verdict
from likewise.fairness.violations import Violations
from likewise.fairness.worst import WorstPair

__all__ = [
    "ActivityCheck",
    "AffineCertificate",
    "AnyFigure",
    "BracketedFigure",
    "CallableDistance",
    "Certificate",
    "CoObservedDistance",
    "Comparison",
    "Contribution",
    "DistanceDescription",
    "DistanceExplanation",
    "EpsilonDeltaCurve",
    "ErrorBound",
    "ErrorFigures",
    "ExactFigure",
    "FactorDistance",
    "FairnessFigures",
    "Figure",
    "GowerDistance",
    "GroupFigures",
    "GroupSplit",
    "LipschitzCertificates",
    "MeasuredArm",
    "NeighborFigures",
    "ObservedDistance",
    "PairExplanation",
    "PairedDifferences",
    "PairedFigures",
    "PairwiseDistance",
    "PrecomputedDistance",
    "RatioHistogram",
    "RowDistance",
    "SampledFairness",
    "SampledFigure",
    "SimilarPairs",
    "Unavailable",
    "Verdict",
    "Violations",
    "WorstPair",
    "WorstPairs",
    "activity_check",
    "certify",
    "certify_on_truth",
    "compare",
    "compose",
    "consistency",
    "explain_pair",
    "feature_distance",
    "findings",
    "held_out_error",
    "judge_certificate",
    "judge_maximum",
    "judge_rate",
    "mahalanobis_distance",
    "measure_arms",
    "measure_fairness",
    "measure_sampled",
    "model_constant",
    "nearest_neighbors",
    "paired_differences",
    "projected_distance",
    "rank_biased_distance",
    "strongest_verdict",
    "top_items",
    "top_n_distance",
    "total_variation_distance",
    "worst_pairs",
]
