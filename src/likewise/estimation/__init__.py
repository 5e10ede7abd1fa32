"""Z -> A_hat: thresholds, shrinkers, singular value thresholding, and the estimate as factors."""

from likewise.estimation.als_transformer import AlternatingLeastSquares
from likewise.estimation.alternating_least_squares import FactorFit, alternating_least_squares
from likewise.estimation.assumptions import assumption_notes
from likewise.estimation.auto import Auto
from likewise.estimation.biases import Biases
from likewise.estimation.budget import BudgetSolution, shrink_to_budget, within_budget
from likewise.estimation.cai_candes_shen import CaiCandesShenFit, cai_candes_shen
from likewise.estimation.cai_candes_shen_transformer import CaiCandesShen
from likewise.estimation.centering import Centering, Centre, centre
from likewise.estimation.choice import CandidateTrial, Choice
from likewise.estimation.conformal import EntryIntervals, entry_intervals
from likewise.estimation.estimator import MatrixEstimator
from likewise.estimation.folding import Folding, LinearFolding, RidgeFolding
from likewise.estimation.foldings import FOLDINGS
from likewise.estimation.low_rank_estimate import LowRankEstimate
from likewise.estimation.noise_level import NOISE_LEVELS, noise_variance
from likewise.estimation.one_bit import OneBitFit, one_bit_completion
from likewise.estimation.optimal_shrinkers import OptimalShrinker
from likewise.estimation.propensities import Propensities, propensities_of
from likewise.estimation.registry import ESTIMATORS, as_estimator, make_estimator
from likewise.estimation.shrinkers import SHRINKERS, KeptSpectrum, ShrinkerRule, resolve_shrinker, shrink
from likewise.estimation.soft_impute import NuclearNormFit, soft_impute
from likewise.estimation.soft_impute_transformer import SoftImpute
from likewise.estimation.svt_transformer import SVT
from likewise.estimation.threshold_rules import (
    CrossValidated,
    NoiseEdge,
    OptimalHard,
    PaperRatings,
    PaperSynthetic,
    ReleasedCode,
    ScreeNOT,
    SignFlipEdge,
    Universal,
    UniversalWithVariance,
)
from likewise.estimation.thresholding import svt
from likewise.estimation.thresholds import (
    THRESHOLDS,
    ObservationStatistics,
    resolve_threshold,
    threshold_name,
)
from likewise.estimation.weighting import Weighting

__all__ = [
    "ESTIMATORS",
    "FOLDINGS",
    "NOISE_LEVELS",
    "SHRINKERS",
    "SVT",
    "THRESHOLDS",
    "AlternatingLeastSquares",
    "Auto",
    "Biases",
    "BudgetSolution",
    "CaiCandesShen",
    "CaiCandesShenFit",
    "CandidateTrial",
    "Centering",
    "Centre",
    "Choice",
    "CrossValidated",
    "EntryIntervals",
    "FactorFit",
    "Folding",
    "KeptSpectrum",
    "LinearFolding",
    "LowRankEstimate",
    "MatrixEstimator",
    "NoiseEdge",
    "NuclearNormFit",
    "ObservationStatistics",
    "OneBitFit",
    "OptimalHard",
    "OptimalShrinker",
    "PaperRatings",
    "PaperSynthetic",
    "Propensities",
    "ReleasedCode",
    "RidgeFolding",
    "ScreeNOT",
    "ShrinkerRule",
    "SignFlipEdge",
    "SoftImpute",
    "Universal",
    "UniversalWithVariance",
    "Weighting",
    "alternating_least_squares",
    "as_estimator",
    "assumption_notes",
    "cai_candes_shen",
    "centre",
    "entry_intervals",
    "make_estimator",
    "noise_variance",
    "one_bit_completion",
    "propensities_of",
    "resolve_shrinker",
    "resolve_threshold",
    "shrink",
    "shrink_to_budget",
    "soft_impute",
    "svt",
    "threshold_name",
    "within_budget",
]
