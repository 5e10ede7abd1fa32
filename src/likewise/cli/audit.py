"""The main job from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from likewise.cli.options import (
    COMPLETING,
    MEASURING,
    READING,
    EstimatorOptions,
    MeasureOptions,
    NewPath,
    ReadOptions,
    Whole,
    refuse_to_overwrite,
)
from likewise.progress import StepBars

if TYPE_CHECKING:
    from likewise.observations import ObservedMatrix
    from likewise.pipeline import AuditReport

_STANDARD_OUTPUT = Path("-")


def audit(
    ratings: Path,
    /,
    *,
    model: str | None = None,
    n_neighbors: Whole = None,
    hold_out: float | None = None,
    reference: Literal["observed", "co-observed", "estimate"] = "observed",
    norm: Literal["l1", "l2"] = "l1",
    outputs: Path | None = None,
    outputs_without: Path | None = None,
    outputs_with: Path | None = None,
    out: NewPath | None = None,
    json: NewPath | None = None,
    quiet: Annotated[bool, Parameter(negative=())] = False,
    measuring: MeasureOptions = MEASURING,
    completing: EstimatorOptions = COMPLETING,
    reading: ReadOptions = READING,
) -> None:
    """Compare an algorithm with and without pre-processing: individual fairness, error, certificates.

    Parameters
    ----------
    ratings
        File of observations: MovieLens, CSV, TSV, Parquet, .npz, a table of applicants; also inside gzip or zip.
    model
        The algorithm: knn (Experiment 2 of the paper), knn-co-raters, dnn (the dense net; needs PyTorch), identity, or
        package.module:name for your own. By default knn.
    n_neighbors
        How many neighbours knn takes.
    hold_out
        Share of the observations that is hidden to measure the error on. By default 0.1.
    reference
        What individuals are compared by: observed, missing entries filled; co-observed, on what both of two individuals observed; or estimate,
        the released code's convention (not a valid comparison).
    norm
        Norm of the reference distance.
    outputs
        File of outputs computed elsewhere, instead of a model: a row for each individual.
    outputs_without
        The same, to be compared with others: without pre-processing.
    outputs_with
        With pre-processing.
    out
        Folder for report.html, report.json and figures.
    json
        File for the report as JSON; - prints it, and nothing else.
    quiet
        Print no table and no progress; with --out, --json or --fail-above, as nothing would come of the work without.
    """
    import likewise

    files = {"outputs": outputs, "without": outputs_without, "with": outputs_with}
    _check_targets(out, json, [ratings, measuring.checked().groups, *files.values()])
    _refuse_silence(quiet, heard=out is not None or json is not None or measuring.fail_above is not None)
    _refuse_idle(files, {"model": model, "n_neighbors": n_neighbors, "hold_out": hold_out}, completing)
    estimator = completing.make_estimator()
    with StepBars(quiet=quiet) as progress:
        progress("read the file", 0, 1)
        observed = reading.read(ratings)
        given = _read_outputs(files, observed)
        report = likewise.audit(
            observed,
            estimator=estimator if given is None or completing.estimator else None,
            model=_chosen_model(model or "knn", n_neighbors),
            outputs=given,
            hold_out=0.1 if hold_out is None else hold_out,
            reference=reference,
            norm=norm,
            **measuring.options(observed, reading.id_columns),
            random_state=completing.random_state,
            source=ratings.name,
            progress=progress,
        )
    deliver(report, out, json, quiet=quiet)
    _fail_unless_shown(report, measuring.fail_above)


def deliver(report: AuditReport, out: Path | None, json: Path | None = None, *, quiet: bool = False) -> None:
    """Write what was asked for, then print the table, or JSON and nothing else."""
    from likewise.writing import write_file

    page = None if out is None else report.save(out)
    if json == _STANDARD_OUTPUT:
        sys.stdout.write(report.to_json())
        return
    if json is not None:
        write_file(json, report.to_json())
    if not quiet:
        print_table(report)
        if page is not None:
            print(f"\nReport: {page}")


def print_table(report: AuditReport) -> None:
    """Print the table: in colour on a terminal, no wider than lines are read with ease; plain elsewhere."""
    from rich.console import Console

    from likewise.report import as_renderable

    console = Console()
    if console.is_terminal:
        console.print(as_renderable(report), width=min(console.width, 100))
    else:
        print(report)


def _check_targets(out: Path | None, json: Path | None, read: list[Path | None]) -> None:
    """Fail before the work, not after it."""
    from likewise.errors import InputError
    from likewise.report import check_report_folder
    from likewise.report.folder import FILES
    from likewise.writing import check_file

    written = [] if out is None else [out / name for name in FILES]
    refuse_to_overwrite(read, written if json is None else [*written, json])

    if out is not None:
        check_report_folder(out)
    if json is not None and json != _STANDARD_OUTPUT:
        check_file(json)
        if out is not None and json.resolve() == out.resolve():
            raise InputError(f"--json {json} and --out {out}", "two different names")


def _refuse_silence(quiet: bool, *, heard: bool) -> None:
    """Raise where nothing would come of the work: no table, no file, and an exit code that says nothing of fairness."""
    from likewise.errors import InputError

    if quiet and not heard:
        raise InputError("--quiet without --out, --json or --fail-above", "one of them, or no --quiet")


def _refuse_idle(
    files: dict[str, Path | None], running: dict[str, Any], completing: EstimatorOptions
) -> None:
    """Raise where something was given that means nothing for outputs computed elsewhere, so that no wish is ignored."""
    from likewise.errors import InputError, option

    given = [name for name, path in files.items() if path is not None]
    idle = [name for name, value in running.items() if value is not None]
    if completing.estimator is None:
        idle += [name for name in completing.chosen() if name != "random_state"]
    if given and idle:
        source = given[0] if given[0] == "outputs" else f"outputs_{given[0]}"
        raise InputError(
            f"{option(source, '')} with {', '.join(option(name, '') for name in idle)}",
            "outputs computed elsewhere, or a model to run here",
            f"with {option('estimator', '')} the estimate is made and certified beside such outputs",
        )


def _chosen_model(name: str, n_neighbors: int | None) -> Any:
    if n_neighbors is None:
        return name
    from dataclasses import replace

    from likewise.errors import ModelError
    from likewise.inference import MODELS
    from likewise.inference.neighbors.model import NearestNeighborModel

    model = MODELS.get(name)
    if not isinstance(model, NearestNeighborModel):
        raise ModelError(f"n_neighbors={n_neighbors} for model {name!r}", "knn or knn-co-raters")
    return replace(model, n_neighbors=n_neighbors)


def _fail_unless_shown(report: AuditReport, limit: float | None) -> None:
    """Raise unless the limit, if any, holds for what would be used: outputs with pre-processing, where both kinds were audited."""
    from likewise.errors import FairnessError

    if limit is None:
        return
    judged = [arm for arm in report.arms.values() if arm.name != "without"] or list(report.arms.values())
    broken = [arm for arm in judged if arm.verdict is None or arm.verdict.status != "holds"]
    if broken:
        raise FairnessError("; ".join(f"{arm.label}: {arm.verdict}" for arm in broken))


def _read_outputs(files: dict[str, Path | None], observed: ObservedMatrix) -> dict[str, Any] | None:
    from likewise.inference import read_outputs

    given = {arm: path for arm, path in files.items() if path is not None}
    return {arm: read_outputs(path, observed.row_ids) for arm, path in given.items()} or None
