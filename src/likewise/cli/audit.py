"""The main job from the command line."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import Parameter

from likewise.cli.blocks import SEARCH, SearchOptions, audit_parts
from likewise.cli.config import resolved
from likewise.cli.options import COMPLETING, MEASURING, READING, EstimatorOptions, MeasureOptions, ReadOptions
from likewise.cli.output_options import OUTPUTS, OutputOptions
from likewise.cli.results import RESULTS, ResultOptions
from likewise.cli.values import OldPath, Whole, reference_file
from likewise.errors import FairnessError, InputError, ModelError, option
from likewise.progress import StepBars

if TYPE_CHECKING:
    from likewise.pipeline import AuditReport


@Parameter(name="*", group="Algorithm")
@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The algorithm that runs, and what is kept from it.

    Parameters
    ----------
    model
        The algorithm: knn (Experiment 2 of the paper), knn-co-raters, smooth-knn (neighbours with a proved constant), identity, dnn (the dense
        net; needs PyTorch), or package.module:name for your own. By default knn.
    n_neighbors
        How many neighbours knn takes.
    hold_out
        Share of the observations that is hidden to measure the error on. By default 0.1; 0.5 with --reference held-out.
    split
        Which observations are hidden: random, drawn ones, the default; or time, the latest ones, for which --time names the column of times.
    splits
        How often to keep observations aside, anew each time, and measure over all of them. Implies --reference held-out. By default 1.
    least_shared
        How many of the features kept aside two individuals must have in common to be compared. Implies --reference held-out. By default 15, or as many of
        10, 5 and 3 as 1,000 pairs have, where fewer than 100 pairs have 15.
        With --reference co-observed: how many features both must have observed, by default 1. With --reference gower: how many both must have, by
        default half of what two individuals share on average.
    sandwich_individuals
        Of how many individuals all pairs are measured to hold what is proved against. By default 300.
    test
        File of observations from elsewhere, such as ratings of items drawn at random, read like the first file: the error on them stands beside the
        one on hidden observations.
    """

    model: str | None = None
    n_neighbors: Whole = None
    hold_out: float | None = None
    split: Literal["random", "time"] | None = None
    splits: Whole = None
    least_shared: Whole = None
    sandwich_individuals: Whole = None
    test: OldPath | None = None

    def given(self) -> dict[str, Any]:
        """Return every option by name, None where it was not given."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def of_audit(self) -> dict[str, Any]:
        """Return the arguments of `likewise.audit` that these are, all but the model and the file of a test."""
        return {name: value for name, value in self.given().items() if name not in _READ_APART}


_READ_APART = ("model", "n_neighbors", "test")
"""Options of the run that are made a model of, or read from a file."""

RUNNING = RunOptions()

_ON_SHARED = ("co-observed", "gower")
"""References that compare individuals on what they have in common, also beside outputs computed elsewhere."""


def audit(
    ratings: OldPath,
    /,
    *,
    running: RunOptions = RUNNING,
    reference: str | None = None,
    norm: str | None = None,
    outputs: OutputOptions = OUTPUTS,
    results: ResultOptions = RESULTS,
    blocks: SearchOptions = SEARCH,
    measuring: MeasureOptions = MEASURING,
    completing: EstimatorOptions = COMPLETING,
    reading: ReadOptions = READING,
) -> None:
    """Compare an algorithm with and without pre-processing: individual fairness, error, certificates.

    Parameters
    ----------
    ratings
        File of observations: MovieLens, CSV, TSV, Parquet, .npz, a table of applicants; gzip and zip too; - reads standard input. Or a folder of
        Parquet parts, or a pattern such as 'ratings/*.parquet' in quotes, which need not fit into memory: individuals are drawn from them.
    reference
        What individuals are compared by: held-out, on observations that the algorithm does not see (fairness on the truth; the default for ratings of
        which enough pairs share enough); observed, missing entries filled (the paper's); co-observed, on what both of two individuals observed; gower, for
        tables of numbers and categories, beside --outputs; estimate, the released code's convention (not a valid comparison); the name of a
        registered distance; or a file of features, or of the truth A where that is known, a row of numbers for each individual.
    norm
        Norm of the reference distance: l1, l2, linf, or any q from 1, such as l3. By default l1, and l2 with --reference FILE.
    """
    configuration = resolved("audit", locals())
    if blocks.wanted(ratings):
        asked = running.given() | {"reference": reference, "norm": norm} | vars(outputs)
        return _audit_parts(ratings, blocks, asked, configuration, results, completing, measuring, reading)
    features = reference_file(reference)
    read = outputs.files_read(ratings, measuring.checked().groups, reference=features, test=running.test)
    mixed_table = outputs.checked(reference, norm).distance_from is not None or reference == "gower"
    unused = running.given() | ({"least_shared": None} if reference in _ON_SHARED else {})
    _refuse_without_effect(outputs, unused, completing, mixed_table=mixed_table)
    results.check(read, measuring.limit(), fails=measuring.fails())
    import likewise  # heavy, so that all that can be refused without reading is refused above
    from likewise.cli.inputs import Inputs

    estimator = completing.make_estimator()
    with StepBars(quiet=results.quiet) as progress:
        progress("read the files", 0, 1)
        found = Inputs.read(ratings, outputs, measuring, reading, mixed_table=mixed_table)
        d, found = found.reference(None if mixed_table else reference, features, norm, reading)
        test, found = found.test(running.test, reading)
        if results.plan().tells(found.plan(measuring) if results.dry_run else [], configuration):
            return None
        found.tell_memory(measuring, quiet=results.quiet)
        report = likewise.audit(
            found.individuals,
            estimator=estimator if not found.outputs or completing.estimator else None,
            model=_chosen_model(running.model, running.n_neighbors),
            reference=d,
            **running.of_audit(),
            test=test,
            norm=norm if features is None else None,
            **found.arguments(measuring),
            **results.lists(),
            random_state=completing.random_state,
            progress=progress,
        )
    return _deliver(found.named_in(report, read, measuring.check), results, configuration, measuring)


def _audit_parts(
    ratings: Path,
    blocks: SearchOptions,
    asked: dict[str, Any],
    configuration: str,
    results: ResultOptions,
    completing: EstimatorOptions,
    measuring: MeasureOptions,
    reading: ReadOptions,
) -> None:
    """Audit individuals who are drawn from parts; say of the report which command made it and what became of checks."""
    # None where it was not given, as the others: only what was given can be refused.
    asked |= {**results.lists(), "dry_run": results.dry_run or None}
    asked |= {"model": _chosen_model(asked["model"], asked.pop("n_neighbors"))}
    results.check({}, measuring.checked().limit(), fails=measuring.fails())
    report = audit_parts(ratings, blocks, asked, completing, measuring, reading, quiet=results.quiet)
    from likewise.cli.inputs import with_command

    _deliver(with_command(report, measuring.check), results, configuration, measuring)


def _refuse_without_effect(
    outputs: OutputOptions, running: dict[str, Any], completing: EstimatorOptions, *, mixed_table: bool
) -> None:
    """Raise where an option was given that has no effect: on outputs computed elsewhere, or without them."""
    files = outputs.files()
    if any(path is not None for path in files.values()):
        _refuse_beside_outputs(files, running, completing)
    else:
        _refuse_without_outputs(outputs, mixed_table=mixed_table)
        if outputs.has_target() and running["model"] is None:
            raise InputError(
                f"{option('target', '')} without {option('outputs', '')} or {option('model', '')}",
                "outputs to hold against it, or a model that learns it",
            )


def _refuse_beside_outputs(
    files: dict[str, Path | None], running: dict[str, Any], completing: EstimatorOptions
) -> None:
    given = [name for name, path in files.items() if path is not None]
    if len(given) > 1 and "outputs" in given:
        raise InputError(
            "--outputs beside others", "--outputs alone, or --outputs-without and --outputs-with"
        )
    unused = [name for name, value in running.items() if value is not None]
    if completing.estimator is None:
        unused += [name for name in completing.chosen() if name != "random_state"]
    if unused:
        source = given[0] if given[0] == "outputs" else f"outputs_{given[0]}"
        raise InputError(
            f"{option(source, '')} with {', '.join(option(name, '') for name in unused)}",
            "outputs computed elsewhere, or a model to run here",
            _instead(unused),
        )


def _instead(unused: list[str]) -> str:
    """Say what does beside outputs what these options do for a model."""
    if unused == ["least_shared"]:
        return f"{option('reference', '')} {' or '.join(_ON_SHARED)} takes it beside outputs"
    if "test" in unused:
        return f"{option('target', '')} holds such outputs against ratings that were kept from whatever made them"
    return f"with {option('estimator', '')} the estimate is made and certified beside such outputs"


def _refuse_without_outputs(outputs: OutputOptions, *, mixed_table: bool) -> None:
    if outputs.output_columns is not None:
        raise InputError(
            f"{option('output_columns', '')} without {option('outputs', '')}", "both, or neither"
        )
    if mixed_table:
        raise InputError(
            "--reference gower without --outputs",
            "a file of outputs: no model runs on categories here",
            "give --outputs FILE, with a decision or score for each individual",
        )


def _chosen_model(name: str | None, n_neighbors: int | None) -> Any:
    if n_neighbors is None:
        return name

    from likewise.inference import MODELS, NearestNeighborModel

    model = MODELS.get(name or "knn")
    if not isinstance(model, NearestNeighborModel):
        raise ModelError(f"n_neighbors={n_neighbors} for model {name!r}", "knn or knn-co-raters")
    return replace(model, n_neighbors=n_neighbors)


def _deliver(
    report: AuditReport, results: ResultOptions, configuration: str, measuring: MeasureOptions
) -> None:
    """Print and write a report; then raise unless every check of severity error holds, and the limit, if any, for what would be used: outputs with pre-processing, where both kinds were audited."""
    # Written even if a check fails: whoever has to mend it needs the report.
    results.deliver(report, configuration)
    broken = [check for check in report.checks if check.status != "holds" and check.severity == "error"]
    said = [f"check {check}" for check in broken] + _not_shown(report, measuring.fail_above)
    if said:
        raise FairnessError("; ".join(said))


def _not_shown(report: AuditReport, limit: float | None) -> list[str]:
    if limit is None:
        return []
    # Outputs without pre-processing are there for comparison, and would not be used.
    judged = [arm for arm in report.arms.values() if arm.name != "without"] or list(report.arms.values())
    broken = [arm for arm in judged if arm.verdict is None or arm.verdict.status != "holds"]
    return [f"{arm.label}: {arm.verdict}" for arm in broken]
