"""The main job from the command line."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from likewise.cli.options import (
    COMPLETING,
    MEASURING,
    READING,
    EstimatorOptions,
    MeasureOptions,
    ReadOptions,
)
from likewise.cli.values import (
    STANDARD_STREAM,
    NewPath,
    OldPath,
    Whole,
    existing,
    refuse_to_overwrite,
)
from likewise.progress import StepBars

if TYPE_CHECKING:
    from likewise.observations import ObservedMatrix
    from likewise.observations.column_roles import ColumnRoles
    from likewise.observations.reading import OutputsFile
    from likewise.pipeline import AuditReport


def audit(
    ratings: OldPath,
    /,
    *,
    model: str | None = None,
    n_neighbors: Whole = None,
    hold_out: float | None = None,
    reference: Literal["observed", "co-observed", "estimate"] = "observed",
    norm: Literal["l1", "l2"] = "l1",
    outputs: OldPath | None = None,
    outputs_without: OldPath | None = None,
    outputs_with: OldPath | None = None,
    out: NewPath | None = None,
    json: NewPath | None = None,
    violations: NewPath | None = None,
    details: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(negative=())] = False,
    measuring: MeasureOptions = MEASURING,
    completing: EstimatorOptions = COMPLETING,
    reading: ReadOptions = READING,
) -> None:
    """Compare an algorithm with and without pre-processing: individual fairness, error, certificates.

    Parameters
    ----------
    ratings
        File of observations: MovieLens, CSV, TSV, Parquet, .npz, a table of applicants; also inside gzip or zip; - reads standard input.
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
    violations
        CSV file for every pair with D > L d, where L is --lipschitz or --fail-above.
    details
        Print every number, not the answer alone.
    quiet
        Print nothing and show no progress; with --out, --json, --violations or --fail-above, as nothing would come of the work without.
    """
    files = {"outputs": outputs, "without": outputs_without, "with": outputs_with}
    read = {"observations": ratings, "groups": measuring.checked().groups, **files}
    _refuse_silence(quiet, [out, json, violations, measuring.fail_above])
    for role, path in read.items():
        if path is not None:
            existing(path, "outputs" if role in files else role)
    _refuse_idle(files, {"model": model, "n_neighbors": n_neighbors, "hold_out": hold_out}, completing)
    _check_targets(out, json, violations, list(read.values()), judged=measuring.limit() is not None)
    import likewise

    estimator = completing.make_estimator()
    with StepBars(quiet=quiet) as progress:
        progress("read the file", 0, 1)
        observed = reading.read(ratings)
        given = _read_outputs(files, observed)
        groups = measuring.read_groups(observed.row_ids, reading.id_columns)
        report = likewise.audit(
            observed,
            estimator=estimator if not given or completing.estimator else None,
            model=_chosen_model(model, n_neighbors),
            outputs={name: outputs.values for name, outputs in given.items()} or None,
            hold_out=hold_out,
            reference=reference,
            norm=norm,
            groups=None if groups is None else groups.values,
            **measuring.options(),
            violations=violations,
            random_state=completing.random_state,
            source="standard input" if ratings == STANDARD_STREAM else ratings.name,
            progress=progress,
        )
        columns = [one.roles for one in (*given.values(), groups) if one is not None]
        report = _with_origin(report, columns, read)
    deliver(report, out, json, quiet=quiet, details=details)
    _fail_unless_shown(report, measuring.fail_above)


def deliver(
    report: AuditReport,
    out: Path | None,
    json: Path | None = None,
    *,
    quiet: bool = False,
    details: bool = False,
) -> None:
    """Write what was asked for, then print the answer, or JSON and nothing else."""
    from likewise.writing import write_file

    page = None if out is None else report.save(out)
    if json == STANDARD_STREAM:
        sys.stdout.write(report.to_json())
        return
    if json is not None:
        write_file(json, report.to_json())
    if not quiet:
        print_report(report, details=details)
        if page is not None:
            print(f"\nReport: {page}")


def print_report(report: AuditReport, *, details: bool = False) -> None:
    """Print the report: in colour on a terminal, no wider than lines are read with ease; plain elsewhere."""
    from rich.console import Console

    from likewise.report import as_renderable

    console = Console()
    if console.is_terminal:
        width = min(console.width, 100)
        console.print(as_renderable(report, width, details=details), width=width)
    else:
        print(report.details() if details else report)


def _with_origin(
    report: AuditReport, columns: list[ColumnRoles], read: dict[str, Path | None]
) -> AuditReport:
    """Add which columns of the other files were used, the files with their checksums, and the command."""
    from likewise.report.records import FileRecord

    files = tuple(
        FileRecord(
            role if role in ("observations", "groups") else "outputs", path.name, *_size_and_checksum(path)
        )
        for role, path in read.items()
        if path is not None and path.is_file()
    )
    command = shlex.join(["likewise", *sys.argv[1:]]) if sys.argv[1:] else None
    assert report.provenance is not None
    return replace(
        report,
        data=replace(report.data, columns=(*report.data.columns, *columns)),
        provenance=replace(report.provenance, command=command, files=files),
    )


def _size_and_checksum(path: Path) -> tuple[int, str]:
    from hashlib import file_digest

    with path.open("rb") as stream:
        return path.stat().st_size, file_digest(stream, "sha256").hexdigest()


def _check_targets(
    out: Path | None, json: Path | None, violations: Path | None, read: list[Path | None], *, judged: bool
) -> None:
    """Fail before the work, not after it."""
    from likewise.errors import InputError
    from likewise.report.audit_report import FILES, check_report_folder
    from likewise.writing import check_file

    if violations is not None and not judged:
        raise InputError(
            f"--violations {violations} without a limit", "--lipschitz L or --fail-above L beside it"
        )
    written = [] if out is None else [out / name for name in FILES]
    single = [path for path in (json, violations) if path is not None]
    refuse_to_overwrite(read, [*written, *single])
    if out is not None:
        check_report_folder(out)
    for path in single:
        if path != STANDARD_STREAM:
            check_file(path)
        if out is not None and path.resolve() == out.resolve():
            raise InputError(f"--json {path} and --out {out}", "two different names")


def _refuse_silence(quiet: bool, heard: list[object]) -> None:
    """Raise where nothing would come of the work: no table, no file, and an exit code that says nothing of fairness."""
    from likewise.errors import InputError

    if quiet and all(one is None for one in heard):
        raise InputError(
            "--quiet without --out, --json, --violations or --fail-above", "one of them, or no --quiet"
        )


def _refuse_idle(
    files: dict[str, Path | None], running: dict[str, Any], completing: EstimatorOptions
) -> None:
    """Raise where an option was given that has no effect on outputs computed elsewhere."""
    from likewise.errors import InputError, option

    given = [name for name, path in files.items() if path is not None]
    if len(given) > 1 and "outputs" in given:
        raise InputError(
            "--outputs beside others", "--outputs alone, or --outputs-without and --outputs-with"
        )
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


def _chosen_model(name: str | None, n_neighbors: int | None) -> Any:
    if n_neighbors is None:
        return name

    from likewise.errors import ModelError
    from likewise.inference import MODELS
    from likewise.inference.neighbors.model import NearestNeighborModel

    model = MODELS.get(name or "knn")
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


def _read_outputs(files: dict[str, Path | None], observed: ObservedMatrix) -> dict[str, OutputsFile]:
    from likewise.observations.reading import read_outputs_file

    found = {}
    for arm, path in files.items():
        if path is not None:
            found[arm] = read_outputs_file(path, observed.row_ids)
    return found
