"""What an audit found, as plain records: data, estimate, reference, certificates, the arms, and where it all comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.checks import checked_instance

if TYPE_CHECKING:
    from likewise.certificates.individual_constants import IndividualConstants, OwnConstants
    from likewise.fairness import (
        AffineCertificate,
        Certificate,
        CompletionVerdict,
        Envy,
        ErrorMetrics,
        ExactValue,
        Exposure,
        FairnessMetrics,
        GroupEffects,
        LipschitzCertificates,
        PairedDifferences,
        PairExplanation,
        SampledValue,
        TargetAccuracy,
        Unavailable,
        Verdict,
    )
    from likewise.fairness.held_out import HeldOutFairness, HeldOutMetrics
    from likewise.observations.column_roles import ColumnRoles


@dataclass(frozen=True)
class DataSummary:
    """What the audit saw of the observations.

    Parameters
    ----------
    source : str
        File name or ``"in memory"``.
    n_individuals, n_features, n_observed : int
        m, n, and how many entries were observed before any was hidden; n and what follows are None where only a distance was given.
    observed_fraction : float or None
        ``p_hat`` of all observations.
    value_range, working_range : str or None
        The range in words, with whether it was inferred; and the one that the method worked on, ``"symmetric"`` or ``"unit"``.
    notes : tuple of str
        What the reader should know: empty rows, merged duplicates, an inferred range.
    columns : tuple of ColumnRoles
        Of each file that was read, which columns are ids, features, outputs or groups, and which were left out.
    searched : str or None
        What a search among everybody found, where only some pairs were drawn.
    """

    source: str
    n_individuals: int
    n_features: int | None = None
    n_observed: int | None = None
    observed_fraction: float | None = None
    value_range: str | None = None
    working_range: str | None = None
    notes: tuple[str, ...] = ()
    columns: tuple[ColumnRoles, ...] = ()
    searched: str | None = None


@dataclass(frozen=True)
class FileRecord:
    """A file that was read, so that an auditor can tell whether it is the same one."""

    # What it was read as: observations, outputs, groups, item groups, target, answers, reference or test.
    role: str
    name: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Provenance:
    """When the report was made, and with which versions; its numbers do not depend on this.

    Parameters
    ----------
    date : str
        Day and time in UTC, as ISO 8601.
    versions : mapping of str to any
        Of likewise, Python, the system and the libraries.
    command : str or None
        What to type to repeat the run; None where Python called it.
    files : tuple of FileRecord
    """

    date: str
    versions: Mapping[str, Any]
    command: str | None = None
    files: tuple[FileRecord, ...] = ()


@dataclass(frozen=True, eq=False)
class EstimateSummary:
    """What the estimator found: threshold, rank and singular values, with its parameters.

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
        The kept singular values, decreasing. Without a threshold, those of the estimate without its offsets.
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
    kind : {"held-out", "observed", "co-observed", "estimate", "given"}
        Taken from the data before pre-processing; on what both individuals observed; (the released code's convention) from the
        pre-processed data in the arm with pre-processing; or given by the caller.
    description : str
        Norm, scaling and missing-data rule in words.
    valid_comparison : bool
        True where both arms have the same reference distance.
    caveats : tuple of str
        What limits the comparison, for example that d mostly measures activity.
    measures_activity : bool
        Whether d mostly measures how much was observed of an individual: then no finding on similar individuals goes without saying so.
    missing_in_worst : str
        In how many of the worst pairs someone has a missing value, which d fills; empty where there is no such pair.
    """

    kind: str
    description: str
    valid_comparison: bool
    caveats: tuple[str, ...] = ()
    measures_activity: bool = False
    missing_in_worst: str = ""


@dataclass(frozen=True)
class Sandwich:
    """How large D / d is, from below and from above: measured <= found <= proved."""

    measured: float  # the largest over the pairs of the data
    found: float  # the largest that a search over rows attains, seen or not: no constant below it holds
    proved: float | None  # what no pair exceeds; None where nothing is proved
    distance: str  # d in words: that of the proved constant, where there is one
    n_individuals: int  # whose pairs were measured
    n_pairs: int
    drawn: bool  # whether the individuals were drawn from more
    n_rows: int  # that the search tried
    own: OwnConstants | None = None  # of single individuals, if the constant is that of a regression

    @property
    def attained(self) -> float | None:
        """Share of the proved constant that was found, in [0, 1]; None where nothing is proved, or the constant is 0."""
        return self.found / self.proved if self.proved else None


@dataclass(frozen=True, eq=False)
class EstimateAlone:
    """The estimate itself as the outputs, beside an algorithm that runs on it."""

    error: ErrorMetrics | None  # on the hidden observations
    on_truth: HeldOutMetrics | None  # against a distance on A, where it was measured
    certificate: Certificate | AffineCertificate | Unavailable  # what is proved of D
    sandwich: Sandwich | None


@dataclass(frozen=True, eq=False)
class ListFigures:
    """What is told of lists of items beside how far apart they are."""

    length: int  # items on each
    made: str  # where the lists come from
    exposure: Exposure
    envy: Envy | Unavailable  # by an estimate of the ratings, or why there is none
    estimate: str = (
        ""  # by what the ratings were estimated, and how wide intervals are; empty where they were not
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return {
            "length": self.length,
            "made": self.made,
            "exposure": self.exposure.to_dict(),
            "envy": self.envy.to_dict(),
            "estimate": self.estimate,
        }


OF_A_CHANGE = {"without": "before the change", "with": "after the change"}
"""How titles end where nothing was estimated here: two vendors, say, or raw and repaired outputs."""


@dataclass(frozen=True, eq=False)
class Arm:
    """One arm of the comparison.

    Parameters
    ----------
    name : str
        ``"without"`` pre-processing is the paper's h, ``"with"`` pre-processing its f; ``"outputs"`` are the only ones there are;
        or the names of two sets of outputs that are compared.
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
    explained : tuple of PairExplanation
        The pairs with the largest ratios: which features make d small, which outputs make D large.
    on_truth : HeldOutMetrics or None
        Against a distance on A that the algorithm has not seen, where observations were kept aside to measure it.
    group_effects : GroupEffects, Unavailable or None
        Whether people of a group get other outputs than similar people of other groups, or why that was not tested; None without groups.
    test_error : ErrorMetrics or None
        On test observations from elsewhere, such as ratings of items drawn at random; None where there are none.
    consistency : ExactValue or None
        How close everybody's output is to the mean of their nearest neighbours'; None unless it was asked for.
    accuracy : TargetAccuracy or None
        How well the outputs tell a target; None where none was given.
    sandwich : Sandwich or None
        How large D / d is for people who are not in the data, from below and from above; None where no algorithm ran here.
    completions : CompletionVerdict or None
        Whether D <= L d whatever the missing entries are, where that was asked for.
    lists : ListFigures or None
        Exposure and envy, where outputs are lists of items.
    """

    name: str
    title: str
    fairness: FairnessMetrics
    error: ErrorMetrics | None = None
    verdict: Verdict | None = None
    certificate: Certificate | AffineCertificate | Unavailable | None = None
    explained: tuple[PairExplanation, ...] = ()
    on_truth: HeldOutMetrics | None = None
    group_effects: GroupEffects | Unavailable | None = None
    test_error: ErrorMetrics | None = None
    consistency: ExactValue | None = None
    accuracy: TargetAccuracy | None = None
    sandwich: Sandwich | None = None
    completions: CompletionVerdict | None = None
    lists: ListFigures | None = None

    @property
    def label(self) -> str:
        """What to call the arm in a sentence: without or with pre-processing, unless it is of another change."""
        of_another = (text for text in OF_A_CHANGE.values() if self.title.endswith(text))
        return next(of_another, f"{self.name} pre-processing" if self.name in OF_A_CHANGE else self.name)

    @property
    def heading(self) -> str:
        """What to call it above a column."""
        return self.label.split()[0] if self.name in OF_A_CHANGE else self.name


@dataclass(frozen=True)
class CheckResult:
    """Whether a limit that was asked for holds.

    Parameters
    ----------
    check : str
        As it was asked for.
    severity : {"error", "warning"}
    status : {"holds", "broken", "cannot be told", "not measured"}
        With an interval, all of it decides.
    value : float
        NaN where it was not measured.
    detail : str
        The number with its interval, as text; or why it was not measured, where that is known.
    """

    check: str
    severity: str
    status: Literal["holds", "broken", "cannot be told", "not measured"]
    value: float
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return asdict(self)

    def __str__(self) -> str:
        mark = "" if self.status == "holds" else f" ({self.severity})"
        return f"{self.check}: {self.status}{mark}" + (f", {self.detail}" if self.detail else "")


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
        One, or two: before and after, ``"without"`` and ``"with"`` pre-processing unless they were named otherwise.
    findings : tuple of str, the most important first
    settings : dict
        Every argument, for running the audit again.
    paired : PairedDifferences or None
        What the change does to the same pairs, with intervals; None with one arm, or where the arms cannot be compared.
    truth : HeldOutFairness or None
        Fairness on A (Definition 3.2), measured on observations that were kept aside; None where none were.
    gap_change, error_change : SampledValue or None
        After minus before: the gap of the same similar pairs, on the truth where that was measured; the RMSE of the same hidden observations. None without an interval.
    estimate_alone : EstimateAlone or None
        The estimate itself as the outputs, where an algorithm ran on it.
    seconds, provenance, checks : dict of str to float, Provenance or None, tuple of CheckResult
        Wall time of each step; date, versions, files and command; what became of the checks that were asked for.
    individual_constants : IndividualConstants or None
        What is proved of everybody, one by one, where that was asked for.
    """

    data: DataSummary
    estimate: EstimateSummary | None
    reference: ReferenceSummary
    certificates: LipschitzCertificates | None
    arms: Mapping[str, Arm]
    findings: tuple[str, ...]
    settings: Mapping[str, Any]
    paired: PairedDifferences | None = None
    truth: HeldOutFairness | None = None
    gap_change: SampledValue | None = None
    error_change: SampledValue | None = None
    estimate_alone: EstimateAlone | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    provenance: Provenance | None = None
    checks: tuple[CheckResult, ...] = ()
    individual_constants: IndividualConstants | None = None

    @property
    def comparable(self) -> bool:
        """Whether there are two arms that were held against one reference distance."""
        return len(self.arms) == 2 and self.reference.valid_comparison

    @property
    def main_arm(self) -> Arm:
        """The arm that would be used: after the change, or the only one."""
        return list(self.arms.values())[-1]


def checked_report(report: object) -> AuditRecord:
    """Return the record of an audit, or raise InputError."""
    record: AuditRecord = checked_instance(
        "report", report, AuditRecord, "a report", "likewise.audit(...) and likewise.compare(...) return one"
    )
    return record
