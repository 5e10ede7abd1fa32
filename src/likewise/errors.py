"""Every error and warning of the package, in one place.

An error says three things: what was given, what was expected, and what to do. The command line prints exactly
that text and exits with 1; nothing has been written by then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ActivityWarning",
    "CategoryWarning",
    "CompletenessWarning",
    "ConstantOutputWarning",
    "ConvergenceWarning",
    "DamagedStateWarning",
    "DistanceError",
    "DownloadError",
    "EngineError",
    "EstimatorError",
    "FairnessError",
    "FileFormatError",
    "FullRankWarning",
    "InputError",
    "KernelWarning",
    "LikewiseError",
    "LikewiseWarning",
    "MemoryLimitError",
    "MissingDependencyError",
    "ModelError",
    "Note",
    "NumberTypeError",
    "ObservationError",
    "OutputError",
    "PropensityWarning",
    "RankZeroWarning",
    "ShapeError",
    "ShrinkerError",
    "SpectrumError",
    "ThresholdError",
    "ValueRangeWarning",
    "option",
    "printable",
    "some_of",
    "spelled",
    "unknown_name",
]

_MARKED = re.compile("\x01(\\w+)\x02(.*?)\x03", re.DOTALL)


def option(name: str, value: str = "...") -> str:
    """Mention an argument in a message so that whoever prints it can spell it: as Python does, or as a command line does.

    The value is written as Python writes it; empty mentions the name alone. Goes into an `InputError` or a `LikewiseWarning`.

    >>> print(InputError(option("share", "2"), "at most 1", f"leave {option('share')} out"))
    share=2; expected at most 1. Hint: leave share=... out
    """
    return f"\x01{name}\x02{value}\x03"


def spelled(message: object, spelling: Callable[[str, str], str]) -> str:
    """Write an error, a warning, a note, or a text with the arguments that it mentions spelled by ``spelling(name, value)``."""
    return _MARKED.sub(lambda mention: spelling(*mention.groups()), getattr(message, "marked", str(message)))


class Note(str):
    """A sentence of a result that mentions arguments: as Python spells them, until a command line spells them its own way.

    Parameters
    ----------
    text : str
        With arguments mentioned by `option`.

    Examples
    --------
    >>> found = Note(f"if it is missing, give {option('missing_value', '0')}")
    >>> found, spelled(found, lambda name, value: f"--{name} {value}")
    ('if it is missing, give missing_value=0', 'if it is missing, give --missing_value 0')
    """

    marked: str

    def __new__(cls, text: str) -> Note:
        """Keep the text as it was marked beside the sentence."""
        note = super().__new__(cls, spelled(text, _in_python))
        note.marked = text
        return note


def printable(text: object) -> str:
    r"""Write any id, file name or message so that it cannot steer a terminal: control characters are spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def _in_python(name: str, value: str) -> str:
    return f"{name}={value}" if value else name


class LikewiseError(Exception):
    """Base of every error that likewise raises on purpose."""

    def __init__(self, message: str = "") -> None:
        self.marked = message
        super().__init__(spelled(message, _in_python))


class InputError(LikewiseError, ValueError):
    """An argument or a file that cannot be used.

    Parameters
    ----------
    given : str
        What was given, with the offending value.
    expected : str
        What would have been accepted.
    hint : str, optional
        What to do next.

    Examples
    --------
    >>> raise InputError("threshold is -1", "a number >= 0 or a known name", "see likewise.estimation.THRESHOLDS")
    Traceback (most recent call last):
    ...
    likewise.errors.InputError: threshold is -1; expected a number >= 0 or a known name. Hint: see likewise.estimation.THRESHOLDS
    """

    def __init__(self, given: str, expected: str, hint: str = "") -> None:
        self.given, self.expected, self.hint = (spelled(part, _in_python) for part in (given, expected, hint))
        self._marked_parts = given, expected, hint
        super().__init__(f"{given}; expected {expected}." + (f" Hint: {hint}" if hint else ""))

    def found_in(self, place: str) -> Self:
        """Return the same error with the place where it was found, such as a file, before what was given.

        Examples
        --------
        >>> print(ObservationError("value 7", "values from 1 to 5").found_in("test.csv"))
        test.csv: value 7; expected values from 1 to 5.
        """
        given, expected, hint = self._marked_parts
        return type(self)(f"{place}: {given}", expected, hint)

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str], dict[str, object]]:
        return type(self), (self.given, self.expected, self.hint), self.__dict__


class FileFormatError(InputError):
    """A file that is missing, unreadable, or not in the format it was taken for."""


class ObservationError(InputError):
    """Observations that contradict themselves or the declared range: duplicates, NaN, out of range, no spread."""


class NumberTypeError(ObservationError, TypeError):
    """Observations of a type that is not a number; a TypeError as well, which scikit-learn's contract asks of an estimator."""


class ShapeError(InputError):
    """Arrays whose shapes do not fit each other or the task."""


class ThresholdError(InputError):
    """A threshold that is negative, not a number, or unknown."""


class ShrinkerError(InputError):
    """A shrinker psi that is unknown, decreasing, negative, or not finite."""


class EstimatorError(InputError):
    """An estimator that is unknown, or an option that it does not take."""


class ModelError(InputError):
    """An inference algorithm that is unknown, cannot run on these data, or returned unusable outputs."""


class DistanceError(InputError):
    """A distance that is unknown or cannot be computed on these data."""


class FairnessError(LikewiseError):
    """A limit that a pipeline was told to hold does not hold, or is not shown to hold."""


class OutputError(LikewiseError, OSError):
    """A result that could not be written; no partial file is left behind."""


class DownloadError(LikewiseError, OSError):
    """Data that could not be fetched, or that are not what they should be; nothing is in place then."""


class MemoryLimitError(LikewiseError, MemoryError):
    """An array that would not fit, refused before it was allocated."""

    def __new__(cls, *arguments: object) -> Self:
        """Be made as other errors are: MemoryError's own way refuses a class with another base before it, as where an error comes from a worker."""
        return Exception.__new__(cls, *arguments)


class SpectrumError(LikewiseError, RuntimeError):
    """A singular value computation that could not deliver what was asked for."""


class EngineError(LikewiseError, RuntimeError):
    """Workers that were lost again and again, or whoever hands out work; no result is left half made."""


class MissingDependencyError(LikewiseError, ImportError):
    """An optional library that is not installed; the message names the command that installs it."""


class LikewiseWarning(UserWarning):
    """Base of every warning that likewise gives."""

    def __init__(self, message: str) -> None:
        self.marked = message
        super().__init__(spelled(message, _in_python))


class ValueRangeWarning(LikewiseWarning):
    """Columns have scales of their own, yet one range for all of them was inferred."""


class RankZeroWarning(LikewiseWarning):
    """No singular value exceeds the threshold: the estimate is constant."""


class FullRankWarning(LikewiseWarning):
    """Nearly every singular value exceeds the threshold: the estimate keeps noise."""


class ConstantOutputWarning(LikewiseWarning):
    """Outputs hardly differ between individuals: fairness ratios are then small for a trivial reason."""


class ActivityWarning(LikewiseWarning):
    """A reference distance goes more with how much was observed of people than with how much they differ."""


class CategoryWarning(LikewiseWarning):
    """A category of which nearly everybody has another one, so that it tells nothing of who is like whom."""


class CompletenessWarning(LikewiseWarning):
    """A singular value above the threshold may have been missed."""


class ConvergenceWarning(LikewiseWarning):
    """Iterations were stopped by their limit before they had settled; the result is kept, flagged."""


class PropensityWarning(LikewiseWarning):
    """Weights by how much is observed of rows and columns, where that hardly goes with the values."""


class FeatureWarning(LikewiseWarning):
    """Features of rows or columns that say nothing, or that were made from the values to be predicted."""


class DamagedStateWarning(LikewiseWarning):
    """A file that an interrupted run left cannot be used; what it held is computed again."""


class KernelWarning(LikewiseWarning):
    """The compiled kernels are not available; the slower SciPy path is used."""


def some_of(names: Sequence[Any] | NDArray[Any], most: int, written: Callable[[Any], str] = repr) -> str:
    """Name the first of many, for a message; dots say that there are more."""
    return ", ".join(map(written, names[:most])) + (", ..." if len(names) > most else "")


_LONGEST_NAME = 100
"""What is longer is no name; the text of a data frame would fill the screen."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> tuple[str, str, str]:
    """Compose the three parts of an `InputError` about an unknown name, with the nearest of the known ones as the hint.

    >>> unknown_name("threshold", "univrsal", ["universal", "noise-edge"])
    ("unknown threshold 'univrsal'", "one of 'universal', 'noise-edge'", "did you mean 'universal'?")
    """
    names = list(known)
    listing, written = ", ".join(repr(known_name) for known_name in names), repr(name)
    if not isinstance(name, str) and ("\n" in written or len(written) > _LONGEST_NAME):
        return f"{kind} of type {type(name).__name__}", f"one of {listing}", ""
    nearest = get_close_matches(str(name), names, n=1)
    hint = f"did you mean {nearest[0]!r}?" if nearest else ""
    return f"unknown {kind} {written}", f"one of {listing}", hint
