"""What a command writes and prints of a report, checked before the work; or its plan, told instead of the work."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from likewise.cli.config import FILE as CONFIGURATION
from likewise.cli.values import STANDARD_STREAM, NewPath, existing, refuse_to_overwrite
from likewise.errors import InputError

if TYPE_CHECKING:
    from likewise.observations import ObservedMatrix
    from likewise.pipeline import AuditReport


@Parameter(name="*", group="Results")
@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Whether to compute at all.

    Parameters
    ----------
    dry_run
        Read the files, say what would be done and what memory it takes, print the options as --config reads them, and stop.
    """

    dry_run: Annotated[bool, Parameter(negative=())] = False

    def tells(self, lines: Iterable[str], configuration: str) -> bool:
        """Print the plan and the configuration where that was asked for; returns whether it was, so that the command ends there."""
        if self.dry_run:
            from likewise.errors import printable

            print(*map(printable, lines), "", configuration, sep="\n", end="")
        return self.dry_run


PLAN = PlanOptions()


def data_plan(observed: ObservedMatrix) -> list[str]:
    """Say what was read, of which columns."""
    from likewise.pipeline.summaries import summarise_data
    from likewise.report.description import data_lines

    source = observed.roles.source if observed.roles else "data"
    return [*data_lines(summarise_data(observed, "symmetric", source))]


_WIDEST = 100
"""Columns of a terminal up to which lines are read with ease."""

_HOLDS = {
    "test": "observations",
    "reference": "features, or of the truth A",
    **dict.fromkeys(("outputs", "without", "with"), "outputs"),
}
"""What a file holds, where that is not what it is called in an audit."""

_PLAIN = 80
"""Columns of a file or a pipe."""


@Parameter(name="*", group="Results")
@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """Where the report goes.

    Parameters
    ----------
    out
        Folder for report.html, report.json and figures.
    json
        File for the report as JSON; - prints it, and nothing else.
    violations
        CSV file for every pair with D > L d, where L is --lipschitz or --fail-above; the largest ratio first, numbers with 7 digits.
    individual_constants
        CSV file for what is proved of each individual, where the estimate is a regression (als, soft-impute, biases, most choices of auto).
    details
        Print every number, not the answer alone.
    dry_run
        Read the files, say what would be done and what memory and time it takes, and stop.
    quiet
        Print nothing and show no progress; with --out, --json, --violations, --individual-constants, --fail-above or --check, as nothing would come of the
        work without.
    """

    out: NewPath | None = None
    json: NewPath | None = None
    violations: NewPath | None = None
    individual_constants: NewPath | None = None
    details: Annotated[bool, Parameter(negative=())] = False
    dry_run: Annotated[bool, Parameter(negative=())] = False
    quiet: Annotated[bool, Parameter(negative=())] = False

    def plan(self) -> PlanOptions:
        """Return whether to compute at all."""
        return PlanOptions(dry_run=self.dry_run)

    def check(self, read: Mapping[str, Path | None], limit: float | None, *, fails: bool) -> None:
        """Fail before the work, not after it; where a file is not there, before anything heavy is imported.

        `read` has the files to read by what they hold, `limit` is L, and `fails` says whether the exit code tells of fairness.
        """
        if self.quiet and not fails and all(path is None for path in self._targets().values()):
            given = (
                "--quiet without --out, --json, --violations, --individual-constants, --fail-above or --check"
            )
            raise InputError(given, "one of them, or no --quiet")
        if self.violations is not None and limit is None:
            given = f"--violations {self.violations} without a limit"
            raise InputError(given, "--lipschitz L or --fail-above L beside it")
        for role, path in read.items():
            if path is not None:
                existing(path, _HOLDS.get(role, role))
        self._check_targets(read)

    def lists(self) -> dict[str, Any]:
        """Return the arguments of `likewise.audit` that name CSV files."""
        return {"violations": self.violations, "individual_constants": self.individual_constants}

    def _targets(self) -> dict[str, Path | None]:
        """Return what is written, by option."""
        names = ("out", "json", "violations", "individual_constants")
        return {f"--{name.replace('_', '-')}": getattr(self, name) for name in names}

    def _check_targets(self, read: Mapping[str, Path | None]) -> None:
        from likewise.report.audit_report import FILES, check_report_folder
        from likewise.writing import check_file

        written = [] if self.out is None else [self.out / name for name in (*FILES, CONFIGURATION)]
        targets = {name: path for name, path in self._targets().items() if path is not None}
        single = {name: path for name, path in targets.items() if name != "--out"}
        refuse_to_overwrite(read.values(), [*written, *single.values()])
        if self.out is not None:
            check_report_folder(self.out)
        for path in single.values():
            if path != STANDARD_STREAM:
                check_file(path)
        for (name, path), (other, used) in combinations((single | targets).items(), 2):
            if path.resolve() == used.resolve():
                raise InputError(f"{name} {path} and {other} {used}", "two different names")

    def deliver(self, report: AuditReport, configuration: str = "") -> None:
        """Write what was asked for, the configuration beside it, then print the answer, or JSON and nothing else."""
        from likewise.writing import write_file

        page = None if self.out is None else report.save(self.out)
        if self.out is not None and configuration:
            write_file(self.out / CONFIGURATION, configuration)
        if self.json == STANDARD_STREAM:
            sys.stdout.write(report.to_json())
            return
        if self.json is not None:
            write_file(self.json, report.to_json())
        if not self.quiet:
            self._print(report, 0 if page is None else 1)
            if page is not None:
                print(f"Report: {page}")

    def _print(self, report: AuditReport, n_follow: int) -> None:
        """Print the report, short by the lines that follow: in colour on a terminal, no wider than is read with ease; plain elsewhere."""
        from rich.console import Console

        from likewise.report import as_renderable, as_text
        from likewise.report.table import MOST_LINES

        console = Console()
        width = min(console.width, _WIDEST) if console.is_terminal else _PLAIN
        options: dict[str, Any] = {"details": self.details, "most_lines": MOST_LINES - n_follow}
        if console.is_terminal:
            console.print(as_renderable(report, width, **options), width=width)
        else:
            print(as_text(report, width, **options))


RESULTS = ResultOptions()
