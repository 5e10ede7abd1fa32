"""What a command would do, told instead of done: the same for every command that computes for long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from likewise.observations import ObservedMatrix


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
