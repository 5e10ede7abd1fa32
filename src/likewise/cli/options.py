"""Options that commands share: what each means, and which wishes contradict each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from json import loads
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from cyclopts import Parameter, Token

from likewise.cli.exits import in_shell
from likewise.cli.values import Column, Columns, Number, OldPath, Range, Seed, Settings, Shape, Whole
from likewise.errors import EstimatorError, InputError, option, spelled

if TYPE_CHECKING:
    from likewise.estimation import MatrixEstimator
    from likewise.observations import ObservedMatrix
    from likewise.observations.reading import GroupsFile


def _words(_: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Read ``?,NA``."""
    return tuple(tokens[0].value.split(","))


def _noted_in_shell(observed: ObservedMatrix, names: Iterable[str]) -> ObservedMatrix:
    """Return observations whose notes spell the options of their reading as one types them."""
    from likewise.observations import ObservedMatrix

    table = observed.to_table()
    spell = in_shell([f"--{name.replace('_', '-')}" for name in names])
    notes = tuple(spelled(note, spell) for note in table.notes)
    return ObservedMatrix.from_table(replace(table, notes=notes), observed.value_range)


Words = Annotated[
    Any, Parameter(converter=_words, n_tokens=1, metavar="WORD,WORD", allow_leading_hyphen=True)
]


_FEATURES = ("row_features", "column_features")


@Parameter(name="*", group="Reading the file")
@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a file of observations is read; by default it is found by looking into the file.

    Parameters
    ----------
    format
        triplets: a line for each observation; pairs: the same without a value, such as clicks; wide: a row for each individual, under a header; grid:
        bare numbers.
    user
        Column of the individual in triplets, by name or by position counted from 0.
    item
        Column of the feature in triplets.
    rating
        Column of the value in triplets.
    time
        Column that says when each observation was made, in numbers or as dates such as 2024-05-31. Not read by default.
    columns
        Columns of a wide table that are features, separated by commas. By default all but --id-columns and --exclude.
    id_columns
        Columns of a wide table that name the individual, separated by commas.
    exclude
        Columns of a wide table that are not features, separated by commas.
    missing_value
        A number that stands for "missing", such as 0 in a grid.
    missing
        Words that stand for "missing", separated by commas, in place of NA, null, ?, - and the like.
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
    decimal
        What separates the decimals; the other one may then separate thousands. By default found by looking at the numbers.
    quote
        What encloses fields; none: quotes are ordinary characters.
    row_features
        File of what is known of the individuals, such as age and job: under a header, the id first or in a column that is called like one.
    column_features
        The same of what they rate, such as genre and year.
    """

    format: Literal["triplets", "pairs", "wide", "grid"] | None = None
    user: Column = None
    item: Column = None
    rating: Column = None
    time: Column = None
    columns: Columns = None
    id_columns: Columns = None
    exclude: Columns = None
    missing_value: Number = None
    missing: Words = None
    value_range: Range = None
    shape: Shape = None
    duplicates: Literal["error", "first", "last", "mean"] = "error"
    separator: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    header: bool | None = None
    encoding: str = "utf-8"
    decimal: Literal[".", ","] | None = None
    quote: Literal['"', "'", "none"] | None = None
    row_features: OldPath | None = None
    column_features: OldPath | None = None

    def read(self, path: Path) -> ObservedMatrix:
        """Read the observations, and what is known beside them."""
        from likewise.observations import read_ratings, with_features
        from likewise.observations.reading import read_features

        given = {field.name: getattr(self, field.name) for field in fields(self)}
        files = [given.pop(name) for name in _FEATURES]
        observed = _noted_in_shell(read_ratings(path, **given), given)
        if files == [None, None]:
            return observed
        rows, columns = (None if file is None else read_features(file) for file in files)
        return with_features(observed, rows, columns)

    def refuse_features(self, what: str) -> None:
        """Raise where features are given to what does not use them."""
        for name in _FEATURES:
            if getattr(self, name) is not None:
                raise InputError(f"{option(name, '')} for {what}", "ratings, which estimators complete")


READING = ReadOptions()


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


@Parameter(name="*", group="Pre-processing")
@dataclass(frozen=True, kw_only=True)
class EstimatorOptions:
    """How the observations are completed.

    Parameters
    ----------
    estimator
        auto: chooses by held-out observations; svt: singular value thresholding; biases: row and column biases alone; als; soft-impute;
        cai-candes-shen; mixture: of least squares and biases, with held-out weights. By default svt where an option below is given that is its own; none for outputs computed
        elsewhere; else auto.
    threshold
        tau: a number on the method's working range, or adaptive (noise-edge where that predicts hidden observations, else what
        predicts them best), noise-edge, noise-edge-residual, sign-flip, optimal-hard, screenot, cross-validated, universal, universal-variance,
        paper-synthetic, paper-ratings, paper-corollary, released-code.
    shrinker
        psi: rescaled (the paper's x / p), identity, soft, soft-rescaled, optimal-frobenius, optimal-operator, optimal-nuclear.
    centering
        What is subtracted before and added after: none, global, row, column, biases.
    propensities
        For data missing not at random, how likely each entry was to be observed: degrees, 1-bit.
    propensities_sample
        File of ratings drawn at random, user,item,rating, whoever would have chosen to give them: propensities by value from it.
    max_lipschitz
        A fairness budget L: shrink further, as little as possible, until the proved constant of the estimate is at most L.
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
    propensities_sample: Path | None = None
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
            # An option that the default does not have can only be meant for SVT.
            name = by_default if options.keys() <= set(options_of(by_default)) else "svt"
        return make_estimator(
            name, **{"working_range": self.working_range, "random_state": self.random_state, **options}
        )

    def _options(self) -> dict[str, Any]:
        """Return what was given by an option of its own and by --set; each once, or one of two wishes would be ignored."""
        options = {
            name: getattr(self, name)
            for name in self.chosen()
            if name not in ("estimator", "settings", "propensities_sample")
        }
        if self.propensities_sample is not None:
            options["propensities"] = self._random_sample()
        for text in self.settings:
            name, value = _setting(text)
            _refuse_range(name, text)
            if name in options:
                raise EstimatorError(f"--set {text} beside {name} = {options[name]}", "each option once")
            options[name] = value
        return options

    def _random_sample(self) -> Any:
        from likewise.estimation import RandomSample
        from likewise.observations import read_ratings

        assert self.propensities_sample is not None
        if self.propensities is not None:
            raise InputError("--propensities beside --propensities-sample", "one of them")
        return RandomSample(read_ratings(self.propensities_sample))


COMPLETING = EstimatorOptions()


_NEEDED = {
    "tolerance": ("lipschitz", "fail_above"),
    "missing_entries": ("lipschitz", "fail_above"),
    "group_column": ("groups",),
}
"""Options of measuring that mean nothing without one of the others."""


@Parameter(name="*", group="Measuring")
@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """What is measured on the outputs.

    Parameters
    ----------
    output_distance
        D between outputs, by default l2: l1, linf, l3 and other norms; absolute, of one number; tv, hellinger, w1, where outputs are probabilities of classes
        (of ordered ones for w1); top-n, rbo, of the 10 items with the highest scores, top-5 of 5; or the name of a registered distance.
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
        Column of that file, by name or by position counted from 0. By default the only one beside the ids.
    consistency
        Measure also how close everybody's output, one number, is to the mean of that many nearest neighbours.
    pairs
        Draw that many pairs and give intervals, instead of measuring all pairs.
    confidence
        Of each interval.
    missing_entries
        Judge D <= L d also over all values that missing entries may have: any, in the value range; or intervals, in conformal intervals of the
        confidence.
    memory_limit
        What the audit may hold beyond the data, such as 4GiB. Pairs that would take more are measured block by block.
    check
        A limit that a number must be shown to keep, such as 'gap<=0.9', or 'rmse<=1.0:warning', which is said but fails nothing: gap, rmse, mae,
        auc, log-loss, accuracy, ndcg, recall, envy, mean-ratio,
        largest-ratio, scale-free-ratio, violations, spread, proved, group-difference. Exit 3 where one is not. May be given more than once.
    """

    output_distance: str | None = None
    nearest_share: float = 0.1
    lipschitz: float | None = None
    fail_above: float | None = None
    tolerance: float = 0.0
    groups: OldPath | None = None
    group_column: Column = None
    consistency: Whole = None
    pairs: Whole = None
    confidence: float = 0.95
    missing_entries: Literal["any", "intervals"] | None = None
    memory_limit: str = "1GiB"
    check: Annotated[tuple[str, ...], Parameter(negative=(), metavar="NAME<=LIMIT")] = ()

    def fails(self) -> bool:
        """Return whether the exit code says something of fairness."""
        return self.fail_above is not None or bool(self.check)

    def checked(self) -> Self:
        """Raise where an option was given without the one that gives it a meaning, so that no wish is ignored, and for what is no check."""
        if self.check:
            from likewise.report.checks import Check

            for text in self.check:
                Check.read(text)
        default = {field.name: field.default for field in fields(self)}
        for name, needed in _NEEDED.items():
            if getattr(self, name) != default[name] and all(getattr(self, other) is None for other in needed):
                others = " or ".join(option(other, "") for other in needed)
                raise InputError(f"{option(name, '')} without {others}", "both, or neither")
        return self

    def read_groups(self, row_ids: Any, id_columns: Sequence[str | int] | None) -> GroupsFile | None:
        """Read the groups, if any, in the order of the individuals."""
        from likewise.observations.reading import read_groups_file

        if self.groups is None:
            return None
        return read_groups_file(self.groups, row_ids, id_columns=id_columns, group_column=self.group_column)

    def options(self) -> dict[str, Any]:
        """Return the arguments of `likewise.audit` that these are, all but the groups."""
        return {
            "output_distance": self.output_distance,
            "nearest_share": self.nearest_share,
            "lipschitz": self.limit(),
            "tolerance": self.tolerance,
            "consistency": self.consistency,
            "pairs": "all" if self.pairs is None else self.pairs,
            "confidence": self.confidence,
            "missing_entries": self.missing_entries,
            "memory_limit": self.memory_limit,
        }

    def limit(self) -> float | None:
        """Return L, by whichever option it was given; None without one."""
        if self.fail_above is not None and not 0 < self.fail_above < inf:
            raise InputError(f"--fail-above {self.fail_above:g}", "a finite number above 0")
        limits = {limit for limit in (self.lipschitz, self.fail_above) if limit is not None}
        if len(limits) > 1:
            raise InputError(f"--lipschitz {self.lipschitz} and --fail-above {self.fail_above}", "one limit")
        return next(iter(limits), None)


MEASURING = MeasureOptions()
