"""Do similar individuals get similar outputs? Distances, pairs, ratios, error beside them, certificates."""

from likewise.certificates import (
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
from likewise.fairness.completions import CompletionVerdict, UndecidedPair, judge_completions
from likewise.fairness.distances.activity import ActivityCheck, activity_check
from likewise.fairness.distances.completion_distance import CompletionDistance
from likewise.fairness.distances.custom import CallableDistance, PrecomputedDistance
from likewise.fairness.distances.distance import DistanceDescription, PairwiseDistance
from likewise.fairness.distances.features import feature_distance, mahalanobis_distance, projected_distance
from likewise.fairness.distances.gower import GowerDistance
from likewise.fairness.distances.lists import rank_biased_distance, top_items, top_n_distance
from likewise.fairness.distances.named_outputs import OUTPUT_DISTANCES, named_output_distance
from likewise.fairness.distances.observed import CoObservedDistance, ObservedDistance
from likewise.fairness.distances.outputs import (
    hellinger_distance,
    total_variation_distance,
    wasserstein_distance,
)
from likewise.fairness.distances.pattern import PatternDistance
from likewise.fairness.distances.recommenders import recommender_distance
from likewise.fairness.distances.registry import DISTANCES, distance_by_name, register_distance
from likewise.fairness.distances.rows import FactorDistance, RowDistance
from likewise.fairness.exact.measure import measure_arms, measure_fairness
from likewise.fairness.explanation import (
    Contribution,
    DistanceExplanation,
    PairExplanation,
    explain_pair,
)
from likewise.fairness.held_out import (
    HeldOutChange,
    HeldOutFairness,
    HeldOutMetrics,
)
from likewise.fairness.learned import LearnedDistance, judge_learned, learn_distance, violating_share
from likewise.fairness.metrics.accuracy import ErrorMetrics, held_out_error
from likewise.fairness.metrics.curves import EpsilonDeltaCurve, RatioHistogram
from likewise.fairness.metrics.envy import EnviousPair, Envy, envy
from likewise.fairness.metrics.exposure import Exposure, GroupExposure, exposure
from likewise.fairness.metrics.fairness_metrics import FairnessMetrics
from likewise.fairness.metrics.group_effect import GroupEffect, GroupEffects, group_effects
from likewise.fairness.metrics.groups import GroupMetrics, GroupSplit
from likewise.fairness.metrics.metric_value import (
    AnyMetricValue,
    BracketedValue,
    ExactValue,
    MetricValue,
    SampledValue,
)
from likewise.fairness.metrics.pair_metrics import register_pair_metric
from likewise.fairness.metrics.paired import PairedDifferences, PairedMetrics, paired_differences
from likewise.fairness.metrics.ranking import ranking_accuracy
from likewise.fairness.metrics.similar import NeighborMetrics, SimilarPairs, consistency, nearest_neighbors
from likewise.fairness.metrics.target_accuracy import TargetAccuracy, TargetValue, target_accuracy
from likewise.fairness.metrics.violations import Violations
from likewise.fairness.metrics.worst_pairs import WorstPair
from likewise.fairness.repair import Repair, repair
from likewise.fairness.sampled.measure import SampledFairness, measure_sampled
from likewise.fairness.search.unseen_rows import UnseenRows, search_unseen_rows
from likewise.fairness.search.worst_pairs import WorstPairs, worst_pairs
from likewise.fairness.verdicts import Verdict, judge_certificate, judge_rate, strongest_verdict, verdict

__all__ = [
    "DISTANCES",
    "OUTPUT_DISTANCES",
    "ActivityCheck",
    "AffineCertificate",
    "AnyMetricValue",
    "BracketedValue",
    "CallableDistance",
    "Certificate",
    "CoObservedDistance",
    "CompletionDistance",
    "CompletionVerdict",
    "Contribution",
    "DistanceDescription",
    "DistanceExplanation",
    "EnviousPair",
    "Envy",
    "EpsilonDeltaCurve",
    "ErrorBound",
    "ErrorMetrics",
    "ExactValue",
    "Exposure",
    "FactorDistance",
    "FairnessMetrics",
    "GowerDistance",
    "GroupEffect",
    "GroupEffects",
    "GroupExposure",
    "GroupMetrics",
    "GroupSplit",
    "HeldOutChange",
    "HeldOutFairness",
    "HeldOutMetrics",
    "LearnedDistance",
    "LipschitzCertificates",
    "MetricValue",
    "NeighborMetrics",
    "ObservedDistance",
    "PairExplanation",
    "PairedDifferences",
    "PairedMetrics",
    "PairwiseDistance",
    "PatternDistance",
    "PrecomputedDistance",
    "RatioHistogram",
    "Repair",
    "RowDistance",
    "SampledFairness",
    "SampledValue",
    "SimilarPairs",
    "TargetAccuracy",
    "TargetValue",
    "Unavailable",
    "UndecidedPair",
    "UnseenRows",
    "Verdict",
    "Violations",
    "WorstPair",
    "WorstPairs",
    "activity_check",
    "certify",
    "certify_on_truth",
    "compose",
    "consistency",
    "distance_by_name",
    "envy",
    "explain_pair",
    "exposure",
    "feature_distance",
    "group_effects",
    "held_out_error",
    "hellinger_distance",
    "judge_certificate",
    "judge_completions",
    "judge_learned",
    "judge_rate",
    "learn_distance",
    "mahalanobis_distance",
    "measure_arms",
    "measure_fairness",
    "measure_sampled",
    "model_constant",
    "named_output_distance",
    "nearest_neighbors",
    "paired_differences",
    "projected_distance",
    "rank_biased_distance",
    "ranking_accuracy",
    "recommender_distance",
    "register_distance",
    "register_pair_metric",
    "repair",
    "search_unseen_rows",
    "strongest_verdict",
    "target_accuracy",
    "top_items",
    "top_n_distance",
    "total_variation_distance",
    "verdict",
    "violating_share",
    "wasserstein_distance",
    "worst_pairs",
]
