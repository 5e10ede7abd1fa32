"""Sentences of the docs that quote the tables of a reproduction, made anew from these tables; `check_numbers.py` looks for them in the pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
from scipy.stats import chi2

from likewise.reproduction.published import published_cell

TABLES = Path(__file__).parent / "reproduction"
ERROR = "Mean squared error of entries not observed"
PRINTED = "Error as the released code prints it: predictions from Z's features"
METRICS = {
    ERROR: ("mse_h", "mse_f"),
    "IF_1 (Z), mean ratio": ("if1_h_Z", ""),
    "IF_1, mean ratio with d on A_hat": ("", "if1_f_Z"),
    "IF_2 (A), mean ratio": ("if2_h_A", "if2_f_A"),
}
"""The published rows of h and f that a table stands for."""


def text(run: str) -> str:
    """Return the tables of a run as they were written by it."""
    return (TABLES / f"{run}.md").read_text(encoding="utf-8")


def section(run: str, title: str) -> str:
    """Return a section of it, from its heading to the next."""
    return text(run).split(f"## {title}", 1)[1].split("\n## ", 1)[0]


def row_of(part: str, title: str, row: str) -> list[list[str]]:
    """Return the cells of a row as they are printed: the mean, and the bar where there are several simulations."""
    table = part.split(f"**{title}", 1)[1].split("\n**", 1)[0]
    (cells,) = re.findall(rf"^\| {row} \| (.*) \|$", table, re.MULTILINE)
    return [cell.split() for cell in cells.split(" | ")]


def means(part: str, title: str, row: str) -> list[str]:
    """Return the means of a row as they are printed."""
    return [cell[0] for cell in row_of(part, title, row)]


def short(numbers: list[str]) -> list[str]:
    """Leave out the zero before the point, as the pages do."""
    return [number.removeprefix("0") for number in numbers]


def agreement(run: str, convention: str) -> list[str]:
    """Return of a convention how many cells are met, how many lie within the printed bar, and how many have the printed digits."""
    (counts,) = re.findall(rf"^\| {convention} \|(.*)\|$", text(run), re.MULTILINE)
    return [count.removesuffix(" of 72 ").strip() for count in counts.split("|")]


def counts_of_published_cells() -> Iterator[str]:
    """docs/reproduction.md: how many cells of ten simulations are met, lie within the printed bar, and round to the printed number."""
    within = same = 0
    for experiment, level, row, ours, _ in cells():
        cell = published_cell(experiment, row, level)
        assert cell is not None
        within += abs(ours - cell.value) <= cell.bar
        same += f"{ours:.2f}" == f"{cell.value:.2f}"
    met = re.search(r"^\| released \S+.*? \| (\d+) of 72", text("tables"), re.MULTILINE)
    assert met is not None
    yield f"{met[1]} of the 72 cells"
    yield f"{within} of the 72 lie within the printed bar alone"
    yield f"{same} round to the printed number"


def cells() -> Iterator[tuple[str, float, str, float, float]]:
    """Read the means and bars of h and f-released from the tables of ten simulations."""
    for part in re.split(r"^## ", text("tables"), flags=re.MULTILINE):
        found = re.match(r"Experiment ([134]):", part)
        for title, (of_h, of_f) in METRICS.items() if found else ():
            header = part.split(f"**{title}**", 1)[1].split("|  |", 1)[1].split("\n")[0]
            levels = [float(each) for each in re.findall(r"= ([\d.]+)", header)]
            for arm, row in (("h", of_h), ("f-released", of_f)):
                found_cells = row_of(part, f"{title}**", arm) if row else []
                for level, (mean, bar) in zip(levels, found_cells, strict=False):
                    yield found[1], level, row, float(mean), float(bar.removeprefix("±"))


def what_the_net_learns() -> Iterator[str]:
    """docs/reproduction.md: the error of f at p = 0.05 under both targets, and the published one."""
    ours, published = (
        (means(section(run, "Experiment 1"), ERROR, "f-released")[0] for run in ("features", "tables")),
        published_cell("1", "mse_f", 0.05),
    )
    features, observed = ours
    assert published is not None
    yield f"the text's targets give f an error of about {float(features):.2f}, observed Z one of {observed}; {published.value} is published"


def how_wide_the_bars_are() -> Iterator[str]:
    """docs/reproduction.md: our bars over the printed ones, from unrounded records and from the table, and what few simulations make of it."""
    corrected = []
    for run, named in (("features", "of the text's targets"), ("released", "of the released net")):
        (share,) = re.findall(r"Our bars, .*? are ([\d.]+) times the printed ones at the median", text(run))
        (simulations,) = set(re.findall(r"deviations of (\d+) simulations", text(run)))
        freedom = int(simulations) - 1
        corrected.append(float(share) / np.sqrt(chi2.ppf(0.5, freedom) / freedom))
        yield f"{share} times as wide in the {simulations} simulations {named}"
    yield "Corrected for this they are {:.1f} and {:.1f} times as wide".format(*corrected)
    published = ((published_cell(*place), bar) for *place, _, bar in _places())
    rounded = median(bar / cell.bar for cell, bar in published if cell is not None and cell.bar)
    yield f"rounded to three decimals, the ratio is {rounded:.1f}"


def _places() -> Iterator[tuple[str, str, float, float, float]]:
    """Return the cells in the order that `published_cell` takes."""
    yield from ((experiment, row, level, mean, bar) for experiment, level, row, mean, bar in cells())


def the_row_k2() -> Iterator[str]:
    """docs/reproduction.md: by how much K2 of the printed formula is above the published row, and K* below K2."""
    above, below = [], []
    for experiment, level, k2, k_star in _constants():
        cell = published_cell(experiment, "k2", level)
        assert cell is not None
        above.append(k2 / cell.value)
        below.append(k2 / k_star)
    words = ("no", "one", "two", "three", "four", "five")
    orders = [words[round(float(np.log10(share)))] for share in (min(above), max(above))]
    yield "larger by {} to {} orders of magnitude".format(*orders)
    is_so = min(below) >= 5 and max(below) <= 50
    yield f"smaller than K2 by a factor of {'five to fifty' if is_so else f'{min(below):.0f} to {max(below):.0f}'}"


def _alike() -> list[str]:
    """Return the cells of h and of A itself that the runs under both targets must have in common, and do."""
    cells: dict[str, list[str]] = {"features": [], "tables": []}
    for run, found in cells.items():
        for experiment in "134":
            rows = re.findall(
                r"^\| (?:h|A itself) \| (.*) \|$", section(run, f"Experiment {experiment}"), re.MULTILINE
            )
            found += [cell for row in rows for cell in row.split(" | ")]
    assert cells["features"] == cells["tables"]
    return cells["tables"]


def _constants() -> Iterator[tuple[str, float, float, float]]:
    """Read K2 and K* of every arm that kept something."""
    for experiment in "134":
        part = section("tables", f"Experiment {experiment}")
        header = part.split("**K2 of Theorem 4.1**", 1)[1].split("|  |", 1)[1].split("\n")[0]
        levels = [float(each) for each in re.findall(r"= ([\d.]+)", header)]
        for arm in ("f-literal", "f-released", "f-noise-edge"):
            k2, k_star = (
                means(part, title, arm) for title in ("K2 of Theorem 4.1", r"K*, the exact constant")
            )
            for level, *both in zip(levels, k2, k_star, strict=True):
                if float(both[0]):
                    yield experiment, level, float(both[0]), float(both[1])


def rates_and_shares() -> Iterator[str]:
    """docs/reproduction.md: the condition on p, and the best answer of ten simulations."""
    eps = means(section("theory", "Proposition 4.4"), "Rate", "eps")
    best = means(section("theory", "The minimax remark"), "Error as a share of the rate", "best answer")
    yield r"holds up to an $\varepsilon$ of {:.2f} to {:.2f}".format(*(float(eps[each]) for each in (0, -1)))
    yield "Over ten simulations it is {}, {}, {} and {} at 0.1, 0.2, 0.4 and 0.8".format(*best)


def targets_and_released_code() -> Iterator[str]:
    """docs/reproduction_targets.md: the sentences above the tables."""
    learnt = short(means(section("features", "Experiment 1"), ERROR, "f-released"))
    published = [published_cell("1", "mse_f", level) for level in (0.05, 0.1, 0.2, 0.4)]
    pairs = zip(learnt, (f"{cell.value:.2f}"[1:] for cell in published if cell), strict=True)
    yield "errors of f are {} ({} published), {} ({}), {} ({}) and {} ({})".format(
        *(each for pair in pairs for each in pair)
    )
    net = section("released", "Experiment 1")
    yield "prints {}, {}, {} and {} for f".format(*short(means(net, PRINTED, "released-net")))
    yield "have errors of {}, {}, {} and {}".format(*short(means(net, ERROR, "released-net")))
    ratios = means(net, "IF_1, mean ratio with d on A_hat", "released-net")
    yield "ratios IF_1 of {}, {}, {} and {}".format(*short(ratios))
    for run, convention in (
        ("features", "released threshold and d"),
        ("released", "released code as it runs"),
        ("released", "released neighbours as they run"),
    ):
        met, within, alike = agreement(run, convention)
        lie = "lies" if int(within) == 1 else "lie"
        yield f"{met} of 72 cells are met, {within} {lie} within the printed bar, {alike} have the printed digits"
    yield "With observed Z one simulation meets {}, ten meet {}".format(
        agreement("truth", "released threshold and d")[0], agreement("tables", "released code")[0]
    )
    yield f"same means and bars in all {len(_alike())} cells"
    truth = short(means(section("truth", "Experiment 1"), ERROR, "h-truth"))
    yield "errors of {}, {}, {} and {}".format(*truth)
