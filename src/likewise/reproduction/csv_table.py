"""Every figure of every cell as CSV: one line each, comments above say how they came about."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from likewise.reproduction.arms import WITHOUT
from likewise.reproduction.document import provenance
from likewise.reproduction.metrics import METRICS
from likewise.reproduction.published import published_cell
from likewise.reproduction.results import Reproduction

COLUMNS = (
    "experiment",
    "axis",
    "level",
    "figure",
    "reference",
    "arm",
    "mean",
    "two_sd",
    "n_simulations",
    "published",
    "published_bar",
)


def as_csv(found: Reproduction) -> str:
    """Return the cells of generated data as CSV; lines that begin with ``#`` are comments."""
    stream = io.StringIO()
    stream.writelines(f"# {name}: {text}\n" for name, text in provenance(found).items())
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_lines(found))
    return stream.getvalue()


def _lines(found: Reproduction) -> Iterator[tuple[object, ...]]:
    for experiment, level in found.cells():
        for key, metric in METRICS.items():
            for arm in found.arms:
                summary = found.summary(experiment.key, level, arm.name, key)
                if summary is None:
                    continue
                row = metric.published_h if arm.name == WITHOUT else metric.published_f
                published = published_cell(experiment.key, row, level) if row else None
                place = (experiment.key, experiment.axis, f"{level:g}", key, metric.reference, arm.name)
                beside = (published.value, published.bar) if published else ("", "")
                yield (*place, repr(summary.mean), repr(summary.two_sd), summary.n, *beside)
