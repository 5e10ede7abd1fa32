"""What a run found, with its tables and figures: prints, exports and draws itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from likewise.reproduction.folder import save
from likewise.reproduction.formats import as_text
from likewise.reproduction.results import Results
from likewise.writing import PathLike


@dataclass(frozen=True, eq=False)
class Reproduction(Results):
    """The result of `likewise.reproduction.reproduce`.

    Parameters
    ----------
    settings : Settings
    records : mapping of Unit to dict
        In any order; whatever is shown of them is in the order of `likewise.reproduction.units.units_of`.
    versions : mapping
        Of what computed it.
    """

    def save(self, folder: PathLike) -> Path:
        """Write tables, figures, documents and the page to a folder.

        Parameters
        ----------
        folder : path-like
            Made if it is not there; files of other names in it are left alone.

        Returns
        -------
        Path
            Of the page, to open.

        Raises
        ------
        OutputError
            It cannot be written to; then nothing has been.
        """
        return save(self, folder)

    def __str__(self) -> str:
        return as_text(self)
