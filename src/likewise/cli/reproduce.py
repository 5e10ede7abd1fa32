"""The paper's experiments from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from likewise.cli.values import NewPath, OldPath, Seed, Whole
from likewise.progress import StepBars

if TYPE_CHECKING:
    from likewise.reproduction import Reproduction


def reproduce(
    *,
    experiment: str = "all",
    simulations: Whole = None,
    arms: str | None = None,
    targets: Literal["observed", "features", "truth"] = "observed",
    model: str = "dnn",
    ratings: OldPath | None = None,
    out: NewPath = Path("likewise-reproduction"),
    jobs: Whole = None,
    random_state: Seed = 0,
    noise: float | None = None,
    quick: Annotated[bool, Parameter(negative=())] = False,
    quiet: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Run the paper's experiments, every arm on the same data, beside the numbers that it prints.

    Each finished simulation is kept in the folder of results at once: called again with the same settings, an interrupted run goes on
    where it stopped, and its tables are the same to the last digit.

    Parameters
    ----------
    experiment
        1 to 4; rate, the error beside Proposition 4.4 as m and n grow; minimax, the same on matrices that nobody can estimate well; several,
        separated by commas; or all.
    simulations
        Of each cell; by default 10, as in the paper, or 1 with --quick. More can be added to a folder later.
    arms
        h, f-literal, f-released, f-noise-edge, which are the default; h-truth, on A itself; released-net-h, released-net, released-knn-h,
        released-knn, the released code as it runs; or name=estimator with a threshold of SVT, an estimator by name, or package.module:name. With --quick h and f-released.
    targets
        What the algorithm learns: observed Z; the arm's own features, as the paper's appendix says; or the truth, as the released code does.
    model
        dnn, the paper's net (needs PyTorch); knn, identity; or package.module:name of a function of features and targets.
    ratings
        MovieLens 1M, file or folder, for experiment 2; by default in the folder that LIKEWISE_DATA names.
    out
        Folder of the results.
    jobs
        Processes of one thread each; by default one for each processor. No number depends on it.
    random_state
        Seed of everything.
    noise
        Standard deviation of the noise of generated data, by default 0.1; the paper writes N(0, 0.1), of which 0.316 is the other reading.
    quick
        One simulation of the first and last level of each experiment.
    quiet
        Print no table and no progress.
    """
    from likewise._kernels.backend import usable_processors
    from likewise.reproduction import reproduce as run
    from likewise.reproduction.reproduction import check_results_folder

    check_results_folder(out)
    with StepBars(quiet=quiet, remaining=True) as progress:
        found = run(
            experiment,
            simulations=simulations,
            arms=arms,
            targets=targets,
            model=model,
            quick=quick,
            random_state=random_state,
            noise=noise,
            jobs=usable_processors() if jobs is None else jobs,
            ratings=ratings,
            out=out,
            progress=progress,
        )
        progress("write tables and figures", 0, 1)
        page = found.save(out)
    if not quiet:
        _print(found)
        print(f"\nResults: {page}")


def _print(found: Reproduction) -> None:
    """Print the tables: in colour on a terminal, no wider than lines are read with ease; plain elsewhere."""
    from rich.console import Console

    from likewise.reproduction.formats import WIDTH, as_renderable

    console = Console()
    if console.is_terminal:
        console.print(as_renderable(found), width=min(console.width, WIDTH))
    else:
        print(found)
