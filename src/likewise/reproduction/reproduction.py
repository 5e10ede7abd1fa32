"""What a run of the experiments found, with its tables and figures; and the run: what a folder holds is kept, the rest is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.checks import checked_flag, checked_names, checked_whole
from likewise.plain import json_tree
from likewise.progress import StepProgress, shown
from likewise.report.html import page_environment, page_style
from likewise.report.json_document import to_json, versions
from likewise.report.plots import as_inline, to_files
from likewise.reproduction.algorithm import DENSE_NET, resolve_algorithm
from likewise.reproduction.arms import DEFAULT_ARMS
from likewise.reproduction.figures import all_figures
from likewise.reproduction.formats import (
    all_tables,
    as_csv,
    as_latex,
    as_markdown,
    as_text,
    provenance,
)
from likewise.reproduction.movielens import find_ratings, read_movielens
from likewise.reproduction.results import Results
from likewise.reproduction.settings import DEFAULT_SIMULATIONS, QUICK_ARMS, Settings, Targets
from likewise.reproduction.simulation import Record
from likewise.reproduction.store import RunFolder
from likewise.reproduction.units import Unit, run_units, units_of
from likewise.writing import Content, PathLike, check_folder, write_folder

_MOST_JOBS = 4096


def reproduce(
    experiments: str | Iterable[str] = "all",
    *,
    simulations: int | None = None,
    arms: str | Iterable[str] | None = None,
    targets: Targets = "observed",
    model: str = DENSE_NET,
    quick: bool = False,
    random_state: int = 0,
    noise: float | None = None,
    jobs: int = 1,
    ratings: PathLike | None = None,
    out: PathLike | None = None,
    progress: StepProgress | bool | None = None,
) -> Reproduction:
    """Run the paper's experiments (Section 6), every arm on the same data, and set the metrics beside the published ones.

    Parameters
    ----------
    experiments : str or iterable of str, default "all"
        ``"1"`` to ``"4"``, ``"rate"`` (Proposition 4.4 as m and n grow), ``"minimax"`` (matrices that are hard to estimate), several of them, or ``"all"``.
    simulations : int, optional
        Of each cell; 10 by default as in the paper, 1 if `quick`.
    arms : str or iterable of str, optional
        Names of `ARMS`, by default the four that run the same model, or h and f-released if `quick`; or ``name=estimator``: a threshold of SVT by name or number, a registered estimator, or
        ``package.module:name``.
    targets : {"observed", "features", "truth"}, default "observed"
        What the algorithm learns at the observed entries: Z in every arm, which fits the published tables best; the entries of the arm's
        own features, Z for h and A_hat for f, as the paper's appendix says; or A, as the released code does.
    model : str, default "dnn"
        The paper's net; a name of `likewise.inference.MODELS`; or ``package.module:name`` of a function
        ``(features, targets, *, random_state)`` that returns an output for every entry.
    quick : bool, default False
        One simulation of the first and the last level of each experiment: a look, not a result.
    random_state : int, default 0
        Seed of everything. A simulation's seed depends on this, its cell and its number alone.
    noise : float, optional
        Standard deviation of the noise of generated data, by default 0.1. The paper writes N(0, 0.1); ``0.1**0.5`` reads that as a variance.
    jobs : int, default 1
        Processes, of one thread each. No number depends on it. With more than one, a script calls this under
        ``if __name__ == "__main__":``.
    ratings : path-like, optional
        MovieLens 1M, for Experiment 2; by default it is looked for in the folder that LIKEWISE_DATA names.
    out : path-like, optional
        Keep each finished simulation in this folder; a run that was interrupted goes on from what is there, and so does the same run with
        more simulations.
    progress : callable, bool or None
        Called with (step, done, total); by default bars with the time left, if standard error is a terminal.

    Returns
    -------
    Reproduction

    Raises
    ------
    InputError
        Something unknown, no simulation, a folder that holds another run, no ratings where they are needed.
    FileFormatError
        The ratings are not MovieLens 1M.
    MissingDependencyError
        The net needs PyTorch.
    OutputError
        The folder cannot be written to. What was kept before stays.

    References
    ----------
    Zhang, Cen, Shah, "Matrix Estimation for Individual Fairness", Section 6.

    Examples
    --------
    >>> found = reproduce("4", quick=True, model="identity", arms="h,f-noise-edge")  # doctest: +SKIP
    >>> print(found)  # doctest: +SKIP
    """
    checked_flag("quick", quick)
    settings = Settings(
        checked_names("experiments", experiments),
        (1 if quick else DEFAULT_SIMULATIONS) if simulations is None else simulations,
        (QUICK_ARMS if quick else DEFAULT_ARMS) if arms is None else checked_names("arms", arms),
        targets,
        model,
        quick,
        random_state,
        noise,
    )
    checked_whole("jobs", jobs, most=_MOST_JOBS)
    file = _check_needs(settings, ratings)
    folder = None if out is None else RunFolder(out, settings)
    units = units_of(settings)
    records = {} if folder is None else _kept(folder, units)
    with shown(progress, remaining=True) as report:
        _compute(units, records, settings, file, jobs, folder, report)
    return Reproduction(settings, records, versions())


def _check_needs(settings: Settings, ratings: PathLike | None) -> Path | None:
    """Fail before the work, not within it: libraries and data that the experiments need."""
    kinds = {unit.definition.kind: unit.definition for unit in units_of(settings)}
    if "synthetic" in kinds:
        resolve_algorithm(settings.model)
    if "ratings" not in kinds:
        return None
    file = find_ratings(ratings)
    read_movielens(file, kinds["ratings"])
    return file


def _kept(folder: RunFolder, units: list[Unit]) -> dict[Unit, Record]:
    found = {unit: folder.load(unit) for unit in units}
    return {unit: record for unit, record in found.items() if record is not None}


def _compute(
    units: list[Unit],
    records: dict[Unit, Record],
    settings: Settings,
    ratings: Path | None,
    jobs: int,
    folder: RunFolder | None,
    report: StepProgress | None,
) -> None:
    """Compute what is missing; progress is counted in cost, in thousandths of the whole."""
    total = sum(unit.cost(settings) for unit in units)
    missing = [unit for unit in units if unit not in records]

    def tell() -> None:
        done = sum(unit.cost(settings) for unit in records)
        if report is not None:
            report("run the simulations", round(1000 * done / total), 1000)

    tell()
    with closing(run_units(missing, settings, ratings, jobs)) as results:
        for unit, record in results:
            records[unit] = json_tree(record) if folder is None else folder.save(unit, record)
            tell()


def as_page(found: Results, drawn: Mapping[str, bytes]) -> str:
    """Return one HTML page with everything in it, the figures as SVG by name; the same text for the same run.

    Names of arms and models are escaped.
    """
    from markupsafe import Markup

    # The drawings are our own; matplotlib escapes the names of arms in them.
    figures = [
        (Markup(as_inline(drawn[drawing.name], drawing.name)), drawing.caption)
        for drawing in all_figures(found)
    ]
    return (
        page_environment("likewise.reproduction")
        .get_template("reproduction.html.j2")
        .render(
            style=page_style(),
            tables=all_tables(found),
            figures=figures,
            provenance=provenance(found),
            quick=found.settings.quick,
        )
    )


PAGE = "reproduction.html"
TEXTS = ("tables.txt", "tables.md", "tables.tex", "cells.csv", "results.json", PAGE)


def save(found: Results, folder: PathLike) -> Path:
    """Write everything that a run found; returns the path of the page. OutputError if the folder cannot be written to; then nothing has been."""
    drawn = {
        drawing.name: to_files(drawing.paint, drawing.name, drawing.size) for drawing in all_figures(found)
    }
    contents: dict[str, Content] = {
        f"{name}.{form}": content for name, files in drawn.items() for form, content in files.items()
    }
    texts = (
        as_text(found) + "\n",
        as_markdown(found),
        as_latex(found),
        as_csv(found),
        to_json(as_document(found)),
        as_page(found, {name: files["svg"] for name, files in drawn.items()}),
    )
    write_folder(folder, contents | dict(zip(TEXTS, texts, strict=True)))
    return Path(folder) / PAGE


def check_results_folder(folder: PathLike) -> None:
    """Raise OutputError now if `save` could not write there: before a long run, not after it."""
    check_folder(folder, TEXTS)


def as_document(found: Results) -> dict[str, Any]:
    """Return settings, versions, and the record of every simulation, as JSON has them."""
    records = [
        {
            "experiment": unit.experiment,
            "level": unit.level,
            "simulation": unit.simulation,
            **found.records[unit],
        }
        for unit in units_of(found.settings)
    ]
    document: dict[str, Any] = json_tree(
        {
            "schema": "likewise.reproduction",
            "schema_version": 2,
            "settings": found.settings.to_dict(),
            "versions": found.versions,
            "provenance": provenance(found),
            "simulations": records,
        }
    )
    return document


@dataclass(frozen=True, eq=False)
class Reproduction(Results):
    """The result of `likewise.reproduction.reproduce`.

    Parameters
    ----------
    settings, records, versions
        As in `likewise.reproduction.results.Results`.
    """

    def save(self, folder: PathLike) -> Path:
        """Write tables, figures, documents and the page to a folder.

        Parameters
        ----------
        folder : path-like
            Made if it is not there; files of other names in it are left alone.

        Returns
        -------
        Path
            Of the page, to open.

        Raises
        ------
        OutputError
            It cannot be written to; then nothing has been.
        """
        return save(self, folder)

    def __str__(self) -> str:
        return as_text(self)
