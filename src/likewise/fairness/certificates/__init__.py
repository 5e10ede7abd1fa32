"""What is proved, as a type of its own: constants of the pre-processing step, of models, of both, and Theorem 4.3."""

from likewise.fairness.certificates.composition import compose, scaled
from likewise.fairness.certificates.constants import LipschitzCertificates
from likewise.fairness.certificates.ground_truth import ErrorBound, certify_on_truth
from likewise.fairness.certificates.model_constants import model_constant
from likewise.fairness.certificates.pair_check import PairCheck
from likewise.fairness.certificates.preprocessing import certify
from likewise.fairness.certificates.row_map import LinearRowMap
from likewise.fairness.certificates.types import (
    AffineCertificate,
    Certificate,
    Domain,
    ProvedBound,
    Unavailable,
)

__all__ = [
    "AffineCertificate",
    "Certificate",
    "Domain",
    "ErrorBound",
    "LinearRowMap",
    "LipschitzCertificates",
    "PairCheck",
    "ProvedBound",
    "Unavailable",
    "certify",
    "certify_on_truth",
    "compose",
    "model_constant",
    "scaled",
]
