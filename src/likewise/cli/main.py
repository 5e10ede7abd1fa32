"""The commands, and the one way in and out of them."""

from __future__ import annotations

from collections.abc import Sequence

from cyclopts import App

from likewise import __version__
from likewise.cli.audit import audit
from likewise.cli.demo import demo
from likewise.cli.doctor import doctor
from likewise.cli.estimate import estimate
from likewise.cli.exits import exit_code_of
from likewise.cli.frontier import frontier
from likewise.cli.repair import repair
from likewise.cli.reproduce import reproduce

COMMANDS = (audit, estimate, frontier, repair, reproduce, demo, doctor)

app = App(
    name="likewise",
    help="Does an algorithm on sparse, noisy data treat similar individuals similarly, and how do we make it do so?",
    help_epilogue="Exit codes: 0 fine, 1 input that cannot be used, 2 wrong usage, 3 a limit of --fail-above is not shown to hold, "
    "70 an error in likewise itself.",
    help_format="plaintext",
    version=__version__,
    suppress_keyboard_interrupt=False,
    result_action="return_none",
)
for command in COMMANDS:
    app.command(command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        The exit code: 0 fine, 1 input that cannot be used, 2 wrong usage, 3 a limit that is not shown to hold, 70 an unexpected error, 130 interrupted, 141 nobody reads
        the output any more.
    """
    return exit_code_of(lambda: app(arguments, exit_on_error=False, print_error=False), _options)


def _options() -> set[str]:
    """Return the options of all commands."""
    of_commands = [app[command.__name__].assemble_argument_collection() for command in COMMANDS]
    return {name for arguments in of_commands for argument in arguments for name in argument.names}
