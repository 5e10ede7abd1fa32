"""The result of an audit: its record, which prints, exports, draws and saves itself."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from likewise.report.folder import save
from likewise.report.html import as_page
from likewise.report.json_document import document, to_json
from likewise.report.plots import plot_epsilon_delta, plot_histogram, plot_spectrum
from likewise.report.records import AuditRecord
from likewise.report.table import as_text

if TYPE_CHECKING:
    from pathlib import Path

    import polars
    from matplotlib.axes import Axes

    from likewise.writing import PathLike


@dataclass(frozen=True, eq=False)
class AuditReport(AuditRecord):
    """The result of `likewise.audit`.

    Attributes
    ----------
    data : DataSummary
    estimate : EstimateSummary or None
        None where only outputs computed elsewhere were audited.
    reference : ReferenceSummary
    certificates : LipschitzCertificates or None
        Proved constants of the pre-processing step, or why there are none.
    arms : dict of str to Arm
        ``"without"`` and ``"with"``.
    findings : tuple of str
        Plain sentences: what is shown and what is not.
    settings : dict
        Every argument, for running the audit again.
    seconds : dict of str to float
        Wall time of each step.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, strings and numbers, as in docs/report_schema.md."""
        return document(self)

    def to_json(self) -> str:
        """Return `to_dict` as JSON text: the same bytes for the same data, settings and seed."""
        return to_json(self.to_dict())

    def to_frame(self) -> polars.DataFrame:
        """Return a polars frame with one row for each arm and figure: arm, figure, kind, value, low, high, n_pairs."""
        import polars

        frames = [
            arm.fairness.to_frame().select(polars.lit(name).alias("arm"), polars.all())
            for name, arm in self.arms.items()
        ]
        return polars.concat(frames)

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
        """Write ``report.html``, ``report.json``, ``run.json`` and the figures; returns the path of the page.

        Parameters
        ----------
        folder : path-like
            Made if it is not there; files in it under other names are left alone.

        Raises
        ------
        OutputError
            The folder cannot be written to; then nothing has been.
        """
        return save(self, folder)

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own so that styles do not mix."""
        return (
            f'<iframe srcdoc="{escape(as_page(self))}" width="100%" height="720" style="border: 0"></iframe>'
        )
