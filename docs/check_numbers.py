"""Check the numbers in the docs that a command makes in seconds: each check makes a sentence or a row anew and looks for it in the page.

    python docs/check_numbers.py            # prints what differs, and exits with 1 if anything does

`tests/test_numbers.py` runs the same checks. The other measured numbers are listed in docs/measured.md with day, machine and command.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from likewise.errors import LikewiseWarning
from likewise.estimation import SVT, ObservationStatistics, PaperCorollary
from likewise.observations import clustered, write_ratings
from likewise.reproduction import Settings
from likewise.reproduction.published import published_cell
from likewise.reproduction.units import Unit, run_unit

DOCS = Path(__file__).parent
LEVELS = (0.05, 0.1, 0.2, 0.4)


def text_of(page: str) -> str:
    """Return a page with line breaks as spaces, as sentences run over them."""
    return " ".join((DOCS / page).read_text(encoding="utf-8").split())


def threshold_of_the_regimes() -> Iterator[str]:
    """docs/method.md: the threshold of Corollary 4.2's order in Experiment 1, and the singular values beside it."""
    taus, largest = [], []
    for level in LEVELS:
        Z = clustered(observed_fraction=level, random_state=0).observed.scaled().values
        taus.append(PaperCorollary()(ObservationStatistics.of(Z)))
        largest.append(np.linalg.svd(Z.toarray(), compute_uv=False)[0])
    yield "it is {:.1f}, {:.1f}, {:.1f} and {:.1f} at".format(*taus)
    yield "is {:.1f}, {:.1f}, {:.1f} and {:.1f} (seed 0)".format(*largest)


def rows_of_thresholds() -> Iterator[str]:
    """docs/thresholds.md: the rows of the table of Experiment 1 whose rules cost one decomposition, three seeds."""
    data = {(p, seed): clustered(observed_fraction=p, random_state=seed) for p in LEVELS for seed in range(3)}
    for rule, shown in (("paper-synthetic", "`rescaled`"), ("released-code", ""), ("noise-edge", "")):
        cells = []
        for level in LEVELS:
            fits = [(SVT(rule).fit(data[level, seed].observed), data[level, seed]) for seed in range(3)]
            errors = [np.sqrt(np.mean((fit.estimate_.to_dense() - one.truth) ** 2)) for fit, one in fits]
            components = np.mean([fit.rank_ for fit, _ in fits])
            cells.append(f"{np.mean(errors):.3f}".removeprefix("0") + f" ({components:.0f})")
        yield f"| `{rule}` | {shown}{' ' if shown else ''}| {' | '.join(cells)} |"


def last_line_of_a_frontier() -> Iterator[str]:
    """docs/frontier.md: what `likewise frontier` prints last for the data of Experiment 1."""
    from likewise.cli.main import run

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "exp1.csv"
        write_ratings(file, clustered(observed_fraction=0.2, random_state=0).observed)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert (
                run(["frontier", str(file), "--estimator", "svt", "--out", str(Path(folder) / "frontier")])
                == 0
            )
    yield next(line for line in printed.getvalue().splitlines() if line.startswith("K* at most halved"))


def shares_of_the_lower_bound() -> Iterator[str]:
    """docs/reproduction.md: the best answer and the estimate of the proposition as shares of the lower bound's shape."""
    settings = Settings(("minimax",), 1, ("h",))
    arms = [run_unit(Unit("minimax", size, 1), settings, None)["arms"] for size in (0.1, 0.8)]
    best, own = (
        [arm[name]["metrics"]["share_of_rate"] for arm in arms] for name in ("best answer", "universal")
    )
    yield r"its error is {:.3f} of the shape at $\theta^2 = 0.1$ and {:.3f} at 0.8".format(*best)
    yield "is {:.3f} and {:.3f} of the shape".format(*own)


def counts_of_published_cells() -> Iterator[str]:
    """docs/reproduction.md: how many cells of ten simulations are met, lie within the printed bar, and round to the printed number."""
    within = same = 0
    for experiment, level, row, ours in _cells_of_the_tables():
        cell = published_cell(experiment, row, level)
        assert cell is not None
        difference = abs(ours - cell.value)
        within += difference <= cell.bar
        same += f"{ours:.2f}" == f"{cell.value:.2f}"
    met = re.search(r"^\| released \S+.*? \| (\d+) of 72", text_in_tables(), re.MULTILINE)
    assert met is not None
    yield f"{met[1]} of the 72 cells"
    yield f"{within} of the 72 lie within the printed bar alone"
    yield f"{same} round to the printed number"


def text_in_tables() -> str:
    """Return the tables of ten simulations as they were written by the run."""
    return (DOCS / "reproduction" / "tables.md").read_text(encoding="utf-8")


_METRICS = {
    "Mean squared error of entries not observed": ("mse_h", "mse_f"),
    "IF_1 (Z), mean ratio": ("if1_h_Z", ""),
    "IF_1, mean ratio with d on A_hat": ("", "if1_f_Z"),
    "IF_2 (A), mean ratio": ("if2_h_A", "if2_f_A"),
}


def _cells_of_the_tables() -> Iterator[tuple[str, float, str, float]]:
    """Read the means of h and f-released from the tables of ten simulations."""
    for section in re.split(r"^## ", text_in_tables(), flags=re.MULTILINE):
        found = re.match(r"Experiment ([134]):", section)
        for title, (of_h, of_f) in _METRICS.items() if found else ():
            part = section.split(f"**{title}**", 1)[1].split("\n**", 1)[0]
            levels = [
                float(each) for each in re.findall(r"= ([\d.]+)", part.split("|  |", 1)[1].split("\n")[0])
            ]
            for arm, row in (("h", of_h), ("f-released", of_f)):
                cells = re.search(rf"^\| {arm} \| (.*) \|$", part, re.MULTILINE) if row else None
                means = [float(cell.split()[0]) for cell in cells[1].split(" | ")] if cells else []
                yield from ((found[1], level, row, mean) for level, mean in zip(levels, means, strict=False))


CHECKS: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "threshold of the regimes": ("method.md", threshold_of_the_regimes),
    "rows of thresholds": ("thresholds.md", rows_of_thresholds),
    "last line of a frontier": ("frontier.md", last_line_of_a_frontier),
    "shares of the lower bound": ("reproduction.md", shares_of_the_lower_bound),
    "counts of published cells": ("reproduction.md", counts_of_published_cells),
}
"""By name: the page, and what makes the words that must stand in it."""


def missing(name: str) -> list[str]:
    """Return what the page should say and does not."""
    page, made = CHECKS[name]
    text = text_of(page)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        return [f"docs/{page}: {words}" for words in made() if " ".join(words.split()) not in text]


def main() -> int:
    """Print what differs."""
    found = [line for name in CHECKS for line in missing(name)]
    print("\n".join(found) or f"{len(CHECKS)} checks of numbers passed")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
