"""Complete the matrix and keep the factors, or predict single entries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from likewise.cli.blocks import BLOCKS, BlockOptions, estimate_parts
from likewise.cli.config import resolved
from likewise.cli.options import COMPLETING, READING, EstimatorOptions, ReadOptions
from likewise.cli.results import PLAN, PlanOptions, data_plan
from likewise.cli.values import NewPath, Number, OldPath, existing, refuse_to_overwrite
from likewise.errors import InputError, printable
from likewise.progress import StepBars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from likewise._typing import Floats, Indices
    from likewise.cli.predictions import Predictions
    from likewise.estimation import EntryIntervals, LevelProbabilities, LowRankEstimate, MatrixEstimator
    from likewise.estimation.auto.trials import Choice
    from likewise.observations import ObservedMatrix

_TABLES = (".csv", ".parquet")


def estimate(
    ratings: OldPath,
    /,
    *,
    out: NewPath,
    pairs: OldPath | None = None,
    unknown: Literal["mean", "error"] = "mean",
    confidence: Number = None,
    distribution: Annotated[bool, Parameter(negative=())] = False,
    details: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(negative=())] = False,
    plan: PlanOptions = PLAN,
    blocks: BlockOptions = BLOCKS,
    completing: EstimatorOptions = COMPLETING,
    reading: ReadOptions = READING,
) -> None:
    """Complete the matrix; write its factors, or predictions for a list of pairs.

    Parameters
    ----------
    ratings
        File of observations; or a folder of Parquet parts, or a pattern such as 'ratings/*.parquet' in quotes, which need not fit into memory.
    out
        File to write: factors go to .npz (read them with likewise.LowRankEstimate.load), predictions to .csv or .parquet. From parts, a name
        that ends in .parquet is a folder, in which the complete rows of all individuals are written as Parquet parts.
    pairs
        File of pairs (individual, feature), one a line, to predict.
    unknown
        What to predict for an individual or a feature without observations: mean, of the observations of the other one of the pair, or of
        all; or error, which refuses the file.
    confidence
        With --pairs: add columns lower and upper, an interval for what would be observed at each pair. At least this share of the intervals,
        such as 0.95, contains it. A tenth of the observations is set aside to measure how wide they must be; the estimates are made without it.
    distribution
        With --pairs, for values that are ordered levels such as stars: add columns expected and p_LEVEL, the probability of each level, by an ordered probit. The interval of
        --confidence then goes from level to level.
    details
        Print every estimator that auto tried, not the chosen one alone.
    quiet
        Print nothing but errors and warnings.
    """
    configuration = resolved("estimate", locals())
    _check_confidence(confidence, distribution, pairs)
    if blocks.wanted(ratings):
        _check_parts(ratings, out, pairs, plan)
        estimate_parts(ratings, out, blocks, completing, reading, quiet=quiet)
        return
    _check_kind(out, pairs)
    for path, holds in ((ratings, "observations"), (pairs, "pairs")):
        if path is not None:
            existing(path, holds)
    from likewise.cli.predictions import Predictions
    from likewise.writing import check_file

    refuse_to_overwrite([ratings, pairs], [out])
    check_file(out)
    estimator = completing.make_estimator()
    with StepBars(quiet=quiet) as progress:
        progress("read the file", 0, 1)
        observed = reading.read(ratings)
        wanted = None if pairs is None else Predictions.read(pairs, observed, unknown)
        if plan.tells(_plan(observed, estimator, out, wanted), configuration):
            return
        progress("estimate the matrix", 0, 1)
        completed, intervals = _completed(
            estimator, observed, confidence, distribution, completing.random_state
        )
        if wanted is None:
            completed.save(out)
        else:
            places = wanted.rows[wanted.known], wanted.columns[wanted.known]
            wanted.write(completed, _more(intervals, confidence, *places), observed, out)
    if not quiet:
        _tell(estimator, observed, completed, intervals, details=details)
        if wanted is not None and (note := wanted.note()):
            print(note)
        print(f"{'Factors' if wanted is None else 'Predictions'}: {out}")


def _plan(
    observed: ObservedMatrix, estimator: MatrixEstimator, out: Path, wanted: Predictions | None
) -> list[str]:
    """Say what would be estimated, by what, and where it would go."""
    from likewise.memory import format_bytes

    m, n = observed.shape
    written = f"factors: {out}" if wanted is None else f"predictions: {out}"
    each, held = format_bytes(8 * (m + n)), format_bytes(12 * observed.n_observed)
    memory = f"memory: about {held} for the observations, and {each} for each component; the complete matrix is never formed"
    return [*data_plan(observed), f"estimator: {' '.join(repr(estimator).split())}", memory, written]


def _check_parts(ratings: Path, out: Path, pairs: Path | None, plan: PlanOptions) -> None:
    """Fail before the work: of parts, the factors are written, or complete rows."""
    from likewise.writing import check_file, check_new_folder

    if plan.dry_run:
        raise InputError(f"--dry-run for the parts of {ratings}", "one file, which can be read at once")
    if pairs is not None:
        raise InputError(
            f"--pairs for the parts of {ratings}",
            "factors or complete rows alone",
            "likewise.LowRankEstimate.load(FILE).entries_of(...) predicts from factors",
        )
    if out.suffix.lower() not in (".npz", ".parquet"):
        raise InputError(
            f"--out {out}", "a name ending in .npz for factors, or in .parquet for a folder of complete rows"
        )
    (check_file if out.suffix.lower() == ".npz" else check_new_folder)(out)


def _tell(
    estimator: MatrixEstimator,
    observed: ObservedMatrix,
    completed: LowRankEstimate,
    intervals: EntryIntervals | LevelProbabilities | None,
    *,
    details: bool,
) -> None:
    """Print which columns were read as what, the range, and what was estimated how well: what `auto` chose, with its error."""
    from likewise.pipeline.summaries import summarise_data, summarise_estimate
    from likewise.report.description import data_lines, estimate_lines

    data = summarise_data(
        observed, estimator.working_range, observed.roles.source if observed.roles else "data"
    )
    lines = [*data_lines(data), *data.notes]
    if intervals is None:
        told = estimate_lines(summarise_estimate(estimator))
        lines += told if details else _without_trials(told, getattr(estimator, "choice_", None))
    else:
        lines += [
            f"{' '.join(repr(estimator).split())}, fitted without the observations that intervals rest on"
        ]
    for line in dict.fromkeys((*lines, str(completed), *([] if intervals is None else [str(intervals)]))):
        print(printable(line) if line != str(intervals) else line)


def _without_trials(lines: Sequence[str], choice: Choice | None) -> list[str]:
    """Say how good the chosen estimator is and among how many, in place of the errors of all, some of which rest on fewer observations."""
    if choice is None or not choice.n_held_out:
        return list(lines)
    n_tried = sum(candidate.was_tried for candidate in choice.candidates)
    error = next(candidate.held_out_error for candidate in choice.candidates if candidate.name == choice.name)
    short = f"its root mean squared error is {error:.4g} on {choice.n_held_out:,} held-out observations; {n_tried} estimators were tried: --details lists them"
    return [short if line == choice.lines[-1] else line for line in lines]


def _completed(
    estimator: MatrixEstimator,
    observed: ObservedMatrix,
    confidence: float | None,
    distribution: bool,
    random_state: int,
) -> tuple[LowRankEstimate, EntryIntervals | LevelProbabilities | None]:
    """Return the estimate; where intervals or probabilities are asked for, the one that they are about."""
    from likewise.estimation import entry_intervals, level_probabilities

    if distribution:
        levels = level_probabilities(observed, estimator, random_state=random_state)
        return levels.estimate, levels
    if confidence is None:
        return estimator.fit(observed).estimate_, None
    intervals = entry_intervals(observed, estimator, confidence=confidence, random_state=random_state)
    return intervals.estimate, intervals


def _more(
    intervals: EntryIntervals | LevelProbabilities | None,
    confidence: float | None,
    rows: Indices,
    columns: Indices,
) -> dict[str, Floats]:
    """Return the columns beside the estimate: what is expected, the probability of each level, the ends of intervals."""
    from likewise.estimation import EntryIntervals

    if intervals is None:
        return {}
    if isinstance(intervals, EntryIntervals):
        return dict(zip(("lower", "upper"), intervals.entries(rows, columns).T, strict=True))
    probabilities = intervals.entries(rows, columns)
    found = {"expected": probabilities @ intervals.levels}
    found |= {f"p_{level:g}": each for level, each in zip(intervals.levels, probabilities.T, strict=True)}
    if confidence is not None:
        found |= zip(("lower", "upper"), intervals.sets(rows, columns, confidence).T, strict=True)
    return found


def _check_confidence(confidence: float | None, distribution: bool, pairs: Path | None) -> None:
    """Fail before the work, not after it."""
    from likewise.checks import checked_confidence

    if confidence is not None:
        checked_confidence(confidence)
    if pairs is None and (confidence is not None or distribution):
        given = "--distribution" if distribution else f"--confidence {confidence:g}"
        raise InputError(
            f"{given} without --pairs",
            f"--pairs FILE, whose entries get {'probabilities' if distribution else 'intervals'}",
        )


def _check_kind(out: Path, pairs: Path | None) -> None:
    kind = out.suffix.lower()
    if pairs is None and kind != ".npz":
        raise InputError(f"--out {out}", "a file ending in .npz", "give --pairs to predict single entries")
    if pairs is not None and kind not in _TABLES:
        raise InputError(f"--out {out} for predictions", f"a file ending in {' or '.join(_TABLES)}")
