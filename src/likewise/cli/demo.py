"""The main job on generated data: nothing needed, a report to open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from likewise.cli.results import ResultOptions
from likewise.cli.values import NewPath, Seed
from likewise.progress import StepBars

_OBSERVED = 0.4
"""The paper's densest level: where less is observed, outputs without pre-processing shrink so much that a first look confuses."""


def demo(
    *,
    out: NewPath = Path("likewise-demo"),
    random_state: Seed = 0,
    noise: float = 0.1,
    quiet: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Audit nearest neighbours on generated data, of the paper's Experiment 1, and leave a report to open.

    Parameters
    ----------
    out
        Folder for the report.
    random_state
        Seed of the data and of what is hidden.
    noise
        Standard deviation of the noise; values lie within [-1, 1].
    quiet
        Print no table and no progress.
    """
    from likewise.report import check_report_folder

    check_report_folder(out)
    import likewise
    from likewise.observations import clustered

    with StepBars(quiet=quiet) as progress:
        data = clustered(observed_fraction=_OBSERVED, noise=noise, random_state=random_state)
        report = likewise.audit(
            data.observed, random_state=random_state, source="generated data", progress=progress
        )
    ResultOptions(out=out, quiet=quiet).deliver(report)
