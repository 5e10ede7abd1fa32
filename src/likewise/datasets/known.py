"""The data sets that `likewise data` knows: where they are, what they may be used for, and how to tell that they are what they should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MIB = 1 << 20


@dataclass(frozen=True)
class Dataset:
    """A public data set: where it comes from, how large it is, and what may be done with it.

    Parameters
    ----------
    name : str
    title : str
    about : str
        Size and kind in one line.
    url : str
        Of its archive.
    licence : str
        What may be done with it, in one paragraph, with its source.
    ratings : str
        The file of ratings in the archive.
    sha256 : str or None
        Checksum of the archive; None where none is known.
    members : mapping of str to str
        SHA-256 of files in it, where the archive has no known checksum.
    n_bytes : int or None
        Size of the archive, where it is known.
    at_most : int
        Bytes that the archive, and at most twelve times as many that its files, can have.
    """

    name: str
    title: str
    about: str
    url: str
    licence: str
    ratings: str
    sha256: str | None = None
    members: Mapping[str, str] = field(default_factory=dict)
    n_bytes: int | None = None
    at_most: int = 16 * MIB

    @property
    def checked_by(self) -> str:
        """How a download is checked, in words; empty where there is no way, so that it is not fetched."""
        if self.sha256 is not None:
            return f"SHA-256 {self.sha256}"
        return "SHA-256 of its files" if self.members else ""


_GROUPLENS = (
    "Free for research. No redistribution without separate permission, no commercial or revenue-bearing use without permission of the GroupLens research "
    'project at the University of Minnesota, no claim of its endorsement; cite Harper and Konstan, "The MovieLens Datasets: History and Context", ACM TiiS '
    "5 (2015). The README in the archive is authoritative."
)
_GROUPLENS_OPEN = (
    "Free for research. Redistribution under the same licence only; no commercial or revenue-bearing use without permission of the GroupLens research project "
    'at the University of Minnesota, no claim of its endorsement; cite Harper and Konstan, "The MovieLens Datasets: History and Context", ACM TiiS 5 (2015). '
    "The README in the archive is authoritative."
)
_FILES = "https://files.grouplens.org/datasets/movielens"

DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "ml-100k",
            "MovieLens 100K",
            "100,000 ratings from 1 to 5 of 1,682 films by 943 people, who they are, five splits",
            f"{_FILES}/ml-100k.zip",
            _GROUPLENS,
            "u.data",
            sha256="50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
            n_bytes=4_924_029,
        ),
        Dataset(
            "ml-1m",
            "MovieLens 1M",
            "1,000,209 ratings from 1 to 5 of 3,706 films by 6,040 people, and who they are",
            f"{_FILES}/ml-1m.zip",
            _GROUPLENS,
            "ratings.dat",
            sha256="a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
        ),
        Dataset(
            "ml-latest-small",
            "MovieLens latest, small (September 2018)",
            "100,836 ratings from 0.5 to 5 of 9,724 films by 610 people",
            f"{_FILES}/ml-latest-small.zip",
            _GROUPLENS_OPEN
            + " GroupLens replaces this archive from time to time: a newer one is refused by its checksum.",
            "ratings.csv",
            sha256="696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436",
        ),
        Dataset(
            "ml-25m",
            "MovieLens 25M",
            "25,000,095 ratings from 0.5 to 5 of 59,047 films by 162,541 people",
            f"{_FILES}/ml-25m.zip",
            _GROUPLENS_OPEN,
            "ratings.csv",
            sha256="8b21cfb7eb1706b4ec0aac894368d90acf26ebdfb6aced3ebd4ad5bd1eb9c6aa",
            n_bytes=261_978_986,
            at_most=256 * MIB,
        ),
        Dataset(
            "ml-32m",
            "MovieLens 32M",
            "32,000,204 ratings from 0.5 to 5 by 200,948 people",
            f"{_FILES}/ml-32m.zip",
            _GROUPLENS_OPEN,
            "ratings.csv",
            sha256="e4a68655d7386b8f95f2f2424b2ff975dfdd15ffd59e0d864a14dca43e99d6ee",
            n_bytes=238_950_008,
            at_most=256 * MIB,
        ),
        Dataset(
            "coat",
            "Coat Shopping",
            "6,960 ratings from 1 to 5 of coats that 290 people chose, and 4,640 of coats drawn at random",
            "https://www.cs.cornell.edu/~schnabts/mnar/coat.zip",
            'No licence is stated; published for research with Schnabel, Swaminathan, Singh, Chandak, Joachims, "Recommendations as Treatments", ICML (2016), to '
            "be cited.",
            "train.ascii",
            members={
                "train.ascii": "a87bd9e7eaf3b89f976df3f25d4aa5d5d871be8a00b58947df9e6e015559bd37",
                "test.ascii": "de6714ab105a5e0be8166be7fd313901b29f9a09c3bea307901457d1d71847e6",
            },
        ),
        Dataset(
            "jester",
            "Jester 1",
            "4.1 million ratings from -10 to 10 of 100 jokes by 73,421 people",
            "https://eigentaste.berkeley.edu/dataset/archive/",
            'Free for research; cite Goldberg, Roeder, Gupta, Perkins, "Eigentaste: A Constant Time Collaborative Filtering Algorithm", Information Retrieval 4 '
            "(2001).",
            "jester-data-1.xls",
        ),
    )
}
"""By name. Checksums of MovieLens archives are those that TensorFlow Datasets and others pin; sizes are given where they are known."""
