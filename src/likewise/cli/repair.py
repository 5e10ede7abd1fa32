"""Outputs made fair from the command line: D <= L d for everybody in the file, at the least change."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from likewise.cli.config import resolved
from likewise.cli.options import READING, MeasureOptions, ReadOptions
from likewise.cli.output_options import OutputOptions
from likewise.cli.results import PLAN, PlanOptions
from likewise.cli.values import Columns, NewPath, Number, OldPath, existing, refuse_to_overwrite
from likewise.errors import (
    DistanceError,
    FileFormatError,
    InputError,
    LikewiseError,
    option,
    printable,
    some_of,
)
from likewise.progress import StepBars

if TYPE_CHECKING:
    from likewise.fairness import PairwiseDistance
    from likewise.fairness.repair import Repair
    from likewise.observations import ObservedMatrix

_TABLES = (".csv", ".parquet")
_NAMED = 3
"""How many people a message names."""


def repair(
    individuals: OldPath,
    /,
    *,
    outputs: OldPath,
    lipschitz: Number,
    out: NewPath,
    objective: Literal["largest-change", "least-squares"] = "largest-change",
    norm: str | None = None,
    reference: Literal["observed", "gower"] = "observed",
    output_columns: Columns = None,
    quiet: Annotated[bool, Parameter(negative=())] = False,
    plan: PlanOptions = PLAN,
    reading: ReadOptions = READING,
) -> None:
    """Change outputs as little as possible so that D <= L d holds for every pair, and write them.

    Parameters
    ----------
    individuals
        File of individuals, as audit reads it: d is measured between its rows.
    outputs
        File of outputs to repair: a row of numbers for each individual.
    lipschitz
        L: how far apart outputs may be for each unit of d. One unit is half the value range of a column (--value-range), not 1 of it; of gower it is as far
        apart as two can be. The command, also with --dry-run, says how much that is of your columns.
    out
        File to write, .csv or .parquet: the id and the repaired outputs under their names, and by how much each individual's changed. Decisions of 0 or 1
        come back as scores between. audit reads the file as it stands.
    objective
        What is least: largest-change, the change of the person who changes most; or least-squares, the sum of squared changes, which takes about
        ten times as long.
    norm
        Of the distance between individuals: l1, l2, linf, or any q from 1, such as l3. By default l1; gower has none.
    reference
        observed, of numbers, missing entries filled with the middle of their range; or gower, for tables of numbers and categories without blanks.
    output_columns
        Columns of the outputs file that are outputs, separated by commas; by default all but the id.
    quiet
        Print nothing but errors and warnings.
    """
    configuration = resolved("repair", locals())
    _check(individuals, outputs, out)
    _refuse_norm(norm, reference)
    from likewise.cli.inputs import Inputs
    from likewise.fairness.repair import repair as repaired

    with StepBars(quiet=quiet) as progress:
        progress("read the files", 0, 1)
        asked = OutputOptions(outputs=outputs, output_columns=output_columns)
        try:
            read = Inputs.read(
                individuals, asked, MeasureOptions(), reading, mixed_table=reference == "gower"
            )
        except FileFormatError as fault:
            raise _of_categories(individuals, reading, reference, fault) from None
        _refuse_words(read, outputs)
        _refuse_blanks(read.individuals, individuals)
        given, names = _numbers(read.outputs["outputs"])
        distance = _distance(read.individuals, norm or "l1")
        if plan.tells(_plan(read, lipschitz, out) if plan.dry_run else [], configuration):
            return
        found = repaired(
            given,
            distance,
            lipschitz=lipschitz,  # type: ignore[arg-type]  # None, which the command line cannot give, is refused there
            objective=objective,
            progress=lambda done, total: progress("compare individuals", done, total),
        )
    _write(found, read, names, out)
    if not quiet:
        _tell(read, found, distance, out)


def _plan(read: Any, lipschitz: float | None, out: Path) -> list[str]:
    from likewise.report.description import unit_lines

    units = unit_lines(read.individuals, lipschitz)
    return [*read.plan(MeasureOptions()), *units, f"repaired outputs: {out}"]


def _check(individuals: Path, outputs: Path, out: Path) -> None:
    """Fail before the work, and before anything heavy is imported."""
    from likewise.writing import check_file

    if out.suffix.lower() not in _TABLES:
        raise FileFormatError(f"--out {out}", "a name that ends in .csv or .parquet")
    existing(individuals)
    existing(outputs, "outputs")
    refuse_to_overwrite([individuals, outputs], [out])
    check_file(out)


def _refuse_norm(norm: str | None, reference: str) -> None:
    if norm is not None and reference == "gower":
        raise InputError(
            f"{option('norm', norm)} beside {option('reference', reference)}",
            "one of them",
            "Gower's distance is a mean over features",
        )


def _refuse_words(read: Any, outputs: Path) -> None:
    """Refuse decisions in words, of which the middle of two is none."""
    for note in read.notes:
        if note.startswith("outputs: ") and " counts as " in note:
            raise FileFormatError(
                f"{outputs.name} with classes as outputs ({note.removeprefix('outputs: ')})",
                "numbers, which can be moved a little",
                "repair the scores behind the decisions; or write 1 and 0, if a repaired output is to be the chance of a 1",
            )


def _of_categories(
    path: Path, reading: ReadOptions, reference: str, fault: FileFormatError
) -> FileFormatError:
    """Say at once all that stands between a table of numbers and categories and its repair; the error that there was, where that is something else."""
    from likewise.cli.inputs import read_mixed

    if reference == "gower":
        return fault
    try:
        table, roles, _ = read_mixed(path, reading, None)
    except LikewiseError:
        return fault
    if not (words := roles[0].categories):
        return fault
    blanks = _blanks(table)
    others = (
        f", once {blanks} {'is' if blanks.startswith('1 ') else 'are'} left out of both files"
        if blanks
        else ""
    )
    numbers = ",".join(name for name in roles[0].features or () if name not in words)
    return FileFormatError(
        f"{path.name} with words in {', '.join(words)}",
        "numbers, or numbers and categories without blanks",
        (f"name the columns of numbers, --columns {numbers}; or " if numbers else "")
        + f"give --reference gower{others}",
    )


def _blanks(table: Any) -> str:
    """Name the people of a mixed table in whose rows something is blank; empty where there are none."""
    ids = [name for name, some in zip(table.row_ids.tolist(), table.blanks.T, strict=True) if some.any()]
    people = "1 person" if len(ids) == 1 else f"{len(ids):,} people"
    return f"{people} with blanks ({some_of(ids, _NAMED, str)})" if ids else ""


def _refuse_blanks(individuals: Any, path: Path) -> None:
    """Raise where Gower's distance compares pairs by what both have: the triangle inequality fails then."""
    from likewise.fairness import GowerDistance

    if not isinstance(individuals, GowerDistance) or not (named := _blanks(individuals)):
        return
    columns = list(zip(individuals.names, individuals.blanks, strict=True))
    complete = ",".join(name for name, some in columns if not some.any())
    numbers = ",".join(name for name, _ in columns if individuals.ranges[name])
    ways = ["leave them out of both files"]
    ways += [f"name columns without blanks, --columns {complete}"] if complete else []
    ways += (
        [
            f"take numbers alone, --columns {numbers} without --reference, where a blank is the middle of its range"
        ]
        if numbers
        else []
    )
    raise DistanceError(
        f"{path.name} with {named} beside --reference gower, which compares each pair by what both have",
        "rows without blanks, between which the triangle inequality holds",
        f"{'; or '.join(ways)}; in Python, repair takes any metric, such as shortest paths over the table's distances",
    )


def _distance(individuals: ObservedMatrix | PairwiseDistance, norm: str) -> PairwiseDistance:
    from likewise.fairness import ObservedDistance, PairwiseDistance

    return individuals if isinstance(individuals, PairwiseDistance) else ObservedDistance(individuals, norm)


def _numbers(outputs: Any) -> tuple[Any, list[str]]:
    """Return outputs as numbers, with a name for each column; lists of items have no repair."""
    import polars as pl

    from likewise.fairness import PairwiseDistance

    if isinstance(outputs, PairwiseDistance):
        raise FileFormatError(
            "lists of items as outputs",
            "numbers, which can be moved a little",
            "repair the scores behind the lists",
        )
    if isinstance(outputs, pl.DataFrame):
        values = outputs.to_numpy()
        return (values[:, 0] if values.shape[1] == 1 else values), outputs.columns
    return outputs, ["output"] if outputs.ndim == 1 else [f"output {k}" for k in range(outputs.shape[1])]


def _write(found: Repair, read: Any, names: list[str], out: Path) -> None:
    import polars as pl

    from likewise.observations.reading.output_kinds import REPAIR_CHANGED
    from likewise.writing import by_memory, spreadsheet_safe, write_file

    rows, columns = read.individuals.row_ids.tolist(), found.outputs.reshape(len(found.outputs), -1).T
    is_csv = out.suffix.lower() == ".csv"
    headings = _apart([_id_heading(read), *names, REPAIR_CHANGED])
    if is_csv:
        rows, headings = ([spreadsheet_safe(one) for one in these] for these in (rows, headings))
    frame = pl.DataFrame(dict(zip(headings, [rows, *columns, found.changes], strict=True)))
    write_file(out, by_memory(frame.write_csv if is_csv else frame.write_parquet))


def _id_heading(read: Any) -> str:
    """Return what the file of individuals calls them; ``id`` where it only counts them."""
    roles = getattr(read.individuals, "roles", None) or read.columns[0]
    return "/".join(roles.ids) if roles.ids else "id"


def _apart(names: list[str]) -> list[str]:
    """Return names of columns that differ: of two that are alike the later one is told by an underscore."""
    found: list[str] = []
    for name in names:
        found.append(next(each for k in count() if (each := name + "_" * k) not in found))
    return found


def _tell(read: Any, found: Repair, distance: PairwiseDistance, out: Path) -> None:
    """Print what the repair costs, what d is, what one unit of it is, and what was read as what."""
    from likewise.observations import ObservedMatrix
    from likewise.pipeline.references import reference_caveats
    from likewise.report.description import unit_lines

    individuals = read.individuals
    d = distance.description
    roles = [getattr(individuals, "roles", None), *read.columns]
    print(found)
    print(f"d is {d.name}; scaling: {d.scaling}; missing: {d.missing}.")
    observed = individuals if isinstance(individuals, ObservedMatrix) else None
    for line in (
        *unit_lines(individuals, found.lipschitz),
        *reference_caveats(observed, distance, 0)[:1],
        *(each.sentence() for each in roles if each is not None),
        *read.notes,
    ):
        print(printable(line))
    print(f"Repaired outputs: {out}")
