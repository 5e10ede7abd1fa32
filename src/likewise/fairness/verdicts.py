"""Is D <= L d? Three answers: holds, violated, inconclusive; with how many pairs may violate, and how sure the answer is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import isnan
from typing import Any, Literal

from likewise.certificates import AffineCertificate, Certificate, Unavailable
from likewise.checks import checked_instance, is_finite, is_number
from likewise.errors import InputError, option
from likewise.fairness.metrics.fairness_metrics import FairnessMetrics
from likewise.fairness.metrics.metric_value import ExactValue, MetricValue, SampledValue
from likewise.fairness.sampled.sampling import DATA_SET

Status = Literal["holds", "violated", "inconclusive"]


@dataclass(frozen=True)
class Verdict:
    """Whether ``D <= limit * d + slack`` for all pairs but a share `tolerance` of them.

    Parameters
    ----------
    status : {"holds", "violated", "inconclusive"}
    limit : float
        L.
    tolerance : float
        Share of the pairs that may violate; 0 for none.
    confidence : float or None
        Least probability that such a verdict is right; None where it is certain: every pair was measured, a violating pair was
        seen, it was proved, or nothing is claimed.
    population : str
        Of which pairs it speaks.
    reason : str
        The metric or the proof behind it.
    slack : float
        gamma.
    """

    status: Status
    limit: float
    tolerance: float
    confidence: float | None
    population: str
    reason: str
    slack: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return asdict(self)

    def __bool__(self) -> bool:
        """Refuse to be yes or no: there are three answers."""
        raise TypeError("a verdict has three answers; ask verdict.status == 'holds'")

    def __str__(self) -> str:
        but = f" but a share of {self.tolerance:g}" if self.tolerance else ""
        slack = f" + {self.slack:g}" if self.slack else ""
        sure = f"; confidence {self.confidence:.6g}" if self.confidence is not None else ""
        return f"D <= {self.limit:g} d{slack} for {self.population}{but}: {self.status} ({self.reason}{sure})"


def judge_rate(
    rate: MetricValue, limit: float, *, tolerance: float = 0.0, slack: float = 0.0, population: str = DATA_SET
) -> Verdict:
    """Judge by the share of pairs with ``D > limit * d + slack``.

    Parameters
    ----------
    rate : ExactValue or SampledValue
        An exact one decides. A sampled one decides where its interval lies on one side of `tolerance`, and by a single
        violating pair where none is tolerated. Intervals with one end only give the strongest answer.
    limit : float
        L > 0.
    tolerance : float, default 0
        Share of the pairs that may violate, in [0, 1).
    slack : float, default 0
        gamma, with which the rate was counted.
    population : str
        Of which pairs an exact rate speaks; a sampled one says so itself.

    Returns
    -------
    Verdict

    Raises
    ------
    InputError
        A limit that is not above 0, or a tolerance outside [0, 1).

    Examples
    --------
    >>> print(judge_rate(ExactValue(0.002, 4950), 1.5, tolerance=0.01))
    D <= 1.5 d for all pairs of this data set but a share of 0.01: holds (a share of 0.002 violates)
    >>> judge_rate(SampledValue(0.0, 0.0, 0.0099, 0.95, DATA_SET, "Clopper-Pearson", 300), 1.5).status
    'inconclusive'
    """
    check_limit(limit)
    check_tolerance(tolerance)
    checked_instance("rate", rate, ExactValue | SampledValue, "an ExactValue or a SampledValue")
    if isinstance(rate, ExactValue):
        status = _exact_status(rate.value, tolerance)
        reason = f"a share of {rate.value:.4g} violates"
        return Verdict(status, limit, tolerance, None, population, reason, slack)
    return _judge_sampled_rate(rate, limit, tolerance, slack)


def _judge_sampled_rate(rate: SampledValue, limit: float, tolerance: float, slack: float) -> Verdict:
    def verdict(status: Status, confidence: float | None, reason: str) -> Verdict:
        return Verdict(status, limit, tolerance, confidence, rate.population, reason, slack)

    # One pair disproves what tolerates none: that is certain, whatever the interval says.
    if tolerance == 0 and rate.value > 0:
        return verdict("violated", None, f"{rate.value:.4g} of {rate.n_pairs:,} pairs drawn violate")
    by = f"by {rate.method} on {rate.n_pairs:,} pairs"
    if rate.high <= tolerance:
        return verdict("holds", rate.confidence, f"a share of at most {rate.high:.4g} violates {by}")
    if rate.low > tolerance:
        return verdict("violated", rate.confidence, f"a share of at least {rate.low:.4g} violates {by}")
    return verdict("inconclusive", None, f"a share from {rate.low:.4g} to {rate.high:.4g} violates {by}")


def judge_certificate(
    certificate: Certificate | AffineCertificate | Unavailable, limit: float, *, slack: float = 0.0
) -> Verdict:
    """Judge by a proved bound, which can show that ``D <= limit * d + slack`` holds and never that it is violated.

    Parameters
    ----------
    certificate : Certificate, AffineCertificate or Unavailable
        Of D against d, in the norms and units in which the limit is meant.
    limit : float
        L > 0.
    slack : float, default 0
        gamma >= 0.

    Returns
    -------
    Verdict

    Raises
    ------
    InputError
        A limit that is not above 0.

    Examples
    --------
    >>> judge_certificate(Unavailable("K1", "trees jump"), 2.0).status
    'inconclusive'
    """
    check_limit(limit)
    checked_instance(
        "certificate", certificate, Certificate | AffineCertificate | Unavailable, "a certificate"
    )
    if isinstance(certificate, Unavailable):
        return Verdict("inconclusive", limit, 0.0, None, DATA_SET, str(certificate), slack)
    slope, offset, confidence = _proved_line(certificate)
    # A larger bound shows nothing: outputs may do better than what is proved of them.
    holds = slope <= limit and offset <= slack
    condition = f", given {'; '.join(certificate.assumptions)}" if certificate.assumptions else ""
    return Verdict(
        "holds" if holds else "inconclusive",
        limit,
        0.0,
        confidence if holds and confidence < 1 else None,
        str(certificate.domain),
        f"proved: {certificate}{condition}",
        slack,
    )


def _proved_line(certificate: Certificate | AffineCertificate) -> tuple[float, float, float]:
    """Return slope, offset and confidence of a proved bound."""
    if isinstance(certificate, Certificate):
        return certificate.value, 0.0, 1.0
    return certificate.slope, certificate.offset, certificate.confidence


def strongest_verdict(*verdicts: Verdict) -> Verdict:
    """Return the first verdict that decides, or the first one if none does.

    Parameters
    ----------
    *verdicts : Verdict
        On the same pairs and limit, the most trusted first.

    Returns
    -------
    Verdict

    Raises
    ------
    InputError
        No verdict, verdicts on different conditions, or a violation of what was proved or measured to hold for all pairs.

    Examples
    --------
    >>> unsure = judge_certificate(Unavailable("K1", "trees jump"), 2.0)
    >>> strongest_verdict(unsure, judge_rate(ExactValue(0.0, 4950), 2.0)).status
    'holds'
    """
    if not verdicts:
        raise InputError("no verdict", "at least one")
    for each in verdicts:
        checked_instance("verdicts", each, Verdict, "a Verdict")
    if len({(verdict.limit, verdict.slack) for verdict in verdicts}) > 1:
        raise InputError("verdicts on different limits or slacks", "verdicts on one condition")
    certain = {
        verdict.status: verdict
        for verdict in verdicts
        if verdict.confidence is None and not verdict.tolerance
    }
    # Both are certain, so they cannot be about the same thing.
    if {"holds", "violated"} <= certain.keys():
        given = f"{certain['holds'].reason}, yet {certain['violated'].reason}"
        hint = "compare the norms, units and assumptions of the proof with the distances"
        raise InputError(given, "verdicts that do not contradict each other", hint)
    return next((verdict for verdict in verdicts if verdict.status != "inconclusive"), verdicts[0])


def verdict(
    metrics: FairnessMetrics,
    lipschitz: float,
    tolerance: float = 0.0,
    certificate: Certificate | AffineCertificate | Unavailable | None = None,
) -> Verdict:
    """Judge ``D <= L d`` by what is proved, then by what was measured.

    A proof comes first, since it also speaks of unseen pairs. But it never overrules a violation that was seen.

    Parameters
    ----------
    metrics : FairnessMetrics
        Measured with ``lipschitz=L``; or exactly, with any L, where no violation is tolerated.
    lipschitz : float
        L > 0.
    tolerance : float, default 0
        Share of the pairs that may violate, in [0, 1).
    certificate : Certificate, AffineCertificate or Unavailable, optional
        Of this D against this d.

    Returns
    -------
    Verdict

    Raises
    ------
    InputError
        L or the tolerance is out of its range, or the pairs were not held against L.

    Examples
    --------
    >>> from likewise.fairness import RowDistance, measure_fairness
    >>> found = measure_fairness([0.0, 0.5, 1.0], RowDistance([0.0, 1.0, 4.0]))
    >>> print(verdict(found, 0.5))
    D <= 0.5 d for all pairs of this data set: holds (the largest ratio is 0.5)
    >>> verdict(found, 0.4).status
    'violated'
    """
    check_limit(lipschitz)
    check_tolerance(tolerance)
    checked_instance(
        "metrics", metrics, FairnessMetrics, "FairnessMetrics", "measure_fairness(...) makes them"
    )
    measured = _measured_verdict(metrics, lipschitz, tolerance)
    if certificate is None:
        return measured
    proved = judge_certificate(certificate, lipschitz)
    if proved.status != "holds":
        return measured
    # A pair that was seen counts for more than a proof that rests on other norms, units or assumptions.
    if measured.status == "violated" and measured.confidence is None and not tolerance:
        reason = f"{measured.reason}, against {proved.reason}: compare norms, units and assumptions"
        return replace(measured, reason=reason)
    return proved


def _measured_verdict(metrics: FairnessMetrics, lipschitz: float, tolerance: float) -> Verdict:
    """Judge by the rate of violations, or by the largest ratio where it is exact and none is tolerated."""
    own = getattr(
        metrics, "verdict", None
    )  # of drawn pairs: each end of the rate alone may use the whole error
    if own is not None and (own.limit, own.tolerance, own.slack) == (lipschitz, tolerance, 0.0):
        judged: Verdict = own
        return judged
    violations, largest = metrics.violations, metrics.max_ratio
    if violations is not None and (violations.lipschitz, violations.slack) == (lipschitz, 0.0):
        return judge_rate(violations.rate, lipschitz, tolerance=tolerance)
    if tolerance or not isinstance(largest, ExactValue):
        given = f"{option('lipschitz', repr(lipschitz))} and pairs that were not compared with it"
        raise InputError(given, "metrics of pairs that were", "measure them with the same lipschitz")
    status, reason = _exact_status(largest.value, lipschitz), f"the largest ratio is {largest.value:.4g}"
    return Verdict(status, lipschitz, 0.0, None, DATA_SET, reason)


def _exact_status(value: float, allowed: float) -> Status:
    """Decide by an exact value; one that is not defined, for want of pairs, decides nothing."""
    if isnan(value):
        return "inconclusive"
    return "holds" if value <= allowed else "violated"


def check_limit(limit: float) -> None:
    """Raise InputError if L is not a finite number above 0."""
    if not is_finite(limit) or limit <= 0:
        raise InputError(f"L={limit!r}", "a finite number > 0", "L = 0 would ask for equal outputs")


def check_tolerance(tolerance: float) -> None:
    """Raise InputError if a share of pairs that may violate is outside [0, 1)."""
    if not is_number(tolerance) or not 0 <= tolerance < 1:
        raise InputError(option("tolerance", repr(tolerance)), "a share of the pairs in [0, 1)")
