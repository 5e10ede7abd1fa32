"""How many published cells are met, under which convention, and what is known of each that is not."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan
from statistics import median

from likewise.reproduction.arms import ARMS, WITHOUT
from likewise.reproduction.experiments import Experiment
from likewise.reproduction.published import ROWS, PublishedCell, published_cell
from likewise.reproduction.results import Results
from likewise.reproduction.tables import Row, Section, Table, published_text, summary_text

LAST_DIGIT = 0.01
"""What the last digit of a published number stands for."""

RELATIVE, ABSOLUTE = 0.1, LAST_DIGIT / 2
"""A cell is met within the largest of the printed bar, a tenth of the number, and half a unit of its last digit."""


@dataclass(frozen=True)
class Convention:
    """What the published rows are held against."""

    name: str
    meaning: str
    arm: str  # stands for f
    ratio_f: str  # the metric that stands for IF_1 of f
    without: str = WITHOUT  # the arm that stands for h
    error: str = "mse"  # the metric that stands for the error
    ratio_h: str = "if1_observed"  # the metric that stands for IF_1 of h

    def sources(self) -> dict[str, tuple[str, str]]:
        """Return, for each published row, which arm's metric it is held against."""
        return {
            "mse_h": (self.without, self.error),
            "mse_f": (self.arm, self.error),
            "if1_h_Z": (self.without, self.ratio_h),
            "if1_f_Z": (self.arm, self.ratio_f),
            "if2_h_A": (self.without, "if2_truth"),
            "if2_f_A": (self.arm, "if2_truth"),
        }

    def was_run(self, found: Results) -> bool:
        """Whether a run has both arms, with the model whose numbers are published."""
        own_model = bool(ARMS[self.arm].algorithm)
        return (
            found.has_arm(self.arm)
            and found.has_arm(self.without)
            and (own_model or found.has_published_model)
        )


CONVENTIONS = (
    Convention(
        "released threshold and d",
        "the released code's threshold, and its d: on A_hat for f, so the yardstick changes between the arms",
        "f-released",
        "if1_input",
    ),
    Convention(
        "fixed d",
        "the released code's threshold, d on Z for both arms: a valid comparison",
        "f-released",
        "if1_observed",
    ),
    Convention(
        "as printed",
        "the printed threshold, d on Z for both arms: a valid comparison",
        "f-literal",
        "if1_observed",
    ),
    Convention(
        "released code as it runs",
        "its net of f goes on from that of h, learns A from Z's features, and has its error measured on these; d on A_hat for f",
        "released-net",
        "if1_input",
        "released-net-h",
        "mse_printed",
    ),
    Convention(
        "released neighbours as they run",
        "another algorithm than the tables are of; d on the outputs themselves in both arms",
        "released-knn",
        "if1_input",
        "released-knn-h",
        ratio_h="if1_input",
    ),
)
"""Ways to read what was published."""


@dataclass(frozen=True)
class Comparison:
    """A published cell beside ours."""

    experiment: Experiment
    level: float
    row: str  # of ROWS
    published: PublishedCell
    ours: float
    bar: float = nan  # two standard deviations of our simulations; NaN where there is one

    @property
    def is_met(self) -> bool:
        """Whether ours lies within the tolerance."""
        value = self.published.value
        return abs(self.ours - value) <= max(self.published.bar, RELATIVE * value, ABSOLUTE)

    @property
    def is_within_bar(self) -> bool:
        """Whether ours lies within the printed bar, which is often narrower than the last printed digit."""
        return abs(self.ours - self.published.value) <= self.published.bar

    @property
    def is_the_same_printed(self) -> bool:
        """Whether ours, rounded as the paper rounds, is the printed number."""
        return f"{self.ours:.2f}" == f"{self.published.value:.2f}"


def compare_cells(found: Results, convention: Convention) -> list[Comparison]:
    """Compare every published cell without the K2 row, as far as it was computed."""
    compared = []
    for experiment, level in found.cells():
        for row, (arm, metric) in convention.sources().items():
            published = published_cell(experiment.key, row, level)
            ours = found.summary(experiment.key, level, arm, metric)
            if published is not None and ours is not None:
                compared.append(Comparison(experiment, level, row, published, ours.mean, ours.two_sd))
    return compared


def agreement_tables(found: Results) -> list[Table]:
    """Count the cells that are met under each convention that was run, and list each other one with what is known of it; none without any."""
    run = [convention for convention in CONVENTIONS if convention.was_run(found)]
    compared = {convention: compare_cells(found, convention) for convention in run}
    compared = {convention: cells for convention, cells in compared.items() if cells}
    missed = [_missed(found, convention, cells) for convention, cells in compared.items()]
    misses = Table(
        "misses",
        "Published cells that are not met",
        "What the run itself shows about each difference.",
        ("ours", "published", "known"),
        tuple(section for section in missed if section.rows),
    )
    return ([_counts_table(compared)] if compared else []) + ([misses] if misses.sections else [])


def _counts_table(compared: dict[Convention, list[Comparison]]) -> Table:
    counts = tuple(Row(convention.name, _counts(cells)) for convention, cells in compared.items())
    meanings = "; ".join(f"{convention.name}: {convention.meaning}" for convention in compared)
    return Table(
        "agreement",
        "Agreement with the published cells",
        f"Published cells without the K2 row. Met: our mean lies within the largest of the printed bar, {RELATIVE:.0%} of the number, and "
        f"{ABSOLUTE}. Within bar: within the printed bar alone. Same: rounded to two decimals ours is the printed number.{_bars(compared)}",
        ("met", "within bar", "same"),
        (Section("Cells met, by convention", meanings, counts),),
    )


def _counts(cells: list[Comparison]) -> tuple[str, ...]:
    met = sum(cell.is_met for cell in cells)
    within, same = sum(cell.is_within_bar for cell in cells), sum(cell.is_the_same_printed for cell in cells)
    return f"{met} of {len(cells)}", str(within), str(same)


def _bars(compared: dict[Convention, list[Comparison]]) -> str:
    """Say how wide our bars are beside the printed ones."""
    shares = [
        cell.bar / cell.published.bar
        for cell in next(iter(compared.values()))
        if cell.published.bar and isfinite(cell.bar)
    ]
    if not shares:
        return ""
    return f" Our bars, two standard deviations of the simulations, are {median(shares):.1f} times the printed ones at the median."


def _missed(found: Results, convention: Convention, cells: list[Comparison]) -> Section:
    rows = tuple(_missed_row(found, convention, cell) for cell in cells if not cell.is_met)
    return Section(
        f"Not met: {convention.name}", "ours, published, and what is known of the difference", rows
    )


def _missed_row(found: Results, convention: Convention, missed: Comparison) -> Row:
    axis = missed.experiment.axis
    label = f"{missed.experiment.key}, {axis} = {missed.level:g}: {ROWS[missed.row]}"
    arm, metric = convention.sources()[missed.row]
    ours = found.summary(missed.experiment.key, missed.level, arm, metric)
    return Row(
        label, (summary_text(ours), published_text(missed.published), known_of(found, convention, missed))
    )


def known_of(found: Results, convention: Convention, missed: Comparison) -> str:
    """Say what our own numbers tell of a cell that is not met; nothing is guessed."""
    rank = found.summary(missed.experiment.key, missed.level, convention.arm, "rank")
    # Only what the run itself shows is said: an estimate that keeps nothing, another convention that meets
    # the cell, or by how much it is missed.
    if missed.row.startswith(("mse_f", "if1_f", "if2_f")) and rank is not None and rank.mean < 1:
        return "rank 0: nothing is kept"
    others = [
        other.name
        for other in CONVENTIONS
        if other is not convention and other.was_run(found) and _meets(found, other, missed)
    ]
    if others:
        return f"met under: {', '.join(others)}"
    difference = missed.ours - missed.published.value
    words = f"{difference / missed.published.value:+.0%}"
    return f"{words}, one unit of the last digit" if abs(difference) <= LAST_DIGIT else words


def _meets(found: Results, convention: Convention, missed: Comparison) -> bool:
    arm, metric = convention.sources()[missed.row]
    ours = found.summary(missed.experiment.key, missed.level, arm, metric)
    return (
        ours is not None
        and Comparison(missed.experiment, missed.level, missed.row, missed.published, ours.mean).is_met
    )
