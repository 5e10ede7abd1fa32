"""Which estimator was chosen among which, and why: a record that prints as a table."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan


@dataclass(frozen=True)
class CandidateTrial:
    """A candidate and how it did.

    Parameters
    ----------
    name : str
    held_out_error : float
        Root mean squared error on the observations held out, in the unit of `Choice`; NaN where it was not tried or failed.
    seconds : float
        Wall time of its fits; 0 where it was not tried.
    remark : str
        ``"chosen"``, or why it was not tried or failed; empty otherwise.
    """

    name: str
    held_out_error: float = nan
    seconds: float = 0.0
    remark: str = ""

    @property
    def was_tried(self) -> bool:
        """Whether anything was fitted."""
        return self.seconds > 0

    def describe(self) -> str:
        """Return name, error and remark in words: the same on every run with the same choice."""
        error = "no error" if isnan(self.held_out_error) else f"{self.held_out_error:.4g}"
        return f"{self.name}: {error}" + (f" ({self.remark})" if self.remark else "")


@dataclass(frozen=True)
class Choice:
    """What `Auto` chose.

    Parameters
    ----------
    name : str
        Of the candidate that was taken.
    reason : str
    unit : str
        Of the errors.
    n_held_out : int
        How many observations they rest on.
    candidates : tuple of CandidateTrial
        All, in order of preference.
    notes : tuple of str
        What limited the choice.
    """

    name: str
    reason: str
    unit: str
    n_held_out: int
    candidates: tuple[CandidateTrial, ...]
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """What a report says of it: without times, which differ from run to run."""
        told = [f"chosen automatically: {self.name}, {self.reason}", *self.notes]
        if self.n_held_out:
            tried = [candidate for candidate in self.candidates if candidate.was_tried]
            errors = "; ".join(candidate.describe() for candidate in tried)
            told.append(
                f"root mean squared errors on {self.n_held_out:,} held-out observations, in {self.unit}: {errors}"
            )
        return tuple(told)

    def __str__(self) -> str:
        width = max(len(candidate.name) for candidate in self.candidates)
        rows = [f"{'candidate':{width}}  held-out error  seconds"]
        for candidate in self.candidates:
            error = "" if isnan(candidate.held_out_error) else f"{candidate.held_out_error:.4f}"
            rows.append(
                f"{candidate.name:{width}}  {error:>14}  {candidate.seconds:7.2f}  {candidate.remark}".rstrip()
            )
        return "\n".join(
            [f"{self.name}: {self.reason}", *rows, *([f"errors in {self.unit}"] if self.unit else [])]
        )
