"""What is proved, as a type of its own: constants of the pre-processing step, of models, of both, and Theorem 4.3."""

from likewise.certificates.certificate import (
    AffineCertificate,
    Certificate,
    Domain,
    PairCheck,
    ProvedBound,
    Unavailable,
)
from likewise.certificates.composition import compose, scaled
from likewise.certificates.constants import LipschitzCertificates
from likewise.certificates.ground_truth import ErrorBound, certify_on_truth
from likewise.certificates.individual_constants import individual_constants
from likewise.certificates.models.constants import model_constant
from likewise.certificates.preprocessing import certify
from likewise.certificates.regression import RegressionCertificate
from likewise.certificates.row_map import LinearRowMap

__all__ = [
    "AffineCertificate",
    "Certificate",
    "Domain",
    "ErrorBound",
    "LinearRowMap",
    "LipschitzCertificates",
    "PairCheck",
    "ProvedBound",
    "RegressionCertificate",
    "Unavailable",
    "certify",
    "certify_on_truth",
    "compose",
    "individual_constants",
    "model_constant",
    "scaled",
]
