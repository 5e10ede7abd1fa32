"""What an audit found, as plain records: data, estimate, reference, certificates and the arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from likewise.fairness import (
        AffineCertificate,
        Certificate,
        ErrorMetrics,
        FairnessMetrics,
        LipschitzCertificates,
        Unavailable,
        Verdict,
    )


@dataclass(frozen=True)
class DataSummary:
    """What the audit saw of the observations.

    Parameters
    ----------
    source : str
        File name or ``"in memory"``.
    n_individuals : int
        m.
    n_features, n_observed : int or None
        n and how many entries were observed before any was hidden; None, as what follows, where the audit was given only a distance
        between the individuals.
    observed_fraction : float or None
        ``p_hat`` of all observations.
    value_range : str or None
        The range in words, with whether it was inferred.
    working_range : str or None
        ``"symmetric"`` or ``"unit"``: the range that the method worked on.
    notes : tuple of str
        What the reader should know: empty rows, merged duplicates, an inferred range.
    """

    source: str
    n_individuals: int
    n_features: int | None = None
    n_observed: int | None = None
    observed_fraction: float | None = None
    value_range: str | None = None
    working_range: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class EstimateSummary:
    """What pre-processing did.

    Parameters
    ----------
    estimator : str
        The estimator with its parameters.
    threshold : float or None
        ``tau``; None, as what follows, where nothing is cut at a threshold.
    threshold_name : str or None
        The rule that gave it.
    rank : int
        How many singular values exceed it, or how many components the estimate has beside its offsets.
    singular_values : ndarray, shape (k,)
        The kept singular values and, where cheap, the largest of those that were cut, decreasing; for drawing the spectrum. Without a
        threshold, those of the estimate without its offsets.
    clipped_fraction : float
        Share of the entries of the estimate that clipping changed.
    completeness : str or None
        Whether any singular value above the threshold may be missing, in words; None where there is no threshold.
    regime : str or None
        Section 5: n against r m / p_hat, and what follows, in words; None where the theory does not speak of the estimator.
    parameters : dict
        Every parameter of the estimator by name.
    converged : bool or None
        Whether iterations came to their end; None where nothing iterates.
    n_iter : int or None
        How many iterations ran.
    notes : tuple of str
        What the reader should know of the fit.
    """

    estimator: str
    threshold: float | None
    threshold_name: str | None
    rank: int
    singular_values: NDArray[np.float64]
    clipped_fraction: float
    completeness: str | None
    regime: str | None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    converged: bool | None = None
    n_iter: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReferenceSummary:
    """The reference distance d that both arms are held against.

    Parameters
    ----------
    kind : {"observed", "estimate", "given"}
        Taken from the data before pre-processing; or (the released code's convention) from the pre-processed data in the arm
        with pre-processing; or given by the caller.
    description : str
        Norm, scaling and missing-data rule in words.
    valid_comparison : bool
        True where both arms have the same reference distance.
    caveats : tuple of str
        What limits the comparison, for example that d mostly measures activity.
    """

    kind: str
    description: str
    valid_comparison: bool
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Arm:
    """One arm of the comparison.

    Parameters
    ----------
    name : {"without", "with", "outputs"}
        Without pre-processing is the paper's h, with pre-processing its f; ``"outputs"`` are the only ones there are.
    title : str
        Model and input in words.
    fairness : FairnessMetrics
        Over all pairs, or of the kind `SampledFairness` where pairs were drawn.
    error : ErrorMetrics or None
        On the hidden observations; None if nothing was hidden or the outputs do not predict entries.
    verdict : Verdict or None
        Whether D <= L d, where L was given.
    certificate : Certificate, AffineCertificate, Unavailable or None
        What is proved of D, or why nothing is; None for outputs that were computed elsewhere.
    """

    name: str
    title: str
    fairness: FairnessMetrics
    error: ErrorMetrics | None
    verdict: Verdict | None = None
    certificate: Certificate | AffineCertificate | Unavailable | None = None

    @property
    def label(self) -> str:
        """What to call the arm in a sentence."""
        return self.name if self.name == "outputs" else f"{self.name} pre-processing"


@dataclass(frozen=True, eq=False)
class AuditRecord:
    """Everything that an audit found, as plain data: what tables, figures, JSON and the page are made of.

    Attributes
    ----------
    data : DataSummary
    estimate : EstimateSummary or None
        None where only outputs computed elsewhere were audited.
    reference : ReferenceSummary
    certificates : LipschitzCertificates or None
        Proved constants of the pre-processing step, or why there are none.
    arms : dict of str to Arm
        ``"without"`` and ``"with"``.
    findings : tuple of str
        Plain sentences: what is shown and what is not.
    settings : dict
        Every argument, for running the audit again.
    seconds : dict of str to float
        Wall time of each step.
    """

    data: DataSummary
    estimate: EstimateSummary | None
    reference: ReferenceSummary
    certificates: LipschitzCertificates | None
    arms: Mapping[str, Arm]
    findings: tuple[str, ...]
    settings: Mapping[str, Any]
    seconds: Mapping[str, float] = field(default_factory=dict)
