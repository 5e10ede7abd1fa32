"""A distance that people's answers teach: which pairs are similar, or which of two is closer."""

from likewise.fairness.learned.answers import Answers
from likewise.fairness.learned.distance import (
    LearnedDistance,
    judge_learned,
    learn_distance,
    violating_share,
)

__all__ = ["Answers", "LearnedDistance", "judge_learned", "learn_distance", "violating_share"]
