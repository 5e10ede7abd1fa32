"""How well outputs tell a known target: AUC, log loss, share right, RMSE and MAE, with intervals over individuals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from likewise._typing import Floats
from likewise.arrays import as_floats
from likewise.checks import checked_confidence
from likewise.errors import InputError, ModelError, ShapeError
from likewise.fairness.metrics.accuracy import held_out_error
from likewise.fairness.sampled.intervals.interval import Interval
from likewise.observations.ids import as_id_array, unknown_labels
from likewise.observations.index_alignment import aligned_with
from likewise.observations.reading.output_kinds import two_valued


@dataclass(frozen=True, eq=False)
class Target:
    """A target as it was understood."""

    known: NDArray[np.bool_]  # (m,), whose is known
    values: NDArray[Any]  # (n_known,), numbers, or text
    classes: NDArray[Any]  # the different values, sorted

    @classmethod
    def of(cls, target: ArrayLike, n_individuals: int) -> Target:
        """Understand a target; what is missing is unknown, and left out.

        ShapeError for another length than there are individuals; InputError for nothing known, the same for all, or a number that is infinite.
        """
        given = as_id_array(target, "the target")
        if given.shape != (n_individuals,):
            raise ShapeError(
                f"a target of shape {given.shape}", f"one value for each of {n_individuals} individuals"
            )
        known = ~unknown_labels(given)
        values = _numbers_or_text(given[known])
        classes = np.unique(values)
        if classes.size < 2:
            given_is = f"the same for all of them, {classes[0]!s}" if classes.size else "known of nobody"
            raise InputError(
                f"a target of {known.sum():,} of {n_individuals:,} individuals, {given_is}",
                "at least two different values",
                "accuracy has no meaning if everybody has the same target",
            )
        return cls(known, values, classes)

    @property
    def is_text(self) -> bool:
        """Whether the values are words."""
        return self.values.dtype.kind == "O"

    def as_zero_one(self) -> tuple[Floats, str]:
        """Return one of two values as 1 and the other as 0, and say which is which."""
        if self.is_text and (read := two_valued(self.values.tolist())) is not None:
            return np.array(read[0]), read[1].replace("outputs: ", "target: ", 1)
        low, high = self.classes.tolist()
        spoken = [repr(one) if self.is_text else f"{one:g}" for one in (high, low)]
        meaning = f"target: {spoken[0]} counts as 1, {spoken[1]} counts as 0"
        return (self.values == high).astype(np.float64), meaning


def _numbers_or_text(known: NDArray[Any]) -> NDArray[Any]:
    """Return floats where all values are numbers, or text that reads as them; else text."""
    try:
        numbers = known.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array([str(one) for one in known.tolist()], dtype=object)
    if not np.isfinite(numbers).all():
        raise InputError(
            f"a target with {np.count_nonzero(~np.isfinite(numbers)):,} infinite values", "finite numbers"
        )
    return numbers


LEAST_PROBABILITY = float(np.finfo(np.float64).eps)
"""What a probability below it counts as in a log loss, which would be infinite at 0; scikit-learn's."""

_FEWEST = 10
"""Individuals, below whom an interval would say nothing."""

_NORMAL = "normal over individuals (asymptotic)"
_ROUNDING = 1e-6
_HALF = 0.5

MEASURES = ("AUC", "log loss", "accuracy", "RMSE", "MAE", "nDCG", "recall")
HIGHER_IS_BETTER = frozenset({"AUC", "accuracy", "nDCG", "recall"})


@dataclass(frozen=True)
class TargetValue:
    """One measure of accuracy, with its interval.

    Parameters
    ----------
    value : float
    interval : Interval or None
        Over individuals; None where they are too few, or all of them agree.
    """

    value: float
    interval: Interval | None = None


@dataclass(frozen=True)
class TargetAccuracy:
    """How well outputs predict a target.

    Parameters
    ----------
    n, n_unknown : int
        Individuals whose target is known, and the others, who are left out.
    measure : str
        The one of `values` to read first: ``"AUC"`` for scores and probabilities of two classes, ``"log loss"`` for probabilities of several,
        ``"accuracy"`` for decisions, ``"RMSE"`` for numbers, ``"nDCG"`` for lists of items.
    values : mapping of str to TargetValue
        ``"AUC"``, in [0, 1]: how often one individual of the class 1 has a higher score than one of the class 0, ties counted half. ``"log loss"``,
        0 or more: minus the mean logarithm of the probability of what is true. ``"accuracy"``, in [0, 1]: share of individuals whose class is told
        right. ``"RMSE"`` and ``"MAE"``: of numbers, in the units of the target. ``"nDCG"`` and ``"recall"``, in [0, 1]: of lists of items, see
        `ranking_accuracy`.
    notes : tuple of str
        What was taken for what.
    predicted_by : str
        Who gave the outputs.
    against : str
        What they were held against.
    """

    n: int
    n_unknown: int
    measure: str
    values: Mapping[str, TargetValue]
    notes: tuple[str, ...] = ()
    predicted_by: str = "the outputs as they were given"
    against: str = "the target"

    @property
    def first(self) -> TargetValue:
        """The value to read first."""
        return self.values[self.measure]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a plain dictionary."""
        return asdict(self)

    def __str__(self) -> str:
        said = ", ".join(
            f"{name} {found.value:.4g}{f' {found.interval}' if found.interval else ''}"
            for name, found in self.values.items()
        )
        return f"{said} over {self.n:,} individuals"


def target_accuracy(outputs: ArrayLike, target: ArrayLike, *, confidence: float = 0.95) -> TargetAccuracy:
    """Measure how well outputs tell a known target.

    Parameters
    ----------
    outputs : array-like or data frame, shape (m,) or (m, k)
        One number for each individual, or probabilities of the k classes, by name or in sorted order.
    target : array-like, shape (m,)
        Numbers or words; with labels of its own it is put in the order of those of `outputs`. Of two values, the larger number counts as 1, or the word that says yes, or else the last in sorted order. Missing ones
        are counted and left out.
    confidence : float, default 0.95
        Of each interval.

    Returns
    -------
    TargetAccuracy
        Two values of the target and one column: AUC, with DeLong's interval; with outputs in [0, 1] also log loss, and accuracy where above 1/2 counts as 1, with Wilson's.
        Probabilities of several classes: log loss and accuracy of the most probable one. Numbers: RMSE and MAE.

    Raises
    ------
    ShapeError
        A target of another length, or of others than the outputs.
    ModelError
        Outputs that are not finite numbers.
    InputError
        A target that is the same for all, or known of nobody; outputs that cannot tell it.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating characteristic curves", Biometrics 44, 1988.

    Examples
    --------
    >>> found = target_accuracy([0.9, 0.4, 0.4, 0.1], ["yes", "yes", "no", "no"])
    >>> found.measure, found.first.value, found.notes[0]
    ('AUC', 0.875, "target: 'yes' counts as 1, 'no' counts as 0")
    >>> target_accuracy([1.0, 2.0, 5.0], [1.0, 3.0, 5.0]).values["MAE"].value
    0.3333333333333333
    """
    checked_confidence(confidence)
    target = aligned_with("target", target, outputs)
    told = as_floats(outputs, "outputs", ModelError)
    if told.ndim not in (1, 2) or not told.size:
        raise ShapeError(f"outputs of shape {told.shape}", "(m,) or (m, k), one row for each individual")
    if not np.isfinite(told).all():
        raise ModelError(f"{np.count_nonzero(~np.isfinite(told))} outputs that are not finite", "numbers")
    truth = Target.of(target, len(told))
    rows = told[truth.known].reshape(truth.values.size, -1)
    names = getattr(outputs, "columns", None)
    values, notes = _told(rows, truth, None if names is None else [str(name) for name in names], confidence)
    unknown = int(np.count_nonzero(~truth.known))
    return TargetAccuracy(truth.values.size, unknown, next(iter(values)), values, notes)


def common_measure(told: Sequence[TargetAccuracy]) -> str | None:
    """Return what to read first of several outputs: what is the first of all of them, else what all of them have; None where there is nothing."""
    firsts = dict.fromkeys(accuracy.measure for accuracy in told)
    shared = [*firsts] if len(firsts) == 1 else [*MEASURES]
    return next((name for name in shared if told and all(name in one.values for one in told)), None)


def label_of(measure: str) -> str:
    """Return what a number of accuracy is called where it stands first."""
    kind = "accuracy" if measure in HIGHER_IS_BETTER else "error"
    return f"{kind} ({'share right' if measure == 'accuracy' else measure})"


Told = tuple[dict[str, TargetValue], tuple[str, ...]]


def _told(rows: Floats, truth: Target, names: list[str] | None, confidence: float) -> Told:
    """Measure what fits outputs and target; the value to read first is the first."""
    if rows.shape[1] > 1:
        return _of_probabilities(rows, truth, names, confidence)
    if truth.classes.size == 2:
        return _of_scores(rows[:, 0], *truth.as_zero_one(), confidence)
    if truth.is_text:
        raise InputError(
            f"one output for a target of {truth.classes.size} classes", "a probability of each class"
        )
    return _of_numbers(rows[:, 0], truth.values, confidence)


def _of_numbers(scores: Floats, truth: Floats, confidence: float) -> Told:
    error = held_out_error(scores, truth, individuals=np.arange(truth.size), confidence=confidence)
    off = mean_over_individuals(np.abs(scores - truth), confidence)
    return {"RMSE": TargetValue(error.rmse, error.rmse_interval), "MAE": off}, ()


def _of_scores(scores: Floats, truth: Floats, meaning: str, confidence: float) -> Told:
    """Measure one number for two classes: a score, a probability, or a decision where it is 0 or 1 throughout."""
    area = {"AUC": _area(scores, truth, confidence)}
    if scores.min() < 0 or scores.max() > 1:
        return area, (meaning, "outputs are scores: not all of them lie in [0, 1]")
    right = {"accuracy": _share((scores > _HALF) == (truth == 1), confidence)}
    if np.isin(scores, (0, 1)).all():
        return right | area, (meaning, "outputs are decisions: all of them are 0 or 1")
    loss, note = _log_loss(np.where(truth == 1, scores, 1 - scores), confidence)
    return area | {"log loss": loss} | right, (meaning, f"outputs count as probabilities of 1{note}")


def _of_probabilities(rows: Floats, truth: Target, names: list[str] | None, confidence: float) -> Told:
    if rows.min() < 0 or np.abs(rows.sum(axis=1) - 1).max() > _ROUNDING:
        raise InputError(
            f"{rows.shape[1]} outputs for each individual, which are no probabilities, beside a target",
            "one number for each individual, or a probability of each class of the target",
        )
    order, meaning = _columns_of_classes(truth.classes, rows.shape[1], names)
    place = order[np.searchsorted(truth.classes, truth.values)]
    right = {"accuracy": _share(rows.argmax(axis=1) == place, confidence)}
    area = {}
    if truth.classes.size == rows.shape[1] == 2:
        one, which = truth.as_zero_one()
        area, meaning = {"AUC": _area(rows[:, place[one == 1][0]], one, confidence)}, f"{meaning}; {which}"
    if np.isin(rows, (0, 1)).all():
        return right | area, (meaning, "outputs are decisions: one class each")
    loss, note = _log_loss(rows[np.arange(len(rows)), place], confidence)
    return area | {"log loss": loss} | right, (f"{meaning}{note}",)


def _columns_of_classes(classes: Any, n_columns: int, names: list[str] | None) -> tuple[Any, str]:
    """Return the column of each class: by name, else in sorted order where there is one for each."""
    spoken = [f"{one:g}" if isinstance(one, float) else one for one in classes.tolist()]
    if names is not None and set(spoken) <= set(names):
        return np.array([names.index(one) for one in spoken]), "outputs are probabilities, by their names"
    if classes.size != n_columns:
        raise InputError(
            f"{n_columns} outputs for each individual beside a target of {classes.size} classes",
            "a probability of each class of the target, under its name or in sorted order",
        )
    return np.arange(n_columns), f"outputs are probabilities of {', '.join(spoken)}, in this order"


def _area(scores: Floats, truth: Floats, confidence: float) -> TargetValue:
    """Return the AUC: of everybody the share of the other class that is on the right side, and the spread of these shares (DeLong)."""
    ones, ranks = truth == 1, rankdata(scores)
    n_ones, n_others = np.count_nonzero(ones), np.count_nonzero(~ones)
    # A rank among all less that among one's own class counts the other class below, ties half.
    of_ones = (ranks[ones] - rankdata(scores[ones])) / n_others
    of_others = 1 - (ranks[~ones] - rankdata(scores[~ones])) / n_ones
    area = float(of_ones.mean())
    if min(n_ones, n_others) < _FEWEST:
        return TargetValue(area)
    spread = np.sqrt(of_ones.var(ddof=1) / n_ones + of_others.var(ddof=1) / n_others)
    method = "DeLong, over individuals (asymptotic)"
    return TargetValue(area, _around(area, spread, confidence, method, most=1.0))


def _log_loss(probabilities: Floats, confidence: float) -> tuple[TargetValue, str]:
    """Return the log loss of what is true, and say how many probabilities were clipped."""
    low = np.count_nonzero(probabilities < LEAST_PROBABILITY)
    clipped = (
        f"; {low:,} probabilities of what is true, below {LEAST_PROBABILITY:.1e}, count as that"
        if low
        else ""
    )
    return mean_over_individuals(-np.log(np.clip(probabilities, LEAST_PROBABILITY, 1)), confidence), clipped


def mean_over_individuals(values: Floats, confidence: float, most: float = np.inf) -> TargetValue:
    """Return a mean over individuals of what is at least 0 and at most `most`, with an interval."""
    mean = float(values.mean())
    if values.size < _FEWEST:
        return TargetValue(mean)
    spread = values.std(ddof=1) / np.sqrt(values.size)
    return TargetValue(mean, _around(mean, spread, confidence, _NORMAL, most))


def _around(value: float, spread: float, confidence: float, method: str, most: float) -> Interval | None:
    if spread == 0:
        return None  # all individuals agree: how far others would not is not known from them
    margin = NormalDist().inv_cdf(0.5 + confidence / 2) * spread
    return Interval(float(max(value - margin, 0.0)), float(min(value + margin, most)), confidence, method)


def _share(right: Any, confidence: float) -> TargetValue:
    """Return the share that is right, with Wilson's interval, which has a width also where all are."""
    n, share = right.size, float(right.mean())
    if n < _FEWEST:
        return TargetValue(share)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    margin = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # To within rounding, the share itself is an end where all are right, or none.
    low, high = min(max(middle - margin, 0.0), share), max(min(middle + margin, 1.0), share)
    return TargetValue(
        share, Interval(float(low), float(high), confidence, "Wilson, over individuals (asymptotic)")
    )
