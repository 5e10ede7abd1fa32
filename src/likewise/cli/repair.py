"""Outputs made fair from the command line: D <= L d for everybody in the file, at the least change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from likewise.cli.config import resolved
from likewise.cli.options import READING, MeasureOptions, ReadOptions
from likewise.cli.output_options import OutputOptions
from likewise.cli.results import PLAN, PlanOptions
from likewise.cli.values import Columns, NewPath, Number, OldPath, existing, refuse_to_overwrite
from likewise.progress import StepBars

if TYPE_CHECKING:
    from likewise.fairness import PairwiseDistance
    from likewise.fairness.repair import Repair
    from likewise.observations import ObservedMatrix

_TABLES = (".csv", ".parquet")


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
        L: how far apart outputs may be for each unit of distance between individuals.
    out
        File to write, .csv or .parquet: the id, the repaired outputs under their names, and by how much each individual's changed.
    objective
        What is least: largest-change, the change of the person who changes most; or least-squares, the sum of squared changes, which takes about
        ten times as long.
    norm
        Of the distance between individuals: l1, l2, linf, or any q from 1, such as l3. By default l1; gower has none.
    reference
        observed, missing entries filled with the middle of their range; or gower, for tables of numbers and categories without missing values.
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
        read = Inputs.read(individuals, asked, MeasureOptions(), reading, mixed_table=reference == "gower")
        _refuse_words(read, outputs)
        given, names = _numbers(read.outputs["outputs"])
        distance = _distance(read.individuals, norm or "l1")
        if plan.tells(_plan(read, out) if plan.dry_run else [], configuration):
            return
        found = repaired(
            given,
            distance,
            lipschitz=lipschitz,  # type: ignore[arg-type]  # None, which the command line cannot give, is refused there
            objective=objective,
            progress=lambda done, total: progress("compare individuals", done, total),
        )
    _write(found, read.individuals.row_ids, names, out)
    if not quiet:
        _tell(read, found, distance, out)


def _plan(read: Any, out: Path) -> list[str]:
    return [*read.plan(MeasureOptions()), f"repaired outputs: {out}"]


def _check(individuals: Path, outputs: Path, out: Path) -> None:
    """Fail before the work, and before anything heavy is imported."""
    from likewise.errors import FileFormatError
    from likewise.writing import check_file

    if out.suffix.lower() not in _TABLES:
        raise FileFormatError(f"--out {out}", "a name that ends in .csv or .parquet")
    existing(individuals)
    existing(outputs, "outputs")
    refuse_to_overwrite([individuals, outputs], [out])
    check_file(out)


def _refuse_norm(norm: str | None, reference: str) -> None:
    from likewise.errors import InputError, option

    if norm is not None and reference == "gower":
        raise InputError(
            f"{option('norm', norm)} beside {option('reference', reference)}",
            "one of them",
            "Gower's distance is a mean over features",
        )


def _refuse_words(read: Any, outputs: Path) -> None:
    """Refuse decisions in words, of which the middle of two is none."""
    from likewise.errors import FileFormatError

    for note in read.notes:
        if note.startswith("outputs: ") and " counts as " in note:
            raise FileFormatError(
                f"{outputs.name} with classes as outputs ({note.removeprefix('outputs: ')})",
                "numbers, which can be moved a little",
                "repair the scores behind the decisions; or write 1 and 0, if a repaired output is to be the chance of a 1",
            )


def _distance(individuals: ObservedMatrix | PairwiseDistance, norm: str) -> PairwiseDistance:
    from likewise.fairness import ObservedDistance, PairwiseDistance

    return individuals if isinstance(individuals, PairwiseDistance) else ObservedDistance(individuals, norm)


def _numbers(outputs: Any) -> tuple[Any, list[str]]:
    """Return outputs as numbers, with a name for each column; lists of items have no repair."""
    import polars as pl

    from likewise.errors import FileFormatError
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


def _write(found: Repair, ids: Any, names: list[str], out: Path) -> None:
    import polars as pl

    from likewise.writing import by_memory, spreadsheet_safe, write_file

    rows, columns = ids.tolist(), found.outputs.reshape(len(found.outputs), -1).T
    is_csv = out.suffix.lower() == ".csv"
    if is_csv:
        rows, names = ([spreadsheet_safe(one) for one in these] for these in (rows, names))
    frame = pl.DataFrame({"id": rows, **dict(zip(names, columns, strict=True)), "change": found.changes})
    write_file(out, by_memory(frame.write_csv if is_csv else frame.write_parquet))


def _tell(read: Any, found: Repair, distance: PairwiseDistance, out: Path) -> None:
    """Print what the repair costs, what d is, and what was read as what."""
    from likewise.errors import printable
    from likewise.observations import ObservedMatrix
    from likewise.pipeline.references import reference_caveats

    individuals = read.individuals
    d = distance.description
    roles = [getattr(individuals, "roles", None), *read.columns]
    print(found)
    if found.n_changed and not (found.original * (found.original - 1)).any():
        print("All outputs were 0 or 1; a repaired one between them can be read as the chance of a 1.")
    print(f"d is {d.name}; scaling: {d.scaling}; missing: {d.missing}.")
    observed = individuals if isinstance(individuals, ObservedMatrix) else None
    for line in (
        *reference_caveats(observed, distance, 0)[:1],
        *(each.sentence() for each in roles if each is not None),
        *read.notes,
    ):
        print(printable(line))
    print(f"Repaired outputs: {out}")
