"""How many published cells are met, under which convention, and what is known of each that is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from likewise.reproduction.arms import WITHOUT
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
    """What the published rows are held against.

    Parameters
    ----------
    name, meaning : str
    arm : str
        Stands for f.
    ratio_f : str
        The metric that stands for IF_1 of f.
    """

    name: str
    meaning: str
    arm: str
    ratio_f: str


CONVENTIONS = (
    Convention(
        "released code",
        "threshold of the released code, d on A_hat for f: the yardstick changes between the arms",
        "f-released",
        "if1_input",
    ),
    Convention(
        "fixed d",
        "threshold of the released code, d on Z for both arms: a valid comparison",
        "f-released",
        "if1_observed",
    ),
    Convention(
        "as printed",
        "printed threshold, d on Z for both arms: a valid comparison",
        "f-literal",
        "if1_observed",
    ),
)
"""Ways to read what was published."""


@dataclass(frozen=True)
class Comparison:
    """A published cell beside ours.

    Parameters
    ----------
    experiment : Experiment
    level : float
    row : str
        Of `ROWS`.
    published : PublishedCell
    ours : float
    """

    experiment: Experiment
    level: float
    row: str
    published: PublishedCell
    ours: float

    @property
    def is_met(self) -> bool:
        """Whether ours lies within the tolerance."""
        value = self.published.value
        return abs(self.ours - value) <= max(self.published.bar, RELATIVE * value, ABSOLUTE)


def compare_cells(found: Results, convention: Convention) -> list[Comparison]:
    """Compare every published cell without the K2 row, as far as it was computed."""
    return list(_comparisons(found, convention))


def _comparisons(found: Results, convention: Convention) -> Iterator[Comparison]:
    for experiment, level in found.cells():
        for row, (arm, metric) in _sources(convention).items():
            published = published_cell(experiment.key, row, level)
            ours = found.summary(experiment.key, level, arm, metric)
            if published is not None and ours is not None:
                yield Comparison(experiment, level, row, published, ours.mean)


def _sources(convention: Convention) -> dict[str, tuple[str, str]]:
    """Return, for each published row, which arm's metric it is held against."""
    return {
        "mse_h": (WITHOUT, "mse"),
        "mse_f": (convention.arm, "mse"),
        "if1_h_Z": (WITHOUT, "if1_observed"),
        "if1_f_Z": (convention.arm, convention.ratio_f),
        "if2_h_A": (WITHOUT, "if2_truth"),
        "if2_f_A": (convention.arm, "if2_truth"),
    }


def agreement_table(found: Results) -> Table:
    """Count the cells that are met under each convention, and list each other one with what is known of it."""
    counts, lists = [], []
    for convention in CONVENTIONS:
        compared = compare_cells(found, convention)
        if not compared:
            continue
        met = sum(comparison.is_met for comparison in compared)
        counts.append(Row(convention.name, (f"{met} of {len(compared)}", "", "")))
        missed = [comparison for comparison in compared if not comparison.is_met]
        rows = [_missed_row(found, convention, comparison) for comparison in missed]
        if rows:
            lists.append(Section(f"Not met: {convention.name}", convention.meaning, tuple(rows)))
    caption = (
        f"Published cells without the K2 row that ours meet: the mean lies within the largest of the printed bar, {RELATIVE:.0%} of the "
        f"number, and {ABSOLUTE}."
    )
    first = Section(
        "Cells met, by convention", "; ".join(f"{c.name}: {c.meaning}" for c in CONVENTIONS), tuple(counts)
    )
    return Table(
        "agreement",
        "Agreement with the published cells",
        caption,
        ("ours", "published", "known"),
        (first, *lists),
    )


def _missed_row(found: Results, convention: Convention, missed: Comparison) -> Row:
    axis = missed.experiment.axis
    label = f"{missed.experiment.key}, {axis} = {missed.level:g}: {ROWS[missed.row]}"
    arm, metric = _sources(convention)[missed.row]
    ours = found.summary(missed.experiment.key, missed.level, arm, metric)
    return Row(
        label, (summary_text(ours), published_text(missed.published), known_of(found, convention, missed))
    )


def known_of(found: Results, convention: Convention, missed: Comparison) -> str:
    """Say what our own numbers tell of a cell that is not met; nothing is guessed."""
    rank = found.summary(missed.experiment.key, missed.level, convention.arm, "rank")
    if missed.row.startswith(("mse_f", "if1_f", "if2_f")) and rank is not None and rank.mean < 1:
        return "rank 0: nothing is kept"
    others = [other.name for other in CONVENTIONS if other is not convention and _meets(found, other, missed)]
    if others:
        return f"met under: {', '.join(others)}"
    difference = missed.ours - missed.published.value
    words = f"{difference / missed.published.value:+.0%}"
    return f"{words}, one unit of the last digit" if abs(difference) <= LAST_DIGIT else words


def _meets(found: Results, convention: Convention, missed: Comparison) -> bool:
    arm, metric = _sources(convention)[missed.row]
    ours = found.summary(missed.experiment.key, missed.level, arm, metric)
    return (
        ours is not None
        and Comparison(missed.experiment, missed.level, missed.row, missed.published, ours.mean).is_met
    )
