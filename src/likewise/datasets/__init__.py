"""Public data: what there is, under which licence, and how it is fetched. Nothing here runs unless somebody asks for it by name."""

from likewise.datasets.fetch import fetch
from likewise.datasets.known import DATASETS, Dataset

__all__ = ["DATASETS", "Dataset", "fetch"]
