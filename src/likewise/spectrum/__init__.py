"""All singular triplets above a threshold, with proof that none was missed."""

from likewise.spectrum.operators import RowOperator
from likewise.spectrum.request import Completeness, SingularTriplets
from likewise.spectrum.triplets import SOLVERS, singular_triplets

__all__ = ["SOLVERS", "Completeness", "RowOperator", "SingularTriplets", "singular_triplets"]
