"""The commands, the examples that their help ends with, and the one way in and out of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from likewise import __version__
from likewise.cli.audit import audit
from likewise.cli.config import OPTION, with_config
from likewise.cli.data import app as data
from likewise.cli.estimate import estimate
from likewise.cli.exits import exit_code_of
from likewise.cli.frontier import frontier
from likewise.cli.options import EstimatorOptions, MeasureOptions, ReadOptions
from likewise.cli.output_options import OutputOptions
from likewise.cli.repair import repair
from likewise.cli.reproduce import reproduce
from likewise.cli.results import PlanOptions, ResultOptions
from likewise.cli.values import NewPath, OldPath, Seed, existing, flowing
from likewise.progress import StepBars

_OBSERVED = 0.4
"""The paper's densest level: where less is observed, outputs without pre-processing shrink so much that a first look confuses."""


def demo(
    *,
    out: NewPath = Path("likewise-demo"),
    random_state: Seed = 0,
    noise: float = 0.1,
    details: Annotated[bool, Parameter(negative=())] = False,
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
    details
        Print every number, not the answer alone.
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
    ResultOptions(out=out, details=details, quiet=quiet).deliver(report)


def diff(old: OldPath, new: OldPath, /) -> None:
    """Compare two reports: better, worse, or cannot be told, and which data and settings differ.

    Parameters
    ----------
    old
        A report as JSON (likewise audit --json FILE), or the folder of --out.
    new
        The other one.
    """
    for path in (old, new):
        existing(path, "a report")
    from likewise.report.difference import difference

    print(difference(old, new))


def doctor() -> None:
    """Print versions, kernels, threads and BLAS: what a bug report needs."""
    from likewise._kernels import kernel_info
    from likewise.memory import available_memory, format_bytes
    from likewise.report.json_document import versions

    kernels, found = kernel_info(), versions()
    lines = {
        "likewise": found["likewise"],
        "Python": found["python"],
        "system": found["system"],
        "kernels": f"{kernels.kernels} (instructions: {kernels.instruction_set})",
        "threads": str(kernels.threads),
        "BLAS": kernels.blas or "none found",
        "free memory": format_bytes(available_memory()),
    }
    lines |= {name: number or "not installed" for name, number in found["libraries"].items()}
    lines |= {"hint": kernels.advice} if kernels.advice else {}
    width = max(map(len, lines))
    for name, value in lines.items():
        print(f"{name:<{width}}  {value}")


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a script that completes commands and options in a shell: eval "$(likewise completion bash)".

    Parameters
    ----------
    shell
        Which shell it is for.
    """
    print(app.generate_completion(shell=shell))


EXAMPLES = {
    "audit": (
        "likewise audit ratings.csv --out report",
        "likewise audit people.csv --id-columns name --outputs scores.csv --groups groups.csv",
        "likewise audit ratings.csv --check 'gap<=0.9' --check 'rmse<=1.0:warning'",
    ),
    "diff": ("likewise diff report again",),
    "estimate": (
        "likewise estimate ratings.csv --out factors.npz",
        "likewise estimate ratings.csv --pairs pairs.csv --confidence 0.95 --out predictions.csv",
    ),
    "frontier": (
        "likewise frontier ratings.csv --out frontier",
        "likewise frontier ratings.csv --out frontier --budgets 0.5,0.25 --model knn",
    ),
    "repair": (
        "likewise repair people.csv --id-columns name --outputs scores.csv --lipschitz 0.5 --value-range per-column --out fair.csv",
        "likewise repair people.csv --id-columns name --outputs scores.csv --lipschitz 1 --reference gower --out fair.csv",
    ),
    "reproduce": (
        "likewise reproduce --experiment 1 --quick --model identity --arms h,f-noise-edge --out look",
    ),
    "demo": ("likewise demo --out likewise-demo",),
    "doctor": ("likewise doctor",),
    "completion": ('eval "$(likewise completion bash)"',),
    "data": ("likewise data list", "likewise data describe ratings.csv"),
}

_COMMON = (
    '--config FILE.toml, after any command, reads options from a file: estimator = "svt", one per line; options on the command line take precedence. '
    "--dry-run, after audit, estimate, frontier and repair, says what would be done and prints these options. "
    "Exit codes: 0 fine, 1 input that cannot be used, 2 wrong usage, 3 a limit of --fail-above or --check is not shown to hold, "
    "70 an error in likewise itself."
)


def epilogue(command: str) -> str:
    """Return the end of the help of a command; that of likewise itself has the examples of its main one.

    >>> epilogue("doctor").splitlines()[:3]
    ['Examples:', '', '  likewise doctor']
    """
    shown = "".join(f"  {example}\n\n" for example in EXAMPLES[command])
    return f"Examples:\n\n{shown}{_COMMON}"


COMMANDS = (audit, diff, estimate, frontier, repair, reproduce, demo, doctor, completion)

app = App(
    name="likewise",
    help="Does an algorithm on sparse, noisy data treat similar individuals similarly, and how do we make it do so?",
    help_epilogue=epilogue("audit"),
    help_format="plaintext",
    version=__version__,
    suppress_keyboard_interrupt=False,
    result_action="return_none",
)
for command in COMMANDS:
    app.command(command, help_epilogue=epilogue(command.__name__))
data.help_epilogue = epilogue("data")
app.command(data)
for described in (
    *COMMANDS,
    EstimatorOptions,
    MeasureOptions,
    OutputOptions,
    ReadOptions,
    ResultOptions,
    PlanOptions,
):
    # In the source descriptions are broken for readers; in a terminal, where it ends.
    described.__doc__ = flowing(described.__doc__)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command, by default with the arguments of the process, and return the exit code.

    0 fine, 1 input that cannot be used, 2 wrong usage, 3 a limit that is not shown to hold, 70 an unexpected error, 130 interrupted, 141 nobody reads
    the output any more.
    """
    return exit_code_of(
        lambda: app(
            with_config(sys.argv[1:] if arguments is None else arguments, app),
            exit_on_error=False,
            print_error=False,
        ),
        _options,
    )


@cache
def _options() -> set[str]:
    """Return the options of all commands; to ask for them takes a quarter of a second, and each warning does."""
    commands = [
        *(app[command.__name__] for command in COMMANDS),
        *(data[name] for name in ("list", "fetch", "describe")),
    ]
    of_commands = [command.assemble_argument_collection() for command in commands]
    return {OPTION} | {name for arguments in of_commands for argument in arguments for name in argument.names}
