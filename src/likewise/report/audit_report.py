"""The result of an audit: its record, which prints, exports, draws and saves itself, all its files or none."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import FileFormatError
from likewise.fairness import ExactValue, GroupEffects
from likewise.report.html import as_page, page_with
from likewise.report.json_document import document, run_document, to_json
from likewise.report.plots import FIGURES, FORMATS, draw, plot_epsilon_delta, plot_histogram, plot_spectrum
from likewise.report.records import AuditRecord
from likewise.report.table import as_text
from likewise.stored import as_json, read_record
from likewise.writing import Content, PathLike, check_folder, write_folder

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes

    from likewise.report.records import Arm


RECORD_FILE = "audit.json"
"""Everything that the report was made of, from which it is made again."""

FILES = (
    *(f"{name}.{file_format}" for name in FIGURES for file_format in FORMATS),
    "report.json",
    "run.json",
    RECORD_FILE,
    "report.html",
)
"""What a report consists of; the page, which is what people open, is put in place last."""


def check_report_folder(folder: PathLike) -> None:
    """Raise OutputError now if a report could not be saved there: before a long computation, not after it."""
    check_folder(folder, FILES)


@dataclass(frozen=True, eq=False)
class AuditReport(AuditRecord):
    """The result of `likewise.audit` and `likewise.compare`; the attributes are those of `AuditRecord`.

    Attributes
    ----------
    findings : tuple of str
        Plain sentences, the answer first: better, worse, or cannot be told; for whom; at which cost.
    arms : dict of str to Arm
        ``arms["with"].fairness``, ``.error``, ``.verdict``, ``.certificate``, ``.explained``.
    paired : PairedDifferences or None
        What the change does to the same pairs, with intervals.
    truth : HeldOutFairness or None
        Fairness on A (Definition 3.2), measured on observations that were kept aside.
    data, estimate, reference, certificates, settings, seconds, provenance
        See `AuditRecord`.
    """

    @property
    def differences(self) -> dict[str, ExactValue]:
        """After minus before, for every metric that both arms have; empty where they cannot be compared."""
        if not self.comparable:
            return {}
        before, after = (arm.fairness.metrics() for arm in self.arms.values())
        return {
            name: ExactValue(after[name].value - before[name].value, before[name].n_pairs)
            for name in before
            if name in after
        }

    def details(self, width: int = 80) -> str:
        """Return everything as text: all metrics, what is proved, notes, where the data come from."""
        return as_text(self, width, details=True)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers, as in docs/report_schema.md."""
        return document(self)

    def to_json(self) -> str:
        """Return `to_dict` as JSON text: the same bytes for the same data, settings and seed."""
        return to_json(self.to_dict())

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with one row for each arm and metric, and each group that was tested: arm, metric, kind, value, low, high, n_pairs."""
        import polars

        frames = [
            frame.select(polars.lit(name).alias("arm"), polars.all())
            for name, arm in self.arms.items()
            for frame in (arm.fairness.to_frame(), _frame_of_groups(arm))
            if frame is not None
        ]
        return polars.concat(frames, how="diagonal")

    def plot_histogram(self, ax: Axes | None = None) -> Axes:
        """Draw the ratios of both arms over each other (the paper's Figures 1 and 3); returns the axes."""
        return plot_histogram(self, ax)

    def plot_epsilon_delta(self, ax: Axes | None = None) -> Axes:
        """Draw the largest output distance of pairs within each reference distance, both arms; returns the axes."""
        return plot_epsilon_delta(self, ax)

    def plot_spectrum(self, ax: Axes | None = None) -> Axes:
        """Draw the singular values with the threshold; returns the axes."""
        return plot_spectrum(self, ax)

    def save(self, folder: PathLike) -> Path:
        """Write ``report.html``, ``report.json``, ``run.json``, ``audit.json`` and the figures; returns the path of the page.

        Parameters
        ----------
        folder : path-like
            Made if it is not there. Files in it under other names are left alone; an earlier report is replaced.

        Raises
        ------
        OutputError
            The folder cannot be written to; then nothing has been.
        """
        drawn = {name: draw(name, self) for name in FIGURES}
        contents: dict[str, Content] = {
            f"{name}.{form}": drawing for name, files in drawn.items() for form, drawing in files.items()
        }
        contents["report.json"] = self.to_json()
        contents["run.json"] = to_json(run_document(self))
        contents[RECORD_FILE] = as_json(self)
        contents["report.html"] = page_with(self, {name: files["svg"] for name, files in drawn.items()})
        write_folder(folder, {name: contents[name] for name in FILES})
        return Path(folder) / "report.html"

    @staticmethod
    def load(path: PathLike) -> AuditReport:
        """Read a report that `save` wrote: it prints, compares, draws and saves as before; nothing is measured again.

        Parameters
        ----------
        path : path-like
            The folder, or its ``audit.json``.

        Raises
        ------
        FileFormatError
            Missing, cut short, altered, of a newer format, or something else.
        """
        file = Path(path) / RECORD_FILE if Path(path).is_dir() else Path(path)
        found = read_record(file)
        if not isinstance(found, AuditReport):
            raise FileFormatError(
                f"{file} holds a {type(found).__name__}", "a report", "likewise.load reads it"
            )
        return found

    def __str__(self) -> str:
        return as_text(self)

    __repr__ = __str__  # what a console shows of a result is its answer

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own so that styles do not mix."""
        return (
            f'<iframe srcdoc="{escape(as_page(self))}" width="100%" height="720" style="border: 0"></iframe>'
        )


def _frame_of_groups(arm: Arm) -> polars.DataFrame | None:
    """Return a row for each group that was tested, with its difference; None where none was."""
    import polars

    if not isinstance(arm.group_effects, GroupEffects):
        return None
    rows = [
        {
            "metric": f"group_difference: {one.group}, {one.output}",
            "kind": "group-effect",
            "value": one.difference,
            "low": one.low,
            "high": one.high,
        }
        for one in arm.group_effects.effects
    ]
    return polars.DataFrame(rows)
