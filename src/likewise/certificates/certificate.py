"""How a proved bound compares with pairs whose distances were measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise._typing import Floats
from likewise.certificates.operator_norm import product_upward
from likewise.checks import checked_confidence, is_finite
from likewise.errors import InputError, ShapeError


@dataclass(frozen=True)
class PairCheck:
    """How a bound compares with pairs whose distances were measured.

    Parameters
    ----------
    n_pairs, n_violated : int
        Pairs compared, and pairs whose output distance exceeds the bound.
    largest_excess : float
        Largest output distance minus bound; negative where every pair has room, ``-inf`` without pairs.
    largest_share : float
        Largest output distance over bound: 1 means that a pair attains the bound. 0 without pairs.
    """

    n_pairs: int
    n_violated: int
    largest_excess: float
    largest_share: float

    @property
    def holds(self) -> bool:
        """Whether no pair exceeds the bound."""
        return self.n_violated == 0

    def __str__(self) -> str:
        return f"{self.n_violated:,} of {self.n_pairs:,} pairs exceed the bound; the closest reaches {self.largest_share:.1%} of it"


def check_pairs(bounds: Floats, outputs: Floats) -> PairCheck:
    """Compare output distances with the bound of each pair; equal shapes."""
    excess = outputs - bounds
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(outputs > 0, outputs / bounds, 0.0)
    return PairCheck(
        n_pairs=outputs.size,
        n_violated=int((excess > 0).sum()),
        largest_excess=float(excess.max(initial=-np.inf)),
        largest_share=float(shares.max(initial=0.0)),
    )


def checked_distances(inputs: ArrayLike, outputs: ArrayLike) -> tuple[Floats, Floats]:
    """Return both distances of every pair as arrays.

    ShapeError if their shapes differ; InputError if a distance is negative, infinite or NaN.
    """
    both = _finite(inputs), _finite(outputs)
    if both[0].shape != both[1].shape:
        raise ShapeError(
            f"distances of shapes {both[0].shape} and {both[1].shape}", "one of each for every pair"
        )
    return both


def _finite(distances: ArrayLike) -> Floats:
    checked = np.asarray(distances, dtype=np.float64)
    wrong = int((~(np.isfinite(checked) & (checked >= 0))).sum())
    if wrong:
        hint = "leave out pairs whose distance is not defined"
        raise InputError(f"{wrong} distances that are negative, infinite or NaN", "finite numbers >= 0", hint)
    return checked


class Domain(StrEnum):
    """The pairs of rows for which a proved bound holds."""

    SEEN = "in sample: rows of the fit"
    SEEN_AND_UNSEEN = "every pair of rows, seen in the fit or not"

    @classmethod
    def _missing_(cls, value: object) -> Domain:
        raise InputError(f"domain {value!r}", " or ".join(repr(str(known)) for known in cls))


@dataclass(frozen=True, kw_only=True)
class ProvedBound(ABC):
    """What every proved bound on output distances by input distances records.

    Parameters
    ----------
    name : str
        What the constant is called.
    from_norm, to_norm : str
        Norm on the inputs and on the outputs: ``"l1"``, ``"l2"``, ``"linf"``, or any ``"lq"``.
    domain : Domain
        For which pairs it holds.
    function : str
        Which function it bounds, from what to what.
    assumptions : tuple of str
        What the proof takes for granted; empty if nothing.
    proof : tuple of str
        Its steps.
    n_inputs, n_outputs : int or None
        Dimensions, where they are known.
    """

    name: str
    from_norm: str
    to_norm: str
    domain: Domain = Domain.SEEN_AND_UNSEEN
    function: str = ""
    assumptions: tuple[str, ...] = ()
    proof: tuple[str, ...] = ()
    n_inputs: int | None = None
    n_outputs: int | None = None

    @abstractmethod
    def bound(self, distances: ArrayLike) -> Floats:
        """Return the largest output distance that pairs at these input distances can have.

        Parameters
        ----------
        distances : array-like
            In `from_norm`.

        Returns
        -------
        ndarray of the same shape
        """

    def holds_for(
        self, distances: ArrayLike, output_distances: ArrayLike, *, slack: float = 0.0
    ) -> PairCheck:
        """Count the pairs that exceed the bound.

        Parameters
        ----------
        distances, output_distances : array-like of equal shape
            Of the same pairs, in `from_norm` and `to_norm`.
        slack : float, default 0
            Added to the bound, for distances that carry rounding of their own.

        Returns
        -------
        PairCheck

        Raises
        ------
        ShapeError
            If the shapes differ.
        InputError
            If a distance is negative, infinite or NaN.

        Examples
        --------
        >>> half = Certificate(name="half", value=0.5, from_norm="l2", to_norm="l2")
        >>> print(half.holds_for([1.0, 2.0], [0.5, 1.5]))
        1 of 2 pairs exceed the bound; the closest reaches 150.0% of it
        """
        inputs, outputs = checked_distances(distances, output_distances)
        return check_pairs(self.bound(inputs) + slack, outputs)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, with the kind of statement."""
        return {"kind": "proved", **asdict(self), "domain": str(self.domain)}

    def explain(self) -> str:
        """Return the statement, what it assumes and how it is proved, one line each."""
        lines = [str(self)]
        lines += [f"  of: {self.function}"] if self.function else []
        lines += [f"  if: {assumption}" for assumption in self.assumptions]
        return "\n".join([*lines, *(f"  because: {step}" for step in self.proof)])

    def _norms_and_domain(self) -> str:
        return f"({self.from_norm} to {self.to_norm}; {self.domain})"


@dataclass(frozen=True, kw_only=True)
class Certificate(ProvedBound):
    """A proved bound ``||output_i - output_j||_to <= value * ||input_i - input_j||_from``.

    Parameters
    ----------
    value : float
        The constant, >= 0 and finite.
    name, from_norm, to_norm, domain, function, assumptions, proof, n_inputs, n_outputs
        As in `ProvedBound`.

    Raises
    ------
    InputError
        If the value is negative or not finite.

    Examples
    --------
    >>> declared = Certificate(name="K1", value=2.0, from_norm="l2", to_norm="l2", assumptions=("the vendor's word",))
    >>> print(declared.explain())
    K1 = 2 (l2 to l2; every pair of rows, seen in the fit or not)
      if: the vendor's word
    """

    value: float

    def __post_init__(self) -> None:
        _ensure_constant(self.name, self.value)

    def bound(self, distances: ArrayLike) -> Floats:
        """Return ``value * distances``."""
        return self.value * np.asarray(distances, dtype=np.float64)

    def times(self, factor: float, **changes: Any) -> Certificate:
        """Return the certificate with its constant multiplied, and other fields changed."""
        return replace(self, value=_product(self.value, factor), **changes)

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.4g} {self._norms_and_domain()}"


@dataclass(frozen=True, kw_only=True)
class AffineCertificate(ProvedBound):
    """A proved bound ``||output_i - output_j||_to <= slope * distance_ij + offset``.

    Parameters
    ----------
    slope, offset : float
        >= 0 and finite.
    confidence : float, default 1
        Probability with which what it assumes holds; 1 where nothing is left to chance.
    name, from_norm, to_norm, domain, function, assumptions, proof, n_inputs, n_outputs
        As in `ProvedBound`.

    Raises
    ------
    InputError
        If a number is negative or not finite, or the confidence is not in (0, 1].
    """

    slope: float
    offset: float
    confidence: float = 1.0

    def __post_init__(self) -> None:
        _ensure_constant(self.name, self.slope)
        _ensure_constant(self.name, self.offset)
        checked_confidence(self.confidence, certain=True)

    def bound(self, distances: ArrayLike) -> Floats:
        """Return ``slope * distances + offset``."""
        return self.slope * np.asarray(distances, dtype=np.float64) + self.offset

    def times(self, factor: float, **changes: Any) -> AffineCertificate:
        """Return the certificate with both numbers multiplied, and other fields changed."""
        slope, offset = _product(self.slope, factor), _product(self.offset, factor)
        return replace(self, slope=slope, offset=offset, **changes)

    def __str__(self) -> str:
        chance = "" if self.confidence == 1 else f" with confidence {self.confidence:g}"
        return f"{self.name}: D <= {self.slope:.4g} d + {self.offset:.4g}{chance} {self._norms_and_domain()}"


@dataclass(frozen=True)
class Unavailable:
    """Stands for a number that cannot be given, with the reason.

    Parameters
    ----------
    name : str
    reason : str
    """

    name: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, with the kind of statement."""
        return {"kind": "unavailable", **asdict(self)}

    def explain(self) -> str:
        """Return the reason."""
        return str(self)

    def __str__(self) -> str:
        return f"{self.name}: none ({self.reason})"


def _ensure_constant(name: str, value: object) -> None:
    if not is_finite(value) or value < 0:
        raise InputError(f"{name} of {value!r}", "a finite number >= 0", "what has no bound is Unavailable")


def _product(constant: float, factor: float) -> float:
    """Multiply, rounded up; a factor of one changes nothing."""
    return constant if factor == 1 else product_upward(constant, factor)
