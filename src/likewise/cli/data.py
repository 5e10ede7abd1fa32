"""Public data: what there is, fetching it, and what a file would be read as."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from likewise.cli.options import READING, ReadOptions
from likewise.cli.values import OldPath
from likewise.errors import FileFormatError, printable

if TYPE_CHECKING:
    from likewise.observations import ObservedMatrix

app = App(
    name="data",
    help="List public data sets, fetch one, or describe any file.",
    help_format="plaintext",
    result_action="return_none",
)


@app.command(name="list")
def listed() -> None:
    """List the data sets that can be fetched, with their licences."""
    from textwrap import indent, wrap

    from likewise.datasets import DATASETS

    for dataset in DATASETS.values():
        print(f"{dataset.name}: {dataset.title}. {dataset.about}")
        how = dataset.checked_by or f"no checksum is known, so it is not fetched; see {dataset.url}"
        print(indent("\n".join(wrap(f"Licence: {dataset.licence}", 96)) + f"\n{how}", "    "))


@app.command
def fetch(
    name: str, /, *, out: Path = Path(), accept_licence: Annotated[bool, Parameter(negative=())] = False
) -> None:
    """Download a data set, check it, and unpack it into a folder of its name. The only command that uses a network.

    Parameters
    ----------
    name
        As `likewise data list` has it.
    out
        Where its folder is made; by default here.
    accept_licence
        That the licence, which is told without this, is accepted.
    """
    from likewise.datasets import DATASETS
    from likewise.datasets import fetch as fetched

    folder = fetched(name, out, accept_licence=accept_licence)
    print(f"{folder}: checked by {DATASETS[name].checked_by}")
    print(f"Next: likewise audit {folder / DATASETS[name].ratings}")


@app.command
def describe(path: OldPath, /, *, reading: ReadOptions = READING) -> None:
    """Say what a file, or the ratings in a folder that was fetched, would be read as.

    Parameters
    ----------
    path
        Any file that the other commands read, or such a folder.
    """
    from likewise.pipeline.summaries import summarise_data
    from likewise.report.description import data_lines

    observed = reading.read(_ratings_in(path))
    source = observed.roles.source if observed.roles else path.name
    for line in (*data_lines(summarise_data(observed, "symmetric", source)), *observed.notes, _ids(observed)):
        print(printable(line))


def _ratings_in(path: Path) -> Path:
    """Return the file of ratings in a folder of a known data set; a file as it is."""
    from likewise.datasets import DATASETS

    if not path.is_dir():
        return path
    names = dict.fromkeys(dataset.ratings for dataset in DATASETS.values())
    found = [path / name for name in names if (path / name).is_file()]
    if not found:
        raise FileFormatError(
            f"the folder {path}, without {', '.join(names)}", "a file, or a folder that was fetched"
        )
    return found[0]


def _ids(observed: ObservedMatrix) -> str:
    """Name a few individuals and features, so that one sees whether the right columns were taken."""
    rows, columns = (", ".join(map(str, ids[:3].tolist())) for ids in (observed.row_ids, observed.column_ids))
    return f"individuals such as {rows}; features such as {columns}"
