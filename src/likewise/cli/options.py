"""Files that a command is about to write: never one that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from json import loads
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from cyclopts import Parameter, Token

from likewise.errors import EstimatorError, InputError, option

if TYPE_CHECKING:
    from likewise.estimation import MatrixEstimator
    from likewise.observations import ObservedMatrix


def refuse_to_overwrite(read: Iterable[Path | None], written: Iterable[Path]) -> None:
    """Raise before the work where a result would take the place of what it is made from.

    Parameters
    ----------
    read : iterable of Path or None
        Files that the command reads.
    written : iterable of Path
        Files that it writes.

    Raises
    ------
    InputError

    Examples
    --------
    >>> refuse_to_overwrite([Path("ratings.csv"), None], [Path("report/report.html")])
    """
    inputs = {path.resolve() for path in read if path is not None}
    for target in written:
        if target.resolve() in inputs:
            raise InputError(f"{target}, which is read, as a file to write", "another name or folder")


def _two_numbers(_: Any, tokens: Sequence[Token]) -> tuple[float, float] | str:
    """Read ``1,5``, or a word that the library knows."""
    text = tokens[0].value
    if "," not in text:
        return text
    numbers = tuple(float(part) for part in text.split(","))
    if len(numbers) != 2:
        raise ValueError(f"{text} is not LOW,HIGH")
    return numbers[0], numbers[1]


def _two_sizes(_: Any, tokens: Sequence[Token]) -> tuple[int, int]:
    """Read ``6040,3952``."""
    sizes = tuple(_whole_number(part) for part in tokens[0].value.split(","))
    if len(sizes) != 2:
        raise ValueError(f"{tokens[0].value} is not ROWS,COLUMNS")
    return sizes[0], sizes[1]


def _columns(_: Any, tokens: Sequence[Token]) -> tuple[str | int, ...]:
    """Read ``written,course`` or ``0,3``."""
    return tuple(_numeral_or_name(name) for name in tokens[0].value.split(","))


def _column(_: Any, tokens: Sequence[Token]) -> str | int:
    """Read ``student`` or ``0``."""
    return _numeral_or_name(tokens[0].value)


def _numeral_or_name(text: str) -> str | int:
    from likewise.observations.reading.columns import Numeral

    return Numeral(text) if text.isdecimal() else text


def _new_path(_: Any, tokens: Sequence[Token]) -> Path:
    """Read where to write; nothing at all would mean the current folder."""
    if not (path := tokens[0].value):
        raise ValueError("an empty name")
    return Path(path)


def _whole(_: Any, tokens: Sequence[Token]) -> int:
    """Read ``10``; a fraction is refused, not rounded."""
    return _whole_number(tokens[0].value)


def _seed(_: Any, tokens: Sequence[Token]) -> int:
    if (seed := _whole_number(tokens[0].value)) < 0:
        raise ValueError(f"{seed} is below 0")
    return seed


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no whole number") from None


def _setting(text: str) -> tuple[str, Any]:
    """Read ``rank=20``; a value is a number, true, false or null where it reads as one, else text."""
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise EstimatorError(f"--set {text}", "NAME=VALUE")
    try:
        return name, loads(value)
    except ValueError:
        return name, value


def _refuse_range(name: str, text: str) -> None:
    """Raise for a range that an estimator would ignore: observations that were read from a file have theirs."""
    if name == "value_range":
        raise EstimatorError(
            f"--set {text}", "an option of the estimator", "the range of values is --value-range LOW,HIGH"
        )


Settings = Annotated[
    tuple[str, ...], Parameter(name="--set", negative=(), metavar="NAME=VALUE", allow_leading_hyphen=True)
]
Whole = Annotated[int | None, Parameter(converter=_whole, allow_leading_hyphen=True)]
Seed = Annotated[int, Parameter(converter=_seed, allow_leading_hyphen=True)]
NewPath = Annotated[Path, Parameter(converter=_new_path, allow_leading_hyphen=True)]
Column = Annotated[str | int | None, Parameter(converter=_column)]
Columns = Annotated[Any, Parameter(converter=_columns, n_tokens=1, metavar="NAME,NAME")]
Shape = Annotated[Any, Parameter(converter=_two_sizes, n_tokens=1, metavar="ROWS,COLUMNS")]
Range = Annotated[
    Any, Parameter(converter=_two_numbers, n_tokens=1, metavar="LOW,HIGH", allow_leading_hyphen=True)
]
Number = Annotated[float | None, Parameter(allow_leading_hyphen=True)]


@Parameter(name="*", group="Reading the file")
@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a file of observations is read; by default it is found by looking into the file.

    Parameters
    ----------
    format
        triplets: a line for each observation; wide: a row for each individual, under a header; grid: bare numbers.
    user
        Column of the individual in triplets, by name or by position counted from 0.
    item
        Column of the feature in triplets.
    rating
        Column of the value in triplets.
    columns
        Columns of a wide table that are features, separated by commas.
    id_columns
        Columns of a wide table that name the individual, separated by commas.
    missing_value
        A value that stands for "missing", such as 0 in a grid.
    value_range
        The range that values can take, such as 1,5; or per-column. By default the smallest and largest seen.
    shape
        Size of the matrix for integer ids, such as 6040,3952.
    duplicates
        What to do where triplets repeat a pair.
    separator
        What separates fields.
    header
        Whether the first line names the columns.
    encoding
        Of the text.
    """

    format: Literal["triplets", "wide", "grid"] | None = None
    user: Column = None
    item: Column = None
    rating: Column = None
    columns: Columns = None
    id_columns: Columns = None
    missing_value: Number = None
    value_range: Range = None
    shape: Shape = None
    duplicates: Literal["error", "first", "last", "mean"] = "error"
    separator: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    header: bool | None = None
    encoding: str = "utf-8"

    def read(self, path: Path) -> ObservedMatrix:
        """Read the observations."""
        from likewise.observations import read_ratings

        return read_ratings(path, **{field.name: getattr(self, field.name) for field in fields(self)})


READING = ReadOptions()


@Parameter(name="*", group="Pre-processing")
@dataclass(frozen=True, kw_only=True)
class EstimatorOptions:
    """How the observations are completed.

    Parameters
    ----------
    estimator
        auto: chooses by held-out observations; svt: singular value thresholding; biases: row and column biases alone; als; soft-impute;
        cai-candes-shen. By default svt where an option below is given that is its own, and for frontier; none for outputs computed
        elsewhere; else auto.
    threshold
        tau: a number on the method's working range, or noise-edge, noise-edge-residual, sign-flip, optimal-hard, screenot, cross-validated,
        universal, universal-variance, paper-synthetic, paper-ratings, released-code.
    shrinker
        psi: rescaled (the paper's x / p), identity, soft, soft-rescaled, optimal-frobenius, optimal-operator, optimal-nuclear.
    centering
        What is subtracted before and added after: none, global, row, column, biases.
    propensities
        For data missing not at random, how likely each entry was to be observed: degrees, 1-bit.
    max_lipschitz
        A fairness budget L: shrink further, as little as possible, until the constant K* of the estimate is at most L.
    settings
        Any option of the estimator, as NAME=VALUE; may be given more than once.
    working_range
        Where the value range is mapped to: [-1, 1] or [0, 1].
    random_state
        Seed of everything random.
    """

    estimator: str | None = None
    threshold: Annotated[float | str | None, Parameter(allow_leading_hyphen=True)] = None
    shrinker: str | None = None
    centering: str | None = None
    propensities: str | None = None
    max_lipschitz: Number = None
    settings: Settings = ()
    working_range: Literal["symmetric", "unit"] = "symmetric"
    random_state: Seed = 0

    def chosen(self) -> list[str]:
        """Return the names of the options that differ from their defaults."""
        return [field.name for field in fields(self) if getattr(self, field.name) != field.default]

    def make_estimator(self, by_default: str = "auto") -> MatrixEstimator:
        """Return the estimator, not fitted: the one that is named, or else the default, or the one that takes the options."""
        from likewise.estimation import make_estimator
        from likewise.estimation.registry import options_of

        options = self._options()
        name = self.estimator
        if name is None:
            name = by_default if options.keys() <= set(options_of(by_default)) else "svt"
        return make_estimator(
            name, **{"working_range": self.working_range, "random_state": self.random_state, **options}
        )

    def _options(self) -> dict[str, Any]:
        """Return what was given by an option of its own and by --set; each once, or one of two wishes would be ignored."""
        options = {
            name: getattr(self, name) for name in self.chosen() if name not in ("estimator", "settings")
        }
        for text in self.settings:
            name, value = _setting(text)
            _refuse_range(name, text)
            if name in options:
                raise EstimatorError(f"--set {text} beside {name} = {options[name]}", "each option once")
            options[name] = value
        return options


COMPLETING = EstimatorOptions()


_NEEDED = {"tolerance": ("lipschitz", "fail_above"), "group_column": ("groups",), "confidence": ("pairs",)}
"""Options of measuring that mean nothing without one of the others."""


@Parameter(name="*", group="MeasureOptions")
@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """What is measured on the outputs.

    Parameters
    ----------
    nearest_share
        Share of the pairs that counts as most similar.
    lipschitz
        L: count the pairs with D > L d, and judge.
    fail_above
        The same, and exit with 3 unless D <= L d is shown to hold, for use in a pipeline.
    tolerance
        Share of the pairs that may violate the limit.
    groups
        File with a group for each individual: its first column is the id, or the same id columns as in the observations.
    group_column
        Column of that file, by name or by position counted from 0.
    pairs
        Draw that many pairs and give intervals, instead of measuring all pairs.
    confidence
        Of these intervals.
    """

    nearest_share: float = 0.1
    lipschitz: float | None = None
    fail_above: float | None = None
    tolerance: float = 0.0
    groups: Path | None = None
    group_column: Column = 1
    pairs: Whole = None
    confidence: float = 0.95

    def checked(self) -> Self:
        """Raise where an option was given without the one that gives it a meaning, so that no wish is ignored."""
        default = {field.name: field.default for field in fields(self)}
        for name, needed in _NEEDED.items():
            if getattr(self, name) != default[name] and all(getattr(self, other) is None for other in needed):
                others = " or ".join(option(other, "") for other in needed)
                raise InputError(f"{option(name, '')} without {others}", "both, or neither")
        return self

    def options(self, observed: ObservedMatrix, id_columns: Sequence[str | int] | None) -> dict[str, Any]:
        """Return the arguments of `likewise.audit` that these are; groups are read and put in the order of the individuals."""
        from likewise.inference import read_groups

        column = 1 if self.group_column is None else self.group_column
        groups = self.groups and read_groups(
            self.groups, observed.row_ids, id_column=id_columns or 0, group_column=column
        )
        return {
            "nearest_share": self.nearest_share,
            "lipschitz": self._limit(),
            "tolerance": self.tolerance,
            "groups": groups,
            "pairs": "all" if self.pairs is None else self.pairs,
            "confidence": self.confidence,
        }

    def _limit(self) -> float | None:
        if self.fail_above is not None and not 0 < self.fail_above < inf:
            raise InputError(f"--fail-above {self.fail_above:g}", "a finite number above 0")
        limits = {limit for limit in (self.lipschitz, self.fail_above) if limit is not None}
        if len(limits) > 1:
            raise InputError(f"--lipschitz {self.lipschitz} and --fail-above {self.fail_above}", "one limit")
        return next(iter(limits), None)


MEASURING = MeasureOptions()
