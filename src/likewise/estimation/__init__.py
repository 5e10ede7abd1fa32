"""Z -> A_hat: thresholds, shrinkers, singular value thresholding, and the estimate as factors."""

from likewise.estimation.als.descent import FactorFit
from likewise.estimation.als.solver import AlternatingLeastSquares, alternating_least_squares
from likewise.estimation.auto.mixture import Mixture, mixed_estimate
from likewise.estimation.auto.stacking import stacking_weights
from likewise.estimation.auto.transformer import Auto
from likewise.estimation.auto.trials import CandidateTrial, Choice
from likewise.estimation.base.estimator import MatrixEstimator
from likewise.estimation.base.folding import Folding, LinearFolding, RidgeFolding
from likewise.estimation.base.low_rank_estimate import LowRankEstimate
from likewise.estimation.base.mixture_folding import FOLDINGS
from likewise.estimation.base.preparation import Centering, Centre, centre
from likewise.estimation.base.weighting import ValueWeighting, Weighting
from likewise.estimation.biases import Biases
from likewise.estimation.budget.budget import BudgetSolution, shrink_to_budget, within_budget
from likewise.estimation.intervals import EntryIntervals, entry_intervals
from likewise.estimation.nuclear_norm.cai_candes_shen import CaiCandesShen, CaiCandesShenFit, cai_candes_shen
from likewise.estimation.nuclear_norm.soft_impute import NuclearNormFit, soft_impute
from likewise.estimation.nuclear_norm.transformer import SoftImpute
from likewise.estimation.one_bit import OneBitFit, one_bit_completion
from likewise.estimation.ordinal import LevelProbabilities, level_probabilities
from likewise.estimation.propensities import Propensities, RandomSample, propensities_of
from likewise.estimation.registry import ESTIMATORS, as_estimator, make_estimator, register_estimator
from likewise.estimation.thresholding.assumptions import assumption_notes
from likewise.estimation.thresholding.noise_level import NOISE_LEVELS, noise_variance
from likewise.estimation.thresholding.rules.cross_validation import Adaptive, CrossValidated
from likewise.estimation.thresholding.rules.optimal import NoiseEdge, OptimalHard, ScreeNOT, SignFlipEdge
from likewise.estimation.thresholding.rules.paper import (
    PaperCorollary,
    PaperRatings,
    PaperSynthetic,
    ReleasedCode,
    Universal,
    UniversalWithVariance,
)
from likewise.estimation.thresholding.shrinkers import (
    SHRINKERS,
    OptimalShrinker,
    register_shrinker,
    resolve_shrinker,
    shrink,
)
from likewise.estimation.thresholding.statistics import (
    KeptSpectrum,
    ObservationStatistics,
    ShrinkerRule,
    ThresholdRule,
)
from likewise.estimation.thresholding.svt import SVT, svt
from likewise.estimation.thresholding.thresholds import (
    THRESHOLDS,
    register_threshold,
    resolve_threshold,
    threshold_name,
)

__all__ = [
    "ESTIMATORS",
    "FOLDINGS",
    "NOISE_LEVELS",
    "SHRINKERS",
    "SVT",
    "THRESHOLDS",
    "Adaptive",
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
    "LevelProbabilities",
    "LinearFolding",
    "LowRankEstimate",
    "MatrixEstimator",
    "Mixture",
    "NoiseEdge",
    "NuclearNormFit",
    "ObservationStatistics",
    "OneBitFit",
    "OptimalHard",
    "OptimalShrinker",
    "PaperCorollary",
    "PaperRatings",
    "PaperSynthetic",
    "Propensities",
    "RandomSample",
    "ReleasedCode",
    "RidgeFolding",
    "ScreeNOT",
    "ShrinkerRule",
    "SignFlipEdge",
    "SoftImpute",
    "ThresholdRule",
    "Universal",
    "UniversalWithVariance",
    "ValueWeighting",
    "Weighting",
    "alternating_least_squares",
    "as_estimator",
    "assumption_notes",
    "cai_candes_shen",
    "centre",
    "entry_intervals",
    "level_probabilities",
    "make_estimator",
    "mixed_estimate",
    "noise_variance",
    "one_bit_completion",
    "propensities_of",
    "register_estimator",
    "register_shrinker",
    "register_threshold",
    "resolve_shrinker",
    "resolve_threshold",
    "shrink",
    "shrink_to_budget",
    "soft_impute",
    "stacking_weights",
    "svt",
    "threshold_name",
    "within_budget",
]
